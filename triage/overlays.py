"""Where a user's own rules and cases lie: the project's ``.triage``, and the user's folder."""

from __future__ import annotations

import os

__all__ = ["find_overlays", "project_folders"]


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
    project, _ = project_folders()
    if project is not None and project not in found:
        found.append(project)
    return tuple(found)


def project_folders() -> tuple[str | None, str | None]:
    """Return the project's ``.triage/rules`` and ``.triage/corpus``, None for what there is not.

    Each is the nearest of the current folder and those above it; a corpus above the rules is
    another project's.
    """
    try:
        folder = os.getcwd()
    except OSError:
        return None, None
    corpus = None
    while True:
        rules = os.path.join(folder, ".triage", "rules")
        cases = os.path.join(folder, ".triage", "corpus")
        if corpus is None and os.path.isdir(cases):
            corpus = cases
        if os.path.isdir(rules):
            return rules, corpus
        parent = os.path.dirname(folder)
        if parent == folder:
            return None, corpus
        folder = parent
