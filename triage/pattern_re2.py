"""A parsed pattern in RE2 syntax, widened where RE2 has no form for a part of it.

What is written here matches at least everything the pattern matches: look-arounds are dropped,
possessive and atomic parts become plain ones, long counted gaps become `*` (sixty of them break
RE2's memory limit at 3 MiB).
"""

from __future__ import annotations

import re
from re import _constants as sre  # type: ignore[attr-defined]
from typing import Any

__all__ = ["widened"]

# Repeats above this bound are widened to `*` or `+`.
_COUNTED_LIMIT = 4
_OTHER_ALPHABET = re.UNICODE | re.LOCALE


def widened(tree: Any) -> str | None:
    """Return the pattern of a tree of `re`'s parser for RE2; None where RE2 can't express it."""
    try:
        return "(?im)" + _sequence(list(tree), tree.state.flags)
    except _NotExpressibleError:
        return None


class _NotExpressibleError(Exception):
    """RE2 has no form for this part."""


_CATEGORY = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\t-\r ",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}
# Both streams are scanned as one text and rules look at windows of it, so what ends or begins a
# text is only a line to RE2, and an end is no condition at all.
_AT = {
    sre.AT_BEGINNING: "^",
    sre.AT_BEGINNING_STRING: "^",
    sre.AT_END: "",
    sre.AT_END_STRING: "",
    sre.AT_BOUNDARY: r"\b",
    sre.AT_NON_BOUNDARY: r"\B",
}


def _sequence(items: list[Any], flags: int) -> str:
    return "".join(_part(op, arg, flags) for op, arg in items)


def _part(op: Any, arg: Any, flags: int) -> str:
    if op is sre.LITERAL:
        return _escape(arg)
    if op is sre.NOT_LITERAL:
        return _negated(_escape(arg, in_class=True))
    if op is sre.ANY:
        return "(?s:.)" if flags & re.DOTALL else "."
    if op is sre.AT:
        return _AT[arg]
    if op is sre.IN:
        return _class(arg)
    if op is sre.SUBPATTERN:
        _, add, remove, inner = arg
        if add & _OTHER_ALPHABET:
            raise _NotExpressibleError
        inner_flags = (flags | add) & ~remove
        mode = "i" if inner_flags & re.IGNORECASE else "-i"
        return f"(?{mode}:{_sequence(list(inner), inner_flags)})"
    if op is sre.BRANCH:
        return "(?:" + "|".join(_sequence(list(branch), flags) for branch in arg[1]) + ")"
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, body = arg
        return f"(?:{_sequence(list(body), flags)}){_count(least, most)}"
    if op is sre.ATOMIC_GROUP:
        return f"(?:{_sequence(list(arg), flags)})"
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return ""
    raise _NotExpressibleError


def _count(least: int, most: Any) -> str:
    unbounded = most is sre.MAXREPEAT
    if least == 0 and most == 1:
        return "?"
    if not unbounded and most <= _COUNTED_LIMIT:
        return f"{{{least},{most}}}"
    return "*" if least == 0 else "+"


def _class(parts: Any) -> str:
    negated = bool(parts) and parts[0][0] is sre.NEGATE
    body = ""
    for kind, value in parts:
        if kind is sre.NEGATE:
            continue
        if kind is sre.LITERAL:
            body += _escape(value, in_class=True)
        elif kind is sre.RANGE:
            body += _escape(value[0], in_class=True) + "-" + _escape(value[1], in_class=True)
        elif kind is sre.CATEGORY and value in _CATEGORY:
            body += _CATEGORY[value]
        elif kind is sre.CATEGORY and value is sre.CATEGORY_NOT_SPACE:
            if len(parts) == 1:
                return r"[^\t-\r ]"
            # [\s\S] and friends: any character at all.
            return r"(?s:.)"
        else:
            raise _NotExpressibleError
    return _negated(body) if negated else f"[{body}]"


def _negated(body: str) -> str:
    # RE2 folds by Unicode (the Kelvin sign is a k), `regex` by ASCII: a negated class stays
    # exact only without folding, where it can but widen.
    return f"(?-i:[^{body}])"


def _escape(code: int, *, in_class: bool = False) -> str:
    char = chr(code)
    if char.isalnum() and code < 128:
        return char
    if code < 128:
        return f"\\x{code:02x}"
    if 0xD800 <= code <= 0xDFFF:
        raise _NotExpressibleError
    return char
