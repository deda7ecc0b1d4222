"""Entry point: a bare pipe, `classify` of files and `run` need no typer, the rest is its app."""

from __future__ import annotations

import gc
import os
import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line; returns the exit status."""
    # What a process of some milliseconds loads stays loaded: to look for garbage in it, now and
    # once more at the end, would cost a sixth of it.
    gc.disable()
    if None in (sys.stdin, sys.stdout, sys.stderr) or not _takes_all_text():
        from triage.cli.std_streams import make_usable

        make_usable()
    try:
        return _main()
    except OSError as error:
        from triage.cli.output import unwritable

        status = unwritable(error)
        if status is None:
            raise
        return status
    finally:
        gc.freeze()
        gc.enable()


def _takes_all_text() -> bool:
    return all(
        (stream.encoding or "utf-8").lower().startswith("utf")
        for stream in (sys.stdout, sys.stderr)
    )


def _main() -> int:
    # A shell asking for completions calls us without arguments too.
    if len(sys.argv) == 1 and "_TRIAGE_COMPLETE" not in os.environ and not sys.stdin.isatty():
        from triage.cli.machine import serve

        return serve(sys.stdin.buffer, sys.stdout.buffer, sys.stderr)
    verb, words = sys.argv[1:2], sys.argv[2:]
    if verb != ["classify"]:
        gc.enable()
    if verb == ["run"] and "_TRIAGE_COMPLETE" not in os.environ:
        from triage.cli.command_run import perform, read_words

        asked = read_words(words)
        if asked is not None:
            return perform(asked)
    if verb == ["classify"] and "_TRIAGE_COMPLETE" not in os.environ:
        from triage.cli.verdicts import classify_words

        status = classify_words(words)
        if status is not None:
            return status
    from triage.cli.app import run_app

    return run_app(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
