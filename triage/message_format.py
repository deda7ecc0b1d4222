"""A translated printf message found again in a line of output, and filled in English.

`parsed` cuts a format into literals and directives (``%s``, ``%1$d``, gcc's ``%qE`` and ``%<``, the
shell's ``$name``); `fit` finds its literals in order in a line and returns what stood between them;
`filled` puts that into the English original. All of it is linear in the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from triage.frozen import frozen

__all__ = ["Fit", "Format", "filled", "fit", "parsed"]

_DIRECTIVE = re.compile(
    r"%%|%(?:(?P<place>\d{1,2})\$)?[-+ #0'*]{0,4}(?:\d{1,4}|\*)?(?:\.(?:\d{1,4}|\*))?"
    r"(?:hh|h|ll|l|L|q|j|z|t|w|p){0,2}(?P<kind>[a-zA-Z<>])|\$\{?(?P<name>\w{1,40})\}?"
)
_WORD = re.compile(r"[^\W\d_]+")
# A value that ends a message may be followed by another message after this.
_NEXT = ": "


@frozen()
class Format:
    """`literals[i]` stands before `values[i]`, the last literal at the end; a value is its number.

    The number -1 is a quotation mark (gcc's ``%<`` and ``%>``), which names no argument.
    """

    literals: tuple[str, ...]
    values: tuple[int, ...]
    words: frozenset[str]


@frozen()
class Fit:
    """Where a message stood, its values by number, and the bytes of foreign letters in it."""

    start: int
    end: int
    values: dict[int, str]
    weight: int


@lru_cache(maxsize=1024)
def parsed(source: str) -> Format:
    """Cut one line of a message into literals and values."""
    literals: list[str] = []
    values: list[int] = []
    literal = ""
    last = 0
    for found in _DIRECTIVE.finditer(source):
        literal += source[last : found.start()]
        last = found.end()
        if found.group() == "%%":
            literal += "%"
            continue
        literals.append(literal)
        literal = ""
        place, kind = found.group("place"), found.group("kind")
        if kind is not None and kind in "<>":
            values.append(-1)
        elif place is not None:
            values.append(int(place))
        else:
            values.append(1 + sum(number > 0 for number in values))
    literals.append(literal + source[last:])
    words = frozenset(word.casefold() for part in literals for word in _WORD.findall(part))
    return Format(tuple(literals), tuple(values), words)


def fit(translated: Format, original: Format, line: str) -> Fit | None:
    """Find the message in `line`; None where a literal is missing or nothing foreign matched."""
    literals, values = translated.literals, translated.values
    weight = _weight(translated, original)
    if not weight:
        return None
    first = literals[0]
    found: dict[int, str] = {}
    if first:
        start = _find(line, first, 0)
        if start < 0:
            return None
        at = start + len(first)
    else:
        start = at = -1
    for index, number in enumerate(values):
        literal = literals[index + 1]
        if literal:
            where = _find(line, literal, max(at, 0))
            if where < 0:
                return None
            if at < 0:
                # A message that begins with a value begins where the message before it ended.
                before = line.rfind(_NEXT, 0, where)
                start = at = before + len(_NEXT) if before >= 0 else 0
        elif index + 1 == len(values):
            where = line.find(_NEXT, max(at, 0))
            where = len(line) if where < 0 else where
        else:
            # Two values side by side: the last of them takes it all.
            continue
        if at < 0:
            start = at = 0
        found.setdefault(number, line[at:where])
        at = where + len(literal)
    return Fit(start, at, found, weight)


def filled(original: Format, values: dict[int, str], change: Callable[[str], str]) -> str:
    """Return the English text with `values` in their places, each of them through `change`."""
    parts = [original.literals[0]]
    for index, number in enumerate(original.values):
        parts.append("'" if number < 0 else change(values.get(number, "")))
        parts.append(original.literals[index + 1])
    return "".join(parts)


def _weight(translated: Format, original: Format) -> int:
    foreign = translated.words - original.words
    return sum(len(word.encode("utf-8", "replace")) for word in foreign)


def _find(line: str, literal: str, start: int) -> int:
    """Find `literal` where it does not begin or end inside a word."""
    at = line.find(literal, start)
    while at >= 0:
        end = at + len(literal)
        if not (
            (at and _joined(line[at - 1], literal[0]))
            or (end < len(line) and _joined(literal[-1], line[end]))
        ):
            return at
        at = line.find(literal, at + 1)
    return -1


def _joined(left: str, right: str) -> bool:
    # Thai, Chinese, Japanese and Korean put no space between a value and what follows it.
    highest = max(left, right)
    unspaced = "\u0e00" <= highest <= "\u0e7f" or highest >= "\u2e80"
    return left.isalpha() and right.isalpha() and not unspaced
