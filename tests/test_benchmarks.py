"""What the benchmarks say of a figure, without measuring one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def test_a_figure_is_judged_by_its_ratio() -> None:
    from measure import figure

    assert figure("t", "n", 10.0, 5.0, 2.0)["ok"]
    assert not figure("t", "n", 10.1, 5.0, 2.0)["ok"]
    assert figure("t", "n", 100.0, 5.0, 20.0, at_least=True)["ok"]
    assert not figure("t", "n", 99.0, 5.0, 20.0, at_least=True)["ok"]
    assert figure("t", "n", 1e9, 5.0, None)["ok"]
    assert not figure("t", "n", 1.0, 0.0, 5.0)["ok"]


def test_the_printed_table_names_what_is_missed() -> None:
    from measure import figure, printed

    rows = [
        figure("speed", "good", 0.002, 0.001, 3.0, size=1_000_000),
        figure("speed", "bad", 0.004, 0.001, 3.0),
        figure("memory", "seen only", 5 << 20, 1 << 20, None, unit="bytes"),
    ]
    lines = printed(rows).splitlines()
    assert [line for line in lines if line and not line.startswith("  ")] == [
        "speed",
        "memory",
        "1 of 3 missed",
    ]
    good, bad, seen = (line for line in lines if line.startswith("  "))
    assert "1,000,000" in good and "2.00 ms" in good and "≤ 3" in good and "MISSED" not in good
    assert bad.endswith("≤ 3  MISSED")
    assert "5.00 MiB" in seen and "≤" not in seen


def test_the_page_shows_the_worst_of_each_table() -> None:
    from measure import figure, markdown

    rows = [
        figure("speed", "good", 2.0, 1.0, 3.0),
        figure("speed", "bad", 4.0, 1.0, 3.0),
        figure("speed", "elsewhere", 9.0, 1.0, None),
        figure("gain", "a lot", 90.0, 1.0, 20.0, at_least=True),
        figure("gain", "enough", 30.0, 1.0, 20.0, at_least=True),
    ]
    assert markdown(rows).splitlines()[2:] == [
        "| speed | 2 | ≤ 3 | 4 | bad (1 missed) |",
        "| gain | 2 | ≥ 20 | 30 | enough |",
    ]


def test_turns_are_taken_and_the_median_counts() -> None:
    from measure import in_turn

    order: list[str] = []
    taken = in_turn([lambda: order.append("a"), lambda: order.append("b")], runs=3, loops=2)
    assert "".join(order) == "aabb" * 3
    assert len(taken) == 2 and all(seconds >= 0 for seconds in taken)


def test_a_child_is_measured_and_heard() -> None:
    from measure import cpu_and_memory

    code = "import sys; sys.stdout.write(sys.stdin.read().upper())"
    seconds, peak, out = cpu_and_memory([sys.executable, "-c", code], b"given")
    assert out == b"GIVEN"
    assert seconds > 0 and peak > 1 << 20


def test_rows_that_are_varied_keep_their_shape() -> None:
    from matching import _varied

    condition = {
        "in": "stderr",
        "window": "tail",
        "pattern": [r"\bnot found\b|\u00e9tat \d+: word"],
    }
    varied = _varied(condition, 1)
    assert varied == {
        "in": "stderr",
        "window": "tail",
        "pattern": [r"\bnot gpvoe\b|\u00e9tat \d+: xpse"],
    }


def test_every_part_is_a_script_of_its_own() -> None:
    from run import PARTS

    for part in PARTS:
        words = [sys.executable, str(BENCHMARKS / f"{part}.py"), "--help"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert "--quick" in done.stdout and "--json" in done.stdout
