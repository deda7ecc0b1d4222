"""The table and the captures a verb works with; without typer, which costs a start-up."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from triage.cache import load_table
from triage.cli.std_streams import write_error
from triage.errors import CaptureError, UsageError
from triage.model import Capture
from triage.overlays import find_overlays
from triage.table import Table

__all__ = ["captures_in", "mask_by", "record_audit", "table_for", "unmasking_table_for"]


def table_for(rules: str | None) -> Table:
    """Load the table a verb works with: ``--rules DIR`` alone, or ours with the overlays."""
    table = unmasking_table_for(rules)
    mask_by(table)
    return table


def unmasking_table_for(rules: str | None) -> Table:
    """`table_for` for a verb that mostly says nothing; `mask_by` comes before its first word."""
    if rules is not None:
        if not os.path.isdir(rules):
            raise UsageError(
                "--rules", f"no folder {rules!r}", "name a folder laid out like rules/"
            )
        return load_table(rules)
    return load_table(overlays=find_overlays())


def mask_by(table: Table) -> None:
    """Mask what leaves this process with the secret patterns of `table`."""
    from triage.redact import patterns_from

    patterns_from(lambda: table.section("secrets"))


def captures_in(files: list[str]) -> Iterator[Capture | CaptureError]:
    """Yield the captures of the files named, or of stdin where none is."""
    from triage.intake import captures_of

    if not files:
        if sys.stdin.isatty():
            raise UsageError(
                "stdin", "nothing to classify", "give --exit N, a file, or pipe JSON in"
            )
        yield from captures_of(sys.stdin.buffer, "stdin")
        return
    for name in files:
        if name == "-":
            yield from captures_of(sys.stdin.buffer, "stdin")
            continue
        try:
            with open(name, "rb") as file:
                yield from captures_of(file, name)
        except OSError as error:
            raise UsageError(name, f"can't be read: {error.strerror}", "name a JSON file") from None


def record_audit(path: str, verdict: Any, command: Any, exit_code: int | None) -> None:
    """Append one audit event where `verdict` tells of a failure; trouble is a notice, no error."""
    from triage.audit import record_verdict

    done = record_verdict(path, verdict, command=command, exit_code=exit_code)
    if done.warning:
        write_error(f"triage: {done.warning}\n")
