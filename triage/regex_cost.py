"""What the shape of a pattern says of its cost: faults that make backtracking explode, or none.

A repeat inside a repeat that can match the same text in two ways, open gaps one after another,
counted gaps whose bounds multiply, and a repeat at the start with nothing that says where to begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
    look_arounds,
    loops,
    overlap,
    parsed,
    single,
)

__all__ = ["quick_chars", "regex_faults"]

# Tries per place that counted gaps may cost together, and one may.
_MOST_TRIES = 60_000
# Steps of a search that are over before anybody asks for the time, and the sizes tried.
_QUICK_STEPS = 2e7
_QUICK_SIZES = (4096, 2048, 1024, 512, 256, 128, 64)


def quick_chars(pattern: str) -> int:
    """Return up to how many characters of any text `re` searches for `pattern` in a moment.

    A power of two from 64 to 4096, or 0: a repeated group whose rounds could share their text, or
    what only `regex` can read.
    """
    tree = parsed(pattern)
    if tree is None or not all(_one_way(body) for body in loops(tree, above=1)):
        return 0
    found = branches(tree)
    for size in _QUICK_SIZES:
        looked = _looked_around(tree, size)
        if all(_steps(branch, size) * looked <= _QUICK_STEPS for branch in found):
            return size
    return 0


def _one_way(body: Items) -> bool:
    """Whether a text can be rounds of this body in one way only, seen as it is read."""
    ways = branches(body)
    for number, way in enumerate(ways):
        for index, piece in enumerate(way):
            follows = way[(index + 1) % len(way)]
            if piece.most > piece.least and not (
                follows.least > 0 and not overlap(piece.chars, follows.chars)
            ):
                return False
        if not way or not all(_part(way, other) for other in ways[number + 1 :]):
            return False
    return True


def _part(one: Sequence[Piece], other: Sequence[Piece]) -> bool:
    """Whether two ways differ first in a character that only one of them may have."""
    for left, right in zip(one, other, strict=False):
        if left != right:
            return left.least > 0 and right.least > 0 and not overlap(left.chars, right.chars)
    return False


def _steps(branch: Sequence[Piece], size: int) -> float:
    """At most how many steps a search for one branch takes, to the order of magnitude.

    Repeats that could share their text are tried with each share; a repeat whose end is seen where
    it stands has one end, and only its own length to give back.
    """
    repeats = [i for i, piece in enumerate(branch) if piece.most > piece.least and not piece.fixed]
    ways = longest = most = 1.0
    before: int | None = None
    for index in repeats:
        piece = branch[index]
        tries = min(piece.most, size) - min(piece.least, size) + 1
        if before is None or not _share(branch, before, index):
            most = tries
        else:
            ways *= min(most, tries)
            most = max(most, tries)
        longest, before = max(longest, tries), index
    anchored = bool(branch) and branch[0] in (BEGIN, HELD)
    in_line = not any(NEWLINE in branch[index].chars for index in repeats)
    # From each line start no further than the line: together as if there were one place.
    return ways * longest * (1 if anchored and in_line else size)


def _share(branch: Sequence[Piece], left: int, right: int) -> bool:
    """Whether what `left` took could be given to `right`: nothing between says where it ends."""
    return all(
        piece.least == 0 or overlap(piece.chars, branch[left].chars)
        for piece in branch[left + 1 : right + 1]
    )


def _looked_around(items: Items, size: int) -> float:
    """At most how far look-arounds read on from one place."""
    far = [branch for body in look_arounds(items) for branch in branches(body)]
    return max([1.0, *(min(piece.most, size) for branch in far for piece in branch if piece.loop)])


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
