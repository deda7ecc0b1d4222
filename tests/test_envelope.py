"""Extraction finds what the seed's reference finds, says where it stood, and never gives up."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hostile_texts import FAMILIES
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_extractor import reference_envelope

from triage.envelope import (
    MAX_DEPTH,
    MAX_DIGITS,
    Extraction,
    duplicate_keys,
    ends_mid_structure,
    extract,
    extract_envelope,
    non_finite,
)
from triage.escapes import strip_escapes
from triage.json_scan import Decoder, first_value
from triage.json_search import last_line, survey

# TRIAGE_LONG=1 is the long run: 25 times the examples, and new ones each time.
LONG = bool(os.environ.get("TRIAGE_LONG"))
THOROUGH = settings(
    max_examples=50_000 if LONG else 2_000, derandomize=not LONG, deadline=None, database=None
)
MODERATE = settings(
    max_examples=12_500 if LONG else 500, derandomize=not LONG, deadline=None, database=None
)


def same(left: Any, right: Any) -> bool:
    """Equal as JSON values: 1 is not True, 1 is not 1.0, NaN is NaN."""
    return repr(left) == repr(right)


# --- the seed's rule ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "step"),
    [
        ('{"ok": true}', {"ok": True}, 2),
        (" \n[1, 2]\n", [1, 2], 2),
        ("42", 42, 2),
        ("null", None, 2),
        ('\x1b[32m{"ok": true}\x1b[0m\n', {"ok": True}, 2),
        ('Update available!\n{"ok": false}\nBye', {"ok": False}, 4),
        ('{"ok": true}\n{"step": 2}\n', {"ok": True}, 4),
        ('{"ok": true}\n{"ok": false}\n', {"ok": False}, 4),
        ('{"n": 1}\n{"n": 2}\n', {"n": 2}, 5),
        ("[[1], 2] then [3]", [3], 5),
        ("retry [3] of [5]", [5], 5),
        ("[INFO] nothing {here} [2026-11-30]", None, 6),
        ("", None, 6),
        ('"a string that never ends', None, 6),
    ],
)
def test_the_seed_decides_by_these_steps(text: str, value: Any, step: int) -> None:
    extraction = extract(text)
    assert same(extraction.value, value)
    assert extraction.step == step
    assert extraction.found == (step != 6)
    assert same(extract_envelope(text), reference_envelope(text))


def test_a_start_inside_a_string_of_a_failed_value_is_a_start() -> None:
    text = '{"message": "got [1, 2] and", oops'
    assert extract(text).value == [1, 2] == reference_envelope(text)


# --- the exceptions, each on purpose -----------------------------------------------------------


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def test_the_deepest_value_admitted_is_found_and_one_level_more_is_not() -> None:
    assert extract(nested(MAX_DEPTH)).found
    assert same(extract_envelope(nested(MAX_DEPTH)), json.loads(nested(MAX_DEPTH)))
    extraction = extract(nested(MAX_DEPTH + 1))
    assert (extraction.found, extraction.value, extraction.depth_exceeded) == (False, None, True)


@pytest.mark.parametrize(("depth", "found"), [(MAX_DEPTH - 1, True), (MAX_DEPTH, False)])
def test_depth_counts_in_long_texts_and_in_objects(depth: int, found: bool) -> None:
    filler = json.dumps([{"text": "of no depth", "at": [1]}] * 5000)
    assert extract(f"[{filler}, {nested(depth)}]").found is found
    objects = '{"k":' * depth + "1" + "}" * depth
    assert extract(f'{{"a": {filler}, "b": {objects}}}').found is found


@pytest.mark.parametrize("before", [0, 19_999, 20_000, 40_001])
@pytest.mark.parametrize("wide", ["[1]", '{"a": [2]}', "3"])
def test_depth_is_found_wherever_it_lies_in_a_wide_value(wide: str, before: int) -> None:
    items = [wide] * before + [nested(MAX_DEPTH - 2)] + [wide] * 25_000
    assert extract(f"[[{', '.join(items)}]]").found
    items[before] = nested(MAX_DEPTH - 1)
    assert not extract(f"[[{', '.join(items)}]]").found


def test_parts_of_a_value_that_is_too_deep_are_no_candidates_but_its_neighbours_are() -> None:
    extraction = extract(f'{{"ok": true}}\n{nested(5000)}\n')
    assert extraction.value == {"ok": True}
    assert (extraction.candidates, extraction.depth_exceeded) == (1, True)


def test_depth_that_never_closes_hides_nothing() -> None:
    assert extract_envelope("[" * 100_000 + '{"ok": true}') == {"ok": True}


def test_a_huge_integer_becomes_its_digits_and_a_large_one_stays_a_number() -> None:
    digits = "7" * (MAX_DIGITS + 1)
    assert extract_envelope(f'{{"ok": true, "n": -{digits}}}') == {"ok": True, "n": f"-{digits}"}
    assert extract_envelope(f"log\n[{digits}, 1]") == [digits, 1]
    assert extract_envelope(digits) == digits
    assert extract_envelope(digits[1:]) == int(digits[1:])


@pytest.mark.parametrize("limit", [0, 640, MAX_DIGITS])
def test_integers_do_not_depend_on_what_the_process_allows(limit: int) -> None:
    text = f"[{'9' * 700}, -{'9' * MAX_DIGITS}, {'9' * (MAX_DIGITS + 1)}]"
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(limit)
    try:
        value = extract_envelope(text)
        assert sys.get_int_max_str_digits() == limit
    finally:
        sys.set_int_max_str_digits(before)
    assert value == [10**700 - 1, 1 - 10**MAX_DIGITS, "9" * (MAX_DIGITS + 1)]


@pytest.mark.parametrize(
    "hidden",
    [
        '\x1b]0;{"ok": true}\x07',
        '\x1b]8;;http://x/{"ok":true}\x1b\\',
        '\x1bP{"ok": true}\x1b\\',
        '\x1b_G{"ok": true}\x1b\\',
        '\x9d{"ok": true}\x9c',
        '\x1b[2"{\x1b[0m',
    ],
)
def test_text_inside_an_escape_is_never_a_candidate(hidden: str) -> None:
    assert not extract(f"before {hidden} after").found
    assert extract_envelope(f'{hidden}{{"ok": false}}{hidden}') == {"ok": False}


def test_a_byte_order_mark_is_passed_over() -> None:
    assert extract('\ufeff{"a": 1}').step == 2
    assert extract("\ufeff42").value == 42
    assert extract('\x1b[0m\ufeff{"a": 1}\n').value == {"a": 1}


def test_the_text_as_given_is_tried_first() -> None:
    assert extract_envelope('{"a": "\x85"}') == {"a": "\x85"}
    assert extract_envelope('note\n{"a": "\x85"}') == {"a": ""}


# --- the caller's stack ------------------------------------------------------------------------


def near_the_limit(call: Callable[[], Any], spare: int) -> Any:
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1

    def descend(left: int) -> Any:
        return call() if left <= 0 else descend(left - 1)

    return descend(sys.getrecursionlimit() - depth - spare)


@pytest.mark.parametrize(
    "text",
    [
        nested(300),
        nested(MAX_DEPTH + 1),
        '{"a":' * 200 + '[1, -2.5e3, null, true, "\\u00e9\\n", {}, []]' + "}" * 200,
        f'banner\n{{"ok": true, "data": {nested(300)}, "n": {"1" * 5000}}}\n',
        "[" * 2000 + '{"ok": true}',
        '{"ok": true, "data": [[[[[[1, 2',
        '\x1b[1mnote\x1b[0m {"a": \x1b[31m[[1]]\x1b[0m}\nend',
    ],
)
def test_the_answer_does_not_depend_on_the_callers_stack(text: str) -> None:
    usual = extract(text)
    deep = near_the_limit(lambda: extract(text), spare=40)
    assert same(deep.value, usual.value)
    assert (deep.step, deep.start, deep.end, deep.fragment, deep.candidates) == (
        usual.step,
        usual.start,
        usual.end,
        usual.fragment,
        usual.candidates,
    )
    assert near_the_limit(lambda: ends_mid_structure(text), spare=40) == ends_mid_structure(text)


@pytest.mark.parametrize("text", ["[" * 300 + "]" * 300, '{"a": [1, oops {"b": 1}', "x\n[1]\ny"])
def test_nor_on_what_the_process_has_loaded_before(text: str) -> None:
    # What is imported late must not need the stack that the caller has used up.
    code = f"""
from triage.envelope import extract
def descend(left):
    return extract({text!r}) if left == 0 else descend(left - 1)
found = descend(1000 - 40)
print(found.step, found.start, found.end, found.fragment, found.candidates)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    cold = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    usual = extract(text)
    assert cold.stdout.split() == [
        str(part) for part in (usual.step, usual.start, usual.end, usual.fragment, usual.candidates)
    ]


def test_repeated_keys_are_found_near_the_limit_too() -> None:
    text = '{"a": 1, "a": ' + nested(300) + "}"
    extraction = extract(text)
    assert near_the_limit(lambda: duplicate_keys(text, extraction), spare=40) == ("a",)


# --- fragments (ruling 7) ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"data": [{"ok": true}, {"ok": false}, {"o',
        '{"ok": true, "items": [{"id": 88}, {"id": 89}, ',
        '[\n  {"id": 1},\n  {"id": 2}\n',
        '[\n{"id": 1},\n{"id": 2}',
        'Fetching...\n{"data": {"ok": true}, "next": "ht',
        'INFO response: {"data": {"ok": true}, "x',
        '{"log": "saw {\\"ok\\": 1} and [1]", "x": ',
        '{"a": 1, "b": [1, 2], WARN lost "c": {"ok": true}}',
        '{\n  "a": 1,\nWARN: deprecated\n  "b": {"ok": true}\n}\n',
        '{"ok":WARN: x\n true, "data": {"ok": true}}',
        '[1, 2, oops {"ok": true}',
        '\x1b[1m{"a": \x1b[32m{"ok": true}\x1b[0m, "b": "cut',
    ],
)
def test_a_value_inside_a_broken_one_is_a_fragment(text: str) -> None:
    extraction = extract(text)
    assert extraction.found
    assert extraction.fragment
    assert extraction.documents == 0


@pytest.mark.parametrize(
    "text",
    [
        '[INFO] {"ok": true}',
        '[3 of 5] {"ok": true}',
        '[12:00:01] [3/5] {"ok": true}',
        "if [[ -f x ]]; then [1]",
        '{name} is {"ok": true}',
        'fn main() {\n  print("x")\n{"ok": true}\n',
        'use {"a": undefined} and then {"ok": true}',
        '12:01 sent {"x": [1, 2], "y": "cut\n12:02 result {"ok": true}\n',
        '{"progress": 1, "note": "cut\n{"ok": true}\n',
        '{"progress": 1,\n{"ok": true}\n',
        'parse error near {"foo":\n{"ok": false}\n',
        '{"whole": {"inner": 1}}\n{"ok": true}\ntrailing',
    ],
)
def test_a_value_after_prose_brackets_or_a_lost_line_is_none(text: str) -> None:
    extraction = extract(text)
    assert extraction.found
    assert not extraction.fragment


# --- a text that ends in the middle ------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"ok": true, "data": [1, 2',
        '{"ok": true, "data": [1, 2,\n',
        '{"ok": true, "text": "cut in a str',
        '{"ok": true, "text": "cut in a string\n',
        '{"text": "cut in an escape \\u00',
        '{"text": "cut behind a backslash \\',
        '{"ke',
        '{"key"',
        '{"key":',
        '{"key": "value"',
        '{"key": "value" ',
        '{"k\\u00e9y"',
        '{"k\\u00e9y": tr',
        "[1, 2, tru",
        "[1, -",
        "[1, 2.5e",
        "{",
        "\n  [",
        '{\n  "a": {',
        'Fetching...\n{\n  "items": [\n    {"id": 1},\n    {"id": 2',
        '{"id": 1}\n{"id": 2}\n{"id": 3, "na',
        '{"a": 1, oops}\n{"id": 2, "x": [',
        '\x1b[32m{\x1b[0m"a": \x1b[1m[1,',
        '\ufeff{"a": [',
        '{"a": "\x9b", "b": [',
    ],
)
def test_text_that_ends_inside_a_value(text: str) -> None:
    assert ends_mid_structure(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain text",
        '{"ok": true}',
        '{"id": 1}\n{"id": 2}\n',
        "void f()\n{\n  int x;\n",
        "[INFO] started\n[INFO] still",
        "see { and [ in prose",
        'INFO body: {"a": [1, 2',
        "Choose one [y",
        "[y/N",
        "[1/3",
        '{"a": 1, oops, "b": [',
        "done\n{",
        '{"a": "whole"}\nKilled\n',
        "}\n]\n",
        'note\n{"a": "\x9b"}\n',
        "{name",
    ],
)
def test_text_that_does_not(text: str) -> None:
    assert not ends_mid_structure(text)


# --- provenance --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line_bounded", "before", "after", "documents", "candidates"),
    [
        ('{"a": 1}', True, False, False, 1, 1),
        ('note\n{"a": 1}\n', True, True, False, 1, 1),
        ('\x1b[2Knote\r\n  {"a":\n 1}  \r\nbye', True, True, True, 1, 1),
        ('wanted: {"node": ">=24"} (current)', False, True, True, 0, 1),
        ('wanted: {"node": 1}\n', False, True, False, 0, 1),
        ('{"a": 1} # done', False, False, True, 0, 1),
        ('\x1b[1m{"a": 1}\x1b[0m', True, False, False, 1, 1),
        ('50%\r100%\r{"a": 1}', True, True, False, 1, 1),
        ('{"a": 1}\n{"a": 2}\n{"a": 3}\n', True, True, False, 3, 3),
        ("retry [3] of [5]", False, True, False, 0, 2),
    ],
)
def test_where_a_value_stood(
    text: str, line_bounded: bool, before: bool, after: bool, documents: int, candidates: int
) -> None:
    extraction = extract(text)
    assert extraction.line_bounded is line_bounded
    assert (extraction.has_before, extraction.has_after) == (before, after)
    assert (extraction.documents, extraction.candidates) == (documents, candidates)


def test_the_span_of_a_coloured_value_holds_its_escapes_and_no_others() -> None:
    text = 'ü\x1b[1m\x1b[32m{"a"\x1b[0m: 1}\x1b[K\n'
    extraction = extract(text)
    assert text[extraction.start : extraction.end] == '{"a"\x1b[0m: 1}'
    assert extraction.stripped


def test_nothing_found_has_an_empty_span() -> None:
    extraction = extract("[INFO] nothing\x1b[0m")
    assert (extraction.start, extraction.end, extraction.line_bounded) == (0, 0, False)
    assert not (extraction.has_before or extraction.has_after or extraction.fragment)


def test_keys_given_twice_are_named_once() -> None:
    text = 'x\n{"ok": true, "a": {"b": 1, "b": 2, "b": 3}, "ok": false, "c": [{"z": 1, "z": 1}]}'
    extraction = extract(text)
    assert extraction.value["ok"] is False
    assert duplicate_keys(text, extraction) == ("b", "ok", "z")
    coloured = '{"k": 1, \x1b[31m"k": 2\x1b[0m}'
    assert duplicate_keys(coloured, extract(coloured)) == ("k",)
    assert duplicate_keys("none", extract("none")) == ()
    assert duplicate_keys("[{}, {}]", extract("[{}, {}]")) == ()
    assert duplicate_keys("7", extract("7")) == ()


def test_numbers_that_are_none_are_pointed_at() -> None:
    extraction = extract('{"a": [1, NaN], "b/c": {"~": -Infinity}, "d": 1e999, "e": 1e308}')
    assert math.isnan(extraction.value["a"][1])
    assert non_finite(extraction) == ("/a/1", "/b~1c/~0", "/d")
    assert non_finite(extract("NaN")) == ("",)
    assert non_finite(extract("nothing")) == ()


# --- laws --------------------------------------------------------------------------------------

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda children: (
        st.lists(children, max_size=4)
        | st.dictionaries(st.sampled_from(["ok", "a", "b", "error"]), children, max_size=4)
    ),
    max_leaves=8,
)
PIECES = st.one_of(
    JSON_VALUES.map(json.dumps),
    JSON_VALUES.map(lambda value: json.dumps(value, indent=1, ensure_ascii=False)),
    st.tuples(JSON_VALUES.map(json.dumps), st.integers(0, 40)).map(lambda cut: cut[0][: cut[1]]),
    st.tuples(JSON_VALUES.map(json.dumps), st.integers(0, 40)).map(lambda cut: cut[0][cut[1] :]),
    st.sampled_from(list('[]{}",:\\ \n\r\t-.0123eE')),
    st.sampled_from(
        ["[INFO] ", "Update available!\n", "[2026-11-30 12:00:01] ", "[3/5] ", "{name}", '\\"']
    ),
    st.sampled_from(["true", "null", "NaN", "-Infinity", "\\u12", "\\ud83d", "\ud800", "\x00"]),
    st.sampled_from(['{"ok": true}', '{"ok":', '"ok"', "[1,", "[[", "{}", "[]", '["']),
    st.text(max_size=5),
)
COLOURS = st.sampled_from(["\x1b[0m", "\x1b[1;31m", "\x1b[K"])
ESCAPES = COLOURS | st.sampled_from(
    [
        "\x1b]0;{}\x07",
        "\x1b[?25l",
        "\x1bP[1]\x1b\\",
        "\x1b",
        "\x1b[",
        "\x1b]",
        "\x9b",
        "\x90",
        "\x85",
    ]
)
TEXTS = st.lists(PIECES, max_size=10).map("".join)
COLOURED = st.lists(PIECES | COLOURS, max_size=10).map("".join)
ANYTHING = st.lists(PIECES | ESCAPES | st.just("\ufeff"), max_size=12).map("".join)


@THOROUGH
@given(COLOURED)
def test_law_the_reference_agrees(text: str) -> None:
    seed_strips = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)
    if seed_strips == strip_escapes(text) and "\ufeff" not in text:
        assert same(extract_envelope(text), reference_envelope(text))
    else:
        # More was an escape than the seed knows: then it agrees on what is left.
        assert same(extract_envelope(text), _on_clean_text(text))


@THOROUGH
@given(ANYTHING)
def test_law_on_any_text_the_reference_agrees_once_it_is_clean(text: str) -> None:
    assert same(extract_envelope(text), _on_clean_text(text))


def _on_clean_text(text: str) -> Any:
    try:
        return json.loads(text.lstrip("\ufeff \t\r\n"))
    except json.JSONDecodeError:
        clean = strip_escapes(text)
    try:
        return json.loads(clean.lstrip("\ufeff \t\r\n"))
    except json.JSONDecodeError:
        return reference_envelope(clean)


@MODERATE
@given(ANYTHING)
def test_law_the_span_holds_the_value(text: str) -> None:
    extraction = extract(text)
    part = text[extraction.start : extraction.end]
    if not extraction.found:
        assert part == ""
    elif extraction.stripped:
        assert same(json.loads(strip_escapes(part)), extraction.value)
    else:
        assert same(json.loads(part), extraction.value)
        assert extraction.has_before == bool(text[: extraction.start].strip().strip("\ufeff"))


@MODERATE
@given(ANYTHING)
def test_law_the_parts_of_an_extraction_agree(text: str) -> None:
    extraction = extract(text)
    assert extraction.found == (extraction.candidates > 0) == (extraction.step != 6)
    assert 0 <= extraction.documents <= extraction.candidates
    if extraction.step == 2:
        assert not (extraction.has_before or extraction.has_after or extraction.fragment)
    if extraction.step == 4:
        assert "ok" in extraction.value
    assert isinstance(ends_mid_structure(text), bool)
    assert len(duplicate_keys(text, extraction)) <= len(text)


@MODERATE
@given(JSON_VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_law_every_cut_of_a_value_is_seen(value: Any, indent: int | None, ascii: bool) -> None:
    text = json.dumps([value, "end"], indent=indent, ensure_ascii=ascii)
    # A string may hold C1 characters; cut off, they are escapes like any other (exception 4).
    plain = strip_escapes(text) == text
    assert not ends_mid_structure(f"Fetching...\n{text}")
    for cut in range(1, min(len(text), 150)):
        assert ends_mid_structure(text[:cut])
        # Behind other text, brackets alone are not yet JSON.
        if text[:cut].strip("[{ \n"):
            assert ends_mid_structure(f"Fetching...\n{text[:cut]}")
            extraction = extract(text[:cut])
            assert not plain or extraction.fragment is extraction.found
            assert not plain or extraction.documents == 0


@MODERATE
@given(st.lists(PIECES | st.sampled_from(["\n", '\n{"ok": 1}', "\n[1]\n"]), max_size=12))
def test_law_the_end_of_a_text_decides_as_looking_at_all_of_it_would(pieces: list[str]) -> None:
    decoder = Decoder("".join(pieces))
    first = first_value(decoder)
    quick = last_line(decoder, first)
    if quick is not None:
        assert same(quick, survey(Decoder(decoder.text), None).chosen)


@MODERATE
@given(st.lists(st.dictionaries(st.text(max_size=4), JSON_VALUES, max_size=3), max_size=6))
def test_law_records_line_by_line_are_counted(records: list[Any]) -> None:
    text = "start\n" + "".join(json.dumps(record) + "\n" for record in records)
    extraction = extract(text)
    assert extraction.documents == extraction.candidates == len(records)
    assert not ends_mid_structure(text)


@pytest.mark.parametrize("family", FAMILIES)
def test_hostile_families_agree_with_the_reference_where_it_finishes(family: str) -> None:
    compared = 0
    for size in (1, 7, 50, 333, 900):
        text = FAMILIES[family](size)
        extraction = extract(text)
        # One unit of two families is already more than the reference survives everywhere.
        if extraction.depth_exceeded or re.search(r"[0-9]{4301}", text):
            assert not extraction.found
            continue
        compared += 1
        assert same(extraction.value, _on_clean_text(text))
    assert compared == (0 if family in ("deep lists side by side", "huge integers") else 5)


@pytest.mark.parametrize("family", FAMILIES)
def test_hostile_families_are_survived(family: str) -> None:
    text = FAMILIES[family](60_000)
    extraction = extract(text)
    assert isinstance(extraction, Extraction)
    assert extraction.found or extraction.value is None
    assert ends_mid_structure(text) in (True, False)
