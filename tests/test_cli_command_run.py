"""`triage run`: its words are read without typer, as typer reads them; what it says and keeps."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from triage.cli import running
from triage.cli.app import run_app
from triage.cli.command_run import FLAGS, VALUES, Asked, perform, read_words
from triage.errors import UsageError
from triage.last_run import recall

LIMITED = "echo 'HTTP 429: Too Many Requests, retry after 500 seconds' >&2; exit 1"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("TRIAGE_AUDIT", "TRIAGE_FORMAT"):
        monkeypatch.delenv(name, raising=False)


# --- reading the words ---------------------------------------------------------------------------


def test_every_option_of_the_verb_is_known_with_its_default() -> None:
    parameters = inspect.signature(running.run).parameters
    assert {name for name, _ in (*VALUES.values(), *FLAGS.values())} | {"command"} == set(
        parameters
    )
    plain = Asked()
    assert {name: getattr(plain, name) for name in parameters} == {
        name: parameter.default for name, parameter in parameters.items()
    }


@pytest.mark.parametrize(
    "words",
    [
        ["--max-wait", "-1", "--stdin", "-", "--", "true", "--", "x"],
        ["--", "true"],
        ["--", "tool", "--json", "--", "-x", ""],
        ["--shell", "a | b"],
        ["--shell=a | b", "--pty"],
        ["--timeout", "2.5", "--idle-timeout=1", "--limit-bytes", "100", "--", "true"],
        ["--stdin", "inherit", "--cwd", "/usr", "--env", "A=1", "--env", "B=", "--", "true"],
        ["--effect", "read_only", "--no-retry", "--retry", "--max-wait", "5", "--", "true"],
        ["--capture", "a", "--raw", "--no-state", "--audit", "b", "--tier", "B", "--", "true"],
        ["--rules", "r", "--line", "--timeout", "1", "--timeout", "2", "--", "true"],
        ["--json", "--no-retry", "--", "true"],
    ],
    ids=lambda words: " ".join(words)[:40],
)
def test_the_words_mean_what_typer_makes_of_them(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Asked] = []

    def noted(asked: Asked) -> int:
        seen.append(asked)
        return 0

    monkeypatch.setenv("TRIAGE_AUDIT", "from the environment")
    monkeypatch.setattr(running, "perform", noted)
    assert run_app(["run", *words]) == 0
    quick = read_words(words)
    assert quick is not None
    fields = inspect.signature(running.run).parameters
    assert [getattr(quick, name) or None for name in fields] == [
        getattr(seen[0], name) or None for name in fields
    ]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["true"],
        ["--help"],
        ["-h", "--", "true"],
        ["--bogus", "--", "true"],
        ["--pty=1", "--", "true"],
        ["--timeout", "soon", "--", "true"],
        ["--limit-bytes", "1.5", "--", "true"],
        ["--timeout", "--", "true"],
        ["--max-wait", "--", "true"],
        ["--timeout"],
        ["--shell", "a", "b"],
        ["--pty"],
    ],
    ids=" ".join,
)
def test_anything_unusual_is_left_to_typer(words: list[str]) -> None:
    assert read_words(words) is None


def test_a_command_is_run_without_the_parser_and_what_says_things() -> None:
    program = (
        "import sys; sys.argv = ['triage', 'run', '--', 'true']\n"
        "from triage.__main__ import main\n"
        "assert main() == 0\n"
        "print(sorted({'typer', 'rich', 'yaml', 'pathlib', 'triage.redact'} & set(sys.modules)))"
    )
    for _ in range(2):  # the first may have to compile the table
        done = subprocess.run([sys.executable, "-Sc", program], capture_output=True, env=_path())
    assert (done.stdout, done.stderr) == (b"[]\n", b"")


def _path() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}


# --- what it says --------------------------------------------------------------------------------


def test_a_success_is_silent_and_a_failure_is_told_on_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert perform(Asked(command=["true"])) == 0
    assert capsys.readouterr() == ("", "")
    assert perform(Asked(command=["sh", "-c", "exit 7"], effect="mutating")) == 7
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("triage: effect mutating: declared by the caller\nFAILED  ")


def test_a_masked_failure_is_told_although_the_status_is_0(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert perform(Asked(shell="ls /no-such-folder | cat", no_state=True)) == 0
    err = capfd.readouterr().err
    assert "row 2, §56 (also likely §1), rule masked-by-pipe" in err


def test_yes_to_a_retry_is_never_followed_by_a_bare_reason_against_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    for options, reason in (
        ({"retry": False}, "retries are switched off"),
        ({"max_wait": 2.0}, "a wait of 500 s is more than the 2 s allowed"),
    ):
        asked = Asked(shell=LIMITED, effect="read_only", no_state=True, **options)  # type: ignore[arg-type]
        assert perform(asked) == 1
        wanted = f"     retry  yes, 2 left: started once, not again: {reason}; left to the caller: "
        assert wanted in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "where"),
    [
        (["run"], "command"),
        (["run", "--bogus", "--", "MAKE"], "--bogus"),
        (["run", "--stdin", "/none/such", "--", "MAKE"], "stdin"),
        (["run", "--capture", "/none/such", "--", "MAKE"], "--capture"),
        (["run", "--raw", "--", "MAKE"], "--raw"),
        (["run", "--cwd", "/none", "--", "MAKE"], "cwd"),
        (["run", "--env", "A", "--", "MAKE"], "--env"),
        (["run", "--timeout", "0", "--", "MAKE"], "timeout"),
        (["run", "--timeout", "x", "--", "MAKE"], "--timeout"),
        (["run", "--effect", "some", "--", "MAKE"], "--effect"),
        (["run", "--tier", "Z", "--", "MAKE"], "--tier"),
        (["run", "--rules", "/none", "--", "MAKE"], "--rules"),
        (["run", "--shell", "x", "--", "MAKE"], "command"),
        (["run", "--json", "--line", "--", "MAKE"], "--json --line"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_bad_input_ends_with_2_before_anything_is_started(
    words: list[str], where: str, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    at = len(words) - 1 if words[-1] == "MAKE" else len(words)
    line = [*words[:at], *(["touch", str(made)] if at < len(words) else [])]
    done = subprocess.run(
        [sys.executable, "-m", "triage", *line], capture_output=True, text=True, env=_path()
    )
    assert done.returncode == 2
    message = done.stderr.splitlines()
    assert len(message) == 1
    assert message[0].startswith("triage: ")
    assert where in message[0]
    assert not made.exists()


# --- what it keeps -------------------------------------------------------------------------------


def test_the_last_run_is_kept_for_a_corpus_case(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = "echo 'frobctl: region eu-1 is frozen until 2024-06-01' >&2; exit 9"
    perform(Asked(command=["sh", "-c", refused]))
    perform(Asked(command=["true"], no_state=True))
    kept = recall()
    assert (kept["command"], kept["exit_code"]) == (["sh", "-c", refused], 9)
    assert kept["stderr"].startswith("frobctl: region")
    (tmp_path / "corpus").mkdir()
    words = ["new", "--last-run", "--chapter", "16-prose-exit", "--why", "it says frozen",
             "--tool", "frobctl", "--corpus", str(tmp_path / "corpus")]  # fmt: skip
    assert run_app(words) == 0
    assert list((tmp_path / "corpus").rglob("*.yaml")) != []


def test_long_output_is_kept_too() -> None:
    # Past what stays in memory the streams are files, which were read before by the engine.
    asked = Asked(shell="seq 100000; exit 3", effect="unknown", limit_bytes=500_000, json=True)
    assert perform(asked) == 3
    kept = recall()
    assert kept["truncated"] == [{"stream": "stdout", "at": 250_000, "bytes": 88_895}]
    assert kept["stdout"].startswith("1\n2\n")
    assert kept["stdout"].endswith("\n100000\n")


def test_a_state_folder_that_can_not_be_written_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert perform(Asked(command=["sh", "-c", "exit 3"], effect="unknown", line=True)) == 3
    assert "row=16" in capsys.readouterr().err
    with pytest.raises(UsageError):
        recall()


def test_a_capture_file_keeps_what_it_held_until_there_is_something_to_write(
    tmp_path: Path,
) -> None:
    path = tmp_path / "report.jsonl"
    path.write_text("an earlier report\n" * 1000)
    assert perform(Asked(command=["true"], cwd="/none", capture=str(path))) == 2
    assert path.read_text() == "an earlier report\n" * 1000
    assert perform(Asked(command=["true"], capture=str(path))) == 0
    assert json.loads(path.read_text())["command"] == ["true"]


def test_a_capture_file_that_fills_its_disk_costs_a_notice_and_not_the_status(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert perform(Asked(command=["true"], capture="/dev/full")) == 0
    assert "--capture: could not be written to its end" in capsys.readouterr().err


def test_the_second_run_that_fails_alike_is_told_to_stop(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def failing(**options: Any) -> Any:
        perform(Asked(command=["sh", "-c", "echo odd >&2; exit 3"], json=True, retry=False,
                      effect="read_only", **options))  # fmt: skip
        return json.loads(capsys.readouterr().out)["data"]

    first, second = failing(), failing()
    assert "repeated" not in first["verdict"]["flags"]
    assert "repeated" in second["verdict"]["flags"]
    assert second["attempts"][0]["capture"]["attempt"] == 2
    assert second["verdict"]["action"]["kind"] == "escalate"
    assert "repeated" not in failing(no_state=True)["verdict"]["flags"]
