"""What captures say about a table: rows nobody reaches, samples that fail, needless conditions.

Where two conditions can't be compared by proof, corpus cases and samples are asked instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator

from triage.finding import Finding, found
from triage.mutate import unneeded
from triage.rulebook import Rulebook
from triage.witness import Gathered, Witness, failed_samples, outcome_of

__all__ = ["witness_findings"]

_SHOWN = 4


def witness_findings(
    rulebook: Rulebook, gathered: Gathered, *, answers: Container[int], conditions: bool
) -> Iterator[Finding]:
    """Yield the findings that need witnesses.

    `answers` are the layers whose rows the gathered cases are there for, so that a row without one
    is a finding; `conditions` asks which conditions of these rows can be dropped unnoticed (some
    ten seconds for ours).
    """
    yield from _samples(rulebook, gathered)
    yield from _shadowed(rulebook, gathered)
    yield from _no_case(rulebook, gathered, answers)
    yield from _overlaps(rulebook, gathered)
    if conditions:
        yield from _unneeded(rulebook, gathered, answers)


def _samples(rulebook: Rulebook, gathered: Gathered) -> Iterator[Finding]:
    for witness, winner in failed_samples(gathered, rulebook):
        if witness.kind == "match":
            what = f"its match sample is won by `{winner.id}`"
            remedy = "narrow that row, widen this one, or correct the sample"
        else:
            what, remedy = "it wins its no_match sample", "narrow the row or correct the sample"
        yield found("sample", str(witness.owner), witness.place, what, remedy)


def _shadowed(rulebook: Rulebook, gathered: Gathered) -> Iterator[Finding]:
    """Rows that match, and always after an earlier one."""
    for number, row in enumerate(rulebook.rows):
        matched = [witness for witness in gathered.witnesses if number in witness.matched]
        if not matched or any(witness.winner == number for witness in matched):
            continue
        winners = Counter(gathered.table.row(witness.winner).id for witness in matched)
        by, count = winners.most_common(1)[0]
        if any(rulebook.rows[witness.winner].layer > row.layer for witness in matched):
            continue
        what = f"matches {len(matched)} witnesses and wins none; `{by}` takes {count} of them"
        remedy = "move this row above it, or narrow that one"
        yield found("shadowed", row.id, row.where("when"), what, remedy)


def _no_case(rulebook: Rulebook, gathered: Gathered, answers: Container[int]) -> Iterator[Finding]:
    won = Counter(witness.winner for witness in gathered.cases)
    for number, row in enumerate(rulebook.rows):
        if not won[number] and row.layer in answers:
            what = "no case of the corpus reaches it"
            yield found("no-case", row.id, row.where(), what, "record one, or remove the row")


def _overlaps(rulebook: Rulebook, gathered: Gathered) -> Iterator[Finding]:
    table = gathered.table
    for number, row in enumerate(rulebook.rows):
        shared: Counter[int] = Counter()
        matters: Counter[int] = Counter()
        for witness in gathered.witnesses:
            if witness.winner != number:
                continue
            for other in witness.matched[1:]:
                shared[other] += 1
                if _order_matters(witness, gathered, other):
                    matters[other] += 1
        # Every failure also matches the catch-alls; that is what they are for.
        shared.pop(table.last_resort.number, None)
        if not shared:
            continue
        named = ", ".join(
            f"`{rulebook.rows[other].id}` ({matters[other]} of {count})"
            for other, count in shared.most_common(_SHOWN)
        )
        more = f" and {len(shared) - _SHOWN} more" if len(shared) > _SHOWN else ""
        what = f"wins over {len(shared)} later rows, their order matters for: {named}{more}"
        yield found("overlap", row.id, row.where(), what)


def _order_matters(witness: Witness, gathered: Gathered, other: int) -> bool:
    """Whether the label would be missed if `other` won instead."""
    table = gathered.table
    winner, loser = table.row(witness.winner), table.row(other)
    if outcome_of(winner) == outcome_of(loser):
        return False
    case = witness.case
    if case is None:
        return True
    place = loser.row if loser.verdict == "failure" else 0
    wanted = case.row if case.verdict == "failure" else 0
    mode = loser.modes[0] if loser.modes else None
    return not (
        (place == wanted or place in case.row_alt) and (not case.modes or mode in case.modes)
    )


def _unneeded(rulebook: Rulebook, gathered: Gathered, answers: Container[int]) -> Iterator[Finding]:
    asked = {row.id for row in rulebook.rows if row.layer in answers}
    for mutant in unneeded(rulebook, gathered, asked):
        what = f"{mutant.what}: no case and no sample notices"
        remedy = "remove it, or add the case that needs it"
        yield found("unneeded", mutant.target, mutant.where, what, remedy)
