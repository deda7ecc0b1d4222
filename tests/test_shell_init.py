"""`tri` hands a line, or words, to ``triage run --shell`` as they were meant."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from triage.errors import UsageError
from triage.shell_init import SHELLS, init_script


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH on which `triage` runs the line it is given, and says how it was called."""
    fake = tmp_path / "triage"
    fake.write_text('#!/bin/sh\nif [ "$2" = --shell ]; then exec bash -c "$3"; fi\necho "$@"\n')
    fake.chmod(0o755)
    return f"{tmp_path}:{os.environ['PATH']}"


def said(shell: str, path: str, line: str) -> str:
    arguments = ["--norc"] if shell == "bash" else ["-f"]
    script = f"{init_script(shell)}\n{line}"
    done = subprocess.run(
        [shell, *arguments, "-c", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_sound_and_silent(shell: str, path: str) -> None:
    subprocess.run([shell, "-n", "-c", init_script(shell)], check=True)
    assert said(shell, path, ":") == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_one_argument_is_a_line_with_its_pipes_and_redirections(shell: str, path: str) -> None:
    assert said(shell, path, "tri 'echo a b | tr a-b x-y; exit 0'") == "x y\n"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "word", ["a b", "$(echo no)", "it's", 'say "x"', "*", "", "a;b", "back\\slash", "ü", "-n"]
)
def test_several_arguments_are_words_and_stay_as_they_were(
    shell: str, word: str, path: str
) -> None:
    quoted = "'" + word.replace("'", "'\\''") + "'"
    assert said(shell, path, f"tri printf '<%s>' {quoted} end") == f"<{word}><end>"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_status_is_the_commands(shell: str, path: str) -> None:
    assert said(shell, path, "tri 'exit 7'; echo $?") == "7\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_function_or_alias_named_triage_is_not_in_the_way(shell: str, path: str) -> None:
    assert said(shell, path, "triage() { echo wrong; }; tri 'echo right'") == "right\n"


def test_completion_is_there_for_both_names_in_bash(path: str) -> None:
    shown = said("bash", path, "complete -p triage tri")
    assert "-F _triage_complete triage" in shown
    assert "-F _tri_complete tri" in shown
    names = said(
        "bash", path, "COMP_WORDS=(tri printen); COMP_CWORD=1; _tri_complete; echo ${COMPREPLY[@]}"
    )
    assert "printenv" in names


def test_completion_asks_triage_itself_in_bash(tmp_path: Path) -> None:
    fake = tmp_path / "triage"
    fake.write_text('#!/bin/sh\nprintf "%s %s\\n" "$_TRIAGE_COMPLETE" "$COMP_WORDS"\n')
    fake.chmod(0o755)
    line = (
        "COMP_WORDS=(triage ru); COMP_CWORD=1; _triage_complete; printf '<%s>' \"${COMPREPLY[@]}\""
    )
    shown = said("bash", f"{tmp_path}:{os.environ['PATH']}", line)
    assert shown == "<complete_bash triage><ru>"


def test_other_shells_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="fish"):
        init_script("fish")
