"""Every failure leaves one whole line, whoever else writes, whatever breaks in between."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_redact import TOKENS

from triage.agents.model import AgentRun, AgentVerdict
from triage.audit import Recorded, command_hash, destination, record, record_verdict, time_stamp
from triage.audit_log import LINE_BYTES, append_line, encode_line, read_lines
from triage.audit_summary import since_time, summarize
from triage.compile import validator
from triage.engine import classify
from triage.errors import UsageError
from triage.model import Capture
from triage.redact import load_patterns
from triage.table import Table

LONG = bool(os.environ.get("TRIAGE_LONG"))
WRITERS = Path(__file__).parent / "programs" / "audit_writers.py"
NOT_FOUND = {
    "verdict": "failure", "rule": "command-not-found", "row": 4, "mode": 20,
    "why": "127 means not found", "evidence": [{"text": "bash: jqq: command not found"}],
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _shapes(table: Table) -> None:
    load_patterns(table.section("secrets"))


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(tmp_path / "audit.jsonl")


def events_in(path: str) -> list[dict[str, Any]]:
    return [event for event in read_lines(path) if event is not None]


def program(*arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, str(WRITERS), *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- what a line says ---------------------------------------------------------------------------


def test_a_failed_call_leaves_one_line_that_says_what_failed_and_why(
    log: str, table: Table, root: Path
) -> None:
    stderr = "bash: jqq: command not found\n"
    verdict = classify(Capture(exit_code=127, stderr=stderr, command="jqq ."), table)
    done = record_verdict(log, verdict, command="jqq .", exit_code=127, now=1780819200.5)
    assert done == Recorded("call.failed", None)
    text = Path(log).read_text()
    assert text.count("\n") == 1
    event = json.loads(text)
    assert list(validator(root / "rules", "audit").iter_errors(event)) == []
    assert event["time"] == "2026-06-07T08:00:00.500Z"
    assert (event["event"], event["verdict"], event["rule"]) == (
        "call.failed", "failure", "command-not-found",
    )  # fmt: skip
    assert (event["row"], event["mode"], event["exit_code"]) == (4, verdict.mode, 127)
    assert event["command"] == command_hash(["jqq", "."])
    assert "jqq: command not found" in event["evidence"][0]
    assert event["pid"] == os.getpid()


def test_a_call_that_did_not_fail_leaves_nothing(log: str, table: Table) -> None:
    verdict = classify(Capture(exit_code=0, stdout="fine\n"), table)
    assert record_verdict(log, verdict)
    assert not Path(log).exists()


def test_what_may_have_failed_is_told_apart(log: str, table: Table) -> None:
    verdict = classify(Capture(exit_code=None), table)
    assert verdict.verdict == "insufficient"
    assert record_verdict(log, verdict).event == "call.insufficient"


def test_nowhere_to_write_is_nothing_to_do(table: Table) -> None:
    verdict = classify(Capture(exit_code=127, stderr="x: not found\n"), table)
    assert record_verdict(None, verdict) == Recorded(None, None)


def agent_verdict(**fields: Any) -> AgentVerdict:
    given: dict[str, Any] = {
        "verdict": "agent_no_output", "subtype": "error_during_execution", "early_stop": False,
        "early_stop_reason": None, "is_error": True, "native_status": None, "exit_code": 0,
        "rule": "agent-no-output", "why": "no text and no tool call", "flags": (),
        "run": AgentRun(format="opencode", mode="events", exit_code=0), **fields,
    }  # fmt: skip
    return AgentVerdict(**given)


def test_a_failed_turn_names_its_verdict_and_its_agent(log: str, root: Path) -> None:
    assert record_verdict(log, agent_verdict()).event == "agent.turn_failed"
    (event,) = events_in(log)
    assert (event["verdict"], event["agent"]) == ("agent_no_output", "opencode")
    assert (event["subtype"], event["exit_code"]) == ("error_during_execution", 0)
    whole = json.loads(Path(log).read_text())
    assert list(validator(root / "rules", "audit").iter_errors(whole)) == []


def test_a_turn_takes_its_mode_from_the_cause_of_its_error(log: str) -> None:
    cause = {"rule": "rate-limited", "row": 11, "mode": 19, "modes": [19], "title": "slow down"}
    verdict = agent_verdict(
        verdict="agent_error", subtype="error_max_turns", early_stop=True,
        early_stop_reason="max_turns", cause=cause,
    )  # fmt: skip
    assert record_verdict(log, verdict)
    (event,) = events_in(log)
    assert (event["row"], event["mode"], event["early_stop"]) == (11, 19, "max_turns")


def test_a_good_turn_leaves_nothing(log: str) -> None:
    assert record_verdict(log, agent_verdict(verdict="ok", subtype="success", is_error=False))
    assert not Path(log).exists()


def test_a_captured_agent_stream_is_a_failed_turn_too(log: str, table: Table) -> None:
    stream = '{"type":"result","subtype":"error_max_turns","is_error":true,"num_turns":9}\n'
    init = '{"type":"system","subtype":"init","session_id":"s","tools":[],"model":"m"}\n'
    verdict = classify(
        Capture(
            exit_code=0, stdout=init + stream, command="claude -p x --output-format stream-json"
        ),
        table,
    )
    assert verdict.agent is not None
    assert verdict.agent["verdict"] == "agent_error"
    assert record_verdict(log, verdict).event == "agent.turn_failed"
    (event,) = events_in(log)
    assert (event["verdict"], event["subtype"]) == ("agent_error", "error_max_turns")


def test_the_same_command_has_the_same_hash_and_another_has_another() -> None:
    assert command_hash("git push") == command_hash(("git", "push"))
    assert command_hash("git push") != command_hash("git pull")
    assert command_hash(None) is command_hash("") is None
    assert "push" not in str(command_hash("git push"))


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
def test_no_secret_gets_into_a_line(log: str, token: str) -> None:
    verdict = {
        "verdict": "failure", "why": f"sent {token}", "id": token, "url": f"http://h/?t={token}",
        "evidence": [f"401 for {token}", {"text": token + "\n" + "y" * 600}],
        "check": f"x {token}",
    }  # fmt: skip
    assert record(log, "call.failed", verdict=verdict, command=["tool", "--token", token])
    text = Path(log).read_text()
    assert "masked:" in text
    for part in token.split("\n"):
        assert part not in text
        assert part[: max(12, len(part) // 2)] not in text or part.startswith(("-----", "https:"))


def test_a_secret_is_masked_before_a_text_is_cut(log: str) -> None:
    token = TOKENS["github-fine"]
    for before in range(300, 400, 7):
        record(
            log, "call.failed", verdict={"verdict": "failure", "why": "w" * before + " " + token}
        )
    assert "github_" + "pat" not in Path(log).read_text()


@given(
    why=st.text(max_size=3000),
    evidence=st.lists(st.text(max_size=1500), max_size=9),
    url=st.text(max_size=2000),
)
def test_any_text_makes_one_line_that_comes_back_whole(
    tmp_path_factory: pytest.TempPathFactory, why: str, evidence: list[str], url: str
) -> None:
    path = str(tmp_path_factory.mktemp("audit") / "log")
    verdict = {"verdict": "failure", "why": why, "evidence": evidence, "url": url}
    assert record(path, "call.failed", verdict=verdict)
    data = Path(path).read_bytes()
    assert data.count(b"\n") == 1
    assert len(data) <= LINE_BYTES
    assert len(data.decode().splitlines()) == 1
    assert not any(byte < 32 for byte in data[:-1])
    assert len(events_in(path)) == 1


@pytest.mark.parametrize("char", ["\x1b", "\x00", "\x9b", "\u2028", "\u202e", "\ud800", "\u20ac"])
def test_a_line_full_of_escapes_still_fits_in_one_piece(log: str, char: str) -> None:
    verdict = {"verdict": "failure", "rule": char * 500, "why": char * 999, "url": char * 999,
               "id": char * 999, "evidence": [char * 999] * 9}  # fmt: skip
    assert record(log, "call.failed", verdict=verdict)
    assert Path(log).stat().st_size <= LINE_BYTES
    assert summarize(log).whole == 1


def test_a_verdict_of_odd_types_is_recorded_as_far_as_it_makes_sense(log: str) -> None:
    odd: dict[str, Any] = {
        "verdict": None, "rule": 7, "mode": True, "row": 10**30, "evidence": "no list",
        "agent": ["x"], "why": {"a": 1},
    }  # fmt: skip
    assert record(log, "call.failed", verdict=odd)
    (event,) = events_in(log)
    assert (event["verdict"], event["rule"], event["mode"]) == ("unknown", None, None)
    assert event["evidence"] == []


def test_only_its_owner_may_read_the_file(log: str) -> None:
    record(log, "call.failed", verdict=NOT_FOUND)
    assert stat.S_IMODE(Path(log).stat().st_mode) == 0o600


# -- many writers, killed writers, full disks ---------------------------------------------------


def test_sixteen_writers_lose_and_mix_nothing(log: str) -> None:
    each = 2000 if LONG else 60
    program("together", log, 16, each)
    summary = summarize(log)
    assert (summary.whole, summary.torn) == (16 * each, 0)
    assert Path(log).read_bytes().count(b"\n") == 16 * each
    seen = [event["id"].split("-") for event in read_lines(log) if event]
    for name in map(str, range(16)):
        assert [int(number) for writer, number in seen if writer == name] == list(range(each))


def test_threads_of_one_process_exclude_each_other_too(log: str) -> None:
    def work() -> None:
        for _ in range(50):
            record(log, "call.failed", verdict=NOT_FOUND)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    summary = summarize(log)
    assert (summary.whole, summary.torn) == (300, 0)


def test_two_hundred_killed_writers_leave_no_half_event_that_counts(log: str) -> None:
    told = dict(map(int, line.split()) for line in program("killed", log, 200).splitlines())
    assert len(told) == 200
    seen: Counter[int] = Counter()
    for event in events_in(log):
        name, number = map(int, event["id"].split("-"))
        # A writer's events stand in order and without a gap: none was swallowed by a torn one.
        assert number == seen[name]
        assert all(
            text.startswith("bash: jqq") and text.endswith("x") for text in event["evidence"]
        )
        seen[name] += 1
    for name, count in told.items():
        # What was reported as recorded is there; at most the one in progress is there besides.
        assert count <= seen[name] <= count + 1


def test_wherever_a_writer_died_the_next_event_is_whole(tmp_path: Path) -> None:
    line = encode_line({"v": 1, "event": "call.failed", "why": "ä" * 20})
    for cut in range(len(line)):
        path = tmp_path / f"{cut}"
        path.write_bytes(line + line[:cut])
        before = summarize(str(path))
        assert (before.whole, before.torn) == (1, 1 if cut else 0)
        assert record(str(path), "call.failed", verdict=NOT_FOUND)
        after = summarize(str(path))
        # A line that lacks only its line feed is whole again once that stands behind it.
        complete = cut == len(line) - 1
        assert after.whole == 2 + complete
        assert after.torn == (1 if cut > 0 and not complete else 0)


def test_a_changed_line_does_not_count(log: str) -> None:
    record(log, "call.failed", verdict=NOT_FOUND)
    good = Path(log).read_bytes()
    Path(log).write_bytes(
        good.replace(b"127", b"128") + b'{"event":"call.failed"}\n[1]\nx\n' + good
    )
    summary = summarize(log)
    assert (summary.whole, summary.torn) == (1, 4)


def test_lines_without_end_are_read_in_pieces_and_never_count(log: str) -> None:
    with Path(log).open("wb") as file:
        for _ in range(64):
            file.write(b"[" * (1 << 17))
        file.write(b"\n")
    record(log, "call.failed", verdict=NOT_FOUND)
    assert summarize(log).whole == 1


def test_a_full_disk_is_a_warning() -> None:
    done = record("/dev/full", "call.failed", verdict=NOT_FOUND)
    assert not done
    assert done.warning is not None
    assert "/dev/full" in done.warning
    assert "no space left" in done.warning


LIMITED = """
import os, resource, signal, sys
from triage.audit import record
path, disposition = sys.argv[1], sys.argv[2]
signal.signal(signal.SIGXFSZ, getattr(signal, disposition))
size = os.path.getsize(path)
room = int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, resource.RLIM_INFINITY))
verdict = {"verdict": "failure", "rule": "r", "evidence": ["e" * 200]}
one = record(path, "call.failed", verdict=verdict)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
two = record(path, "call.failed", verdict=verdict)
print(bool(one), bool(two), one.warning, os.path.getsize(path) - size)
print(signal.getsignal(signal.SIGXFSZ) == getattr(signal, disposition), signal.sigpending())
"""


@pytest.mark.parametrize("disposition", ["SIG_DFL", "SIG_IGN"])
@pytest.mark.parametrize("room", [0, 1, 100])
def test_a_file_size_limit_is_a_warning_and_no_death(log: str, disposition: str, room: int) -> None:
    record(log, "call.failed", verdict=NOT_FOUND)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, log, disposition, str(room)],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("False True audit: call.failed not recorded")
    assert second == "True set()"
    # The half line was taken back, so the file holds the two whole ones and nothing else.
    summary = summarize(log)
    assert (summary.whole, summary.torn) == (2, 0)


@pytest.mark.parametrize(
    "place", ["missing/folder/log", ".", "nul\0byte", "file.txt/log"], ids=lambda at: repr(at)
)
def test_a_place_that_can_not_be_written_is_a_warning(tmp_path: Path, place: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    done = record(f"{tmp_path}/{place}", "call.failed", verdict=NOT_FOUND)
    assert not done
    assert done.warning is not None
    assert done.warning.startswith("audit: call.failed not recorded in ")


def test_a_pipe_nobody_reads_does_not_block_and_one_that_is_read_gets_the_line(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    assert not record(path, "call.failed", verdict=NOT_FOUND)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    assert record(path, "call.failed", verdict=NOT_FOUND)
    assert json.loads(os.read(reader, LINE_BYTES))["rule"] == "command-not-found"
    os.close(reader)


def test_a_lock_that_is_never_released_holds_up_nobody(
    log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.setattr("triage.audit_log._LOCK_SECONDS", 0.02)
    record(log, "call.failed", verdict=NOT_FOUND)
    with Path(log).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert record(log, "call.failed", verdict=NOT_FOUND)
    assert summarize(log).whole == 2


def test_without_locks_a_torn_end_still_spoils_nothing(
    log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    Path(log).write_bytes(b'{"torn')
    assert append_line(log, encode_line({"event": "call.failed"})) is None
    assert append_line(log, encode_line({"event": "call.failed"})) is None
    summary = summarize(log)
    assert (summary.whole, summary.torn) == (2, 1)


def test_recording_leaves_the_signal_as_it_was(log: str) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    record(log, "call.failed", verdict=NOT_FOUND)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


# -- filters and counts -------------------------------------------------------------------------


@pytest.fixture
def filled(log: str) -> str:
    for number in range(6):
        record(log, "call.failed", verdict=NOT_FOUND, now=1780819200.0 + 3600 * number)
    slow = {"verdict": "failure", "rule": "rate-limited", "mode": 19}
    record(log, "call.failed", verdict=slow, now=1780819200.0)
    turn = {"verdict": "agent_no_output", "rule": "agent-no-output", "format": "opencode"}
    record(log, "agent.turn_failed", verdict=turn, now=1780819200.0)
    return log


def test_counts_are_by_event_verdict_rule_and_mode(filled: str) -> None:
    summary = summarize(filled)
    assert summary.whole == summary.matched == 8
    assert summary.by_event == {"call.failed": 7, "agent.turn_failed": 1}
    assert next(iter(summary.by_rule.items())) == ("command-not-found", 6)
    assert summary.by_mode == {"20": 6, "-": 1, "19": 1}
    assert (summary.first, summary.last) == (
        "2026-06-07T08:00:00.000Z", "2026-06-07T13:00:00.000Z",
    )  # fmt: skip


def test_filters_narrow_and_combine(filled: str) -> None:
    assert summarize(filled, events=["agent.*"]).matched == 1
    assert summarize(filled, rules=["command-*", "rate-limited"]).matched == 7
    assert summarize(filled, modes=[19]).matched == 1
    assert summarize(filled, since="2026-06-07T10:00:00.000Z").matched == 4
    assert summarize(filled, events=["agent.*"], modes=[19]).matched == 0
    assert summarize(filled, events=["agent.*"]).whole == 8


def test_the_last_events_are_kept_when_asked_for(filled: str) -> None:
    assert summarize(filled).events == ()
    kept = summarize(filled, rules=["command-not-found"], keep=2).events
    assert [event["time"][11:13] for event in kept] == ["12", "13"]


def test_since_is_a_date_a_time_or_an_age() -> None:
    now = 1780819200.0
    assert since_time("2026-06-07") == "2026-06-07T00:00:00.000Z"
    assert since_time("2026-06-07T10:00:00+02:00") == "2026-06-07T08:00:00.000Z"
    assert since_time("90m", now=now) == "2026-06-07T06:30:00.000Z"
    assert since_time("7d", now=now) == "2026-05-31T08:00:00.000Z"
    for bad in ("yesterday", "", "-5h", "99999999999999d", "2026-13-01", "h"):
        with pytest.raises(UsageError, match="--since"):
            since_time(bad)


def test_a_file_that_is_not_there_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        summarize(str(tmp_path / "none"))


def test_the_option_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIAGE_AUDIT", "from-env")
    assert destination("option") == "option"
    assert destination(None) == "from-env"
    monkeypatch.setenv("TRIAGE_AUDIT", "")
    assert destination(None) is None


def test_times_sort_as_text() -> None:
    moments = [0.0, 0.001, 1.5, 999999999.999, 1780819200.0]
    assert sorted(map(time_stamp, moments)) == list(map(time_stamp, moments))
