"""Counting audit events: which failed, by what rule and mode, since when."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from triage.audit import time_stamp
from triage.audit_log import read_lines
from triage.errors import UsageError

__all__ = ["AuditSummary", "since_time", "summarize"]


@dataclass(frozen=True, slots=True)
class AuditSummary:
    """How often what happened: counts of the events that passed the filters, most first.

    `whole` is every event of the file, `torn` the lines that are cut, changed or not ours.
    """

    file: str
    whole: int = 0
    matched: int = 0
    torn: int = 0
    first: str | None = None
    last: str | None = None
    by_event: Mapping[str, int] = field(default_factory=dict)
    by_verdict: Mapping[str, int] = field(default_factory=dict)
    by_rule: Mapping[str, int] = field(default_factory=dict)
    by_mode: Mapping[str, int] = field(default_factory=dict)
    events: tuple[Mapping[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "file": self.file,
            "whole": self.whole,
            "matched": self.matched,
            "torn": self.torn,
            "first": self.first,
            "last": self.last,
            "by_event": dict(self.by_event),
            "by_verdict": dict(self.by_verdict),
            "by_rule": dict(self.by_rule),
            "by_mode": dict(self.by_mode),
            "events": [dict(event) for event in self.events],
        }


def summarize(
    path: str,
    *,
    events: Iterable[str] = (),
    rules: Iterable[str] = (),
    modes: Iterable[int] = (),
    since: str | None = None,
    keep: int = 0,
) -> AuditSummary:
    """Count the events of `path` that pass every filter; `keep` is how many of the last to return.

    `events` and `rules` may hold shell patterns (``agent.*``); `since` is a time as
    `since_time` returns it. Raises `UsageError` where the file can't be read.
    """
    from collections import Counter, deque
    from fnmatch import fnmatchcase

    wanted_events, wanted_rules, wanted_modes = tuple(events), tuple(rules), frozenset(modes)
    counts: dict[str, Counter[str]] = {
        key: Counter() for key in ("event", "verdict", "rule", "mode")
    }
    kept: deque[Mapping[str, Any]] = deque(maxlen=max(0, keep))
    whole = torn = matched = 0
    first = last = None
    try:
        for event in read_lines(path):
            if event is None:
                torn += 1
                continue
            whole += 1
            if wanted_events and not _any(fnmatchcase, event.get("event"), wanted_events):
                continue
            if wanted_rules and not _any(fnmatchcase, event.get("rule"), wanted_rules):
                continue
            if wanted_modes and event.get("mode") not in wanted_modes:
                continue
            moment = str(event.get("time"))
            if since is not None and moment < since:
                continue
            matched += 1
            first = moment if first is None else min(first, moment)
            last = moment if last is None else max(last, moment)
            for key, counter in counts.items():
                counter["-" if event.get(key) is None else str(event[key])] += 1
            kept.append(event)
    except OSError as error:
        raise UsageError(path, f"can't be read: {error.strerror}", "name an audit file") from None
    tables = {
        f"by_{key}": dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))
        for key, counter in counts.items()
    }
    return AuditSummary(path, whole, matched, torn, first, last, events=tuple(kept), **tables)


def _any(matches: Callable[[str, str], bool], value: object, patterns: Sequence[str]) -> bool:
    return isinstance(value, str) and any(matches(value, pattern) for pattern in patterns)


def since_time(text: str, *, now: float | None = None) -> str:
    """Return a date, an ISO time or an age (``90m``, ``24h``, ``7d``) as an event's time.

    A time without a zone is UTC, as in the file. Raises `UsageError` for anything else.
    """
    from datetime import UTC, datetime

    units = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
    moment = time.time() if now is None else now
    number, unit = text[:-1], text[-1:]
    try:
        if unit in units and number.isdigit() and len(number) <= 9:
            return time_stamp(moment - int(number) * units[unit])
        parsed = datetime.fromisoformat(text)
        parsed = parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
        return time_stamp(parsed.timestamp())
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            "--since", f"{text[:40]!r} is no time", "write 2026-06-07, an ISO time, or 24h"
        ) from None
