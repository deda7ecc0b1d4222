"""Captures that say something about a table: corpus cases and the rows' own samples.

A witness keeps its signals and every pattern search made on it, so that a changed row can be asked
of thousands of captures in a moment. That is what lint and mutation rest on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from triage.cases import Case
from triage.engine import classify, signals_for
from triage.match import Matcher
from triage.model import Capture
from triage.rulebook import Rulebook
from triage.score import started_as
from triage.signals import Signals
from triage.table import Row, Table

__all__ = [
    "Gathered",
    "Witness",
    "failed_samples",
    "gather",
    "outcome_of",
    "remembering",
    "taken_by_disabled",
]


class _RememberingMatcher(Matcher):
    """A matcher that keeps what it found with the signals it searched."""

    __slots__ = ()

    def search(
        self, pid: int, text: str, start: int, end: int, signals: Signals
    ) -> tuple[int, int] | None:
        # The text itself is part of the key: an argument's text lives shorter than the memo.
        key = ("search", pid, start, end, text)
        memo = signals.memo
        if key not in memo:
            memo[key] = super().search(pid, text, start, end, signals)
        found: tuple[int, int] | None = memo[key]
        return found


def remembering(table: Table) -> Table:
    """Return the same table with a matcher that remembers its searches; `table` stays as it is."""
    # Ever new texts make RE2 build its set's states anew: literals are several times as fast here.
    copy = table.with_prefilter("literals")
    copy.matcher = _RememberingMatcher(table.matcher.sources, table.matcher.predicates)
    return copy


@dataclass(frozen=True, slots=True)
class Witness:
    """One capture and the rows it matches, in table order; the first wins.

    `kind` is case, match or no_match; `owner` the row a sample belongs to, None for a case.
    """

    name: str
    kind: str
    owner: str | None
    place: str
    signals: Signals
    matched: tuple[int, ...]
    winner: int
    case: Case | None = None

    def reaches(self, table: Table, row_id: str) -> bool:
        """Whether `row_id` wins this witness."""
        return table.row(self.winner).id == row_id


@dataclass(frozen=True, slots=True)
class Gathered:
    """All witnesses of one table; `table` is the remembering one they were asked with."""

    table: Table
    witnesses: tuple[Witness, ...]

    @property
    def samples(self) -> Sequence[Witness]:
        return [witness for witness in self.witnesses if witness.kind != "case"]

    @property
    def cases(self) -> Sequence[Witness]:
        return [witness for witness in self.witnesses if witness.kind == "case"]


def gather(table: Table, rulebook: Rulebook, cases: Iterable[Case] = ()) -> Gathered:
    """Ask every row of every sample and case; raises `CaptureError` for a sample that is none."""
    asked = remembering(table)
    witnesses: list[Witness] = []
    for row in rulebook.rows:
        for kind in ("match", "no_match"):
            for number, (capture, place) in enumerate(row.samples(kind), 1):
                name = f"{row.id} {kind} {number}"
                witnesses.append(_ask(asked, name, kind, row.id, place, capture, None))
    for case in cases:
        # An agent's case that no command can start still shows what its stream looks like.
        capture = (started_as(case, table) or case).capture
        witnesses.append(_ask(asked, case.id, "case", None, case.place, capture, case))
    return Gathered(asked, tuple(witnesses))


def _ask(
    table: Table,
    name: str,
    kind: str,
    owner: str | None,
    place: str,
    capture: Capture,
    case: Case | None,
) -> Witness:
    signals = signals_for(capture, table)
    matched = tuple(
        number
        for number in table.prefilter.rows(signals, signals.possible)
        if table.matcher.holds(table.row(number).when, signals, [])
    )
    winner = matched[0] if matched else table.last_resort.number
    return Witness(name, kind, owner, place, signals, matched, winner, case)


def failed_samples(gathered: Gathered, rulebook: Rulebook) -> list[tuple[Witness, Row]]:
    """Return the samples that are wrong, each with the row that won it.

    A `match` sample must be won by its row, a `no_match` sample by another one. A sample of ours
    that an overlay's row takes is no fault: that is what overlays are for. Nor is one that another
    row takes now because an overlay disabled the row that had it.
    """
    layers = {row.id: row.layer for row in rulebook.rows}
    freed = None
    wrong: list[tuple[Witness, Row]] = []
    for witness in gathered.samples:
        winner = gathered.table.row(witness.winner)
        own = winner.id == witness.owner
        if own is (witness.kind == "match"):
            continue
        if not own and layers[winner.id] > layers[str(witness.owner)]:
            continue
        if own and not layers[winner.id]:
            freed = freed or taken_by_disabled(rulebook)
            if freed(witness.signals.capture):
                continue
        wrong.append((witness, winner))
    return wrong


def taken_by_disabled(rulebook: Rulebook) -> Callable[[Capture], bool]:
    """Return what tells of a capture whether a row of ours took it that an overlay disabled."""
    from triage.cache import load_table

    off = {row.id for row in rulebook.disabled}
    if not off:
        return lambda capture: False
    ours = load_table(rulebook.roots[0])
    return lambda capture: classify(capture, ours).rule in off


def outcome_of(row: Row) -> tuple[Any, ...]:
    """What a row makes of a call; two rows with one outcome may stand in either order."""
    return (
        row.verdict, row.row, row.modes, repr(row.modes_by), repr(row.do), repr(row.do_by),
        repr(row.retry), row.flags, repr(row.agent),
    )  # fmt: skip
