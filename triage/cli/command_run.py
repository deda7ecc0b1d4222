"""What `triage run` does once its words are read; the usual words are read here, without typer.

An agent harness puts `triage run` in front of every command, and typer's import would cost more
than all the rest. Most commands succeed, and then nothing is said: what says things and what masks
them is imported where something is.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from triage.cli.inputs import mask_by, record_audit, unmasking_table_for
from triage.cli.words import Flags, Values, read_options
from triage.errors import TriageError, UsageError
from triage.frozen import frozen

if TYPE_CHECKING:
    from triage.model import Tier
    from triage.outcome import Outcome
    from triage.repeats import Repeats

__all__ = ["FLAGS", "VALUES", "Asked", "perform", "read_words"]


@frozen(kw_only=True)
class Asked:
    """The options of `triage run`; each means what its help in `triage.cli.running` says."""

    command: list[str] | None = None
    shell: str | None = None
    timeout: float | None = None
    idle_timeout: float | None = None
    limit_bytes: int | None = None
    stdin: str = "null"
    pty: bool = False
    cwd: str | None = None
    env: list[str] | None = None
    effect: str | None = None
    retry: bool = True
    max_wait: float = 60.0
    capture: str | None = None
    raw: bool = False
    no_state: bool = False
    audit: str | None = None
    tier: str | None = None
    rules: str | None = None
    json: bool = False
    line: bool = False


VALUES: Values = {
    "--shell": ("shell", str),
    "--timeout": ("timeout", float),
    "--idle-timeout": ("idle_timeout", float),
    "--limit-bytes": ("limit_bytes", int),
    "--stdin": ("stdin", str),
    "--cwd": ("cwd", str),
    "--env": ("env", list),
    "--effect": ("effect", str),
    "--max-wait": ("max_wait", float),
    "--capture": ("capture", str),
    "--audit": ("audit", str),
    "--tier": ("tier", str),
    "--rules": ("rules", str),
}
FLAGS: Flags = {
    "--pty": ("pty", True),
    "--retry": ("retry", True),
    "--no-retry": ("retry", False),
    "--raw": ("raw", True),
    "--no-state": ("no_state", True),
    "--json": ("json", True),
    "--line": ("line", True),
}


def read_words(words: list[str]) -> Asked | None:
    """Read the usual form: options as they are listed, ``--``, the command.

    None for anything else, which is left to typer (see `read_options`).
    """
    read = read_options(words, VALUES, FLAGS)
    if read is None or read[1]:
        return None
    fields, _, command = read
    if command is not None:
        fields["command"] = command
    if "command" not in fields and "shell" not in fields:
        return None
    fields.setdefault("audit", os.environ.get("TRIAGE_AUDIT"))
    return Asked(**fields)


def perform(asked: Asked) -> int:
    """Run the command, say what there is to say, and return its status; raises nothing of ours.

    After a signal to us this process ends by that signal, as the command would have.
    """
    try:
        outcome = _outcome(asked)
        if _machine(asked):
            from triage.cli.output import say_json

            say_json(outcome.to_dict())
        elif _tells(outcome):
            _tell(outcome, asked.line)
        sys.stdout.flush()
    except TriageError as error:
        from triage.cli.output import told

        return told(error, asked.json)
    except BrokenPipeError:
        from triage.cli.output import reader_gone

        return reader_gone()
    except Exception as error:
        if os.environ.get("TRIAGE_DEBUG"):
            raise
        from triage.cli.output import bug

        return bug(error)
    if outcome.interrupted is not None:
        from triage.interrupts import end_by

        sys.stderr.flush()
        end_by(outcome.interrupted)
    if outcome.unwritten is not None and outcome.exit_status == 0:
        from triage.cli.output import stdout_lost

        return stdout_lost(outcome.unwritten)
    return outcome.exit_status


def _machine(asked: Asked) -> bool:
    if asked.line or not (asked.json or os.environ.get("TRIAGE_FORMAT")):
        return False
    from triage.cli.output import machine_wanted

    return machine_wanted(asked.json)


def _tells(outcome: Outcome) -> bool:
    """Whether a person is told of it: a failure, or more than the one start that was asked for."""
    return outcome.verdict.verdict != "not_failure" or len(outcome.attempts) > 1


def _outcome(asked: Asked) -> Outcome:
    from triage.run import run as run_command
    from triage.run_options import Options

    if asked.json and asked.line:
        raise UsageError("--json --line", "two formats at once", "ask for one of them")
    if asked.effect not in (None, "read_only", "mutating", "unknown"):
        raise UsageError(
            "--effect", f"{asked.effect!r} is no effect", "write read_only or mutating"
        )
    if asked.raw and asked.capture is None:
        raise UsageError("--raw", "there is no capture file", "add --capture FILE")
    state = _memory(asked)
    table = unmasking_table_for(asked.rules)
    options: Options = {
        "shell_line": asked.shell,
        "timeout_s": asked.timeout,
        "idle_timeout_s": asked.idle_timeout,
        "stdin": asked.stdin,
        "pty": asked.pty,
        "cwd": asked.cwd,
        "env": _variables(asked.env or []),
        "effect": asked.effect,  # type: ignore[typeddict-item]
        "retry": asked.retry,
        "max_wait_s": asked.max_wait,
        "passthrough": not _machine(asked),
        "state": state,
        "on_wait": _progress if sys.stderr is not None and sys.stderr.isatty() else None,
        "tier": _tier(asked.tier),
        "exclusive": True,
        "table": table,
    }
    if asked.limit_bytes is not None:
        options["limit_bytes"] = asked.limit_bytes
    report = _writable(asked.capture)
    try:
        outcome = run_command(asked.command or None, **options)
        if report is not None or asked.audit or _machine(asked) or _tells(outcome):
            mask_by(table)
        if report is not None:
            _write(report, outcome.report(raw=asked.raw).encode("utf-8", "surrogateescape"))
    finally:
        if report is not None:
            report.close()
    last = outcome.captures[-1]
    if state is not None:
        from triage.last_run import remember

        remember(last)
    if asked.audit:
        record_audit(asked.audit, outcome.verdict, last.command, last.exit_code)
    return outcome


def _tier(text: str | None) -> Tier | None:
    if text is None:
        return None
    from triage.cli.verdicts import allowed_tier

    tier: Tier = allowed_tier(text)
    return tier


def _memory(asked: Asked) -> Repeats | None:
    if asked.no_state:
        return None
    from triage.repeats import Repeats

    return Repeats()


def _variables(pairs: list[str]) -> dict[str, str | None] | None:
    variables: dict[str, str | None] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError("--env", f"{pair!r} is no variable", "write NAME=VALUE")
        variables[name] = value
    return variables or None


def _writable(path: str | None) -> Any:
    """The capture file, opened before anything is started: a run can't be repeated for it.

    What stands in it stays until there is something to put in its place.
    """
    if path is None:
        return None
    try:
        return open(path, "ab", buffering=0)
    except OSError as error:
        raise UsageError(
            "--capture", f"{path!r} can't be written: {error.strerror}", "name a file you may write"
        ) from None


def _write(report: Any, data: bytes) -> None:
    """Write the capture file; the command has run, so trouble is a notice and no status."""
    with suppress(OSError):  # a pipe or a terminal holds nothing to be taken out
        report.truncate(0)
    rest = memoryview(data)
    try:
        while len(rest):
            rest = rest[report.write(rest) :]
    except OSError as error:
        from triage.cli.output import notice

        notice(f"--capture: could not be written to its end: {error.strerror}")


def _progress(left: float, why: str) -> None:
    with suppress(OSError):
        sys.stderr.write(f"\rtriage: waiting {left:.0f} s: {why[:60]} \x1b[K")
        if left <= 0:
            sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _tell(outcome: Outcome, line: bool) -> None:
    """The verdict, on stderr: stdout is the command's."""
    from triage.border import line_of, masked_verdict
    from triage.cli.output import notice
    from triage.cli.std_streams import silence, write_error

    data = masked_verdict(outcome.verdict)
    notice(f"effect {outcome.effect}: {outcome.effect_why}")
    if line:
        write_error(line_of(data) + "\n")
        return
    from triage.cli.card import print_card

    try:
        print_card(data, stream=sys.stderr)
    except OSError:
        # The command has run: its status counts, whoever listens.
        silence(sys.stderr)
