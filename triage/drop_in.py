"""`subprocess_run`: `subprocess.run` to the letter, with a verdict on what it returns or raises."""

from __future__ import annotations

import os

# This module is loaded by who calls `subprocess_run`, and the class below needs its base.
import subprocess
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from triage.model import Capture, Verdict

__all__ = ["CompletedCall", "subprocess_run"]


class CompletedCall(subprocess.CompletedProcess[Any]):
    """A `CompletedProcess` whose `verdict` is made when it is first asked for."""

    def __init__(self, args: Any, returncode: int, stdout: Any, stderr: Any, made: Capture) -> None:
        super().__init__(args, returncode, stdout, stderr)
        self.capture = made

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict of the built-in table on this call."""
        return _classify(self.capture)


def subprocess_run(*popenargs: Any, **kwargs: Any) -> CompletedCall:
    """Do what `subprocess.run` does with the same arguments, and return its result with `verdict`.

    Nothing is run twice and nothing else is raised: `CalledProcessError` (with ``check=True``) and
    `TimeoutExpired` come as ever, with a `verdict` too. It can only speak of streams that were
    captured.
    """
    started = time.monotonic()
    try:
        done = subprocess.run(*popenargs, **kwargs)
    except subprocess.CalledProcessError as error:
        seen = _capture(popenargs, kwargs, error.returncode, error.stdout, error.stderr, started)
        error.verdict = _classify(seen)  # type: ignore[attr-defined]
        raise
    except subprocess.TimeoutExpired as error:
        seen = _capture(popenargs, kwargs, None, error.stdout, error.stderr, started, error.timeout)
        error.verdict = _classify(seen)  # type: ignore[attr-defined]
        raise
    seen = _capture(popenargs, kwargs, done.returncode, done.stdout, done.stderr, started)
    return CompletedCall(done.args, done.returncode, done.stdout, done.stderr, seen)


def _classify(capture: Capture) -> Verdict:
    from triage.engine import classify

    return classify(capture)


def _capture(
    popenargs: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    exit_code: int | None,
    stdout: Any,
    stderr: Any,
    started: float,
    limit_s: float | None = None,
) -> Capture:
    merged = kwargs.get("stderr") == subprocess.STDOUT and stdout is not None
    cwd = kwargs.get("cwd")
    return Capture(
        # Python's -1 is SIGHUP; from other observers it means that there was no status.
        exit_code=129 if exit_code == -1 and os.name == "posix" else exit_code,
        command=_command(
            popenargs[0] if popenargs else kwargs.get("args"), bool(kwargs.get("shell"))
        ),
        stdout="" if stdout is None or merged else stdout,
        stderr=stderr or "",
        merged=stdout if merged else None,
        timed_out=limit_s is not None,
        duration_s=round(time.monotonic() - started, 6),
        limit_s=limit_s if limit_s is not None else kwargs.get("timeout"),
        stdin=_stdin(kwargs),
        shell="sh" if kwargs.get("shell") else None,
        cwd=None if cwd is None else os.fsdecode(cwd),
    )


def _command(args: Any, shell: bool) -> str | tuple[str, ...] | None:
    if args is None:
        return None
    if isinstance(args, (str, bytes, os.PathLike)):
        text = os.fsdecode(args)
        return text if shell else (text,)
    words = tuple(os.fsdecode(word) for word in args)
    # With shell=True the first is the line, the rest are its $0, $1, ...
    return words[0] if shell and words else words


def _stdin(kwargs: Mapping[str, Any]) -> str | None:
    if kwargs.get("input") is not None or kwargs.get("stdin") == subprocess.PIPE:
        return "pipe"
    return "null" if kwargs.get("stdin") == subprocess.DEVNULL else None
