"""Start one command in a session of its own, and learn how it ended.

The child is not reaped before everything that belongs to it is dealt with: until then its number
can't be given to another process, so a signal to its group can't reach a stranger.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

from triage.errors import CommandStartError, UsageError
from triage.frozen import frozen
from triage.program_path import find_program, is_script, start_error

if TYPE_CHECKING:
    import subprocess

__all__ = ["Child", "Launch", "kind_of_stdin", "start"]

_SH = "/bin/sh"
_SIZE = (24, 80)  # rows and columns of a terminal nobody looks at


@frozen(kw_only=True)
class Launch:
    """How to start a command.

    `env` is its whole environment. `stdin` is "null", "inherit", a path, a descriptor or an open
    file. With `pty` its streams are a new terminal, the controlling one; stdin too where `stdin`
    is "null", and nobody types there. With `share_fds` it inherits our inheritable descriptors,
    as it would from a shell (a make jobserver passes some).
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str | None = None
    stdin: str | int | os.PathLike[str] | IO[Any] = "null"
    pty: bool = False
    share_fds: bool = False


class Child:
    """A running command: `pid`, and `streams`: name -> descriptor to read, non-blocking.

    The names are ``stdout`` and ``stderr``, or ``merged`` where they are one terminal. `born` is
    the moment (monotonic seconds) before it was started.
    """

    __slots__ = ("_popen", "born", "pid", "pidfd", "streams")

    def __init__(
        self, popen: subprocess.Popen[bytes], streams: dict[str, int], born: float
    ) -> None:
        self._popen = popen
        self.born = born
        self.pid = popen.pid
        self.streams = streams
        self.pidfd = _pidfd(popen.pid)

    def exited(self) -> bool:
        """Whether it has ended; where the system can tell without reaping it, it stays unreaped."""
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self._popen.poll() is not None
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def reap(self) -> int | None:
        """Return its status, -N for signal N; None where somebody else took it, or it lives on."""
        if self._popen.returncode is not None:
            return self._popen.returncode
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            # Popen would make this 0; an unknown status is no success.
            self._popen.returncode = -1
            return None
        if pid != self.pid:
            return None
        self._popen.returncode = os.waitstatus_to_exitcode(status)
        return self._popen.returncode

    def close(self) -> None:
        """Give every descriptor back."""
        for fd in (*self.streams.values(), self.pidfd):
            if fd >= 0:
                with contextlib.suppress(OSError):
                    os.close(fd)
        self.streams.clear()
        self.pidfd = -1


def start(launch: Launch) -> Child:
    """Start `launch`; its own session and process group.

    Raises `CommandStartError` with the shell's status (127 not found, 126 found but not
    startable), and `UsageError` for what can't be asked for (an unreadable stdin file, a folder
    that is none, a NUL).
    """
    opened: list[int] = []
    try:
        return _start(launch, opened)
    finally:
        for fd in opened:
            with contextlib.suppress(OSError):
                os.close(fd)


def _start(launch: Launch, opened: list[int]) -> Child:
    """Start it; what is left in `opened` is not needed any more."""
    _check(launch)
    stdin = _stdin(launch, opened)
    if launch.pty:
        master, slave = _terminal(opened)
        ends = {"merged": master}
        writers = (slave, slave)
        if launch.stdin == "null":
            stdin = slave
    else:
        out, err = _pipe(opened), _pipe(opened)
        ends = {"stdout": out[0], "stderr": err[0]}
        writers = (out[1], err[1])
    path = find_program(launch.argv[0], launch.env, launch.cwd)
    born = time.monotonic()
    popen = _popen(launch, path, launch.argv, stdin, writers)
    for fd in ends.values():
        os.set_blocking(fd, False)
        opened.remove(fd)
    return Child(popen, ends, born)


def _popen(
    launch: Launch, path: str, argv: Sequence[str], stdin: int | None, writers: tuple[int, int]
) -> subprocess.Popen[bytes]:
    import subprocess

    try:
        return subprocess.Popen(
            argv,
            executable=path,
            stdin=stdin,
            stdout=writers[0],
            stderr=writers[1],
            env=launch.env,
            cwd=launch.cwd,
            close_fds=not launch.share_fds,
            start_new_session=True,
            preexec_fn=_control_terminal() if launch.pty else None,
        )
    except OSError as error:
        # As execvp and every shell do with a script that has no #! line.
        if error.errno == errno.ENOEXEC and path != _SH and is_script(path, launch.cwd):
            return _popen(launch, _SH, (_SH, path, *argv[1:]), stdin, writers)
        raise start_error(error, argv[0], launch.cwd) from None
    except subprocess.SubprocessError as error:
        raise CommandStartError(
            argv[0], f"can't be started on a terminal: {error}", "run it without --pty"
        ) from None


def _check(launch: Launch) -> None:
    if not launch.argv or not launch.argv[0]:
        raise UsageError("command", "there is no program to run", "give the command and its words")
    for where, text in (
        *((f"command, word {index + 1}", word) for index, word in enumerate(launch.argv)),
        *((f"variable {name}", f"{name}{value}") for name, value in launch.env.items()),
    ):
        if "\0" in text:
            raise UsageError(where, "it holds a NUL character", "no argument can hold one")
        try:
            os.fsencode(text)
        except UnicodeEncodeError:
            raise UsageError(where, "it can't be encoded for the system", "give text") from None
    for name in launch.env:
        if not name or "=" in name:
            raise UsageError(f"variable {name!r}", "no variable has this name", "write NAME=VALUE")
    if launch.cwd is not None and not os.path.isdir(launch.cwd):  # noqa: PTH112
        raise UsageError("cwd", f"{launch.cwd!r} is no folder", "name an existing one")


def _stdin(launch: Launch, opened: list[int]) -> int | None:
    import subprocess

    wanted = launch.stdin
    if wanted == "null":
        return subprocess.DEVNULL
    if wanted == "inherit":
        return None
    if isinstance(wanted, int):
        return wanted
    if not isinstance(wanted, (str, os.PathLike)):
        return int(wanted.fileno())
    try:
        fd = os.open(wanted, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            "stdin", f"{os.fspath(wanted)!r} can't be read: {why}", "name a readable file"
        ) from None
    opened.append(fd)
    return fd


def kind_of_stdin(launch: Launch) -> str:
    """The capture's word for what the child reads from: null, closed, pipe, tty or file."""
    wanted = launch.stdin
    if wanted == "null":
        return "tty" if launch.pty else "null"
    if isinstance(wanted, (str, os.PathLike)) and wanted != "inherit":
        return "file"
    fd = 0 if wanted == "inherit" else wanted if isinstance(wanted, int) else -1
    if not isinstance(wanted, (str, int, os.PathLike)):
        fd = wanted.fileno()
    try:
        found = os.fstat(fd)
    except OSError:
        return "closed"
    if os.isatty(fd):
        return "tty"
    if stat.S_ISREG(found.st_mode):
        return "file"
    if stat.S_ISCHR(found.st_mode):
        return "null" if found.st_rdev == os.stat(os.devnull).st_rdev else "file"  # noqa: PTH116
    return "pipe"


def _pipe(opened: list[int]) -> tuple[int, int]:
    """A pipe above the standard descriptors, even where some of those are closed."""
    import fcntl

    ends: list[int] = []
    for fd in os.pipe():
        if fd < 3:
            ends.append(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3))
            os.close(fd)
        else:
            ends.append(fd)
    opened += ends
    return ends[0], ends[1]


def _terminal(opened: list[int]) -> tuple[int, int]:
    import fcntl
    import struct
    import termios

    master, slave = os.openpty()
    opened += (master, slave)
    rows, columns = _SIZE
    for fd in (1, 2, 0):
        with contextlib.suppress(OSError):
            columns, rows = os.get_terminal_size(fd)
            break
    size = struct.pack("HHHH", rows or _SIZE[0], columns or _SIZE[1], 0, 0)
    fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
    return master, slave


def _control_terminal() -> Any:
    """What makes the new terminal the controlling one, run between fork and exec.

    A bare C function with its arguments: no line of Python runs in the forked child, where
    another thread's locks would be held for ever.
    """
    import fcntl
    import functools
    import termios

    return functools.partial(fcntl.ioctl, 1, termios.TIOCSCTTY, 0)


def _pidfd(pid: int) -> int:
    """A descriptor that is readable once the child has ended; -1 where the system has none."""
    if not hasattr(os, "pidfd_open"):
        return -1
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1
