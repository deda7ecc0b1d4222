"""`triage run` and `triage init`: a command under capture, and the shell that uses it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triage.border import line_of, masked_verdict
from triage.cli import options as opt
from triage.cli.output import finish, guarded, machine_wanted, notice, say, say_json
from triage.errors import UsageError

if TYPE_CHECKING:
    from triage.outcome import Outcome

__all__ = ["end_like", "init", "run"]


def run(
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- CMD...", help="The command to run.")
    ] = None,
    shell: Annotated[
        str | None, typer.Option("--shell", metavar="LINE", help="A shell line instead of CMD.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="S", help="End it after S seconds.")
    ] = None,
    idle_timeout: Annotated[
        float | None,
        typer.Option("--idle-timeout", metavar="S", help="End it after S seconds without output."),
    ] = None,
    limit_bytes: Annotated[
        int | None,
        typer.Option("--limit-bytes", metavar="N", help="Keep so much of each stream, both ends."),
    ] = None,
    stdin: Annotated[
        str, typer.Option("--stdin", metavar="null|inherit|FILE", help="What it reads.")
    ] = "null",
    pty: Annotated[bool, typer.Option("--pty", help="Give it a terminal.")] = False,
    cwd: Annotated[
        str | None, typer.Option("--cwd", metavar="DIR", help="The folder it runs in.")
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option("--env", metavar="K=V", help="Set a variable; may repeat.")
    ] = None,
    effect: Annotated[
        str | None,
        typer.Option("--effect", metavar="EFFECT", help="read_only or mutating, if you know."),
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry/--no-retry", help="Allow the retry that is safe.")
    ] = True,
    max_wait: Annotated[
        float, typer.Option("--max-wait", metavar="S", help="Wait at most so long in all.")
    ] = 60.0,
    capture: Annotated[
        str | None,
        typer.Option("--capture", metavar="FILE", help="Write all attempts there, masked."),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Don't mask in --capture.")] = False,
    no_state: Annotated[
        bool, typer.Option("--no-state", help="Neither use nor keep the memory of repeats.")
    ] = False,
    audit: opt.AuditOption = None,
    tier: opt.TierOption = None,
    rules: opt.RulesOption = None,
    json: opt.JsonOption = False,
    line: opt.LineOption = False,
) -> None:
    """Run a command as it is, under capture; judge it, and retry only where that is safe.

    Its output passes through unchanged and its exit status is ours; the verdict on a failure goes
    to stderr. With --json nothing passes through: stdout holds one envelope with every attempt.

    Example: triage run --timeout 60 -- git log
    """
    fields = {
        "shell_line": shell, "timeout_s": timeout, "idle_timeout_s": idle_timeout,
        "stdin": stdin, "pty": pty, "cwd": cwd, "retry": retry, "max_wait_s": max_wait,
    }  # fmt: skip
    if limit_bytes is not None:
        fields["limit_bytes"] = limit_bytes
    guarded(json, lambda: opt.one_format(json, line))
    machine = machine_wanted(json) and not line
    outcome = guarded(
        json,
        lambda: _run(command, fields, env or [], effect, capture, raw, no_state, audit, tier, rules,
                     machine),
    )  # fmt: skip
    if machine:
        say_json(outcome.to_dict())
    elif outcome.verdict.verdict != "not_failure" or len(outcome.attempts) > 1:
        _tell(outcome, line)
    end_like(outcome)


def _run(
    command: list[str] | None,
    fields: dict[str, Any],
    env: list[str],
    effect: str | None,
    capture: str | None,
    raw: bool,
    no_state: bool,
    audit: str | None,
    tier: str | None,
    rules: str | None,
    quiet: bool,
) -> Outcome:
    from triage.cli.verdicts import allowed_tier
    from triage.repeats import Repeats
    from triage.run import run as run_command

    if effect not in (None, "read_only", "mutating", "unknown"):
        raise UsageError("--effect", f"{effect!r} is no effect", "write read_only or mutating")
    fields["env"] = _variables(env)
    fields["effect"] = effect
    report = _writable(capture)
    try:
        table = opt.table_for(rules)
        outcome = run_command(
            command or None if fields["shell_line"] is None or command else None,
            **fields,
            passthrough=not quiet,
            state=None if no_state else Repeats(),
            on_wait=_progress if sys.stderr.isatty() else None,
            tier=allowed_tier(tier),
            table=table,
            exclusive=True,
        )
        if report is not None:
            report.write(outcome.report(raw=raw).encode("utf-8", "surrogateescape"))
    finally:
        if report is not None:
            report.close()
    if audit:
        last = outcome.captures[-1]
        opt.record_audit(audit, outcome.verdict, last.command, last.exit_code)
    return outcome


def _variables(pairs: list[str]) -> dict[str, str | None] | None:
    variables: dict[str, str | None] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError("--env", f"{pair!r} is no variable", "write NAME=VALUE")
        variables[name] = value
    return variables or None


def _writable(path: str | None) -> Any:
    """The capture file, opened before anything is started: a run can't be repeated for it."""
    if path is None:
        return None
    try:
        return open(path, "wb")
    except OSError as error:
        raise UsageError(
            "--capture", f"{path!r} can't be written: {error.strerror}", "name a file you may write"
        ) from None


def _progress(left: float, why: str) -> None:
    sys.stderr.write(f"\rtriage: waiting {left:.0f} s: {why[:60]} \x1b[K")
    if left <= 0:
        sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


def _tell(outcome: Outcome, line: bool) -> None:
    """The verdict, on stderr: stdout is the command's."""
    data = masked_verdict(outcome.verdict)
    notice(f"effect {outcome.effect}: {outcome.effect_why}")
    if line:
        sys.stderr.write(line_of(data) + "\n")
        return
    from triage.cli.card import print_card

    print_card(data, stream=sys.stderr)


def end_like(outcome: Outcome) -> None:
    """End with the command's status; after a signal to us, by that signal."""
    if outcome.interrupted is not None:
        import signal

        sys.stdout.flush()
        sys.stderr.flush()
        signal.signal(outcome.interrupted, signal.SIG_DFL)
        os.kill(os.getpid(), outcome.interrupted)
    finish(outcome.exit_status)


def init(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh", help="The shell to set up.")],
) -> None:
    """Print the shell function `tri` and tab completion, to be evaluated by the shell.

    Example: eval "$(triage init bash)"
    """
    from triage.shell_init import init_script

    say(guarded(False, lambda: init_script(shell)))
