"""Keep the first and the last bytes of a stream of any length, in bounded memory.

Small streams stay in memory. A longer one goes to a file without a name, which the system takes
back when nobody holds it any more, however we end. Past the limit the last bytes go round in a
ring, so that 2 GB of output cost no more disk than the limit.
"""

from __future__ import annotations

from typing import IO

from triage.decoding import cut_end, cut_start
from triage.frozen import frozen

__all__ = ["DEFAULT_LIMIT", "Cut", "Kept", "Spool"]

# A verdict rests on the ends of a stream. Text of 2 MiB with one emoji takes 8 MiB in Python, and
# a verdict holds it several times over: with more, two such streams would need 100 MB.
DEFAULT_LIMIT = 2 << 20
_IN_MEMORY = 256 << 10
_COPIED = 256 << 10


@frozen()
class Cut:
    """`missing` bytes were left out where `at` bytes of the kept stream have passed."""

    at: int
    missing: int


@frozen()
class Kept:
    """What is left of one stream: bytes, or an open binary file that stands at its start.

    `size` counts the bytes that came, `cut` says what of them is missing. `lost` is the reason
    why the spool could not keep what it should have kept (a full disk).
    """

    source: bytes | IO[bytes]
    size: int
    cut: Cut | None = None
    lost: str | None = None


class Spool:
    """Takes a stream in pieces; `finish` gives back at most `limit` bytes of it.

    Half of the limit is kept from the head, half from the tail. Nothing raises: a disk that is
    full costs the rest of the stream, and `Kept.lost` says so.
    """

    __slots__ = ("_file", "_head", "_lost", "_memory", "_stored", "_tail", "size")

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._head = limit - limit // 2
        self._tail = limit // 2
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self._stored = 0  # bytes of the stream that are accounted for in memory or file
        self._lost: str | None = None
        self.size = 0

    def write(self, data: bytes) -> None:
        """Take the next piece."""
        self.size += len(data)
        if self._lost is not None:
            return
        view = memoryview(data)
        if self._file is None:
            limit = self._head + self._tail
            if len(self._memory) + len(view) <= min(_IN_MEMORY, limit):
                self._memory += view
                self._stored += len(view)
                return
        try:
            self._to_file(view)
        except OSError as error:
            self._lost = error.strerror or str(error)

    def finish(self) -> Kept:
        """Return what was kept; the spool takes nothing more."""
        if self._file is None:
            data = bytes(self._memory)
            missing = self.size - len(data)
            return Kept(data, self.size, Cut(len(data), missing) if missing else None, self._lost)
        try:
            return self._from_file(self._file)
        except OSError as error:
            return Kept(b"", self.size, Cut(0, self.size), error.strerror or str(error))

    def _to_file(self, view: memoryview) -> None:
        if self._file is None:
            self._file = _nameless()
            memory, self._memory, self._stored = self._memory, bytearray(), 0
            self._place(memoryview(bytes(memory)))
        self._place(view)

    def _place(self, view: memoryview) -> None:
        """Write `view` where the stream's position `_stored` belongs: head first, then the ring."""
        while len(view):
            if self._stored < self._head:
                at, room = self._stored, self._head - self._stored
            elif self._tail == 0:
                self._stored += len(view)
                return
            else:
                turn = (self._stored - self._head) % self._tail
                # Only the last round of a piece longer than the ring will be left of it.
                skip = max(0, len(view) - 2 * self._tail) // self._tail * self._tail
                view = view[skip:]
                self._stored += skip
                at, room = self._head + turn, self._tail - turn
            part = view[:room]
            self._put(part, at)
            self._stored += len(part)
            view = view[len(part) :]

    def _put(self, part: memoryview, at: int) -> None:
        assert self._file is not None
        self._file.seek(at)
        while len(part):
            part = part[self._file.write(part) :]

    def _from_file(self, file: IO[bytes]) -> Kept:
        limit = self._head + self._tail
        if self._stored <= limit:
            file.seek(0)
            missing = self.size - self._stored
            return Kept(
                file, self.size, Cut(self._stored, missing) if missing else None, self._lost
            )
        turn = (self._stored - self._head) % self._tail if self._tail else 0
        head = self._head - cut_end(_read(file, max(0, self._head - 4), min(4, self._head)))
        oldest = self._head + turn
        skip = cut_start(_read(file, oldest, min(4, self._tail - turn))) if self._tail else 0
        made = _linear(file, head, (oldest + skip, limit), (self._head, oldest))
        kept = head + self._tail - skip
        missing = self.size - kept
        return Kept(made, self.size, Cut(head, missing), self._lost)


def _linear(file: IO[bytes], head: int, *rest: tuple[int, int]) -> IO[bytes]:
    """Copy head and ring in the order in which they came."""
    made = _nameless()
    for start, end in ((0, head), *rest):
        at = start
        while at < end:
            part = memoryview(_read(file, at, min(_COPIED, end - at)))
            at += len(part)
            if not len(part):
                break
            while len(part):
                part = part[made.write(part) :]
    file.close()
    made.seek(0)
    return made


def _nameless() -> IO[bytes]:
    from tempfile import TemporaryFile

    made: IO[bytes] = TemporaryFile(buffering=0)  # noqa: SIM115 - it outlives this function
    return made


def _read(file: IO[bytes], at: int, size: int) -> bytes:
    file.seek(at)
    return file.read(size)
