"""The bundle: the seed's prefix to the letter, the extended one, and lines any shell reads back."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from triage.bundle import bundle, check_bundles, load_bundles
from triage.errors import RuleError, UsageError
from triage.render import is_argument, posix_line, posix_quote, powershell_line, powershell_quote

RULES = Path(__file__).parent.parent / "rules"
DATA = load_bundles(str(RULES))

# Typed from the seed's code block.
SEED_PREFIX = (
    "PAGER=cat GIT_PAGER=cat MANPAGER=cat EDITOR=true VISUAL=true "
    "CI=true NO_COLOR=1 TERM=dumb DEBIAN_FRONTEND=noninteractive "
    "BROWSER=true DISPLAY= "
    "timeout 60 "
)
SHOW_ARGS = "import json, sys; sys.stdout.write(json.dumps([ascii(a) for a in sys.argv[1:]]))"

# Anything an argument can hold: no NUL, and nothing that UTF-8 can't carry.
arguments = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
nasty = st.sampled_from(
    ["", " ", "-rf", "--", "$(touch x)", "`id`", "a'b", "a\"b", "a\nb", "a\r\nb", "*", "~", "\\",
     "'; rm -rf ~; '", "${IFS}", "!!", "=ls", "A=b", "{a,b}", "#x", "&", "|", "\u2019; exit", "é"]
)  # fmt: skip
words = st.lists(arguments | nasty, max_size=6)


def seen_by_program(line: str, shell: str = "sh") -> list[str]:
    done = subprocess.run([shell, "-c", line], capture_output=True, timeout=30, check=True)
    return list(json.loads(done.stdout))


def test_the_seed_flavour_is_the_seeds_prefix_to_the_letter() -> None:
    assert bundle(["tool", "x"], flavour="seed").posix == SEED_PREFIX + "tool x </dev/null"


def test_extended_is_the_default_and_adds_what_ruling_16_lists() -> None:
    extended, seed = bundle(["git", "log"]), bundle(["git", "log"], flavour="seed")
    assert extended.flavour == "extended"
    assert list(extended.env)[: len(seed.env)] == list(seed.env)
    assert {name: value for name, value in extended.env.items() if name not in seed.env} == {
        "GIT_EDITOR": "true",
        "GIT_SEQUENCE_EDITOR": "true",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
        "GIT_ASKPASS": "false",
        "SSH_ASKPASS": "false",
        "GH_PAGER": "cat",
        "GH_PROMPT_DISABLED": "1",
        "AWS_PAGER": "",
        "SYSTEMD_PAGER": "cat",
        "PIP_NO_INPUT": "1",
        "npm_config_yes": "true",
    }
    assert extended.new_session and not seed.new_session
    assert "setsid" in extended.posix and "setsid" not in seed.posix
    assert (extended.stdin, extended.timeout_s) == ("null", 60.0)


def test_a_list_keeps_its_words_and_a_line_goes_to_bash_whole() -> None:
    assert bundle(["git", "log"]).argv == ("git", "log")
    line = bundle("make 2>&1 | tail -1", flavour="seed")
    assert line.argv == ("bash", "-c", "make 2>&1 | tail -1")
    assert line.posix == SEED_PREFIX + "bash -c 'make 2>&1 | tail -1' </dev/null"


def test_the_limit_is_the_callers() -> None:
    assert "timeout 5 tool" in bundle(["tool"], timeout_s=5).posix
    assert "timeout 0.25 tool" in bundle(["tool"], timeout_s=0.25).posix


@pytest.mark.parametrize("command", [[], [""], "", "  \n", ["a\0b"], "a\0b", ["ok", "\0"]])
def test_what_no_system_can_start_is_an_error_with_a_place(command: list[str] | str) -> None:
    with pytest.raises(UsageError, match="command"):
        bundle(command)


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf"), 1e300])
def test_a_limit_that_is_none_is_refused(limit: float) -> None:
    with pytest.raises(UsageError, match="timeout"):
        bundle(["tool"], timeout_s=limit)


def test_an_unknown_flavour_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="seed, extended"):
        bundle(["tool"], flavour="sed")


@settings(max_examples=60, deadline=None)
@given(words=words)
def test_every_argument_arrives_as_it_was(words: list[str]) -> None:
    for flavour in ("seed", "extended"):
        line = bundle([sys.executable, "-c", SHOW_ARGS, *words], flavour=flavour).posix
        assert seen_by_program(line) == [ascii(word) for word in words]


@settings(max_examples=200)
@given(words=words)
def test_the_line_splits_back_into_the_same_words(words: list[str]) -> None:
    assert shlex.split(posix_line(["tool", *words])) == ["tool", *words]


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh", "ksh", "mksh"])
def test_the_line_means_the_same_in_the_shells_at_hand(shell: str) -> None:
    # sh is always there; the others are looked at where the machine has them.
    program = shutil.which(shell) or "sh"
    line = bundle([sys.executable, "-c", SHOW_ARGS, "=ls", "~", "a'b", "$X"]).posix
    assert seen_by_program(line, program) == [ascii(word) for word in ("=ls", "~", "a'b", "$X")]


def test_the_program_starts_with_the_variables_and_no_stdin() -> None:
    look = (
        "import os, sys; print(os.environ['GIT_EDITOR'], repr(os.environ['DISPLAY']), "
        "repr(sys.stdin.read())); sys.exit(7)"
    )
    line = bundle([sys.executable, "-c", look]).posix
    done = subprocess.run(
        ["sh", "-c", line], stdout=subprocess.PIPE, text=True, timeout=30, check=False
    )
    assert (done.stdout, done.returncode) == ("true '' ''\n", 7)


@pytest.mark.parametrize(("flavour", "seen"), [("seed", "reached"), ("extended", "out of reach")])
def test_only_the_extended_flavour_takes_the_terminal_away(flavour: str, seen: str) -> None:
    # A password prompt opens /dev/tty and never looks at stdin.
    look = "(: </dev/tty) 2>/dev/null && echo reached || echo out of reach"
    line = bundle(["sh", "-c", look], flavour=flavour).posix
    on_a_terminal = "import pty, sys; pty.spawn(['sh', '-c', sys.argv[1]])"
    done = subprocess.run(
        [sys.executable, "-c", on_a_terminal, line],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stdout.strip() == seen


def test_without_setsid_the_line_still_runs(tmp_path: Path) -> None:
    for name in ("sh", "timeout", "true", "echo"):
        (tmp_path / name).symlink_to(shutil.which(name) or "/bin/" + name)
    done = subprocess.run(
        ["sh", "-c", bundle(["echo", "there"]).posix],
        env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "there\n")


def test_the_limit_ends_grandchildren_too() -> None:
    # Were one left, it would hold the pipe, and the call would only end with it.
    line = bundle("sleep 50 | cat", timeout_s=0.3).posix
    done = subprocess.run(["sh", "-c", line], capture_output=True, timeout=20, check=False)
    assert done.returncode == 124


@pytest.mark.parametrize("name", ["exit", "if", "!", "A=b", "cd", "time"])
def test_a_program_with_a_shell_words_name_is_looked_up_as_a_program(
    name: str, tmp_path: Path
) -> None:
    program = tmp_path / name
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", posix_line([name])],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stdout == "ran\n"


def powershell_strings(line: str) -> list[str]:
    """The single-quoted strings of a PowerShell line, read as PowerShell reads them."""
    quotes = "'\u2018\u2019\u201a\u201b"
    found: list[str] = []
    position = 0
    while position < len(line):
        if line[position] not in quotes:
            position += 1
            continue
        position += 1
        text = ""
        while True:
            char = line[position]
            if char in quotes:
                if position + 1 < len(line) and line[position + 1] in quotes:
                    text += char
                    position += 2
                    continue
                position += 1
                break
            text += char
            position += 1
        found.append(text)
    return found


@settings(max_examples=200)
@given(words=words)
def test_powershell_reads_each_word_as_one_string(words: list[str]) -> None:
    assert powershell_strings(powershell_line(["tool", *words])) == ["tool", *words]
    assert powershell_strings(powershell_quote("".join(words))) == ["".join(words)]


def test_the_powershell_line_sets_closes_and_limits() -> None:
    line = bundle(["git", "log", "it's"], flavour="seed", timeout_s=9).powershell
    assert line.startswith("$env:PAGER='cat'; $env:GIT_PAGER='cat'; ")
    assert "@() | & 'git' 'log' 'it''s'" in line
    assert "Wait-Job $job -Timeout 9" in line and "= 124" in line


@given(value=st.text(max_size=20))
def test_only_what_a_system_can_pass_counts_as_an_argument(value: str) -> None:
    if is_argument(value):
        assert os.fsdecode(os.fsencode(value)) == value
        assert shlex.split(posix_quote(value)) == [value]
    else:
        assert "\0" in value or any("\ud800" <= char <= "\udfff" for char in value)


def test_the_file_meets_its_schema_and_is_sound() -> None:
    schema = json.loads((RULES / "schema" / "bundle.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    assert list(Draft202012Validator(schema).iter_errors(DATA)) == []
    assert check_bundles(DATA) == []


def test_a_dumb_terminal_without_an_editor_is_refused(tmp_path: Path) -> None:
    # git then says "Terminal is dumb, but EDITOR unset" and fails.
    text = (RULES / "bundle.yaml").read_text("utf-8")
    lines = [line for line in text.splitlines() if "EDITOR" not in line]
    (tmp_path / "bundle.yaml").write_text("\n".join(lines))
    with pytest.raises(RuleError, match=r"bundle\.yaml:\d+:\d+: TERM=dumb without an editor"):
        load_bundles(str(tmp_path))


def test_flavours_that_extend_each_other_are_an_error_with_a_place(tmp_path: Path) -> None:
    text = (RULES / "bundle.yaml").read_text("utf-8")
    circle = text.replace("  seed:\n", "  seed:\n    extends: extended\n")
    (tmp_path / "bundle.yaml").write_text(circle)
    with pytest.raises(RuleError, match=r"bundle\.yaml:\d+:\d+: `extends: \w+` leads nowhere"):
        load_bundles(str(tmp_path))


def test_a_missing_file_is_an_error_with_a_place(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"bundle\.yaml:1:1: can't be read"):
        load_bundles(str(tmp_path))
