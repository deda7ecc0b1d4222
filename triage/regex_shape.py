"""A pattern as the pieces of its branches: which characters, how often, and what holds it.

Read from what `sre` parses. Characters past ASCII are themselves where a pattern names them, and
one stand-in where a class lets them all through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parse  # type: ignore[attr-defined]
from typing import Any

__all__ = [
    "BEGIN", "EDGE", "HELD", "NEWLINE", "WORD_CHARS", "Chars", "Items", "Piece", "alternatives",
    "branches", "look_arounds", "loops", "overlap", "parsed", "single", "stays_on_a_line",
]  # fmt: skip

_FLAGS = re.ASCII | re.IGNORECASE | re.MULTILINE
# 128 stands for all characters past ASCII that a class lets through without naming them.
_REST = 128
_ALL = frozenset(range(129))
NEWLINE = ord("\n")
WORD_CHARS = frozenset(c for c in range(128) if chr(c).isalnum() or chr(c) == "_")
_DIGIT = frozenset(range(48, 58))
_SPACE = frozenset(map(ord, " \t\n\r\f\v"))
_CATEGORY = {
    sre.CATEGORY_DIGIT: _DIGIT,
    sre.CATEGORY_NOT_DIGIT: _ALL - _DIGIT,
    sre.CATEGORY_SPACE: _SPACE,
    sre.CATEGORY_NOT_SPACE: _ALL - _SPACE,
    sre.CATEGORY_WORD: WORD_CHARS,
    sre.CATEGORY_NOT_WORD: _ALL - WORD_CHARS,
}
# A repeat up to this often is a handful of tries; above, it is a loop.
_LOOP_FROM = 12
# A class of this many characters lets nearly any text through: a gap.
_WIDE = 80
_MOST_BRANCHES = 400
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT)

Items = Sequence[tuple[Any, Any]]
Chars = frozenset[int]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of one branch: what it may consist of, how often.

    `fixed` parts never give back what they took; the `chars` of a `group` are those of all its
    parts together.
    """

    chars: Chars
    least: int
    most: float
    fixed: bool = False
    group: bool = False

    @property
    def loop(self) -> bool:
        return not self.fixed and self.most > self.least and self.most > _LOOP_FROM

    @property
    def gap(self) -> bool:
        return not self.fixed and self.most > self.least and len(self.chars) >= _WIDE


BEGIN = Piece(frozenset(), 0, 0, fixed=True)  # ^: every line begins one
HELD = Piece(frozenset({-2}), 0, 0, fixed=True)  # \A or a look-behind: the place is given
EDGE = Piece(frozenset({-1}), 0, 0, fixed=True)  # \b: a place at the edge of a word


def parsed(pattern: str) -> Items | None:
    """Return the parsed pattern, None for syntax only `regex` knows."""
    try:
        return list(sre_parse.parse(pattern, _FLAGS))
    except (re.error, RecursionError, OverflowError):
        return None


def stays_on_a_line(pattern: str) -> bool:
    """Whether no match, and nothing a look-around sees, can go over the end of a line.

    What stands at the borders of the whole text, and what flags change, is not looked into.
    """
    try:
        tree = sre_parse.parse(pattern, _FLAGS)
    except (re.error, RecursionError, OverflowError):
        return False
    return not tree.state.flags & re.DOTALL and _on_a_line(list(tree))


def _on_a_line(items: Items) -> bool:
    for op, arg in items:
        if op is sre.AT:
            inner: list[Any] = []
            if arg in (sre.AT_BEGINNING_STRING, sre.AT_END_STRING):
                return False
        elif op is sre.SUBPATTERN:
            if arg[1] & re.DOTALL or arg[2] & re.MULTILINE:
                return False
            inner = [arg[3]]
        elif op is sre.BRANCH:
            inner = arg[1]
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            inner = [arg[1]]
        elif op in (*_REPEATS, sre.POSSESSIVE_REPEAT):
            inner = [arg[2]]
        elif op is sre.ATOMIC_GROUP:
            inner = [arg]
        else:
            inner = []
            chars = _chars(op, arg)
            if chars is None or NEWLINE in chars:
                return False
        if not all(_on_a_line(list(part)) for part in inner):
            return False
    return True


def loops(items: Items, above: int = _LOOP_FROM) -> Iterator[list[tuple[Any, Any]]]:
    """Yield the body of every group that is repeated more often than `above`."""
    for op, arg in items:
        if op in _REPEATS:
            least, most, body = arg
            inner = list(body)
            if most > above and most > least and single(inner) is None:
                yield inner
            yield from loops(inner, above)
        elif op is sre.SUBPATTERN:
            yield from loops(list(arg[3]), above)
        elif op is sre.BRANCH:
            for branch in arg[1]:
                yield from loops(list(branch), above)
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            yield from loops(list(arg[1]), above)


def look_arounds(items: Items) -> Iterator[list[tuple[Any, Any]]]:
    """Yield the body of every look-ahead and look-behind."""
    for op, arg in items:
        if op in (sre.ASSERT, sre.ASSERT_NOT):
            yield list(arg[1])
        elif op is sre.SUBPATTERN:
            yield from look_arounds(list(arg[3]))
        elif op is sre.BRANCH:
            for branch in arg[1]:
                yield from look_arounds(list(branch))
        elif op in (*_REPEATS, sre.POSSESSIVE_REPEAT):
            yield from look_arounds(list(arg[2]))
        elif op is sre.ATOMIC_GROUP:
            yield from look_arounds(list(arg))


def alternatives(body: Items) -> Sequence[Any]:
    items = list(body)
    while len(items) == 1 and items[0][0] is sre.SUBPATTERN:
        items = list(items[0][1][3])
    if len(items) == 1 and items[0][0] is sre.BRANCH:
        choices: Sequence[Any] = items[0][1][1]
        return choices
    return ()


def branches(items: Items) -> list[list[Piece]]:
    """The branches of a pattern, each as its pieces; cut off where there are too many."""
    found: list[list[Piece]] = [[]]
    for op, arg in items:
        choices = _choices(op, arg)
        found = [[*before, *after] for before in found for after in choices][:_MOST_BRANCHES]
    return found


def _choices(op: Any, arg: Any) -> list[list[Piece]]:
    if op is sre.SUBPATTERN:
        return branches(list(arg[3]))
    if op is sre.BRANCH:
        return [pieces for branch in arg[1] for pieces in branches(list(branch))]
    if op is sre.ASSERT_NOT:
        return [[]]
    if op is sre.ASSERT:
        return [[HELD]] if arg[0] < 0 else [[]]
    if op is sre.AT:
        if arg is sre.AT_BEGINNING:
            return [[BEGIN]]
        if arg is sre.AT_BEGINNING_STRING:
            return [[HELD]]
        return [[EDGE]] if arg is sre.AT_BOUNDARY else [[]]
    if op in (sre.ATOMIC_GROUP, sre.POSSESSIVE_REPEAT):
        body = list(arg) if op is sre.ATOMIC_GROUP else list(arg[2])
        return [[Piece(_union(body), 1 if op is sre.ATOMIC_GROUP else arg[0], 1, fixed=True)]]
    if op in _REPEATS:
        least, most, body = arg
        inner = list(body)
        one = single(inner)
        if one is not None:
            return [[Piece(one, least, float(most))]]
        if most == 1:
            # An optional group is the group, or nothing.
            return [*branches(inner), []] if least == 0 else branches(inner)
        # Rounds of a group: the class of all its characters stands for them.
        return [[Piece(_union(inner), least, float(most), group=True)]]
    chars = _chars(op, arg)
    return [[]] if chars is None else [[Piece(chars, 1, 1)]]


def single(items: Items) -> Chars | None:
    """The class of a body that is one character, None where it is more."""
    while len(items) == 1 and items[0][0] is sre.SUBPATTERN:
        items = list(items[0][1][3])
    return _chars(*items[0]) if len(items) == 1 else None


def _union(items: Items) -> Chars:
    total: set[int] = set()
    for branch in branches(items):
        for piece in branch:
            total |= piece.chars - {-1, -2}
    return frozenset(total)


def _chars(op: Any, arg: Any) -> Chars | None:
    if op is sre.LITERAL:
        return _folded(arg)
    if op is sre.NOT_LITERAL:
        return _ALL - _folded(arg)
    if op is sre.ANY:
        return _ALL - {NEWLINE}
    if op is not sre.IN:
        return None
    total: set[int] = set()
    negated = False
    for kind, value in arg:
        if kind is sre.NEGATE:
            negated = True
        elif kind is sre.LITERAL:
            total |= _folded(value)
        elif kind is sre.RANGE:
            for code in range(value[0], min(value[1], 127) + 1):
                total |= _folded(code)
            if value[1] > 127:
                total.add(_REST)
        elif kind is sre.CATEGORY:
            total |= _CATEGORY.get(value, _ALL)
    return _ALL - total if negated else frozenset(total)


def overlap(one: Chars, other: Chars) -> bool:
    if one & other:
        return True
    return (_REST in one and max(other, default=0) > _REST) or (
        _REST in other and max(one, default=0) > _REST
    )


def _folded(code: int) -> Chars:
    if code > 127:
        return frozenset({code + 1})
    return frozenset({ord(chr(code).lower()), ord(chr(code).upper())})
