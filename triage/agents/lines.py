"""Bytes in any pieces -> lines, in bounded memory, whatever the bytes.

A line longer than `LINE_CAP` is not kept: its first `HEAD_CAP` bytes are, and `complete` is False.
Only line feeds end a line: JSON strings may hold U+2028 and other separators raw. A UTF-16 byte
order mark (PowerShell's ``>``) turns the stream into UTF-8 first; a UTF-8 mark is dropped.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any

__all__ = ["HEAD_CAP", "LINE_CAP", "Line", "LineFeed"]

LINE_CAP = 8 << 20
HEAD_CAP = 64 << 10


class Line:
    """One line without its line feed; `number` from 1, `start`/`end` byte offsets."""

    __slots__ = ("complete", "data", "end", "ended", "number", "start")

    def __init__(
        self, number: int, start: int, end: int, data: bytes, *, complete: bool, ended: bool
    ) -> None:
        self.number = number
        self.start = start
        self.end = end
        self.data = data
        self.complete = complete
        self.ended = ended


class LineFeed:
    """Cuts a stream fed in pieces into lines; the same lines for every way of cutting it."""

    __slots__ = ("_decoder", "_first", "_held", "_known", "_size", "lines", "size")

    def __init__(self) -> None:
        self._held = bytearray()
        self._size = 0
        self._first = b""
        self._known = False
        self._decoder: Any = None
        self.size = 0
        self.lines = 0

    def feed(self, data: bytes) -> Iterator[Line]:
        """Yield every line that `data` completes."""
        if not self._known:
            # Three bytes tell a byte order mark.
            self._first += data
            if len(self._first) < 3:
                return
            data = self._mark()
        yield from self._cut(data if self._decoder is None else self._recode(data, final=False))

    def finish(self) -> Iterator[Line]:
        """Yield what is left: the last line where no line feed ended it."""
        rest = b"" if self._known else self._mark()
        if self._decoder is not None:
            rest = self._recode(rest, final=True)
        yield from self._cut(rest)
        if self._size:
            yield self._line(b"", ended=False)

    def _mark(self) -> bytes:
        self._known = True
        data, self._first = self._first, b""
        if data.startswith(codecs.BOM_UTF8):
            self.size += 3
            return data[3:]
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        return data

    def _recode(self, data: bytes, *, final: bool) -> bytes:
        text: str = self._decoder.decode(data, final)
        return text.encode("utf-8", "replace")

    def _cut(self, data: bytes) -> Iterator[Line]:
        begin = 0
        while True:
            end = data.find(b"\n", begin)
            if end < 0:
                break
            yield self._line(data[begin:end], ended=True)
            begin = end + 1
        if begin < len(data):
            self._hold(data[begin:])

    def _hold(self, piece: bytes) -> None:
        if self._size <= LINE_CAP:
            self._held += piece
            if len(self._held) > LINE_CAP:
                del self._held[HEAD_CAP:]
        self._size += len(piece)

    def _line(self, piece: bytes, *, ended: bool) -> Line:
        if self._size:
            self._hold(piece)
            length, self._size = self._size, 0
            data = bytes(self._held)
            self._held.clear()
        else:
            length = len(piece)
            data = piece if length <= LINE_CAP else piece[:HEAD_CAP]
        start = self.size
        self.size += length + ended
        self.lines += 1
        complete = length <= LINE_CAP
        return Line(self.lines, start, start + length, data, complete=complete, ended=ended)
