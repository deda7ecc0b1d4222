"""Which rows can match at all: each row is filed under keys of which one must be active.

A key is necessary: a row is only looked at when a pattern of it may match, its exit status or
program is there, the call hung, JSON is there. Skipping is never a guess (tests compare whole
verdicts with the index on and off), so it changes the cost of a verdict, not the verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["ALWAYS", "keys_of"]

ALWAYS = frozenset({"always"})
# Costs say how often a key is active on ordinary captures; only their order matters.
_NEVER_RARE = 1000.0
_COMMON_EXITS = {0: 600.0, 1: 400.0, 2: 200.0}
_CLASS_COST = {"zero": 600.0, "nonzero": 700.0, "status": 600.0}
_MAX_RANGE = 130
_BIG = 30_000

Keyed = tuple[float, frozenset[str]]


def keys_of(
    node: Sequence[Any], predicates: Sequence[Any], has_clauses: Sequence[bool], depth: int = 0
) -> Keyed:
    """Return (cost, keys) of a compiled condition; keys is `ALWAYS` where nothing is necessary."""
    if depth > 50:
        return _NEVER_RARE, ALWAYS
    word = node[0]
    if word == "all":
        keyed = [keys_of(child, predicates, has_clauses, depth + 1) for child in node[1]]
        return min(keyed, key=lambda item: item[0], default=(_NEVER_RARE, ALWAYS))
    if word == "any":
        return _union(keys_of(child, predicates, has_clauses, depth + 1) for child in node[1])
    if word == "is":
        return keys_of(predicates[node[1]], predicates, has_clauses, depth + 1)
    if word == "text":
        return _patterns(node[3], has_clauses)
    if word == "language":
        known = _union(keys_of(child, predicates, has_clauses, depth + 1) for child in node[2])
        if not node[3]:
            return known
        failed = 500.0, frozenset({"class:nonzero", "class:unknown"})
        return _union([known, failed]) if node[2] else failed
    if word == "exit":
        return _exit(node[1])
    if word == "command":
        return _command(node)
    return _simple(node)


def _union(items: Any) -> Keyed:
    cost, keys = 0.0, frozenset[str]()
    for item_cost, item_keys in items:
        cost += item_cost
        keys |= item_keys
    return (_NEVER_RARE, ALWAYS) if not keys or "always" in keys else (cost, keys)


def _patterns(pids: Sequence[int], has_clauses: Sequence[bool]) -> Keyed:
    if not all(has_clauses[pid] for pid in pids):
        return _NEVER_RARE, ALWAYS
    return min(4.0 * len(pids), 200.0), frozenset(f"p:{pid}" for pid in pids)


def _exit(items: Sequence[Any]) -> Keyed:
    cost, keys = 0.0, set()
    for item in items:
        if isinstance(item, str):
            keys.add(f"class:{item}")
            cost += _CLASS_COST.get(item, 40.0)
        elif isinstance(item, list):
            if item[1] - item[0] > _MAX_RANGE:
                return _NEVER_RARE, ALWAYS
            keys.update(f"exit:{code}" for code in range(item[0], item[1] + 1))
            cost += 60.0
        elif item is None:
            keys.add("class:unknown")
            cost += 20.0
        else:
            keys.add(f"exit:{item}")
            cost += _COMMON_EXITS.get(item, 15.0)
    return cost, frozenset(keys)


def _command(node: Sequence[Any]) -> Keyed:
    for name, wanted in node[2]:
        if name == "program":
            return 3.0 * len(wanted) ** 0.5, frozenset(f"program:{program}" for program in wanted)
    return 450.0, frozenset({"command"})


def _simple(node: Sequence[Any]) -> Keyed:
    word = node[0]
    if word == "raw":
        return 50.0, frozenset({"escapes"})
    if word == "envelope":
        return 40.0, frozenset({"ok"})
    if word == "json" or (word == "mid_structure" and node[1]):
        return 250.0, frozenset({"json"})
    if word == "agent":
        return 60.0, frozenset({"agent"})
    if word == "extraction" and any(_needs_json(name, tests) for name, tests in node[1]):
        return 250.0, frozenset({"json"})
    if word == "timing" and any(
        name in ("hang", "timed_out") and ["in", [True]] in tests for name, tests in node[1]
    ):
        return 30.0, frozenset({"hang"})
    if word == "size" and any(_is_big(tests) for _, tests in node[1]):
        return 30.0, frozenset({"big"})
    if word == "empty" and set(node[1]) == {"stdout", "stderr"}:
        return 120.0, frozenset({"quiet"})
    return _NEVER_RARE, ALWAYS


def _needs_json(name: str, tests: Sequence[Any]) -> bool:
    """Whether the test can hold only where a JSON value was found."""
    if name == "kind":
        return True
    for kind, wanted in tests:
        if name in ("found", "polluted", "line_bounded", "fragment") and wanted == [True]:
            return True
        if name in ("candidates", "documents", "share") and kind == "min" and wanted > 0:
            return True
    return False


def _is_big(tests: Sequence[Any]) -> bool:
    return any(
        (kind == "min" and wanted >= _BIG)
        or (kind == "in" and all(isinstance(n, int) and n >= _BIG for n in wanted))
        for kind, wanted in tests
    )
