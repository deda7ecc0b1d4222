"""Escapes leave the text whole and without a trace, and every position finds its origin."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.escapes import OffsetMap, strip_escapes

ESCAPES = {
    "colour": "\x1b[1;31m",
    "reset": "\x1b[m",
    "private parameter": "\x1b[?25l",
    "secondary device attributes": "\x1b[>0;276;0c",
    "colon parameters": "\x1b[38:2::255:0:0m",
    "intermediate byte": "\x1b[2 q",
    "brace after an intermediate": "\x1b[#{",
    "private final byte": "\x1b[5~",
    "title ended by BEL": "\x1b]0;user@host: ~\x07",
    "title ended by ST": "\x1b]2;building\x1b\\",
    "title ended by 8-bit ST": "\x1b]2;building\x9c",
    "hyperlink": "\x1b]8;id=1;https://example.org/{x}\x1b\\",
    "device control string": '\x1bP1$r0;1{"ok":true}m\x1b\\',
    "device control string over lines": "\x1bPq#0\n#1\n\x1b\\",
    "kitty image": "\x1b_Gf=100;aGVsbG8=\x1b\\",
    "privacy message": "\x1b^secret\x1b\\",
    "start of string": "\x1bXhello\x1b\\",
    "save cursor": "\x1b7",
    "keypad mode": "\x1b=",
    "charset": "\x1b(B",
    "full reset": "\x1bc",
    "announce": "\x1b F",
    "8-bit colour": "\x9b31m",
    "8-bit title": "\x9d0;title\x9c",
    "8-bit device control": "\x90abc\x9c",
    "8-bit next line": "\x85",
}


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES.keys())
def test_an_escape_leaves_no_trace(escape: str) -> None:
    assert strip_escapes(escape) == ""
    assert strip_escapes(f"a{escape}b\n{escape}c") == "ab\nc"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("plain [1] text\n", "plain [1] text\n"),
        ("\x1b]0;never ended\nnext line", "\nnext line"),
        ("\x1bPnever ended\r\nnext line", "\r\nnext line"),
        ("\x1b]0;title\x1b[31mred", "red"),
        ("\x9dnever ended, 8-bit\nnext", "never ended, 8-bit\nnext"),
        ("\x90never ended\nnext", "never ended\nnext"),
        ('\x1b[{"ok":true}', '{"ok":true}'),
        ("\x1b[31[1, 2]", "[1, 2]"),
        ("cut at the end \x1b[0;3", "cut at the end "),
        ("lone \x1b\nescape", "lone \nescape"),
        ("\x1b\x1b[31mtwice", "twice"),
        ("\x1bPtmux;\x1b\x1b]0;t\x07\x1b\\after", "after"),
        ("größe …", "größe …"),
        ("\x00\ud800", "\x00\ud800"),
    ],
)
def test_what_stays(text: str, left: str) -> None:
    assert strip_escapes(text) == left


def test_a_position_finds_its_origin_between_escapes() -> None:
    text = "\x1b[1m\x1b[31mab\x1b[0mc\x1b[K"
    stripped, offsets = strip_escapes(text), OffsetMap(text)
    assert stripped == "abc"
    assert [text[offsets.position(i)] for i in range(3)] == ["a", "b", "c"]
    assert offsets.position(3) == len(text)
    start, end = offsets.span(1, 3)
    assert text[start:end] == "b\x1b[0mc"
    assert offsets.span(2, 2) == (text.index("c"), text.index("c"))


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            [*ESCAPES.values(), "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x9b", "\x90", "\n"]
        ),
        st.text(max_size=8),
    ),
    max_size=12,
).map("".join)


@settings(max_examples=400, derandomize=True, deadline=None)
@given(PIECES)
def test_stripping_only_deletes_and_the_map_says_where(text: str) -> None:
    stripped, offsets = strip_escapes(text), OffsetMap(text)
    origins = [offsets.position(i) for i in range(len(stripped))]
    assert [text[i] for i in origins] == list(stripped)
    assert origins == sorted(set(origins))
    assert "\x1b" not in stripped
    if "\x1b" not in text and not any("\x80" <= c <= "\x9f" for c in text):
        assert stripped == text
