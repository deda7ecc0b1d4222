"""Hand a child's bytes on to our own streams, live and unchanged, without ever being stuck there.

Our standard output is shared with whoever started us, so it must not be made non-blocking: that
would hold for the others too. Instead only as much is written as poll(2) says there is room for.
"""

from __future__ import annotations

import errno
import os
import select
import stat
from collections import deque
from collections.abc import Callable
from typing import Protocol

from triage.errors import UsageError

__all__ = ["Sink", "Target", "Writer", "sinks_for"]

# After POLLOUT a pipe takes this much without blocking (pipe(7)); a terminal takes a line or two.
_PIPE_PART = 4096
_TERMINAL_PART = 512
_FILE_PART = 1 << 20
# What may wait for a slow reader while the child is being ended. More of it is dropped here, the
# rest of the stream with it; the capture still has it.
_MOST_WAITING = 4 << 20


class Writer(Protocol):
    """What a caller may give instead of a descriptor: the `write` of a binary file."""

    def write(self, data: bytes, /) -> object: ...


Target = int | Writer | None


class Sink:
    """One way out: `offer` bytes, `flush` when there is room.

    `target` is a descriptor, an object with `write` (which may block), or None for nowhere. `tap`
    sees every piece first, whatever becomes of it here.
    `broken` is the reason, once nobody takes anything any more, and `gone` says that the reader
    went away, and is not a disk that is full; `dropped` counts bytes.
    """

    __slots__ = ("_kind", "_parts", "_waiting", "_writer", "broken", "dropped", "fd", "gone", "tap")

    def __init__(self, target: Target) -> None:
        self.tap: Callable[[bytes], object] | None = None
        self.fd = target if isinstance(target, int) else -1
        self._writer = None if isinstance(target, int) else target
        self._kind = stat.S_IFMT(os.fstat(self.fd).st_mode) if self.fd >= 0 else 0
        self._parts: deque[memoryview] = deque()
        self._waiting = 0
        self.broken: str | None = None
        self.gone = False
        self.dropped = 0

    @property
    def waiting(self) -> bool:
        """Whether bytes wait for a reader."""
        return self._waiting > 0

    def offer(self, data: bytes) -> None:
        """Take bytes, and write as many of all that wait as there is room for."""
        if self.tap is not None:
            self.tap(data)
        if self._writer is not None:
            self._writer.write(data)
        elif self.fd >= 0 and self.broken is None:
            # Once something was dropped the rest would no longer be a beginning of the stream.
            if self.dropped or self._waiting + len(data) > _MOST_WAITING:
                self.dropped += len(data)
                return
            self._parts.append(memoryview(data))
            self._waiting += len(data)
            self.flush()

    def flush(self) -> None:
        """Write what waits, as far as there is room."""
        while self._parts:
            room = self._room()
            if not room:
                return
            part = self._parts[0]
            try:
                written = os.write(self.fd, part[:room])
            except BlockingIOError:
                # Somebody else made it non-blocking, and has filled it meanwhile.
                return
            except OSError as error:
                self.broken = error.strerror or str(error)
                self.gone = error.errno in (errno.EPIPE, errno.ECONNRESET)
                self._parts.clear()
                self._waiting = 0
                return
            self._waiting -= written
            if written == len(part):
                self._parts.popleft()
            else:
                self._parts[0] = part[written:]

    def _room(self) -> int:
        """How many bytes can be written now without being held up."""
        if self._kind == stat.S_IFREG:
            return _FILE_PART
        poll = select.poll()
        poll.register(self.fd, select.POLLOUT)
        if not poll.poll(0):
            return 0
        if self._kind == stat.S_IFIFO:
            return _room_of_pipe(self.fd)
        return _TERMINAL_PART if self._kind == stat.S_IFCHR else _PIPE_PART


def sinks_for(
    passthrough: bool | tuple[Target, Target],
) -> tuple[Sink, Sink]:
    """Return the ways out for stdout and stderr; True means our own descriptors 1 and 2.

    What Python still holds in `sys.stdout` is written first, so that nothing changes its order. A
    stream that is closed is nowhere. Raises `UsageError` for a descriptor that does not exist.
    """
    if passthrough is False:
        return Sink(None), Sink(None)
    if passthrough is True:
        import sys

        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        return Sink(1 if _is_open(1) else None), Sink(2 if _is_open(2) else None)
    for target in passthrough:
        if isinstance(target, int) and not _is_open(target):
            raise UsageError(
                "passthrough", f"descriptor {target} is not open", "give one that is, or None"
            )
    return Sink(passthrough[0]), Sink(passthrough[1])


def _room_of_pipe(fd: int) -> int:
    """All of an empty pipe is free; of any other only the least that POLLOUT promises."""
    import fcntl
    import struct
    import termios

    size = getattr(fcntl, "F_GETPIPE_SZ", None)
    try:
        waiting = struct.unpack("i", fcntl.ioctl(fd, termios.FIONREAD, b"\0" * 4))[0]
        if size is not None and waiting == 0:
            return max(fcntl.fcntl(fd, size), _PIPE_PART)
    except OSError:
        pass
    return _PIPE_PART


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
