"""Both ways to the rows whose gates are open find the same."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from triage.cases import load_cases
from triage.engine import signals_for
from triage.model import Capture
from triage.row_gates import RowGates
from triage.table import Table


def both(table: Table, capture: Capture) -> tuple[list[int], list[int]]:
    signals = signals_for(capture, table)
    gates = RowGates(table.section("hot"))
    possible = signals.possible
    assert possible is not None
    # Of its own: what one has worked out must not help the other.
    fresh = signals_for(capture, table)
    cold = [*gates.rows(signals, possible, warm=False)]
    return cold, [*gates.rows(fresh, possible, warm=True)]


def test_on_the_corpus_a_warm_process_looks_at_the_rows_of_a_fresh_one(
    table: Table, root: Path
) -> None:
    seen: set[int] = set()
    for case in [*load_cases(root / "corpus")][::7]:
        cold, warm = both(table, case.capture)
        assert warm == cold, case.id
        seen.update(warm)
    assert len(seen) > len(table) / 2


@settings(max_examples=60)
@given(data=st.data())
def test_whatever_is_possible_the_same_rows_are_looked_at(
    table: Table, data: st.DataObject
) -> None:
    signals = signals_for(
        Capture(
            exit_code=data.draw(st.sampled_from([None, 0, 1, 2, 124, 127, 137])),
            command=data.draw(st.sampled_from([None, "git push", "a; b | c", "curl x --json"])),
            stdout=data.draw(st.sampled_from(["", "x", '{"ok": false}', '{"a": [1', "\x1b[1mx"])),
            stderr=data.draw(st.sampled_from(["", "x: not found\n", "größe", "y" * 40_000])),
        ),
        table,
    )
    patterns = range(len(table.matcher.sources))
    possible = data.draw(st.sets(st.sampled_from(patterns), max_size=40))
    gates = RowGates(table.section("hot"))
    cold = [*gates.rows(signals, possible, warm=False)]
    assert [*gates.rows(signals, possible, warm=True)] == cold == sorted(cold)
