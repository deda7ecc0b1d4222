"""`triage run` and `triage init`: a command under capture, and the shell that uses it."""

from __future__ import annotations

from typing import Annotated

import typer

from triage.cli import options as opt
from triage.cli.command_run import Asked, perform
from triage.cli.output import finish, guarded, say

__all__ = ["init", "run"]


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
        bool, typer.Option("--no-state", help="Neither use nor keep any memory of runs.")
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
    finish(
        perform(
            Asked(
                command=command, shell=shell, timeout=timeout, idle_timeout=idle_timeout,
                limit_bytes=limit_bytes, stdin=stdin, pty=pty, cwd=cwd, env=env, effect=effect,
                retry=retry, max_wait=max_wait, capture=capture, raw=raw, no_state=no_state,
                audit=audit, tier=tier, rules=rules, json=json, line=line,
            )
        )
    )  # fmt: skip


def init(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh", help="The shell to set up.")],
) -> None:
    """Print the shell function `tri` and tab completion, to be evaluated by the shell.

    Example: eval "$(triage init bash)"
    """
    from triage.shell_init import init_script

    say(guarded(False, lambda: init_script(shell)))
