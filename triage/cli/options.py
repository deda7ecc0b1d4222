"""Options that several verbs share, and the capture that flags describe."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from triage.cli.inputs import captures_in, record_audit, table_for
from triage.errors import UsageError
from triage.model import Capture

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


def flag_capture(options: dict[str, Any]) -> Capture | None:
    """Build the capture that the flags describe, None where no flag of a capture was given."""
    fields = {key: value for key, value in options.items() if value not in (None, False, [])}
    if not fields:
        return None
    if "exit" not in fields and not fields.get("timed_out") and "merged" not in fields:
        raise UsageError(
            "--exit", "a capture needs its exit status", "give --exit N, or --exit null"
        )
    streams: dict[str, Any] = {
        key: _stream(f"--{key}", fields[key])
        for key in ("stdout", "stderr", "merged")
        if key in fields
    }
    code = exit_status(fields["exit"]) if "exit" in fields else None
    if "merged" in streams and "exit" not in fields:
        code = _merged_status(streams)
    return Capture(
        exit_code=code,
        command=fields.get("command"),
        timed_out=bool(fields.get("timed_out", False)),
        duration_s=fields.get("duration"),
        silent_s=fields.get("silent"),
        limit_s=fields.get("limit"),
        effect=_effect(fields.get("effect")),
        **streams,
    )


def _stream(option: str, path: str) -> Any:
    return sys.stdin.buffer.read() if path == "-" else existing_file(option, path)


def existing_file(option: str, path: str) -> Path:
    """A path is read later, in windows; it must be there now. Raises `UsageError`."""
    if not os.path.exists(path) or os.path.isdir(path):
        raise UsageError(option, f"no file {path!r}", "name a file that exists, or - for stdin")
    if not os.access(path, os.R_OK):
        raise UsageError(option, f"{path!r} can't be read", "make it readable")
    return Path(path)


def exit_status(text: str) -> int | None:
    """Read ``--exit``; raises `UsageError`."""
    if text.lower() in ("null", "none", "unknown"):
        return None
    try:
        code = int(text[:40], 0)
    except ValueError:
        raise UsageError(
            "--exit",
            f"{text[:40]!r} is no exit status",
            "give a number such as 127, -9 or 0xC0000005",
        ) from None
    return code if len(text) <= 40 else 1 << 62


def one_format(json: bool, line: bool) -> None:
    """Refuse two formats at once; raises `UsageError`."""
    if json and line:
        raise UsageError("--json --line", "two formats at once", "ask for one of them")


def _effect(text: str | None) -> Any:
    if text is None or text in ("read_only", "mutating", "unknown"):
        return text
    raise UsageError("--effect", f"{text!r} is no effect", "write read_only, mutating or unknown")


def _merged_status(streams: dict[str, Any]) -> int | None:
    """The status that a harness wrote into the merged text, None where there is none."""
    from triage.harness_text import status_in
    from triage.text import read_stream

    code, rest = status_in(
        read_stream("merged", streams["merged"], head=1 << 20, tail=1 << 20).text
    )
    if code is not None:
        streams["merged"] = rest
    return code
