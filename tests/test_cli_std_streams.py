"""What a caller may do to the standard streams: close, fill or narrow them, or stop reading."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ONE = ["classify", "--exit", "1"]
QUIET = ["run", "--no-state", "--no-retry", "--line"]
FAILS = [*QUIET, "--", "sh", "-c", "echo o; echo e >&2; exit 7"]


def shell(redirect: str, *words: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Call `triage` with its streams redirected as a shell does it; a hang is a failure."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirect}', "sh", sys.executable, "-m", "triage", *words],
        input=b"",
        capture_output=True,
        timeout=60,
        env={**os.environ, **env},
        check=False,
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_nowhere(closed: str) -> None:
    done = shell(closed, *FAILS)
    assert done.returncode == 7
    assert done.stdout == (b"" if ">&-" in closed.replace("2>&-", "") else b"o\n")
    assert (b"row=16" in done.stderr) is ("2>&-" not in closed)
    done = shell(closed, *ONE, "--line", "--exit-code")
    assert (done.returncode, b"Traceback" in done.stderr) == (80, False)


@pytest.mark.parametrize(("words", "status"), [([], 2), (["extract"], 1), (["agent", "-"], 90)])
def test_a_closed_stdin_has_nothing_in_it(words: list[str], status: int) -> None:
    done = shell("<&-", *words)
    assert done.returncode == status
    assert b"bug" not in done.stderr
    assert b"Traceback" not in done.stderr


def onto_full(
    folder: Path, stream: str, *words: str, **env: str
) -> subprocess.CompletedProcess[bytes]:
    """Call `triage` with one of its streams a file that is as large as files may be."""
    import resource

    most = 64 << 20
    path = folder / "full"
    path.touch()
    os.truncate(path, most)
    others = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    with path.open("ab") as full:
        return subprocess.run(
            [sys.executable, "-m", "triage", *words],
            stdin=subprocess.DEVNULL,
            **{**others, stream: full},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
            timeout=60,
            env={**os.environ, **env},
            check=False,
        )


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words",
    [
        "classify --exit 1",
        "classify --exit 1 --json",
        "explain --exit 1",
        "rules",
        "--help",
        "run --json --no-state -- true",
    ],
)
def test_a_full_stdout_is_said_in_a_line(words: str, unbuffered: str, tmp_path: Path) -> None:
    done = onto_full(tmp_path, "stdout", *words.split(), PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 1
    assert done.stderr.startswith(b"triage: stdout: can't be written: File too large; ")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["classify", "--exit", "x"], 2),
        ([*QUIET, "--", "sh", "-c", "exit 7"], 7),
        # It goes on after what could not be handed on, and is not ended for it.
        ([*QUIET, "--", "sh", "-c", "echo e >&2; sleep 0.3; echo e >&2; exit 7"], 7),
        ([*QUIET, "--", "sh", "-c", "echo e >&2; sleep 0.3; echo e >&2"], 0),
    ],
)
def test_who_hears_no_message_still_gets_the_status(
    words: list[str], status: int, tmp_path: Path
) -> None:
    assert onto_full(tmp_path, "stderr", *words).returncode == status


@pytest.mark.parametrize(("line", "status"), [("echo o", 1), ("echo o; exit 7", 7)])
def test_output_that_is_lost_on_a_full_disk_is_no_success(
    line: str, status: int, tmp_path: Path
) -> None:
    done = onto_full(tmp_path, "stdout", *QUIET, "--", "sh", "-c", line)
    assert done.returncode == status
    assert (b"stdout: can't be written: File too large" in done.stderr) is (status == 1)


def test_the_reader_of_stderr_may_leave_before_the_verdict() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        for line in ([], ["--line"]):
            words = ["run", "--no-state", "--no-retry", *line, "--", "sh", "-c", "exit 7"]
            done = subprocess.run(
                [sys.executable, "-m", "triage", *words], stderr=write_end, timeout=60, check=False
            )
            assert done.returncode == 7
    finally:
        os.close(write_end)


def test_a_narrow_stdout_gets_escapes_and_json_stays_json(tmp_path: Path) -> None:
    said = tmp_path / "err.txt"
    said.write_text("größe — 😀\n", encoding="utf-8")
    words = [*ONE, "--stderr", str(said)]
    done = shell("", *words, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"gr\u00f6\u00dfe \u2014 \ud83d\ude00" in done.stdout
    data = json.loads(shell("", *words, "--json", PYTHONIOENCODING="ascii").stdout)["data"]
    assert data["evidence"][0]["text"] == "größe — 😀"
    assert shell("", "show", "10", PYTHONIOENCODING="latin-1").returncode == 0


def test_a_folder_that_was_removed_is_no_bug(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && exec "$2" -m triage run --no-state -- sh -c "exit 7"'
    done = subprocess.run(
        ["sh", "-c", script, "sh", str(gone), sys.executable],
        capture_output=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        check=False,
    )
    assert (done.returncode, b"bug" in done.stderr) == (7, False)
