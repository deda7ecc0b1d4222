"""Printing: which format the caller wants, and the two ways a verb ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TextIO

from triage.border import dump, envelope, error_envelope
from triage.cli.status import ExitStatus
from triage.cli.std_streams import silence, stdout_fault, write_error
from triage.errors import (
    CaptureError,
    CommandStartError,
    NotFoundError,
    RuleError,
    TriageError,
    UsageError,
)
from triage.redact import mask
from triage.text import printable

__all__ = [
    "Terminal",
    "bug",
    "finish",
    "guarded",
    "machine_wanted",
    "notice",
    "reader_gone",
    "say",
    "say_json",
    "stdout_lost",
    "told",
    "unwritable",
]

_CODES: list[tuple[type[TriageError], str, ExitStatus]] = [
    (RuleError, "RULES_INVALID", ExitStatus.RULES),
    (CaptureError, "CAPTURE_INVALID", ExitStatus.USAGE),
    (NotFoundError, "NOT_FOUND", ExitStatus.NOT_FOUND),
    (UsageError, "ARG_ERROR", ExitStatus.USAGE),
    (CommandStartError, "COMMAND_NOT_STARTED", ExitStatus.FAILED),
]


def machine_wanted(json_option: bool) -> bool:
    """Whether to print the envelope: ``--json``, or TRIAGE_FORMAT=json with stdout piped."""
    asked = os.environ.get("TRIAGE_FORMAT", "").lower() == "json"
    return json_option or (asked and not sys.stdout.isatty())


class Terminal:
    """A rich console that is plain text when piped or under NO_COLOR."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console

        colour = stream.isatty() and not os.environ.get("NO_COLOR")
        width = None if stream.isatty() else 100
        self.console = Console(
            file=stream,
            # None also leaves out what is no colour but an escape all the same (bold, dim).
            color_system="auto" if colour else None,
            highlight=False,
            markup=False,
            width=width,
            soft_wrap=True,
        )

    def print(self, *args: Any, **options: Any) -> None:
        self.console.print(*args, **options)


def say(text: str) -> None:
    """Write one text to stdout with what it must not hold (surrogates) replaced."""
    sys.stdout.write(printable(text) + "\n")


def say_json(
    data: Any, *, warnings: Sequence[str] = (), meta: Mapping[str, Any] | None = None
) -> None:
    """Write one response envelope to stdout."""
    say(dump(envelope(data, warnings=warnings, meta=meta), pretty=sys.stdout.isatty()))


def notice(text: str) -> None:
    """Write one line for people to stderr."""
    write_error(f"triage: {printable(mask(text))}\n")


def finish(status: int) -> NoReturn:
    """End the verb with `status`."""
    import typer

    raise typer.Exit(int(status))


def reader_gone() -> int:
    """Nothing more can be said: the reader of stdout went away; returns the exit status, 0."""
    silence(sys.stdout)
    return ExitStatus.OK


def unwritable(error: OSError) -> int | None:
    """Say that stdout takes nothing; returns the exit status, None where `error` is another."""
    fault = stdout_fault(error)
    return None if fault is None else stdout_lost(fault)


def stdout_lost(fault: str) -> int:
    """Say that what was asked for could not be written; returns the exit status."""
    write_error(f"triage: stdout: can't be written: {fault}; make room, or name another place\n")
    return ExitStatus.FAILED


def told(error: TriageError, json_option: bool) -> int:
    """Say one of our errors: one message, one envelope where wanted; returns the exit status."""
    code, status = next(
        ((code, status) for kind, code, status in _CODES if isinstance(error, kind)),
        ("ERROR", ExitStatus.FAILED),
    )
    if machine_wanted(json_option):
        say(dump(error_envelope(error, code), pretty=sys.stdout.isatty()))
    notice(str(error))
    for issue in getattr(error, "issues", ())[1:20]:
        notice(str(issue))
    return int(status)


def bug(error: Exception) -> int:
    """Say that triage itself broke; returns the exit status."""
    from contextlib import suppress

    if isinstance(error, OSError):
        status = unwritable(error)
        if status is not None:
            return status
    said = "its message could not be masked"
    with suppress(Exception):  # what is broken may be the masking
        said = printable(mask(str(error)))
    write_error(f"triage: a bug in triage itself: {type(error).__name__}: {said}\n")
    return ExitStatus.FAILED


def guarded(json_option: bool, work: Callable[[], Any]) -> Any:
    """Run `work`; one of our errors becomes one message, one envelope and a documented status."""
    try:
        return work()
    except TriageError as error:
        status = told(error, json_option)
    return finish(status)
