"""One unbroken piece of a stream: raw and clean, and where its characters stood.

A stream is one piece, or two where its middle was not read. Then their texts are parts of its
own, and none is kept twice: they are megabytes, and may need four bytes for each character.
"""

from __future__ import annotations

from typing import Protocol

from triage.decoding import width
from triage.escapes import OffsetMap, strip_escapes
from triage.redraw import Cuts, redrawn, redrawn_cuts
from triage.stamps import stamp_cuts, unstamped

__all__ = ["Piece", "joined"]

_BOM = "\ufeff"
# The text without escapes of this many characters is kept for those who need it too.
_SHORT = 64 << 10
# Code points between two known byte positions.
_STRIDE = 1024


class _Positions(Protocol):
    def position(self, after: int, /) -> int: ...


class Piece:
    """The raw and clean text of one piece, and where its parts stood."""

    __slots__ = (
        *("_at", "_marks", "_raw", "_raw_size", "_same", "_size", "_steps", "_text", "_text_at"),
        *("base", "encoding", "had_escapes", "limit", "stripped"),
    )

    def __init__(self, raw: str, base: int, limit: int, encoding: str) -> None:
        stripped = strip_escapes(raw)
        text = unstamped(redrawn(stripped[1:] if stripped.startswith(_BOM) else stripped))
        self._same = text is raw
        self._raw, self._at, self._raw_size = raw, 0, len(raw)
        self._text, self._text_at, self._size = text, 0, len(text)
        self.had_escapes = len(stripped) < len(raw)
        self.stripped = stripped if len(stripped) <= _SHORT or stripped is text else None
        self.base = base
        self.limit = limit
        self.encoding = encoding
        self._steps: list[_Positions] | None = None
        self._marks: list[int] | None = None

    @property
    def raw(self) -> str:
        # All of a string is the string itself.
        return self._raw[self._at : self._at + self._raw_size]

    @property
    def text(self) -> str:
        return self._text[self._text_at : self._text_at + self._size]

    def length(self, *, of_raw: bool) -> int:
        """Return how many characters the raw or the clean text has."""
        return self._raw_size if of_raw else self._size

    def raw_position(self, at: int) -> int:
        """Return where the character `at` of the clean text stands in `raw`."""
        if self._same:
            return at
        if self._steps is None:
            raw = self.raw
            stripped = strip_escapes(raw) if self.stripped is None else self.stripped
            marked = stripped.startswith(_BOM)
            unmarked = stripped[1:] if marked else stripped
            stamps = stamp_cuts(redrawn(unmarked))
            # Last step first: that is the way back.
            self._steps = [] if stamps is None else [stamps]
            self._steps.extend(reversed(redrawn_cuts(unmarked)))
            if marked:
                self._steps.append(Cuts([(0, 1)]))
            self._steps.append(OffsetMap(raw))
        for step in self._steps:
            at = step.position(at)
        return at

    def source_position(self, at: int) -> int:
        """Return where the character `at` of `raw` stands in the stream as given."""
        raw = self.raw
        if self.encoding == "str" or (self.encoding == "utf-8" and raw.isascii()):
            return self.base + at
        if self._marks is None:
            marks = [0]
            for start in range(0, len(raw), _STRIDE):
                part = raw[start : start + _STRIDE]
                marks.append(marks[-1] + width(part, self.encoding))
            self._marks = marks
        mark = at // _STRIDE
        rest = raw[mark * _STRIDE : at]
        return min(self.limit, self.base + self._marks[mark] + width(rest, self.encoding))


def joined(head: Piece, tail: Piece) -> tuple[str, str]:
    """Return raw and clean text of a stream: its pieces, which become parts of them, and a newline.

    Where nothing was cleaned the one is the other.
    """
    same = head._same and tail._same
    raw, text = head._raw, "" if same else head._text
    # Nobody else holds them now: CPython lengthens a string where it stands, if it can.
    head._raw = head._text = ""
    head.stripped = tail.stripped = None
    raw += "\n"
    raw += tail._raw
    if same:
        text = raw
    else:
        text += "\n"
        text += tail._text
    tail._at, tail._text_at = head._raw_size + 1, head._size + 1
    for piece in (head, tail):
        piece._raw, piece._text = raw, text
    return raw, text
