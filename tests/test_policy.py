"""May the same call start again: rulings 13 and 14, and the contradictions A3 to A8."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from triage.exits import meaning
from triage.model import Effect, Kind, Retry
from triage.policy import RETRY_WORDS, decide, load_policy
from triage.waits import error_code, told_wait, wait_hints
from triage.yaml_source import load_yaml

RULES = Path(__file__).parent.parent / "rules"
POLICY = load_policy(str(RULES))
SCHEMAS = RULES / "schema"


def decided(
    exit_code: int | None = 1,
    *,
    verdict: Kind = "failure",
    effect: Effect = "read_only",
    **more: Any,
) -> Retry:
    return decide(verdict=verdict, effect=effect, exit=meaning(exit_code), policy=POLICY, **more)


def row(when: str, **more: Any) -> dict[str, Any]:
    return {"when": when, **more}


def test_what_did_not_fail_has_nothing_to_retry() -> None:
    for when in RETRY_WORDS:
        retry = decided(0, verdict="not_failure", row_retry=row(when))
        assert (retry.may, retry.attempts_left) == (False, 0)


def test_a_read_only_call_gets_one_more_start_after_a_second() -> None:
    assert decided(1) == Retry(True, 1, 1.0, "nothing says whether a retry helps: one, read-only")


def test_the_second_failure_alike_is_deterministic() -> None:
    for more in ({"attempt": 2}, {"identical_failures": 2}):
        retry = decided(1, **more)
        assert (retry.may, retry.attempts_left) == (False, 0)
        assert "stop" in retry.why


@pytest.mark.parametrize("effect", ["mutating", "unknown"])
@pytest.mark.parametrize("when", [None, *RETRY_WORDS])
def test_what_changes_things_or_may_is_never_started_again(
    effect: Effect, when: str | None
) -> None:
    retry = decided(11, effect=effect, row_retry=when and row(when), error={"retryable": True})
    assert not retry.may


def test_a_mutating_call_is_told_to_verify_and_still_how_long_to_wait() -> None:
    retry = decided(11, effect="mutating", wait_hint_s=7.0)
    assert retry.wait_s == 7.0
    assert "verify what was committed" in retry.why


@pytest.mark.parametrize(("exit_code", "waits"), [(11, [60.0, 120.0]), (12, [1.0, 2.0])])
def test_exit_11_and_12_are_started_three_times_in_all(exit_code: int, waits: list[float]) -> None:
    starts = [decided(exit_code, attempt=attempt) for attempt in (1, 2, 3)]
    assert [retry.may for retry in starts] == [True, True, False]
    assert [retry.attempts_left for retry in starts] == [2, 1, 0]
    assert [retry.wait_s for retry in starts[:2]] == waits


def test_explicitly_retryable_failures_alike_are_stopped_by_the_budget() -> None:
    # A rate limit looks the same until it has passed: two alike are no proof of anything.
    assert decided(11, identical_failures=2).may
    assert not decided(11, identical_failures=3).may


def test_back_off_doubles_up_to_five_minutes() -> None:
    waits = [decided(12, attempt=attempt, row_retry=row("poll")).wait_s for attempt in (1, 2)]
    assert waits == [1.0, 2.0]
    slow = row("after_wait", wait_s=200)
    assert [decided(1, attempt=a, row_retry=slow).wait_s for a in (1, 2)] == [200.0, 300.0]


def test_the_tools_no_outranks_the_status() -> None:
    for exit_code in (11, 12):
        retry = decided(exit_code, error={"retryable": False})
        assert (retry.may, retry.attempts_left) == (False, 0)


def test_the_tools_yes_is_three_starts_from_one_second() -> None:
    retry = decided(1, error={"retryable": True, "code": "BUSY"})
    assert (retry.may, retry.attempts_left, retry.wait_s) == (True, 2, 1.0)


def test_of_conflicting_signs_the_more_cautious_counts() -> None:
    # A3: a real tool ends with 3, partial failure, and prints ARG_ERROR with retryable: true.
    partial = decided(3, error={"code": "ARG_ERROR", "retryable": True})
    assert (partial.may, partial.attempts_left) == (False, 0)
    assert not decided(1, row_retry=row("never"), error={"retryable": True}).may
    assert decided(12, row_retry=row("once_if_read_only")).attempts_left == 1


def test_retryable_with_side_effects_is_a_contradiction_and_no_retry() -> None:
    assert not decided(1, error={"retryable": True, "side_effects": "partial"}).may


def test_a_time_out_of_the_spec_is_retried_once_or_as_the_tool_says() -> None:
    # A8: exit 10 depends; an explicit word settles it.
    assert decided(10, error={"code": "X"}).attempts_left == 1
    assert decided(10, error={"code": "X", "retryable": True}).attempts_left == 2


def test_the_specs_numbers_mean_nothing_without_an_envelope() -> None:
    # C17: curl's 7 is a refused connection, not a denial.
    assert decided(7).may
    assert not decided(7, error={}).may
    assert not decided(7, error="a string, as real tools print").may


@pytest.mark.parametrize("exit_code", [126, 127, 9009])
def test_what_never_ran_is_reissued_after_the_fix(exit_code: int) -> None:
    retry = decided(exit_code, effect="mutating")
    assert (retry.may, retry.attempts_left) == (False, 1)
    assert "never ran" in retry.why and "reissue once" in retry.why


@pytest.mark.parametrize("exit_code", [137, -9, 143, 134])
def test_after_a_signal_the_state_is_unknown(exit_code: int) -> None:
    assert decided(exit_code).may
    retry = decided(exit_code, effect="unknown")
    assert not retry.may
    assert "it ran, and its state is not known" in retry.why


@pytest.mark.parametrize("exit_code", [130, -2, 131])
def test_what_a_person_ended_is_not_started_again(exit_code: int) -> None:
    assert not decided(exit_code).may
    # A limit may end a hang with the same signal; the row that saw the hang knows better.
    assert decided(exit_code, row_retry=row("once_if_read_only")).may


@pytest.mark.parametrize(
    ("exit_code", "code"),
    [(2, "ARG_ERROR"), (4, "PRECONDITION"), (8, "TOKEN_EXPIRED"), (1, "auth-expired"), (1, 401)],
)
def test_fix_then_reissue_is_once(exit_code: int, code: object) -> None:
    for error in ({"code": code}, {"code": code, "retryable": False}):
        first, second = (decided(exit_code, error=error, attempt=n) for n in (1, 2))
        assert (first.may, first.attempts_left) == (False, 1)
        assert "reissue once after the fix" in first.why
        assert (second.may, second.attempts_left) == (False, 0)


def test_a_named_fix_comes_before_any_retry() -> None:
    for error in (
        {"retryable": True, "fix_command": "tool repair"},
        {"retryable": True, "fix_required": True},
    ):
        assert (decided(1, error=error).may, decided(1, error=error).attempts_left) == (False, 1)


@pytest.mark.parametrize("code", ["CONFLICT", "NOT_FOUND", "PERMISSION_DENIED", "Forbidden", 404])
def test_denial_conflict_and_absence_do_not_pass_with_time(code: object) -> None:
    assert decided(1, error={"code": code}) == Retry(
        False, 0, None, f"error.code {error_code({'code': code})}: {RETRY_WORDS['never']}"
    )


def test_an_ambiguous_line_is_run_apart_not_again() -> None:
    retry = decided(1, verdict="ambiguous")
    assert not retry.may
    assert "apart" in retry.why


def test_where_nothing_was_seen_a_read_only_call_may_be_looked_at_again() -> None:
    assert decided(None, verdict="insufficient").may
    assert not decided(None, verdict="insufficient", effect="unknown").may


# --- waits ---------------------------------------------------------------------------------------


def test_retry_after_beats_a_reset_time_beats_the_default() -> None:
    both = decided(11, wait_hint_s=5.0, reset_hint_s=900.0)
    assert both.wait_s == 5.0
    assert decided(11, reset_hint_s=900.0).wait_s == 900.0
    assert decided(11).wait_s == 60.0
    assert decided(11, error={"retry_after_ms": 1500}).wait_s == 1.5


def test_of_two_hints_that_disagree_the_longer_counts() -> None:
    assert decided(11, wait_hint_s=5.0, error={"retry_after_ms": 9000}).wait_s == 9.0


def test_a_rate_limit_waits_a_minute_whatever_general_rule_there_is() -> None:
    # A7: `retryable: true` alone waits a second, the code's own rule says sixty.
    for code in ("RATE_LIMITED", "RATE_LIMIT_EXCEEDED", "too many requests", 429):
        error = {"code": code, "retryable": True}
        assert decided(1, error=error).wait_s == 60.0
        assert decided(1, error=error, row_retry=row("with_backoff")).wait_s == 60.0


def test_a_row_may_wait_otherwise_but_not_try_more_often() -> None:
    lock = decided(128, row_retry=row("after_wait", wait_s=3, max=9))
    assert (lock.attempts_left, lock.wait_s) == (2, 3.0)
    assert decided(1, row_retry=row("with_backoff", max=2)).attempts_left == 1
    poll = decided(8, row_retry=row("poll"))
    assert (poll.may, poll.attempts_left, poll.wait_s) == (True, 19, 30.0)


@pytest.mark.parametrize(
    ("captured", "hints"),
    [
        ({"retry_after_s": "30"}, (30.0, None)),
        ({"retry_after_ms": "1500"}, (1.5, None)),
        ({"retry_after": "1m30s"}, (90.0, None)),
        ({"retry_after": "250ms"}, (0.25, None)),
        ({"retry_after": "2h"}, (7200.0, None)),
        ({"retry_after_min": "2"}, (120.0, None)),
        ({"reset_in_s": "7", "retry_after_s": "soon"}, (None, 7.0)),
        ({"retry_after_s": ""}, (None, None)),
        ({"retry_after_s": "9" * 5000}, (None, None)),
        ({}, (None, None)),
    ],
)
def test_waits_are_read_from_what_a_row_captured(
    captured: dict[str, str], hints: tuple[float | None, float | None]
) -> None:
    assert wait_hints(captured) == hints


def test_a_wait_of_more_than_a_week_is_a_mistake() -> None:
    assert told_wait({"retry_after_s": 1_700_000_000}, None, None, 604_800.0) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
error_objects = st.dictionaries(
    st.sampled_from(
        ["code", "retryable", "retry_after_ms", "retry_after", "reset_in_s", "side_effects",
         "fix_required", "fix_command"]
    ),
    json_values | st.just(10**5000) | st.sampled_from(["RATE_LIMITED", "TOKEN_EXPIRED", "9s"]),
)  # fmt: skip


@settings(max_examples=300)
@given(
    exit_code=st.none() | st.integers() | st.integers(-130, 300),
    verdict=st.sampled_from(["failure", "ambiguous", "insufficient", "not_failure"]),
    effect=st.sampled_from(["read_only", "mutating", "unknown"]),
    error=json_values | error_objects,
    when=st.none() | st.sampled_from(list(RETRY_WORDS)),
    attempt=st.integers(-2, 10**6),
    identical=st.integers(-2, 10**6),
    hints=st.tuples(st.none() | st.floats(), st.none() | st.floats()),
)
def test_the_laws_hold_for_every_input(
    exit_code: int | None,
    verdict: Kind,
    effect: Effect,
    error: object,
    when: str | None,
    attempt: int,
    identical: int,
    hints: tuple[float | None, float | None],
) -> None:
    retry = decide(
        verdict=verdict,
        effect=effect,
        exit=meaning(exit_code),
        policy=POLICY,
        row_retry=when and row(when),
        error=error,
        attempt=attempt,
        identical_failures=identical,
        wait_hint_s=hints[0],
        reset_hint_s=hints[1],
    )
    if retry.may:
        assert effect == "read_only"
        assert retry.attempts_left >= 1
        assert retry.wait_s is not None
        assert attempt <= 2 or when == "poll"
    assert retry.wait_s is None or 0 <= retry.wait_s <= 604_800
    assert retry.attempts_left >= 0
    assert retry.why


# --- the data ------------------------------------------------------------------------------------


def test_the_file_meets_its_schema() -> None:
    source = load_yaml("policy.yaml", (RULES / "policy.yaml").read_text("utf-8"))
    schema = json.loads((SCHEMAS / "policy.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    assert list(Draft202012Validator(schema).iter_errors(source.data)) == []
    # The compiled table keeps its data as JSON: what comes back must be the same.
    assert json.loads(json.dumps(source.data)) == source.data


def test_the_schemas_words_are_ours() -> None:
    action = json.loads((SCHEMAS / "action.schema.json").read_text("utf-8"))
    assert action["$defs"]["retry"]["properties"]["when"]["enum"] == list(RETRY_WORDS)
