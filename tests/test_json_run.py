"""Lines that are passed over as objects are objects, and nobody can tell that they were."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage import json_run
from triage.envelope import MAX_DIGITS, extract
from triage.json_run import objects_from

VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**9), 10**9),
        st.floats(),
        st.text(max_size=5),
        st.sampled_from(["ok", '"ok"', "\\", "é", "😀", "\ud800", "\n", "\x7f"]),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
KEYS = st.one_of(st.text(max_size=4), st.sampled_from(["ok", "o\u212a", "id"]))
WRITTEN = st.builds(
    lambda value, plain, tight: json.dumps(
        value, ensure_ascii=plain, separators=(",", ":") if tight else None
    ),
    st.dictionaries(KEYS, VALUES, max_size=3),
    st.booleans(),
    st.booleans(),
)
ODD = st.sampled_from(
    [
        *('{"\\u006fk": true}', '{"o\\u006B": 1}', '{"a": {"ok": 1}}', '{"a": "\\"ok\\""}', "{}"),
        *('{"a": 01}', '{"a": 1.}', '{"a": -}', '{"a": "\\x"}', '{"a": "\t"}', "{'a': 1}"),
        *('{"a": 1}\r', '{"a": 1} ', '{"a": 1}{"b": 2}', '{"a": [[[[1]]]]}', "[1]", "", "log"),
        *('{"a": NaN, "b": -Infinity}', f'{{"ok": {"7" * (MAX_DIGITS + 1)}}}', '{"a": "', "\x1b[m"),
    ]
)
LINES = st.lists(WRITTEN | ODD, max_size=14)


def told(text: str, often: int) -> tuple[Any, ...]:
    """All that is said of a text where a run is looked for after `often` lines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("triage.json_scan._OFTEN", often)
        patch.setattr("triage.json_run._FEW", 64)
        found = extract(text)
        counts = found.candidates, found.documents, found.depth_exceeded
        place = found.found, found.step, found.start, found.end, found.fragment
        return (*place, *counts, repr(found.value))


@settings(max_examples=600, deadline=None)
@given(LINES, st.booleans(), st.booleans())
def test_it_makes_no_difference_that_lines_are_passed_over(
    lines: list[str], ended: bool, noted: bool
) -> None:
    text = "\n".join(lines) + "\n" * ended + "done\n" * noted
    assert told(text, 1) == told(text, 10**9)


@settings(max_examples=600)
@given(WRITTEN, st.data())
def test_what_is_taken_for_an_object_is_one(line: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(line)))
    until = data.draw(st.integers(at, min(len(line), at + 2)))
    changed = (
        line[:at] + data.draw(st.text('[]{}":,\\u0e.- \t\r1tx\x01é', max_size=3)) + line[until:]
    )
    count, after = objects_from(changed + "\n", 0)
    if count:
        assert (count, after) == (1, len(changed) + 1)
        assert isinstance(json.loads(changed), dict)


def test_most_records_are_taken_for_objects() -> None:
    record = {"id": 1, "at": 1.5e-9, "name": "größe \u2713", "tags": [{"a": 1}], "none": None}
    text = (json.dumps(record, ensure_ascii=False) + "\n") * 5000 + "end"
    assert objects_from(text, 0) == (5000, len(text) - 3)
    assert objects_from("x" + text, 1) == (5000, len(text) - 2)


def test_without_re2_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_run, "_RUN", None)
    assert objects_from("{}\n{}\n", 0) == (0, 0)
    text = '{"ok": 1}\n' * 90
    assert extract(text).candidates == 90
