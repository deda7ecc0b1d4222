"""The bytes of a stream, wherever they are, without reading more than was asked for.

A stream of which `head` and `tail` bytes do not cover everything is read at both ends: the cause
of a failure stands in the first or the last lines, hardly ever in the middle of a gigabyte.
"""

from __future__ import annotations

import os
from typing import Any

from triage.errors import CaptureError
from triage.frozen import frozen

__all__ = ["Window", "read_window"]

_CHUNK = 1 << 20


@frozen()
class Window:
    """What was read: `head` from byte 0, `tail` up to byte `size`, None where `head` is all."""

    head: bytes
    tail: bytes | None
    size: int


def read_window(name: str, source: Any, head: int, tail: int) -> Window:
    """Read at most `head` + `tail` bytes of a path or an open binary file.

    A file object is read from where it stands, and a seekable one is put back there. Raises
    `CaptureError` naming stream `name` where the file can't be read.
    """
    try:
        if not isinstance(source, os.PathLike):
            return _read(name, source, head, tail)
        # Unbuffered: what is read is known in advance, and a window is larger than any buffer.
        with open(source, "rb", buffering=0) as file:  # noqa: PTH123 - pathlib costs start-up time
            return _read(name, file, head, tail)
    except (OSError, ValueError) as error:
        raise CaptureError(name, f"can't be read: {error}", "give a readable file") from error


def _read(name: str, file: Any, head: int, tail: int) -> Window:
    if not hasattr(file, "read"):
        raise CaptureError(
            name,
            f"got {type(file).__name__}",
            "give text, bytes, a path object or a file opened in binary mode",
        )
    try:
        start = file.tell()
        size = file.seek(0, os.SEEK_END) - start
        file.seek(start)
    except (OSError, AttributeError, ValueError):
        start, size = 0, 0
    # Pipes can't seek, and files under /proc claim to be empty.
    if size <= 0:
        return _read_forward(name, file, head, tail)
    if size <= head + tail:
        data = _exactly(name, file, size)
        file.seek(start)
        return Window(data, None, len(data))
    first = _exactly(name, file, head)
    file.seek(start + size - tail)
    last = _exactly(name, file, tail)
    file.seek(start)
    return Window(first, last, size)


def _read_forward(name: str, file: Any, head: int, tail: int) -> Window:
    """Read to the end, holding no more than `head` + `tail` and one chunk more."""
    first = _exactly(name, file, head)
    size = len(first)
    kept: list[bytes] = []
    held = 0
    while chunk := _exactly(name, file, _CHUNK):
        size += len(chunk)
        kept.append(chunk)
        held += len(chunk)
        while kept and held - len(kept[0]) >= tail:
            held -= len(kept.pop(0))
    last = b"".join(kept)
    if size == len(first) + len(last) and len(last) <= tail:
        return Window(first + last, None, size)
    return Window(first, last[len(last) - tail :] if tail else b"", size)


def _exactly(name: str, file: Any, wanted: int) -> bytes:
    """Read `wanted` bytes, fewer only at the end: one read of a raw file may be short."""
    parts: list[bytes] = []
    while wanted > 0:
        part = file.read(min(wanted, _CHUNK))
        if not part:
            break
        if not isinstance(part, (bytes, bytearray, memoryview)):
            raise CaptureError(
                name, "the file gives text", "open it in binary mode, or give its `.buffer`"
            )
        parts.append(bytes(part))
        wanted -= len(part)
    return b"".join(parts)
