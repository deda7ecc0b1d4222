"""JSON values out of lines that may hold anything, paths into them, and texts fit to be kept.

Nothing here raises on any input: depth, five-thousand-digit integers, NaN, control characters and
lone surrogates are all read or passed over.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

__all__ = [
    "ABSENT",
    "Path",
    "blank",
    "bounded",
    "completed",
    "document_in",
    "error_text",
    "find",
    "flat_numbers",
    "glued_object",
    "numbers",
    "parse_path",
    "read_text",
    "said",
    "values_of",
]

Path = tuple[str, ...]
ABSENT: Final[Any] = object()

# A number with more digits than this is no count of anything (json.loads refuses 4,300).
_MAX_DIGITS = 300
_MAX_USAGE_KEYS = 48
# White space as a reader sees it: zero-width characters and the byte order mark print nothing.
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
_MAX_JUNK = 4096
# More objects than this on one line are no lost line feeds.
_MAX_VALUES = 1000


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else math.inf


_DECODER = json.JSONDecoder(strict=False, parse_int=_integer)


def values_of(data: bytes) -> Iterator[Any]:
    """Yield the JSON values that a line begins with; nothing where it begins with none.

    A line may hold several objects (a lost line feed). Trailing text is passed over.
    """
    text = _clean(data)
    value, end = _value(text, 0) if text.startswith(("{", "[")) else (ABSENT, 0)
    if value is ABSENT:
        return
    for _ in range(_MAX_VALUES):
        yield value
        while end < len(text) and text[end] in " \t\r":
            end += 1
        if text[end : end + 1] not in ("{", "["):
            return
        value, end = _value(text, end)
        if value is ABSENT:
            return


def glued_object(data: bytes) -> dict[str, Any] | None:
    """Return the object that ends a line which began as text (stderr without a line feed).

    Only one that runs to the end: a line may quote an event. What is found inside a broken value is
    a fragment and no evidence, hence the look at what stands before it. The caller has
    to know the event, since an error message may end in JSON, too.
    """
    text = _clean(data)
    start = text.find('{"', 0, _MAX_JUNK)
    if start <= 0 or text[0] == "{" or (text[0] == "[" and "]" not in text[:start]):
        return None
    value, end = _value(text, start)
    return value if isinstance(value, dict) and end == len(text) else None


def _clean(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    if "\x00" in text:
        text = text.replace("\x00", "")
    text = text.strip(_INVISIBLE + " \t\r\n\x0b\x0c")
    if "\x1b" in text and not text.startswith(("{", "[")):
        from triage.escapes import strip_escapes

        text = strip_escapes(text).strip()
    return text


def _value(text: str, start: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return ABSENT, start


def read_text(text: str) -> Any:
    """Return the one JSON value that `text` is, white space around it allowed, else `ABSENT`."""
    stripped = text.strip(_INVISIBLE + " \t\r\n\x0b\x0c")
    value, end = _value(stripped, 0) if stripped else (ABSENT, 0)
    return value if end == len(stripped) else ABSENT


def completed(text: str) -> Any:
    """Return the value that `text` begins, with what is missing at its end closed; else `ABSENT`.

    For lines over the cap: the stream had the rest, we did not keep it. Never for a stream that
    ends in the middle of a line, where the rest does not exist.
    """
    stack: list[str] = []
    comma: tuple[int, str] = (0, "")
    in_string = False
    for match in _STRUCTURE.finditer(text):
        token = match.group()
        if in_string:
            in_string = token != '"'
        elif token == '"':
            in_string = True
        elif token in "{[":
            stack.append("}" if token == "{" else "]")
            if len(stack) > _MAX_OPEN:
                return ABSENT
        elif token in "}]":
            if not stack or stack.pop() != token:
                return ABSENT
        elif token == ",":
            comma = (match.start(), "".join(reversed(stack)))
    end = "".join(reversed(stack))
    whole = _CUT_ESCAPE.sub("", text) + '"' if in_string else text
    value, _ = _value(whole + end, 0)
    if value is ABSENT and comma[0]:
        value, _ = _value(text[: comma[0]] + comma[1], 0)
    return value


# An escaped character is one token, so that an escaped quote ends nothing.
_STRUCTURE = re.compile(r'\\.|["{}\[\],]', re.DOTALL)
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_MAX_OPEN = 200


def document_in(text: str) -> tuple[Any, int, int]:
    """Return the JSON document in `text` and its span: all of it, or one over several lines in it.

    It begins at a line start; banner lines may stand before it and anything behind it. The value is
    `ABSENT` where there is none.
    """
    whole = read_text(text)
    if whole is not ABSENT:
        return whole, 0, len(text)
    for count, match in enumerate(_DOCUMENT.finditer(text)):
        if count >= _MAX_STARTS:
            break
        start = match.start()
        value, end = _value(text, start)
        if isinstance(value, (dict, list)) and value and "\n" in text[start:end]:
            return value, start, end
    return ABSENT, 0, 0


_DOCUMENT = re.compile(r'^[{\[](?=[ \t\r]*(?:$|[{"\[]))', re.MULTILINE)
_MAX_STARTS = 8


def parse_path(path: str) -> Path:
    """Return the steps of a dotted path; ``.`` is the value itself."""
    return () if path == "." else tuple(path.split("."))


def find(value: Any, path: Path) -> Any:
    """Return what stands at `path`, `ABSENT` where nothing does; numbers index lists."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
        elif isinstance(value, list) and step.lstrip("-").isdigit() and len(step) < 8:
            index = int(step)
            value = value[index] if -len(value) <= index < len(value) else ABSENT
        else:
            return ABSENT
    return value


def blank(text: str) -> bool:
    """Return whether a reader sees nothing (white space is no text)."""
    return not text or not text.strip(_INVISIBLE + " \t\r\n").strip()


def bounded(text: str, limit: int) -> str:
    """Return at most `limit` characters, with lone surrogates replaced."""
    text = text[:limit]
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def said(value: Any) -> str:
    """The text of a string, or of the text blocks of a content list."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [
            block["text"]
            for block in value[:64]
            if isinstance(block, dict)
            and block.get("type") in ("text", "output_text")
            and isinstance(block.get("text"), str)
        ]
        return "\n".join(parts)
    return ""


_ERROR_KEYS = ("message", "errorMessage", "error", "detail", "data", "text", "name", "code", "type")


def error_text(value: Any, depth: int = 0) -> str:
    """Return the message inside an error of any shape: string, list, object, JSON in a string."""
    if isinstance(value, str):
        stripped = value.strip()
        if stripped.startswith("{") and depth < 3:
            inner, end = _value(stripped, 0)
            if isinstance(inner, dict) and end == len(stripped):
                return error_text(inner, depth + 1) or stripped
        return stripped
    if depth > 3:
        return ""
    if isinstance(value, list):
        parts = [error_text(item, depth + 1) for item in value[:5]]
        return "; ".join(part for part in parts if part)
    if isinstance(value, dict):
        for key in _ERROR_KEYS:
            found = error_text(value.get(key), depth + 1)
            if found:
                return found
    if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
        return f"HTTP {value}"
    return ""


def numbers(value: Any) -> int | float | None:
    """Return a finite number of sane size, else None (true is no number)."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if -1e18 < value < 1e18 else None


def flat_numbers(value: Any, names: Sequence[tuple[str, str]] = ()) -> dict[str, int | float]:
    """Return the numbers of a nested object under snake_case names joined with ``_``.

    `names` renames (``input`` -> ``input_tokens``). At most 48 numbers, four levels deep.
    """
    found: dict[str, int | float] = {}
    renamed = dict(names)
    todo: list[tuple[str, Any, int]] = [("", value, 0)]
    while todo and len(found) < _MAX_USAGE_KEYS:
        prefix, item, depth = todo.pop()
        if isinstance(item, dict):
            if depth < 4:
                for key, child in list(item.items())[:_MAX_USAGE_KEYS][::-1]:
                    name = _snake(key)
                    todo.append((f"{prefix}_{name}" if prefix else name, child, depth + 1))
            continue
        number = numbers(item)
        if number is not None and prefix:
            found[renamed.get(prefix, prefix)] = number
    return found


def _snake(name: str) -> str:
    out: list[str] = []
    for char in bounded(name, 60):
        if char.isupper() and out and out[-1] != "_":
            out.append("_")
        out.append(char.lower() if char.isalnum() else "_")
    return "".join(out)
