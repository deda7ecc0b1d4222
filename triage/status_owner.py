"""Which command of a parsed line may own the final status, and whether a failure may be hidden.

The rules are those of POSIX sh (2.8.2 exit status, 2.9 shell commands) plus pipefail and
`set -e` of bash. Commands are known here by their index only.
"""

from __future__ import annotations

from typing import Literal

from triage.frozen import frozen

__all__ = ["Tree", "hides_failure", "owners"]

TreeKind = Literal[
    "leaf",
    "pipe",
    "list",
    "seq",
    "background",
    "not",
    "group",
    "subshell",
    "if",
    "loop",
    "case",
    "nobody",
]


@frozen()
class Tree:
    """A command (`leaf`, with the index of its `stage`) or commands that hang together.

    `ops` stand between the parts of a `list`; `conditions` counts the leading parts of an `if`
    or `loop` that are conditions; `exhaustive` is an `if` with an else. `pipefail` belongs to a
    `pipe`; `watched` are the parts of a `seq` whose failure ends it (`set -e`).
    Of a leaf: `quiet` says that its failure can't be missed, `gives` is the only status it can
    have (-1: any), `leaves` says that it ends the shell, `passes` that it hands on the status
    before it (`exit $?`), `buries` that it holds substitutions whose status is lost.
    """

    kind: TreeKind
    parts: tuple[Tree, ...] = ()
    ops: tuple[str, ...] = ()
    stage: int = -1
    conditions: int = 0
    exhaustive: bool = False
    pipefail: bool = False
    watched: tuple[int, ...] = ()
    quiet: bool = False
    gives: int = -1
    leaves: bool = False
    passes: bool = False
    buries: bool = False


def owners(tree: Tree, status: int | None, pipestatus: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Return the indices of the commands that may have set `status`, in the order of the line."""
    if tree.kind == "leaf" and tree.gives < 0 and not tree.leaves:
        return (tree.stage,)
    search = _Search()
    found: frozenset[int] = frozenset()
    if not status:
        found |= search.shell(tree, _Seen(True, status, pipestatus))
    if status != 0:
        found |= search.shell(tree, _Seen(False, status, pipestatus))
    return tuple(sorted(found))


@frozen()
class _Seen:
    """What is known of a status: whether it is 0, its value, the statuses of the last pipe."""

    ok: bool
    status: int | None = None
    pipestatus: tuple[int, ...] = ()


_FAILED = _Seen(False)
_NOBODY: frozenset[int] = frozenset()
# `exit` hands on the status before it; a line where that happens more often is nobody's.
_MOST_EXITS = 50


class _Search:
    """One search; answers are remembered, since conditions and exits lead to them twice."""

    __slots__ = ("ends", "fixed")

    def __init__(self) -> None:
        self.ends: dict[tuple[int, _Seen], frozenset[int]] = {}
        self.fixed: set[int] = set()

    def shell(self, tree: Tree, seen: _Seen) -> frozenset[int]:
        """Who may own the status of a shell that runs `tree`: its end, or an early `exit`."""
        return self.end(tree, seen) | self.exits(tree, seen)

    def end(self, tree: Tree, seen: _Seen) -> frozenset[int]:
        """Who may own the status where `tree` runs to its end."""
        key = (id(tree), seen)
        if key not in self.ends:
            self.ends[key] = self._end(tree, seen)
        return self.ends[key]

    def _end(self, tree: Tree, seen: _Seen) -> frozenset[int]:
        kind = tree.kind
        if kind == "leaf":
            return self.leaf(tree, seen)
        if kind in ("background", "nobody"):
            return _NOBODY
        if kind == "not":
            return self.end(tree.parts[0], _Seen(not seen.ok))
        if kind == "pipe":
            return self.pipe(tree, seen)
        if kind == "list":
            return self.chain(tree, seen, len(tree.parts) - 1)
        if kind == "seq":
            return self.sequence(tree, seen, len(tree.parts) - 1)
        if kind == "subshell":
            return self.shell(tree.parts[0], seen)
        found = _NOBODY.union(*(self.end(body, seen) for body in tree.parts[tree.conditions :]))
        if seen.ok and tree.conditions and not tree.exhaustive:
            # No branch was taken: the condition's "no" became the status 0.
            conditions = tree.parts[: tree.conditions]
            found = found.union(*(self.end(condition, _FAILED) for condition in conditions))
        return found

    def leaf(self, tree: Tree, seen: _Seen) -> frozenset[int]:
        if tree.gives >= 0:
            self.fixed.add(tree.stage)
            fits = tree.gives == seen.status if seen.status else (tree.gives == 0) == seen.ok
            if not fits:
                return _NOBODY
        return frozenset([tree.stage])

    def pipe(self, tree: Tree, seen: _Seen) -> frozenset[int]:
        parts, codes = tree.parts, seen.pipestatus
        if len(codes) == len(parts):
            failed = [i for i, code in enumerate(codes) if code != 0]
            if seen.status:
                failed = [i for i in failed if codes[i] == seen.status] or failed
            chosen = failed or [len(parts) - 1]
            return _NOBODY.union(
                *(self.shell(parts[i], _Seen(codes[i] == 0, codes[i])) for i in chosen)
            )
        bare = _Seen(seen.ok, seen.status)
        if tree.pipefail and not seen.ok:
            return _NOBODY.union(*(self.shell(part, bare) for part in parts))
        return self.shell(parts[-1], bare)

    def chain(self, tree: Tree, seen: _Seen, last: int) -> frozenset[int]:
        """Find the owners of the first parts of an `&&`/`||` chain, up to `last`."""
        found: set[int] = set()
        for position in range(last, -1, -1):
            part = tree.parts[position]
            if position and part.passes:
                continue
            here = self.end(part, seen)
            found |= here
            if not position:
                break
            decided = seen.ok if tree.ops[position - 1] == "&&" else not seen.ok
            # `a || exit 1`: exit gives the status, but it is `a` that failed.
            if decided and (seen.ok or not here or not here <= self.fixed):
                break
            seen = _FAILED if decided else seen
        return frozenset(found)

    def sequence(self, tree: Tree, seen: _Seen, last: int) -> frozenset[int]:
        """Find the owners of the first parts of a `;` list, up to `last`."""
        while last > 0 and tree.parts[last].passes:
            last -= 1
        found = self.end(tree.parts[last], seen)
        if seen.ok:
            return found
        watched = (position for position in tree.watched if position < last)
        return found.union(*(self.end(tree.parts[position], seen) for position in watched))

    def exits(self, tree: Tree, seen: _Seen) -> frozenset[int]:
        """Who may own the status when an `exit` inside ends the whole shell."""
        kind = tree.kind
        if kind == "leaf":
            return self.leaf(tree, seen) if tree.leaves and not tree.passes else _NOBODY
        if kind in ("subshell", "pipe", "background", "nobody"):
            return _NOBODY
        found: set[int] = set()
        handed_on = 0
        for position, part in enumerate(tree.parts):
            inside = self.exits(part, seen)
            found |= inside
            passes = _begins_with_exit(part)
            before = inside and kind == "list" and position and tree.ops[position - 1] == "||"
            if not (passes or before) or handed_on > _MOST_EXITS:
                continue
            handed_on += 1
            if kind in ("if", "loop") and position >= tree.conditions:
                for condition in tree.parts[: tree.conditions]:
                    found |= self.end(condition, seen)
            elif kind == "seq" and position:
                found |= self.sequence(tree, seen, position - 1)
            elif kind == "list" and position:
                found |= self.chain(tree, seen if passes else _FAILED, position - 1)
        return frozenset(found)


def _begins_with_exit(tree: Tree) -> bool:
    """Whether the first thing a part does may be to hand on the status before it."""
    while tree.kind in ("list", "seq", "group", "subshell", "if", "loop") and tree.parts:
        tree = tree.parts[0]
    return tree.passes


def hides_failure(tree: Tree) -> bool:
    """Return whether status 0 may stand although a command of the line failed."""
    kind, parts = tree.kind, tree.parts
    if kind == "leaf":
        return tree.buries
    if kind in ("background", "loop"):
        return True
    if kind == "nobody":
        return False
    if kind == "list" and "||" in tree.ops:
        return True
    unwatched: list[Tree] = []
    if kind == "pipe" and not tree.pipefail:
        unwatched = list(parts[:-1])
    elif kind == "seq" and not (len(parts) == 2 and parts[1].passes):
        watched = set(tree.watched)
        unwatched = [part for i, part in enumerate(parts[:-1]) if i not in watched]
    return any(not _is_quiet(part) for part in unwatched) or any(map(hides_failure, parts))


def _is_quiet(tree: Tree) -> bool:
    if tree.kind == "leaf":
        return tree.quiet and not tree.buries
    return tree.kind == "nobody" or (
        tree.kind == "group" and all(_is_quiet(part) for part in tree.parts)
    )
