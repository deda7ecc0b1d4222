"""Laws of the judge: pieces don't matter, noise doesn't matter, what is lost stays lost."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.agents.cases import AgentCase, jsonl, load_cases
from triage.cache import load_table
from triage.judge import RunJudge, judge_run

CASES = load_cases(Path(__file__).parent.parent / "corpus" / "agents")
EVENTS = [case for case in CASES if case.stdout.count("\n") > 1 and case.stdout.startswith("{")
          and not case.stdout.startswith("{\n")]  # fmt: skip
TABLE = load_table()
FAST = settings(max_examples=60, deadline=None)


def essence(case: AgentCase, stdout: str | bytes, format: str | None = "") -> tuple[object, ...]:
    verdict = judge_run(
        stdout,
        exit_code=case.exit_code,
        stderr=case.stderr,
        timed_out=case.timed_out,
        format=case.cli if format == "" else format,
        table=TABLE,
    )
    return verdict.verdict, verdict.subtype, verdict.early_stop, verdict.rule, verdict.is_error


@FAST
@given(st.sampled_from(CASES), st.lists(st.integers(0, 4000), max_size=12), st.booleans())
def test_every_cut_of_the_bytes_gives_the_same_verdict(
    case: AgentCase, places: list[int], named: bool
) -> None:
    data = case.stdout.encode()
    cuts = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    judge = RunJudge(case.cli if named else None, table=TABLE)
    for start, end in pairwise(cuts):
        judge.feed(data[start:end])
    found = judge.finish(case.exit_code, stderr=case.stderr, timed_out=case.timed_out)
    whole = judge_run(
        data,
        exit_code=case.exit_code,
        stderr=case.stderr,
        timed_out=case.timed_out,
        format=case.cli if named else None,
        table=TABLE,
    )
    assert found.to_dict() == whole.to_dict()


NOISE = st.sampled_from(
    [
        "Loading configuration...",
        "(node:1) Warning: something is deprecated",
        "error: 401 Unauthorized (this is a log line)",
        "You've hit your usage limit",
        '{"type":"brand.new.event","detail":{"message":"error"}}',
        '{"type":"telemetry","is_error":true}',
        "{not json",
        "\x1b[31mred\x1b[0m",
        "42",
        '"a string"',
    ]
)


@FAST
@given(st.sampled_from(EVENTS), st.lists(st.tuples(st.integers(0, 30), NOISE), max_size=6))
def test_banner_lines_and_unknown_events_change_no_verdict(
    case: AgentCase, noise: list[tuple[int, str]]
) -> None:
    lines = case.stdout.split("\n")
    for place, line in noise:
        # Not behind a line that is cut off: it would be whole then.
        lines.insert(min(place, len(lines) - 1), line)
    assert essence(case, "\n".join(lines)) == essence(case, case.stdout)


@pytest.mark.parametrize("case", EVENTS, ids=lambda case: case.id)
def test_a_run_that_is_lost_stays_lost(case: AgentCase) -> None:
    judge = RunJudge(case.cli, table=TABLE)
    lost = None
    for line in case.stdout.encode().splitlines(keepends=True):
        judge.feed(line)
        assert judge.lost is not None or lost is None
        lost = judge.lost
    verdict = judge.finish(0)
    if lost is not None:
        assert verdict.verdict != "ok"


def test_a_run_is_known_to_be_lost_before_it_ends() -> None:
    judge = RunJudge("opencode", table=TABLE)
    judge.feed(jsonl([{"type": "text", "sessionID": "s", "part": {"type": "text", "text": "Hi"}}]))
    assert judge.lost is None
    judge.feed(jsonl([{"type": "error", "sessionID": "s", "error": {"name": "APIError"}}]))
    assert judge.lost == "APIError"


def test_a_reconnect_does_not_make_a_run_lost() -> None:
    judge = RunJudge("codex", table=TABLE)
    judge.feed(
        jsonl([{"type": "turn.started"}, {"type": "error", "message": "Reconnecting... 1/5"}])
    )
    judge.feed(jsonl([{"type": "error", "message": "unexpected status 401 Unauthorized"}]))
    assert judge.lost is None


@FAST
@given(st.binary(max_size=300), st.one_of(st.none(), st.integers(-300, 300)), st.booleans(),
       st.sampled_from([None, "claude-code", "codex", "gemini-cli", "aider"]))  # fmt: skip
def test_any_stream_and_any_status_has_a_verdict(
    data: bytes, exit_code: int | None, timed_out: bool, format: str | None
) -> None:
    verdict = judge_run(
        data, exit_code=exit_code, stderr=data, timed_out=timed_out, format=format, table=TABLE
    )
    assert verdict.verdict in ("ok", "agent_no_output", "agent_error", "nonzero_exit")
    if verdict.verdict == "ok":
        assert not verdict.is_error and not timed_out and exit_code in (None, 0)
    assert verdict.is_error is (verdict.subtype not in ("success", "cancelled"))
    assert verdict.early_stop is (verdict.early_stop_reason is not None)
