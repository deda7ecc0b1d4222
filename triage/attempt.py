"""One start of a command: from its options to a capture of what it did."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from triage.again import Again
from triage.bundle import bundle
from triage.errors import CommandStartError
from triage.frozen import frozen
from triage.interrupts import Interrupts
from triage.model import Capture, Effect
from triage.offspring import MARK, Offspring, become_subreaper, children_of_ours, new_mark
from triage.passthrough import Sink
from triage.process import Launch, kind_of_stdin, start
from triage.run_options import RunOptions
from triage.watch import Limits, Observed, observe

__all__ = ["Started", "start_once"]

TIMED_OUT = 124
_HANGUP = 129


@frozen(kw_only=True)
class Started:
    """A capture, and of its observation what a capture has no key for (see `triage.outcome`)."""

    capture: Capture
    exit_status: int
    ended_by: str
    started_at: str
    last_byte_s: Mapping[str, float | None]
    survivors: tuple[int, ...]


def start_once(
    options: RunOptions,
    again: Again,
    *,
    effect: Effect,
    number: int,
    sinks: tuple[Sink, Sink],
    bundles: Mapping[str, Any],
    extra_env: Mapping[str, str],
    interrupts: Interrupts | None,
) -> Started:
    """Start the command as `again` says, watch it to its end, and capture it.

    `bundles` is the table's ``bundle.yaml``, `extra_env` what the verdict's action sets. A command
    that can't be started gives a capture too, with the shell's status and words. Raises
    `UsageError` as `triage.process.start` does.
    """
    env = options.environment()
    timeout_s, pty, stdin = options.timeout_s, options.pty, options.stdin
    if again.how == "bundle":
        laid = bundle(options.words, data=bundles)
        env.update(laid.env)
        # The bundle takes the terminal away, and gives no more time than the caller did.
        timeout_s = min(timeout_s or laid.timeout_s, laid.timeout_s)
        pty, stdin = False, "null"
    env.update(extra_env)
    strangers: frozenset[int] = frozenset()
    adopts = options.exclusive and become_subreaper()
    if adopts:
        strangers = children_of_ours()
    else:
        env[MARK] = new_mark(env.get(MARK))
    launch = Launch(
        argv=options.words,
        env=env,
        cwd=None if options.cwd is None else os.fspath(options.cwd),
        stdin=stdin,
        pty=pty,
        share_fds=options.exclusive,
    )
    limits = Limits(
        timeout_s=timeout_s,
        idle_s=options.idle_timeout_s,
        grace_s=options.grace_s,
        keep_bytes=options.limit_bytes,
    )
    started_at = _now()
    known: dict[str, Any] = {
        "command": options.command,
        "limit_s": timeout_s,
        "idle_limit_s": options.idle_timeout_s,
        "stdin": kind_of_stdin(launch),
        "pty": pty,
        "shell": None if options.shell_line is None else options.shell,
        "cwd": _folder(launch.cwd),
        "effect": effect,
        "attempt": number,
    }
    try:
        child = start(launch)
    except CommandStartError as error:
        from triage.redact import mask

        # Our own words, not the command's: it may be a whole line in the place of a name.
        said = f"triage: {mask(error.where)}: {error.what}\n"
        message = said.encode("utf-8", "surrogateescape")
        sinks[1].offer(message)
        return Started(
            capture=Capture(exit_code=error.status, stderr=message, duration_s=0.0, **known),
            exit_status=error.status,
            ended_by="not started",
            started_at=started_at,
            last_byte_s={},
            survivors=(),
        )
    offspring = Offspring(child.pid, mark=env.get(MARK), adopts=adopts, strangers=strangers)
    by_name = {"stdout": sinks[0], "merged": sinks[0], "stderr": sinks[1]}
    seen = observe(child, offspring, by_name, limits, interrupts)
    return Started(
        capture=_capture(seen, known),
        exit_status=_status(seen),
        ended_by=seen.ended_by,
        started_at=started_at,
        last_byte_s=seen.last_byte_s,
        survivors=seen.survivors,
    )


def _capture(seen: Observed, known: Mapping[str, Any]) -> Capture:
    cuts = tuple(
        {"stream": name, "at": kept.cut.at, "bytes": kept.cut.missing}
        for name, kept in seen.streams.items()
        if kept.cut is not None
    )
    lost = tuple(
        f"{name}: not all was kept: {kept.lost}"
        for name, kept in seen.streams.items()
        if kept.lost is not None
    )
    sources: dict[str, Any] = {name: kept.source for name, kept in seen.streams.items()}
    return Capture(
        # A -1 would be read as "no status": others write it so.
        exit_code=_HANGUP if seen.exit_code == -1 else seen.exit_code,
        timed_out=seen.ended_by in ("limit", "idle"),
        duration_s=round(seen.duration_s, 6),
        silent_s=round(seen.silent_s, 6),
        truncated=cuts,
        warnings=(*seen.notes, *lost),
        **sources,
        **known,
    )


def _status(seen: Observed) -> int:
    """The status a shell would show; 255 where nobody knows it, because 0 would be a lie."""
    if seen.ended_by in ("limit", "idle"):
        return TIMED_OUT
    if seen.exit_code is None:
        return 255
    return 128 - seen.exit_code if seen.exit_code < 0 else seen.exit_code & 0xFF


def _folder(cwd: str | None) -> str | None:
    try:
        return os.path.abspath(cwd or ".")  # noqa: PTH100 - pathlib costs start-up time
    except OSError:
        # The folder we stand in was removed; what needs none runs all the same.
        return None


def _now() -> str:
    """UTC in ISO 8601, to the millisecond; `datetime` would cost 5 ms of start-up."""
    now = time.time()
    shown = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    return f"{shown}.{int(now * 1000) % 1000:03d}+00:00"
