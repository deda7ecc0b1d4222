"""The predicate vocabulary: one function per word, which makes a test of a compiled condition.

A condition is plain JSON data, ``[word, argument, ...]``, made by `triage.compile` out of a row's
``when:``; docs/vocabulary.md is its user's page. `holds` says whether a condition is true of a
`Signals` and appends the evidence of what it found. Evidence of a refused branch is dropped.

The test of a condition is made when it is first asked for, and kept. With it comes what it needs:
the patterns of which one must match for it to hold, so that most branches are left at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from triage.command_words import command_test
from triage.fact_words import FACT_WORDS
from triage.finds import NO_PATTERN, RAW, Found, Node, Test
from triage.pattern_search import Patterns
from triage.text import end_of, start_of
from triage.value_tests import look_up

if TYPE_CHECKING:
    from triage.signals import Signals
    from triage.text import StreamText

__all__ = ["NO_PATTERN", "RAW", "WORDS", "Found", "Matcher", "look_up", "streams_of", "window_of"]

_TAIL_LINES = 40
_TAIL_CHARS = 8192
_HEAD_CHARS = 8192

_QUICK = frozenset({"exit", "command", "timing", "size", "empty"})

# The patterns of which a condition needs one (None: it may hold without any), and its test.
Made = tuple[frozenset[int] | None, Test]


class Matcher(Patterns):
    """Evaluates conditions against one table's patterns and named predicates."""

    __slots__ = ("_made", "predicates")

    def __init__(
        self,
        sources: Sequence[str],
        predicates: Sequence[Node],
        quick: str = "",
        clauses: Sequence[Sequence[Sequence[str]]] = (),
        lines: str = "",
    ) -> None:
        super().__init__(sources, quick, clauses, lines)
        self.predicates = predicates
        # By identity, with the node itself, which keeps its place from being another's.
        self._made: dict[int, tuple[Node, Test]] = {}

    def holds(self, node: Node, signals: Signals, found: list[Found]) -> bool:
        """Return whether `node` is true; on true, `found` has grown by its evidence."""
        known = self._made.get(id(node))
        if known is None or known[0] is not node:
            known = self._made[id(node)] = (node, self.made(node)[1])
        return known[1](signals, found)

    def made(self, node: Node) -> Made:
        """Return what `node` needs, and its test."""
        return WORDS[node[0]](self, node)


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
        word = start_of(text)
        end = text.find("\n", word)
        return text.rfind("\n", 0, word) + 1, size if end < 0 else end
    end = end_of(text)
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


def _all(m: Matcher, node: Node) -> Made:
    parts = [m.made(child) for child in node[1]]
    needs = min((part[0] for part in parts if part[0] is not None), key=len, default=None)
    # First what leaves no evidence, whose order counts, and searches no text.
    order = sorted(range(len(parts)), key=lambda index: node[1][index][0] not in _QUICK)
    tests = [parts[index][1] for index in order]

    def test(s: Signals, found: list[Found]) -> bool:
        if needs is not None and s.possible is not None and s.possible.isdisjoint(needs):
            return False
        mark = len(found)
        for holds in tests:
            if not holds(s, found):
                del found[mark:]
                return False
        return True

    return needs, test


def _any(m: Matcher, node: Node) -> Made:
    parts = [m.made(child) for child in node[1]]
    all_need = all(part[0] is not None for part in parts)
    needs = frozenset[int]().union(*(part[0] or () for part in parts)) if all_need else None
    tests = [part[1] for part in parts]

    def test(s: Signals, found: list[Found]) -> bool:
        if needs is not None and s.possible is not None and s.possible.isdisjoint(needs):
            return False
        for holds in tests:  # noqa: SIM110 (a generator would cost as much as most tests)
            if holds(s, found):
                return True
        return False

    return needs, test


def _not(m: Matcher, node: Node) -> Made:
    holds = m.made(node[1])[1]
    return None, lambda s, found: not holds(s, [])


def _is(m: Matcher, node: Node) -> Made:
    number = node[1]
    key = ("is", number)

    def test(s: Signals, found: list[Found]) -> bool:
        known = s.memo.get(key)
        if known is None:
            evidence: list[Found] = []
            known = s.memo[key] = (m.holds(m.predicates[number], s, evidence), evidence)
        if known[0]:
            found.extend(known[1])
            return True
        return False

    # What others call it may change, so nothing is known of its needs.
    return None, test


def _exit(m: Matcher, node: Node) -> Made:
    classes = frozenset(item for item in node[1] if isinstance(item, str))
    ranges = [item for item in node[1] if isinstance(item, list)]
    codes = {item for item in node[1] if item is None or isinstance(item, int)}

    def test(s: Signals, found: list[Found]) -> bool:
        code, meaning = s.status, s.exit
        normal = meaning.normal
        if code in codes or not classes.isdisjoint(meaning.classes):
            return True
        if normal is None:
            return False
        return normal in codes or any(low <= normal <= high for low, high in ranges)

    return None, test


def _text(m: Matcher, node: Node) -> Made:
    # [text, stream, window, [pid...], after pid or null, least count]
    _, stream_name, window, pids, after, least = node
    needs = frozenset(pids)

    def test(s: Signals, found: list[Found]) -> bool:
        live = pids
        if s.possible is not None:
            there = needs & s.possible
            if not there:
                return False
            live = there if len(there) == 1 else [pid for pid in pids if pid in there]
        for stream in streams_of(stream_name, s):
            text = stream.text
            start, end = (0, len(text)) if window == "all" else _window(window, stream, s)
            if after is not None:
                ahead = m.search(after, text, start, end, s)
                if ahead is None:
                    continue
                start = ahead[1]
            total = 0
            for pid in live:
                if least > 1:
                    spans = m.find_all(pid, text, start, end, least, s)
                    total += len(spans)
                    if total >= least:
                        found.append((stream, *spans[-1], pid))
                        return True
                    continue
                # Several rows ask for the same sets of patterns.
                place = (pid, id(stream), start, end)
                if place in s.spans:
                    hit = s.spans[place]
                else:
                    hit = s.spans[place] = m.search(pid, text, start, end, s)
                if hit is not None:
                    found.append((stream, *hit, pid))
                    return True
        return False

    return needs, test


def _window(name: str, stream: StreamText, s: Signals) -> tuple[int, int]:
    key = ("window", id(stream), name)
    span: tuple[int, int] | None = s.memo.get(key)
    if span is None:
        span = s.memo[key] = window_of(name, stream.text)
    return span


def _raw(m: Matcher, node: Node) -> Made:
    # [raw, stream, [pid...]]: on the text with its escapes
    _, stream_name, pids = node

    def test(s: Signals, found: list[Found]) -> bool:
        for stream in streams_of(stream_name, s):
            if not stream.had_escapes:
                continue
            for pid in pids:
                hit = m.search(pid, stream.raw, 0, len(stream.raw), s)
                if hit is not None:
                    found.append((stream, *hit, RAW))
                    return True
        return False

    return None, test


def _language(m: Matcher, node: Node) -> Made:
    # [language, [codes] or null, text nodes of known translations, whether catalogues are asked]
    _, _, texts, asked = node
    by_pattern: dict[int, list[int]] = {}
    for index, child in enumerate(texts):
        for pid in child[3]:
            by_pattern.setdefault(pid, []).append(index)
    needs = frozenset(by_pattern)

    def test(s: Signals, found: list[Found]) -> bool:
        tried: Sequence[int] = range(len(texts))
        if s.possible is not None:
            # Dozens of languages, hardly one of which is in question.
            there = needs & s.possible
            tried = sorted({index for pid in there for index in by_pattern[pid]}) if there else ()
        for index in tried:
            if m.holds(texts[index], s, found):
                return True
        # Asking the catalogues is dear, and what a call printed that did not fail is no complaint.
        if not asked or s.status == 0 or s.fine:
            return False
        original = s.foreign
        if original is None:
            return False
        hit, stream = original
        found.append((stream, hit.start, hit.end, NO_PATTERN))
        return True

    return None if asked else needs, test


def _plain(holds: Callable[[Any, Node, Any, list[Found]], bool]) -> Callable[[Matcher, Node], Made]:
    return lambda m, node: (None, partial(holds, m, node))


WORDS: dict[str, Callable[[Matcher, Node], Made]] = {
    "all": _all,
    "any": _any,
    "not": _not,
    "is": _is,
    "exit": _exit,
    "text": _text,
    "raw": _raw,
    "language": _language,
    "command": lambda m, node: (None, command_test(m, node)),
    **{word: _plain(holds) for word, holds in FACT_WORDS.items()},
}
