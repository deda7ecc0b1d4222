"""Starting a command: its session, its streams, and the shell's words for what can't start."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from programs.census import descriptors

from triage.errors import CommandStartError, UsageError
from triage.process import Child, Launch, kind_of_stdin, start


def launched(*argv: str, env: Mapping[str, str] | None = None, **more: Any) -> Child:
    return start(Launch(argv=argv, env=os.environ if env is None else env, **more))


def ended(child: Child) -> tuple[int | None, dict[str, bytes]]:
    """Wait for the end, however long it takes, and read what was written."""
    while not child.exited():
        time.sleep(0.002)
    texts = {}
    for name, fd in child.streams.items():
        os.set_blocking(fd, True)
        parts = []
        while True:
            try:
                part = os.read(fd, 65536)
            except OSError:  # the end of a terminal
                break
            if not part:
                break
            parts.append(part)
        texts[name] = b"".join(parts)
    status = child.reap()
    child.close()
    return status, texts


def test_both_streams_and_the_status_are_those_of_the_command() -> None:
    child = launched("sh", "-c", "echo out; echo err >&2; exit 5")
    assert ended(child) == (5, {"stdout": b"out\n", "stderr": b"err\n"})


def test_a_signal_is_a_negative_status() -> None:
    assert ended(launched("sh", "-c", "kill -9 $$"))[0] == -9


def test_it_leads_a_session_and_a_group_of_its_own_without_a_terminal() -> None:
    child = launched("sh", "-c", "ps -o sid=,pgid= -p $$; true 2>/dev/null </dev/tty || echo none")
    _, texts = ended(child)
    session, group, terminal = texts["stdout"].split()
    assert int(session) == int(group) == child.pid
    assert terminal == b"none"


def test_stdin_is_at_its_end_by_default() -> None:
    assert ended(launched("cat"))[1]["stdout"] == b""


def test_stdin_may_be_a_file_or_a_descriptor(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("from a file")
    assert ended(launched("cat", stdin=str(tmp_path / "in")))[1]["stdout"] == b"from a file"
    with (tmp_path / "in").open() as file:
        assert ended(launched("cat", stdin=file))[1]["stdout"] == b"from a file"
    read_end, write_end = os.pipe()
    os.write(write_end, b"from a pipe")
    os.close(write_end)
    assert ended(launched("cat", stdin=read_end))[1]["stdout"] == b"from a pipe"
    os.close(read_end)


def test_a_terminal_is_the_controlling_one_for_all_three_streams() -> None:
    script = "[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo three >/dev/tty; stty size"
    status, texts = ended(launched("sh", "-c", script, pty=True))
    assert status == 0
    assert texts["merged"].startswith(b"three\r\n")


@pytest.mark.parametrize(
    ("argv", "status", "words"),
    [
        (("no-such-program-here",), 127, "command not found"),
        (("./no-such-file",), 127, "No such file or directory"),
        (("/etc/passwd/x",), 127, "No such file or directory"),
        (("/etc/passwd",), 126, "Permission denied"),
        (("/etc",), 126, "Permission denied"),
    ],
)
def test_what_can_not_start_has_the_status_and_the_words_of_a_shell(
    argv: tuple[str, ...], status: int, words: str
) -> None:
    with pytest.raises(CommandStartError, match=words) as caught:
        launched(*argv)
    assert caught.value.status == status


def test_a_missing_interpreter_is_not_a_missing_file(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    with pytest.raises(CommandStartError, match="bad interpreter") as caught:
        launched(str(script))
    assert caught.value.status == 127


def test_a_script_without_a_first_line_is_run_by_sh_as_a_shell_would(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text('echo "ran with $1"\n')
    script.chmod(0o755)
    assert ended(launched(str(script), "this"))[1]["stdout"] == b"ran with this\n"
    by_name = launched("script", "that", env={**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert ended(by_name)[1]["stdout"] == b"ran with that\n"


def test_a_broken_binary_is_not_taken_for_a_script(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\x00\x01\x02")
    binary.chmod(0o755)
    with pytest.raises(CommandStartError, match="Exec format error") as caught:
        launched(str(binary))
    assert caught.value.status == 126


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"argv": ()}, "no program"),
        ({"argv": ("",)}, "no program"),
        ({"argv": ("echo", "a\0b")}, "NUL"),
        ({"argv": ("echo", "\ud800")}, "can't be encoded"),
        ({"env": {"A": "a\0b"}}, "NUL"),
        ({"env": {"A=B": "c"}}, "no variable"),
        ({"cwd": "/no/such/folder"}, "is no folder"),
        ({"stdin": "/no/such/file"}, "No such file"),
        ({"stdin": "in\0put"}, "null"),
    ],
)
def test_what_can_not_be_asked_for_is_an_error_before_anything_starts(
    more: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        start(Launch(**{"argv": ("echo", "started"), "env": {}, **more}))


def test_no_descriptor_is_left_whether_it_started_or_not(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("x")
    before = descriptors()
    for pty in (False, True):
        ended(launched("true", pty=pty, stdin=str(tmp_path / "in")))
        with pytest.raises(CommandStartError):
            launched("no-such-program-here", pty=pty, stdin=str(tmp_path / "in"))
    assert descriptors() == before


def test_descriptors_reach_the_command_only_where_they_are_shared() -> None:
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    line = f"echo through >&{write_end}"
    assert ended(launched("bash", "-c", line))[0] != 0
    assert ended(launched("bash", "-c", line, share_fds=True))[0] == 0
    assert os.read(read_end, 100) == b"through\n"
    os.close(read_end)
    os.close(write_end)


def test_closed_standard_streams_of_ours_do_no_harm() -> None:
    program = (
        "import os\n"
        "for fd in (0, 1): os.close(fd)\n"
        "from triage.process import Launch, start\n"
        "child = start(Launch(argv=('echo', 'hello'), env=dict(os.environ)))\n"
        "while not child.exited(): pass\n"
        "os.write(2, repr([fd > 2 for fd in child.streams.values()]).encode())\n"
        "os.write(2, os.read(child.streams['stdout'], 100))\n"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stderr == b"[True, True]hello\n"


def test_a_status_that_somebody_else_took_is_unknown_not_zero() -> None:
    child = launched("true")
    os.waitpid(child.pid, 0)
    assert child.exited()
    assert child.reap() is None
    child.close()


def test_the_kind_of_stdin_is_told_in_the_words_of_a_capture(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("")
    read_end, write_end = os.pipe()
    with Path(os.devnull).open() as null, (tmp_path / "in").open() as file:
        kinds = [
            kind_of_stdin(Launch(argv=("cat",), env={}, stdin=stdin))
            for stdin in ("null", str(tmp_path / "in"), read_end, null, file, 9999)
        ]
    os.close(read_end)
    os.close(write_end)
    assert kinds == ["null", "file", "pipe", "null", "file", "closed"]
    assert kind_of_stdin(Launch(argv=("cat",), env={}, pty=True)) == "tty"
