"""Which conditions of a table does a case need? Change each in turn and see who notices.

A change is noticed when it makes another row win on at least one witness, a corpus case or a
row's sample. Only the changed row is asked again, so a thousand changes take about a minute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from triage.logic import Logic
from triage.mutants import Mutant, condition_mutants
from triage.rulebook import Rulebook
from triage.table import Row, Table
from triage.witness import Gathered, Witness, outcome_of

__all__ = ["MutationReport", "mutate", "row_mutants", "unneeded"]


@dataclass(frozen=True, slots=True)
class MutationReport:
    """What became of all mutants; `free` counts swaps that provably change nothing."""

    noticed: tuple[Mutant, ...]
    survivors: tuple[Mutant, ...]
    free: int

    @property
    def total(self) -> int:
        return len(self.noticed) + len(self.survivors)

    @property
    def score(self) -> float:
        """Share of the mutants that a case or a sample notices; 1 where there are none."""
        return round(len(self.noticed) / self.total, 5) if self.total else 1.0

    def by_kind(self) -> dict[str, tuple[int, int]]:
        """Kind -> how many noticed, how many in all."""
        noticed = Counter(mutant.kind for mutant in self.noticed)
        everything = noticed + Counter(mutant.kind for mutant in self.survivors)
        return {kind: (noticed[kind], everything[kind]) for kind in sorted(everything)}

    def figures(self) -> dict[str, Any]:
        """The counts as plain data."""
        return {
            "mutants": self.total,
            "noticed": len(self.noticed),
            "score": self.score,
            "free_swaps": self.free,
            "by_kind": {
                kind: {"noticed": noticed, "mutants": count}
                for kind, (noticed, count) in self.by_kind().items()
            },
        }


def row_mutants(rulebook: Rulebook, table: Table) -> Iterator[Mutant]:
    """Yield the mutants of every row's condition, in table order."""
    for number, row in enumerate(rulebook.rows):
        node: Any = table.row(number).when
        path = (*row.steps, "when")
        yield from condition_mutants(row.id, row.data["when"], node, row.source, path)


def mutate(
    rulebook: Rulebook, gathered: Gathered, kinds: Iterable[str] | None = None
) -> MutationReport:
    """Make every change of every row, named predicate and neighbourhood; see who notices.

    `kinds` limits the changes (drop, flip, branch, status, test, swap). `gathered` must hold the
    witnesses of the table that `rulebook` was compiled to.
    """
    wanted = None if kinds is None else frozenset(kinds)
    field = _Field(gathered)
    noticed: list[Mutant] = []
    survivors: list[Mutant] = []
    for mutant in row_mutants(rulebook, gathered.table):
        if wanted is None or mutant.kind in wanted:
            (noticed if field.row_noticed(mutant) else survivors).append(mutant)
    for number, mutant in _predicate_mutants(rulebook, gathered.table):
        if wanted is None or mutant.kind in wanted:
            seen = field.predicate_noticed(number, mutant)
            (noticed if seen else survivors).append(mutant)
    free = 0
    if wanted is None or "swap" in wanted:
        logic = Logic(gathered.table.matcher.predicates)
        for first, second in _neighbours(rulebook, gathered.table):
            if _order_is_free(logic, gathered.table.row(first), gathered.table.row(second)):
                free += 1
                continue
            below = rulebook.rows[second]
            what = f"swap with `{rulebook.rows[first].id}` above"
            mutant = Mutant(below.id, "swap", below.where(), what, [])
            seen = field.swap_noticed(first, second)
            (noticed if seen else survivors).append(mutant)
    return MutationReport(tuple(noticed), tuple(survivors), free)


def unneeded(rulebook: Rulebook, gathered: Gathered, asked: Container[str]) -> list[Mutant]:
    """Return the conditions of the rows `asked` that can be dropped without a witness noticing."""
    field = _Field(gathered)
    return [
        mutant
        for mutant in row_mutants(rulebook, gathered.table)
        if mutant.target in asked
        and mutant.kind in ("drop", "branch", "status", "test")
        and not field.row_noticed(mutant)
    ]


def _predicate_mutants(rulebook: Rulebook, table: Table) -> Iterator[tuple[int, Mutant]]:
    numbers = {name: number for number, name in enumerate(table.predicate_names)}
    for entry in rulebook.predicates():
        number = numbers[entry.steps[0]]
        node: Any = table.matcher.predicates[number]
        steps = (*entry.steps, "when")
        for mutant in condition_mutants(entry.id, entry.data["when"], node, entry.source, steps):
            yield number, mutant


def _neighbours(rulebook: Rulebook, table: Table) -> Iterator[tuple[int, int]]:
    """Rows next to each other in one chapter: the order of chapters is the seed's, not ours."""
    for number in range(len(table) - 1):
        if rulebook.rows[number].chapter == rulebook.rows[number + 1].chapter:
            yield number, number + 1


def _order_is_free(logic: Logic, first: Row, second: Row) -> bool:
    return outcome_of(first) == outcome_of(second) or logic.disjoint(first.when, second.when)


class _Field:
    """The witnesses in the order in which they are likely to notice a change."""

    def __init__(self, gathered: Gathered) -> None:
        self.table = gathered.table
        self.numbers = {row.id: row.number for row in gathered.table}
        self.witnesses = gathered.witnesses
        self.dependents: dict[int, list[int]] | None = None
        self.own: dict[str, list[Witness]] = {}
        for witness in gathered.samples:
            self.own.setdefault(str(witness.owner), []).append(witness)

    def row_noticed(self, mutant: Mutant) -> bool:
        number = self.numbers[mutant.target]
        return any(
            self._changes(witness, number, mutant.node)
            for group in (self.own.get(mutant.target, ()), self.witnesses)
            for witness in group
        )

    def _changes(self, witness: Witness, number: int, node: Sequence[Any]) -> bool:
        """Whether row `number`, with another condition, wins what it did not, or the reverse."""
        if witness.winner < number:
            return False
        holds = self.table.matcher.holds(node, witness.signals, [])
        if witness.winner == number:
            # The last row takes what no row took, whatever its condition says.
            return not holds and number != self.table.last_resort.number
        return holds

    def swap_noticed(self, first: int, second: int) -> bool:
        return any(
            witness.winner == first and second in witness.matched for witness in self.witnesses
        )

    def predicate_noticed(self, number: int, mutant: Mutant) -> bool:
        rows = self._dependents().get(number, [])
        if not rows:
            return False
        matcher = self.table.matcher
        kept = matcher.predicates
        changed = [*kept[:number], mutant.node, *kept[number + 1 :]]
        for witness in self.witnesses:
            signals = witness.signals
            before = matcher.holds(kept[number], signals, [])
            if matcher.holds(mutant.node, signals, []) is before:
                continue
            remembered = {key: value for key, value in signals.memo.items() if key[0] == "is"}
            for key in remembered:
                del signals.memo[key]
            matcher.predicates = changed
            try:
                if self._winner_changes(witness, rows):
                    return True
            finally:
                matcher.predicates = kept
                for key in [key for key in signals.memo if key[0] == "is"]:
                    del signals.memo[key]
                signals.memo.update(remembered)
        return False

    def _winner_changes(self, witness: Witness, rows: Sequence[int]) -> bool:
        for number in rows:
            if number > witness.winner:
                return False
            holds = self.table.matcher.holds(self.table.row(number).when, witness.signals, [])
            if holds is not (number == witness.winner):
                return True
        return False

    def _dependents(self) -> dict[int, list[int]]:
        """Predicate -> the rows that name it, directly or through others, in table order."""
        if self.dependents is None:
            predicates = self.table.matcher.predicates
            deep = [_named(node, predicates, frozenset()) for node in predicates]
            self.dependents = {}
            for row in self.table:
                for number in _direct(row.when):
                    for reached in {number, *deep[number]}:
                        rows = self.dependents.setdefault(reached, [])
                        if not rows or rows[-1] != row.number:
                            rows.append(row.number)
        return self.dependents


def _direct(node: Sequence[Any]) -> set[int]:
    if node[0] == "is":
        return {node[1]}
    if node[0] in ("all", "any"):
        return {number for child in node[1] for number in _direct(child)}
    return _direct(node[1]) if node[0] == "not" else set()


def _named(node: Sequence[Any], predicates: Sequence[Any], above: frozenset[int]) -> frozenset[int]:
    found = frozenset(_direct(node)) - above
    for number in found:
        found |= _named(predicates[number], predicates, above | found)
    return found
