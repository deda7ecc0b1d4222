"""A translated printf message is found again in a line, whatever stands for its values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.message_format import Fit, filled, fit, parsed

VALUES = st.text(st.characters(codec="utf-8", exclude_characters=":\n"), min_size=1, max_size=12)


def put_back(translation: str, original: str, line: str) -> str | None:
    found = fit(parsed(translation), parsed(original), line)
    if found is None:
        return None
    english = filled(parsed(original), found.values, str)
    return line[: found.start] + english + line[found.end :]


@pytest.mark.parametrize(
    ("source", "literals", "values"),
    [
        ("plain words", ("plain words",), ()),
        ("cannot open %s", ("cannot open ", ""), (1,)),
        ("%s: %5.2f of %-10ld", ("", ": ", " of ", ""), (1, 2, 3)),
        ("%2$s before %1$s", ("", " before ", ""), (2, 1)),
        ("100%% of %.255s", ("100% of ", ""), (1,)),
        ("%<;%> expected", ("", ";", " expected"), (-1, -1)),
        ("%qE undeclared", ("", " undeclared"), (1,)),
        ("no commit in $program_name, or ${other}", ("no commit in ", ", or ", ""), (1, 2)),
    ],
)
def test_a_format_is_literals_and_numbered_values(
    source: str, literals: tuple[str, ...], values: tuple[int, ...]
) -> None:
    assert parsed(source).literals == literals
    assert parsed(source).values == values


def test_values_change_places_with_the_languages() -> None:
    line = "cp: 'b' kaj 'a' estu sama velkado"
    assert put_back("%2$s kaj %1$s estu sama velkado", "%s and %s are the same file", line) == (
        "cp: 'a' and 'b' are the same file"
    )


def test_a_message_that_begins_with_its_value_begins_after_the_colon() -> None:
    found = fit(parsed("%s ne trovla"), parsed("%s not found"), "sh: vico 3: jqq ne trovla: ho")
    assert found == Fit(12, 25, {1: "jqq"}, len("netrovla"))


def test_a_value_at_the_end_leaves_the_next_message_alone() -> None:
    line = "ls: nepova atlunt a b: Vetika refuzla"
    assert put_back("nepova atlunt %s", "cannot access %s", line) == (
        "ls: cannot access a b: Vetika refuzla"
    )


def test_quotation_marks_of_the_compiler_are_no_values() -> None:
    assert put_back(
        "atendla %<;%> anta %s", "expected %<;%> before %s", "atendla «;» anta int"
    ) == ("expected ';' before int")


@pytest.mark.parametrize(
    ("translation", "line"),
    [
        ("nepova atlunt %s", "ls: cannot access x"),
        ("%s velka", "x velkado"),
        ("velka %s", "malvelka x"),
        ("alfa %s beta", "beta x alfa"),
    ],
)
def test_what_does_not_stand_there_in_order_and_whole_does_not_fit(
    translation: str, line: str
) -> None:
    assert fit(parsed(translation), parsed("something else %s"), line) is None


def test_words_of_the_original_are_no_foreign_words() -> None:
    assert fit(parsed("fatal: %s"), parsed("fatal: %s"), "fatal: x") is None
    found = fit(parsed("git velka %s"), parsed("git clone %s"), "git velka x")
    assert found is not None and found.weight == len("velka")


def test_languages_without_spaces_join_words_to_values() -> None:
    assert (
        put_back("%sを開けません", "cannot open %s", "ファイルを開けません")
        == "cannot open ファイル"
    )
    assert put_back("%s을 열 수 없음", "cannot open %s", "파일을 열 수 없음") == "cannot open 파일"


@given(first=VALUES, second=VALUES)
def test_what_is_rendered_is_put_back(first: str, second: str) -> None:
    line = f"x: pekra {first} kaj {second} fino"
    english = put_back("pekra %2$s kaj %1$s fino", "begin %s and %s end", line)
    found = fit(parsed("pekra %2$s kaj %1$s fino"), parsed("begin %s and %s end"), line)
    # A value that holds the very words between the values can't be told from them.
    if " kaj " not in first + second and " fino" not in first + second:
        assert found is not None and found.values == {2: first, 1: second}
        assert english == f"x: begin {second} and {first} end"


@given(source=st.text(max_size=60), original=st.text(max_size=60), line=st.text(max_size=80))
def test_any_format_and_any_line_is_safe(source: str, original: str, line: str) -> None:
    found = fit(parsed(source), parsed(original), line)
    if found is not None:
        assert 0 <= found.start <= found.end <= len(line)
        assert found.weight > 0
        assert isinstance(filled(parsed(original), found.values, str), str)
