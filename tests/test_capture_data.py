"""The published schema of a capture says what `capture_from_mapping` takes, no more and no less."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from triage import CaptureError, capture_from_mapping
from triage.capture_data import CAPTURE_KEYS

ROOT = Path(__file__).parent.parent
SCHEMA = json.loads((ROOT / "rules/schema/capture.schema.json").read_text("utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
VALUES = (
    None, True, False, 0, 1, -9, 1.5, "", "x", "aGk=", "null", "tty", "read_only",
    [], [1], ["a"], [{}], [1, "a"], {}, {"a": 1},
)  # fmt: skip


def is_taken(data: dict[str, Any]) -> bool:
    try:
        capture_from_mapping(data)
    except CaptureError:
        return False
    return True


def test_the_schema_has_every_key_with_its_meaning() -> None:
    properties = SCHEMA["properties"]
    assert set(properties) == set(CAPTURE_KEYS)
    assert all(item["description"] for item in properties.values())


@pytest.mark.parametrize("key", CAPTURE_KEYS)
def test_the_schema_refuses_what_the_reader_refuses(key: str) -> None:
    for value in VALUES:
        if key.endswith("_b64") and value in ("x", "null", "tty", "read_only"):
            # A schema can't tell base64 from other text.
            continue
        data = {"exit_code": 1, key: value}
        assert VALIDATOR.is_valid(data) is is_taken(data), (key, value)


@given(st.dictionaries(st.sampled_from(sorted(CAPTURE_KEYS)), st.sampled_from(VALUES), max_size=5))
@settings(max_examples=150, deadline=None)
def test_what_is_no_capture_for_the_schema_is_none_for_the_reader(data: dict[str, Any]) -> None:
    if not VALIDATOR.is_valid(data):
        assert not is_taken(data)


def test_readme_names_every_key() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    listed = readme.partition("### What a capture holds")[2].partition("\n## ")[0]
    missing = [key for key in CAPTURE_KEYS if f"`{key}`" not in listed]
    assert missing == []
