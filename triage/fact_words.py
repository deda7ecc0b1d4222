"""The words of `when:` that ask for a fact: JSON, timing, size, what the observer noted.

Each is one function ``(patterns, node, signals, found) -> bool``; docs/vocabulary.md is the user's
page of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from triage.finds import RAW, Found, Node
from triage.text import end_of, start_of
from triage.value_tests import ABSENT, look_up, passes

if TYPE_CHECKING:
    from triage.pattern_search import Patterns
    from triage.signals import Signals

__all__ = ["FACT_WORDS"]


def _span_evidence(s: Signals, found: list[Found]) -> None:
    extraction = s.extraction
    if extraction.found:
        found.append((s.stdout, extraction.start, extraction.end, RAW))


def _envelope(m: Patterns, node: Node, s: Signals, found: list[Found]) -> bool:
    envelope = s.envelope
    if envelope is None:
        return False
    if not all(passes(m, tests, look_up(envelope, path), s) for path, tests in node[1]):
        return False
    _span_evidence(s, found)
    return True


def _json(m: Patterns, node: Node, s: Signals, found: list[Found]) -> bool:
    stdout = s.stdout.raw
    if "{" not in stdout and "[" not in stdout:
        return False
    extraction = s.extraction
    if not extraction.found or extraction.fragment:
        return False
    if not all(passes(m, tests, look_up(extraction.value, path), s) for path, tests in node[1]):
        return False
    _span_evidence(s, found)
    return True


def _extraction(m: Patterns, node: Node, s: Signals, found: list[Found]) -> bool:
    extraction = s.extraction
    for name, tests in node[1]:
        if name == "kind":
            value: Any = extraction.value if extraction.found else ABSENT
        elif name == "share":
            raw = s.stdout.raw
            size = end_of(raw) - start_of(raw) if extraction.found else 0
            value = (extraction.end - extraction.start) / size if extraction.found and size else 0.0
        elif name == "polluted":
            value = extraction.found and (extraction.has_before or extraction.has_after)
        else:
            value = getattr(extraction, name)
        if not passes(m, tests, value, s):
            return False
    if extraction.found:
        _span_evidence(s, found)
    return True


def _facts(m: Patterns, node: Node, s: Signals, facts: Callable[[Signals, str], Any]) -> bool:
    return all(passes(m, tests, facts(s, name), s) for name, tests in node[1])


def _timing_fact(s: Signals, name: str) -> Any:
    if name == "hang":
        return s.hang
    value = getattr(s.capture, name)
    return ABSENT if value is None else value


def _timing(m: Patterns, node: Node, s: Signals, found: list[Found]) -> bool:
    return _facts(m, node, s, _timing_fact)


def _size_fact(s: Signals, name: str) -> Any:
    if name == "total":
        return s.stdout.size if s.merged else s.stdout.size + s.stderr.size
    return s.stdout.size if name == "stdout" else s.stderr.size


def _size(m: Patterns, node: Node, s: Signals, found: list[Found]) -> bool:
    return _facts(m, node, s, _size_fact)


def _empty(m: Patterns, node: Node, s: Signals, found: list[Found]) -> bool:
    # Of a merged text either stream is the whole: only both can be seen to be empty.
    for name in node[1]:
        stream = s.stdout if name == "stdout" else s.stderr
        if not stream.blank:
            return False
    return True


def _mid_structure(m: Patterns, node: Node, s: Signals, found: list[Found]) -> bool:
    return s.mid_structure is node[1]


def _observed_fact(s: Signals, name: str) -> Any:
    capture = s.capture
    if name == "command":
        return capture.command is not None
    if name == "merged":
        return s.merged
    if name == "truncated":
        return bool(capture.truncated)
    if name == "repeats":
        return s.repeats
    if name == "undecodable":
        return s.stdout.undecodable or s.stderr.undecodable
    if name == "escapes":
        return s.stdout.had_escapes
    if name == "stage_complains":
        from triage.complaints import stage_complains

        return stage_complains(s.line, s.owners, s.stderr.text, s.stdout.text)
    if name == "hidden_status":
        return _hidden_status(capture.pipestatus)
    value = getattr(capture, name)
    return ABSENT if value is None else value


def _hidden_status(pipestatus: Sequence[int]) -> Any:
    # A writer that lost its reader did what the later stage wanted (`yes | head -1`).
    failed = (status for status in pipestatus[:-1] if status not in (0, 141, -13))
    return next(failed, ABSENT)


def _observed(m: Patterns, node: Node, s: Signals, found: list[Found]) -> bool:
    return _facts(m, node, s, _observed_fact)


def _agent(m: Patterns, node: Node, s: Signals, found: list[Found]) -> bool:
    run = s.agent
    if run is None:
        return False
    facts = s.memo.get("agent facts")
    if facts is None:
        facts = s.memo["agent facts"] = run.facts()
    return all(passes(m, tests, facts.get(name, ABSENT), s) for name, tests in node[1])


FACT_WORDS: dict[str, Callable[[Any, Node, Any, list[Found]], bool]] = {
    "envelope": _envelope,
    "json": _json,
    "extraction": _extraction,
    "timing": _timing,
    "size": _size,
    "empty": _empty,
    "mid_structure": _mid_structure,
    "observed": _observed,
    "agent": _agent,
}
