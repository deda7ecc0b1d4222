"""Bare `triage`: JSON captures on stdin, one bare verdict a line on stdout; no options at all."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING, BinaryIO, TextIO

from triage.border import dump, error_envelope, masked_verdict
from triage.cache import load_table
from triage.cli.status import ExitStatus, read_status
from triage.cli.std_streams import write_error
from triage.engine import classify
from triage.errors import CaptureError, RuleError
from triage.intake import captures_of
from triage.overlays import find_overlays
from triage.redact import patterns_from

if TYPE_CHECKING:
    from triage.model import Capture, Verdict

__all__ = ["serve"]


def serve(source: BinaryIO, out: BinaryIO, err: TextIO) -> int:
    """Classify every capture of `source` in order; returns the exit status.

    A capture that can't be read gives an error envelope on its line and a message on stderr, and
    stops nothing; the status is 2 where none could be read. A broken rule file gives one error
    envelope and nothing else.
    """
    try:
        table = load_table(overlays=find_overlays())
    except RuleError as error:
        _write(out, dump(error_envelope(error, "RULES_INVALID")))
        write_error(f"triage: {error}\n", err)
        return ExitStatus.RULES
    patterns_from(lambda: table.section("secrets"))
    audit = os.environ.get("TRIAGE_AUDIT")
    good = bad = 0
    try:
        for number, item in enumerate(captures_of(source, "stdin")):
            if number == 1:
                # A stream may be long: from here on garbage is looked for again.
                gc.enable()
            if isinstance(item, CaptureError):
                _write(out, dump(error_envelope(item, "CAPTURE_INVALID")))
                write_error(f"triage: {item}\n", err)
                bad += 1
            else:
                good += 1
                verdict = classify(item, table)
                _write(out, dump(masked_verdict(verdict)))
                if audit:
                    _record(audit, verdict, item, err)
        out.flush()
    except BrokenPipeError:
        # The reader has what it wanted; a half-closed pipe is no error of ours.
        return ExitStatus.OK
    return read_status(good, bad)


def _record(path: str, verdict: Verdict, capture: Capture, err: TextIO) -> None:
    from triage.audit import record_verdict

    done = record_verdict(path, verdict, command=capture.command, exit_code=capture.exit_code)
    if done.warning:
        write_error(f"triage: {done.warning}\n", err)


def _write(out: BinaryIO, text: str) -> None:
    out.write(text.encode() + b"\n")
    out.flush()
