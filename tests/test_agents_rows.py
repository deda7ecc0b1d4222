"""The rows of the agent chapter, through their own samples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from triage.agents.cases import jsonl
from triage.agents.outcome import VERDICTS
from triage.cache import load_table
from triage.capture_data import capture_from_mapping
from triage.engine import classify
from triage.judge import AGENT_CHAPTER

CHAPTER = Path(__file__).parent.parent / "rules" / "table" / f"{AGENT_CHAPTER}.yaml"
ROWS = yaml.safe_load(CHAPTER.read_text("utf-8"))["rows"]
TABLE = load_table()


def samples(kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in ROWS:
        for sample in row[kind]:
            data = dict(sample)
            if "stdout_jsonl" in data:
                data["stdout"] = jsonl(data.pop("stdout_jsonl"))
            yield row["id"], data


@pytest.mark.parametrize(("row", "sample"), list(samples("match")))
def test_a_row_wins_its_samples(row: str, sample: dict[str, Any]) -> None:
    verdict = classify(capture_from_mapping(sample), TABLE)
    assert verdict.rule == row
    assert verdict.agent is not None


@pytest.mark.parametrize(("row", "sample"), list(samples("no_match")))
def test_a_row_leaves_its_counter_samples_alone(row: str, sample: dict[str, Any]) -> None:
    verdict = classify(capture_from_mapping(sample), TABLE)
    assert verdict.rule != row
    assert row not in [item["rule"] for item in verdict.also]


def test_the_rows_stand_in_the_order_of_ruling_18() -> None:
    order = [row["id"] for row in ROWS]
    wanted = ["agent-timed-out", "agent-cancelled", "agent-hard-error", "agent-early-stop",
              "agent-stream-cut", "agent-no-output", "agent-ok"]  # fmt: skip
    assert [name for name in order if name in wanted] == wanted


def test_every_row_gives_one_of_the_four_verdicts_and_no_row_a_bare_status() -> None:
    for row in ROWS:
        assert row["agent"]["verdict"] in VERDICTS
        if row["agent"]["verdict"] == "nonzero_exit":
            assert row["agent"]["subtype"] == "cancelled"


def test_only_ok_rows_are_no_failure_and_they_name_no_seed_row() -> None:
    for row in ROWS:
        ok = row["agent"]["verdict"] == "ok"
        assert (row.get("verdict") == "not_failure") is ok
        assert ("row" in row) is not ok


def test_the_chapter_comes_before_all_others() -> None:
    chapters = list(dict.fromkeys(row.chapter for row in TABLE))
    assert chapters[0] == AGENT_CHAPTER
