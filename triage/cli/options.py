"""Options that several verbs share."""

from __future__ import annotations

from typing import Annotated

import typer

from triage.cli.flags import existing_file, exit_status, flag_capture, one_format
from triage.cli.inputs import captures_in, record_audit, table_for

__all__ = [
    "AuditOption",
    "CommandOption",
    "DurationOption",
    "ExitOption",
    "JsonOption",
    "LineOption",
    "MergedOption",
    "RulesOption",
    "StderrOption",
    "StdoutOption",
    "TierOption",
    "TimedOutOption",
    "captures_in",
    "existing_file",
    "exit_status",
    "flag_capture",
    "one_format",
    "record_audit",
    "table_for",
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print the JSON envelope.")]
LineOption = Annotated[bool, typer.Option("--line", help="Print one frozen line per verdict.")]
RulesOption = Annotated[
    str | None,
    typer.Option("--rules", metavar="DIR", help="Use this rules folder instead of the built-in."),
]
AuditOption = Annotated[
    str | None,
    typer.Option(
        "--audit", metavar="FILE", envvar="TRIAGE_AUDIT", help="Append one event per failure there."
    ),
]
TierOption = Annotated[
    str | None,
    typer.Option("--tier", metavar="A|B|C", help="Highest capability of the caller (default C)."),
]
ExitOption = Annotated[
    str | None,
    typer.Option("--exit", metavar="N", help="Exit status: a number, -n for a signal, or null."),
]
StdoutOption = Annotated[
    str | None, typer.Option("--stdout", metavar="FILE", help="File with stdout (- is stdin).")
]
StderrOption = Annotated[
    str | None, typer.Option("--stderr", metavar="FILE", help="File with stderr (- is stdin).")
]
MergedOption = Annotated[
    str | None,
    typer.Option("--merged", metavar="FILE", help="File with both streams as one text."),
]
CommandOption = Annotated[
    str | None, typer.Option("--command", metavar="LINE", help="The command line as it was run.")
]
DurationOption = Annotated[
    float | None, typer.Option("--duration", metavar="S", help="How long it took, in seconds.")
]
TimedOutOption = Annotated[bool, typer.Option("--timed-out", help="It was killed by a time limit.")]
