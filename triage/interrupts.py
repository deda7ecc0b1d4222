"""Signals to us become messages to the run: the child gets them first, then we end the same way."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from types import FrameType

__all__ = ["Interrupts", "end_by"]

# What a person or a supervisor ends a program with. A stop (Ctrl-Z) is not among them.
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")


class Interrupts:
    """A mailbox of signal numbers; `fd` becomes readable when one arrives.

    `post` may be called from a signal handler and from another thread.
    """

    __slots__ = ("_posted", "_write_end", "fd", "first")

    def __init__(self) -> None:
        self.fd, self._write_end = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._write_end, False)
        self._posted: list[int] = []
        self.first: int | None = None

    def post(self, signum: int) -> None:
        """Leave a signal number."""
        self._posted.append(signum)
        if self.first is None:
            self.first = signum
        # A full pipe has woken the reader already.
        with contextlib.suppress(OSError):
            os.write(self._write_end, b"\0")

    def take(self) -> list[int]:
        """Return what was posted since the last call."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.fd, 4096):
                pass
        taken, self._posted = self._posted, []
        return taken

    def close(self) -> None:
        """Give both descriptors back."""
        os.close(self.fd)
        os.close(self._write_end)
        self.fd = -1

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Receive INT, TERM, HUP and QUIT of this process while inside.

        A signal that was ignored when we were started stays ignored: `nohup` and `cmd &` rely on
        it. But for SIGCHLD, whose being ignored would cost us the command's status. For the main
        thread of a process that does nothing else.
        """
        import signal

        def handler(signum: int, _: FrameType | None) -> None:
            self.post(signum)

        before: dict[int, object] = {}
        if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
            before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for name in _ENDING:
            number = getattr(signal, name)
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, handler)
        try:
            yield
        finally:
            for number, old in before.items():
                signal.signal(number, old)  # type: ignore[arg-type]


def end_by(signum: int) -> None:
    """End this process by `signum`, so that its parent sees the signal and not a status.

    Returns only where the signal is blocked.
    """
    import signal

    signal.signal(signum, signal.SIG_DFL)
    os.kill(os.getpid(), signum)
