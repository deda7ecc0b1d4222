"""JSON out of lines that may hold anything."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.agents.values import (
    ABSENT,
    blank,
    bounded,
    completed,
    document_in,
    error_text,
    find,
    flat_numbers,
    glued_object,
    numbers,
    parse_path,
    values_of,
)


def values(data: bytes) -> list[Any]:
    return list(values_of(data))


def test_one_object_is_one_value() -> None:
    assert values(b'{"a":1}\r') == [{"a": 1}]


def test_a_lost_line_feed_gives_two_values() -> None:
    assert values(b'{"a":1} {"b":2}') == [{"a": 1}, {"b": 2}]


def test_text_without_a_line_feed_may_stand_before_an_event() -> None:
    assert glued_object(b'Reading input from stdin...{"type":"x"}') == {"type": "x"}
    assert glued_object(b'[info] started {"type":"x"}') == {"type": "x"}
    assert values(b'[info] started {"type":"x"}') == []


def test_an_event_quoted_inside_a_log_line_is_no_event() -> None:
    assert glued_object(b'sent {"type":"error"} to the server') is None


@pytest.mark.parametrize(
    "data",
    [b'{"type":"assistant","message":{"role":"assistant"}', b'[{"type":"assistant"}', b"", b"x"],
)
def test_what_is_found_inside_a_broken_value_is_a_fragment_and_no_event(data: bytes) -> None:
    assert values(data) == []
    assert glued_object(data) is None


def test_escapes_marks_and_nuls_around_an_event_do_not_hide_it() -> None:
    assert values(b'\x1b[2K\x1b[1G{"a":1}') == [{"a": 1}]
    assert values(b'\xef\xbb\xbf{"a":1}') == [{"a": 1}]
    assert values(b'{"a":\x001}\x00') == [{"a": 1}]


def test_bytes_that_are_no_utf8_spoil_only_themselves() -> None:
    assert values(b'{"a":"\xff\xfe"}') == [{"a": "��"}]


def test_a_number_of_five_thousand_digits_is_infinite_and_no_count() -> None:
    found = values(b'{"tokens":' + b"9" * 5000 + b"}")
    assert found == [{"tokens": float("inf")}]
    assert numbers(found[0]["tokens"]) is None


@pytest.mark.parametrize("data", [b"[" * 200_000, b'{"a":' * 100_000, b"\x00", b"\xff" * 9, b""])
def test_hostile_lines_hold_no_value(data: bytes) -> None:
    assert values(data) == []


def test_very_many_objects_on_one_line_are_not_all_read() -> None:
    assert len(values(b"{}" * 5000)) == 1000


@given(st.binary(max_size=300))
def test_any_bytes_give_values_or_nothing(data: bytes) -> None:
    assert all(value is not ABSENT for value in values(data))


@pytest.mark.parametrize(
    ("head", "value"),
    [
        ('{"type":"result","result":"abc', {"type": "result", "result": "abc"}),
        ('{"a":[1,2,{"b":"x\\', {"a": [1, 2, {"b": "x"}]}),
        ('{"a":"x\\u12', {"a": "x"}),
        ('{"a":1,"b":', {"a": 1}),
        ('{"a":1,"b":tr', {"a": 1}),
        ('{"a":1}', {"a": 1}),
    ],
)
def test_a_line_over_the_cap_is_closed_where_we_stopped_keeping_it(head: str, value: Any) -> None:
    assert completed(head) == value


@pytest.mark.parametrize("head", ["", "abc", "[" * 300, "}", '{"a"'])
def test_what_can_not_be_closed_is_absent(head: str) -> None:
    assert completed(head) is ABSENT


def test_a_document_may_have_lines_before_and_behind_it() -> None:
    assert document_in('banner\n{\n "a": 1\n}\nbye') == ({"a": 1}, 7, 18)
    assert document_in(" [1]\n")[0] == [1]


def test_a_one_line_object_among_other_lines_is_no_document() -> None:
    assert document_in('banner\n{"a": 1}\nbye')[0] is ABSENT


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("plain", "plain"),
        ({"message": "m"}, "m"),
        ({"name": "UnknownError", "data": {"message": "Token refresh failed: 401"}},
         "Token refresh failed: 401"),
        ({"name": "APIError", "data": {}}, "APIError"),
        ('{"error":{"message":"inner"}}', "inner"),
        (["a", "b"], "a; b"),
        (429, "HTTP 429"),
        (None, ""),
        (7, ""),
        ({"a": {"b": 1}}, ""),
    ],
)  # fmt: skip
def test_the_message_of_an_error_of_any_shape(error: Any, text: str) -> None:
    assert error_text(error) == text


@given(st.recursive(st.none() | st.text() | st.integers() | st.floats(), lambda c: st.lists(c)
       | st.dictionaries(st.text(), c), max_leaves=20))  # fmt: skip
def test_error_text_is_total(value: Any) -> None:
    assert isinstance(error_text(value), str)


def test_usage_is_flat_renamed_and_bounded() -> None:
    usage = {"inputTokens": 1, "cache": {"read": 2}, "ok": True, "big": 10**400, "n": float("nan")}
    assert flat_numbers(usage, [("cache_read", "cache_read_tokens")]) == {
        "input_tokens": 1,
        "cache_read_tokens": 2,
    }
    assert len(flat_numbers({str(n): n for n in range(500)})) == 48


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\ufeff", "\u00a0"])
def test_what_prints_nothing_is_blank(text: str) -> None:
    assert blank(text)


def test_a_kept_text_is_short_and_can_be_printed() -> None:
    assert bounded("a\ud800b" * 9, 3).encode() == b"a?b"


def test_paths_lead_through_objects_and_lists() -> None:
    value = {"a": [{"b": 1}], "n": None}
    assert find(value, parse_path("a.0.b")) == 1
    assert find(value, parse_path("a.-1.b")) == 1
    assert find(value, parse_path("n")) is None
    assert find(value, parse_path("a.9")) is ABSENT
    assert find(value, parse_path("a.b.c")) is ABSENT
    assert find(value, parse_path(".")) is value
