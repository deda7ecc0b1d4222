"""Bytes become text, and text knows how many bytes it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.decoding import cut_end, cut_start, decoded, encoding_of, width

ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be")


@given(st.binary(max_size=200), st.sampled_from(ENCODINGS))
def test_any_bytes_decode_and_every_byte_is_counted_once(data: bytes, encoding: str) -> None:
    text, _ = decoded(data, encoding)
    # One odd byte at the end of UTF-16 is a character of its own and counts as two.
    odd = 0 if encoding == "utf-8" else len(data) & 1
    assert width(text, encoding) == len(data) + odd


@given(st.text(), st.sampled_from(ENCODINGS))
def test_what_is_text_is_never_called_undecodable(text: str, encoding: str) -> None:
    assert decoded(text.encode(encoding), encoding) == (text, False)


@given(st.binary(max_size=40))
def test_bytes_that_are_no_utf8_survive_the_round_trip(data: bytes) -> None:
    text, broken = decoded(data, "utf-8")
    assert text.encode("utf-8", "surrogateescape") == data
    assert broken == any("\ud800" <= char <= "\udfff" for char in text)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"", "utf-8"),
        (b"plain", "utf-8"),
        ("Zugriff verweigert".encode("utf-16"), "utf-16-le"),
        ("Zugriff verweigert".encode("utf-16-le"), "utf-16-le"),
        ("Zugriff verweigert".encode("utf-16-be"), "utf-16-be"),
        (b"\xfe\xff\0e\0r\0r", "utf-16-be"),
        (b"one\0two\0three\0", "utf-8"),
        (b"./a\0./b\0./c\0./d\0", "utf-8"),
        (b"\0" * 64, "utf-8"),
        (b"a\0b\0", "utf-8"),
    ],
)
def test_the_encoding_is_read_from_the_bytes(data: bytes, encoding: str) -> None:
    assert encoding_of(data) == encoding


@given(st.text(min_size=1), st.data())
def test_a_cut_character_is_found_on_both_sides_of_the_cut(text: str, data: st.DataObject) -> None:
    whole = text.encode()
    at = data.draw(st.integers(0, len(whole)))
    before, after = whole[:at], whole[at:]
    left = len(before) - cut_end(before)
    right = at + cut_start(after)
    # Both sides are text again, and what was given up is one character at most.
    assert len(whole[:left].decode()) + len(whole[right:].decode()) >= len(text) - 1
    assert right - left <= 4


def test_a_border_between_characters_costs_nothing() -> None:
    assert cut_end("größe".encode()) == 0
    assert cut_start("größe".encode()) == 0
    assert cut_end(b"abc") == 0
