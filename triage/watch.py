"""Watch one running command to its end: take its output, keep its limits, end what hangs.

One loop over poll(2) in one thread. It never waits for anything that may not come: not for the
end of a pipe that a grandchild holds, not for a reader of ours that does not read, not for a
process that ignores every request.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from typing import Literal

from triage.frozen import frozen
from triage.interrupts import Interrupts
from triage.offspring import Offspring
from triage.passthrough import Sink
from triage.process import Child
from triage.spool import Kept
from triage.streams import Streams

__all__ = ["Ended", "Limits", "Observed", "observe"]

Ended = Literal["itself", "limit", "idle", "signal"]

# The command has ended, but somebody it started still holds its output: wait for what they may
# still say as long as they speak, and no longer than that.
_QUIET_S = 1.0
_LINGER_S = 3.0
# How often to look whether a request to end was heard, and (without pidfd) whether it has ended.
_LOOK_S = 0.1
_TICK_S = 0.02
_KILL_S = 0.8


@frozen(kw_only=True)
class Limits:
    """Seconds until the command is ended (in all, in silence), seconds it then has, bytes kept."""

    timeout_s: float | None
    idle_s: float | None
    grace_s: float
    keep_bytes: int


@frozen(kw_only=True)
class Observed:
    """What one run of a command showed.

    `exit_code` is -N for signal N, None where it could not be learnt. `streams` has ``stdout`` and
    ``stderr``, or ``merged``. Times are seconds; `last_byte_s` counts from the start. `survivors`
    are process numbers that no kill reached.
    """

    exit_code: int | None
    ended_by: Ended
    interrupted: int | None
    streams: Mapping[str, Kept]
    duration_s: float
    silent_s: float
    last_byte_s: Mapping[str, float | None]
    survivors: tuple[int, ...]
    notes: tuple[str, ...]


def observe(
    child: Child,
    offspring: Offspring,
    sinks: Mapping[str, Sink],
    limits: Limits,
    interrupts: Interrupts | None = None,
) -> Observed:
    """Watch `child` until it has ended or was ended, and everything it printed is taken.

    `sinks` are the ways out by stream name. Signals posted to `interrupts` go to the child's
    group, and all of it then has `grace_s` to end, as after a limit. Any exception (a
    KeyboardInterrupt) ends it before it goes on.
    """
    watch = _Watch(child, offspring, sinks, limits, interrupts)
    try:
        watch.run()
        return watch.result()
    except BaseException as error:
        watch.abandon(signal.SIGINT if isinstance(error, KeyboardInterrupt) else signal.SIGTERM)
        raise
    finally:
        child.reap()
        offspring.reap_adopted()
        child.close()


class _Watch:
    """The state of one watch; `run` is the loop, `_step` decides, the rest moves bytes."""

    def __init__(
        self,
        child: Child,
        offspring: Offspring,
        sinks: Mapping[str, Sink],
        limits: Limits,
        interrupts: Interrupts | None,
    ) -> None:
        self.child = child
        self.offspring = offspring
        self.limits = limits
        self.interrupts = interrupts
        self.streams = Streams(child.streams, sinks, limits.keep_bytes)
        self.start = child.born
        self.phase: Literal["running", "ending", "lingering", "over"] = "running"
        self.ended_by: Ended = "itself"
        self.interrupted: int | None = None
        self.exited_at: float | None = None
        self.give_up_at = 0.0
        self.look_at = 0.0
        self.all_asked = False
        self.silent_s = 0.0
        self.survivors: tuple[int, ...] = ()

    def run(self) -> None:
        while self.phase != "over":
            self.streams.wait(self._due(time.monotonic()), self._others())
            self._hear()
            self._step(time.monotonic())
        self.streams.eager = True
        self.streams.drain()
        self._hand_out()

    def result(self) -> Observed:
        finished = self.exited_at if self.exited_at is not None else time.monotonic()
        return Observed(
            exit_code=self.child.reap(),
            ended_by=self.ended_by,
            interrupted=self.interrupted,
            streams=self.streams.kept(),
            duration_s=finished - self.start,
            silent_s=self.silent_s,
            last_byte_s=self.streams.last_bytes(self.start),
            survivors=self.survivors,
            notes=tuple(self._notes()),
        )

    def abandon(self, signum: int) -> None:
        """End the command because we can't go on watching it: as after a limit, unread."""
        try:
            self.offspring.send(signum)
            until = time.monotonic() + self.limits.grace_s
            while time.monotonic() < until and self.offspring.living():
                time.sleep(_TICK_S)
        finally:
            self.offspring.kill(_KILL_S)

    # --- deciding ----------------------------------------------------------------------------

    def _step(self, now: float) -> None:
        if self.exited_at is None and self.child.exited():
            self.exited_at = now
        if self.phase == "running":
            if self.exited_at is not None:
                self.silent_s = max(0.0, now - self._last_byte())
                self.phase = "lingering"
            elif self.limits.timeout_s is not None and now >= self.start + self.limits.timeout_s:
                self._end("limit", signal.SIGTERM, now)
            elif now >= self._idle_at():
                self._end("idle", signal.SIGTERM, now)
        elif self.phase == "ending":
            self._step_ending(now)
        # In the same step: with nothing left to read, nothing would wake us.
        if self.phase == "lingering":
            waited = now >= self._linger_until() and not self.streams.reader_is_slow
            if not self.streams.open or waited:
                self.phase = "over"

    def _step_ending(self, now: float) -> None:
        if now >= self.give_up_at:
            self.survivors = self.offspring.kill(_KILL_S)
            self.phase = "over"
        elif now >= self.look_at:
            self.look_at = now + _LOOK_S
            if self.exited_at is None:
                return
            if not self.offspring.living():
                self.phase = "over"
            elif not self.all_asked:
                # The command heard the signal that was for it; what it leaves behind did not.
                self.all_asked = True
                self.offspring.send(signal.SIGTERM)

    def _end(self, why: Ended, signum: int, now: float) -> None:
        """Ask all of it to end. What it still says in its grace is taken without waiting for us."""
        self.phase = "ending"
        self.streams.eager = True
        self.ended_by = why
        self.silent_s = max(0.0, now - self._last_byte())
        self.give_up_at = now + self.limits.grace_s
        self.look_at = now + _TICK_S
        self.all_asked = why != "signal"
        self.offspring.send(signum, group_only=not self.all_asked)
        # One that is stopped hears nothing before it goes on.
        self.offspring.send(signal.SIGCONT, group_only=True)

    def _hear(self) -> None:
        """Pass a signal to us on to the command; a second one ends its patience."""
        if self.interrupts is None:
            return
        now = time.monotonic()
        for signum in self.interrupts.take():
            if self.interrupted is None:
                self.interrupted = signum
                if self.phase == "running":
                    self._end("signal", signum, now)
                    continue
            if self.phase == "lingering":
                self.phase = "over"
            self.give_up_at = now

    # --- when to look again ------------------------------------------------------------------

    def _due(self, now: float) -> float:
        """Seconds until something is to be done whatever happens."""
        if self.phase == "running":
            due = self._idle_at()
            if self.limits.timeout_s is not None:
                due = min(due, self.start + self.limits.timeout_s)
        elif self.phase == "ending":
            due = min(self.look_at, self.give_up_at)
        else:
            due = now + _TICK_S if self.streams.reader_is_slow else self._linger_until()
        wait = min(due - now, 3600.0)
        if self.child.pidfd < 0 and self.exited_at is None:
            wait = min(wait, _TICK_S)
        return max(wait, 0.0)

    def _idle_at(self) -> float:
        if self.limits.idle_s is None:
            return float("inf")
        if self.streams.reader_is_slow:
            # It is our reader that makes it wait.
            return time.monotonic() + self.limits.idle_s
        return self._last_byte() + self.limits.idle_s

    def _linger_until(self) -> float:
        exited = self.exited_at if self.exited_at is not None else time.monotonic()
        return min(exited + _LINGER_S, max(exited, self._last_byte()) + _QUIET_S)

    def _last_byte(self) -> float:
        last = self.streams.last_byte()
        return self.start if last is None else last

    # --- the end -----------------------------------------------------------------------------

    def _hand_out(self) -> None:
        """Give a slow reader the rest; one that stays away is left after a limit or a signal."""
        until = time.monotonic() + self.limits.grace_s
        while self.streams.reader_is_slow:
            patient = self.ended_by == "itself" and self.interrupted is None
            if not patient and time.monotonic() >= until:
                return
            self.streams.wait(_LOOK_S, self._others())
            self._hear()

    def _others(self) -> list[int]:
        """What else wakes the loop: the end of the command, a signal to us."""
        others = [] if self.interrupts is None else [self.interrupts.fd]
        if self.child.pidfd >= 0 and self.exited_at is None:
            others.append(self.child.pidfd)
        return others

    def _notes(self) -> list[str]:
        notes = self.streams.notes()
        if self.ended_by == "itself" and self.streams.open:
            notes.append(
                "the output was held open by a process that went on after the command: "
                "what it printed later is not here"
            )
        if self.survivors:
            numbers = ", ".join(map(str, self.survivors))
            notes.append(f"could not be ended: process {numbers}")
        return notes
