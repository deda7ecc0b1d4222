"""Texts that a pattern finds, made from the pattern: short, plain, with different choices taken."""

from __future__ import annotations

from collections.abc import Sequence
from re import _constants as sre  # type: ignore[attr-defined]
from typing import Any

from triage.pattern import compile_pattern
from triage.regex_shape import parsed

__all__ = ["example_texts"]

_MOST_TEXTS = 3
_FILLER = "abcdefghijklmnopqrstuvwxyz0123456789 _-./:'\"()[]{}<>=,;@#$%&*+!?\\|~^`\t\n\x1b"


def example_texts(pattern: str) -> list[str]:
    """Return up to three texts that the pattern finds, short and with different choices taken."""
    tree = parsed(pattern)
    if tree is None:
        return []
    compiled = compile_pattern(pattern)
    found: list[str] = []
    for turn in range(8):
        for extra in (0, 1, 3):
            text = _text(tree, turn, extra)
            if text not in found and text.strip() and compiled.search(text) is not None:
                found.append(text)
                break
        if len(found) >= _MOST_TEXTS:
            break
    return found


def _text(items: Sequence[tuple[Any, Any]], turn: int, extra: int) -> str:
    """One text of a parsed pattern: `turn` picks among choices, `extra` lengthens repeats."""
    return "".join(_part(op, arg, turn, extra) for op, arg in items)


def _part(op: Any, arg: Any, turn: int, extra: int) -> str:
    if op is sre.LITERAL:
        return chr(arg)
    if op in (sre.NOT_LITERAL, sre.IN, sre.ANY):
        return _char(op, arg)
    if op is sre.SUBPATTERN:
        return _text(list(arg[3]), turn, extra)
    if op is sre.BRANCH:
        choices = arg[1]
        return _text(list(choices[turn % len(choices)]), turn // len(choices), extra)
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, body = arg
        return _text(list(body), turn, extra) * min(max(least, min(extra, 1)) if most else 0, 40)
    if op is sre.ATOMIC_GROUP:
        return _text(list(arg), turn, extra)
    return ""


def _char(op: Any, arg: Any) -> str:
    if op is sre.ANY:
        return "x"
    if op is sre.NOT_LITERAL:
        return "x" if arg != ord("x") else "y"
    negated = arg[0][0] is sre.NEGATE
    if not negated:
        kind, value = arg[0]
        if kind is sre.LITERAL:
            return chr(value)
        if kind is sre.RANGE:
            return chr(value[0])
    inside = compile_pattern("[" + "".join(_class(kind, value) for kind, value in arg) + "]")
    return next((char for char in _FILLER if inside.match(char)), "x")


_CATEGORY = {
    sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_WORD: r"\w", sre.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def _class(kind: Any, value: Any) -> str:
    if kind is sre.NEGATE:
        return "^"
    if kind is sre.LITERAL:
        return f"\\x{value:02x}" if value < 256 else chr(value)
    if kind is sre.RANGE:
        return f"\\u{value[0]:04x}-\\u{min(value[1], 0xFFFF):04x}"
    return _CATEGORY.get(value, "")
