"""Samples that would notice what nobody notices: for each surviving change, one short capture.

Candidates come from the row's own samples with one thing changed, from cases it wins, from lines
that other witnesses really printed, and last from sketches of its condition. One is kept only
where the real matcher says that the change makes another row win. Whether the table is right about
it, a person must say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triage.engine import signals_for
from triage.errors import CaptureError
from triage.logic import statuses
from triage.mutants import Mutant
from triage.printed_lines import PrintedLines
from triage.rulebook import RowSource, Rulebook
from triage.samples import sample_capture
from triage.signals import Signals
from triage.sketch import NEAR_JSON, merged, sample_of, sketches
from triage.table import Table
from triage.witness import Gathered

__all__ = ["Suggestion", "suggest"]

_MOST_CANDIDATES = 900
_LONGEST_TEXT = 1500
_STATUSES = (0, 1, 2, 3, 7, 126, 127, 124, 130, 137, 139, 255, None)
_CASES_PER_ROW = 6
# A program that no rule knows by name.
_NOBODY = "frobctl"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A sample for one row: `kind` is match or no_match, `won_by` the row that takes it now.

    `notices` are the changes it makes noticeable.
    """

    rule: str
    kind: str
    sample: Mapping[str, Any]
    won_by: str
    notices: tuple[Mutant, ...]


def suggest(
    rulebook: Rulebook, gathered: Gathered, survivors: Iterable[Mutant]
) -> Iterator[Suggestion]:
    """Yield samples for the surviving changes of rows, row by row, where one was found.

    Takes about a tenth of a second a change.
    """
    by_row: dict[str, list[Mutant]] = {}
    for mutant in survivors:
        if not mutant.target.startswith("vocabulary:"):
            by_row.setdefault(mutant.target, []).append(mutant)
    numbers = {row.id: number for number, row in enumerate(rulebook.rows)}
    printed = PrintedLines(gathered)
    for row_id, mutants in by_row.items():
        number = numbers[row_id]
        search = _Search(rulebook.rows[number], number, gathered, rulebook, printed)
        yield from search.suggestions(mutants)


class _Tried:
    """One candidate, asked: its signals and the first row that takes it."""

    __slots__ = ("data", "matched", "signals")

    def __init__(self, data: Mapping[str, Any], table: Table) -> None:
        self.data = data
        self.signals: Signals = signals_for(sample_capture(data, "candidate"), table)
        self.matched = [
            number
            for number in table.prefilter.rows(self.signals, self.signals.possible)
            if table.matcher.holds(table.row(number).when, self.signals, [])
        ]


class _Search:
    """Candidates for one row, and which of them notices which change."""

    def __init__(
        self,
        row: RowSource,
        number: int,
        gathered: Gathered,
        rulebook: Rulebook,
        printed: PrintedLines,
    ) -> None:
        self.printed = printed
        self.row = row
        self.number = number
        self.table = gathered.table
        self.gathered = gathered
        self.rulebook = rulebook
        self.node = gathered.table.row(number).when
        self.tried: list[_Tried] = []
        self.seen: set[str] = set()

    def suggestions(self, mutants: Sequence[Mutant]) -> Iterator[Suggestion]:
        open_ = list(mutants)
        swap = any(mutant.kind == "swap" for mutant in mutants)
        # What is made of real captures reads like one, so sketches get only what it leaves.
        for candidates in (self._real(self.node, swap), self._sketched(self.node)):
            self._try(candidates)
            while open_:
                best = self._best(open_)
                if best is None:
                    break
                tried, noticed = best
                open_ = [mutant for mutant in open_ if mutant not in noticed]
                yield self._suggestion(tried, noticed)
        # What a changed condition lets in must be made from the changed condition.
        for mutant in open_:
            before = len(self.tried)
            self._try(self._sketched(self._changed(mutant)))
            found = next((t for t in self.tried[before:] if self._notices(t, mutant)), None)
            if found is not None:
                yield self._suggestion(found, [mutant])

    def _best(self, mutants: Sequence[Mutant]) -> tuple[_Tried, list[Mutant]] | None:
        """The candidate that notices most; of equals the shortest."""
        ranked = []
        for position, tried in enumerate(self.tried):
            noticed = [mutant for mutant in mutants if self._notices(tried, mutant)]
            if noticed:
                size = len(json.dumps(tried.data))
                ranked.append((-len(noticed), size, position, noticed))
        if not ranked:
            return None
        _, _, position, noticed = min(ranked, key=lambda item: item[:3])
        return self.tried[position], noticed

    def _notices(self, tried: _Tried, mutant: Mutant) -> bool:
        winner = tried.matched[0] if tried.matched else self.table.last_resort.number
        if mutant.kind == "swap":
            return winner == self.number - 1 and self.number in tried.matched
        if winner < self.number:
            return False
        holds = self.table.matcher.holds(mutant.node, tried.signals, [])
        return holds is not (winner == self.number)

    def _suggestion(self, tried: _Tried, noticed: Sequence[Mutant]) -> Suggestion:
        winner = tried.matched[0] if tried.matched else self.table.last_resort.number
        kind = "match" if winner == self.number else "no_match"
        won_by = self.rulebook.rows[winner].id
        return Suggestion(self.row.id, kind, tried.data, won_by, tuple(noticed))

    def _changed(self, mutant: Mutant) -> Sequence[Any]:
        if mutant.kind == "swap":
            return ["all", [self.table.row(self.number - 1).when, self.node]]
        return mutant.node

    def _try(self, candidates: Iterable[Mapping[str, Any]]) -> None:
        count = 0
        for data in candidates:
            key = json.dumps(data, sort_keys=True, default=str)
            if key in self.seen or len(key) > _LONGEST_TEXT:
                continue
            self.seen.add(key)
            try:
                self.tried.append(_Tried(data, self.table))
            except CaptureError:
                continue
            count += 1
            if count >= _MOST_CANDIDATES:
                return

    def _real(self, node: Sequence[Any], swap: bool) -> Iterator[Mapping[str, Any]]:
        """Samples and cases with one thing changed, or with a line that others printed."""
        bases = self._bases()
        yield from bases
        additions = [line for part in _inside_not(node, self.table) for line in self.printed(part)]
        yield from _varied(bases, additions, node)
        if swap and self.number:
            above = self.rulebook.rows[self.number - 1].data["match"]
            for base in self.row.data["match"]:
                for other in above:
                    yield from _with(base, other)
                    yield from _with(other, base)

    def _sketched(self, node: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
        bases = self._bases()
        made = sketches(node, self.table.matcher)
        bases += [sample_of(sketch) for sketch in made]
        yield from bases
        absent = _inside_not(node, self.table)
        additions = [sketch for part in absent for sketch in sketches(part, self.table.matcher)[:4]]
        yield from _varied(bases, additions, node)
        for base in bases[:4]:
            for sketch in made:
                yield from _with(base, sketch)
            # In place of what it printed, what is near a JSON value.
            for text in NEAR_JSON:
                yield {**base, "stdout": text}

    def _bases(self) -> list[dict[str, Any]]:
        samples = [dict(sample) for kind in ("match", "no_match") for sample in self.row.data[kind]]
        return samples + self._cases()

    def _cases(self) -> list[dict[str, Any]]:
        """Short cases that the row wins, as samples with no more than a verdict rests on."""
        from triage.last_run import capture_data

        won = [w for w in self.gathered.cases if w.winner == self.number and w.case is not None]
        data = [capture_data(w.signals.capture) for w in won]
        data = [{key: value for key, value in item.items() if key != "duration_s"} for item in data]
        short = [item for item in data if len(json.dumps(item)) < _LONGEST_TEXT]
        return sorted(short, key=lambda item: len(json.dumps(item)))[:_CASES_PER_ROW]


def _with(base: Mapping[str, Any], sketch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """`base` with what a sketch adds: its text, and its command or status in place of the own."""
    texts = ("stdout", "stderr")
    own = {key: value for key, value in base.items() if key not in sketch or key in texts}
    both = merged(own, sketch)
    if both is not None:
        yield sample_of({"exit_code": base["exit_code"], "command": base.get("command"), **both})


def _varied(
    bases: Sequence[Mapping[str, Any]], additions: Sequence[Mapping[str, Any]], node: Sequence[Any]
) -> Iterator[dict[str, Any]]:
    """Each base with each addition, then with other statuses, then with less."""
    for base in bases:
        for addition in additions:
            yield from _with(base, addition)
    codes = [*_STATUSES, *_named_statuses(node)]
    for base in bases:
        yield from ({**base, "exit_code": code} for code in codes)
        yield from _fewer(base)


def _fewer(base: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """`base` with one thing less, or elsewhere."""
    for key in ("command", "stdout", "stderr", "timed_out", "merged", "duration_s"):
        if key in base:
            yield {name: value for name, value in base.items() if name != key}
    out, err = base.get("stdout"), base.get("stderr")
    if isinstance(out, str) or isinstance(err, str):
        swapped = {key: value for key, value in base.items() if key not in ("stdout", "stderr")}
        yield {**swapped, **({"stderr": out} if out else {}), **({"stdout": err} if err else {})}
        both = "\n".join(text for text in (err, out) if isinstance(text, str) and text)
        yield {**swapped, "merged": both}
    command = base.get("command")
    if isinstance(command, str) and command:
        words = command.split()
        yield {**base, "command": "tool run"}
        yield {**base, "command": words[0]}
        yield {**base, "command": " ".join([_NOBODY, *words[1:]])}
        yield {**base, "command": f"{command} | cat"}
        yield {**base, "command": f"{command} && tool run"}
        yield {**base, "command": f"tool; {command}"}
        yield from (
            {**base, "command": " ".join([*words[:index], *words[index + 1 :]])}
            for index in range(1, len(words))
        )
    yield {**base, "timed_out": True}


def _inside_not(node: Sequence[Any], table: Table) -> list[Sequence[Any]]:
    """The conditions that a condition excludes, each choice by itself."""
    if node[0] == "not":
        inner = node[1]
        return list(inner[1]) if inner[0] == "any" else [inner]
    if node[0] in ("all", "any"):
        return [part for child in node[1] for part in _inside_not(child, table)]
    return []


def _named_statuses(node: Sequence[Any]) -> list[int | None]:
    if node[0] == "exit":
        codes: list[int | None] = []
        for item in node[1]:
            found = sorted(code for code in statuses([item]) if code is not None)
            codes += [*found[:1], *found[-1:]]
        return codes
    if node[0] in ("all", "any"):
        return [code for child in node[1] for code in _named_statuses(child)]
    return _named_statuses(node[1]) if node[0] == "not" else []
