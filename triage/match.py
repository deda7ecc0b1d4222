"""The predicate vocabulary: one function per word, over compiled conditions.

A condition is plain JSON data, ``[word, argument, ...]``, made by `triage.compile` out of a row's
``when:``; docs/vocabulary.md is its user's page. `holds` says whether a condition is true of a
`Signals` and appends the evidence of what it found. Evidence of a refused branch is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from triage.command_words import command_holds
from triage.fact_words import FACT_WORDS
from triage.finds import NO_PATTERN, RAW, Found, Node
from triage.pattern_search import Patterns
from triage.value_tests import look_up

if TYPE_CHECKING:
    from triage.signals import Signals
    from triage.text import StreamText

__all__ = ["NO_PATTERN", "RAW", "WORDS", "Found", "Matcher", "look_up", "streams_of", "window_of"]

_TAIL_LINES = 40
_TAIL_CHARS = 8192
_HEAD_CHARS = 8192


class Matcher(Patterns):
    """Evaluates conditions against one table's patterns and named predicates."""

    __slots__ = ("_translations", "predicates")

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
        self._translations: dict[int, tuple[Node, frozenset[int]]] = {}

    def holds(self, node: Node, signals: Signals, found: list[Found]) -> bool:
        """Return whether `node` is true; on true, `found` has grown by its evidence."""
        return WORDS[node[0]](self, node, signals, found)

    def translations(self, node: Node) -> frozenset[int]:
        """Return the patterns of all known translations that a `language` condition names."""
        known = self._translations.get(id(node))
        if known is None or known[0] is not node:
            pids = frozenset(pid for child in node[2] for pid in child[3])
            known = self._translations[id(node)] = (node, pids)
        return known[1]


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
        word = size - len(text.lstrip())
        end = text.find("\n", word)
        return text.rfind("\n", 0, word) + 1, size if end < 0 else end
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
    live = pids
    if s.possible is not None:
        if s.possible.isdisjoint(pids):
            return False
        live = [pid for pid in pids if pid in s.possible]
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
                spans = m.find_all(pid, text, start, end, least, s)
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


def _language(m: Matcher, node: Node, s: Signals, found: list[Found]) -> bool:
    # [language, [codes] or null, text nodes of known translations, whether catalogues are asked]
    possible = s.possible
    if possible is None or not possible.isdisjoint(m.translations(node)):
        for child in node[2]:
            if m.holds(child, s, found):
                return True
    # Asking the catalogues is dear, and what a call printed that did not fail is no complaint.
    if not node[3] or s.status == 0 or s.fine:
        return False
    original = s.foreign
    if original is None:
        return False
    hit, stream = original
    found.append((stream, hit.start, hit.end, NO_PATTERN))
    return True


WORDS: dict[str, Callable[[Matcher, Node, Any, list[Found]], bool]] = {
    "all": _all,
    "any": _any,
    "not": _not,
    "is": _is,
    "exit": _exit,
    "text": _text,
    "raw": _raw,
    "language": _language,
    "command": command_holds,
    **FACT_WORDS,
}
