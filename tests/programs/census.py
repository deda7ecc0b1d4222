"""Count what a run may leave behind: processes, from /proc, and descriptors of ours."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["alive_with", "descriptors"]


def alive_with(token: str) -> list[int]:
    """The processes whose command line or environment holds `token`; zombies have neither."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        for fact in ("cmdline", "environ"):
            try:
                if token.encode() in (folder / fact).read_bytes():
                    found.append(int(folder.name))
                    break
            except OSError:
                continue
    return found


def descriptors() -> list[str]:
    """What this process has open, as number and target; the look itself left out."""
    found = []
    for entry in sorted(Path("/proc/self/fd").iterdir()):
        try:
            found.append(f"{entry.name} {entry.readlink()}")
        except OSError:
            continue
    return found
