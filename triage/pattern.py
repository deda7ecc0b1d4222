"""What one pattern needs before it can match: literals, and a wider pattern RE2 can run.

Patterns are compiled with one flag set, `FLAG_NAMES`: case is ignored, ``^`` and ``$`` are line
anchors, and every class is ASCII, so that `regex` and RE2 agree on ``\\b``, ``\\w`` and ``\\d``
next to é or ñ. Write ``(?-i:Killed)`` where case matters.

`needs(pattern)` returns two over-approximations, both sound by construction (they may let a text
through that the pattern then refuses, never the reverse): the literals it can't match without
(`triage.pattern_literals`), by which the prefilter goes, and a pattern for RE2 that matches at
least as much (`triage.pattern_re2`), by which lint tells what RE2 can't express.
"""

from __future__ import annotations

import re
from re import _parser as sre_parse  # type: ignore[attr-defined]
from typing import Any

from triage.pattern_literals import Clause, literals_of
from triage.pattern_re2 import widened

__all__ = ["FLAG_NAMES", "Needs", "alternatives", "compile_pattern", "needs"]

FLAG_NAMES = ("ASCII", "IGNORECASE", "MULTILINE")
_SRE_FLAGS = re.ASCII | re.IGNORECASE | re.MULTILINE
# What `re` would read as text and `regex` does not: POSIX classes and fuzzy matches.
_ONLY_REGEX = r"\[:\^?[a-z]+:\]|\{\s*(?:\d+\s*<=?\s*)?[a-z][^{}]*\}"
# Flags for the rest of a pattern and references to groups: these hold its alternatives together.
_BINDS = r"\(\?[a-zA-Z]+\)|\(\?P[=>]|\(\?[(&R\d]|\\[1-9gk]"


class Needs:
    """The two over-approximations of one pattern; `re2` is None where RE2 can't express it."""

    __slots__ = ("clauses", "re2")

    def __init__(self, clauses: tuple[Clause, ...], re2: str | None) -> None:
        self.clauses = clauses
        self.re2 = re2


def compile_pattern(source: str) -> Any:
    """Compile one pattern with the package's flag set; raises `regex.error`."""
    import regex

    return regex.compile(source, regex.ASCII | regex.IGNORECASE | regex.MULTILINE)


def alternatives(source: str) -> list[str]:
    """Split a pattern at its outermost ``|``: each part is found, and prefiltered, by itself.

    A long alternation passes any filter as soon as one part of it may match, and is then compiled
    whole; its parts are small and mostly never compiled at all.
    """
    if re.search(_BINDS, source):
        return [source]
    parts, depth, start, at = [], 0, 0, 0
    in_class = False
    while at < len(source):
        char = source[at]
        if char == "\\":
            at += 1
        elif in_class:
            # A bracket right after `[` or `[^` is a character of the class.
            in_class = char != "]" or source[at - 1] == "[" or source[at - 2 : at] == "[^"
        elif char == "[":
            in_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|" and depth == 0:
            parts.append(source[start:at])
            start = at + 1
        at += 1
    parts.append(source[start:])
    # An empty part would match everything; a part that is unbalanced was cut in the wrong place.
    return parts if all(parts) and not depth and not in_class else [source]


def needs(source: str) -> Needs:
    """Return what `source` needs before it can match (see the module)."""
    if re.search(_ONLY_REGEX, re.sub(r"(?s)\\.", "", source)):
        return Needs((), None)
    try:
        tree = sre_parse.parse(source, _SRE_FLAGS)
    except (re.error, RecursionError, OverflowError):
        # A construct only `regex` knows: never skipped, counted by the table's lint.
        return Needs((), None)
    return Needs(literals_of(tree), widened(tree))
