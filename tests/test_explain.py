"""Every row and condition of the table can be put into words, whatever the capture."""

from __future__ import annotations

import pytest

from triage import Capture, load_table
from triage.explain import describe, explain_capture

CAPTURES = {
    "plain": Capture(exit_code=1, stderr="x\n", command="foo x"),
    "nothing": Capture(exit_code=None),
    "not found": Capture(exit_code=127, stderr="bash: jqq: command not found", command="jqq ."),
    "envelope": Capture(exit_code=3, stdout='{"ok": false, "error": {"code": "TOKEN_EXPIRED"}}'),
    "hang": Capture(exit_code=None, timed_out=True, stdout="(END)", command="git log"),
    "fine": Capture(exit_code=0, stdout="done\n", command="make"),
}


@pytest.mark.parametrize("name", CAPTURES)
def test_each_row_above_the_winner_says_what_it_lacks(name: str) -> None:
    said = explain_capture(CAPTURES[name], load_table())
    *above, last = said["rows"]
    assert (last["rule"], last["matched"]) == (said["verdict"]["rule"], True)
    assert all(row["because"].startswith("not: ") for row in above if not row["matched"])


def test_each_condition_of_the_table_has_words() -> None:
    table = load_table()
    assert all(describe(row.when, table) for row in table)
