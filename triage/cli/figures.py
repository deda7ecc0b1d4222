"""The human form of test results, mutation and findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from triage.cli.output import say
from triage.corpus import Comparison
from triage.finding import Finding
from triage.mutate import MutationReport
from triage.score import Outcome, Report

__all__ = [
    "miss_data",
    "percent",
    "print_comparison",
    "print_findings",
    "print_mutation",
    "print_report",
]

_MOST_CONFUSED = 12
# Notes of these codes are counted; with --notes each is printed.
_COUNTED = frozenset({"overlap", "unneeded", "tool-names", "regex-re2"})


def percent(value: float | None) -> str:
    """A share for a reader, a dash where nothing was counted."""
    return "-" if value is None else f"{value * 100:.1f} %"


def print_report(report: Report, figures: Mapping[str, Any], misses: bool) -> None:
    """Print accuracy by row and mode, alarms, the catch-all's share and what was missed."""
    invented = f", {figures['synthetic']} invented ones not counted"
    say(f"cases          {figures['cases']} of {figures['tools']} tools{invented}")
    strict = percent(figures["rows_strict"])
    say(f"rows           {percent(figures['rows'])} (to the letter {strict})")
    say(
        f"modes          {percent(figures['modes'])} acceptable, {percent(figures['modes_best'])} "
        f"best, of {figures['with_modes']}"
    )
    say(f"false alarms   {figures['false_alarms']} of {figures['no_failure_cases']}")
    say(f"called fine    {figures['failures_called_fine']} of {figures['failures']} failures")
    say(f"catch-all      {percent(figures['unclassified_share'])}")
    say(f"modes shown    {figures['modes_shown']}")
    say("")
    say(f"{'row':>12} {'cases':>6} {'precision':>10} {'recall':>8} {'modes':>8} {'best':>8}")
    for row, item in figures["by_row"].items():
        name = "no failure" if row == "0" else row
        say(
            f"{name:>12} {item['cases']:>6} {percent(item['precision']):>10} "
            f"{percent(item['recall']):>8} {percent(item['modes']):>8} "
            f"{percent(item['modes_best']):>8}"
        )
    confusion = report.confusion()
    if confusion:
        pairs = (f"{wanted}->{got} {count}x" for wanted, got, count in confusion[:_MOST_CONFUSED])
        say(f"\nconfused (wanted->got): {', '.join(pairs)}")
    if misses:
        _print_misses("wrong row", report.misses())
        _print_misses("no acceptable mode", report.mode_misses())


def _print_misses(title: str, outcomes: Sequence[Outcome]) -> None:
    if outcomes:
        say(f"\n{title}:")
    for item in outcomes:
        data = miss_data(item)
        wanted = f"row {data['wanted']}" + "".join(f" §{n}" for n in data["modes_wanted"][:3])
        got = f"row {data['got']}" + (f" §{data['mode']}" if data["mode"] else "")
        mark = " (invented)" if item.case.synthetic else ""
        pin = "" if item.pinned else f", pinned to {item.case.rule}"
        told = f"wanted {wanted}, got {got} by {item.rule}{pin}"
        say(f"{item.case.place}: {item.case.id}{mark}: {told}")


def miss_data(item: Outcome) -> dict[str, Any]:
    """One outcome as plain data."""
    return {
        "case": item.case.id,
        "place": item.case.place,
        "tool": item.case.tool,
        "synthetic": item.case.synthetic,
        "wanted": item.wanted,
        "row_alt": list(item.case.row_alt),
        "modes_wanted": list(item.case.modes),
        "got": item.got,
        "mode": item.mode,
        "rule": item.rule,
        "pinned": item.case.rule,
    }


def print_mutation(report: MutationReport) -> None:
    """Print the mutation score and each change that nobody noticed."""
    say(
        f"\nmutation       {len(report.noticed)} of {report.total} changes noticed "
        f"({percent(report.score)}), {report.free} swaps change nothing"
    )
    for kind, (noticed, count) in report.by_kind().items():
        say(f"{kind:>12} {noticed:>6} of {count}")
    for mutant in report.survivors:
        say(f"{mutant.where}: {mutant.target}: {mutant.what}: nobody notices")


def print_comparison(comparison: Comparison) -> None:
    """Print case by case what got better, worse, or is right by another row."""
    for title, items in (
        ("worse", comparison.worse),
        ("better", comparison.better),
        ("by another row", comparison.moved),
    ):
        say(f"\n{title}: {len(items)}")
        for case, before, after in items:
            say(f"  {case}: {before} -> {after}")
    if comparison.only_before or comparison.only_after:
        say(f"\nonly before: {len(comparison.only_before)}, only now: {len(comparison.only_after)}")


def print_findings(findings: Iterable[Finding], counts: Mapping[str, Any], notes: bool) -> None:
    """Print findings in the order of their places, then how many there are."""
    for finding in findings:
        counted = finding.code in _COUNTED or finding.waived is not None
        if notes or not counted:
            say(str(finding))
    say(
        f"{counts['error']} errors, {counts['warning']} warnings, {counts['note']} notes, "
        f"{counts['waived']} waived"
    )
    if counts["by_code"]:
        say(", ".join(f"{code} {count}" for code, count in counts["by_code"].items()))
