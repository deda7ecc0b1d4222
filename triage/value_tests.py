"""Tests of one value (a JSON path, a size, a fact): equal to, at least, of this kind, matching."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triage.finds import Node

if TYPE_CHECKING:
    from triage.pattern_search import Patterns
    from triage.signals import Signals

__all__ = ["ABSENT", "look_up", "passes"]

ABSENT = object()


def look_up(value: Any, path: str) -> Any:
    """The value at a dotted path, `ABSENT` where there is none; list steps are numbers."""
    if not path:
        return value
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and step.removeprefix("-").isdecimal() and len(step) < 8:
            index = int(step)
            value = value[index] if -len(value) <= index < len(value) else ABSENT
        else:
            return ABSENT
        if value is ABSENT:
            return ABSENT
    return value


def passes(m: Patterns, tests: Node, value: Any, s: Signals) -> bool:
    """One value against its tests: all of [kind, argument] must hold."""
    return all(_one(m, kind, wanted, value, s) for kind, wanted in tests)


def _one(m: Patterns, kind: str, wanted: Any, value: Any, s: Signals) -> bool:
    if kind == "present":
        return (value is not ABSENT and value is not None) is wanted
    if value is ABSENT:
        return False
    if kind == "in":
        return any(_same(item, value) for item in wanted)
    if kind == "min":
        return _number(value) and bool(value >= wanted)
    if kind == "max":
        return _number(value) and bool(value <= wanted)
    if kind == "kind":
        return _kind(value) in wanted
    if kind == "matches":
        return isinstance(value, str) and m.search(wanted, value, 0, len(value), s) is not None
    return isinstance(value, (list, tuple, set, frozenset)) and wanted in value


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _same(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, str) and isinstance(value, str):
        return wanted.casefold() == value.casefold()
    # JSON's true is no 1.
    return isinstance(wanted, bool) == isinstance(value, bool) and bool(wanted == value)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "array"
    if isinstance(value, str):
        return "string"
    return "null" if value is None else "number"
