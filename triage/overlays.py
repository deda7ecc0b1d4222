"""Where a user's own rules are found: the project's ``.triage/rules`` and the user's folder."""

from __future__ import annotations

import os

__all__ = ["find_overlays"]


def find_overlays() -> tuple[str, ...]:
    """Return the overlay folders that exist, the user's first, the project's last.

    The user's is ``$XDG_CONFIG_HOME/triage/rules`` (``~/.config`` by default), the project's the
    nearest ``.triage/rules`` of the current folder and those above it. Later ones win.
    """
    found = []
    base = os.environ.get("XDG_CONFIG_HOME")
    if not base or not os.path.isabs(base):
        home = os.environ.get("HOME") or os.environ.get("USERPROFILE")
        base = os.path.join(home, ".config") if home else None
    if base:
        user = os.path.join(base, "triage", "rules")
        if os.path.isdir(user):
            found.append(user)
    project = _nearest()
    if project is not None and project not in found:
        found.append(project)
    return tuple(found)


def _nearest() -> str | None:
    try:
        folder = os.getcwd()
    except OSError:
        return None
    while True:
        candidate = os.path.join(folder, ".triage", "rules")
        if os.path.isdir(candidate):
            return candidate
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
