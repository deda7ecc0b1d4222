"""`triage lint`: a decision table verified without running it on anything new.

Each check is a generator of findings in its own module: structure, witnesses, patterns, words.
Findings are waived in the row or the named predicate they are about: ``waive: {code: reason}``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triage.cases import Case, load_cases
from triage.errors import LocatedIssue, RuleError, TriageError
from triage.finding import CODES, Finding, found

if TYPE_CHECKING:
    from triage.rulebook import RowSource

__all__ = ["counts", "lint_table"]

_LEVELS = ("error", "warning", "note")


def lint_table(
    root: Path,
    overlays: Sequence[Path] = (),
    corpus: Path | None = None,
    *,
    conditions: bool = True,
) -> list[Finding]:
    """Verify the rules below `root` with their overlays; findings in the order of their places.

    `corpus` is a folder of cases that serve as witnesses beside the rows' samples, and the rows of
    the rules folder beside it are to have one; `conditions` asks also which conditions of these
    rows no witness needs. A table that can't be loaded has only findings that say why; nothing is
    raised for what a rule file or a case holds.
    """
    from triage.cache import load_table
    from triage.lint_regex import regex_findings
    from triage.lint_structure import structure_findings
    from triage.lint_witness import witness_findings
    from triage.lint_words import word_findings
    from triage.rulebook import load_rulebook
    from triage.witness import gather

    try:
        table = load_table(root, overlays=overlays)
        rulebook = load_rulebook(root, overlays)
    except RuleError as error:
        return [_fault("schema", issue) for issue in error.issues]
    cases: list[Case] = []
    findings: list[Finding] = []
    if corpus is not None:
        cases, findings = _cases(corpus)
    try:
        gathered = gather(table, rulebook, cases)
    except TriageError as error:
        return [_fault("sample", LocatedIssue(error.where, error.what, error.remedy))]
    findings += structure_findings(rulebook, table)
    answers = frozenset[int]() if corpus is None else _answered(rulebook.roots, corpus)
    findings += witness_findings(rulebook, gathered, answers=answers, conditions=conditions)
    uses = list(rulebook.patterns())
    findings += regex_findings(uses)
    findings += word_findings(uses)
    findings = _waived(findings, {row.id: row.waived for row in rulebook.waiving()})
    # Under an overlay that takes over or disables, our rows may have nothing to waive.
    held = [row for row in rulebook.waiving() if row.layer or not overlays]
    findings += _waivers_without_use(findings, held, answers if conditions else ())
    return sorted(findings, key=_place)


def _answered(roots: Sequence[Path], corpus: Path) -> frozenset[int]:
    """The layers a corpus has cases for: the folder's beside it; else all overlays', or ours."""
    home = corpus.resolve().parent
    beside = [layer for layer, root in enumerate(roots) if root.resolve().parent == home]
    return frozenset(beside or range(1, len(roots)) or (0,))


def _fault(code: str, issue: LocatedIssue) -> Finding:
    return found(code, issue.where.rpartition("/")[2].partition(":")[0], issue.where, issue.what,
                 issue.remedy)  # fmt: skip


def _cases(corpus: Path) -> tuple[list[Case], list[Finding]]:
    cases: list[Case] = []
    try:
        cases.extend(load_cases(corpus))
    except RuleError as error:
        return cases, [_fault("case", issue) for issue in error.issues]
    return cases, []


def _waived(findings: Iterable[Finding], waivers: Mapping[str, Mapping[str, str]]) -> list[Finding]:
    return [
        replace(finding, waived=waivers.get(finding.rule, {}).get(finding.code))
        for finding in findings
    ]


def _waivers_without_use(
    findings: Iterable[Finding],
    rows: Iterable[RowSource],
    answers: Container[int],
) -> Iterator[Finding]:
    used = {(finding.rule, finding.code) for finding in findings}
    for row in rows:
        unasked = () if row.layer in answers else ("unneeded", "no-case")
        for code in row.waived:
            where = row.where("waive", code)
            if code not in CODES:
                known = ", ".join(sorted(CODES))
                yield found("waiver", row.id, where, f"no finding is called `{code}`", known)
            elif (row.id, code) not in used and code not in unasked:
                what = f"nothing to waive: no `{code}` here"
                yield found("waiver", row.id, where, what, "remove the waiver")


def _place(finding: Finding) -> tuple[str, int, int, str]:
    path, line, column = (*finding.where.rsplit(":", 2), "1", "1")[:3]
    number = int(line) if line.isdigit() else 1
    return path, number, int(column) if column.isdigit() else 1, finding.code


def counts(findings: Iterable[Finding]) -> dict[str, Any]:
    """Findings by severity, and how many are waived, and by code."""
    listed = list(findings)
    open_ = [finding for finding in listed if finding.waived is None]
    by_code: dict[str, int] = {}
    for finding in open_:
        by_code[finding.code] = by_code.get(finding.code, 0) + 1
    return {
        **{
            level: sum(f.severity == level for f in open_) for level in ("error", "warning", "note")
        },
        "waived": len(listed) - len(open_),
        "by_code": dict(sorted(by_code.items())),
    }
