"""`triage agent`: was this agent run what its exit status says?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triage.border import masked_verdict
from triage.cli import options as opt
from triage.cli.output import finish, guarded, machine_wanted, say_json
from triage.cli.status import AGENT_STATUS, ExitStatus
from triage.errors import UsageError
from triage.model import Capture, Verdict
from triage.redact import mask, mask_data
from triage.text import printable

if TYPE_CHECKING:
    from triage.agents import AgentVerdict
    from triage.outcome import Outcome
    from triage.table import Table

__all__ = ["agent"]


def agent(
    stream: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE | -- CMD...]", help="A captured stream (- is stdin), or CMD."
        ),
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="F", help="Whose stream it is, if not told.")
    ] = None,
    exit: opt.ExitOption = None,
    stderr: opt.StderrOption = None,
    timed_out: opt.TimedOutOption = False,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="S", help="End CMD after S seconds.")
    ] = None,
    exit_zero: Annotated[
        bool, typer.Option("--exit-zero", help="End with 0 whatever the verdict (eval harnesses).")
    ] = False,
    probe: Annotated[
        str | None, typer.Option("--probe", metavar="URL", help="With --web: probe the preview.")
    ] = None,
    web: Annotated[
        bool, typer.Option("--web", help="This was a web turn; without it nothing is probed.")
    ] = False,
    audit: opt.AuditOption = None,
    rules: opt.RulesOption = None,
    json: opt.JsonOption = False,
    as_command: Annotated[bool, typer.Option("--as-command", hidden=True)] = False,
) -> None:
    """Judge a run of an agent CLI: ok, agent_no_output, agent_error or nonzero_exit.

    The verdict stands on stderr in one line, and is the exit status (90, 91, 92) unless
    --exit-zero is given. With --json the whole metrics block is kept.

    Example: claude -p --output-format stream-json --verbose 'fix it' >run.jsonl; triage agent
    run.jsonl --exit $?
    """
    status = guarded(
        json,
        lambda: _agent(
            stream or [], format, exit, stderr, timed_out, timeout, exit_zero, probe, web, audit,
            rules, machine_wanted(json), as_command,
        ),
    )  # fmt: skip
    finish(status)


def _agent(
    words: list[str],
    format: str | None,
    exit: str | None,
    stderr: str | None,
    timed_out: bool,
    timeout: float | None,
    exit_zero: bool,
    probe: str | None,
    web: bool,
    audit: str | None,
    rules: str | None,
    machine: bool,
    as_command: bool,
) -> int:
    if probe is not None and not web:
        raise UsageError("--probe", "a probe is for web turns only", "add --web")
    if web and probe is None:
        raise UsageError("--web", "there is nothing to probe", "add --probe URL")
    table = opt.table_for(rules)
    if as_command:
        if exit is not None or stderr is not None:
            raise UsageError("--exit", "the command's own status counts", "leave it out")
        outcome = _run_agent(words, timeout, machine, table)
        capture = outcome.captures[-1]
    else:
        if len(words) > 1:
            raise UsageError(words[1], "two streams", "judge one at a time; a command needs --")
        capture = _captured(words[0] if words else "-", exit, stderr, timed_out)
    judged, verdict = _judged(capture, format, table)
    status = int(ExitStatus.OK if exit_zero else AGENT_STATUS[judged.verdict])
    preview = _preview(probe, audit) if probe is not None else None
    if preview is not None and preview["verdict"] != "ok" and status == ExitStatus.OK:
        status = int(ExitStatus.OK if exit_zero else ExitStatus.PREVIEW_ERROR)
    data = {**mask_data(judged.to_dict()), "triage": masked_verdict(verdict)}
    if preview is not None:
        data["preview"] = preview
    if machine:
        say_json(data)
    else:
        _card(data)
    sys.stderr.write(printable(mask(judged.line())) + "\n")
    if audit:
        opt.record_audit(audit, judged, capture.command, capture.exit_code)
    return status


def _captured(source: str, exit: str | None, stderr: str | None, timed_out: bool) -> Capture:
    """The captured run; a stream on stdin is spooled, because it is read twice."""
    if source == "-":
        import shutil
        import tempfile

        with tempfile.NamedTemporaryFile(prefix="triage-", delete=False) as spool:
            shutil.copyfileobj(sys.stdin.buffer, spool, 1 << 20)
        path = Path(spool.name)
        # Ours alone, and gone when we are.
        import atexit

        atexit.register(path.unlink, missing_ok=True)
    else:
        path = opt.existing_file("FILE", source)
    return Capture(
        exit_code=None if exit is None else opt.exit_status(exit),
        stdout=path,
        stderr="" if stderr is None else opt.existing_file("--stderr", stderr),
        timed_out=timed_out,
    )


def _run_agent(words: list[str], timeout: float | None, machine: bool, table: Table) -> Outcome:
    from triage.run import run as run_command

    return run_command(
        words or None,
        timeout_s=timeout,
        retry=False,
        passthrough=not machine,
        table=table,
        exclusive=True,
        effect="mutating",
    )


def _judged(capture: Capture, format: str | None, table: Table) -> tuple[AgentVerdict, Verdict]:
    from dataclasses import replace

    from triage.engine import classify
    from triage.judge import judge_run
    from triage.text import read_stream

    command = capture.command
    if format is None and command is not None:
        from triage.agents.detect import invoked
        from triage.command import parse_command

        final = parse_command(command).final
        known = invoked(final) if final is not None else None
        format = known.id if known is not None else None
    errors = read_stream("stderr", capture.stderr, head=1 << 20, tail=1 << 20).text
    judged = judge_run(
        capture.stdout,
        exit_code=capture.exit_code,
        stderr=errors,
        format=format,
        timed_out=capture.timed_out,
        table=table,
    )
    if command is None and format is not None:
        # A format that was given is what the command would have told.
        capture = replace(capture, command=_call_of(judged.run.format, table))
    return judged, classify(capture, table)


def _call_of(format_id: str, table: Table) -> tuple[str, ...] | None:
    """A command that starts this agent CLI as a run."""
    from triage.agents import load_formats

    formats = load_formats(table.section("agents"), key=table.hash)
    found = next((item for item in formats.all if item.id == format_id and item.programs), None)
    if found is None:
        return None
    return (found.programs[0], *sorted(found.run_words)[:1], *sorted(found.run_flags)[:1])


def _preview(url: str, audit: str | None) -> dict[str, Any]:
    from triage.probe import probe

    result = probe(url)
    if audit:
        opt.record_audit(audit, result, None, None)
    masked: dict[str, Any] = mask_data(result.to_dict())
    return masked


def _card(data: dict[str, Any]) -> None:
    from triage.cli.output import say

    shown = data["verdict"] if data["verdict"] == "ok" else f"{data['verdict']} ({data['subtype']})"
    say(f"{shown}: {data['why']}")
    counts = data["counts"]
    say(
        f"  {data['format']}: {counts['texts']} texts, {counts['tool_calls']} tool calls, "
        f"{counts['errors']} errors, {counts['lines']} lines"
    )
    verdict = data["triage"]
    mode = f", §{verdict['mode']}" if verdict["mode"] else ""
    row = f"row {verdict['row']}" if verdict["row"] else "no row"
    say(f"  {row}{mode}, rule {verdict['rule']}")
    if verdict["verdict"] != "not_failure":
        say(f"  do: {verdict['action']['text']}")
    if data["flags"]:
        say(f"  flags: {', '.join(data['flags'])}")
    if data.get("preview"):
        say(f"  preview: {data['preview']['verdict']}")
