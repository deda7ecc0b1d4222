"""The text of one stream: decoded, cleaned of what only a terminal understands, with a way back.

`raw` is what was decoded, `text` what a reader would have seen: no byte order mark, no escapes,
``\\n`` for ``\\r\\n``, redrawn lines in their last state (see `triage.redraw`), no times of a log
collector (see `triage.stamps`). Spans lead from
both to the stream as it was given: bytes for bytes and files, code points for str.

Small clean text costs next to nothing: `text` is `raw`, and no map is made before somebody asks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Protocol

from triage.decoding import SURROGATE, cut_end, cut_start, decoded, encoding_of, width
from triage.escapes import OffsetMap, strip_escapes
from triage.frozen import frozen
from triage.model import StreamSource
from triage.redraw import Cuts, redrawn, redrawn_cuts
from triage.stamps import stamp_cuts, unstamped

__all__ = [
    "StreamText",
    "end_of",
    "first_line",
    "last_line",
    "last_lines",
    "printable",
    "read_stream",
    "safe",
    "start_of",
    "strip_escapes",
    "tail_start",
]

_BOM = "\ufeff"
# At a window's border up to this many characters are given up to reach a whole line.
_BORDER = 64 << 10
# The text without escapes of this many characters is kept for those who need it too.
_SHORT = 64 << 10
# Code points between two known byte positions.
_STRIDE = 1024
# Patterns that few texts need are kept as text: `re` compiles them when they are asked for.
_CURSOR_MOVE = "(?:\x1b\\[|\x9b)[0-9;]{0,16}[A-HJSTdfsu]"
# C0 but tab and newline, DEL, C1, surrogates, and the marks that reorder the text around them.
_UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"


class _Positions(Protocol):
    def position(self, after: int, /) -> int: ...


class _Piece:
    """One unbroken piece of a stream: its raw and clean text, and where its parts stood."""

    __slots__ = (
        *("_marks", "_steps", "base", "encoding", "had_escapes", "limit", "raw", "stripped"),
        "text",
    )

    def __init__(self, raw: str, base: int, limit: int, encoding: str) -> None:
        stripped = strip_escapes(raw)
        self.raw = raw
        self.text = unstamped(redrawn(stripped[1:] if stripped.startswith(_BOM) else stripped))
        self.had_escapes = len(stripped) < len(raw)
        self.stripped = stripped if len(stripped) <= _SHORT else None
        self.base = base
        self.limit = limit
        self.encoding = encoding
        self._steps: list[_Positions] | None = None
        self._marks: list[int] | None = None

    def raw_position(self, at: int) -> int:
        """Return where the character `at` of the clean text stands in `raw`."""
        if self.text is self.raw:
            return at
        if self._steps is None:
            stripped, offsets = self.stripped, OffsetMap(self.raw)
            if stripped is None:
                stripped = strip_escapes(self.raw)
            marked = stripped.startswith(_BOM)
            unmarked = stripped[1:] if marked else stripped
            stamps = stamp_cuts(redrawn(unmarked))
            # Last step first: that is the way back.
            self._steps = [] if stamps is None else [stamps]
            self._steps.extend(reversed(redrawn_cuts(unmarked)))
            if marked:
                self._steps.append(Cuts([(0, 1)]))
            self._steps.append(offsets)
        for step in self._steps:
            at = step.position(at)
        return at

    def source_position(self, at: int) -> int:
        """Return where the character `at` of `raw` stands in the stream as given."""
        if self.encoding == "str" or (self.encoding == "utf-8" and self.raw.isascii()):
            return self.base + at
        if self._marks is None:
            marks = [0]
            for start in range(0, len(self.raw), _STRIDE):
                part = self.raw[start : start + _STRIDE]
                marks.append(marks[-1] + width(part, self.encoding))
            self._marks = marks
        mark = at // _STRIDE
        rest = self.raw[mark * _STRIDE : at]
        return min(self.limit, self.base + self._marks[mark] + width(rest, self.encoding))


@frozen(eq=False)
class StreamText:
    """One stream of a capture as text.

    `size` counts bytes of the whole stream (for str: of its UTF-8 form). `kind` says what spans
    count: ``str`` code points, ``bytes`` bytes. `encoding` is ``str``, ``utf-8``, ``utf-16-le`` or
    ``utf-16-be``. `undecodable`: some bytes were not text in it; they are lone surrogates now.
    `window` is ``{"complete", "size", "head": [0, n], "tail": [n, size]}`` in bytes (in code points
    for str); where it is not complete, a newline stands in `raw` and `text` for what is left out.
    """

    name: str
    raw: str
    text: str
    size: int
    kind: str
    encoding: str
    undecodable: bool
    complete: bool
    window: Mapping[str, object]
    had_escapes: bool
    _pieces: tuple[_Piece, ...]

    @property
    def blank(self) -> bool:
        """Whether there is nothing to read."""
        # No copy is made, as `strip` makes one.
        return not self.text or self.text.isspace()

    @property
    def stripped(self) -> str | None:
        """`raw` without its escapes where it is at hand."""
        return self._pieces[0].stripped if self.complete else None

    @property
    def had_cursor_moves(self) -> bool:
        """Whether escapes moved the cursor off the line, so that lines stand out of order."""
        return self.had_escapes and re.search(_CURSOR_MOVE, self.raw) is not None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Map a span of `text` to the stream as given: the narrowest one that holds it."""
        first = self._find(start, of_raw=False, end=False)
        return (first, first) if end <= start else (first, self._find(end, of_raw=False, end=True))

    def raw_span(self, start: int, end: int) -> tuple[int, int]:
        """Map a span of `raw` to the stream as given."""
        first = self._find(start, of_raw=True, end=False)
        return (first, first) if end <= start else (first, self._find(end, of_raw=True, end=True))

    def line(self, at: int) -> int:
        """Return the line, from 1, of position `at` of `text`; of the window when it is one."""
        return self.text.count("\n", 0, max(at, 0)) + 1

    def raw_line(self, at: int) -> int:
        """Return the line, from 1, of position `at` of `raw`."""
        return self.raw.count("\n", 0, max(at, 0)) + 1

    def _find(self, at: int, *, of_raw: bool, end: bool) -> int:
        """Map one position; an end is the place after the character before it."""
        at = max(at - 1 if end else at, 0)
        for piece in self._pieces:
            length = len(piece.raw if of_raw else piece.text)
            if at < length:
                raw_at = at if of_raw else piece.raw_position(at)
                return piece.source_position(raw_at + 1 if end else raw_at)
            if at == length and piece is not self._pieces[-1]:
                # The newline that stands for what was left out.
                return self._pieces[-1].base if end else piece.source_position(len(piece.raw))
            at -= length + 1
        last = self._pieces[-1]
        return last.source_position(len(last.raw))


def read_stream(name: str, source: StreamSource, *, head: int, tail: int) -> StreamText:
    """Read one stream; of a file longer than `head` + `tail` bytes only these.

    `source` is str, bytes, a path object, an open binary file (read from where it stands) or None
    for nothing. What is in memory already is taken whole. Raises `CaptureError` naming stream
    `name` where a file can't be read; any content is fine.
    """
    if source is None:
        source = ""
    if isinstance(source, str):
        size = len(source) if source.isascii() else len(source.encode("utf-8", "surrogatepass"))
        piece = _Piece(source, 0, len(source), "str")
        broken = size != len(source) and re.search(SURROGATE, source) is not None
        return _whole(name, piece, size, broken)
    if isinstance(source, (bytes, bytearray, memoryview)):
        first, last = bytes(source), None
        size = len(first)
    else:
        # Most streams are in memory already; the others pay for reading files.
        from triage.windows import read_window

        window = read_window(name, source, max(head, 0), max(tail, 0))
        first, last, size = window.head, window.tail, window.size
    encoding = encoding_of(first)
    if last is None:
        raw, broken = decoded(first, encoding)
        return _whole(name, _Piece(raw, 0, size, encoding), size, broken)
    return _windowed(name, first, last, size, encoding)


def _whole(name: str, piece: _Piece, size: int, undecodable: bool) -> StreamText:
    of_str = piece.encoding == "str"
    units = len(piece.raw) if of_str else size
    return StreamText(
        name=name,
        raw=piece.raw,
        text=piece.text,
        size=size,
        kind="str" if of_str else "bytes",
        encoding=piece.encoding,
        undecodable=undecodable,
        complete=True,
        window={"complete": True, "size": size, "head": [0, units], "tail": [units, units]},
        had_escapes=piece.had_escapes,
        _pieces=(piece,),
    )


def _windowed(name: str, first: bytes, last: bytes, size: int, encoding: str) -> StreamText:
    """Join both ends; a character or line that the border cuts is left out, not guessed."""
    start = size - len(last)
    if encoding == "utf-8":
        first = first[: len(first) - cut_end(first)]
        skip = cut_start(last)
    else:
        first = first[: len(first) & ~1]
        skip = start & 1
    start += skip
    head_raw, head_broken = decoded(first, encoding)
    tail_raw, tail_broken = decoded(last[skip:], encoding)
    newline = head_raw.rfind("\n", max(0, len(head_raw) - _BORDER))
    if newline >= 0:
        head_raw = head_raw[: newline + 1]
    newline = tail_raw.find("\n", 0, _BORDER)
    if newline >= 0:
        start += width(tail_raw[: newline + 1], encoding)
        tail_raw = tail_raw[newline + 1 :]
    pieces = (_Piece(head_raw, 0, size, encoding), _Piece(tail_raw, start, size, encoding))
    head_end = pieces[0].source_position(len(head_raw))
    raw = f"{head_raw}\n{tail_raw}"
    clean = all(piece.text is piece.raw for piece in pieces)
    return StreamText(
        name=name,
        raw=raw,
        text=raw if clean else f"{pieces[0].text}\n{pieces[1].text}",
        size=size,
        kind="bytes",
        encoding=encoding,
        undecodable=head_broken or tail_broken,
        complete=False,
        window={"complete": False, "size": size, "head": [0, head_end], "tail": [start, size]},
        had_escapes=any(piece.had_escapes for piece in pieces),
        _pieces=pieces,
    )


def printable(text: str) -> str:
    """Return `text` with each lone surrogate as U+FFFD: same length, and any codec takes it."""
    return text if text.isascii() else re.sub(SURROGATE, "\ufffd", text)


def safe(text: str) -> str:
    """Return `printable` text that can't steer a terminal: no control or reordering characters."""
    # What can be printed is none of these, and the class takes longer to compile than to run.
    return text if text.isprintable() else re.sub(_UNSAFE, "\ufffd", text)


def first_line(text: str) -> str:
    """Return the first line that is not blank, "" where there is none."""
    start = start_of(text)
    start = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    return text[start:] if end < 0 else text[start:end]


def last_line(text: str) -> str:
    """Return the last line that is not blank, with its spaces (a prompt ends in one)."""
    lines = last_lines(text, 1)
    return lines[0] if lines else ""


def last_lines(text: str, count: int) -> list[str]:
    """Return the last lines from the one at `tail_start` on, blank ones at the end left out."""
    start = tail_start(text, count)
    end = end_of(text)
    if count <= 0 or end <= start:
        return []
    newline = text.find("\n", end)
    return text[start : len(text) if newline < 0 else newline].split("\n")


def start_of(text: str) -> int:
    """Return where the first character stands that is no white space; the end where there is none.

    Like `end_of` for texts of megabytes, of which no copy is made.
    """
    for at in range(0, len(text), _STRIDE):
        piece = text[at : at + _STRIDE]
        if not piece.isspace():
            return at + len(piece) - len(piece.lstrip())
    return len(text)


def end_of(text: str) -> int:
    """Return the place behind the last character that is no white space, 0 where there is none."""
    end = len(text)
    while end > 0:
        start = max(0, end - _STRIDE)
        length = len(text[start:end].rstrip())
        if length:
            return start + length
        end = start
    return 0


def tail_start(text: str, count: int) -> int:
    """Return where the last `count` lines begin, not counting blank lines at the very end."""
    at = end_of(text)
    for _ in range(count):
        at = text.rfind("\n", 0, at)
        if at < 0:
            return 0
    return at + 1 if count > 0 else len(text)
