"""Which command of a parsed line may own the final status, and whether a failure may be hidden.

The rules are those of POSIX sh (2.8.2 exit status, 2.9 shell commands) plus pipefail and
`set -e` of bash. Commands are known here by their index only.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

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


class Tree(NamedTuple):
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
    found = _any(tree, _Seen(True, status, pipestatus)) if not status else []
    if status != 0:
        found = found + _any(tree, _Seen(False, status, pipestatus))
    return tuple(sorted({leaf.stage for leaf in found}))


class _Seen(NamedTuple):
    """What is known of a status: whether it is 0, its value, the statuses of the last pipe."""

    ok: bool
    status: int | None = None
    pipestatus: tuple[int, ...] = ()


_FAILED = _Seen(False)


def _any(tree: Tree, seen: _Seen) -> list[Tree]:
    """Return who may own the status of a shell that runs `tree`: its end, or an early `exit`."""
    return [*_find(tree, seen), *_exits(tree, seen)]


def _find(tree: Tree, seen: _Seen) -> list[Tree]:
    kind = tree.kind
    if kind == "leaf":
        return [tree] if _fits(tree, seen) else []
    if kind in ("background", "nobody"):
        return []
    if kind == "not":
        return _find(tree.parts[0], _Seen(not seen.ok))
    if kind == "pipe":
        return _of_pipe(tree, seen)
    if kind == "list":
        return _of_list(tree, seen, len(tree.parts) - 1)
    if kind == "seq":
        return _of_sequence(tree, seen, len(tree.parts) - 1)
    if kind == "subshell":
        return _any(tree.parts[0], seen)
    found = [leaf for body in tree.parts[tree.conditions :] for leaf in _find(body, seen)]
    if seen.ok and tree.conditions and not tree.exhaustive:
        # No branch was taken: the condition's "no" became the status 0.
        for condition in tree.parts[: tree.conditions]:
            found += _find(condition, _FAILED)
    return found


def _fits(leaf: Tree, seen: _Seen) -> bool:
    if leaf.gives < 0:
        return True
    return leaf.gives == seen.status if seen.status else (leaf.gives == 0) == seen.ok


def _of_pipe(tree: Tree, seen: _Seen) -> list[Tree]:
    parts, codes = tree.parts, seen.pipestatus
    if len(codes) == len(parts):
        failed = [i for i, code in enumerate(codes) if code != 0]
        if seen.status:
            failed = [i for i in failed if codes[i] == seen.status] or failed
        chosen = failed or [len(parts) - 1]
        return [leaf for i in chosen for leaf in _any(parts[i], _Seen(codes[i] == 0, codes[i]))]
    bare = _Seen(seen.ok, seen.status)
    if tree.pipefail and not seen.ok:
        return [leaf for part in parts for leaf in _any(part, bare)]
    return _any(parts[-1], bare)


def _of_list(tree: Tree, seen: _Seen, last: int) -> list[Tree]:
    """Find the owners of the first parts of an `&&`/`||` chain, up to `last`."""
    found: list[Tree] = []
    for position in range(last, -1, -1):
        part = tree.parts[position]
        if position and part.passes:
            continue
        here = _find(part, seen)
        found += here
        if not position:
            break
        decided = seen.ok if tree.ops[position - 1] == "&&" else not seen.ok
        # `a || exit 1`: exit gives the status, but it is `a` that failed.
        if decided and (seen.ok or not here or any(leaf.gives < 0 for leaf in here)):
            break
        if decided:
            return found + _of_list(tree, _FAILED, position - 1)
    return found


def _of_sequence(tree: Tree, seen: _Seen, last: int) -> list[Tree]:
    """Find the owners of the first parts of a `;` list, up to `last`."""
    while last > 0 and tree.parts[last].passes:
        last -= 1
    found = _find(tree.parts[last], seen)
    if not seen.ok:
        for position in tree.watched:
            if position < last:
                found += _find(tree.parts[position], seen)
    return found


def _exits(tree: Tree, seen: _Seen) -> list[Tree]:
    """Find who may own the status when an `exit` inside ends the whole shell."""
    if tree.kind == "leaf":
        return [tree] if tree.leaves and not tree.passes and _fits(tree, seen) else []
    if tree.kind in ("subshell", "pipe", "background", "nobody"):
        return []
    found: list[Tree] = []
    for position, part in enumerate(tree.parts):
        inside = _exits(part, seen)
        found += inside
        handed_on = _begins_with_exit(part)
        if tree.kind in ("if", "loop") and position >= tree.conditions and handed_on:
            for condition in tree.parts[: tree.conditions]:
                found += _find(condition, seen)
        elif tree.kind == "seq" and position and handed_on:
            found += _of_sequence(tree, seen, position - 1)
        elif tree.kind == "list" and position and handed_on:
            found += _of_list(tree, seen, position - 1)
        elif tree.kind == "list" and position and inside and tree.ops[position - 1] == "||":
            found += _of_list(tree, _FAILED, position - 1)
    return found


def _begins_with_exit(tree: Tree) -> bool:
    """Whether the first thing a part does may be to hand on the status before it."""
    while tree.kind in ("list", "seq", "group", "if", "loop") and tree.parts:
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
        unwatched = [part for i, part in enumerate(parts[:-1]) if i not in tree.watched]
    return any(not _is_quiet(part) for part in unwatched) or any(map(hides_failure, parts))


def _is_quiet(tree: Tree) -> bool:
    if tree.kind == "leaf":
        return tree.quiet and not tree.buries
    return tree.kind == "nobody" or (
        tree.kind == "group" and all(_is_quiet(part) for part in tree.parts)
    )
