"""What is left of lines that a tool drew again and again: the state a reader saw last.

Three habits, all of them deletions, done in this order:

* ``\\r\\n`` is an end of line;
* a bare ``\\r`` starts its line anew (progress bars): the last state that shows anything stays;
* ``\\b`` takes the character before it back when something is written over it (``N\\bN`` in
  manual pages, spinners); at the start or the end of a line it does nothing.

`\\r` in a terminal overwrites and does not erase; a longer earlier state would shine through. We
keep the newest state alone: the older one is what the tool took back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["Cuts", "redrawn", "redrawn_cuts"]

# Patterns are kept as text: few texts were redrawn.
_CR_BEFORE_NEWLINE = "\r(?=\n)"
# From the line's start to its last carriage return that something visible follows. Anchored, so
# that a line without one is read once; white space and backspaces show nothing.
_OLD_STATES = "(?m)^[^\n]*\r(?=[^\r\n]*[^\\s\b])"
_BLANK_STATES = "\r[^\n]*"
# Good where no two backspaces meet: the pair goes if something is written over it.
_SINGLE_BACKSPACE = "[^\n\b]\b(?=[^\n])|\b"
_BACKSPACES = "\b+"


class Cuts:
    """Positions in a text with parts cut out -> positions in the text before."""

    __slots__ = ("_at", "_removed")

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        at: list[int] = []
        removed: list[int] = []
        total = 0
        for start, end in spans:
            at.append(start - total)
            total += end - start
            removed.append(total)
        self._at, self._removed = at, removed

    def position(self, after: int) -> int:
        """Return where the character at `after` stood before the cuts; logarithmic time."""
        from bisect import bisect_right

        index = bisect_right(self._at, after)
        return after + (self._removed[index - 1] if index else 0)


def redrawn(text: str) -> str:
    """Return `text` as it looked in the end; the same object where nothing was redrawn."""
    if "\r" in text:
        text = text.replace("\r\n", "\n")
        if "\r" in text:
            text = re.sub(_BLANK_STATES, "", re.sub(_OLD_STATES, "", text))
    if "\b" not in text:
        return text
    if "\b\b" not in text:
        return re.sub(_SINGLE_BACKSPACE, "", text)
    return "".join([text[start:end] for start, end in _kept(text)])


def redrawn_cuts(text: str) -> list[Cuts]:
    """Return the cuts `redrawn` makes, one `Cuts` per step, first step first."""
    steps: list[Cuts] = []
    for pattern in (_CR_BEFORE_NEWLINE, _OLD_STATES, _BLANK_STATES):
        if "\r" in text:
            steps.append(Cuts(match.span() for match in re.finditer(pattern, text)))
            text = re.sub(pattern, "", text)
    if "\b\b" in text:
        steps.append(Cuts(_gaps(_kept(text))))
    elif "\b" in text:
        steps.append(Cuts(match.span() for match in re.finditer(_SINGLE_BACKSPACE, text)))
    return steps


def _kept(text: str) -> list[tuple[int, int]]:
    """The spans that runs of backspaces leave; each character is pushed and taken back once."""
    kept: list[tuple[int, int]] = []
    done = 0
    for match in re.finditer(_BACKSPACES, text):
        start, end = match.span()
        kept.append((done, start))
        done = end
        if end == len(text) or text[end] == "\n":
            continue
        back = end - start
        while back and kept:
            first, last = kept.pop()
            cut = max(first, last - back)
            newline = text.rfind("\n", cut, last)
            if newline >= 0:
                kept.append((first, newline + 1))
                break
            back -= last - cut
            if cut > first:
                kept.append((first, cut))
    kept.append((done, len(text)))
    return kept


def _gaps(kept: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """What lies between the kept spans; the last one runs to the end of the text."""
    done = 0
    for start, end in kept:
        if start > done:
            yield done, start
        done = end
