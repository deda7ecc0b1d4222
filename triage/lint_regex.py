"""Patterns that could cost more than their text is long.

Captured text is a stranger's and may be megabytes of anything, so each pattern is read as `sre`
parses it and looked at for the shapes that make backtracking explode: a repeat inside a repeat
that can match the same text in two ways, open gaps one after another, counted gaps whose bounds
multiply, and a repeat at the start with nothing that says where to begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from triage.finding import Finding, found
from triage.pattern import needs
from triage.regex_shape import (
    BEGIN,
    EDGE,
    HELD,
    NEWLINE,
    WORD_CHARS,
    Items,
    Piece,
    alternatives,
    branches,
    loops,
    overlap,
    parsed,
    single,
)
from triage.rulebook import PatternUse

__all__ = ["regex_faults", "regex_findings"]

# Tries per place that counted gaps may cost together, and one may.
_MOST_TRIES = 60_000


def regex_findings(uses: Iterable[PatternUse]) -> Iterator[Finding]:
    """Yield what is wrong with the shape of each pattern."""
    re2: dict[str, list[PatternUse]] = {}
    for use in uses:
        for code, what, remedy in regex_faults(use.pattern):
            # A short value is searched once; only streams can be megabytes long.
            if use.role == "value" and code in ("regex-start", "regex-bounds"):
                continue
            yield found(code, use.owner, use.where, what, remedy)
        if needs(use.pattern).re2 is None:
            re2.setdefault(use.owner, []).append(use)
    for owner, listed in re2.items():
        what = f"{len(listed)} patterns that RE2 can't express, looked for one by one"
        yield found("regex-re2", owner, listed[0].where, what, "avoid regex-only syntax")


def regex_faults(pattern: str) -> list[tuple[str, str, str]]:
    """Return the faults of one pattern as (code, what, remedy), each code once."""
    tree = parsed(pattern)
    if tree is None:
        return []
    faults: dict[str, tuple[str, str, str]] = {}
    for body in loops(tree):
        shown = _ambiguous(body)
        if shown:
            faults["regex-nested"] = (
                "regex-nested",
                f"{_cut(pattern)}: {shown}",
                "let each round begin with a character the inner repeat can't match, or bound it",
            )
    for branch in branches(tree):
        for fault in _branch_faults(pattern, branch):
            faults.setdefault(fault[0], fault)
    return [faults[code] for code in sorted(faults)]


def _branch_faults(pattern: str, branch: Sequence[Piece]) -> Iterator[tuple[str, str, str]]:
    gaps = [index for index, piece in enumerate(branch) if piece.gap]
    groups = _connected(branch, gaps)
    for group in groups:
        open_gaps = [index for index in group if branch[index].most > 10_000]
        if len(open_gaps) > 1:
            yield (
                "regex-gaps",
                f"{_cut(pattern)}: {len(open_gaps)} open gaps in one branch",
                "bound them ([^\\n]{0,80}) or split the pattern with `after:`",
            )
        else:
            tries = 1.0
            for index in group:
                tries *= min(branch[index].most, 2000)
            if len(group) > 1 and tries > _MOST_TRIES:
                yield (
                    "regex-bounds",
                    f"{_cut(pattern)}: {len(group)} gaps cost up to {tries:.0f} tries a place",
                    "lower the bounds",
                )
    start = _start(branch)
    if start:
        yield "regex-start", f"{_cut(pattern)}: {start}", "begin with ^, \\b or a literal"


def _connected(branch: Sequence[Piece], gaps: Sequence[int]) -> list[list[int]]:
    """Gaps between which nothing stands that the first could not match as well."""
    groups: list[list[int]] = []
    for index in gaps:
        if groups and _connects(branch, groups[-1][-1], index):
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _connects(branch: Sequence[Piece], left: int, right: int) -> bool:
    return all(
        piece.least == 0 or overlap(piece.chars, branch[left].chars)
        for piece in branch[left + 1 : right]
    )


def _start(branch: Sequence[Piece]) -> str:
    """Why looking for this branch may begin anew at every character of a long text."""
    edge = False
    for piece in branch:
        if piece is BEGIN:
            return "after ^ a repeat runs over line ends" if _crosses(branch) else ""
        if piece is HELD:
            return ""
        if piece is EDGE:
            edge = True
            continue
        if piece.fixed or piece.most <= 200:
            if piece.least > 0 or piece.fixed:
                return ""
            continue
        if edge and piece.chars <= WORD_CHARS:
            return ""
        return "it begins with an open repeat that could start anywhere"
    return ""


def _crosses(branch: Sequence[Piece]) -> bool:
    """Whether what follows a line start goes on through many empty lines, from each of them."""
    follows = next((piece for piece in branch if piece.least or piece.most), None)
    if follows is None or follows.group:
        return False
    return follows.most > 10_000 and NEWLINE in follows.chars


def _ambiguous(body: Items) -> str:
    """How one round of a repeated group can share its text with the next, "" where it can't."""
    for branch in branches(body):
        solid = [piece for piece in branch if piece.chars - {-1, -2}]
        for index, piece in enumerate(solid):
            if not piece.loop:
                continue
            around = [*solid[index + 1 :], *solid[:index]]
            if not any(
                other.least > 0 and not overlap(other.chars, piece.chars) for other in around
            ):
                return "a repeat inside a repeat can match the same text"
    choices = [single(list(branch)) for branch in alternatives(body)]
    for index, chars in enumerate(choices):
        if chars and any(other and overlap(other, chars) for other in choices[index + 1 :]):
            return "two choices inside a repeat match the same character"
    return ""


def _cut(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 70 else pattern[:69] + "…")
