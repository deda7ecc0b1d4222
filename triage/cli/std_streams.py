"""The standard streams as some callers leave them: closed, full, too narrow, their reader gone.

What is said to people stands on stderr, and that nobody can take it changes no status; what was
asked for stands on stdout, and that it could not be written is an error of its own.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

__all__ = ["make_usable", "silence", "stdout_fault", "write_error"]

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def make_usable() -> None:
    """Open what is closed of stdout and stderr, and let both take any text.

    Python has None where a stream was closed. A descriptor that is free is the next one that a
    pipe of ours would get, and what is written to stdout would then go down that pipe.
    """
    if sys.stdin is None:
        import io

        sys.stdin = io.TextIOWrapper(io.BytesIO())
    if sys.stdout is None:
        sys.stdout = _nowhere(1)
    if sys.stderr is None:
        sys.stderr = _nowhere(2)
    for stream in (sys.stdout, sys.stderr):
        name = (stream.encoding or "utf-8").lower()
        if not name.startswith("utf") and hasattr(stream, "reconfigure"):
            import codecs

            codecs.register_error("triage-escaped", _escaped)
            stream.reconfigure(errors="triage-escaped")


def silence(stream: TextIO) -> None:
    """What `stream` still holds, and all that follows, goes nowhere: its descriptor is broken.

    The interpreter flushes at exit, and a failure there would be the exit status.
    """
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def write_error(text: str, stream: TextIO | None = None) -> None:
    """Write to stderr; where nobody takes it, it is lost and no error."""
    stream = stream or sys.stderr
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        silence(stream)


def stdout_fault(error: OSError) -> str | None:
    """Why stdout takes nothing (it is silenced then), None where `error` is about something else.

    What could not be written is still there to be flushed, and fails once more; an unbuffered
    stream keeps nothing, and an error without a file's name is all that is left of it.
    """
    try:
        sys.stdout.flush()
    except OSError as again:
        error = again
    else:
        if error.filename is not None or error.errno not in _NO_ROOM:
            return None
    silence(sys.stdout)
    return error.strerror or str(error)


def _nowhere(number: int) -> TextIO:
    opened = os.open(os.devnull, os.O_WRONLY)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    os.set_inheritable(number, True)
    return open(number, "w", encoding="utf-8", closefd=False)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """The escapes of JSON: outside its strings our JSON is ASCII, so that it stays JSON."""
    import json

    if not isinstance(error, UnicodeEncodeError):
        raise error
    held: Any = error.object
    return json.dumps(held[error.start : error.end])[1:-1], error.end
