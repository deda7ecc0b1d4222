"""The times that a collector of logs wrote before every line of a call's output."""

from __future__ import annotations

import re

from triage.redraw import Cuts

__all__ = ["stamp_cuts", "unstamped"]

# Seven digits of a second are GitHub Actions' and Azure's, nine those of `docker logs -t` and
# `kubectl logs --timestamps`; programs that log for themselves write three or six, and their
# times stay: such a line is a log line, not a line of output.
_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}(?:\d\d)?Z(?: |(?=\n|\Z))"
# Kept as text: few texts begin with a year.
_EACH = "(?m)^" + _STAMP
_WITHOUT = r"(?m)^(?!\d{4}-\d\d-\d\dT)[^\n]"


def unstamped(text: str) -> str:
    """Return `text` without the stamps where every line has one, else the same object."""
    return re.sub(_EACH, "", text) if _stamped(text) else text


def stamp_cuts(text: str) -> Cuts | None:
    """Return the cuts that `unstamped` makes in `text`, None where it makes none."""
    if not _stamped(text):
        return None
    return Cuts(match.span() for match in re.finditer(_EACH, text))


def _stamped(text: str) -> bool:
    return (
        text[:4].isdecimal()
        and re.match(_STAMP, text) is not None
        and re.search(_WITHOUT, text) is None
    )
