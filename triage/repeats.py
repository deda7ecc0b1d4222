"""A short memory of failures: the same call that fails the same way again is not new.

One small file per user. It holds no command, no folder and no output, only hashes of them, with
row, rule and status of the failure; a success forgets what went before it. It is a convenience:
a file that can't be read, written or locked, or that holds nonsense, is passed over in silence.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from triage.frozen import replaced
from triage.model import Capture, StreamSource, Verdict

__all__ = ["Repeats", "entry", "fingerprint"]

# A loop repeats within minutes. What failed this morning may well have another reason now.
_REMEMBERED_S = 3600.0
_MOST_BYTES = 128 << 10
_KEPT_RECORDS = 400
_TAIL = 16 << 10
_TRIES = 10
_PAUSE_S = 0.02


def entry(capture: Capture, verdict: Verdict) -> dict[str, Any]:
    """What `Capture.previous` holds of an earlier start."""
    return {
        "rule": verdict.rule,
        "row": verdict.row,
        "verdict": verdict.verdict,
        "exit_code": capture.exit_code,
    }


def fingerprint(capture: Capture) -> str:
    """A hash of how it failed: the end of its output without numbers, which differ each time.

    Of a call that a limit ended only that counts: where it was cut off is chance.
    """
    if capture.timed_out:
        return "timed-out"
    if capture.merged is not None:
        shown = _tail("merged", capture.merged)
    else:
        shown = _tail("stderr", capture.stderr) or _tail("stdout", capture.stdout)
    import re

    plain = re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{7,}\b|[0-9]+", "#", shown.lower())
    return _hash(plain, 8)


class Repeats:
    """The memory in one file; `path` None is the user's own, ``triage/calls.jsonl`` in the state
    folder (XDG_STATE_HOME, ~/.local/state)."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = _own_path() if path is None else os.fspath(path)

    def streak(self, capture: Capture) -> tuple[Mapping[str, Any], ...]:
        """The failures just before this one that are like it, oldest first."""
        key = _key(capture)
        like = fingerprint(capture)
        found: list[Mapping[str, Any]] = []
        for record in self._records():
            if record["call"] != key:
                continue
            if record["verdict"] == "not_failure":
                found.clear()
            elif (record["like"], record["exit_code"]) == (like, capture.exit_code):
                found.append({name: record[name] for name in _ENTRY})
            else:
                found.clear()
        return tuple(found)

    def marked(self, capture: Capture) -> Capture:
        """Return the capture with what is remembered of its call, unless it brings its own."""
        if capture.previous or capture.attempt > 1 or capture.command is None:
            return capture
        previous = self.streak(capture)
        return replaced(capture, previous=previous, attempt=len(previous) + 1)

    def record(self, capture: Capture, verdict: Verdict) -> None:
        """Remember how a call ended."""
        if capture.command is None or verdict.verdict == "insufficient":
            return
        if capture.exit_code is not None and capture.exit_code.bit_length() > 64:
            return
        key = _key(capture)
        if verdict.verdict == "not_failure" and not any(
            record["call"] == key for record in self._records()
        ):
            return
        record = {
            "call": key,
            "at": round(time.time(), 3),
            "like": fingerprint(capture),
            **entry(capture, verdict),
        }
        import json

        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        with suppress(OSError), self._opened(write=True) as fd:
            self._append(fd, line)

    def _append(self, fd: int, line: bytes) -> None:
        size = os.fstat(fd).st_size
        if size + len(line) > _MOST_BYTES:
            data = os.pread(fd, _MOST_BYTES, max(0, size - _MOST_BYTES))
            # The first of these lines may be the rest of one.
            kept = b"".join(data.splitlines(keepends=True)[1:][-_KEPT_RECORDS:])
            os.ftruncate(fd, 0)
            line = kept + line
        os.write(fd, line)

    def _records(self) -> list[dict[str, Any]]:
        import json

        try:
            with self._opened(write=False) as fd:
                data = os.pread(fd, _MOST_BYTES, 0)
        except OSError:
            return []
        now = time.time()
        found = []
        for line in data.splitlines():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if _is_record(record) and now - _REMEMBERED_S <= record["at"] <= now + 1.0:
                found.append(record)
        return found

    @contextmanager
    def _opened(self, *, write: bool) -> Iterator[int]:
        """Open and lock the file; raises OSError where either can't be done soon."""
        import fcntl
        import stat

        if self.path is None:
            raise FileNotFoundError("no home folder")
        if write:
            os.makedirs(os.path.dirname(self.path) or ".", mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
        how = os.O_RDWR | os.O_APPEND | os.O_CREAT if write else os.O_RDONLY
        # Neither a link to elsewhere nor a pipe that nobody writes to may stand in its place.
        fd = os.open(self.path, how | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise OSError("not a file")
            _lock(fd, fcntl.LOCK_EX if write else fcntl.LOCK_SH)
            yield fd
        finally:
            os.close(fd)


_ENTRY = ("rule", "row", "verdict", "exit_code")


def _lock(fd: int, how: int) -> None:
    import fcntl

    for left in range(_TRIES, -1, -1):
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if not left:
                raise
            time.sleep(_PAUSE_S)
        else:
            return


def _is_record(record: object) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("call"), str)
        and isinstance(record.get("like"), str)
        and isinstance(record.get("rule"), str)
        and isinstance(record.get("verdict"), str)
        and isinstance(record.get("at"), (int, float))
        and isinstance(record.get("row"), (int, type(None)))
        and isinstance(record.get("exit_code"), (int, type(None)))
    )


def _key(capture: Capture) -> str:
    """A hash of the call: its line and its folder."""
    from triage.render import posix_quote

    command = capture.command or ""
    line = command.strip() if isinstance(command, str) else " ".join(map(posix_quote, command))
    try:
        folder = os.path.realpath(capture.cwd or ".")
    except (OSError, ValueError):
        folder = capture.cwd or ""
    return _hash(f"{folder}\0{line}", 16)


def _hash(text: str, size: int) -> str:
    try:
        # hashlib would load OpenSSL: 3 ms in front of every command.
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def _tail(name: str, source: StreamSource) -> str:
    """The last lines of a stream as a reader saw them."""
    from triage.text import read_stream

    if isinstance(source, (str, bytes)):
        source = source[-_TAIL:]
    return read_stream(name, source, head=0, tail=_TAIL).text.strip()


def _own_path() -> str | None:
    base = os.environ.get("XDG_STATE_HOME")
    if not base or not os.path.isabs(base):  # noqa: PTH117
        home = os.environ.get("HOME")
        if not home:
            return None
        base = os.path.join(home, ".local", "state")  # noqa: PTH118
    return os.path.join(base, "triage", "calls.jsonl")  # noqa: PTH118
