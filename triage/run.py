"""`run`: execute one command under capture, classify it, and retry where that is safe.

The command runs in its own session without a terminal, its output passes through unchanged while
it is captured, and no limit is overrun by something that will not end. A call that may change
something is started once, whatever comes out of it.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from triage.again import Again, next_start
from triage.attempt import start_once
from triage.errors import UsageError
from triage.frozen import replaced
from triage.interrupts import Interrupts
from triage.model import Capture, Verdict
from triage.outcome import Attempt, Outcome
from triage.passthrough import sinks_for
from triage.run_options import RunOptions, run_options

if TYPE_CHECKING:
    from typing import Unpack

    from triage.effects import EffectResult
    from triage.run_options import Options

__all__ = ["arun", "run"]

_TICK_S = 1.0


def run(argv: Sequence[str] | None = None, **options: Unpack[Options]) -> Outcome:
    """Run one command under capture; return every start of it and the verdict.

    `argv` is the program and its arguments; `shell_line` instead is a line for `shell` (bash).
    Limits are seconds: `timeout_s` in all and `idle_timeout_s` without output (None: no limit);
    then comes TERM, `grace_s` (3) and KILL. Of each stream `limit_bytes` (2 MiB) are kept, half
    from either end.

    `stdin` is "null", "inherit", a path, a descriptor or a file. `pty` gives the command a
    terminal; both streams are then one. `env` is added to ours, None takes a variable away.
    `passthrough` True hands the output on to our own stdout and stderr, a pair to descriptors or
    objects with `write`; `on_stdout` sees each piece of stdout as it comes. `effect` is what the
    caller knows; else rules/effects.yaml decides.

    `retry` allows what is safe (`triage.again`). All waits together stay within `max_wait_s` (60);
    `on_wait(seconds_left, why)` is called about once a second meanwhile, and with 0 when a wait is
    over. `state` remembers failures from run to run. `tier`, `table` and `classify` are those of
    the engine.

    `exclusive` says that this process does nothing but this run, as the command line does: it
    is a child subreaper meanwhile, hands INT, TERM, HUP and QUIT on to the command, and shares its
    inheritable descriptors with it. Otherwise the command's environment is marked
    (``TRIAGE_RUN_ID``): that is how what leaves its session is found.

    Raises `UsageError` for options that don't fit and `RuleError` for a broken table, both before
    anything is started. A command that can't be started is an outcome with status 126 or 127.
    """
    checked = run_options(argv, options)
    with _mailbox(checked.exclusive) as interrupts:
        return _outcome(checked, interrupts)


async def arun(argv: Sequence[str] | None = None, **options: Unpack[Options]) -> Outcome:
    """`run` for asyncio: same options, same outcome, in a thread of its own.

    A cancelled `arun` ends the command as a TERM would, and is over when the command is.
    `on_wait` and writers are called in that thread; `exclusive` is for `run` alone.
    """
    import asyncio
    import signal
    from concurrent.futures import ThreadPoolExecutor

    checked = run_options(argv, options)
    if checked.exclusive:
        raise UsageError("exclusive", "a thread receives no signals", "use run in the main thread")
    interrupts = Interrupts()
    executor = ThreadPoolExecutor(1, thread_name_prefix="triage.arun")
    try:
        done = asyncio.wrap_future(executor.submit(_outcome, checked, interrupts))
        try:
            return await asyncio.shield(done)
        except asyncio.CancelledError:
            interrupts.post(signal.SIGTERM)
            await asyncio.wait([done])
            raise
    finally:
        # Closing waits for the thread, which reads the mailbox up to its last moment.
        executor.shutdown()
        interrupts.close()


def _outcome(options: RunOptions, interrupts: Interrupts | None) -> Outcome:
    return _Run(options, interrupts).outcome()


@contextmanager
def _mailbox(exclusive: bool) -> Iterator[Interrupts | None]:
    if not exclusive:
        yield None
        return
    from triage.offspring import become_subreaper, is_subreaper

    was = is_subreaper()
    interrupts = Interrupts()
    try:
        with interrupts.listening():
            yield interrupts
    finally:
        interrupts.close()
        if not was:
            # Whoever runs on after us must not collect orphans it knows nothing of.
            become_subreaper(False)


class _Run:
    """One run from its options to its outcome: start, classify, remember, perhaps start again."""

    def __init__(self, options: RunOptions, interrupts: Interrupts | None) -> None:
        if not hasattr(os, "setsid"):
            raise UsageError(
                "run", "this system has no process groups", "capture the call and classify it"
            )
        self.options = options
        self.interrupts = interrupts
        if options.table is None:
            from triage.cache import load_table

            self.table = load_table()
        else:
            self.table = options.table
        self.effect = self._effect()
        self.sinks = sinks_for(options.passthrough)
        self.sinks[0].tap = options.on_stdout
        self.attempts: list[Attempt] = []
        self.waited_s = 0.0

    def outcome(self) -> Outcome:
        step: Again | str = Again("first", 0.0, "")
        while isinstance(step, Again):
            if step.wait_s and not self._wait(step):
                step = "a signal ended the wait"
                break
            self._start(step)
            step = self._next()
        last = self.attempts[-1]
        done = _done(self.attempts, step)
        verdict = replaced(last.verdict, retry=replaced(last.verdict.retry, why=done))
        signum = self.interrupts.first if self.interrupts is not None else None
        out = self.sinks[0]
        return Outcome(
            attempts=(*self.attempts[:-1], replaced(last, verdict=verdict)),
            verdict=verdict,
            effect=self.effect.effect,
            effect_why=self.effect.why,
            exit_status=last.exit_status if signum is None else 128 + signum,
            interrupted=signum,
            done=done,
            unwritten=None if out.gone else out.broken,
        )

    def _effect(self) -> EffectResult:
        from triage.command import parse_command
        from triage.effects import effect_of

        line = parse_command(self.options.command)
        return effect_of(line, self.options.effect, self.table.effects)

    def _start(self, step: Again) -> None:
        changes = step.how in ("bundle", "env") and self.attempts
        started = start_once(
            self.options,
            step,
            effect=self.effect.effect,
            number=len(self.attempts) + 1,
            sinks=self.sinks,
            bundles=self.table.bundles,
            extra_env=self.attempts[-1].verdict.action.env if changes else {},
            interrupts=self.interrupts,
        )
        capture = self._remembering(started.capture)
        verdict = self._classify(capture)
        if self.options.state is not None and not self._interrupted:
            self.options.state.record(capture, verdict)
        self.attempts.append(
            Attempt(
                number=len(self.attempts) + 1,
                how=step.how,
                capture=capture,
                verdict=verdict,
                exit_status=started.exit_status,
                ended_by=started.ended_by,
                started_at=started.started_at,
                waited_s=step.wait_s,
                last_byte_s=started.last_byte_s,
                survivors=started.survivors,
            )
        )

    def _classify(self, capture: Capture) -> Verdict:
        if self.options.classify is not None:
            return self.options.classify(capture)
        from triage.engine import classify

        return classify(capture, self.table, tier=self.options.tier)

    def _remembering(self, capture: Capture) -> Capture:
        """Tell the capture what went before: earlier runs, then earlier starts of this one."""
        from triage.repeats import entry

        own = tuple(entry(attempt.capture, attempt.verdict) for attempt in self.attempts)
        earlier = () if self.options.state is None or own else self.options.state.streak(capture)
        if self.attempts:
            # The first start has looked; what it found still holds.
            first = self.attempts[0].capture
            earlier = first.previous
        previous = (*earlier, *own)
        return replaced(capture, previous=previous, attempt=len(previous) + 1)

    def _next(self) -> Again | str:
        if self._interrupted:
            return "a signal ended it"
        last = self.attempts[-1]
        if self.sinks[0].broken is not None:
            return "nobody reads its output any more"
        return next_start(
            last.verdict,
            effect=self.effect.effect,
            starts=len(self.attempts),
            bundled=any(attempt.how == "bundle" for attempt in self.attempts),
            waited_s=self.waited_s,
            max_wait_s=self.options.max_wait_s,
            enabled=self.options.retry,
        )

    def _wait(self, step: Again) -> bool:
        """Wait as long as the step says; False when a signal came first."""
        self.waited_s += step.wait_s
        until = time.monotonic() + step.wait_s
        poll = select.poll()
        if self.interrupts is not None:
            poll.register(self.interrupts.fd, select.POLLIN)
        tell = self.options.on_wait
        while not self._interrupted and (left := until - time.monotonic()) > 0:
            if tell is not None:
                tell(left, step.why)
            poll.poll(int(min(left, _TICK_S) * 1000) + 1)
        if tell is not None:
            tell(0.0, step.why)
        return not self._interrupted

    @property
    def _interrupted(self) -> bool:
        return self.interrupts is not None and self.interrupts.first is not None


def _done(attempts: Sequence[Attempt], why_not: str) -> str:
    """How often it was started, how, and why not more often.

    Where the table would allow one more start, that stays true for the caller and is said too.
    """
    words = {"bundle": "inside the non-interactive bundle", "env": "with other variables",
             "wait": "unchanged", "again": "unchanged", "first": ""}  # fmt: skip
    more = [
        f"start {attempt.number} {words[attempt.how]}"
        + (f" after {attempt.waited_s:g} s" if attempt.waited_s else "")
        for attempt in attempts[1:]
    ]
    told = "started once" if len(attempts) == 1 else f"started {len(attempts)} times"
    if more:
        told += f" ({', '.join(more)})"
    retry = attempts[-1].verdict.retry
    if retry.may and why_not != retry.why:
        return f"{told}, not again: {why_not}; left to the caller: {retry.why}"
    return f"{told}; {why_not}"
