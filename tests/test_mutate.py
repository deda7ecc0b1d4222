"""Changed conditions: which there are, and that "nobody notices" is what a slow look finds too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sound_rules import SOUND_CASES, corpus_folder, one_row, rules_folder

from triage.cache import load_table
from triage.cases import load_cases
from triage.engine import matching_rows, signals_for
from triage.mutants import Mutant
from triage.mutate import MutationReport, mutate, row_mutants, unneeded
from triage.rulebook import Rulebook, load_rulebook
from triage.table import Table
from triage.witness import Gathered, gather

VOCABULARY = """\
quiet:
  why: Nothing was printed at all on either stream.
  when:
    empty: both
    exit: nonzero
"""
CHAPTER = """\
rows:
  - id: many-parts
    row: 11
    modes: [19]
    when:
      exit: [1, 2, 50-60]
      any:
        - stderr: 'slow down'
        - all:
            - stderr: 'too many'
            - command: {program: [tool, other], flags: [-x]}
        - is: quiet
          command: {program: silent}
      not:
        - stderr: 'never mind'
        - stdout: 'all is well'
    why: A row with one of each part that can be changed.
    match:
      - {exit_code: 1, command: tool, stderr: 'slow down'}
      - {exit_code: 55, command: tool -x, stderr: 'too many'}
    no_match:
      - {exit_code: 1, command: tool, stderr: 'slow down, never mind'}
      - {exit_code: 7, command: tool, stderr: 'slow down'}
      - {exit_code: 1, command: tool, stderr: 'too many'}
"""


def gathered_from(
    tmp_path: Path, chapter: str, vocabulary: str = "{}\n"
) -> tuple[Rulebook, Gathered]:
    root = rules_folder(tmp_path / "rules", {"11-rate-limit": chapter}, vocabulary)
    corpus = corpus_folder(tmp_path / "corpus", SOUND_CASES)
    rulebook = load_rulebook(root)
    return rulebook, gather(load_table(root), rulebook, load_cases(corpus))


def told(mutants: Any, target: str = "many-parts") -> set[str]:
    return {f"{m.kind}: {m.what}" for m in mutants if m.target == target}


def test_every_part_of_a_condition_is_changed(tmp_path: Path) -> None:
    rulebook, gathered = gathered_from(tmp_path, CHAPTER, VOCABULARY)
    found = told(row_mutants(rulebook, gathered.table))
    assert {
        "drop: drop exit: [1, 2, '50-60']",
        "flip: turn round exit: [1, 2, '50-60']",
        "status: drop status 1",
        "status: drop status 50-60",
        "branch: drop stderr: slow down of any",
        "branch: drop is: quiet and command: {'program': 'silent'} of any",
        "drop: drop is: quiet",
        "drop: drop command: {'program': 'silent'}",
        "test: drop command.program ['tool', 'other']",
        "test: drop command.flags ['-x']",
        "branch: drop stderr: never mind of any (inside not)",
        "branch: drop stdout: all is well of any (inside not)",
    } <= found


def test_a_list_of_one_name_is_dropped_as_a_whole(tmp_path: Path) -> None:
    chapter = one_row("hush", "{exit: 1, is: [quiet], not: {is: [quiet]}}")
    rulebook, gathered = gathered_from(tmp_path, chapter, VOCABULARY)
    found = told(row_mutants(rulebook, gathered.table), "hush")
    assert "drop: drop is: ['quiet']" in found
    assert not any("drop is: quiet" in what for what in found)


def test_a_change_knows_its_line(tmp_path: Path) -> None:
    rulebook, gathered = gathered_from(tmp_path, CHAPTER, VOCABULARY)
    lines = CHAPTER.split("\n")
    for mutant in row_mutants(rulebook, gathered.table):
        if mutant.target != "many-parts":
            continue
        path, line, _ = mutant.where.rsplit(":", 2)
        assert path.endswith("11-rate-limit.yaml")
        if mutant.kind == "status":
            assert "exit:" in lines[int(line) - 1]
        if "never mind" in mutant.what:
            assert "never mind" in lines[int(line) - 1]


def test_what_samples_and_cases_notice(tmp_path: Path) -> None:
    rulebook, gathered = gathered_from(tmp_path, CHAPTER, VOCABULARY)
    report = mutate(rulebook, gathered)
    noticed, survivors = told(report.noticed), told(report.survivors)
    assert "branch: drop stderr: slow down of any" in noticed
    assert "drop: drop exit: [1, 2, '50-60']" in noticed
    assert "branch: drop stderr: never mind of any (inside not)" in noticed
    # No sample ends with 2, says that all is well, or is silent.
    assert "status: drop status 2" in survivors
    assert "branch: drop stdout: all is well of any (inside not)" in survivors
    assert "branch: drop is: quiet and command: {'program': 'silent'} of any" in survivors
    assert not noticed & survivors
    assert report.total == len(report.noticed) + len(report.survivors)
    assert report.figures()["score"] == pytest.approx(len(report.noticed) / report.total, abs=1e-5)


def test_named_predicates_are_changed_too(tmp_path: Path) -> None:
    sample = "[{exit_code: 1, command: silent}]"
    other = '[{exit_code: 1, command: silent, stdout: "a"}, {exit_code: 0, command: silent}]'
    chapter = one_row("hush", "{is: quiet}", match=sample, no_match=other)
    rulebook, gathered = gathered_from(tmp_path, chapter, VOCABULARY)
    report = mutate(rulebook, gathered)
    assert told(report.survivors, "vocabulary:quiet") == set()
    assert "drop: drop empty: both" in told(report.noticed, "vocabulary:quiet")


def test_unneeded_names_what_can_be_dropped(tmp_path: Path) -> None:
    rulebook, gathered = gathered_from(tmp_path, CHAPTER, VOCABULARY)
    expected = told(mutate(rulebook, gathered, ("drop", "branch", "status", "test")).survivors)
    assert told(unneeded(rulebook, gathered, {row.id for row in rulebook.rows})) == expected


def swaps(report: MutationReport) -> tuple[list[str], list[str]]:
    return (
        [m.target for m in report.noticed if m.kind == "swap"],
        [m.target for m in report.survivors if m.kind == "swap"],
    )


def pair(first: str, second: str, **others: str) -> str:
    return one_row("one", first, **others) + one_row("two", second, modes="[53]").removeprefix(
        "rows:\n"
    )


def test_a_swap_is_noticed_where_both_rows_match_a_witness(tmp_path: Path) -> None:
    chapter = pair("{stderr: 'symptom 7'}", "{stderr: 'planted'}")
    rulebook, gathered = gathered_from(tmp_path, chapter)
    # The catch-all takes what `file-missing` takes in the other chapter.
    assert swaps(mutate(rulebook, gathered, ("swap",))) == (["two", "unexplained"], [])


def test_a_swap_nobody_notices_survives(tmp_path: Path) -> None:
    elsewhere = "[{exit_code: 1, command: tool, stderr: 'something new'}]"
    chapter = pair("{stderr: 'something'}", "{stderr: 'planted'}", match=elsewhere)
    rulebook, gathered = gathered_from(tmp_path, chapter)
    assert swaps(mutate(rulebook, gathered, ("swap",))) == (["unexplained"], ["two"])


def test_rows_that_exclude_each_other_may_stand_in_any_order(tmp_path: Path) -> None:
    chapter = pair("{exit: 2, stderr: 'symptom'}", "{exit: 1, stderr: 'planted'}")
    rulebook, gathered = gathered_from(tmp_path, chapter)
    report = mutate(rulebook, gathered, ("swap",))
    assert swaps(report) == (["unexplained"], [])
    assert report.free == 1


def winners(table: Table, gathered: Gathered) -> list[str]:
    return [
        matching_rows(signals_for(w.signals.capture, table), table)[0][0].id
        for w in gathered.witnesses
    ]


class Changed:
    """The sections of a table with one row's condition replaced."""

    def __init__(self, table: Table, mutant: Mutant) -> None:
        hot = table.section("hot")
        rows = [
            {**row, "when": mutant.node} if row["id"] == mutant.target else row
            for row in hot["rows"]
        ]
        self.table = table
        self.hot = {**hot, "rows": rows}

    def __getitem__(self, name: str) -> Any:
        return self.hot if name == "hot" else self.table.section(name)


def test_the_quick_look_finds_what_a_slow_one_finds(tmp_path: Path) -> None:
    rulebook, gathered = gathered_from(tmp_path, CHAPTER, VOCABULARY)
    before = winners(gathered.table.with_prefilter("off"), gathered)
    report = mutate(rulebook, gathered, ("drop", "flip", "branch", "status", "test"))
    mutants = [m for m in (*report.noticed, *report.survivors) if ":" not in m.target]
    assert len(mutants) > 20
    for mutant in mutants:
        changed = Changed(gathered.table, mutant)
        table = Table(changed, content_hash="changed", prefilter="off")
        assert (winners(table, gathered) != before) is (mutant in report.noticed), mutant
