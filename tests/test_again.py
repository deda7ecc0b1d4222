"""Whether a command is started once more: only where the verdict allows it, never a risky one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.actions import ACTION_KINDS
from triage.again import MOST_STARTS, Again, next_start
from triage.model import Action, Effect, Kind, Retry, Verdict

HUNG = Verdict(
    id=None,
    verdict="failure",
    row=3,
    rule="hang-pager",
    mode=10,
    modes=(10,),
    title="sits in a pager",
    severity=None,
    tier="A",
    signature=None,
    fallback=None,
    action=Action("rerun_with_bundle", "Run it once more."),
    retry=Retry(True, 1, 1.0, "one more, read-only"),
    evidence=(),
    payload=None,
    extraction=None,
    flags=("timed_out",),
    also=(),
    doc=None,
    warnings=(),
    table={},
    window={},
)
LIMITED = replace(
    HUNG,
    row=11,
    rule="rate-limited",
    flags=(),
    action=Action("wait_then_retry", "Wait.", wait_s=7.0),
    retry=Retry(True, 2, 7.0, "the limit passes with time"),
)


def step(verdict: Verdict, effect: Effect = "read_only", **changed: Any) -> Again | str:
    asked: dict[str, Any] = {"starts": 1, "bundled": False, "waited_s": 0.0, "max_wait_s": 60.0}
    return next_start(verdict, effect=effect, **{**asked, **changed})


def test_a_hang_gets_the_bundle_at_once_and_only_once() -> None:
    assert step(HUNG) == Again("bundle", 0.0, "one more, read-only")
    assert step(HUNG, starts=2, bundled=True) == "the one retry inside the bundle was made"


def test_a_rate_limit_is_waited_for_as_long_as_it_says() -> None:
    assert step(LIMITED) == Again("wait", 7.0, "the limit passes with time")


def test_all_waits_together_stay_within_the_limit() -> None:
    assert isinstance(step(LIMITED, starts=2, waited_s=50.0), Again)
    assert step(LIMITED, starts=2, waited_s=55.0) == ("a wait of 7 s is more than the 60 s allowed")


@pytest.mark.parametrize("kind", ["read_error", "fix_arguments", "redirect_to_file", "poll"])
def test_a_next_step_that_is_another_call_is_not_made_by_us(kind: str) -> None:
    verdict = replace(LIMITED, action=Action(kind, "Do it."))
    assert isinstance(step(verdict), str)


def test_a_caller_who_wants_no_retry_gets_none() -> None:
    assert step(HUNG, enabled=False) == "retries are switched off"


@given(
    kind=st.sampled_from(sorted(ACTION_KINDS)),
    judged=st.sampled_from(["failure", "not_failure", "ambiguous", "insufficient"]),
    row=st.sampled_from([None, *range(1, 17)]),
    effect=st.sampled_from(["mutating", "unknown", "read_only"]),
    may=st.booleans(),
    left=st.integers(0, 20),
    starts=st.integers(1, 5),
    flags=st.sampled_from([(), ("timed_out",)]),
)
def test_nothing_starts_again_that_may_change_things_or_has_had_its_starts(
    kind: str,
    judged: Kind,
    row: int | None,
    effect: Effect,
    may: bool,
    left: int,
    starts: int,
    flags: tuple[str, ...],
) -> None:
    verdict = replace(
        HUNG,
        verdict=judged,
        row=row,
        flags=flags,
        action=Action(kind, ""),
        retry=Retry(may, left, None, "so says the table"),
    )
    found = step(verdict, effect, starts=starts)
    if isinstance(found, Again):
        assert effect == "read_only"
        assert judged == "failure"
        assert may
        assert left > 0
        assert starts < MOST_STARTS
    else:
        assert found
