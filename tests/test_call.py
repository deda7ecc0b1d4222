"""The captured command as argv: words where any shell would see the same words, else a shell."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.call import Call, call_of


def argv(command: Any, **more: Any) -> tuple[str, ...] | None:
    return call_of(command, **more).argv


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("git log", ("git", "log")),
        ("  git\tlog  ", ("git", "log")),
        ("grep 'a*b $x' f", ("grep", "a*b $x", "f")),
        ('grep "a*b" f', ("grep", "a*b", "f")),
        ("echo a\\ b ''", ("echo", "a b", "")),
        ("x --k=v a=b", ("x", "--k=v", "a=b")),
        ("it's'x' y", None),
    ],
)
def test_a_plain_line_becomes_its_words(line: str, words: tuple[str, ...] | None) -> None:
    assert argv(line) == (words or ("bash", "-c", line))


@pytest.mark.parametrize(
    "line",
    ["a | b", "a > f", "ls *.py", "echo $HOME", "cd x", "A=b tool", "ls ~", "a; b", "a\nb", "! a",
     'echo "$x"', "echo {a,b}", "source x", "export A", "# nothing", "'open", "a \\", "time x"],
)  # fmt: skip
def test_a_line_that_needs_a_shell_stays_whole(line: str) -> None:
    assert argv(line) == ("bash", "-c", line)


def test_the_captured_shell_runs_its_own_lines() -> None:
    assert argv("a | b", shell="/bin/zsh") == ("zsh", "-c", "a | b")
    assert argv("dir C:\\x", shell="cmd.exe") == ("cmd", "/d", "/c", "dir C:\\x")
    assert argv("ls C:\\x", shell="pwsh") == ("pwsh", "-NoProfile", "-Command", "ls C:\\x")
    assert argv("a | b", shell="rm -rf /") == ("bash", "-c", "a | b")


def test_a_list_is_kept_word_for_word() -> None:
    call = call_of(["/opt/tool.exe", "sub", "-x", "a b"])
    assert call == Call(
        "/opt/tool.exe sub -x 'a b'", call.argv, "tool", "/opt/tool.exe", call.words
    )
    assert call.argv == ("/opt/tool.exe", "sub", "-x", "a b")
    assert call.words == ("sub", "a b")
    assert call.by_path


def test_the_owning_stage_names_the_program() -> None:
    stage: Any = SimpleNamespace(program="git", raw_program="/usr/bin/git", words=("log",))
    call = call_of("cd x && /usr/bin/git log", stage=stage)
    assert (call.program, call.start, call.words) == ("git", "/usr/bin/git", ("log",))


@pytest.mark.parametrize("command", [None, "", " \n", [], [""], "a\0b", ["a", "\0"], "\ud800"])
def test_what_nothing_can_start_has_no_argv(command: Any) -> None:
    assert argv(command) is None


@settings(max_examples=300, deadline=None)
@given(line=st.text("ab '\"\\$`*?~=#;|&()[]{}!<>-%/^+:,@.\t\né", max_size=12))
def test_words_are_what_a_shell_would_pass(line: str) -> None:
    command = f"tool {line}"
    found = argv(command)
    assert found is not None
    if found[0] == "tool":
        seen = subprocess.run(
            ["bash", "-c", f"tool() {{ printf '%s\\0' \"$@\"; }}; {command}"],
            capture_output=True,
            timeout=30,
            check=True,
        )
        words = seen.stdout.decode().split("\0")[:-1]
        # printf prints its format once where there is no argument.
        assert (words or [""]) == (list(found[1:]) or [""])


@given(command=st.text() | st.lists(st.text(max_size=9)))
def test_any_command_gives_a_call(command: str | list[str]) -> None:
    call = call_of(command)
    assert call.argv is None or (call.argv[0] and "\0" not in "".join(call.argv))
