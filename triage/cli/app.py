"""The typer application: every verb by name, its module imported when the verb is run."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from triage.cli.output import bug, reader_gone
from triage.cli.status import MEANINGS, ExitStatus

__all__ = ["VERBS", "build", "run_app"]

# Typer brings click with it, newer versions inside themselves: its classes are found by descent.
_Refusal: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

_COMPLETE = "_TRIAGE_COMPLETE"

# verb -> the module of triage.cli that has a function of that name (dashes become underscores).
VERBS = {
    "classify": "judging",
    "explain": "judging",
    "extract": "reading",
    "bundle": "reading",
    "rules": "reading",
    "show": "reading",
    "run": "running",
    "init": "running",
    "agent": "agents",
    "lint": "quality",
    "test": "quality",
    "new": "adding",
    "docs": "quality",
    "probe": "web",
    "audit": "web",
}


def build(only: str | None = None) -> typer.Typer:
    """Return the application with all verbs, or with one where only that is needed."""
    from importlib import import_module

    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    for verb, module in VERBS.items():
        if only in (None, verb):
            function: Any = getattr(import_module(f"triage.cli.{module}"), verb)
            settings = {"ignore_unknown_options": False}
            app.command(verb, context_settings=settings)(function)
    app.callback(help=_help(), invoke_without_command=True)(_root)
    return app


def _root(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and end."),
) -> None:
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"triage {version_of('cli-triage')}")
        raise typer.Exit(0)
    if context.invoked_subcommand is None:
        raise typer.BadParameter("name a verb", ctx=context)


def _help() -> str:
    lines = [f"{int(status):>3}  {meaning}" for status, meaning in MEANINGS.items()]
    table = "\n".join(lines)
    return (
        "Tell from exit status, output and timing why a command-line call failed, and what to do "
        "next.\n\nWith JSON captures on stdin and no arguments at all it prints one verdict a "
        "line.\n\nExample: triage classify --exit 127 --command 'jqq .'\n\n"
        f"\b\nExit statuses:\n{table}\n"
    )


def run_app(arguments: list[str]) -> int:
    """Run the command line; returns the exit status, raises nothing."""
    if _COMPLETE in os.environ:
        from typer.completion import completion_init  # type: ignore[attr-defined]

        completion_init()
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        return reader_gone()
    return status


def _run(arguments: list[str]) -> int:
    verb = next((word for word in arguments if not word.startswith("-")), None)
    only = verb if verb in VERBS else None
    if only == "agent" and "--" in arguments:
        # What stands behind `--` is a command to run, what stands alone a file; the parser can't
        # tell them apart any more.
        at = arguments.index("agent")
        arguments = [*arguments[: at + 1], "--as-command", *arguments[at + 1 :]]
    command = typer.main.get_command(build(only))
    try:
        result = command.main(arguments, prog_name="triage", standalone_mode=False)
    except typer.Exit as end:
        return int(end.exit_code)
    except typer.Abort:
        return 130
    except _Refusal as error:
        return _refused(error, arguments, only)
    except BrokenPipeError:
        raise
    except SystemExit as end:
        if _COMPLETE in os.environ and end.code:
            return ExitStatus.USAGE
        # What typer makes of a reader that went away, whatever the mode.
        return reader_gone()
    except Exception as error:
        if _COMPLETE in os.environ:
            # Its words come by the environment, and typer takes what there is of them.
            return _told_of_completion()
        if os.environ.get("TRIAGE_DEBUG"):
            raise
        return bug(error)
    return result if isinstance(result, int) else ExitStatus.OK


def _told_of_completion() -> int:
    from triage.cli.output import told
    from triage.errors import UsageError

    what = "completions are asked for without the words of a line"
    return told(UsageError(_COMPLETE, what, "use what `triage init bash` prints"), False)


def _refused(error: Any, arguments: list[str], only: str | None) -> int:
    from triage.border import dump, error_envelope
    from triage.cli.output import machine_wanted, notice, say
    from triage.errors import UsageError

    context = getattr(error, "ctx", None)
    # The parser that misses an option's value doesn't say whose option it is.
    verb = context.command_path if context is not None else f"triage {only or ''}".rstrip()
    message = error.format_message().rstrip(".")
    refused = UsageError("arguments", message, f"see {verb} --help")
    if machine_wanted("--json" in arguments):
        say(dump(error_envelope(refused, "ARG_ERROR")))
    notice(str(refused))
    return ExitStatus.USAGE
