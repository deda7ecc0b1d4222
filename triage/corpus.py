"""Run labelled captures through a table, under harder conditions too, and compare two runs.

This is what `triage test` prints; use it to test rules of your own:

    report = run_cases(load_cases(Path("corpus")), load_table("rules"))
    print(report.figures()["rows"])
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.cases import Case, load_cases
from triage.command import parse_command
from triage.errors import TriageError, UsageError
from triage.score import (
    Outcome,
    Report,
    average_over_tools,
    iter_tools,
    judge_case,
    run_cases,
    share,
)
from triage.table import Table

__all__ = [
    "Case",
    "Comparison",
    "Outcome",
    "Report",
    "below_thresholds",
    "compare",
    "judge_case",
    "load_cases",
    "read_results",
    "read_thresholds",
    "results",
    "results_text",
    "rules_digest",
    "run_cases",
    "without_commands",
    "without_tools",
]

THRESHOLDS = "thresholds.yaml"
# Threshold -> the figure it holds for, and whether it is a floor.
_THRESHOLDS: Mapping[str, tuple[str, bool]] = {
    "rows": ("rows", True),
    "modes": ("modes", True),
    "modes_best": ("modes_best", True),
    "false_alarm_share": ("false_alarm_share", False),
    "failures_called_fine": ("failures_called_fine", False),
}
_OTHER_RUNS = ("without_command", "without_tool", "mutation")


def without_commands(cases: Iterable[Case], table: Table) -> Report:
    """Run the cases as an observer saw them who noted no command; agents' streams are left out."""
    return run_cases([case.without_command() for case in cases if case.agent is None], table)


def without_tools(cases: Iterable[Case], table: Table) -> dict[str, Any]:
    """Run each tool's cases with the tool's name taken out of every condition of the table.

    Returns ``{average, tools: {tool: {cases, rows}}}``; the average counts each tool once.
    """
    outcomes: dict[str, Sequence[Outcome]] = {}
    for tool, own in iter_tools(cases):
        altered = _without_names(table, _names_of(tool, own))
        outcomes[tool] = run_cases(own, altered).outcomes
    return {
        "average": average_over_tools(outcomes),
        "tools": {
            tool: {"cases": len(items), "rows": share(item.accepted for item in items)}
            for tool, items in outcomes.items()
        },
    }


def _names_of(tool: str, cases: Iterable[Case]) -> frozenset[str]:
    """The names a tool goes by: its own, and programs of its cases that begin like it."""
    name = tool.casefold()
    names = {name}
    for case in cases:
        if case.capture.command is not None:
            for program in parse_command(case.capture.command).programs:
                folded = program.casefold()
                if folded.startswith(name) or (len(folded) > 2 and name.startswith(folded)):
                    names.add(folded)
    return frozenset(names)


class _Altered:
    """The sections of a table, some of them replaced."""

    def __init__(self, table: Table, replaced: Mapping[str, Any]) -> None:
        self.table = table
        self.replaced = replaced

    def __getitem__(self, name: str) -> Any:
        return self.replaced[name] if name in self.replaced else self.table.section(name)


def _without_names(table: Table, names: frozenset[str]) -> Table:
    hot = table.section("hot")
    rows = [{**row, "when": _stripped(row["when"], names)} for row in hot["rows"]]
    predicates = [_stripped(node, names) for node in hot["predicates"]]
    if predicates == hot["predicates"] and rows == hot["rows"]:
        return table
    # The index stays: a row filed under a name it no longer knows is looked at in vain.
    altered = _Altered(table, {"hot": {**hot, "rows": rows, "predicates": predicates}})
    return Table(altered, content_hash=table.hash, roots=table.roots, prefilter="literals")


def _stripped(node: Any, names: frozenset[str]) -> Any:
    word = node[0]
    if word in ("all", "any"):
        return [word, [_stripped(child, names) for child in node[1]]]
    if word == "not":
        return [word, _stripped(node[1], names)]
    if word != "command":
        return node
    stage = [
        [name, [item for item in wanted if item not in names] if name == "program" else wanted]
        for name, wanted in node[2]
    ]
    return [word, node[1], stage, node[3]]


def read_thresholds(corpus: Path) -> dict[str, float]:
    """Return the thresholds kept beside a corpus, none where it has no file of them."""
    from triage.yaml_source import load_yaml

    path = corpus / THRESHOLDS
    if not path.is_file():
        return {}
    source = load_yaml(str(path), path.read_text("utf-8"))
    for key, value in (source.data or {}).items():
        if key not in _THRESHOLDS or isinstance(value, bool) or not isinstance(value, (int, float)):
            known = ", ".join(_THRESHOLDS)
            raise UsageError(source.where(key), f"no threshold `{key}: {value}`", f"use {known}")
    return dict(source.data or {})


def below_thresholds(figures: Mapping[str, Any], thresholds: Mapping[str, float]) -> list[str]:
    """Return one sentence for each figure on the wrong side of its threshold."""
    missed = []
    for key, bound in thresholds.items():
        figure, floor = _THRESHOLDS[key]
        value = figures[figure]
        if value is not None and (value < bound if floor else value > bound):
            missed.append(f"{figure} is {value:g}, {'at least' if floor else 'at most'} {bound:g}")
    return missed


def rules_digest(table: Table) -> str:
    """A digest of all that decides which row wins; the words of documents don't."""
    from hashlib import blake2b

    hot = table.section("hot")
    parts = [list(hot[key]) for key in ("rows", "predicates", "patterns")]
    text = json.dumps(parts, ensure_ascii=False)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def results(report: Report, table: Table, others: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``--save`` writes: figures, other runs, and what became of each case."""
    return {
        "rules": rules_digest(table),
        "figures": report.figures(),
        **{name: others[name] for name in _OTHER_RUNS if name in others},
        "cases": report.per_case(),
    }


def read_results(path: Path) -> dict[str, Any]:
    """Read what ``--save`` wrote; raises `UsageError` for anything else."""
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        what = f"can't be read: {error.strerror}"
        raise UsageError(str(path), what, "name what --save wrote") from None
    except ValueError:
        data = None
    if not isinstance(data, dict) or not isinstance(data.get("cases"), dict):
        raise UsageError(str(path), "no saved results", "name what --save wrote")
    return data


def results_text(data: Mapping[str, Any]) -> str:
    """Return results as JSON with one case a line, so that two versions compare line by line."""
    parts = []
    for key, value in data.items():
        if key == "cases":
            lines = [f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items()]
            parts.append('  "cases": {\n' + ",\n".join(lines) + "\n  }")
        else:
            text = json.dumps(value, indent=2).replace("\n", "\n  ")
            parts.append(f"  {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What got better and worse between two runs; items are (case, before, after)."""

    better: tuple[tuple[str, str, str], ...]
    worse: tuple[tuple[str, str, str], ...]
    moved: tuple[tuple[str, str, str], ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> Comparison:
    """Compare the `cases` of two results; `moved` are cases as right as before by another row."""
    better, worse, moved = [], [], []
    for case in sorted(before.keys() & after.keys()):
        old, new = before[case], after[case]
        try:
            item = (case, _told(old), _told(new))
            old_rank, new_rank = _rank(old), _rank(new)
        except (KeyError, TypeError):
            raise TriageError(case, "not a saved outcome", "write it with --save") from None
        if new_rank > old_rank:
            better.append(item)
        elif new_rank < old_rank:
            worse.append(item)
        elif item[1] != item[2]:
            moved.append(item)
    return Comparison(
        tuple(better),
        tuple(worse),
        tuple(moved),
        tuple(sorted(before.keys() - after.keys())),
        tuple(sorted(after.keys() - before.keys())),
    )


def _rank(outcome: Mapping[str, Any]) -> tuple[bool, bool]:
    return bool(outcome["right"]), outcome["mode_right"] is not False


def _told(outcome: Mapping[str, Any]) -> str:
    mode = f" §{outcome['mode']}" if outcome["mode"] else ""
    return f"{outcome['rule']} (row {outcome['row']}{mode})"
