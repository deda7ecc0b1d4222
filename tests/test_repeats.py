"""What is remembered of failures: enough to see a loop, nothing that could be a secret."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_again import HUNG

import triage.repeats as repeats
from triage.model import Capture
from triage.repeats import Repeats, fingerprint

BROKEN = Capture(
    exit_code=1, command=("tool", "get", "--token", "s3cr3t-value"), stderr="no such item", cwd="/"
)
FAILED = replace(HUNG, row=16, rule="not-found", flags=())
FINE = replace(FAILED, verdict="not_failure", row=None, rule="clean-exit")


@pytest.fixture
def memory(tmp_path: Path) -> Repeats:
    return Repeats(tmp_path / "state" / "calls.jsonl")


def file_of(memory: Repeats) -> Path:
    assert memory.path is not None
    return Path(memory.path)


def test_nothing_is_remembered_of_a_first_failure(memory: Repeats) -> None:
    assert memory.streak(BROKEN) == ()
    marked = memory.marked(BROKEN)
    assert (marked.attempt, marked.previous) == (1, ())


def test_the_same_failure_again_is_counted(memory: Repeats) -> None:
    for count in range(1, 4):
        memory.record(BROKEN, FAILED)
        marked = memory.marked(BROKEN)
        assert (marked.attempt, len(marked.previous)) == (count + 1, count)
    assert marked.previous[0] == {
        "rule": "not-found", "row": 16, "verdict": "failure", "exit_code": 1,
    }  # fmt: skip


def test_a_line_and_the_words_of_it_are_one_call(memory: Repeats) -> None:
    memory.record(replace(BROKEN, command=("git", "log", "a b")), FAILED)
    assert len(memory.streak(replace(BROKEN, command=" git log 'a b'"))) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"command": ("tool", "get", "--token", "another")},
        {"cwd": "/tmp"},
        {"exit_code": 2},
        {"stderr": "no such thing"},
    ],
)
def test_another_call_or_another_failure_is_no_repeat(
    memory: Repeats, other: dict[str, Any]
) -> None:
    memory.record(BROKEN, FAILED)
    assert memory.streak(replace(BROKEN, **other)) == ()


def test_numbers_and_hashes_in_the_output_make_no_other_failure(memory: Repeats) -> None:
    first = "12:00:01 job 4711 (abcdef0123) failed after 3.2 s at 0x7ffe"
    second = "12:00:09 job 4712 (0123abcdef) failed after 4 s at 0x7fff"
    assert fingerprint(replace(BROKEN, stderr=first)) != fingerprint(replace(BROKEN, stderr="x"))
    memory.record(replace(BROKEN, stderr=first.replace("3.2", "3")), FAILED)
    assert len(memory.streak(replace(BROKEN, stderr=second))) == 1


def test_where_a_limit_cut_the_output_is_chance(memory: Repeats) -> None:
    cut = replace(BROKEN, timed_out=True, exit_code=-15)
    memory.record(replace(cut, stdout="line 1\nli"), FAILED)
    assert len(memory.streak(replace(cut, stdout="line 1\nline 2\nl"))) == 1


def test_a_success_forgets_what_went_before(memory: Repeats) -> None:
    memory.record(BROKEN, FAILED)
    memory.record(replace(BROKEN, exit_code=0, stderr=""), FINE)
    assert memory.streak(BROKEN) == ()


def test_a_success_that_never_failed_is_not_even_written(memory: Repeats) -> None:
    memory.record(BROKEN, FINE)
    assert not file_of(memory).exists()


def test_an_hour_later_it_may_have_another_reason(
    memory: Repeats, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    memory.record(BROKEN, FAILED)
    now = time.time()
    monkeypatch.setattr(repeats.time, "time", lambda: now + 3601)
    assert memory.streak(BROKEN) == ()
    monkeypatch.setattr(repeats.time, "time", lambda: now - 3601)
    assert memory.streak(BROKEN) == ()


def test_no_word_of_the_call_or_its_output_is_in_the_file(memory: Repeats) -> None:
    memory.record(BROKEN, FAILED)
    text = file_of(memory).read_text()
    for word in ("tool", "s3cr3t", "such", "item"):
        assert word not in text
    assert file_of(memory).stat().st_mode & 0o777 == 0o600
    assert file_of(memory).parent.stat().st_mode & 0o777 == 0o700


def test_the_file_stays_small(memory: Repeats) -> None:
    for number in range(1500):
        memory.record(replace(BROKEN, exit_code=number), FAILED)
    assert file_of(memory).stat().st_size <= 128 << 10
    assert len(memory.streak(replace(BROKEN, exit_code=1499))) == 1
    for line in file_of(memory).read_text().splitlines():
        json.loads(line)


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\x00 garbage\n",
        b"[" * 100_000,
        b'{"call": 1}\n{"at": "x"}\nnull\n[]\n',
        b'{"call":"x","like":"y","rule":"z","verdict":"failure","at":1e999,"row":1,"exit_code":1}\n',
        b"9" * 10_000 + b"\n",
    ],
)
def test_nonsense_in_the_file_is_passed_over(memory: Repeats, content: bytes) -> None:
    file_of(memory).parent.mkdir()
    file_of(memory).write_bytes(content if content.endswith(b"\n") else content + b"\n")
    assert memory.streak(BROKEN) == ()
    memory.record(BROKEN, FAILED)
    assert len(memory.streak(BROKEN)) == 1


def test_what_is_no_file_of_ours_is_left_alone(memory: Repeats, tmp_path: Path) -> None:
    file_of(memory).parent.mkdir()
    os.mkfifo(file_of(memory))
    memory.record(BROKEN, FAILED)
    assert memory.streak(BROKEN) == ()
    file_of(memory).unlink()
    target = tmp_path / "elsewhere"
    target.write_text("precious")
    file_of(memory).symlink_to(target)
    memory.record(BROKEN, FAILED)
    assert target.read_text() == "precious"


def test_a_folder_that_can_not_be_written_costs_the_memory_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    memory = Repeats(tmp_path / "file" / "calls.jsonl")
    memory.record(BROKEN, FAILED)
    assert memory.marked(BROKEN).attempt == 1


def test_a_file_that_somebody_keeps_locked_is_not_waited_for(memory: Repeats) -> None:
    import fcntl

    memory.record(BROKEN, FAILED)
    with file_of(memory).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert memory.streak(BROKEN) == ()
        memory.record(BROKEN, FAILED)
    assert len(memory.streak(BROKEN)) == 1


def test_writers_at_one_time_lose_nothing(memory: Repeats) -> None:
    def write() -> None:
        for _ in range(5):
            memory.record(BROKEN, FAILED)

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines = file_of(memory).read_text().splitlines()
    # One that waited too long for the others may give up; none may tear a line.
    assert 10 <= len(lines) <= 20
    assert all(json.loads(line)["rule"] == "not-found" for line in lines)


def test_a_status_no_system_knows_is_not_stored(memory: Repeats) -> None:
    memory.record(replace(BROKEN, exit_code=10**5000), FAILED)
    assert memory.streak(BROKEN) == ()


def test_a_capture_that_brings_its_own_history_keeps_it(memory: Repeats) -> None:
    memory.record(BROKEN, FAILED)
    own = replace(BROKEN, attempt=3)
    assert memory.marked(own) is own


def test_the_users_own_file_follows_the_environment() -> None:
    program = "from triage.repeats import Repeats; print(Repeats().path)"

    def path_with(**env: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert path_with(XDG_STATE_HOME="/s", HOME="/h") == "/s/triage/calls.jsonl"
    assert path_with(XDG_STATE_HOME="relative", HOME="/h") == "/h/.local/state/triage/calls.jsonl"
    assert path_with() == "None"
