"""`triage classify` and `triage explain`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from triage.cli import options as opt
from triage.cli.output import finish, guarded, machine_wanted, say_json
from triage.cli.verdicts import classify_asked
from triage.errors import CaptureError
from triage.model import Capture

__all__ = ["classify", "explain"]

FilesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[FILE]...", help="JSON or NDJSON captures; stdin where none is named."),
]


def classify(
    files: FilesArgument = None,
    exit: opt.ExitOption = None,
    stdout: opt.StdoutOption = None,
    stderr: opt.StderrOption = None,
    merged: opt.MergedOption = None,
    command: opt.CommandOption = None,
    duration: opt.DurationOption = None,
    timed_out: opt.TimedOutOption = False,
    silent: Annotated[
        float | None, typer.Option("--silent", metavar="S", help="Silent for how long at the end.")
    ] = None,
    limit: Annotated[
        float | None, typer.Option("--limit", metavar="S", help="The time limit it ran under.")
    ] = None,
    effect: Annotated[
        str | None,
        typer.Option("--effect", metavar="EFFECT", help="read_only, mutating or unknown."),
    ] = None,
    tier: opt.TierOption = None,
    rules: opt.RulesOption = None,
    json: opt.JsonOption = False,
    line: opt.LineOption = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with 80-82 by verdict instead of 0.")
    ] = False,
    audit: opt.AuditOption = None,
    state: Annotated[
        bool, typer.Option("--state", help="Use and keep the memory of repeats, as run does.")
    ] = False,
) -> None:
    """Tell why a captured call failed and what to do next.

    A capture comes from flags, or as JSON (one object, a list, one object a line) from files or
    stdin. One capture with --json prints an envelope; a stream prints one verdict a line.

    Example: triage classify --exit 127 --stderr err.txt --command 'jqq .'
    """
    flags = {
        "exit": exit, "stdout": stdout, "stderr": stderr, "merged": merged, "command": command,
        "duration": duration, "timed_out": timed_out, "silent": silent, "limit": limit,
        "effect": effect,
    }  # fmt: skip

    def work() -> int:
        return classify_asked(
            files or [],
            flags,
            json=json,
            line=line,
            exit_code=exit_code,
            audit=audit,
            tier=tier,
            rules=rules,
            state=state,
        )

    finish(guarded(json, work))


def explain(
    files: FilesArgument = None,
    exit: opt.ExitOption = None,
    stdout: opt.StdoutOption = None,
    stderr: opt.StderrOption = None,
    merged: opt.MergedOption = None,
    command: opt.CommandOption = None,
    duration: opt.DurationOption = None,
    timed_out: opt.TimedOutOption = False,
    rules: opt.RulesOption = None,
    json: opt.JsonOption = False,
    all_rows: Annotated[
        bool, typer.Option("--all", help="Also the rows that nothing in the capture comes near.")
    ] = False,
) -> None:
    """Say for each row above the winner why it did not match.

    Example: triage explain --exit 1 --stderr err.txt --command 'git push'
    """
    flags = {
        "exit": exit, "stdout": stdout, "stderr": stderr, "merged": merged, "command": command,
        "duration": duration, "timed_out": timed_out,
    }  # fmt: skip
    guarded(json, lambda: _explain(files or [], flags, rules, json, all_rows))


def _explain(
    files: list[str], flags: dict[str, Any], rules: str | None, json: bool, all_rows: bool
) -> None:
    from triage.explain import explain_capture

    table = opt.table_for(rules)
    capture = opt.flag_capture(flags)
    for item in [capture] if capture is not None else opt.captures_in(files):
        if isinstance(item, CaptureError):
            raise item
        assert isinstance(item, Capture)
        report = explain_capture(item, table)
        if machine_wanted(json):
            say_json(report)
            continue
        from triage.cli.card import print_explanation

        print_explanation(report, all_rows)
