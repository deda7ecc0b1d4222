"""Secrets in pieces: what a terminal does not show stands in them, or the end of a line.

What stands in between is taken out, the rest searched, and all of it put back around the masks.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from triage.credentials import looks_random
from triage.secret_patterns import SIGNS, Change, Shape, may_hide

__all__ = ["BEGIN", "END", "Apart", "cut_off", "wrapped"]

# Around a piece of a text: no characters, and never in a text that was read.
BEGIN, END = "\ufdd0", "\ufdd1"

# Escapes (U+FFFD stands for ESC in a text made safe), struck-over characters, controls, and
# characters without a width.
_HIDDEN = (
    r"\x1b\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)|[\x1b\ufffd]\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    rf"|\x1b[ -/]{{0,8}}[0-~]|[^\n]\x08|[{SIGNS}]"
    # The same as JSON and programs write them.
    r"|\\(?:u001[bB]|x1[bB]|033|e)\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\\u(?:00[01][0-9a-fA-F]|00[aA][dD]|20[06][0-9a-fA-F]|[fF][eE][fF][fF])"
)
# What is not lost where it stands in a secret.
_STAYS = rf"\x1b\[[0-9;:]*m|{END}"
# Between two pieces of a wrapped token: the end of a line, an indent, the lines of a box.
_TOKEN_CHAR = r"[A-Za-z0-9_.~+/=-]"
_BOX = "[\u2502\u2503\u2551|]"
_EDGE = rf"[ \t]*+(?:{_BOX}[ \t]*+)?"
_LINE_END = r"(?:\r?\n|(?:\\r)?\\n)"
_JOINT = rf"(?<={_TOKEN_CHAR})\\?{_EDGE}{_LINE_END}{_EDGE}(?={_TOKEN_CHAR})"
_LEAST_HEAD = 6
_LEAST_LITERAL = 3
_RUN_CHARS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
_LONGEST_HEAD = 300
_LONGEST_LITERAL = 24
_LEAST_WIDTH = 40


class Apart:
    """A text without what a terminal does not show, which is put back at the end."""

    __slots__ = ("_between", "text")

    def __init__(self, text: str) -> None:
        # Where in `text` something was taken out, and what.
        self._between: list[tuple[int, str]] = []
        parts: list[str] = []
        done = size = 0
        for match in re.compile(_HIDDEN).finditer(text) if may_hide(text) else ():
            size += match.start() - done
            parts.append(text[done : match.start()])
            self._between.append((size, match[0]))
            done = match.end()
        self.text = "".join(parts) + text[done:] if parts else text

    def __bool__(self) -> bool:
        return bool(self._between)

    def change(self, changes: Iterable[Change]) -> None:
        """Make changes that don't overlap, the first first; colours and lines in them stay."""
        parts: list[str] = []
        kept: list[tuple[int, str]] = []
        done = size = number = 0
        between = self._between
        for start, end, made in changes:
            if start < done:
                continue
            while number < len(between) and between[number][0] <= start:
                kept.append((between[number][0] - done + size, between[number][1]))
                number += 1
            inside: list[str] = []
            while number < len(between) and between[number][0] < end:
                inside.append(between[number][1])
                number += 1
            size += start - done
            if BEGIN in inside:
                kept.append((size, BEGIN))
            parts += (self.text[done:start], made)
            size += len(made)
            done = end
            kept += ((size, what) for what in inside if re.fullmatch(_STAYS, what))
        if parts:
            kept += ((place - done + size, what) for place, what in between[number:])
            self._between = kept
            self.text = "".join(parts) + self.text[done:]

    def together(self) -> str:
        parts: list[str] = []
        done = 0
        for place, what in self._between:
            parts += (self.text[done:place], what)
            done = place
        return "".join(parts) + self.text[done:]


def wrapped(text: str, shapes: Sequence[Shape]) -> list[Change]:
    """Return the secrets that go on after the end of their line; lines stay lines.

    `shapes` are tokens of whose literals the text has one: none is looked for across lines.
    """
    literals = tuple({one for shape in shapes for clause in shape.literals[:1] for one in clause})
    joints = [
        match.span()
        for match in re.compile(_JOINT).finditer(text)
        if _may_join(text, match.start(), match.end(), literals)
    ]
    if not joints:
        return []
    joined = _Joined(text, joints)
    lowered = joined.text.lower()
    changes: list[Change] = []
    for shape in shapes:
        if shape.may_stand_in(lowered):
            for start, end, made in shape.find(joined.text):
                changes += joined.change(shape, start, end, made)
    return sorted(changes)


def cut_off(text: str, shapes: Sequence[Shape]) -> list[Change]:
    """Return the token that the end of the text cuts off: begun like one, too short to be one."""
    run = text[len(text.rstrip(_RUN_CHARS)) :][-_LONGEST_HEAD:]
    lowered = run.lower()
    for shape in shapes:
        for literal in (shape.literals or [[]])[0]:
            at = lowered.find(literal)
            if at < 0 or (at and run[at - 1].isalnum()) or len(literal) < _LEAST_LITERAL:
                continue
            rest = run[at + len(literal) :]
            mixed = rest != rest.lower() and rest != rest.upper()
            if mixed and looks_random(rest, _LEAST_HEAD) and not shape.holds(run):
                start = len(text) - len(run) + at
                return [(start, len(text), f"[masked:{shape.kind}]")]
    return []


def _may_join(text: str, start: int, end: int, literals: tuple[str, ...]) -> bool:
    """Whether a token may go on at a line's end: one begins in the line, or the line is full; and
    none begins with the next."""
    if text[end : end + _LONGEST_LITERAL].lower().startswith(literals):
        return False
    ending = text[max(text.rfind("\n", 0, start) + 1, start - _LONGEST_HEAD) : start].lower()
    return any(literal in ending for literal in literals) or _is_full(text, start, end)


def _is_full(text: str, start: int, end: int) -> bool:
    """Whether the line that ends at `start` is long, and no shorter than the next one."""
    width = start - text.rfind("\n", 0, start) - 1
    next_end = text.find("\n", end)
    return width >= max(_LEAST_WIDTH, (len(text) if next_end < 0 else next_end) - end)


class _Joined:
    """A text whose lines are joined where a token may go on."""

    __slots__ = ("_joints", "_places", "_whole", "text")

    def __init__(self, text: str, joints: list[tuple[int, int]]) -> None:
        self._whole = text
        self._joints = joints
        # Where each joint is in the joined text.
        self._places: list[int] = []
        parts: list[str] = []
        done = size = 0
        for start, end in joints:
            size += start - done
            self._places.append(size)
            parts.append(text[done:start])
            done = end
        self.text = "".join(parts) + text[done:]

    def change(self, shape: Shape, start: int, end: int, made: str) -> list[Change]:
        """The changes of the whole text for a secret found in the joined one, [] for none."""
        first = bisect_right(self._places, start)
        last = bisect_left(self._places, end)
        pieces = [start, *self._places[first:last], end]
        count = 1
        while count < len(pieces) - 1 and self._goes_on(shape, start, pieces, count, first):
            count += 1
        if count == 1:
            return []
        changes: list[Change] = []
        for number in range(count):
            lowest = self._joints[first + number - 1][1] if number else self._place(start)
            changes.append((lowest, lowest + pieces[number + 1] - pieces[number], made))
            made = ""
        return changes

    def _place(self, at: int) -> int:
        number = bisect_right(self._places, at)
        return self._joints[number - 1][1] + at - self._places[number - 1] if number else at

    def _goes_on(self, shape: Shape, start: int, pieces: list[int], count: int, first: int) -> bool:
        """Whether the token goes on in its next piece: it is none without it, or that looks like a
        rest and the line is full."""
        head = self.text[start : pieces[count]]
        rest = self.text[pieces[count] : pieces[count + 1]]
        if len(head) < _LEAST_HEAD:
            return False
        lowered = head.lower()
        if not (shape.may_stand_in(lowered) and shape.holds(head)):
            return any(literal in lowered for literal in (shape.literals or [[]])[0])
        line_end, next_start = self._joints[first + count - 1]
        return _is_full(self._whole, line_end, next_start) and looks_random(rest, 4)
