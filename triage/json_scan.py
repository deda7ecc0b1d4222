"""Decode JSON values at given places of a text that is mostly something else, in linear time.

`Decoder.decode` answers what ``json.JSONDecoder().raw_decode`` answers at one opening bracket,
except that nothing is sliced or raised, and that a value that nests deeper than `MAX_DEPTH` is
passed over as a whole, whatever the Python version and however deep the caller's own stack is.

Why it is linear: the C scanner decodes what decodes. What fails is walked once by a scanner
without recursion, which remembers every opening bracket that was still open at the break: a start
that failed once fails always. A start inside a string of that walk reads the text with the
quotes the other way round, and there are only two ways round, so no place is walked more
than a few times. Failing C decodes are paid from a credit proportional to the text, because
their exceptions count lines from the top.
"""

from __future__ import annotations

import json
import re
from array import array
from typing import Any

from triage.json_build import MAX_DEPTH, build, quick_scan, too_deep

__all__ = ["MAY_BEGIN", "NOTHING", "START", "Break", "Decoder"]

NOTHING: Any = object()

_WS = r"[ \t\n\r]*+"
_CHARS = r'[^"\\\x00-\x1f]*+'
# Groups repeat greedily, not possessively: CPython before 3.11.5 loses its place when the body
# of a possessive group fails half-way (gh-106052). Single classes are safe.
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?"
_LITERAL = r"(?:true|false|null|NaN|-?Infinity)"
_SCALAR = rf'(?:"{_CHARS}"|{_NUMBER}|{_LITERAL})'

# An opening bracket that may begin a value: not `[INFO]`, `[2026-11-30`, `[12:00:01]`, `{name}`.
START = re.compile(
    rf'\{{(?={_WS}(?:\}}|"{_CHARS}(?:\\|"{_WS}:)))'
    rf'|\[(?={_WS}(?:[]\[{{]|"{_CHARS}(?:\\|"{_WS}[,\]])|(?:{_NUMBER}|{_LITERAL}){_WS}[,\]]))'
)

# One item and the mark behind it. The last character matched says what came: a comma, a closing
# bracket, an opening bracket, or the first backslash of a string (group 1: of a key).
_VALUE = rf'(?:{_SCALAR}{_WS}[,%s]|[\[{{]|"{_CHARS}\\)'
_IN_LIST = re.compile(_WS + _VALUE % r"\]")
_IN_LIST_FIRST = re.compile(rf"{_WS}(?:{_VALUE}|\])" % r"\]")
_AFTER_KEY = re.compile(rf"{_WS}:{_WS}{_VALUE}" % "}")
_MEMBER = rf'"{_CHARS}"{_WS}:{_WS}{_VALUE}|("{_CHARS}\\)' % "}"
_IN_OBJECT = re.compile(rf"{_WS}(?:{_MEMBER})")
_IN_OBJECT_FIRST = re.compile(rf"{_WS}(?:{_MEMBER}|\}})")
_AFTER_IN_LIST = re.compile(rf"{_WS}[,\]]")
_AFTER_IN_OBJECT = re.compile(rf"{_WS}[,}}]")
# Bounded: an unbounded group would keep a record of every repetition.
_ESCAPES = re.compile(rf'(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{{4}}){_CHARS}){{1,64}}')
# The text ends here, and up to there it could still have become a value: an item, or what follows
# a key.
_CUT_SCALAR = (
    rf'(?:"{_CHARS}(?:"{_WS})?|-|{_NUMBER}(?:\.|[eE][-+]?)?{_WS}|{_LITERAL}{_WS}'
    r"|t|tr|tru|f|fa|fal|fals|n|nu|nul|Na?|-?I(?:n(?:f(?:i(?:n(?:it?)?)?)?)?)?)?"
)
_RAN_OUT = re.compile(rf'{_WS}(?:"{_CHARS}"{_WS}(?::{_WS})?)?{_CUT_SCALAR}\Z')
_RAN_OUT_AFTER_KEY = re.compile(rf"{_WS}(?::{_WS}{_CUT_SCALAR})?\Z")
# A bracket that begins a value, or the beginning of one that is cut off.
MAY_BEGIN = rf"(?:{START.pattern}|[\[{{](?={_RAN_OUT.pattern}))"
_RAN_OUT_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{0,3})?\Z")
_SOMETHING = re.compile(r"[^ \t\n\r]")

# What a failing C decode costs besides the characters it read, in characters: the exception,
# a line count from the top at some 64 characters a step, and the whole recursion.
_COST_OF_RAISING = 200
_COST_OF_RECURSION = 20_000


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


class Decoder:
    """Decodes at many starts of one text and remembers which of them cannot succeed."""

    __slots__ = ("_credit", "_deepest", "_failed", "_scan", "broke", "depth_exceeded", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth_exceeded = False
        self.broke: Break | None = None
        # One flag a character; no memory before something fails, one flag more than characters.
        self._failed = bytearray()
        self._credit = 2 * len(text) + 65_536
        self._deepest = 0
        self._scan = quick_scan()

    def has_failed(self, start: int) -> bool:
        """Say whether this start is already known to begin no value."""
        return bool(self._failed) and self._failed[start] == 1

    def scalar(self, start: int) -> tuple[Any, int]:
        """Decode a string, number or literal; `NOTHING` where there is none."""
        try:
            return self._scan(self.text, start)
        except (StopIteration, json.JSONDecodeError):
            return NOTHING, start
        except ValueError:
            return build(self.text, start)

    def attempt(self, start: int) -> tuple[Any, int]:
        """Decode at `start` if the C scanner can; `NOTHING` leaves open whether a value begins."""
        if self.has_failed(start) or self._credit <= 0:
            return NOTHING, start
        value, end = self._attempt(start)
        return self._admitted(value, start, end) if end >= 0 else (NOTHING, start)

    def decode(self, start: int) -> tuple[Any, int]:
        """Decode the container that opens at `start`: the value and the place behind it.

        The value is `NOTHING` where none begins (then the place is the next that may, and `broke`
        says why, unless that start had failed before) and where it is too deep (then the place
        is behind all of it).
        """
        self.broke = None
        if self.has_failed(start):
            return NOTHING, self._failed.find(0, start)
        decided = False
        if self._credit > 0:
            value, end = self._attempt(start)
            if end >= 0:
                return self._admitted(value, start, end)
            decided = end == -1
        end = self._walk(start, fails=decided)
        if end < 0:
            return NOTHING, start + 1
        if self._deepest > MAX_DEPTH:
            self.depth_exceeded = True
            return NOTHING, end
        return build(self.text, start)

    def lines(self, at: int) -> tuple[list[tuple[Any, int, int]], int]:
        """Decode objects that follow at `at`, each on a line of its own, as far as they go.

        Returns the last of them and the last with the key "ok" (value, start, end), in the
        order of the text, and how many there were. This is `decode` for NDJSON, in one loop.
        """
        text, length, scan = self.text, len(self.text), self._scan
        last = envelope = None
        count = 0
        while self._credit > 0 and text.startswith("\n{", at):
            start = at + 1
            try:
                value, end = scan(text, start)
            except (ValueError, StopIteration, RecursionError) as error:
                self._charge(error, start)
                break
            if (end < length and text[end] != "\n") or too_deep(value, text, start, end):
                break
            count += 1
            last = (value, start, end)
            if "ok" in value:
                envelope = last
            at = end
        return [found for found in (envelope, last) if found is not None], count

    def _attempt(self, start: int) -> tuple[Any, int]:
        """Try the C scanner; the place is -1 where the text is wrong, -2 where it is undecided."""
        try:
            return self._scan(self.text, start)
        except (ValueError, StopIteration, RecursionError) as error:
            return NOTHING, self._charge(error, start)

    def _charge(self, error: Exception, start: int) -> int:
        """Take what a failed C decode cost from the credit; -1 says the text is wrong there."""
        if isinstance(error, json.JSONDecodeError):
            cut = error.msg.startswith("Unterminated")
            reached = len(self.text) if cut else error.pos
            self._credit -= reached - start + error.pos // 64 + _COST_OF_RAISING
            return -1
        if isinstance(error, StopIteration):
            self._credit -= int(error.value) - start + _COST_OF_RAISING
            return -1
        # Too deep for the stack, or an integer too long: no verdict on the text.
        self._credit -= _COST_OF_RECURSION
        return -2

    def _admitted(self, value: Any, start: int, end: int) -> tuple[Any, int]:
        if too_deep(value, self.text, start, end):
            self.depth_exceeded = True
            return NOTHING, end
        return value, end

    def _walk(self, start: int, *, fails: bool) -> int:
        """Return the end of the container at `start`, or -1 after noting all that failed with it.

        `fails` says that the outcome is known and only the place is wanted: then children are
        left to the C scanner, which can't tell how deep they were.
        """
        text, length = self.text, len(self.text)
        if not self._failed:
            self._failed = bytearray(length + 1)
        failed = self._failed
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
                end = self._string_end(last)
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
                    self._deepest = deepest
                    return at
                in_list = text[opened[-1]] == "["
            else:
                if failed[last]:
                    at = last
                    break
                # The first child may be nearly all of the text, and broken too; its siblings
                # are whole as a rule.
                quick = fails and sibling and self._credit > 0
                end = self._attempt(last)[1] if quick else -1
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
            began = cut_item or START.match(text, opened[-1]) is not None
        self.broke = Break(start, length if ran_out else at, began=began, ran_out=ran_out)
        return -1

    def _string_end(self, backslash: int) -> int:
        """Return the place behind a string, from its first backslash; -1 wrong, -2 cut off."""
        text, at = self.text, backslash
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
