"""What one pattern needs before it can match: literals, and a wider pattern RE2 can run.

Patterns are compiled with one flag set, `FLAG_NAMES`: case is ignored, ``^`` and ``$`` are line
anchors, and every class is ASCII, so that `regex` and RE2 agree on ``\\b``, ``\\w`` and ``\\d``
next to é or ñ. Write ``(?-i:Killed)`` where case matters.

`needs(pattern)` walks the parsed pattern and returns two over-approximations, both sound by
construction (they may let a text through that the pattern then refuses, never the reverse):
a conjunction of literal alternatives, lower case, of which each must occur in the lower-cased text;
and a pattern in RE2 syntax that matches at least everything the pattern matches. Look-arounds are
dropped, possessive and atomic parts become plain ones, counted gaps become `*` (sixty counted gaps
break RE2's memory limit at 3 MiB).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parse  # type: ignore[attr-defined]
from typing import Any

__all__ = ["FLAG_NAMES", "Needs", "alternatives", "compile_pattern", "needs"]

FLAG_NAMES = ("ASCII", "IGNORECASE", "MULTILINE")
_SRE_FLAGS = re.ASCII | re.IGNORECASE | re.MULTILINE
# A longer alternation of literals is no sharper than the next best part of the pattern.
_MAX_ALTERNATIVES = 48
_MAX_CLAUSES = 3
_MIN_LITERAL = 2
# A class of more characters than this says next to nothing.
_MAX_CLASS = 12
# Repeats above this bound are widened to `*` or `+` for RE2.
_COUNTED_LIMIT = 4

# What `re` would read as text and `regex` does not: POSIX classes and fuzzy matches.
_ONLY_REGEX = r"\[:\^?[a-z]+:\]|\{\s*(?:\d+\s*<=?\s*)?[a-z][^{}]*\}"
# Flags for the rest of a pattern and references to groups: these hold its alternatives together.
_BINDS = r"\(\?[a-zA-Z]+\)|\(\?P[=>]|\(\?[(&R\d]|\\[1-9gk]"
_OTHER_ALPHABET = re.UNICODE | re.LOCALE

Clause = tuple[str, ...]


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
    clauses = _clauses(list(tree))
    ranked = sorted(set(clauses), key=_rank)[:_MAX_CLAUSES]
    try:
        wide = "(?im)" + _wide(list(tree), tree.state.flags)
    except _NotExpressibleError:
        return Needs(tuple(ranked), None)
    return Needs(tuple(ranked), wide)


def _rank(clause: Clause) -> tuple[float, Clause]:
    return (-min(map(len, clause)) + 0.1 * len(clause), clause)


def _fold(code: int) -> str | None:
    """The lower-case form of one character, None where lowering depends on its neighbours."""
    char = chr(code)
    lowered = char.lower()
    # Capital sigma lowers by position and dotted capital I to two characters.
    return None if char in "Σσς" or len(lowered) != 1 else lowered


def _clauses(items: list[Any]) -> list[Clause]:
    """Necessary clauses of a sequence: its literal runs, and what each part needs by itself."""
    found: list[Clause] = []
    run = ""

    def close() -> None:
        nonlocal run
        if len(run) >= _MIN_LITERAL or _tells(run):
            found.append((run,))
        run = ""

    for op, arg in items:
        char = _single(op, arg)
        if char is not None:
            run += char
            continue
        if op is sre.AT:
            continue
        plain = _plain_group(op, arg)
        if plain is not None and run is not None:
            run += plain
            continue
        prefix = run
        close()
        found.extend(_part(op, arg, prefix))
    close()
    return found


def _plain_group(op: Any, arg: Any) -> str | None:
    """The text of a group that is nothing but characters."""
    if op is sre.SUBPATTERN and not arg[1] & _OTHER_ALPHABET:
        inner = arg[3]
        chars = [_single(inner_op, inner_arg) for inner_op, inner_arg in inner]
        if chars and all(char is not None for char in chars):
            return "".join(char or "" for char in chars)
    return None


def _single(op: Any, arg: Any) -> str | None:
    if op is sre.LITERAL:
        return _fold(arg)
    if op is sre.IN:
        folded = set()
        for kind, value in arg:
            if kind is not sre.LITERAL:
                return None
            folded.add(_fold(value))
        if len(folded) == 1:
            return folded.pop()
    return None


def _tells(char: str) -> bool:
    """Whether one character alone is worth looking for: no letter, digit or blank is."""
    return len(char) == 1 and not char.isalnum() and not char.isspace()


def _of_class(parts: Any) -> list[Clause]:
    """What a class of a few characters needs: one of them, where all of them tell something."""
    chars = set()
    for kind, value in parts[: _MAX_CLASS + 1]:
        char = _fold(value) if kind is sre.LITERAL else None
        if char is None or not _tells(char):
            return []
        chars.add(char)
    return [tuple(sorted(chars))] if len(parts) <= _MAX_CLASS else []


def _part(op: Any, arg: Any, prefix: str) -> list[Clause]:
    if op is sre.SUBPATTERN:
        if arg[1] & _OTHER_ALPHABET:
            return []
        inner = list(arg[3])
        if len(inner) == 1 and inner[0][0] is sre.BRANCH:
            return _part(sre.BRANCH, inner[0][1], prefix)
        return _clauses(inner)
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, _, body = arg
        return _clauses(list(body)) if least > 0 else []
    if op is sre.ATOMIC_GROUP:
        return _clauses(list(arg))
    if op is sre.IN:
        return _of_class(arg)
    if op is sre.ASSERT:
        return _clauses(list(arg[1]))
    if op is sre.BRANCH:
        # `E(?:404|5\d)` needs e404 or e5: more than its branches need by themselves.
        joined = _unique(prefix + _lead(list(branch)) for branch in arg[1])
        best: list[str] = []
        for branch in arg[1]:
            clauses = _clauses(list(branch))
            if not clauses:
                return [joined] if joined else []
            best.extend(sorted(clauses, key=_rank)[0])
        return [clause for clause in (_unique(best), joined) if clause]
    return []


def _unique(literals: Iterable[str]) -> Clause:
    """The alternatives as one clause; none where one of them, or their number, says too little."""
    unique = tuple(sorted(set(literals)))
    tell = all(len(literal) >= _MIN_LITERAL or _tells(literal) for literal in unique)
    return unique if tell and len(unique) <= _MAX_ALTERNATIVES else ()


def _lead(items: list[Any]) -> str:
    """The characters a sequence begins with."""
    run = ""
    for op, arg in items:
        char = "" if op is sre.AT else _single(op, arg)
        if char is None:
            break
        run += char
    return run


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


def _wide(items: list[Any], flags: int) -> str:
    return "".join(_wide_part(op, arg, flags) for op, arg in items)


def _wide_part(op: Any, arg: Any, flags: int) -> str:
    if op is sre.LITERAL:
        return _escape(arg)
    if op is sre.NOT_LITERAL:
        return _negated(_escape(arg, in_class=True))
    if op is sre.ANY:
        return "(?s:.)" if flags & re.DOTALL else "."
    if op is sre.AT:
        return _AT[arg]
    if op is sre.IN:
        return _wide_class(arg)
    if op is sre.SUBPATTERN:
        _, add, remove, inner = arg
        if add & _OTHER_ALPHABET:
            raise _NotExpressibleError
        inner_flags = (flags | add) & ~remove
        mode = "i" if inner_flags & re.IGNORECASE else "-i"
        return f"(?{mode}:{_wide(list(inner), inner_flags)})"
    if op is sre.BRANCH:
        return "(?:" + "|".join(_wide(list(branch), flags) for branch in arg[1]) + ")"
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, body = arg
        return f"(?:{_wide(list(body), flags)}){_count(least, most)}"
    if op is sre.ATOMIC_GROUP:
        return f"(?:{_wide(list(arg), flags)})"
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


def _wide_class(parts: Any) -> str:
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
