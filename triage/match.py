"""The predicate vocabulary: one function per word, over compiled conditions.

A condition is plain JSON data, ``[word, argument, ...]``, made by `triage.compile` out of a row's
``when:``; docs/vocabulary.md is its user's page. `holds` says whether a condition is true of a
`Signals` and appends the evidence of what it found. Evidence of a refused branch is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.signals import Signals
    from triage.text import StreamText

__all__ = ["NO_PATTERN", "RAW", "WORDS", "Found", "Matcher", "look_up", "streams_of", "window_of"]

# A pattern that needs longer than this on one window is given up: no match, and a warning.
TIMEOUT_S = 0.25
_TAIL_LINES = 40
_TAIL_CHARS = 8192
_HEAD_CHARS = 8192

# The pattern of a find that no pattern made.
NO_PATTERN = -2
RAW = -1

Node = Sequence[Any]
# One find: the stream it lies in, start and end there, and the pattern that found it; -1 where the
# span is one of the raw text with its escapes.
Found = tuple["StreamText", int, int, int]


class Matcher:
    """Evaluates conditions against one table's patterns and named predicates."""

    __slots__ = ("_compiled", "predicates", "sources")

    def __init__(self, sources: Sequence[str], predicates: Sequence[Node]) -> None:
        self.sources = sources
        self.predicates = predicates
        self._compiled: dict[int, Any] = {}

    def holds(self, node: Node, signals: Signals, found: list[Found]) -> bool:
        """Return whether `node` is true; on true, `found` has grown by its evidence."""
        return WORDS[node[0]](self, node, signals, found)

    def pattern(self, pid: int) -> Any:
        compiled = self._compiled.get(pid)
        if compiled is None:
            from triage.pattern import compile_pattern

            compiled = self._compiled[pid] = compile_pattern(self.sources[pid])
        return compiled

    def search(
        self, pid: int, text: str, start: int, end: int, signals: Signals
    ) -> tuple[int, int] | None:
        try:
            match = self.pattern(pid).search(text, start, end, timeout=TIMEOUT_S)
        except TimeoutError:
            signals.warnings.append(
                f"pattern {self.sources[pid][:60]!r} took too long and was passed over"
            )
            return None
        return None if match is None else match.span()

    def groups(self, pid: int, text: str, start: int, end: int) -> str | None:
        """Return the first group (or the match) of the last of the first matches of a pattern."""
        value: str | None = None
        try:
            matches = self.pattern(pid).finditer(text, start, end, timeout=TIMEOUT_S)
            for count, match in enumerate(matches):
                picked = next((group for group in match.groups() if group), None)
                value = picked or value or (match.group() if not match.groups() else None)
                if count >= 200:
                    break
        except TimeoutError:
            return value
        return value

    def find_all(
        self, pid: int, text: str, start: int, end: int, limit: int
    ) -> list[tuple[int, int]]:
        """Return up to `limit` matches; a pattern that takes too long yields what it had."""
        spans: list[tuple[int, int]] = []
        try:
            for match in self.pattern(pid).finditer(text, start, end, timeout=TIMEOUT_S):
                spans.append(match.span())
                if len(spans) >= limit:
                    break
        except TimeoutError:
            pass
        return spans


def streams_of(name: str, signals: Signals) -> tuple[StreamText, ...]:
    """The streams a rule's `in:` names: stdout, stderr, any, error (see docs/vocabulary.md)."""
    if signals.merged:
        return (signals.stdout,)
    if name == "stdout":
        return (signals.stdout,)
    if name == "stderr":
        return (signals.stderr,)
    if name == "error":
        return (signals.error_stream,)
    return (signals.stderr, signals.stdout)


def window_of(name: str, text: str) -> tuple[int, int]:
    """The span a rule's `window:` names; every window but `all` starts at a line start."""
    size = len(text)
    if name == "all" or not size:
        return 0, size
    if name == "head":
        return 0, _head_end(text, size)
    if name == "first_line":
        start = size - len(text.lstrip())
        end = text.find("\n", start)
        return start, size if end < 0 else end
    end = len(text.rstrip())
    if name == "last_line":
        return text.rfind("\n", 0, end) + 1, end
    # tail: the last lines, bounded in characters too, because one line can be megabytes long.
    start = end
    for _ in range(_TAIL_LINES):
        start = text.rfind("\n", 0, start)
        if start < 0:
            break
    return max(start + 1, end - _TAIL_CHARS, 0), size


def _head_end(text: str, size: int) -> int:
    """An end at white space: a window cut inside a word would make a word boundary of it."""
    if size <= _HEAD_CHARS:
        return size
    for blank in ("\n", " "):
        end = text.rfind(blank, 0, _HEAD_CHARS)
        if end > 0:
            return end
    return size


def _all(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    mark = len(found)
    for child in node[1]:
        if not m.holds(child, s, found):
            del found[mark:]
            return False
    return True


def _any(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    return any(m.holds(child, s, found) for child in node[1])


def _not(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    return not m.holds(node[1], s, [])


def _is(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    key = ("is", node[1])
    known = s.memo.get(key)
    if known is None:
        evidence: list[Found] = []
        known = s.memo[key] = (m.holds(m.predicates[node[1]], s, evidence), evidence)
    truth, evidence = known
    if truth:
        found.extend(evidence)
    return bool(truth)


def _exit(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    meaning = s.exit
    code = s.status
    for item in node[1]:
        if isinstance(item, str):
            if item in meaning.classes:
                return True
        elif isinstance(item, list):
            if meaning.normal is not None and item[0] <= meaning.normal <= item[1]:
                return True
        elif item is None:
            if code is None:
                return True
        elif item in (code, meaning.normal):
            return True
    return False


def _text(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    # [text, stream, window, [pid...], after pid or null, least count]
    _, stream_name, window, pids, after, least = node
    live = [pid for pid in pids if s.possible is None or pid in s.possible]
    if not live:
        return False
    for stream in streams_of(stream_name, s):
        text = stream.text
        key = ("window", id(stream), window)
        span = s.memo.get(key)
        if span is None:
            span = s.memo[key] = window_of(window, text)
        start, end = span
        if after is not None:
            ahead = m.search(after, text, start, end, s)
            if ahead is None:
                continue
            start = ahead[1]
        total = 0
        for pid in live:
            if least > 1:
                spans = m.find_all(pid, text, start, end, least)
                total += len(spans)
                if total >= least:
                    found.append((stream, *spans[-1], pid))
                    return True
                continue
            hit = m.search(pid, text, start, end, s)
            if hit is not None:
                found.append((stream, *hit, pid))
                return True
    return False


def _raw(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    # [raw, stream, [pid...]]: on the text with its escapes
    for stream in streams_of(node[1], s):
        if not stream.had_escapes:
            continue
        for pid in node[2]:
            hit = m.search(pid, stream.raw, 0, len(stream.raw), s)
            if hit is not None:
                found.append((stream, *hit, RAW))
                return True
    return False


_ABSENT = object()


def look_up(value: Any, path: str) -> Any:
    """The value at a dotted path, `_ABSENT` where there is none; list steps are numbers."""
    if not path:
        return value
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step, _ABSENT)
        elif isinstance(value, list) and step.lstrip("-").isdigit() and len(step) < 8:
            index = int(step)
            value = value[index] if -len(value) <= index < len(value) else _ABSENT
        else:
            return _ABSENT
        if value is _ABSENT:
            return _ABSENT
    return value


def _test(m: Matcher, tests: Node, value: Any, s: Signals) -> bool:
    """One value against its tests: all of [kind, argument] must hold."""
    return all(_one(m, kind, wanted, value, s) for kind, wanted in tests)


def _one(m: Matcher, kind: str, wanted: Any, value: Any, s: Signals) -> bool:
    if kind == "present":
        return (value is not _ABSENT and value is not None) is wanted
    if value is _ABSENT:
        return False
    if kind == "in":
        return any(_same(item, value) for item in wanted)
    if kind == "min":
        return _number(value) and bool(value >= wanted)
    if kind == "max":
        return _number(value) and bool(value <= wanted)
    if kind == "kind":
        return _kind(value) in wanted
    if kind == "matches":
        return isinstance(value, str) and m.search(wanted, value, 0, len(value), s) is not None
    return isinstance(value, (list, tuple, set, frozenset)) and wanted in value


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _same(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, str) and isinstance(value, str):
        return wanted.casefold() == value.casefold()
    # JSON's true is no 1.
    return isinstance(wanted, bool) == isinstance(value, bool) and bool(wanted == value)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "array"
    if isinstance(value, str):
        return "string"
    return "null" if value is None else "number"


def _span_evidence(s: Signals, found: list[Found]) -> None:
    extraction = s.extraction
    if extraction.found:
        found.append((s.stdout, extraction.start, extraction.end, RAW))


def _envelope(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    envelope = s.envelope
    if envelope is None:
        return False
    if not all(_test(m, tests, look_up(envelope, path), s) for path, tests in node[1]):
        return False
    _span_evidence(s, found)
    return True


def _json(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    stdout = s.stdout.raw
    if "{" not in stdout and "[" not in stdout:
        return False
    extraction = s.extraction
    if not extraction.found or extraction.fragment:
        return False
    if not all(_test(m, tests, look_up(extraction.value, path), s) for path, tests in node[1]):
        return False
    _span_evidence(s, found)
    return True


def _extraction(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    extraction = s.extraction
    for name, tests in node[1]:
        if name == "kind":
            value: Any = extraction.value if extraction.found else _ABSENT
        elif name == "share":
            size = len(s.stdout.raw.strip())
            value = (extraction.end - extraction.start) / size if extraction.found and size else 0.0
        elif name == "polluted":
            value = extraction.found and (extraction.has_before or extraction.has_after)
        else:
            value = getattr(extraction, name)
        if not _test(m, tests, value, s):
            return False
    if extraction.found:
        _span_evidence(s, found)
    return True


def _facts(m: Matcher, node: Node, s: Signals, facts: Callable[[Signals, str], Any]) -> bool:
    return all(_test(m, tests, facts(s, name), s) for name, tests in node[1])


def _timing_fact(s: Signals, name: str) -> Any:
    if name == "hang":
        return s.hang
    value = getattr(s.capture, name)
    return _ABSENT if value is None else value


def _timing(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    return _facts(m, node, s, _timing_fact)


def _size_fact(s: Signals, name: str) -> Any:
    if name == "total":
        return s.stdout.size if s.merged else s.stdout.size + s.stderr.size
    return s.stdout.size if name == "stdout" else s.stderr.size


def _size(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    return _facts(m, node, s, _size_fact)


def _empty(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    for name in node[1]:
        # What of a merged text was stderr can't be told: only both can be empty.
        if name == "stderr" and s.merged:
            return False
        stream = s.stdout if name == "stdout" else s.stderr
        if stream.text.strip():
            return False
    return True


def _language(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    # [language, [codes] or null, text nodes of known translations]
    if any(m.holds(child, s, found) for child in node[2]):
        return True
    if not node[3]:
        return False
    original = s.foreign
    if original is None:
        return False
    hit, stream = original
    found.append((stream, hit.start, hit.end, NO_PATTERN))
    return True


def _mid_structure(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    return s.mid_structure is node[1]


def _command(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    # [command, {line tests}, {stage tests}, which]
    line = s.line
    if line is None:
        return False
    _, line_tests, stage_tests, which = node
    for name, wanted in line_tests:
        if name == "shape" and not line.shape.intersection(wanted):
            return False
        if name == "without_shape" and line.shape.intersection(wanted):
            return False
        if name == "masks_status" and line.masks_status is not wanted:
            return False
        if name == "json_wanted" and line.json_wanted is not wanted:
            return False
        if name == "owner_certain" and (len(s.owners) == 1) is not wanted:
            return False
        if name == "line" and m.search(wanted, line.text, 0, len(line.text), s) is None:
            return False
    if not stage_tests:
        return True
    if which == "owner":
        return bool(s.owners) and all(_stage(m, stage_tests, stage, s) for stage in s.owners)
    stages = s.owners if which == "possible" else (*line.stages, *line.nested)
    return any(_stage(m, stage_tests, stage, s) for stage in stages)


def _stage(m: Matcher, tests: Node, stage: Any, s: Signals) -> bool:
    for name, wanted in tests:
        if name == "program":
            if stage.program.casefold() not in wanted:
                return False
        elif name == "subcommand":
            if not any(stage.words[: len(path)] == tuple(path) for path in wanted):
                return False
        elif name == "flags":
            if stage.flags.isdisjoint(wanted):
                return False
        elif name == "flags_all":
            if not stage.flags.issuperset(wanted):
                return False
        elif name == "without_flags":
            if not stage.flags.isdisjoint(wanted):
                return False
        elif name == "wrapper":
            if not set(stage.wrappers).intersection(wanted):
                return False
        elif name == "words":
            if not _test(m, wanted, len(stage.words), s):
                return False
        elif name == "args":
            text = " ".join(stage.argv[1:])
            if m.search(wanted, text, 0, len(text), s) is None:
                return False
        elif name == "redirects":
            text = " ".join(stage.redirects)
            if m.search(wanted, text, 0, len(text), s) is None:
                return False
    return True


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
    value = getattr(capture, name)
    return _ABSENT if value is None else value


def _observed(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    return _facts(m, node, s, _observed_fact)


def _agent(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    run = s.agent
    if run is None:
        return False
    facts = s.memo.get("agent facts")
    if facts is None:
        facts = s.memo["agent facts"] = run.facts()
    return all(_test(m, tests, facts.get(name, _ABSENT), s) for name, tests in node[1])


WORDS: dict[str, Callable[[Matcher, Node, Any, list[Found]], bool]] = {
    "all": _all,
    "any": _any,
    "not": _not,
    "is": _is,
    "exit": _exit,
    "text": _text,
    "raw": _raw,
    "envelope": _envelope,
    "json": _json,
    "extraction": _extraction,
    "timing": _timing,
    "size": _size,
    "empty": _empty,
    "language": _language,
    "mid_structure": _mid_structure,
    "command": _command,
    "observed": _observed,
    "agent": _agent,
}
