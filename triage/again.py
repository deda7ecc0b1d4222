"""May this command be started once more, and how: the one place that says yes.

The verdict has weighed row, status, envelope, effect and budgets already (`triage.policy`). Here
its answer meets what only the caller of `run` knows, and nothing here can turn a no into a yes.
"""

from __future__ import annotations

from triage.frozen import frozen
from triage.model import Effect, Verdict
from triage.outcome import How

__all__ = ["MOST_STARTS", "Again", "next_start"]

# Three starts in all, whatever a table says.
MOST_STARTS = 3

_UNCHANGED: dict[str, How] = {
    "rerun": "again",
    "wait_then_retry": "wait",
    "wait_for_lock": "wait",
    "rerun_with_env": "env",
}


@frozen()
class Again:
    """Start it once more, after `wait_s` seconds; `why` is the verdict's reason."""

    how: How
    wait_s: float
    why: str


def next_start(
    verdict: Verdict,
    *,
    effect: Effect,
    starts: int,
    bundled: bool,
    waited_s: float,
    max_wait_s: float,
    enabled: bool = True,
) -> Again | str:
    """Return how to start the command again after its start number `starts`, or why not.

    `bundled`: the bundled retry was made. `waited_s` of `max_wait_s` seconds are used up. A call
    that is not read-only is never started again, whatever `verdict` says.
    """
    retry = verdict.retry
    if verdict.verdict != "failure":
        return retry.why if verdict.verdict == "not_failure" else "whether it failed is not certain"
    if not enabled:
        return "retries are switched off"
    if not retry.may:
        return retry.why
    if effect != "read_only":
        return "the call is not known to be read-only, so it is never started again"
    if starts >= MOST_STARTS or retry.attempts_left < 1:
        return f"{starts} starts used up the budget"
    hung = verdict.row == 3 and "timed_out" in verdict.flags
    if hung or verdict.action.kind == "rerun_with_bundle":
        if bundled:
            return "the one retry inside the bundle was made"
        # The bundle changes the call, so nothing is won by waiting.
        return Again("bundle", 0.0, retry.why)
    how = _UNCHANGED.get(verdict.action.kind)
    if how is None:
        return f"the next step is `{verdict.action.kind}`, which does not start the same call"
    wait = max(retry.wait_s or 0.0, verdict.action.wait_s or 0.0)
    if waited_s + wait > max_wait_s:
        return f"a wait of {wait:g} s is more than the {max_wait_s:g} s allowed"
    return Again(how, wait, retry.why)
