"""Every row and condition of the table can be put into words, whatever the capture."""

from __future__ import annotations

import random
from typing import Any

import pytest

from triage import Capture, load_table
from triage.explain import describe, explain_capture
from triage.match import Matcher
from triage.signals import Signals
from triage.table import Table

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
    # Each capture is another walk: what is missing, what is different, what rules a row out.
    starts = ("no ", "exit status ", "ruled out by ")
    assert all(row["because"].startswith(starts) for row in above if not row["matched"])


def test_each_condition_of_the_table_has_words() -> None:
    table = load_table()
    for row in table:
        said = describe(row.when, table)
        assert said and not any(mark in said for mark in ("[[", "['", "True", "None")), row.id


def because(capture: Capture, rule: str) -> str:
    rows = explain_capture(capture, load_table())["rows"]
    return str(next(row["because"] for row in rows if row["rule"] == rule))


def test_a_pattern_is_shown_as_a_text_that_it_finds() -> None:
    said = because(CAPTURES["not found"], "tty-refused-display")
    assert said.startswith('no text like "cannot open display" (or ')
    assert said.endswith(" in stderr or stdout")


def test_a_status_a_command_and_an_exclusion_say_what_there_is_instead() -> None:
    assert because(CAPTURES["not found"], "search-found-nothing") == "exit status 127, not 1"
    assert because(CAPTURES["not found"], "not-found-inside") == "ruled out by exit status 127"
    assert because(Capture(exit_code=1, stderr="x\n"), "search-found-nothing") == (
        "no command was noted"
    )


def test_a_named_condition_says_which_status_or_what_rules_it_out() -> None:
    assert because(CAPTURES["fine"], "path-exists").startswith("exit status 0, not ")
    tested = Capture(exit_code=1, stderr="token expired\nRan 3 tests in 0.1s\n")
    assert because(tested, "credential-expired") == 'ruled out by "Ran 3 tests in" in stderr'
    # A list of signs is better named than told.
    plain = Capture(exit_code=1, stderr="x\n", command="tool")
    assert "`crash_trace`" in because(plain, "crash-rate-limited")


def test_near_is_what_not_every_call_has() -> None:
    near = {
        row["rule"]
        for row in explain_capture(CAPTURES["hang"], load_table())["rows"]
        if row["near"] and not row["matched"]
    }
    assert "hang-password" in near and "search-found-nothing" not in near
    plain = explain_capture(CAPTURES["plain"], load_table())["rows"]
    assert sum(row["near"] for row in plain) < 12


@pytest.mark.parametrize("name", [*CAPTURES, "noise"])
def test_what_the_text_cannot_hold_is_not_looked_for_and_the_words_are_the_same(name: str) -> None:
    noise = Capture(exit_code=1, stderr=random.Random(5).randbytes(40_000), command="foo x")
    capture = {**CAPTURES, "noise": noise}[name]
    table, whole = counting(load_table()), counting(load_table().with_prefilter("off"))
    assert explain_capture(capture, table) == explain_capture(capture, whole)
    if name == "noise":
        assert len(table.matcher.looked_for) < len(whole.matcher.looked_for) / 10


class _CountingMatcher(Matcher):
    """A matcher that notes which patterns it really looks for."""

    __slots__ = ("looked_for",)
    looked_for: set[int]

    def search(
        self, pid: int, text: str, start: int, end: int, signals: Signals
    ) -> tuple[int, int] | None:
        self.looked_for.add(pid)
        return super().search(pid, text, start, end, signals)


def counting(table: Table) -> Any:
    copy = table.with_prefilter(table.prefilter.mode)
    copy.matcher = _CountingMatcher(table.matcher.sources, table.matcher.predicates)
    copy.matcher.looked_for = set()
    return copy
