"""`classify`: walk the table from the top, first match wins; nothing else.

The winner gives row, §N, action and retry; every further row that would have matched is listed in
`also`, so that shadowing is visible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from triage.actions import build
from triage.call import call_of
from triage.evidence import evidence_of, extraction_of, flags_of, last_words, windows_of
from triage.match import look_up, streams_of, window_of
from triage.model import Action, Capture, Effect, Kind, Retry, Tier, Verdict
from triage.policy import decide
from triage.signals import Signals
from triage.table import Row, Table
from triage.waits import wait_hints

if TYPE_CHECKING:
    from triage.agents.model import AgentRun

__all__ = ["classify", "matching_rows", "signals_for"]

_LONGEST_CAPTURED = 400


def classify(
    capture: Capture,
    table: Table | None = None,
    *,
    tier: Tier | None = None,
    agent: AgentRun | None = None,
) -> Verdict:
    """Decide one capture: did it fail, which row, which §N, on what evidence, what to do next.

    `table` is the built-in one where None. `tier` is the highest capability the caller has: a mode
    above it gets its fallback as action. `agent` is the run for a caller who knows that the call
    was an agent CLI's; else the command or the stream tells. Total and deterministic: no network,
    no clock, no input raises.
    """
    if table is None:
        from triage.cache import load_table

        table = load_table()
    signals = signals_for(capture, table)
    if agent is not None:
        signals.__dict__["agent"] = agent
    matches = matching_rows(signals, table)
    row, found = matches[0]
    row = _with_cause(signals, table, row)
    return _verdict(signals, table, row, found, [other for other, _ in matches[1:]], tier)


def signals_for(capture: Capture, table: Table) -> Signals:
    """Derive the signals of `capture`, with the patterns of `table` that can match it."""
    signals = Signals(capture, table)
    signals.possible = table.prefilter.possible(signals)
    return signals


def matching_rows(signals: Signals, table: Table) -> list[tuple[Row, list[Any]]]:
    """Return every row that matches, in table order, with what its condition found."""
    matches = []
    for number in table.prefilter.rows(signals, signals.possible):
        row = table.row(number)
        found: list[Any] = []
        if table.matcher.holds(row.when, signals, found):
            matches.append((row, found))
            if len(matches) == 1 and row.verdict == "not_failure":
                signals.fine = True
    return matches or [(table.last_resort, [])]


def _with_cause(signals: Signals, table: Table, row: Row) -> Row:
    """An agent run's error names its §N by the rows that serve ordinary calls."""
    run = signals.known_agent
    if run is None or row.agent is None or row.agent.get("verdict") != "agent_error":
        return row
    from dataclasses import replace

    from triage.agents import error_capture

    error = error_capture(run)
    if error is None:
        return row
    cause, _ = matching_rows(signals_for(error, table), table)[0]
    if cause.verdict != "failure" or cause.row in (None, 16):
        return row
    return replace(
        row,
        row=cause.row if signals.status else row.row,
        modes=tuple(dict.fromkeys([*cause.modes, *row.modes])),
        modes_by={},
        capture=cause.capture,
        do=cause.do,
        retry=cause.retry,
    )


def _verdict(
    signals: Signals,
    table: Table,
    row: Row,
    found: list[Any],
    others: Sequence[Row],
    tier: Tier | None,
) -> Verdict:
    capture = signals.capture
    modes = _modes(signals, row)
    mode = table.mode(modes[0]) if modes else None
    effect = signals.effect
    captured = _captured(signals, table, row)
    retry = _retry(signals, table, row, effect, captured)
    action = _action(signals, table, row, effect, captured, retry, mode, tier)
    extraction = extraction_of(signals)
    original = _original(signals, table, row)
    return Verdict(
        id=capture.id,
        verdict=cast(Kind, row.verdict),
        row=row.row,
        rule=row.id,
        mode=modes[0] if modes else None,
        modes=modes,
        title=row.title or (mode.title if mode else row.id),
        severity=mode.severity if mode else None,
        tier=mode.tier if mode else None,
        signature=mode.signature if mode else None,
        fallback=mode.fallback if mode else None,
        why=row.why,
        action=action,
        retry=retry,
        evidence=evidence_of(signals, table, found) or last_words(signals, row),
        payload=extraction["value"] if extraction else None,
        extraction=extraction["facts"] if extraction else None,
        flags=flags_of(signals, row),
        also=(*original, *(_also(other) for other in others)),
        doc=f"rules/modes/{mode.doc}" if mode else None,
        warnings=tuple(signals.warnings),
        table=table.info(),
        window=windows_of(signals),
        agent=_agent(signals, row),
    )


def _modes(signals: Signals, row: Row) -> tuple[int, ...]:
    """The row's modes, those picked by error.code or status first."""
    first: list[int] = []
    for path, by_value in row.modes_by.items():
        picked = _picked(signals, path, by_value)
        if picked is not None:
            first.extend(picked)
            break
    return tuple(dict.fromkeys([*first, *row.modes]))


def _picked(signals: Signals, path: str, by_value: Mapping[str, Any]) -> Any:
    if path == "exit":
        value: object = signals.exit.normal
    else:
        value = look_up(signals.envelope, path) if signals.envelope is not None else None
    if isinstance(value, bool) or not isinstance(value, (str, int)) or _long(value):
        return None
    return by_value.get(str(value), by_value.get(str(value).upper()))


def _long(value: str | int) -> bool:
    return value.bit_length() > 64 if isinstance(value, int) else len(value) > 200


def _captured(signals: Signals, table: Table, row: Row) -> dict[str, str]:
    """The values the row's `capture:` pulls from the text: last find, first group that matched."""
    values: dict[str, str] = {}
    for name, pids in row.capture.items():
        for pid in pids:
            for stream in streams_of("any", signals):
                start, end = window_of("all", stream.text)
                hit = table.matcher.groups(pid, stream.text, start, end, signals)
                if hit and name not in values:
                    values[name] = hit[:_LONGEST_CAPTURED]
    return values


def _error(signals: Signals) -> object:
    envelope = signals.envelope
    return None if envelope is None else envelope.get("error")


def _retry(
    signals: Signals, table: Table, row: Row, effect: Effect, captured: Mapping[str, str]
) -> Retry:
    error = _error(signals)
    after, reset = wait_hints(captured)
    return decide(
        verdict=cast(Kind, row.verdict),
        effect=effect,
        exit=signals.exit,
        policy=table.policy,
        row_retry=row.retry,
        error=error if isinstance(error, dict) else None,
        attempt=max(signals.capture.attempt, signals.repeats + 1),
        identical_failures=signals.repeats_of(row.id) + 1,
        wait_hint_s=after,
        reset_hint_s=reset,
    )


def _action(
    signals: Signals,
    table: Table,
    row: Row,
    effect: Effect,
    captured: Mapping[str, str],
    retry: Retry,
    mode: Any,
    tier: Tier | None,
) -> Action:
    capture = signals.capture
    owners = signals.owners
    failed = row.verdict == "failure"
    do = row.do
    if failed and signals.repeats_of(row.id) >= 1 and not retry.may:
        do = {
            "kind": "escalate",
            "text": "Stop: the same call failed the same way before. Hand on all observables.",
        }
    return build(
        do,
        command=call_of(
            capture.command, stage=owners[0] if len(owners) == 1 else None, shell=capture.shell
        ),
        captured=captured,
        effect=effect,
        retry=retry,
        policy=table.policy,
        bundles=table.bundles,
        mode_fallback=mode.fallback if mode and failed else None,
        mode_tier=mode.tier if mode and failed else None,
        allowed_tier=tier,
        envelope_error=_error(signals),
    )


def _original(signals: Signals, table: Table, row: Row) -> list[dict[str, Any]]:
    """Where a translated message would have gone in English."""
    if row.row != 15:
        return []
    from dataclasses import replace

    from triage.locale_text import to_english

    capture = signals.capture
    stderr, stdout = to_english(signals.stderr.text), to_english(signals.stdout.text)
    if stderr is None and stdout is None:
        return []
    english = replace(
        capture,
        merged=None,
        stdout=signals.stdout.text if stdout is None else stdout,
        stderr="" if signals.merged else signals.stderr.text if stderr is None else stderr,
    )
    first = next(
        (
            other
            for other, _ in matching_rows(signals_for(english, table), table)
            if other.row != 15
        ),
        None,
    )
    return [] if first is None else [{**_also(first), "in_english": True}]


def _also(row: Row) -> dict[str, Any]:
    return {
        "rule": row.id,
        "row": row.row,
        "verdict": row.verdict,
        "mode": row.modes[0] if row.modes else None,
    }


def _agent(signals: Signals, row: Row) -> Mapping[str, Any] | None:
    run = signals.known_agent
    if run is None:
        return None
    from triage.agents import agent_block

    return cast(Mapping[str, Any], agent_block(run, row, signals))
