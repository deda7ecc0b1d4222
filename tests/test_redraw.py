"""Lines that were drawn again and again: the last state stays, and positions lead back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.redraw import Cuts, redrawn, redrawn_cuts

DRAWN = st.text(alphabet="ab \r\n\b\té", max_size=60)


def place(steps: list[Cuts], at: int) -> int:
    for step in reversed(steps):
        at = step.position(at)
    return at


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("plain\ntext\n", "plain\ntext\n"),
        ("one\r\ntwo\r\n\r\n", "one\ntwo\n\n"),
        ("10%\r50%\r100%\n", "100%\n"),
        ("10%\r50%\r100%\r", "100%"),
        ("10%\r50%\rdone\r\nnext", "done\nnext"),
        ("downloading\r           \rdone", "done"),
        ("downloading\r           \r\nnext", "downloading\nnext"),
        ("fetching\r\r\nnext", "fetching\nnext"),
        ("   \r\n", "   \n"),
        ("\rerror: no", "error: no"),
        ("a\rb\nc\rd\n", "b\nd\n"),
        ("N\bNA\bAM\bME\bE", "NAME"),
        ("_\bfile", "file"),
        ("|\b/\b-\b\\\b", "\\"),
        ("abc\b\b\bxyz", "xyz"),
        ("abc\b\bX\n", "aX\n"),
        ("a\nb\b\b\b\bX", "a\nX"),
        ("\b\bx", "x"),
        ("x\b", "x"),
        ("x\b\b\ny", "x\ny"),
        ("12%\b\b\b34%\b\b\b56%\rdone", "done"),
    ],
)
def test_last_state_stays(before: str, after: str) -> None:
    assert redrawn(before) == after


@given(DRAWN)
def test_positions_lead_back_to_the_same_characters_in_order(text: str) -> None:
    steps = redrawn_cuts(text)
    after = redrawn(text)
    places = [place(steps, at) for at in range(len(after))]
    assert [text[at] for at in places] == list(after)
    assert places == sorted(set(places))


@given(DRAWN)
def test_nothing_is_left_to_redraw_and_lines_keep_their_numbers(text: str) -> None:
    after = redrawn(text)
    assert "\r" not in after
    assert "\b" not in after
    assert after.count("\n") == text.count("\n")
    assert redrawn(after) is after


@given(st.lists(st.text(alphabet="ab \b", max_size=8), min_size=1, max_size=5))
def test_something_visible_is_kept_of_a_line_that_ever_showed_something(states: list[str]) -> None:
    line = "\r".join(states)
    shown = [state for state in states if state.strip(" \b")]
    assert redrawn(line) == redrawn(shown[-1] if shown else states[0])
