"""Entry point: a bare pipe and `classify` of files need no typer, the rest is its app."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line; returns the exit status."""
    # A shell asking for completions calls us without arguments too.
    if len(sys.argv) == 1 and "_TRIAGE_COMPLETE" not in os.environ and not sys.stdin.isatty():
        from triage.cli.machine import serve

        return serve(sys.stdin.buffer, sys.stdout.buffer, sys.stderr)
    verb, words = sys.argv[1:2], sys.argv[2:]
    files = [word for word in words if word != "--json"]
    plain = all(word == "-" or not word.startswith("-") for word in files)
    if verb == ["classify"] and plain and "_TRIAGE_COMPLETE" not in os.environ:
        from triage.cli.verdicts import classify_files

        return classify_files(files, json=len(files) < len(words))
    from triage.cli.app import run_app

    return run_app(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
