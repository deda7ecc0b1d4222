"""The compiled table as bytes: one header line, then parts that are parsed when they are asked for.

A verdict needs a few rows and a few patterns of some thousand. So what is asked for by number is
written one JSON value a line and parsed by the line; a fresh process reads the whole file (a
megabyte costs a quarter of a millisecond) and parses some kilobytes of it. All of it is JSON,
nothing that could be executed.

The header names format, content hash, checksum of all that follows it, and each part with its
length in bytes. A part is ``section`` or ``section/key``; one whose name ends in ``*`` is a list by
lines, and where its lines begin stands in the part ``#`` after it, six hexadecimal digits each.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

__all__ = ["FORMAT", "Lines", "Parts", "by_number", "pack", "unpack"]

FORMAT = "triage-table-8"

# Sections whose keys are parts of their own, and the lists that are looked up by number.
_OPENED = ("hot",)
_BY_LINE = (
    *("hot/patterns", "hot/clauses", "hot/filed", "hot/rows_of"),
    *("hot/predicates", "hot/rows", "hot/gates", "modes"),
)

_DIGITS = 6


class _Values(dict[int, Any]):
    """What was parsed so far, by line; the next is parsed where it is missing."""

    __slots__ = ("_block", "_starts")

    def __init__(self, block: memoryview, starts: memoryview) -> None:
        super().__init__()
        self._block = block
        self._starts = starts

    def __missing__(self, number: int) -> Any:
        at = number * _DIGITS
        if not 0 <= at < len(self._starts):
            raise IndexError(number)
        start = int(bytes(self._starts[at : at + _DIGITS]), 16)
        # The line ends before the line end that stands before the next.
        after = bytes(self._starts[at + _DIGITS : at + 2 * _DIGITS])
        end = int(after, 16) - 1 if after else len(self._block)
        value = self[number] = _parsed(self._block[start:end])
        return value


class Lines(Sequence[Any]):
    """A list of JSON values, each parsed when it is first asked for.

    `by_number` is the same for indices from 0, without the cost of a call for what is known.
    """

    __slots__ = ("_count", "by_number")

    def __init__(self, block: memoryview, starts: memoryview) -> None:
        self._count = len(starts) // _DIGITS
        self.by_number = _Values(block, starts)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[index] for index in range(*number.indices(len(self)))]
        return self.by_number[number if number >= 0 else number + len(self)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (list, Lines)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def by_number(values: Sequence[Any]) -> Any:
    """Return what gives the values of a list by their indices from 0 at the least cost."""
    return values.by_number if isinstance(values, Lines) else values


class Parts(Mapping[str, Any]):
    """Named parts, each parsed when it is first asked for."""

    __slots__ = ("_blocks", "_values")

    def __init__(self, blocks: Mapping[str, memoryview]) -> None:
        """`blocks` maps a part's name, with its ``*`` or ``#``, to its bytes."""
        self._blocks: dict[str, Any] = {}
        self._values: dict[str, Any] = {}
        for name, block in blocks.items():
            section, slash, key = name.partition("/")
            if slash:
                self._blocks.setdefault(section, {})[key] = block
            else:
                self._blocks[name] = block

    def __getitem__(self, name: str) -> Any:
        value = self._values.get(name, self)
        if value is self:
            value = self._values[name] = self._made(name)
        return value

    def _made(self, name: str) -> Any:
        lines = self._blocks.get(f"{name}*")
        if lines is not None:
            return Lines(lines, self._blocks[f"{name}#"])
        block = self._blocks[name]
        return Parts(block) if isinstance(block, dict) else _parsed(block)

    def __iter__(self) -> Iterator[str]:
        return (name.removesuffix("*") for name in self._blocks if not name.endswith("#"))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def pack(data: Mapping[str, Any], digest: str) -> bytes:
    """Return the sections of a compiled table as bytes that name `digest` as their content."""
    blocks: dict[str, bytes] = {}
    for section, value in data.items():
        inner = value if section in _OPENED else {"": value}
        for key, part in inner.items():
            name = f"{section}/{key}" if key else section
            if name in _BY_LINE:
                lines = [_written(item) for item in part]
                blocks[f"{name}*"] = b"\n".join(lines)
                ends = accumulate(len(line) + 1 for line in lines)
                starts = "".join(f"{at:0{_DIGITS}x}" for at in (0, *ends))
                # The last is where one more line would begin.
                blocks[f"{name}#"] = starts[:-_DIGITS].encode()
            else:
                blocks[name] = _written(part)
    body = b"\n".join(blocks.values())
    names = " ".join(f"{name} {len(block)}" for name, block in blocks.items())
    return f"{FORMAT} {digest} {_checksum(names, body)} {names}\n".encode() + body


def unpack(data: bytes, digest: str) -> Parts | None:
    """Return the parts of what `pack` made; None for another table, another format, or damage."""
    # Views: copies of a megabyte are memory that the system has to find.
    end = data.find(b"\n")
    body = memoryview(data)[end + 1 :]
    words = data[: max(end, 0)].decode("ascii", "replace").split(" ", 3)
    if words[:2] != [FORMAT, digest] or len(words) < 4 or words[2] != _checksum(words[3], body):
        return None
    # The checksum holds, so the names are as `pack` wrote them.
    names = words[3].split(" ")
    blocks: dict[str, memoryview] = {}
    start = 0
    for name, size in zip(names[::2], map(int, names[1::2]), strict=True):
        blocks[name] = body[start : start + size]
        start += size + 1
    return Parts(blocks)


def _checksum(names: str, body: bytes | memoryview) -> str:
    return f"{zlib.crc32(body, zlib.crc32(names.encode())):08x}"


def _written(value: Any) -> bytes:
    import json

    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _parsed(block: memoryview) -> Any:
    import json

    return json.loads(str(block, "utf-8"))
