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

from triage.decoding import SURROGATE, cut_end, cut_start, decoded, encoding_of, width
from triage.escapes import strip_escapes
from triage.frozen import frozen
from triage.model import StreamSource
from triage.text_piece import Piece, joined

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

# At a window's border up to this many characters are given up to reach a whole line.
_BORDER = 64 << 10
# How much is looked at together where blanks are passed over.
_STRIDE = 1024
# Patterns that few texts need are kept as text: `re` compiles them when they are asked for.
_CURSOR_MOVE = "(?:\x1b\\[|\x9b)[0-9;]{0,16}[A-HJSTdfsu]"
# C0 but tab and newline, DEL, C1, surrogates, and the marks that reorder the text around them.
_UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"


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
    _pieces: tuple[Piece, ...]

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
            length = piece.length(of_raw=of_raw)
            if at < length:
                raw_at = at if of_raw else piece.raw_position(at)
                return piece.source_position(raw_at + 1 if end else raw_at)
            if at == length and piece is not self._pieces[-1]:
                # The newline that stands for what was left out.
                return self._pieces[-1].base if end else self._end_of(piece)
            at -= length + 1
        last = self._pieces[-1]
        return self._end_of(last)

    def _end_of(self, piece: Piece) -> int:
        return piece.source_position(piece.length(of_raw=True))


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
        piece = Piece(source, 0, len(source), "str")
        broken = size != len(source) and re.search(SURROGATE, source) is not None
        return _whole(name, piece, size, broken)
    if isinstance(source, (bytes, bytearray, memoryview)):
        first = bytes(source)
        size = len(first)
    else:
        return _of_file(name, source, max(head, 0), max(tail, 0))
    encoding = encoding_of(first)
    raw, broken = decoded(first, encoding)
    return _whole(name, Piece(raw, 0, size, encoding), size, broken)


def _of_file(name: str, source: StreamSource, first_bytes: int, last_bytes: int) -> StreamText:
    # Most streams are in memory already; the others pay for reading files.
    from triage.windows import read_window

    window = read_window(name, source, first_bytes, last_bytes)
    first, last, size = window.head, window.tail, window.size
    # What is of no more use goes at once here and below: each of it is megabytes.
    del window
    encoding = encoding_of(first)
    if last is None:
        raw, broken = decoded(first, encoding)
        del first
        return _whole(name, Piece(raw, 0, size, encoding), size, broken)
    # A character or line that the border cuts is left out, not guessed.
    start = size - len(last)
    skip = cut_start(last) if encoding == "utf-8" else start & 1
    last = last[skip:]
    first = first[: len(first) - cut_end(first) if encoding == "utf-8" else len(first) & ~1]
    raw, head_broken = decoded(first, encoding)
    del first
    newline = raw.rfind("\n", max(0, len(raw) - _BORDER))
    head = Piece(raw[: newline + 1] if newline >= 0 else raw, 0, size, encoding)
    del raw
    raw, tail_broken = decoded(last, encoding)
    del last
    newline = raw.find("\n", 0, _BORDER)
    start += skip + width(raw[: newline + 1], encoding)
    tail = Piece(raw[newline + 1 :], start, size, encoding)
    del raw
    head_end = head.source_position(head.length(of_raw=True))
    raw, text = joined(head, tail)
    return StreamText(
        name=name,
        raw=raw,
        text=text,
        size=size,
        kind="bytes",
        encoding=encoding,
        undecodable=head_broken or tail_broken,
        complete=False,
        window={"complete": False, "size": size, "head": [0, head_end], "tail": [start, size]},
        had_escapes=head.had_escapes or tail.had_escapes,
        _pieces=(head, tail),
    )


def _whole(name: str, piece: Piece, size: int, undecodable: bool) -> StreamText:
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
