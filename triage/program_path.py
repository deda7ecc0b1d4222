"""Find a program as a shell does, and say as a shell does why it could not be started."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from triage.errors import CommandStartError

__all__ = ["find_program", "is_script", "start_error"]

_NOT_FOUND = 127
_NOT_STARTABLE = 126
_SAMPLE = 256


def find_program(name: str, env: Mapping[str, str], cwd: str | None) -> str:
    """Return the path that `name` stands for: itself with a slash, else the first on PATH.

    Relative folders count from `cwd`. Raises `CommandStartError`: 127 where there is none, 126
    where all there is can't be executed.
    """
    if "/" in name:
        return name
    refused = False
    for folder in env.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder or ".", name)  # noqa: PTH118 - pathlib costs start-up time
        there = os.path.join(cwd or "", path)  # noqa: PTH118
        if os.path.isfile(there):  # noqa: PTH113
            if os.access(there, os.X_OK):
                return path
            refused = True
    if refused:
        raise start_error(PermissionError(errno.EACCES, os.strerror(errno.EACCES)), name, cwd)
    raise start_error(FileNotFoundError(errno.ENOENT, ""), name, cwd)


def is_script(path: str, cwd: str | None) -> bool:
    """Whether what the kernel would not take is text: shells give such a file to sh."""
    try:
        with open(os.path.join(cwd or "", path), "rb") as file:  # noqa: PTH118, PTH123
            return b"\0" not in file.read(_SAMPLE)
    except OSError:
        return False


def start_error(error: OSError, name: str, cwd: str | None) -> CommandStartError:
    """Return the error for a program `name` that the system did not start, with its status."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        path = os.path.join(cwd or "", name)  # noqa: PTH118
        if "/" not in name:
            what, remedy = "command not found", "look at the name and at PATH"
        elif os.path.exists(path):  # noqa: PTH110
            # The file is there; what its first line names is not.
            what, remedy = "bad interpreter: No such file or directory", "look at its first line"
        else:
            what, remedy = "No such file or directory", "look at the path"
        return CommandStartError(name, what, remedy, status=_NOT_FOUND)
    what = error.strerror or str(error)
    return CommandStartError(
        name, what, "look at its rights and at what it is", status=_NOT_STARTABLE
    )
