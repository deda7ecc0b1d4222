"""JSON captures from a stream: one object, a list, or one object a line, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from triage.capture_data import capture_from_mapping
from triage.errors import CaptureError
from triage.model import Capture

__all__ = ["captures_of", "parse_capture"]

# Past this a number is out of every range a capture has; reading it exactly serves nobody.
_LONGEST_NUMBER = 20
_BEYOND = 1 << 62


def parse_capture(text: str | bytes, where: str) -> Capture:
    """Read one JSON capture; `where` is named in errors. Raises `CaptureError`."""
    return capture_from_mapping(_parsed(text, where), where)


def captures_of(file: BinaryIO, name: str) -> Iterator[Capture | CaptureError]:
    """Yield the captures of a stream in order; what can't be read is yielded as its error.

    The stream holds one object (over one line or many), one list of objects, or one object a
    line; lines are read one at a time. `name` and the line number stand in every error.
    """
    first = _first_line(file)
    if not first.strip():
        yield CaptureError(name, "no capture here", 'give JSON such as {"exit_code": 1}')
        return
    try:
        data = _loads(first)
    except (ValueError, RecursionError):
        # Not whole on its first line: either one document over many lines, or a bad line.
        yield from _many(first, file, name)
        return
    if isinstance(data, list):
        yield from _listed(data, name)
        yield from _lines(file, name, 2)
        return
    yield _built(data, f"{name}:1")
    yield from _lines(file, name, 2)


def _many(first: bytes, file: BinaryIO, name: str) -> Iterator[Capture | CaptureError]:
    second = file.readline()
    if second and _is_object(second):
        yield _bad(first, f"{name}:1")
        yield from _numbered(iter([second]), name, 2)
        yield from _lines(file, name, 3)
        return
    rest = file.read()
    whole = first + second + rest
    try:
        data = _loads(whole)
    except (ValueError, RecursionError):
        lines = whole.split(b"\n")
        if sum(1 for line in lines if _is_object(line)):
            yield from _numbered(iter(lines), name, 1)
        else:
            yield _bad(whole, name)
        return
    if isinstance(data, list):
        yield from _listed(data, name)
    else:
        yield _built(data, name)


def _listed(data: list[Any], name: str) -> Iterator[Capture | CaptureError]:
    for number, item in enumerate(data, 1):
        yield _built(item, f"{name}[{number}]")


def _first_line(file: BinaryIO) -> bytes:
    line = file.readline()
    while line and not line.strip():
        line = file.readline()
    return line.removeprefix(b"\xef\xbb\xbf")


def _lines(file: BinaryIO, name: str, number: int) -> Iterator[Capture | CaptureError]:
    return _numbered(iter(file.readline, b""), name, number)


def _numbered(lines: Iterable[bytes], name: str, number: int) -> Iterator[Capture | CaptureError]:
    for line in lines:
        if line.strip():
            try:
                data = _loads(line)
            except (ValueError, RecursionError):
                yield _bad(line, f"{name}:{number}")
            else:
                yield _built(data, f"{name}:{number}")
        number += 1


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(_loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _built(data: Any, where: str) -> Capture | CaptureError:
    try:
        return capture_from_mapping(data, where)
    except CaptureError as error:
        return error


def _bad(text: bytes, where: str) -> CaptureError:
    try:
        _loads(text)
    except RecursionError:
        return CaptureError(where, "JSON nested too deeply", "flatten it")
    except ValueError as error:
        problem = str(error).splitlines()[0] if str(error) else "not JSON"
        return CaptureError(where, f"not JSON: {problem[:120]}", "write one JSON object a line")
    return CaptureError(where, "not a capture", "write one JSON object a line")


def _parsed(text: str | bytes, where: str) -> Any:
    try:
        return _loads(text)
    except (ValueError, RecursionError):
        raise _bad(
            text.encode("utf-8", "replace") if isinstance(text, str) else text, where
        ) from None


def _loads(text: str | bytes) -> Any:
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        # A number of more digits than Python converts: out of range is all it says.
        return json.loads(text, parse_int=_number)


def _number(digits: str) -> int:
    if len(digits) > _LONGEST_NUMBER:
        return -_BEYOND if digits.startswith("-") else _BEYOND
    return int(digits)
