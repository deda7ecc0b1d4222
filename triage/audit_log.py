"""The audit file: whole lines go in under a lock in one write, only whole lines come out.

A line carries the CRC-32 of itself. What a full disk or a killed writer leaves behind has no line
feed or a wrong sum: the next writer starts a new line after it, and no reader counts it.
"""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

__all__ = ["LINE_BYTES", "append_line", "encode_line", "read_lines"]

# PIPE_BUF on Linux: so long a line is written in one piece even to a pipe.
LINE_BYTES = 4096
_LONGEST_READ = 16 * LINE_BYTES
_LOCK_SECONDS = 2.0
_SEAL = re.compile(rb',"crc":"([0-9a-f]{8})"\}\n\Z')
# What would move a cursor, turn text around or end a line for some reader; JSON escapes the rest.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def encode_line(event: Mapping[str, Any]) -> bytes:
    """Return the event as one JSON line, its check sum last; greppable, no control characters."""
    text = json.dumps(event, ensure_ascii=False, separators=(",", ":"))
    body = _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()
    return b'%s,"crc":"%08x"}\n' % (body[:-1], zlib.crc32(body))


def read_lines(path: str) -> Iterator[dict[str, Any] | None]:
    """Yield each whole event of the file, and None for each line that is torn or not ours.

    Raises `OSError` where the file can't be read.
    """
    from pathlib import Path

    with Path(path).open("rb") as file:
        while line := file.readline(_LONGEST_READ):
            if line != b"\n":
                yield _decoded(line)


def _decoded(line: bytes) -> dict[str, Any] | None:
    seal = _SEAL.search(line)
    if seal is None:
        return None
    body = line[: seal.start()] + b"}"
    if seal[1] != b"%08x" % zlib.crc32(body):
        return None
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def append_line(path: str, line: bytes) -> str | None:
    """Append `line` in one write; returns why that failed, None where the line is in the file.

    Never raises, never waits long, and leaves no half line behind where it can take it back. A
    signal for a file grown too big (RLIMIT_FSIZE) does not reach the process.
    """
    try:
        fd = os.open(path, _flags(path), 0o600)
    except (OSError, ValueError) as error:
        return _reason(error)
    try:
        with _without_size_signal(), _locked(fd) as alone:
            return _append(fd, line, alone)
    except OSError as error:
        return _reason(error)
    finally:
        os.close(fd)


def _flags(path: str) -> int:
    import stat
    from pathlib import Path

    flags = os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    # A pipe without a reader must fail, not wait for one.
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    try:
        readable = stat.S_ISREG(Path(path).stat().st_mode) and os.access(path, os.R_OK)
    except FileNotFoundError:
        readable = True
    return flags | (os.O_RDWR if readable else os.O_WRONLY)


def _append(fd: int, line: bytes, alone: bool) -> str | None:
    import stat

    status = os.fstat(fd)
    plain = stat.S_ISREG(status.st_mode)
    if plain and not (alone and _ends_whole(fd, status.st_size)):
        line = b"\n" + line
    try:
        written = os.write(fd, line)
        problem = None if written == len(line) else "only a part could be written"
    except OSError as error:
        written, problem = 0, _reason(error)
    ours = problem and plain and alone and written
    if ours and os.fstat(fd).st_size == status.st_size + written:
        # Nobody else holds the lock: what stands behind the old end is our own half line.
        os.ftruncate(fd, status.st_size)
    return problem


def _ends_whole(fd: int, size: int) -> bool:
    if size == 0:
        return True
    try:
        return os.pread(fd, 1, size - 1) == b"\n"
    except (OSError, AttributeError):
        # The file may be written but not read: assume the worst, an empty line more is harmless.
        return False


@contextmanager
def _locked(fd: int) -> Iterator[bool]:
    """Hold the lock if it can be had soon; says whether it is held.

    Without it (a stopped process holds it, no locks on this file system or platform) the line is
    appended all the same, behind a line feed of its own.
    """
    try:
        import fcntl
    except ImportError:
        yield False
        return
    wait = 0.0005
    limit = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > limit:
                yield False
                return
            time.sleep(wait)
            wait = min(wait * 2, 0.01)
        except OSError:
            yield False
            return
    try:
        yield True
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)


@contextmanager
def _without_size_signal() -> Iterator[None]:
    """Keep SIGXFSZ from this thread while it writes: by default it would end the process.

    The signal is blocked, not ignored, because only the main thread may change handlers.
    """
    import signal

    if not hasattr(signal, "SIGXFSZ") or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    only = {signal.SIGXFSZ}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, only)
    try:
        yield
    finally:
        if signal.SIGXFSZ not in before:
            if signal.SIGXFSZ in signal.sigpending():
                signal.sigwait(only)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, only)


def _reason(error: OSError | ValueError) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
