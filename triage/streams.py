"""The streams of one running command: taken as they come, kept, and handed on."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable, Mapping

from triage.passthrough import Sink
from triage.spool import Kept, Spool

__all__ = ["Streams"]

_CHUNK = 64 << 10
# What is in the pipes after the end is taken, at most for this long: a writer that no kill reached
# could go on for ever.
_DRAIN_S = 0.5


class _Stream:
    __slots__ = ("fd", "last", "name", "sink", "spool")

    def __init__(self, name: str, fd: int, sink: Sink, keep: int) -> None:
        self.name = name
        self.fd = fd
        self.sink = sink
        self.spool = Spool(keep)
        self.last: float | None = None


class Streams:
    """Reads descriptors, non-blocking ones, by their stream's name.

    `sinks` are the ways out by name, `keep_bytes` how much of each stream is kept. While `eager`
    is False, a reader that is slow makes the command wait, as it would without us, and one that
    has gone closes the stream, so that the command gets its SIGPIPE. So does a stdout that can't be
    written: what it is asked for would be lost. A stderr that can't is no reason to end it.
    """

    def __init__(self, fds: dict[str, int], sinks: Mapping[str, Sink], keep_bytes: int) -> None:
        self._fds = fds
        self._streams = [_Stream(name, fd, sinks[name], keep_bytes) for name, fd in fds.items()]
        self.eager = False

    @property
    def open(self) -> bool:
        """Whether anybody may still write to one of them."""
        return any(stream.fd >= 0 for stream in self._streams)

    @property
    def reader_is_slow(self) -> bool:
        """Whether bytes wait for a reader of ours."""
        return any(stream.sink.waiting for stream in self._streams)

    def last_byte(self) -> float | None:
        """When the last byte of any of them came (monotonic seconds)."""
        return max((s.last for s in self._streams if s.last is not None), default=None)

    def last_bytes(self, start: float) -> dict[str, float | None]:
        """When the last byte of each came, in seconds after `start`."""
        return {s.name: None if s.last is None else s.last - start for s in self._streams}

    def kept(self) -> dict[str, Kept]:
        """What was kept of each; nothing can be taken after that."""
        return {stream.name: stream.spool.finish() for stream in self._streams}

    def wait(self, seconds: float, others: Iterable[int] = ()) -> None:
        """Wait until something is ready, or one of the descriptors `others` is; move bytes."""
        poll = select.poll()
        readable: dict[int, _Stream] = {}
        writable: dict[int, Sink] = {}
        for stream in self._streams:
            if stream.sink.waiting:
                writable[stream.sink.fd] = stream.sink
            if stream.fd >= 0 and (self.eager or not stream.sink.waiting):
                readable[stream.fd] = stream
                poll.register(stream.fd, select.POLLIN)
        for fd in writable:
            poll.register(fd, select.POLLOUT)
        for fd in others:
            poll.register(fd, select.POLLIN)
        # poll(2) counts whole milliseconds; rounding down would spin for the last one.
        for fd, _ in poll.poll(int(seconds * 1000) + 1 if seconds > 0 else 0):
            if fd in readable:
                self._read(readable[fd])
            elif fd in writable:
                writable[fd].flush()

    def drain(self) -> None:
        """Take what has come already, and no more."""
        until = time.monotonic() + _DRAIN_S
        for stream in self._streams:
            while stream.fd >= 0 and time.monotonic() < until and self._read(stream):
                pass

    def notes(self) -> list[str]:
        """What a reader of the capture should know of how it was made."""
        notes = []
        for stream in self._streams:
            sink = stream.sink
            if sink.broken is not None:
                notes.append(f"{stream.name}: could not be passed through: {sink.broken}")
            elif sink.waiting or sink.dropped:
                notes.append(f"{stream.name}: not passed through to its end: nobody read it")
        return notes

    def _read(self, stream: _Stream) -> bool:
        """Take one piece; False when there was none (yet, or any more)."""
        try:
            data = os.read(stream.fd, _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            # The end of a terminal: all that had it open are gone (EIO).
            data = b""
        if data:
            stream.last = time.monotonic()
            stream.spool.write(data)
            stream.sink.offer(data)
        sink = stream.sink
        ends_it = sink.gone or (sink.broken is not None and stream.name != "stderr")
        if not data or (ends_it and not self.eager):
            os.close(stream.fd)
            del self._fds[stream.name]
            stream.fd = -1
        return bool(data)
