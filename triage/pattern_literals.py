"""Literals a pattern can't match without, as clauses: of each, one must be in the lower-cased text.

A clause is never a guess (it may let a text through that the pattern then refuses, not the
reverse). They come from two sources: what each part of the pattern needs by itself, and how the
pattern can go on from a place in it, so that `TS\\d` needs ts0, ts1 … rather than the common "ts".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _constants as sre  # type: ignore[attr-defined]
from typing import Any

from triage.literals import BEYOND_ASCII

__all__ = ["Clause", "literals_of"]

Clause = tuple[str, ...]
# What may stand at one place: texts that can be gone on with, and texts that can't.
Begun = tuple[frozenset[str], frozenset[str]]

# A longer alternation of literals is no sharper than the next best part of the pattern.
_MAX_ALTERNATIVES = 48
_MAX_BEGINNINGS = 24
_MAX_CLAUSES = 3
_MIN_LITERAL = 2
# Few texts have a literal of this length by chance: it needs no continuation.
_LONG_ENOUGH = 7
_RARE = 5
# A class of more characters than this says next to nothing.
_MAX_CLASS = 12
_REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
_ZERO_WIDTH = (sre.AT, sre.ASSERT, sre.ASSERT_NOT)
_OTHER_ALPHABET = re.UNICODE | re.LOCALE
_NOTHING: Begun = (frozenset([""]), frozenset())


def literals_of(tree: Any) -> tuple[Clause, ...]:
    """Return the best clauses of a tree of `re`'s parser, the sharpest first."""
    best: list[Clause] = []
    for clause in sorted(set(_needed(list(tree))), key=_rank):
        if not any(_implies(other, clause) for other in best):
            best.append(clause)
    return tuple(best[:_MAX_CLAUSES])


def _implies(one: Clause, other: Clause) -> bool:
    """Whether each text that has an alternative of `one` has one of `other`."""
    return all(any(literal in text for literal in other) for text in one)


def _rank(clause: Clause) -> tuple[float, Clause]:
    # Most texts are ASCII alone.
    shortest = _RARE if clause == (BEYOND_ASCII,) else min(map(len, clause))
    return (-shortest + 0.05 * len(clause), clause)


def _needed(items: list[Any]) -> list[Clause]:
    """The clauses of a sequence."""
    found: list[Clause] = []
    run, start = "", 0
    for index, (op, arg) in enumerate(items):
        char = "" if op is sre.AT else _single(op, arg)
        if char is not None:
            start = start if run else index
            run += char
            continue
        found += _run(run)
        if len(run) < _LONG_ENOUGH:
            found += _alternatives(*_begun(items[start if run else index :]))
        found += _part(op, arg)
        run = ""
    return found + _run(run)


def _run(run: str) -> list[Clause]:
    return [(run,)] if len(run) >= _MIN_LITERAL or _tells(run) else []


def _alternatives(*texts: Iterable[str]) -> list[Clause]:
    """The texts as one clause; none where one of them, or their number, says too little."""
    kept: list[str] = []
    for text in sorted(set().union(*texts), key=len):
        # One that holds another says no more than that other one.
        if not any(other in text for other in kept):
            kept.append(text)
    unique = tuple(sorted(kept))
    tell = all(len(text) >= _MIN_LITERAL or _tells(text) for text in unique)
    return [unique] if tell and len(unique) <= _MAX_ALTERNATIVES else []


def _tells(char: str) -> bool:
    """Whether one character alone is worth looking for: no letter, digit or blank is."""
    return len(char) == 1 and not char.isalnum() and not char.isspace()


def _part(op: Any, arg: Any) -> list[Clause]:
    """What one part that is no plain character needs by itself."""
    if op is sre.SUBPATTERN:
        return [] if arg[1] & _OTHER_ALPHABET else _needed(list(arg[3]))
    if op in _REPEATS:
        least, _, body = arg
        return _needed(list(body)) if least > 0 else []
    if op is sre.ATOMIC_GROUP:
        return _needed(list(arg))
    if op is sre.ASSERT:
        return _needed(list(arg[1]))
    if op is sre.IN:
        beyond = all(_beyond_ascii(kind, value) for kind, value in arg)
        return [(BEYOND_ASCII,)] if beyond else []
    if op is sre.BRANCH:
        best: list[str] = []
        for branch in arg[1]:
            clauses = _needed(list(branch))
            if not clauses:
                return []
            best += sorted(clauses, key=_rank)[0]
        return _alternatives(best)
    return []


def _begun(items: list[Any]) -> Begun:
    """The texts a sequence can begin with, as far as they can be told."""
    going: frozenset[str] = frozenset([""])
    ended: frozenset[str] = frozenset()
    for op, arg in items:
        part = _begun_part(op, arg)
        if part is None:
            return frozenset(), ended | going
        # Too many to be told in full may still be few by their first characters.
        for tails in (part, _first_characters(part)):
            more = frozenset(head + tail for head in going for tail in tails[0])
            last = frozenset(head + tail for head in going for tail in tails[1])
            if len(more | last | ended) <= _MAX_BEGINNINGS:
                break
        else:
            return frozenset(), ended | going
        going, ended = more, ended | last
        if not going or (len(going) > 1 and min(map(len, going)) > _LONG_ENOUGH):
            return frozenset(), ended | going
    return going, ended


def _first_characters(part: Begun) -> Begun:
    return part[0] & {""}, frozenset(
        text[:1] for text in part[0] | part[1] if text or text in part[1]
    )


def _begun_part(op: Any, arg: Any) -> Begun | None:
    char = _single(op, arg)
    if char is not None:
        return frozenset([char]), frozenset()
    if op in _ZERO_WIDTH:
        return _NOTHING
    if op is sre.IN:
        chars = _characters(arg)
        return None if chars is None else (chars, frozenset())
    if op is sre.SUBPATTERN:
        return None if arg[1] & _OTHER_ALPHABET else _begun(list(arg[3]))
    if op is sre.ATOMIC_GROUP:
        return _begun(list(arg))
    if op is sre.BRANCH:
        branches = [_begun(list(branch)) for branch in arg[1]]
        none: frozenset[str] = frozenset()
        return none.union(*(b[0] for b in branches)), none.union(*(b[1] for b in branches))
    return _begun_repeat(*arg) if op in _REPEATS else None


def _begun_repeat(least: int, most: Any, body: Any) -> Begun:
    once = _begun(list(body))
    if least == 0 and most == 1:
        return once[0] | {""}, once[1]
    if least == 0:
        return frozenset([""]), once[0] | once[1]
    # Of more than one only the first is told, unless that is all there is.
    return once if least == most == 1 else (frozenset(), once[0] | once[1])


def _fold(code: int) -> str | None:
    """The lower-case form of one character, None where lowering depends on its neighbours."""
    char = chr(code)
    lowered = char.lower()
    # Capital sigma lowers by position and dotted capital I to two characters.
    return None if char in "Σσς" or len(lowered) != 1 else lowered


def _single(op: Any, arg: Any) -> str | None:
    """The one character a part stands for, None where it may be another."""
    if op is sre.LITERAL:
        return _fold(arg)
    if op is not sre.IN:
        return None
    chars = _characters(arg)
    return next(iter(chars)) if chars is not None and len(chars) == 1 else None


def _characters(parts: Any) -> frozenset[str] | None:
    """The few characters of a class, lower case; None where they are many or can't be told."""
    codes: list[int] = []
    for kind, value in parts:
        if kind is sre.LITERAL:
            codes.append(value)
        elif kind is sre.RANGE and value[1] - value[0] < 2 * _MAX_CLASS:
            codes += range(value[0], value[1] + 1)
        elif kind is sre.CATEGORY and value is sre.CATEGORY_DIGIT:
            codes += range(ord("0"), ord("9") + 1)
        elif kind is sre.CATEGORY and value is sre.CATEGORY_SPACE:
            codes += (9, 10, 11, 12, 13, 32)
        else:
            return None
    folded = [_fold(code) for code in codes]
    chars = frozenset(char for char in folded if char is not None)
    return chars if None not in folded and len(chars) <= _MAX_CLASS else None


def _beyond_ascii(kind: Any, value: Any) -> bool:
    return bool((kind is sre.LITERAL and value > 127) or (kind is sre.RANGE and value[0] > 127))
