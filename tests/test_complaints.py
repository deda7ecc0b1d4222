"""What a hidden stage says under its own name."""

from __future__ import annotations

import pytest

from triage.command import parse_command
from triage.complaints import stage_complains


def complains(command: str, stderr: str = "", stdout: str = "") -> bool:
    line = parse_command(command)
    return stage_complains(line, line.owners(0), stderr, stdout)


@pytest.mark.parametrize(
    ("command", "stderr"),
    [
        ("luac5.3 -p bad.lua; echo done", "luac5.3: bad.lua:1: <name> expected near '='\n"),
        ("/opt/bin/zstd -d a.zst | wc -c", "/opt/bin/zstd: a.zst: unsupported format\n"),
        ("hledger bal | head -n 5", 'hledger: "a.journal" (lines 1-3)\ncould not balance\n'),
    ],
)
def test_a_message_under_the_name_of_a_hidden_stage_is_a_complaint(
    command: str, stderr: str
) -> None:
    assert complains(command, stderr)


@pytest.mark.parametrize(
    ("command", "stderr"),
    [
        ("tar cf - /etc | wc -c", "tar: Removing leading `/' from member names\n"),
        ("make; echo done", "make: Nothing to be done for 'all'.\n"),
        ("cc -c a.c | cat", "cc: warning: unused option\n"),
        ("ls x; jq .", "jq: error: bad input\n"),
        ("grep x a | sort", "sort: cannot read: b\n"),
        ("zstd -d a.zst | wc -c", "zstd:\n"),
        ("zstd -d a.zst", "zstd: a.zst: unsupported format\n"),
        ("a 'b", "a: failed\n"),
    ],
)
def test_a_note_the_owner_of_the_status_and_a_broken_line_are_none(
    command: str, stderr: str
) -> None:
    assert not complains(command, stderr)


def test_on_stdout_it_counts_where_the_line_sends_it_there() -> None:
    said = "cpio: premature end of archive\n"
    assert complains("cpio -id < bad.cpio 2>&1 | tail -n 2", stdout=said)
    assert not complains("cpio -it < names.cpio | tail -n 2", stdout=said)


def test_a_long_text_is_not_read_to_its_end() -> None:
    assert not complains("zstd -d a | cat", "x\n" * 300 + "zstd: a: unsupported format\n")


def test_without_a_command_nobody_complains() -> None:
    assert not stage_complains(None, (), "zstd: a: unsupported format\n", "")


def test_a_script_speaks_under_its_name_without_the_suffix() -> None:
    assert complains("./backup.sh; true", "backup: volume /mnt/bk is not mounted\n")
    assert complains("python3 tools/migrate.py || true", "migrate: table users is locked\n")
    assert complains("./sync.sh b & wait", "sync b: remote rejected the batch\n")


def test_a_name_that_no_script_of_the_line_has_is_anybodys() -> None:
    assert not complains("./backup.sh; true", "restore: volume is not mounted\n")
    assert not complains("npm run build; true", "npm notice: a newer npm is there\n")
    assert not complains("./backup.sh; true", "backup: 3 tables, done\n")


@pytest.mark.parametrize(
    ("command", "stderr"),
    [
        ("gm convert bad.png a.jpg; ls", "gm convert: Improper image header (bad.png).\n"),
        ("git secret tell dev; echo ok", "git-secret: abort: no key for dev\n"),
    ],
)
def test_a_subcommand_may_stand_in_the_name(command: str, stderr: str) -> None:
    assert complains(command, stderr)


def test_three_words_before_the_colon_are_a_sentence() -> None:
    assert not complains("npm ls --json | head -c 9", "npm notice Changelog: https://x.example\n")
    assert not complains("git fetch; echo ok", "git saw two remotes: a, b\n")
