"""Entry point: bare `triage` on a pipe is the machine path, everything else the typer app."""

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
    from triage.cli.app import run_app

    return run_app(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
