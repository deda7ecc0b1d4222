"""The samples that rows carry: each `match` wins the whole table at its row, no `no_match` does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_rules import RULES

from triage.engine import classify
from triage.errors import CaptureError
from triage.samples import row_samples, sample_capture
from triage.table import Table


def rows_as_written() -> Iterator[tuple[str, dict[str, Any]]]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for path in sorted((RULES / "table").glob("*.yaml")):
        data = yaml.load(path.read_text("utf-8"), Loader=loader)
        for row in data["rows"]:
            yield path.name, row


ROWS = {row["id"]: (name, row) for name, row in rows_as_written()}


@pytest.mark.parametrize("row_id", ROWS)
def test_samples_of_a_row(table: Table, row_id: str) -> None:
    name, row = ROWS[row_id]
    kinds = []
    for kind, capture in row_samples(row, f"{name} {row_id}"):
        verdict = classify(capture, table)
        won = verdict.rule == row_id
        assert won is (kind == "match"), f"{kind} {capture} is taken by {verdict.rule}"
        kinds.append(kind)
    assert {"match", "no_match"} == set(kinds)


def test_every_row_of_the_table_is_here(table: Table) -> None:
    assert sorted(row.id for row in table) == sorted(ROWS)


def test_a_sample_of_json_lines_is_printed_one_a_line() -> None:
    capture = sample_capture({"exit_code": 0, "stdout_jsonl": [{"a": "é"}, "no JSON", [1]]}, "here")
    assert capture.stdout == '{"a": "é"}\nno JSON\n[1]\n'


def test_a_long_sample_is_written_in_few_words() -> None:
    repeat = {"head": "<", "text": "ab", "times": 3, "tail": ">"}
    capture = sample_capture({"exit_code": 0, "stdout_repeat": repeat}, "here")
    assert capture.stdout == "<ababab>"
    bare = sample_capture({"exit_code": 0, "stdout_repeat": {"text": "x", "times": 2}}, "here")
    assert bare.stdout == "xx"


def test_a_sample_that_is_no_capture_names_its_row() -> None:
    row = {"match": [{"exit_code": 1}, {"exit_code": "one"}], "no_match": []}
    samples = row_samples(row, str(Path("rules/table/x.yaml")))
    assert next(samples)[0] == "match"
    with pytest.raises(CaptureError, match=r"rules/table/x\.yaml match 2: key `exit_code`"):
        next(samples)
