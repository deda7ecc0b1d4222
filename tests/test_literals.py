"""Both ways of looking for many literals find what looking for each of them finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.literals import GramIndex, LiteralSet, grams_of, has_all, lowered_text, outline
from triage.table import Table

Clauses = Mapping[int, Sequence[Sequence[str]]]

# Few letters, so that literals meet their texts; and what is no ASCII, no text, or two bytes long.
LETTERS = st.sampled_from("aabbeor .:é\U0001f600\ud800\n")
LITERALS = st.text(LETTERS, min_size=1, max_size=7)
CLAUSES = st.dictionaries(
    st.integers(0, 40),
    st.lists(st.lists(LITERALS, min_size=1, max_size=3), max_size=3),
    max_size=12,
)
TEXTS = st.text(LETTERS, max_size=80)


def one_by_one(clauses: Clauses, text: str) -> set[int]:
    return {
        number
        for number, some in clauses.items()
        if all(any(literal in text for literal in clause) for clause in some)
    }


def by_set(clauses: Clauses, text: str) -> set[int]:
    seen = LiteralSet(re2, clauses).find(text, text)
    assert seen is not None
    return seen.found


def by_grams(clauses: Clauses, text: str) -> set[int]:
    candidates = GramIndex(grams_of(clauses)).find(text)
    known: dict[str, bool] = {}
    return {number for number in candidates if has_all(clauses[number], text, known)}


@settings(max_examples=400)
@given(CLAUSES, TEXTS)
def test_both_find_what_is_there(clauses: Clauses, text: str) -> None:
    wanted = one_by_one(clauses, text)
    assert by_grams(clauses, text) == wanted
    assert by_set(clauses, text) == wanted


@pytest.mark.parametrize("before", [0, 1, 2, 3, 65_533, 65_534, 65_535, 65_536, 200_000])
def test_a_literal_is_found_wherever_it_stands_in_a_long_text(before: int) -> None:
    clauses = {3: [["needle"]], 5: [["needles", "none"]], 7: [["nee"], ["dle"]]}
    text = "x" * before + "needle" + "x" * 70_000
    assert by_grams(clauses, text) == {3, 7}
    assert by_set(clauses, text) == {3, 7}


def test_a_clause_less_number_is_always_found() -> None:
    assert by_grams({1: []}, "") == {1}
    assert by_set({1: []}, "") == {1}


def test_a_literal_is_filed_under_what_few_others_have() -> None:
    filed = grams_of({1: [["not found"]], 2: [["not there"]], 3: [["not here"]], 4: [["no"]]})
    assert len(filed["grams"]) == 4 * len(filed["filed"]) == 12
    assert "not " not in filed["grams"]
    assert filed["short"] == {"no": [4]}


def test_signs_of_patterns_are_plain_characters_in_literals() -> None:
    clauses = {1: [["a.c"]], 2: [["(?i)"]], 3: [["\\d"]], 4: [["["]]}
    assert by_set(clauses, "abc 7 ") == set()
    assert by_set(clauses, "a.c (?i) \\d [") == {1, 2, 3, 4}


@settings(max_examples=200)
@given(CLAUSES, TEXTS)
def test_of_each_clause_is_known_what_stands_in_the_text(clauses: Clauses, text: str) -> None:
    seen = LiteralSet(re2, clauses).find(text, text)
    assert seen is not None and seen.text is text
    for number, some in clauses.items():
        there = [sorted({literal for literal in clause if literal in text}) for clause in some]
        assert [sorted(clause) for clause in seen.clauses(number)] == there
    assert seen.clauses(-1) == []


@given(st.lists(st.sampled_from(["not found", "error: ", "x", "denied", "é", "\n"]), max_size=14))
def test_a_first_short_text_is_looked_up_like_any_other(table: Table, parts: list[str]) -> None:
    text = lowered_text("".join(parts))
    fresh, asked = GramIndex(table.section("hot")), GramIndex(table.section("hot"))
    asked.find("x")
    assert fresh.find(text) == asked.find(text)


@given(size=st.integers(1, 9), at=st.integers(0, 30))
def test_what_lies_across_two_pieces_is_found(size: int, at: int) -> None:
    clauses = {1: [["needle"]], 2: [["hay"], ["needle"]], 3: [["other"]]}
    text = "x" * at + "needle" + "y" * 9 + "hay"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("triage.literals._SCANNED", size)
        assert by_set(clauses, text) == {1, 2}


@settings(max_examples=200)
@given(CLAUSES, st.text(st.sampled_from("abeorK .:éΣσİ\U0001f600\ud800\n"), max_size=80))
def test_a_text_lowered_piece_by_piece_is_seen_like_all_of_it(clauses: Clauses, text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("triage.literals._SCANNED", 16)
        patch.setattr("triage.literals._CHUNK", 8)
        tried = LiteralSet(re2, {**clauses, 99: [["\x80"]]})
        whole, pieces = tried.find(text, lowered_text(text)), tried.find(text)
        assert whole is not None and pieces is not None
        assert whole.found == pieces.found
        assert (99 in whole.found) is not text.isascii()


@given(st.text(st.sampled_from("aB é😀\ud800\n?"), max_size=40))
def test_an_outline_has_all_that_is_ascii_in_its_place(text: str) -> None:
    lowered = outline(text)
    assert len(lowered) == len(text) + 1
    for char, shown in zip(text, lowered, strict=False):
        assert shown == (char.lower() if char.isascii() else "?")
