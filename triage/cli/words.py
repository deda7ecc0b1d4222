"""The words of a verb as most callers write them, read without typer, whose import costs more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Flags", "Values", "read_options"]

# Option -> its field and what its value is (str, float, int, or list: a text each time).
Values = Mapping[str, tuple[str, type]]
# Option -> its field and what it sets.
Flags = Mapping[str, tuple[str, bool]]


def read_options(
    words: Sequence[str], values: Values, flags: Flags
) -> tuple[dict[str, Any], list[str], list[str] | None] | None:
    """Read options as they are listed: their fields, the words between them, those behind ``--``.

    The last is None where no ``--`` stands. ``--option=value`` and ``--option value`` are the same;
    a value may begin with one dash (``-9``, ``-``). None for anything else (an unknown option, a
    value that does not fit or begins with two dashes, ``--help``): typer then reads the same
    words, and says what is wrong with them.
    """
    fields: dict[str, Any] = {}
    between: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return fields, between, list(rest)
        if word == "-" or not word.startswith("-"):
            between.append(word)
            continue
        if word in flags:
            name, set_to = flags[word]
            fields[name] = set_to
            continue
        option, equals, value = word.partition("=")
        if option not in values:
            return None
        if not equals:
            value = next(rest, "--")
            if value.startswith("--"):
                return None
        name, kind = values[option]
        if kind is list:
            fields.setdefault(name, []).append(value)
            continue
        try:
            fields[name] = kind(value)
        except ValueError:
            return None
    return fields, between, None
