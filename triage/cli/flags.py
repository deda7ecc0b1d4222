"""The capture that flags describe; the usual words of `triage classify` are read without typer."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from triage.cli.words import Flags, Values, read_options
from triage.errors import UsageError
from triage.model import Capture

__all__ = ["existing_file", "exit_status", "flag_capture", "one_format", "read_words"]

_VALUES: Values = {
    **{f"--{name}": (name, str) for name in ("exit", "stdout", "stderr", "merged", "command")},
    **{f"--{name}": (name, str) for name in ("effect", "tier", "rules", "audit")},
    **{f"--{name}": (name, float) for name in ("duration", "silent", "limit")},
}
_SWITCHES: Flags = {
    f"--{name.replace('_', '-')}": (name, True)
    for name in ("json", "line", "exit_code", "timed_out", "state")
}


def read_words(words: Sequence[str]) -> tuple[list[str], dict[str, Any]] | None:
    """Read the usual form, options as they are listed and files; returns files and keywords.

    None for anything else, which is left to typer (see `read_options`).
    """
    read = read_options(words, _VALUES, _SWITCHES)
    if read is None:
        return None
    given, files, more = read
    return [*files, *(more or ())], given


def flag_capture(options: Mapping[str, Any]) -> Capture | None:
    """Build the capture that the flags describe, None where no flag of a capture was given."""
    fields = {key: value for key, value in options.items() if value not in (None, False, [])}
    if not fields:
        return None
    if "exit" not in fields and not fields.get("timed_out") and "merged" not in fields:
        raise UsageError(
            "--exit", "a capture needs its exit status", "give --exit N, or --exit null"
        )
    from_stdin = [key for key in ("stdout", "stderr", "merged") if fields.get(key) == "-"]
    if len(from_stdin) > 1:
        raise UsageError(
            f"--{from_stdin[1]}", "stdin is read twice", "name a file for one of the streams"
        )
    streams: dict[str, Any] = {
        key: _stream(f"--{key}", fields[key])
        for key in ("stdout", "stderr", "merged")
        if key in fields
    }
    code = exit_status(fields["exit"]) if "exit" in fields else None
    if "merged" in streams and "exit" not in fields:
        code = _merged_status(streams)
    return Capture(
        exit_code=code,
        command=fields.get("command"),
        timed_out=bool(fields.get("timed_out", False)),
        duration_s=fields.get("duration"),
        silent_s=fields.get("silent"),
        limit_s=fields.get("limit"),
        effect=_effect(fields.get("effect")),
        **streams,
    )


class _File:
    """A path object; importing pathlib would cost a tenth of the process."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return self.path


def _stream(option: str, path: str) -> Any:
    return sys.stdin.buffer.read() if path == "-" else existing_file(option, path)


def existing_file(option: str, path: str) -> os.PathLike[str]:
    """A path is read later, in windows; it must be there now. Raises `UsageError`."""
    if not os.path.exists(path) or os.path.isdir(path):
        raise UsageError(option, f"no file {path!r}", "name a file that exists, or - for stdin")
    if not os.access(path, os.R_OK):
        raise UsageError(option, f"{path!r} can't be read", "make it readable")
    return _File(path)


def exit_status(text: str) -> int | None:
    """Read ``--exit``; raises `UsageError`."""
    if text.lower() in ("null", "none", "unknown"):
        return None
    digits = text.removeprefix("-")
    hexadecimal = digits[:2].lower() == "0x"
    known = "0123456789abcdefABCDEF" if hexadecimal else "0123456789"
    digits = digits[2:] if hexadecimal else digits
    # What Python takes for a number beside these (1_0, digits of other scripts) is a slip.
    if not digits or digits.strip(known):
        raise UsageError(
            "--exit",
            f"{text[:40]!r} is no exit status",
            "give a number such as 127, -9 or 0xC0000005",
        )
    if len(digits) > 30:
        return 1 << 62
    code = int(digits, 16 if hexadecimal else 10)
    return -code if text.startswith("-") else code


def one_format(json: bool, line: bool) -> None:
    """Refuse two formats at once; raises `UsageError`."""
    if json and line:
        raise UsageError("--json --line", "two formats at once", "ask for one of them")


def _effect(text: str | None) -> Any:
    if text is None or text in ("read_only", "mutating", "unknown"):
        return text
    raise UsageError("--effect", f"{text!r} is no effect", "write read_only, mutating or unknown")


def _merged_status(streams: dict[str, Any]) -> int | None:
    """The status that a harness wrote into the merged text, None where there is none."""
    from triage.harness_text import status_in
    from triage.text import read_stream

    code, rest = status_in(
        read_stream("merged", streams["merged"], head=1 << 20, tail=1 << 20).text
    )
    if code is not None:
        streams["merged"] = rest
    return code
