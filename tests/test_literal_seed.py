"""The letter of the seed, which benchmarks/literal_seed.py sets beside the table."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from triage import Capture
from triage.engine import signals_for
from triage.table import Table

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def benchmark() -> Any:
    path = ROOT / "benchmarks" / "literal_seed.py"
    spec = importlib.util.spec_from_file_location("literal_seed", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("capture", "row"),
    [
        (Capture(exit_code=0, stdout="done\n"), 0),
        (Capture(exit_code=0, stdout='{"ok": false}'), 1),
        (Capture(exit_code=None, timed_out=True), 3),
        # What the letter gets wrong, and the table does not.
        (Capture(exit_code=1, command="grep x notes.txt"), 16),
        (Capture(exit_code=2, command="make", stderr="make: *** [all] Error 1"), 6),
        (Capture(exit_code=1, stderr="SyntaxErr: Unexpected token, took 4033ms"), 7),
        (Capture(exit_code=1, stderr="took 4033ms"), 12),
    ],
)
def test_the_first_row_that_holds_to_the_letter(
    benchmark: Any, table: Table, capture: Capture, row: int
) -> None:
    assert benchmark.literal_row(signals_for(capture, table)) == row


def test_both_readings_are_printed(benchmark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main([str(ROOT / "corpus" / "11-rate-limit")]) == 0
    head, rows, modes, fine = capsys.readouterr().out.splitlines()
    assert "seed to the letter" in head and "the table" in head
    assert rows.rstrip().endswith("(100.0 %)") and "acceptable mode" in modes
    assert fine.endswith(" 0 (  0.0 %)")
