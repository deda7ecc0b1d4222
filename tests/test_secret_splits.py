"""What stands in a secret is taken out and put back; a token goes on in the next line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.secret_patterns import Shape
from triage.secret_splits import BEGIN, END, Apart, cut_off, wrapped

TOKEN = Shape(
    {
        "kind": "token",
        "pattern": "tok_[A-Za-z0-9]{20,}",
        "flags": "",
        "group": 0,
        "literals": [["tok_"]],
        "run": 20,
        "digit": False,
        "base64_of": "",
        "token": True,
    }
)
BODY = "aB1" * 10


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[1mb\x1b[0mc", "abc"),
        ("a\x1b]8;;https://x\x1b\\b\x07c", "abc"),
        ("p\bpa\baab", "paab"),
        ("a\u200bb\u00adc\ufeff\x00d", "abcd"),
        ("a\ufffd[1mb", "ab"),
        ("a\\u001b[1mb\\u200bc\\x1b[0md\\033[0me", "abcde"),
        ("plain\ttext\r\n", "plain\ttext\r\n"),
    ],
)
def test_what_a_terminal_does_not_show_is_taken_out(text: str, shown: str) -> None:
    apart = Apart(text)
    assert apart.text == shown
    assert apart.together() == text


def test_colours_and_ends_of_a_piece_stay_around_a_change() -> None:
    apart = Apart(f"x\x1b[1ma{BEGIN}b\u200b\x1b[0mc{END}d")
    assert apart.text == "xabcd"
    apart.change([(1, 5, "#")])
    assert apart.together() == f"x\x1b[1m{BEGIN}#\x1b[0m{END}"


@given(st.text(alphabet="ab\x1b[1m\u200b\b\n"), st.data())
def test_changes_leave_what_is_outside_of_them(text: str, data: st.DataObject) -> None:
    apart = Apart(text)
    plain = apart.text
    start = data.draw(st.integers(0, len(plain)))
    end = data.draw(st.integers(start, len(plain)))
    apart.change([(start, end, "#")])
    assert apart.text == f"{plain[:start]}#{plain[end:]}"
    # What a change made may itself be struck over: only what is shown counts.
    assert len(apart.together()) >= len(apart.text)


def joined(text: str) -> str:
    for start, end, made in reversed(wrapped(text, [TOKEN])):
        text = text[:start] + made + text[end:]
    return text


@pytest.mark.parametrize("gap", ["\n", "\r\n", "\n   ", " │\n│ ", "\\\n", "\\n"])
def test_a_token_that_a_line_ends_too_early_goes_on(gap: str) -> None:
    text = f"the tok_{BODY[:10]}{gap}{BODY[10:]} end"
    assert joined(text) == f"the [masked:token]{gap} end"


def test_a_whole_token_goes_on_only_where_its_line_is_full_and_the_rest_looks_like_one() -> None:
    long = "tok_" + BODY * 2
    assert joined(f"{long}\n{BODY[:9]}\nend") == "[masked:token]\n\nend"
    assert joined(f"{long}\nDone") == f"{long}\nDone"
    assert joined(f"tok_{BODY}\n{BODY[:9]} or so, and a lot more") == (
        f"tok_{BODY}\n{BODY[:9]} or so, and a lot more"
    )
    assert joined(f"tok_{BODY}\ntok_{BODY}") == f"tok_{BODY}\ntok_{BODY}"


def test_what_the_end_of_a_text_leaves_of_a_token() -> None:
    assert cut_off("see tok_aB1aB1", [TOKEN]) == [(4, 14, "[masked:token]")]
    for text in ("see tok_aB1aB1 here", "see tok_name", "see xtok_aB1aB1", "see tok_12345678", ""):
        assert cut_off(text, [TOKEN]) == []
