"""Lines for samples: whole ones, the shortest first, only where a pattern really found them."""

from __future__ import annotations

from pathlib import Path

from sound_rules import SOUND_CASES, corpus_folder, one_row, rules_folder

from triage.cache import load_table
from triage.cases import load_cases
from triage.printed_lines import PrintedLines
from triage.rulebook import load_rulebook
from triage.witness import Gathered, gather

SAMPLES = """[
  {exit_code: 1, command: tool, stderr: "it is late\\nerror 7: the pump stands still\\nbye"},
  {exit_code: 1, command: tool, stderr: "error 7: no pump"},
  {exit_code: 1, command: tool, merged: "error 7: merged"}]"""


def gathered_from(tmp_path: Path) -> Gathered:
    chapter = one_row("pump", "{exit: 1, text: '^error 7: '}", match=SAMPLES)
    root = rules_folder(tmp_path / "rules", {"11-rate-limit": chapter})
    corpus = corpus_folder(tmp_path / "corpus", SOUND_CASES)
    return gather(load_table(root), load_rulebook(root), load_cases(corpus))


def test_the_whole_line_of_a_find_and_no_more(tmp_path: Path) -> None:
    gathered = gathered_from(tmp_path)
    when = next(row.when for row in gathered.table if row.id == "pump")
    # A merged text does not say which stream a line stood in.
    assert PrintedLines(gathered)(when) == [
        {"stderr": "error 7: no pump"},
        {"stderr": "error 7: the pump stands still"},
    ]


def test_a_condition_without_evidence_has_no_lines(tmp_path: Path) -> None:
    assert PrintedLines(gathered_from(tmp_path))(["exit", [1]]) == []
