"""The lines of a text on which a pattern can match: those that have the literals it needs.

A search that walks two kilobytes costs twenty microseconds, one that walks a line costs one, and
most literals that stand somewhere in a text stand on one line of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triage.literals import BEYOND_ASCII

__all__ = ["lines_with"]


def lines_with(
    clauses: Sequence[Sequence[str]], lowered: str, start: int, end: int
) -> Iterator[tuple[int, int]]:
    """Yield, in order, the spans of the lines between `start` and `end` that have every clause.

    `lowered` has a place for each character of the text, so that its spans are the text's. Where no
    clause names a literal the one span is all of it; where one has no alternative left there is
    none. Linear in the text for each literal.
    """
    usable = [clause for clause in clauses if BEYOND_ASCII not in clause]
    if not usable:
        yield start, end
        return
    first, *others = usable
    if len(first) == 1:
        yield from _lines_with_one(first[0], others, lowered, start, end)
        return
    # Where each literal stands next; one that stands nowhere is never looked for again.
    places = {literal: lowered.find(literal, start, end) for literal in first}
    places = {literal: at for literal, at in places.items() if at >= 0}
    while places:
        at = min(places.values())
        line = max(lowered.rfind("\n", start, at) + 1, start)
        after = lowered.find("\n", at, end)
        after = end if after < 0 else after
        if _have(others, lowered, line, after):
            yield line, after
        for literal, place in [*places.items()]:
            if place < after:
                place = lowered.find(literal, after, end)
                if place < 0:
                    del places[literal]
                else:
                    places[literal] = place


def _lines_with_one(
    literal: str, others: Sequence[Sequence[str]], lowered: str, start: int, end: int
) -> Iterator[tuple[int, int]]:
    at = lowered.find(literal, start, end)
    while at >= 0:
        line = max(lowered.rfind("\n", start, at) + 1, start)
        after = lowered.find("\n", at, end)
        after = end if after < 0 else after
        if _have(others, lowered, line, after):
            yield line, after
        at = lowered.find(literal, after, end)


def _have(clauses: Sequence[Sequence[str]], lowered: str, start: int, end: int) -> bool:
    for clause in clauses:
        for literal in clause:
            if lowered.find(literal, start, end) >= 0:
                break
        else:
            return False
    return True
