"""A run of JSON objects, one a line, counted without making a value of any.

NDJSON of a megabyte is ten thousand objects, of which one is wanted. What RE2 takes for a line
with one object on it is one to the C scanner of `json` too: the pattern is JSON's grammar, down to
values of two levels inside the object. What it leaves to the scanner costs time, no more.
"""

from __future__ import annotations

from typing import Any

__all__ = ["objects_from"]

_WS = r"[ \t\r]*"
_STRING = r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_SCALAR = f"(?:{_STRING}|{_NUMBER}|true|false|null|NaN|-?Infinity)"
_LEVELS = 2
# Characters read at first, and at most, at once.
_FEW = 4 << 10
_MANY = 1 << 20


def objects_from(text: str, at: int) -> tuple[int, int]:
    """Return how many lines from `at` on are an object each, and where the line after them begins.

    There are none where google-re2 is not installed. Costs what it finds, and little more.
    """
    count, size = 0, _FEW
    while _RUN is not None:
        piece = text[at : at + size].encode("utf-8", "surrogatepass")
        reached = _RUN.match(piece).end()
        if not reached:
            break
        count += piece.count(b"\n", 0, reached)
        at += len(piece[:reached].decode("utf-8", "surrogatepass"))
        size = min(4 * size, _MANY)
    return count, at


def _object(value: str) -> str:
    member = f"{_STRING}{_WS}:{_WS}{value}{_WS}"
    return rf"\{{{_WS}(?:{member}(?:,{_WS}{member})*)?\}}"


def _array(value: str) -> str:
    return rf"\[{_WS}(?:{value}{_WS}(?:,{_WS}{value}{_WS})*)?\]"


def _compiled() -> Any:
    try:
        import re2
    except ImportError:
        return None
    value = _SCALAR
    for _ in range(_LEVELS):
        value = f"(?:{_SCALAR}|{_object(value)}|{_array(value)})"
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.never_capture = True
    options.log_errors = False
    return re2.compile(f"(?:{_object(value)}\n)*".encode(), options)


_RUN = _compiled()
