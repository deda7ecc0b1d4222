"""How right a table is on labelled captures: per case, per row, per mode, in one set of figures.

A row is right to the letter where it is the label's, accepted where it is one of `row_alt` too. A
verdict that is no failure counts as row 0. Invented captures are checked like the others and left
out of every figure (`synthetic`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from triage.cases import Case
from triage.engine import classify
from triage.model import Verdict
from triage.table import Table

__all__ = [
    "Outcome",
    "Report",
    "average_over_tools",
    "iter_tools",
    "judge_case",
    "run_cases",
    "share",
    "started_as",
]

# What a verdict says in place of a row number.
Place = int | str


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case and what became of it; `got` and `wanted` are a row, 0, or a verdict's name."""

    case: Case
    rule: str
    verdict: str
    row: int | None
    mode: int | None
    flags: tuple[str, ...]
    wanted: Place
    got: Place
    strict: bool
    accepted: bool
    agent: tuple[str, str] | None = None

    @property
    def mode_accepted(self) -> bool | None:
        """Whether the first mode is an acceptable one; None where the label names none."""
        wanted = self.case.modes
        return self.mode in wanted if wanted and self.case.verdict == "failure" else None

    @property
    def mode_best(self) -> bool | None:
        """Whether the first mode is the label's first; None where the label names none."""
        wanted = self.case.modes
        return self.mode == wanted[0] if wanted and self.case.verdict == "failure" else None

    @property
    def false_alarm(self) -> bool:
        """No failure by its label, called a failure."""
        no_failure = self.case.verdict == "not_failure"
        return no_failure and self.verdict == "failure" and not self.accepted

    @property
    def called_fine(self) -> bool:
        """A failure by its label, called none: the one error that hides something."""
        failed = self.case.verdict == "failure"
        return failed and self.verdict == "not_failure" and not self.accepted

    @property
    def pinned(self) -> bool:
        """Whether the row that won is the one the case pins; true where it pins none."""
        return self.case.rule in (None, self.rule)


def judge_case(case: Case, verdict: Verdict) -> Outcome:
    """Compare one verdict with the label of its case."""
    wanted = _place(case.verdict, case.row)
    got = _place(verdict.verdict, verdict.row)
    agent = verdict.agent
    seen = None if agent is None else (str(agent["verdict"]), str(agent["subtype"]))
    strict = got == wanted and case.verdict == verdict.verdict
    accepted = strict or got in case.row_alt
    if case.agent is not None:
        # An agent's stream is right when its own verdict is; its row may be any.
        strict = accepted = seen == case.agent
    return Outcome(
        case=case,
        rule=verdict.rule,
        verdict=verdict.verdict,
        row=verdict.row,
        mode=verdict.mode,
        flags=verdict.flags,
        wanted=wanted,
        got=got,
        strict=strict,
        accepted=accepted,
        agent=seen,
    )


def _place(verdict: str, row: int | None) -> Place:
    if verdict == "failure":
        return "failure" if row is None else row
    return 0 if verdict == "not_failure" else verdict


def run_cases(cases: Iterable[Case], table: Table) -> Report:
    """Classify every case with `table` and compare; takes about a millisecond a case."""
    started = (started_as(case, table) for case in cases)
    return Report(
        tuple(
            judge_case(case, classify(case.capture, table)) for case in started if case is not None
        )
    )


def started_as(case: Case, table: Table) -> Case | None:
    """Return the case with the command that an agent's stream doesn't hold.

    An agent's case names its CLI; how that is started stands in the table's ``agents/*.yaml``. A
    CLI that is none (generic) can't be known from a capture at all: None.
    """
    if case.agent is None:
        return case
    start = table.section("agents").get(case.tool, {}).get("command")
    if not start:
        return None
    words = [start["programs"][0], *start.get("words", ())[:1], *start.get("flags", ())[:1], "task"]
    return replace(case, capture=replace(case.capture, command=tuple(words)))


@dataclass(frozen=True, slots=True)
class Report:
    """The outcomes of one run, in the order of the cases."""

    outcomes: tuple[Outcome, ...]

    @property
    def counted(self) -> list[Outcome]:
        """The outcomes that count in figures: captures that really happened."""
        return [item for item in self.outcomes if not item.case.synthetic]

    def failures_called_fine(self) -> list[Outcome]:
        """Real failures called none."""
        return [item for item in self.counted if item.called_fine]

    def false_alarms(self) -> list[Outcome]:
        """Results that are no failure, called one."""
        return [item for item in self.counted if item.false_alarm]

    def misses(self) -> list[Outcome]:
        """Outcomes with a wrong row or a row other than the pinned one, invented ones too."""
        return [item for item in self.outcomes if not (item.accepted and item.pinned)]

    def mode_misses(self) -> list[Outcome]:
        """Counted outcomes in an accepted row whose first mode no reader accepts."""
        return [item for item in self.counted if item.accepted and item.mode_accepted is False]

    def figures(self) -> dict[str, Any]:
        """Every figure as plain data; shares are 0…1, None where nothing could be counted."""
        counted = self.counted
        labelled = [item for item in counted if item.mode_accepted is not None]
        fine = [item for item in counted if item.case.verdict == "not_failure"]
        failed = [item for item in counted if item.case.verdict == "failure"]
        return {
            "cases": len(counted),
            "synthetic": len(self.outcomes) - len(counted),
            "tools": len({item.case.tool for item in counted}),
            "rows_strict": share(item.strict for item in counted),
            "rows": share(item.accepted for item in counted),
            "modes": share(bool(item.mode_accepted) for item in labelled),
            "modes_best": share(bool(item.mode_best) for item in labelled),
            "with_modes": len(labelled),
            "no_failure_cases": len(fine),
            "false_alarms": len(self.false_alarms()),
            "false_alarm_share": share(item.false_alarm for item in fine),
            "failures": len(failed),
            "failures_called_fine": len(self.failures_called_fine()),
            "unclassified": sum("unclassified" in item.flags for item in counted),
            "unclassified_share": share("unclassified" in item.flags for item in counted),
            "modes_shown": len(self.modes_shown()),
            "by_row": self.by_row(),
        }

    def modes_shown(self) -> set[int]:
        """The modes that some case with an acceptable one gets as its first."""
        return {item.mode for item in self.outcomes if item.mode_accepted and item.mode is not None}

    def by_row(self) -> dict[str, dict[str, Any]]:
        """Row -> cases, precision, recall, accepted modes; 0 stands for no failure."""
        counted = self.counted
        table: dict[str, dict[str, Any]] = {}
        places = {item.wanted for item in counted} | {item.got for item in counted}
        for place in sorted(places, key=_order):
            wanted = [item for item in counted if item.wanted == place]
            got = [item for item in counted if item.got == place]
            labelled = [item for item in wanted if item.mode_accepted is not None]
            table[str(place)] = {
                "cases": len(wanted),
                "precision": share(item.accepted for item in got),
                "recall": share(item.accepted for item in wanted),
                "modes": share(bool(item.mode_accepted) for item in labelled),
                "modes_best": share(bool(item.mode_best) for item in labelled),
            }
        return table

    def confusion(self) -> list[tuple[Place, Place, int]]:
        """Wrong rows as (wanted, got, how often), most frequent first."""
        pairs = Counter((item.wanted, item.got) for item in self.counted if not item.accepted)
        ordered = sorted(pairs.items(), key=lambda pair: (-pair[1], _order(pair[0][0])))
        return [(wanted, got, count) for (wanted, got), count in ordered]

    def by_tool(self) -> dict[str, dict[str, Any]]:
        """Tool -> cases, accepted rows and modes."""
        tools: dict[str, list[Outcome]] = {}
        for item in self.counted:
            tools.setdefault(item.case.tool, []).append(item)
        return {
            tool: {
                "cases": len(items),
                "rows": share(item.accepted for item in items),
                "modes": share(
                    bool(item.mode_accepted) for item in items if item.mode_accepted is not None
                ),
            }
            for tool, items in sorted(tools.items())
        }

    def per_case(self) -> dict[str, dict[str, Any]]:
        """Case id -> what became of it, for comparing two runs."""
        return {
            item.case.id: {
                "rule": item.rule,
                "row": item.got,
                "mode": item.mode,
                "right": item.accepted,
                "mode_right": item.mode_accepted,
            }
            for item in sorted(self.outcomes, key=lambda item: item.case.id)
        }


def share(truths: Iterable[bool]) -> float | None:
    """Return the share of true ones to five digits, None where there are none at all."""
    values = list(truths)
    return round(sum(values) / len(values), 5) if values else None


def _order(place: Place) -> tuple[int, int, str]:
    return (0, place, "") if isinstance(place, int) else (1, 0, place)


def average_over_tools(
    by_tool: Mapping[str, Sequence[Outcome]],
) -> float | None:
    """The mean over tools of the share of accepted rows, each tool counting once."""
    shares = [share(item.accepted for item in items) for items in by_tool.values() if items]
    known = [value for value in shares if value is not None]
    return round(sum(known) / len(known), 5) if known else None


def iter_tools(cases: Iterable[Case]) -> Iterator[tuple[str, list[Case]]]:
    """Yield each tool with its real cases, by name."""
    tools: dict[str, list[Case]] = {}
    for case in cases:
        if not case.synthetic:
            tools.setdefault(case.tool, []).append(case)
    yield from sorted(tools.items())
