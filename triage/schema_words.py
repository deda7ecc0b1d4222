"""What a schema has against a file, in the words of YAML and JSON and not of Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["complaint", "schema_place", "shown", "type_words"]

_TYPES = {
    "object": "mapping", "array": "list", "string": "text", "integer": "whole number",
    "number": "number", "boolean": "true or false", "null": "null",
}  # fmt: skip
_LONGEST = 60


def shown(value: Any) -> str:
    """A value as its writer would name it; one that holds others by its kind alone."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if isinstance(value, str):
        cut = value if len(value) <= _LONGEST else value[: _LONGEST - 3] + "..."
        return f"{cut!r}"
    return str(value)


def type_words(names: list[str]) -> str:
    """The types a schema names: ``mapping, list or text``."""
    words = [_TYPES.get(name, name) for name in names]
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def complaint(error: Any) -> str:
    """One error of jsonschema, without what it says of the place."""
    if error.validator == "required":
        return f"key `{_missing_key(error)}` is missing"
    told = _COMPLAINTS.get(error.validator)
    if told is None:
        message: str = error.message
        return message if len(message) < 160 else message[:157] + "..."
    return told(error.instance, error.validator_value)


def _missing_key(error: Any) -> str:
    """The key that a `required` error is about: there is one error a key."""
    missing: list[str] = [key for key in error.validator_value if key not in error.instance]
    # Only its message says which.
    return next((key for key in missing if error.message.startswith(repr(key))), missing[0])


def schema_place(schema: Path) -> str:
    """The schema's file as a person would type it; a wheel has it among its own files."""
    try:
        relative = os.path.relpath(schema)
    except (OSError, ValueError):
        return str(schema)
    return str(schema) if relative.startswith("..") else relative


def _type(value: Any, wanted: Any) -> str:
    return f"{shown(value)} is no {type_words([wanted] if isinstance(wanted, str) else wanted)}"


def _few(value: Any, least: int) -> str:
    return f"{shown(value)} is too short" if value else f"{shown(value)} says nothing"


_COMPLAINTS: Mapping[str, Callable[[Any, Any], str]] = {
    "type": _type,
    "enum": lambda value, known: f"{shown(value)} is none of {', '.join(map(shown, known))}",
    "const": lambda value, wanted: f"{shown(value)} is not {shown(wanted)}",
    "pattern": lambda value, wanted: f"{shown(value)} does not match {wanted}",
    "minItems": _few,
    "minProperties": _few,
    "maxItems": lambda value, most: f"{len(value)} entries, {most} at most",
    "maxProperties": lambda value, most: f"{len(value)} keys, {most} at most",
    "maxLength": lambda value, most: f"{shown(value)} has {len(value)} characters, {most} at most",
    "minLength": _few,
    "minimum": lambda value, least: f"{shown(value)} is below {least}",
    "exclusiveMinimum": lambda value, bound: f"{shown(value)} is not above {bound}",
    "maximum": lambda value, most: f"{shown(value)} is above {most}",
    "uniqueItems": lambda value, _: "an entry stands there twice",
}
