"""Captures in, verdicts out: what `triage classify` does once its arguments are read.

The usual words of `triage classify` come here without typer, whose import costs more than the rest
of the process.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from triage.border import dump, error_envelope, line_of, masked_verdict
from triage.cli.flags import flag_capture, one_format, read_words
from triage.cli.inputs import captures_in, record_audit, table_for
from triage.cli.output import machine_wanted, notice, reader_gone, say, say_json, told
from triage.cli.status import VERDICT_STATUS, ExitStatus, read_status
from triage.engine import classify
from triage.errors import CaptureError, TriageError, UsageError
from triage.model import Capture, Verdict
from triage.table import Table

__all__ = ["Showing", "allowed_tier", "classify_asked", "classify_words", "judge"]

# What says how to answer, and not what was captured.
_HOW = ("json", "line", "exit_code", "audit", "tier", "rules", "state")


class Showing(NamedTuple):
    """How verdicts leave: the format, whether the verdict is the exit status, the audit file.

    `memory` (a `triage.repeats.Repeats`) tells captures what went before them, and remembers them.
    """

    machine: bool
    line: bool = False
    exit_code: bool = False
    audit: str | None = None
    tier: Any = None
    memory: Any = None


def classify_asked(
    files: Sequence[str],
    flags: Mapping[str, Any],
    *,
    json: bool = False,
    line: bool = False,
    exit_code: bool = False,
    audit: str | None = None,
    tier: str | None = None,
    rules: str | None = None,
    state: bool = False,
) -> int:
    """Do what `triage classify` was asked for; returns the exit status, raises `TriageError`.

    `flags` are those that describe a capture (see `triage.cli.flags`).
    """
    one_format(json, line)
    capture = flag_capture(flags)
    if capture is not None and files:
        raise UsageError(files[0], "both flags and files", "give one capture by flags, or files")
    captures = iter([capture]) if capture is not None else captures_in(list(files))
    machine = machine_wanted(json) and not line
    memory = None
    if state:
        from triage.repeats import Repeats

        memory = Repeats()
    how = Showing(machine, line, exit_code, audit, allowed_tier(tier), memory)
    return judge(captures, table_for(rules), how)


def classify_words(words: Sequence[str]) -> int | None:
    """Do `triage classify` with the usual words; None where only typer understands them."""
    asked = read_words(words)
    if asked is None:
        return None
    files, given = asked
    how = {name: given.pop(name) for name in _HOW if name in given}
    how.setdefault("audit", os.environ.get("TRIAGE_AUDIT") or None)
    try:
        status = classify_asked(files, given, **how)
        sys.stdout.flush()
    except TriageError as error:
        return told(error, how.get("json", False))
    except BrokenPipeError:
        return reader_gone()
    return status


def judge(captures: Iterator[Capture | CaptureError], table: Table, how: Showing) -> int:
    """Print one verdict for each capture; returns the exit status.

    One capture that can't be read is raised as `CaptureError`; one of several is reported with its
    line and stops nothing: on stderr, and in JSON also in its place on stdout.
    """
    first_two = list(islice(captures, 2))
    single = len(first_two) == 1
    good = bad = 0
    worst = ExitStatus.OK
    if not single:
        # A stream may be long: from here on garbage is looked for again.
        gc.enable()
    for item in chain(first_two, captures):
        if isinstance(item, CaptureError):
            if single:
                raise item
            if how.machine:
                say(dump(error_envelope(item, "CAPTURE_INVALID")))
            notice(str(item))
            bad += 1
            continue
        good += 1
        if how.memory is not None:
            item = how.memory.marked(item)
        verdict = classify(item, table, tier=how.tier)
        if how.memory is not None:
            how.memory.record(item, verdict)
        _show(verdict, single, how)
        if how.audit:
            record_audit(how.audit, verdict, item.command, item.exit_code)
        if how.exit_code:
            worst = max(worst, VERDICT_STATUS[verdict.verdict])
    return read_status(good, bad) or worst


def allowed_tier(text: str | None) -> Any:
    """Read ``--tier``; raises `UsageError`."""
    if text is None:
        return None
    if text.upper() not in ("A", "B", "C"):
        raise UsageError("--tier", f"{text!r} is no tier", "write A, B or C")
    return text.upper()


def _show(verdict: Verdict, single: bool, how: Showing) -> None:
    data = masked_verdict(verdict)
    if how.line:
        say(line_of(data))
    elif how.machine and single:
        say_json(data, warnings=data["warnings"])
    elif how.machine:
        say(dump(data))
    else:
        from triage.cli.card import print_card

        print_card(data)
