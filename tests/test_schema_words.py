"""What a schema has against a file is said in the words of YAML and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from triage.schema_words import complaint, schema_place, shown


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"), (True, "true"), (False, "false"), (3, "3"), (1.5, "1.5"), ("a", "'a'"),
        ("", "''"), ({}, "an empty mapping"), ({"a": None}, "a mapping"), ([], "an empty list"),
        ([None], "a list"), ("x" * 99, "'" + "x" * 57 + "...'"),
    ],
)  # fmt: skip
def test_a_value_is_named_as_its_writer_would(value: Any, words: str) -> None:
    assert shown(value) == words


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ({"type": "object"}, None, "null is no mapping"),
        ({"type": ["string", "array", "null"]}, True, "true is no text, list or null"),
        ({"enum": [True, None, "a"]}, [1], "a list is none of true, null, 'a'"),
        ({"const": True}, {"a": 1}, "a mapping is not true"),
        ({"minItems": 1}, [], "an empty list says nothing"),
        ({"minLength": 20}, "short", "'short' is too short"),
        ({"maxLength": 3}, "four", "'four' has 4 characters, 3 at most"),
        ({"maxProperties": 1}, {"a": 1, "b": 2}, "2 keys, 1 at most"),
        ({"maximum": 16}, 17, "17 is above 16"),
        ({"minimum": 1}, 0, "0 is below 1"),
        ({"exclusiveMinimum": 0}, 0, "0 is not above 0"),
        ({"uniqueItems": True}, ["a", "a"], "an entry stands there twice"),
        ({"pattern": "^a"}, "b", "'b' does not match ^a"),
        ({"required": ["a"]}, {}, "key `a` is missing"),
        ({"multipleOf": 2}, 3, "3 is not a multiple of 2"),
    ],
)
def test_a_complaint_speaks_no_python(schema: dict[str, Any], value: Any, words: str) -> None:
    (error,) = Draft202012Validator(schema).iter_errors(value)
    assert complaint(error) == words


def test_each_missing_key_is_its_own_complaint() -> None:
    errors = Draft202012Validator({"required": ["a", "b", "c"]}).iter_errors({"b": 1})
    assert [complaint(error) for error in errors] == ["key `a` is missing", "key `c` is missing"]


def test_a_schema_is_named_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = tmp_path / "lib" / "rules" / "schema" / "set.schema.json"
    monkeypatch.chdir(tmp_path)
    assert schema_place(schema) == str(schema.relative_to(tmp_path))
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    assert schema_place(schema) == str(schema)
