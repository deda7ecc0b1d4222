"""The generated parts of the documents say what the table, the corpus and saved results say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sound_rules import SOUND_CASES, corpus_folder, one_row, rules_folder

from triage.cache import load_table
from triage.cases import load_cases
from triage.cli.app import VERBS
from triage.cli.blocks import help_block, refresh
from triage.cli.status import MEANINGS
from triage.corpus import results, results_text, run_cases
from triage.documents import (
    accuracy_block,
    block_names,
    exit_codes_block,
    mode_examples,
    mode_rules,
    mutation_block,
    table_block,
)
from triage.table import Table

MUTATION = {
    "mutants": 200, "noticed": 191, "score": 0.955, "free_swaps": 3,
    "by_kind": {"drop": {"noticed": 91, "mutants": 100}, "swap": {"noticed": 100, "mutants": 100}},
}  # fmt: skip


def test_the_table_block_has_the_seeds_sixteen_rows(table: Table) -> None:
    lines = table_block(table).split("\n")
    rows = [line for line in lines if re.match(r"\| \d+ \|", line)]
    assert [int(line.split("|")[1]) for line in rows] == sorted(
        {int(line.split("|")[1]) for line in rows}
    )
    assert all(line.count("|") - line.count(r"\|") == 6 for line in rows)
    assert f"{len(table)} rules in all" in lines[-1]


def test_the_help_block_has_every_verb() -> None:
    text = help_block()
    for verb in VERBS:
        assert f"#### `triage {verb}`\n" in text
        assert f"Usage: triage {verb} " in text
    assert max(map(len, text.split("\n"))) <= 100
    assert help_block() == text


def test_the_exit_codes_block_has_every_status() -> None:
    text = exit_codes_block(MEANINGS)
    assert [int(n) for n in re.findall(r"(?m)^\| (\d+) \|", text)] == [int(s) for s in MEANINGS]


def test_accuracy_and_mutation_come_from_saved_results(tmp_path: Path, table: Table) -> None:
    cases = list(load_cases(corpus_folder(tmp_path, SOUND_CASES)))
    report = run_cases(cases, table)
    saved = results(report, table, {"without_tool": {"average": 0.91234}, "mutation": MUTATION})
    text = accuracy_block(saved, table)
    assert f"On {report.figures()['cases']} captures of 3 tools" in text
    assert "| false alarms | 0 of 1 |" in text
    assert "mean over tools | 91.2 % |" in text
    assert re.search(r"that a rule puts first \| \d+ of 5\d \|", text)
    assert "191 of 200 changes of the table (95.5 %)" in mutation_block(saved)


def test_rules_of_a_mode_name_the_codes_that_lead_there(tmp_path: Path) -> None:
    row = one_row(
        "by-code", "{exit: 3, envelope: {ok: false}}",
        modes_by="{error.code: {GONE: [53], LOST: [53], SLOW: [19]}}",
    )  # fmt: skip
    rules = mode_rules(load_table(rules_folder(tmp_path / "rules", {"11-rate-limit": row})))
    assert [(rule["id"], rule["modes"]) for rule in rules if "by-code" in rule["id"]] == [
        ("by-code", [19]),
        ("by-code: error.code GONE, error.code LOST", [53]),
    ]


def test_examples_are_real_captures_the_table_gets_right(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path / "corpus", SOUND_CASES)
    invented = SOUND_CASES["16-prose-exit/ls"].replace("recorded", "synthetic")
    (folder / "16-prose-exit" / "ls.yaml").write_text(invented, encoding="utf-8")
    examples = mode_examples(load_table(rules_folder(tmp_path / "rules")), list(load_cases(folder)))
    assert examples == {
        20: {
            "case_id": "04-command-not-found/jqq",
            "command": "jqq .",
            "exit_code": 127,
            "excerpt": "bash: jqq: command not found",
        }
    }


@pytest.fixture
def checkout(tmp_path: Path, root: Path) -> Path:
    """A checkout of our rules with writable documents and a corpus of four cases."""
    rules_folder(tmp_path / "rules")
    (tmp_path / "rules" / "modes").unlink()
    (tmp_path / "rules" / "modes").mkdir()
    for path in (root / "rules" / "modes").glob("*.md"):
        (tmp_path / "rules" / "modes" / path.name).write_bytes(path.read_bytes())
    corpus_folder(tmp_path / "corpus", SOUND_CASES)
    block = "<!-- generated:{0} begin -->\nold\n<!-- generated:{0} end -->\n"
    names = ("table", "cli", "exit-codes", "accuracy")
    (tmp_path / "README.md").write_text("\n".join(map(block.format, names)), encoding="utf-8")
    table = load_table(tmp_path / "rules")
    saved = results(run_cases(load_cases(tmp_path / "corpus"), table), table, {})
    (tmp_path / "corpus" / "accuracy.json").write_text(results_text(saved), encoding="utf-8")
    return tmp_path


def test_documents_are_fresh_once_written(checkout: Path) -> None:
    stale, warnings = refresh(checkout, write=False)
    assert {"table", "cli", "exit-codes", "accuracy"} <= {item.block for item in stale}
    assert "old" in (checkout / "README.md").read_text("utf-8")
    assert warnings == []
    refresh(checkout, write=True)
    assert refresh(checkout, write=False) == ([], [])
    assert "bash: jqq: command not found" in next(
        (checkout / "rules" / "modes").glob("20-*.md")
    ).read_text("utf-8")


def test_results_of_other_rules_are_pointed_out(checkout: Path) -> None:
    path = checkout / "rules" / "table" / "99-clean-exit.yaml"
    path.write_text(path.read_text("utf-8") + "# remarks change nothing\n", encoding="utf-8")
    assert refresh(checkout, write=False)[1] == []
    changed = path.read_text("utf-8").replace("not_failure", "insufficient")
    path.write_text(changed, encoding="utf-8")
    assert "saved with other rules" in refresh(checkout, write=False)[1][0]


def test_only_blocks_with_markers_are_written(checkout: Path) -> None:
    (checkout / "README.md").write_text("no blocks\n", encoding="utf-8")
    assert block_names(checkout / "README.md") == []
    refresh(checkout, write=True)
    assert (checkout / "README.md").read_text("utf-8") == "no blocks\n"
