"""The lines of a text on which a pattern can match: those that have the literals it needs.

A search that walks two kilobytes costs twenty microseconds, one that walks a line costs one, and
most literals that stand somewhere in a text stand on one line of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from triage.literals import BEYOND_ASCII

__all__ = ["lines_with"]


def lines_with(
    clauses: Sequence[Sequence[str]], lowered: str, start: int, end: int, most: int
) -> list[tuple[int, int]]:
    """Return, in order, the spans of the lines between `start` and `end` that have every clause.

    Where there are more than `most` of them, one more span holds all the rest. `lowered` has a
    place for each character of the text, so that its spans are the text's. Where no clause names a
    literal the one span is all of it; where one has no alternative left there is none. Linear in
    the text for each literal.
    """
    usable = [clause for clause in clauses if BEYOND_ASCII not in clause]
    if not usable:
        return [(start, end)]
    found: list[tuple[int, int]] = []
    first, *others = usable
    find, rfind = lowered.find, lowered.rfind
    # Where each literal stands next; one that stands nowhere is never looked for again.
    places = [(at, literal) for literal in first if (at := find(literal, start, end)) >= 0]
    while places:
        at = min(places)[0] if len(places) > 1 else places[0][0]
        line = rfind("\n", start, at) + 1 or start
        after = find("\n", at, end)
        if after < 0:
            after = end
        if not others or _have(others, lowered, line, after):
            if len(found) == most:
                found.append((line, end))
                break
            found.append((line, after))
        places = [
            (place, literal)
            for at, literal in places
            if (place := at if at >= after else find(literal, after, end)) >= 0
        ]
    return found


def _have(clauses: Sequence[Sequence[str]], lowered: str, start: int, end: int) -> bool:
    find = lowered.find
    for clause in clauses:
        for literal in clause:
            if find(literal, start, end) >= 0:
                break
        else:
            return False
    return True
