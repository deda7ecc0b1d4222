"""Conditions of the format files: path -> test, compiled to closures.

The words are those of rules/schema/agent-format.schema.json. A list of conditions means any of
them; all tests of one condition have to hold. Equality is exact, patterns ignore case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from triage.agents.values import ABSENT, Path, blank, find

__all__ = ["TESTS", "Test", "When", "holds", "one_of"]

Test = Callable[[Any], bool]
# Alternatives of conjunctions of (path, test).
When = tuple[tuple[tuple[Path, Test], ...], ...]


def holds(when: When, event: Any) -> bool:
    """Return whether any alternative of `when` is true of `event`."""
    for alternative in when:
        for path, test in alternative:
            if not test(find(event, path)):
                break
        else:
            return True
    return False


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    for name, types in _KINDS:
        if isinstance(value, types):
            return name
    return "null" if value is None else "absent"


_KINDS: tuple[tuple[str, Any], ...] = (
    ("boolean", bool),
    ("object", dict),
    ("array", list),
    ("string", str),
    ("number", (int, float)),
)


def _listed(wanted: Any) -> list[Any]:
    return wanted if isinstance(wanted, list) else [wanted]


def one_of(wanted: Any) -> Test:
    """Return the test for one value or any of a list of values."""
    items = _listed(wanted)
    if all(isinstance(item, str) for item in items):
        words = frozenset(items)
        return lambda value: isinstance(value, str) and value in words
    # JSON's true is no 1.
    return lambda value: any(type(item) is type(value) and item == value for item in items)


def _none_of(wanted: Any) -> Test:
    test = one_of(wanted)
    return lambda value: not test(value)


def _of_kind(wanted: Any) -> Test:
    kinds = frozenset(_listed(wanted))
    return lambda value: _kind(value) in kinds


def _matches(pattern: Any) -> Test:
    return lambda value: (
        isinstance(value, str) and pattern.search(value, 0, _PATTERN_REACH) is not None
    )


_PATTERN_REACH = 20_000

# The words of a test in the format files: argument -> test.
TESTS: Mapping[str, Callable[[Any], Test]] = {
    "min": lambda least: lambda value: _number(value) and value >= least,
    "max": lambda most: lambda value: _number(value) and value <= most,
    "matches": _matches,
    # null counts as absent; `exists` asks for the key alone.
    "present": lambda wanted: lambda value: (value is not ABSENT and value is not None) is wanted,
    "exists": lambda wanted: lambda value: (value is not ABSENT) is wanted,
    "kind": _of_kind,
    "blank": lambda wanted: lambda value: isinstance(value, str) and blank(value) is wanted,
    "not": _none_of,
}
