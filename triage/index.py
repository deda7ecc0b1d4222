"""Which rows can match at all: each row has gates, sets of keys of which one must be active.

A key is a pattern that may match, an exit status or class, a program, "the call hung", "there is
JSON". All gates of a row are necessary for it, so a row with a closed one can't match: skipping is
never a guess (tests compare whole verdicts with the index on and off). It changes the cost of a
verdict, not the verdict. A row is filed under the keys of its first gate; a gate with one of the
`DEAR` keys is asked last, because its answer has to be worked out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["DEAR", "file_rows", "gates_of", "pattern_cost", "searched_in_text"]

# Costs say how often a set is active on ordinary captures; only their order matters.
_COMMON_EXITS = {0: 600.0, 1: 400.0, 2: 200.0}
_CLASS_COST = {"zero": 600.0, "nonzero": 700.0, "status": 600.0}
_DEAR_COST = 900.0
_MAX_RANGE = 130
_BIG = 30_000
_DEEPEST = 50
# How many gates one `any` may give.
_MOST_UNITED = 3

# Keys that `triage.prefilter` works out only for a row that has passed its other gates.
DEAR = frozenset({"agent", "cut", "envelope", "foreign", "json_wanted", "masks_status", "polluted"})

# A pattern by its number, anything else by its name.
Key = int | str
# (cost, keys): one of the keys must be active.
Gate = tuple[float, frozenset[Key]]


def file_rows(
    whens: Sequence[Any], predicates: Sequence[Any], costs: Sequence[float]
) -> tuple[dict[str, list[int]], list[list[int]], list[list[list[Key]]]]:
    """Return the rows filed under each name, those under each pattern, and all other gates."""
    gates = [gates_of(when, predicates, costs) for when in whens]
    index: dict[str, list[int]] = {}
    rows_of: list[list[int]] = [[] for _ in costs]
    for number, gate in enumerate(gates):
        for key in gate[0] if gate else ("always",):
            filed = rows_of[key] if isinstance(key, int) else index.setdefault(key, [])
            filed.append(number)
    return dict(sorted(index.items())), rows_of, [gate[1:] for gate in gates]


def searched_in_text(nodes: Sequence[Any]) -> set[int]:
    """Return the patterns that conditions search for in the text of the streams."""
    found: set[int] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if node[0] == "text":
            found.update(node[3])
        elif node[0] in ("all", "any"):
            todo.extend(node[1])
        elif node[0] == "not":
            todo.append(node[1])
        elif node[0] == "language":
            todo.extend(node[2])
    return found


def pattern_cost(clauses: Sequence[Sequence[str]]) -> float:
    """How often a pattern that needs `clauses` may match, in the measure of the other gates."""
    if not clauses:
        return 450.0
    # A text has most pairs of letters and few words.
    shortest = max(min(map(len, clause)) for clause in clauses)
    return {1: 150.0, 2: 90.0, 3: 30.0, 4: 12.0}.get(shortest, 4.0)


def gates_of(
    when: Sequence[Any], predicates: Sequence[Any], costs: Sequence[float]
) -> list[list[Key]]:
    """Return the sets of keys of which each must have an active one, the rarest set first.

    `when` is a compiled condition, `costs` are the patterns' own (see `pattern_cost`). A condition
    that nothing is necessary for has no set at all.
    """
    gates = _Gates(predicates, costs).of(when, 0)
    ordered = sorted(set(gates), key=lambda gate: (gate[0], len(gate[1]), _sorted(gate[1])))
    return [_sorted(keys) for _, keys in ordered]


def _sorted(keys: Iterable[Key]) -> list[Key]:
    # A dear key stands first, where it is looked for.
    return sorted(keys, key=lambda key: (key not in DEAR, isinstance(key, str), str(key).zfill(8)))


class _Gates:
    def __init__(self, predicates: Sequence[Any], costs: Sequence[float]) -> None:
        self.predicates = predicates
        self.costs = costs

    def of(self, node: Sequence[Any], depth: int) -> list[Gate]:
        if depth > _DEEPEST:
            return []
        word = node[0]
        if word == "all":
            return [gate for child in node[1] for gate in self.of(child, depth + 1)]
        if word == "any":
            return self.union([self.of(child, depth + 1) for child in node[1]])
        if word == "not":
            return []
        if word == "is":
            return self.of(self.predicates[node[1]], depth + 1)
        if word == "text":
            return self.patterns(node[3])
        if word == "language":
            return self.language(node, depth)
        if word == "exit":
            return _exit(node[1])
        if word == "command":
            return _command(node)
        return _simple(node)

    def language(self, node: Sequence[Any], depth: int) -> list[Gate]:
        known = [self.of(child, depth + 1) for child in node[2]]
        if not node[3]:
            return self.union(known)
        patterns = frozenset[Key]().union(*(keys for gates in known for _, keys in gates))
        # Where no translation is known the catalogues are asked, if the call did not end with 0.
        failed = patterns | {"class:nonzero", "class:unknown"}
        return [(500.0, failed), (_DEAR_COST, patterns | {"foreign"})]

    def union(self, branches: list[list[Gate]]) -> list[Gate]:
        """Gates of conditions of which one must hold: what all have, and one of each together.

        Together are the rarest of all branches, then the second rarest, and so on.
        """
        if not all(branches):
            return []
        common = set(branches[0]).intersection(*branches[1:])
        ranked = [sorted(gates, key=lambda gate: (gate[0], len(gate[1]))) for gates in branches]
        united = []
        for rank in range(min(max(map(len, ranked)), _MOST_UNITED)):
            chosen = [gates[min(rank, len(gates) - 1)] for gates in ranked]
            keys = frozenset[Key]().union(*(keys for _, keys in chosen))
            # Only alone is a dear key ever worked out.
            if not keys & DEAR:
                united.append((sum(cost for cost, _ in chosen), keys))
        return [*common, *united]

    def patterns(self, pids: Sequence[int]) -> list[Gate]:
        return [(min(sum(self.costs[pid] for pid in pids), 650.0), frozenset(pids))]


def _exit(items: Sequence[Any]) -> list[Gate]:
    cost, keys = 0.0, set[Key]()
    for item in items:
        if isinstance(item, str):
            keys.add(f"class:{item}")
            cost += _CLASS_COST.get(item, 40.0)
        elif isinstance(item, list):
            if item[1] - item[0] > _MAX_RANGE:
                return []
            keys.update(f"exit:{code}" for code in range(item[0], item[1] + 1))
            cost += 60.0
        elif item is None:
            keys.add("class:unknown")
            cost += 20.0
        else:
            keys.add(f"exit:{item}")
            cost += _COMMON_EXITS.get(item, 15.0)
    return [(cost, frozenset(keys))]


def _command(node: Sequence[Any]) -> list[Gate]:
    gates: list[Gate] = []
    for name, wanted in node[2]:
        if name == "program":
            programs = frozenset[Key](f"program:{program}" for program in wanted)
            gates.append((3.0 * len(wanted) ** 0.5, programs))
    for name, wanted in node[1]:
        if name in ("masks_status", "json_wanted") and wanted:
            gates.append(_dear(name))
        elif name == "shape":
            cost = 500.0 if "simple" in wanted else 100.0
            gates.append((cost, frozenset[Key](f"shape:{shape}" for shape in wanted)))
    plain = any(cost < _DEAR_COST for cost, _ in gates)
    return gates if plain else [*gates, _one(550.0, "command")]


def _one(cost: float, key: Key) -> Gate:
    return cost, frozenset([key])


def _dear(key: str) -> Gate:
    return _DEAR_COST, frozenset[Key]([key])


def _simple(node: Sequence[Any]) -> list[Gate]:
    """The sets of the words that ask for a fact: all their tests must hold, so all count."""
    word = node[0]
    if word == "raw":
        return [_one(50.0, "escapes")]
    if word == "envelope":
        return [_one(100.0, "ok"), _dear("envelope")]
    if word == "json":
        return [_one(250.0, "json")]
    if word == "mid_structure":
        return [_one(250.0, "json"), _dear("cut")] if node[1] else []
    if word == "agent":
        return [_one(800.0, "agent?"), _dear("agent")]
    if word == "empty":
        return [_one(_EMPTY_COST[name], f"empty:{name}") for name in node[1]]
    gates: list[Gate] = []
    for name, tests in node[1]:
        key = _fact_key(word, name, tests)
        if key is not None:
            gates.append(_one(_FACT_COST[key], key))
        if key == "json" and name == "polluted":
            gates.append(_dear("polluted"))
    return gates


_EMPTY_COST = {"stdout": 300.0, "stderr": 350.0}
_FACT_COST = {
    "json": 250.0, "hang": 30.0, "big": 30.0, "merged": 30.0, "sandboxed": 10.0,
    "truncated": 15.0, "pty": 10.0, "undecodable": 25.0,
}  # fmt: skip


def _fact_key(word: str, name: str, tests: Sequence[Any]) -> str | None:
    """The key without which the test of one fact can't hold, None where there is none."""
    true = ["in", [True]] in tests
    if word == "timing":
        return "hang" if true and name in ("hang", "timed_out") else None
    if word == "size":
        return "big" if _is_big(tests) else None
    if word == "observed":
        return name if true and name in _FACT_COST else None
    return "json" if word == "extraction" and _needs_json(name, tests) else None


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
