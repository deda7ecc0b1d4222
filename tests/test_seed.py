"""The seed's sixteen rows, printed from our own table, are the seed's to the letter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from triage.listing import seed_rows
from triage.table import Table


@pytest.fixture(scope="module")
def seed(root: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml.safe_load((root / "tests/data/seed_rows.yaml").read_text())
    return rows


def said(text: str) -> str:
    return " ".join(text.split())


def test_our_table_holds_the_seed_s_rows_to_the_letter(
    table: Table, seed: list[dict[str, Any]]
) -> None:
    ours = seed_rows(table)
    assert [row["number"] for row in seed] == list(range(1, 17))
    assert [row["number"] for row in ours] == list(range(1, 17))
    for mine, theirs in zip(ours, seed, strict=True):
        assert said(mine["signal"]) == said(theirs["signal"])
        assert mine["modes"] == theirs["modes"], "in the seed's order"
        assert said(mine["action"]) == said(theirs["action"])


def test_the_seed_s_row_is_the_last_of_its_chapter(table: Table) -> None:
    # What stands before it in the chapter refines it.
    last = {row.chapter: row.id for row in table}
    for mine in seed_rows(table):
        row = next(row for row in table if row.id == mine["rule"])
        assert row.row == mine["number"]
        assert row.chapter.startswith(f"{mine['number']:02}-")
        assert last[row.chapter] == row.id


def test_chapters_stand_in_the_seed_s_order(table: Table) -> None:
    chapters = list(dict.fromkeys(row.chapter for row in table))
    assert chapters == sorted(chapters)
    assert [int(chapter[:2]) for chapter in chapters] == [0, 0, *range(1, 17), 99]
    # Every failure is one of the seed's rows (ruling 30), mostly that of its chapter.
    failures = [row for row in table if row.verdict == "failure"]
    assert all(row.row in range(1, 17) for row in failures)
    elsewhere = [row.id for row in failures if 0 < int(row.chapter[:2]) != row.row]
    assert len(elsewhere) <= len(failures) // 50, elsewhere


@pytest.mark.parametrize("options", [("--json",), ()])
def test_the_command_line_prints_them(seed: list[dict[str, Any]], options: tuple[str, ...]) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "triage", "rules", "--seed", *options],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    if options:
        printed = json.loads(run.stdout)["data"]
        assert [(row["number"], row["modes"]) for row in printed] == [
            (row["number"], row["modes"]) for row in seed
        ]
        return
    text = said(run.stdout)
    at = 0
    for row in seed:
        place = text.index(said(f"{row['number']} {row['signal']}"), at)
        assert said(row["action"]) in text[place:]
        at = place
