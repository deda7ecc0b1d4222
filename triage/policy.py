"""Whether the same call may be started again, how often, after how long, and why.

Every voice that says something of a retry becomes one `_Hint`: the row that won, the exit status,
the envelope's error. The most cautious one decides; then the effect of the call and the budgets
may only forbid. Numbers are data, ``rules/policy.yaml``. Nothing here reads a clock or sleeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from triage.errors import LocatedIssue, RuleError
from triage.frozen import frozen
from triage.model import Effect, Kind, Retry
from triage.waits import error_code, told_wait

if TYPE_CHECKING:
    from triage.exits import ExitMeaning

__all__ = ["RETRY_WORDS", "Policy", "decide", "load_policy", "policy_from_data"]

# Word of a row's `retry: {when: ...}` -> its meaning, the most cautious first.
RETRY_WORDS: Mapping[str, str] = {
    "never": "the same call fails the same way, or must not be started again",
    "after_fix": "unchanged it fails again",
    "once_if_read_only": "one more start after a second, if the call changes nothing",
    "with_backoff": "explicitly retryable: up to the budget, each wait twice the last",
    "after_wait": "explicitly retryable after a wait: the given one, else a minute",
    "poll": "the state asked for is not reached yet: ask again at intervals",
}
_CAUTION = {word: rank for rank, word in enumerate(RETRY_WORDS)}
_EXPLICIT = ("with_backoff", "after_wait")


@frozen()
class Policy:
    """``rules/policy.yaml`` as looked up: budgets (starts), waits (seconds), what codes promise."""

    budgets: Mapping[str, int]
    waits: Mapping[str, float]
    exits: Mapping[int, Mapping[str, Any]]
    codes: Mapping[str, str]
    user_signals: frozenset[str]
    help: Mapping[str, Any]
    untrusted_fields: frozenset[str]


@frozen()
class _Hint:
    when: str
    why: str


def policy_from_data(data: Mapping[str, Any]) -> Policy:
    """Build a `Policy` from parsed ``policy.yaml`` (from YAML or from the compiled table)."""
    return Policy(
        budgets=data["budgets"],
        waits=data["waits"],
        exits={item["exit"]: item for item in data["exits"]},
        codes={code: when for when, codes in data["error_codes"].items() for code in codes},
        user_signals=frozenset(data["user_signals"]),
        help={**data["help"], "runners": frozenset(data["help"]["runners"])},
        untrusted_fields=frozenset(data["untrusted_fields"]),
    )


def load_policy(rules: str | None = None) -> Policy:
    """Read ``policy.yaml`` of the folder `rules` (None: the built-in rules) without the table.

    Raises `RuleError` with the place of a file that is missing or no YAML. The schema is checked
    where tables are compiled.
    """
    import os.path

    from triage.yaml_source import load_yaml

    if rules is None:
        from triage.rules_folder import builtin_rules

        rules = builtin_rules()
    path = os.path.join(rules, "policy.yaml")  # noqa: PTH118 (pathlib costs 3 ms of start-up)
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            source = load_yaml(path, file.read())
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(
            [LocatedIssue(f"{path}:1:1", f"can't be read: {error}", "make it readable UTF-8")]
        ) from None
    return policy_from_data(source.data)


def decide(
    *,
    verdict: Kind,
    effect: Effect,
    exit: ExitMeaning,
    policy: Policy,
    row_retry: Mapping[str, Any] | None = None,
    error: object = None,
    attempt: int = 1,
    identical_failures: int = 1,
    wait_hint_s: float | None = None,
    reset_hint_s: float | None = None,
) -> Retry:
    """Decide on another start of the call whose start number `attempt` (from 1) just ended.

    `row_retry` is the winning row's ``retry:`` block, ``{when, max, wait_s, why}`` with a `when`
    of `RETRY_WORDS`; None obeys the other signs. `error` is the envelope's ``error`` value, of any
    type. `identical_failures` counts failures alike, this one included. `wait_hint_s` is a
    Retry-After found in the text, `reset_hint_s` the seconds to a stated reset.

    In the answer `may` speaks of the unchanged call, started by us; `attempts_left` counts starts
    the budget has left, also for a call that was fixed first (``may`` is then False). Total: any
    `error`, any numbers.
    """
    used = max(attempt, identical_failures, 1)
    if verdict == "not_failure":
        return Retry(False, 0, None, "the call did not fail: there is nothing to retry")
    if verdict == "ambiguous":
        hint = _Hint("after_fix", "the same line would end as ambiguously: run its stages apart")
    else:
        hint = _most_cautious(row_retry, exit, error, policy)
    row = row_retry or {}
    wait = told_wait(error, wait_hint_s, reset_hint_s, policy.waits["longest_hint_s"])
    if wait is None:
        limited = exit.normal == 11 or policy.codes.get(error_code(error)) == "after_wait"
        wait = _default_wait(hint.when, row, limited, policy, used)
    if hint.when == "never":
        return Retry(False, 0, None, hint.why)
    left = max(0, _budget(hint.when, row, policy) - used)
    if hint.when == "after_fix":
        if left == 0:
            return Retry(False, 0, None, f"{hint.why}; it was reissued already: stop and escalate")
        return Retry(False, left, None, f"{hint.why}; reissue once after the fix")
    if effect != "read_only":
        treated = "may change things" if effect == "mutating" else "is not known to be read-only"
        return Retry(
            False,
            0,
            wait if hint.when in _EXPLICIT else None,
            f"the call {treated}, so it is never started again blindly: "
            f"verify what was committed ({hint.why})",
        )
    if (
        hint.when == "once_if_read_only"
        and identical_failures >= policy.budgets["identical_failures"]
    ):
        return Retry(False, 0, None, "the second failure alike is deterministic: stop and escalate")
    if left == 0:
        return Retry(False, 0, None, f"{used} starts used up the budget: stop and escalate")
    return Retry(True, left, wait, hint.why)


def _most_cautious(
    row_retry: Mapping[str, Any] | None, exit: ExitMeaning, error: object, policy: Policy
) -> _Hint:
    hints: list[_Hint] = []
    if row_retry is not None:
        when = row_retry["when"]
        hints.append(_Hint(when, row_retry.get("why") or RETRY_WORDS[when]))
    elif exit.kind == "signal":
        # A row that won has read the signal already: a limit's SIGINT is no user's Ctrl-C.
        hints.append(_signal_hint(exit, policy))
    hints += _exit_hints(exit, error, policy)
    if isinstance(error, Mapping):
        hints += _error_hints(error, policy, any(hint.when == "after_fix" for hint in hints))
    if not hints:
        return _Hint("once_if_read_only", "nothing says whether a retry helps: one, read-only")
    # At one rank the longer wait is the more cautious, and after_wait waits longer.
    return min(hints, key=lambda hint: _rank(hint.when))


def _rank(when: str) -> tuple[int, int]:
    return (_CAUTION["with_backoff"], -1) if when == "after_wait" else (_CAUTION[when], 0)


def _signal_hint(exit: ExitMeaning, policy: Policy) -> _Hint:
    if exit.signal in policy.user_signals:
        return _Hint("never", f"SIG{exit.signal}: somebody ended it on purpose")
    return _Hint("once_if_read_only", f"SIG{exit.signal}: it ran, and its state is not known")


def _exit_hints(exit: ExitMeaning, error: object, policy: Policy) -> list[_Hint]:
    promise = policy.exits.get(exit.normal) if exit.normal is not None else None
    if promise is None or not (promise.get("bare") or error is not None):
        return []
    when = promise["retry"]
    if when == "depends":
        # `retryable: true` is the answer to "it depends", not a voice against it.
        if isinstance(error, Mapping) and error.get("retryable") is True:
            return []
        when = "once_if_read_only"
    return [_Hint(when, f"exit {exit.normal}: {promise['why']}")]


def _error_hints(error: Mapping[Any, Any], policy: Policy, fixable: bool) -> list[_Hint]:
    hints: list[_Hint] = []
    code = error_code(error)
    when = policy.codes.get(code)
    if when is not None:
        hints.append(_Hint(when, f"error.code {code}: {RETRY_WORDS[when]}"))
    retryable = error.get("retryable")
    if retryable is False:
        # More specific than the status: it wins over exit 11 and 12 too. Of a call that waits for
        # a fix it says nothing new: as it stands, that one fails again.
        fixable = fixable or when == "after_fix" or _asks_for_fix(error)
        word = "after_fix" if fixable else "never"
        hints.append(_Hint(word, "the tool says retryable: false"))
    elif retryable is True:
        if error.get("side_effects") in ("partial", "complete", "unknown"):
            hints.append(_Hint("never", "retryable, but with side effects: inspect state first"))
        else:
            hints.append(_Hint("with_backoff", "the tool says retryable: true"))
    if _asks_for_fix(error):
        hints.append(_Hint("after_fix", "the tool names a fix"))
    return hints


def _asks_for_fix(error: Mapping[Any, Any]) -> bool:
    return error.get("fix_required") is True or isinstance(error.get("fix_command"), str)


def _budget(when: str, row: Mapping[str, Any], policy: Policy) -> int:
    """How many starts in all; a row may ask for fewer than the budget, never for more."""
    budgets = policy.budgets
    allowed = {
        "after_fix": budgets["after_fix"],
        "once_if_read_only": budgets["read_only"],
        "poll": budgets["polls"],
    }.get(when, budgets["retryable"])
    asked: int = row.get("max", allowed)
    return min(allowed, asked)


def _default_wait(
    when: str, row: Mapping[str, Any], limited: bool, policy: Policy, used: int
) -> float:
    """Seconds before the next start where nobody named any; `limited`: by a rate limit."""
    waits = policy.waits
    given = row.get("wait_s")
    if when == "poll":
        return float(given or waits["poll_s"])
    if when not in _EXPLICIT:
        return float(given or waits["read_only_s"])
    base = given or (waits["rate_limited_s"] if when == "after_wait" else waits["backoff_start_s"])
    if limited:
        base = max(base, waits["rate_limited_s"])
    # 2 ** 60 seconds are past any cap; a larger exponent would only cost time.
    return float(min(base * 2 ** min(used - 1, 60), waits["backoff_cap_s"]))
