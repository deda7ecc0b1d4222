"""Make JSON values the same way on every Python version and at every depth of the caller's stack.

The C scanner of `json` decides most of it. Where it gives up (its recursion limit differs
between versions and counts the caller's frames; it converts no integer of more than 4,300 digits)
the same value is built without recursion.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from typing import Any

__all__ = ["MAX_DEPTH", "MAX_DIGITS", "Scan", "build", "quick_scan", "repeated_keys", "too_deep"]

# Half of Python's default recursion limit: what we hand on can still be compared, printed and
# dumped by code that recurses.
MAX_DEPTH = 500
# CPython's default since 3.11 (sys.set_int_max_str_digits); ours does not move with it.
MAX_DIGITS = 4300

_LONG = 20_000
_SAMPLE = 4_000
_WIDE = 20_000

Scan = Callable[[str, int], tuple[Any, int]]


def _integer(digits: str) -> int | str:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        return digits
    try:
        return int(digits)
    except ValueError:
        # The process allows fewer digits than CPython's default; 640 is the least it can set.
        negative = digits.startswith("-")
        number = 0
        for at in range(int(negative), len(digits), 600):
            part = digits[at : at + 600]
            number = number * 10 ** len(part) + int(part)
        return -number if negative else number


def _scanner(**hooks: Any) -> Scan:
    # The C scanner behind raw_decode, without raw_decode's frame; typeshed leaves it out.
    scan: Scan = json.JSONDecoder(**hooks).scan_once  # type: ignore[attr-defined]
    return scan


_FAST = _scanner()
_SAFE = _scanner(parse_int=_integer)


def quick_scan() -> Scan:
    """Return the C scanner that agrees with `build`, or raises where it can't (ValueError)."""
    return _FAST if sys.get_int_max_str_digits() == MAX_DIGITS else _SAFE


def build(text: str, start: int) -> tuple[Any, int]:
    """Return the value at `start`, which must be a whole one, and the place behind it.

    An integer of more than `MAX_DIGITS` digits becomes the `str` of its digits: Python refuses to
    print it as a number, and a `str` survives every later step.
    """
    try:
        return _SAFE(text, start)
    except RecursionError:
        # The caller's stack is nearly used up.
        return _build_flat(text, start, set())


def too_deep(value: Any, text: str, start: int, end: int) -> bool:
    """Say whether `value`, decoded from ``text[start:end]``, nests deeper than `MAX_DEPTH`."""
    # A level takes two characters, and one opening bracket. Looking for brackets pays only
    # where there is much else.
    if end - start <= 2 * MAX_DEPTH or (end - start > _LONG and _few_brackets(text, start, end)):
        return False
    # One call of the collector's own traversal per level: some hundredths of what decoding cost.
    # A wide level is gone through in parts, each to its end, so that little of it is held at once.
    pending: list[tuple[list[Any], int, int]] = [([value], 0, 0)]
    while pending:
        level, at, depth = pending.pop()
        if len(level) > at + _WIDE:
            pending.append((level, at + _WIDE, depth))
        level = level[at : at + _WIDE]
        while level and depth < MAX_DEPTH:
            if type(level[0]) is dict and not gc.is_tracked(level[0]):
                # The collector doesn't track an object that holds only scalars: plain records.
                level = list(filter(gc.is_tracked, level))
            level = gc.get_referents(*level)
            depth += 1
            if len(level) > _WIDE:
                pending.append((level, 0, depth))
                break
        else:
            if any(type(item) is dict or type(item) is list for item in level):
                return True
    return False


def _few_brackets(text: str, start: int, end: int) -> bool:
    sample = start + _SAMPLE
    if text.count("{", start, sample) + text.count("[", start, sample) > _SAMPLE // 200:
        return False
    left = MAX_DEPTH
    for bracket in "[{":
        at = text.find(bracket, start, end)
        while at >= 0:
            left -= 1
            if left < 0:
                return False
            at = text.find(bracket, at + 1, end)
    return True


def repeated_keys(text: str) -> tuple[str, ...]:
    """Return, sorted, the keys that some object of the JSON value in `text` has twice."""
    repeated: set[str] = set()

    def note(pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                (repeated if key in seen else seen).add(key)

    try:
        _scanner(object_pairs_hook=note, parse_int=len)(text, 0)
    except RecursionError:
        _build_flat(text, 0, repeated)
    return tuple(sorted(repeated))


def _build_flat(text: str, start: int, repeated: set[str]) -> tuple[Any, int]:
    at = start
    opened: list[Any] = []
    keys: list[str | None] = []
    while True:
        while text[at] in " \t\n\r,:":
            at += 1
        mark = text[at]
        if mark in "]}":
            value = opened.pop()
            keys.pop()
            at += 1
            if not opened:
                return value, at
            continue
        if mark in "[{":
            value = [] if mark == "[" else {}
            at += 1
        else:
            value, at = _SAFE(text, at)
        if opened and keys[-1] is None and type(opened[-1]) is dict:
            keys[-1] = value
            continue
        if opened:
            _put(opened[-1], keys[-1], value, repeated)
            keys[-1] = None
        if mark in "[{":
            opened.append(value)
            keys.append(None)
        elif not opened:
            return value, at


def _put(container: Any, key: str | None, value: Any, repeated: set[str]) -> None:
    if type(container) is list:
        container.append(value)
        return
    assert key is not None
    if key in container:
        repeated.add(key)
    container[key] = value
