"""What a verdict shows of its capture: the very bytes, the payload, flags, what was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from triage.finds import RAW
from triage.model import Evidence
from triage.text import end_of, safe

if TYPE_CHECKING:
    from triage.signals import Signals
    from triage.table import Row, Table

__all__ = ["evidence_of", "extraction_of", "flags_of", "last_words", "windows_of"]

_LONGEST_EVIDENCE = 300
_MOST_EVIDENCE = 6
_MOST_FOUND = 400
# How much around evidence shows whether it holds the rest of a secret: a private key, at most.
_BEFORE = 2600
_AFTER = 1000


def evidence_of(signals: Signals, table: Table, found: Sequence[Any]) -> tuple[Evidence, ...]:
    """The finds as evidence; of repeated finds the last, which stands nearer the cause."""
    evidence: list[Evidence] = []
    seen: set[tuple[str, int]] = set()
    for stream, start, end, pid in found[:_MOST_EVIDENCE]:
        raw = pid == RAW
        if pid >= 0:
            spans = table.matcher.find_all(
                pid, stream.text, start, len(stream.text), _MOST_FOUND, signals
            )
            if spans:
                start, end = spans[-1]
        text = stream.raw if raw else stream.text
        if end - start > _LONGEST_EVIDENCE:
            end = start + _LONGEST_EVIDENCE
        elif not raw:
            start, end = _widened(text, start, end)
        place = (stream.name, start)
        if place in seen:
            continue
        seen.add(place)
        first, last = stream.raw_span(start, end) if raw else stream.span(start, end)
        line = stream.raw_line(start) if raw else stream.line(start)
        around = _around(text, start, end)
        evidence.append(Evidence(stream.name, line, first, last, safe(text[start:end]), around))
    return tuple(evidence)


def last_words(signals: Signals, row: Row) -> tuple[Evidence, ...]:
    """The last line where the error would be, for rows that rest on the status alone."""
    stream = signals.error_stream
    end = end_of(stream.text)
    if not end or row.verdict == "not_failure":
        return ()
    start = max(stream.text.rfind("\n", 0, end) + 1, end - _LONGEST_EVIDENCE)
    first, last = stream.span(start, end)
    text = stream.text
    line, shown = stream.line(start), safe(text[start:end])
    return (Evidence(stream.name, line, first, last, shown, _around(text, start, end)),)


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    return text[max(0, start - _BEFORE) : start], text[end : end + _AFTER]


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole line of a find, where it is short enough to be read."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    return (first, last) if last - first <= _LONGEST_EVIDENCE else (start, end)


def extraction_of(signals: Signals) -> dict[str, Any] | None:
    raw = signals.stdout.raw
    if "{" not in raw and "[" not in raw:
        return None
    found = signals.extraction
    if not found.found:
        return None
    start, end = signals.stdout.raw_span(found.start, found.end)
    facts = {
        "step": found.step,
        "start": start,
        "end": end,
        "fragment": found.fragment,
        "candidates": found.candidates,
        "before": found.has_before,
        "after": found.has_after,
        "stripped": found.stripped,
        "documents": found.documents,
    }
    return {"value": None if found.fragment else found.value, "facts": facts}


def flags_of(signals: Signals, row: Row) -> tuple[str, ...]:
    flags = list(row.flags)
    capture = signals.capture
    if signals.hang:
        flags.append("timed_out")
    envelope = signals.envelope
    status = signals.status
    if envelope is not None and status is not None and envelope["ok"] is (status != 0):
        flags.append("contradiction")
    if signals.line is not None and signals.line.masks_status:
        flags.append("masks_status")
    if not signals.stdout.complete or not signals.stderr.complete:
        flags.append("windowed")
    if signals.stdout.undecodable or signals.stderr.undecodable:
        flags.append("undecodable")
    if capture.truncated:
        flags.append("truncated")
    if row.verdict == "failure" and signals.repeats_of(row.id):
        flags.append("repeated")
    return tuple(dict.fromkeys(flags))


def windows_of(signals: Signals) -> dict[str, Any]:
    if signals.merged:
        return {"merged": dict(signals.stdout.window)}
    return {"stdout": dict(signals.stdout.window), "stderr": dict(signals.stderr.window)}
