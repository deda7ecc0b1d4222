"""`triage agent`: was this agent run what its exit status says?"""

from __future__ import annotations

import sys
from io import IOBase
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triage.border import masked_verdict
from triage.cli import options as opt
from triage.cli.output import finish, guarded, machine_wanted, say, say_json
from triage.cli.status import AGENT_STATUS, ExitStatus
from triage.cli.std_streams import write_error
from triage.engine import classify
from triage.errors import UsageError
from triage.model import Capture, Verdict
from triage.redact import mask, mask_data
from triage.text import printable

if TYPE_CHECKING:
    from triage.agents import AgentVerdict
    from triage.probe import ProbeResult
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
        str | None,
        typer.Option("--format", metavar="F", help="Whose stream: codex … (default: detected)."),
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
    --exit-zero is given; the summary before it stands on stdout, with CMD on stderr. With --json
    the whole metrics block is kept.

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
        for option, given in (
            ("--exit", exit is not None),
            ("--stderr", stderr is not None),
            ("--timed-out", timed_out),
        ):
            if given:
                raise UsageError(option, "what the command does counts", "leave it out")
        capture, judged = _watched(words, format, timeout, machine, table)
    else:
        if timeout is not None:
            raise UsageError("--timeout", "a captured stream has ended", "give it to a command")
        if len(words) > 1:
            raise UsageError(words[1], "two streams", "judge one at a time; a command needs --")
        capture = _captured(words[0] if words else "-", exit, stderr, timed_out)
        judged = _judged(capture, format, table)
    verdict = classify(capture, table, agent=judged.run)
    status = AGENT_STATUS[judged.verdict]
    data = {**mask_data(judged.to_dict()), "triage": masked_verdict(verdict)}
    line = judged.line()
    if probe is not None:
        preview = _preview(probe, audit)
        data["preview"] = mask_data(preview.to_dict())
        if not preview.ok:
            status = status or ExitStatus.PREVIEW_ERROR
            line = _line_with(preview, judged)
    if machine:
        say_json(data)
    elif as_command:
        # stdout is the command's.
        write_error(printable(_card(data)) + "\n")
    else:
        say(_card(data))
    write_error(printable(mask(line)) + "\n")
    if audit:
        _record(audit, judged, verdict, capture)
    return int(ExitStatus.OK if exit_zero else status)


def _line_with(preview: ProbeResult, judged: AgentVerdict) -> str:
    """The one line: what the status says comes first, the other after it."""
    run = judged.line()
    page = f"preview_error ({preview.check}): {preview.url}: {preview.why}"
    if judged.verdict != "ok":
        return f"{run}; {page}"
    return f"triage agent: {page}; the run: {run.removeprefix('triage agent: ')}"


def _record(audit: str, judged: AgentVerdict, verdict: Verdict, capture: Capture) -> None:
    """Append the failed turn, with the row and the mode of the table's verdict on it."""
    if judged.verdict == "ok":
        return
    from triage.audit import record

    done = record(
        audit,
        "agent.turn_failed",
        verdict={
            **judged.to_dict(),
            "rule": verdict.rule,
            "row": verdict.row,
            "mode": verdict.mode,
            "cause": None,
        },
        command=capture.command,
        exit_code=capture.exit_code,
    )
    if done.warning:
        write_error(f"triage: {done.warning}\n")


def _captured(source: str, exit: str | None, stderr: str | None, timed_out: bool) -> Capture:
    """The captured run; a stream on stdin goes to a nameless file, because it is read twice."""
    stdout: Any
    code = None if exit is None else opt.exit_status(exit)
    errors = "" if stderr is None else opt.existing_file("--stderr", stderr)
    if source == "-":
        import shutil
        import tempfile

        stdout = tempfile.TemporaryFile(prefix="triage-")  # noqa: SIM115 - the capture holds it
        shutil.copyfileobj(sys.stdin.buffer, stdout, 1 << 20)
        stdout.seek(0)
    else:
        stdout = opt.existing_file("FILE", source)
    return Capture(exit_code=code, stdout=stdout, stderr=errors, timed_out=timed_out)


def _judged(capture: Capture, format: str | None, table: Table) -> AgentVerdict:
    from triage.judge import judge_run

    judged = judge_run(
        capture.stdout,
        exit_code=capture.exit_code,
        stderr=_errors(capture),
        format=format,
        timed_out=capture.timed_out,
        table=table,
    )
    if isinstance(capture.stdout, IOBase):
        capture.stdout.seek(0)
    return judged


def _watched(
    words: list[str], format: str | None, timeout: float | None, machine: bool, table: Table
) -> tuple[Capture, AgentVerdict]:
    """Run the agent; it is judged as it goes on, because a capture holds the ends of a stream."""
    from triage.agents.detect import invoked
    from triage.command import parse_command
    from triage.judge import RunJudge
    from triage.run import run as run_command

    final = parse_command(words).final
    known = invoked(final) if format is None and final is not None else None
    judge = RunJudge(format if known is None else known.id, table=table)
    outcome = run_command(
        words or None,
        timeout_s=timeout,
        retry=False,
        passthrough=not machine,
        on_stdout=judge.feed,
        table=table,
        exclusive=True,
    )
    capture = outcome.captures[-1]
    judged = judge.finish(
        capture.exit_code, stderr=_errors(capture), timed_out=capture.timed_out,
        cancelled=outcome.interrupted is not None,
    )  # fmt: skip
    return capture, judged


def _errors(capture: Capture) -> str:
    from triage.text import read_stream

    return read_stream("stderr", capture.stderr, head=1 << 20, tail=1 << 20).text


def _preview(url: str, audit: str | None) -> ProbeResult:
    from triage.probe import probe

    result = probe(url)
    if audit:
        opt.record_audit(audit, result, None, None)
    return result


def _card(data: dict[str, Any]) -> str:
    """The verdict for a person."""
    shown = data["verdict"] if data["verdict"] == "ok" else f"{data['verdict']} ({data['subtype']})"
    counts = data["counts"]
    lines = [
        f"{shown}: {data['why']}",
        f"  {data['format']}: {counts['texts']} texts, {counts['tool_calls']} tool calls, "
        f"{counts['errors']} errors, {counts['lines']} lines",
    ]
    verdict = data["triage"]
    mode = f", §{verdict['mode']}" if verdict["mode"] else ""
    row = f"row {verdict['row']}" if verdict["row"] else "no row"
    lines.append(f"  {row}{mode}, rule {verdict['rule']}")
    if verdict["verdict"] != "not_failure":
        lines.append(f"  do: {verdict['action']['text']}")
    if data["flags"]:
        lines.append(f"  flags: {', '.join(data['flags'])}")
    if data.get("preview"):
        preview = data["preview"]
        said = "ok" if preview["check"] is None else f"{preview['check']}: {preview['why']}"
        lines.append(f"  preview {preview['url']}: {said}")
    return "\n".join(lines)
