"""Everything that one command started: find it, signal it, end it.

Most of it is in the command's own session. What left that (setsid, a double fork) is found in one
of two ways. A process that does nothing but this run may become a *child subreaper*: orphans then
fall to it instead of to init, and the tree below it is complete, while the command's environment
stays as it was. That setting is one for the whole process and would collect a host's other orphans
too, so a library call marks the environment instead (``TRIAGE_RUN_ID``) and looks for the mark.
A process that drops its environment *and* its parents *and* its session is out of reach for a
library call; the command line finds it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

__all__ = [
    "MARK",
    "Offspring",
    "become_subreaper",
    "children_of_ours",
    "is_subreaper",
    "new_mark",
]

MARK = "TRIAGE_RUN_ID"
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_OUTER_MARKS = 8
_PAUSE_S = 0.01
# How many of the newest processes a chase looks at, and how often in a row.
_NEWBORN = 32
_CHASES = 50
# A plain name, so that a type checker on one system reads the code of the others.
_PROC: bool = sys.platform.startswith("linux")


def new_mark(outer: str | None = None) -> str:
    """A mark nobody else has; those of the runs around this one stay readable in it."""
    own = os.urandom(8).hex()
    return ":".join([*(outer.split(":")[-_OUTER_MARKS:] if outer else ()), own])


def become_subreaper(wanted: bool = True) -> bool:
    """Make this process the one that orphaned descendants fall to, or no longer.

    False where the system can't do it.
    """
    return _prctl(_PR_SET_CHILD_SUBREAPER, int(wanted)) == 0


def is_subreaper() -> bool:
    """Whether orphaned descendants fall to this process."""
    if not _PROC:
        return False
    import ctypes

    found = ctypes.c_int()
    return _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(found)) == 0 and bool(found.value)


def _prctl(option: int, argument: Any) -> int:
    if not _PROC:
        return -1
    import ctypes

    try:
        return int(ctypes.CDLL(None).prctl(option, argument, 0, 0, 0))
    except (OSError, AttributeError):
        return -1


class _Process(NamedTuple):
    pid: int
    parent: int
    group: int
    session: int
    born: float


class Offspring:
    """The processes of one run.

    `leader` is the command's process, `mark` what stands in its environment. With `adopts` this
    process is a subreaper, and its children belong to the run, but for those in `strangers`.
    """

    __slots__ = ("_adopts", "_known", "_leader", "_mark", "_strangers")

    def __init__(
        self, leader: int, *, mark: str | None, adopts: bool, strangers: Iterable[int] = ()
    ) -> None:
        self._leader = leader
        self._mark = mark.rpartition(":")[2].encode() if mark else None
        self._adopts = adopts
        self._strangers = frozenset(strangers)
        # Seen once, a member stays one: the end of its parents must not hide it.
        self._known: dict[int, float] = {}

    def living(self) -> list[int]:
        """The numbers of all that are alive (a zombie is not)."""
        table = _all_processes()
        own = os.getpid()
        roots = {self._leader}
        if self._adopts:
            roots |= {p.pid for p in table if p.parent == own and p.pid not in self._strangers}
        members = {
            p.pid
            for p in table
            if p.pid in roots
            or self._leader in (p.group, p.session)
            or self._known.get(p.pid) == p.born
            or self._is_marked(p.pid)
        }
        children: dict[int, list[int]] = {}
        for process in table:
            children.setdefault(process.parent, []).append(process.pid)
        todo = [*members, self._leader]
        while todo:
            for child in children.get(todo.pop(), ()):
                if child not in members:
                    members.add(child)
                    todo.append(child)
        members.discard(own)
        self._known = {p.pid: p.born for p in table if p.pid in members}
        return sorted(members)

    def send(self, signum: int, *, group_only: bool = False) -> None:
        """Send a signal to the command's group, and to each that left it."""
        _send_group(self._leader, signum)
        if not group_only:
            for pid in self.living():
                if not _in_group(pid, self._leader):
                    _send(pid, signum)

    def kill(self, patience_s: float) -> tuple[int, ...]:
        """Kill all of it, whatever is born meanwhile too; return what lives on after that time."""
        deadline = time.monotonic() + patience_s
        while True:
            _send_group(self._leader, signal.SIGKILL)
            left = self.living()
            if not left:
                return ()
            for pid in left:
                _send(pid, signal.SIGKILL)
            self._chase()
            if time.monotonic() >= deadline:
                return tuple(left)
            self.reap_adopted()
            time.sleep(_PAUSE_S)

    def _chase(self) -> None:
        """Kill the newborn: who bears faster than a look at every process takes ends only so."""
        own = os.getpid()
        for _ in range(_CHASES):
            newest = _newest()
            struck = False
            for process in _processes(range(max(newest - _NEWBORN, 1), newest + 1)):
                if process.pid == own or process.pid in self._strangers:
                    continue
                if (
                    process.parent in self._known
                    or (self._adopts and process.parent == own)
                    or self._is_marked(process.pid)
                ):
                    self._known[process.pid] = process.born
                    _send(process.pid, signal.SIGKILL)
                    struck = True
            if not struck:
                return

    def reap_adopted(self) -> None:
        """Take the status of orphans that fell to us, so that no zombie stays."""
        if not self._adopts:
            return
        for pid in children_of_ours() - self._strangers - {self._leader}:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def _is_marked(self, pid: int) -> bool:
        return self._mark is not None and self._mark in _environment(pid)


def children_of_ours() -> frozenset[int]:
    """The children this process has by now."""
    try:
        # Nearly always there is none, and the look through all processes is spared.
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return frozenset()
    except AttributeError:  # macOS before Python 3.13
        pass
    own = os.getpid()
    return frozenset(p.pid for p in _processes(zombies=True) if p.parent == own)


def _all_processes() -> list[_Process]:
    """The processes that live now, those too that were born while they were being listed."""
    newest = _newest()
    table = list(_processes())
    for _ in range(_CHASES):
        before, newest = newest, _newest()
        if newest == before:
            break
        table += _processes(range(max(before, newest - _NEWBORN) + 1, newest + 1))
    return table


def _newest() -> int:
    """The number given to a process last, 0 where the system does not say."""
    try:
        with open("/proc/loadavg", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[4])
    except (OSError, IndexError, ValueError):
        return 0


def _processes(among: Iterable[int] | None = None, *, zombies: bool = False) -> Iterator[_Process]:
    if not _PROC:
        if among is None:
            yield from _processes_of_psutil(zombies)
        return
    if among is None:
        among = (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208
    for pid in among:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
                # The name, in brackets, may itself hold brackets and spaces.
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if len(fields) > 19 and (zombies or fields[0] not in (b"Z", b"X")):
            parent, group, session = map(int, fields[1:4])
            yield _Process(pid, parent, group, session, float(fields[19]))


def _processes_of_psutil(zombies: bool) -> Iterator[_Process]:
    import psutil

    for process in psutil.process_iter(["pid", "ppid", "status", "create_time"]):
        pid = process.info["pid"]
        if not zombies and process.info["status"] == psutil.STATUS_ZOMBIE:
            continue
        try:
            group, session = os.getpgid(pid), os.getsid(pid)
        except OSError:
            continue
        born = process.info["create_time"] or 0.0
        yield _Process(pid, process.info["ppid"] or 0, group, session, born)


def _environment(pid: int) -> bytes:
    if _PROC:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
                return file.read()
        except OSError:
            return b""
    import psutil

    try:
        return psutil.Process(pid).environ().get(MARK, "").encode()
    except (psutil.Error, OSError):
        return b""


def _in_group(pid: int, group: int) -> bool:
    try:
        return os.getpgid(pid) == group
    except OSError:
        return False


def _send(pid: int, signum: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, signum)


def _send_group(group: int, signum: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, signum)
