"""Read a JSON container without recursion: where does it end, or where does it break?

Only what the C scanner of `json` refuses comes here: broken values, values cut off, and values
too deep for the caller's stack.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable

from triage.json_grammar import CHARS, CUT_SCALAR, RAN_OUT, SCALAR, START, WS

__all__ = ["Break", "walk"]

_START = re.compile(START)
# One item and the mark behind it. The last character matched says what came: a comma, a closing
# bracket, an opening bracket, or the first backslash of a string (group 1: of a key).
_VALUE = rf'(?:{SCALAR}{WS}[,%s]|[\[{{]|"{CHARS}\\)'
_IN_LIST = re.compile(WS + _VALUE % r"\]")
_IN_LIST_FIRST = re.compile(rf"{WS}(?:{_VALUE}|\])" % r"\]")
_AFTER_KEY = re.compile(rf"{WS}:{WS}{_VALUE}" % "}")
_MEMBER = rf'"{CHARS}"{WS}:{WS}{_VALUE}|("{CHARS}\\)' % "}"
_IN_OBJECT = re.compile(rf"{WS}(?:{_MEMBER})")
_IN_OBJECT_FIRST = re.compile(rf"{WS}(?:{_MEMBER}|\}})")
_AFTER_IN_LIST = re.compile(rf"{WS}[,\]]")
_AFTER_IN_OBJECT = re.compile(rf"{WS}[,}}]")
# Bounded: an unbounded group would keep a record of every repetition.
_ESCAPES = re.compile(rf'(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{{4}}){CHARS}){{1,64}}')
_RAN_OUT = re.compile(RAN_OUT)
_RAN_OUT_AFTER_KEY = re.compile(rf"{WS}(?::{WS}{CUT_SCALAR})?\Z")
_RAN_OUT_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?\Z")
_SOMETHING = re.compile(r"[^ \t\n\r]")


class Break:
    """Where and why a start did not become a value (positions are code points)."""

    __slots__ = ("at", "began", "ran_out", "start")

    def __init__(self, start: int, at: int, *, began: bool, ran_out: bool) -> None:
        self.start = start
        # Everything before this place fits into the value begun at `start`.
        self.at = at
        # More than opening brackets was read: `[[ -f x ]]` never began.
        self.began = began
        # Nothing was wrong: the text ended.
        self.ran_out = ran_out


def walk(
    text: str, start: int, failed: bytearray, leave: Callable[[int], int] | None
) -> tuple[int, int] | Break:
    """Return the place behind the container at `start` and how deep it nests, or its break.

    `failed` has a flag for each character; all that is still open at a break is flagged.
    Where the outcome is known to be a break and only its place is wanted, children are left to
    `leave`, which returns the place behind one, or a negative number; it can't tell how deep.
    """
    length = len(text)
    opened = array("i" if length < 2**31 else "q", (start,))
    in_list = text[start] == "["
    pattern = _IN_LIST_FIRST if in_list else _IN_OBJECT_FIRST
    at = start + 1
    deepest = 1
    began = ran_out = sibling = False
    while True:
        match = pattern.match(text, at)
        if match is None:
            cut = _RAN_OUT_AFTER_KEY if pattern is _AFTER_KEY else _RAN_OUT
            ran_out = cut.match(text, at) is not None
            break
        last = match.end() - 1
        mark = text[last]
        began = began or not in_list or mark not in "[{"
        if mark == ",":
            at = last + 1
            pattern = _IN_LIST if in_list else _IN_OBJECT
            continue
        if mark == "\\":
            end = _string_end(text, last)
            if end < 0:
                ran_out = end == -2
                break
            at = end
            if match.lastindex:
                pattern = _AFTER_KEY
                continue
        elif mark in "]}":
            at = last + 1
            sibling = True
            opened.pop()
            if not opened:
                return at, deepest
            in_list = text[opened[-1]] == "["
        else:
            if failed[last]:
                at = last
                break
            # The first child may be nearly all of the text, and broken too; its siblings
            # are whole as a rule.
            end = leave(last) if leave is not None and sibling else -1
            if end < 0:
                sibling = False
                opened.append(last)
                deepest = max(deepest, len(opened))
                in_list = mark == "["
                pattern = _IN_LIST_FIRST if in_list else _IN_OBJECT_FIRST
                at = last + 1
                continue
            at = end
        pattern = _AFTER_IN_LIST if in_list else _AFTER_IN_OBJECT
    for place in opened:
        failed[place] = 1
    if not began:
        # Nothing but brackets was read; what follows the last of them decides.
        cut_item = ran_out and _SOMETHING.search(text, at) is not None
        began = cut_item or _START.match(text, opened[-1]) is not None
    return Break(start, length if ran_out else at, began=began, ran_out=ran_out)


def _string_end(text: str, backslash: int) -> int:
    """Return the place behind a string, from its first backslash; -1 wrong, -2 cut off."""
    at = backslash
    while True:
        match = _ESCAPES.match(text, at)
        if match is None:
            return -2 if _RAN_OUT_ESCAPE.match(text, at) else -1
        at = match.end()
        if at == len(text):
            return -2
        if text[at] == '"':
            return at + 1
        if text[at] != "\\":
            return -1
