"""An agent run inside an ordinary capture, and stream sources of every kind as bytes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triage.agents.detect import guess_of, invoked
from triage.agents.formats import Formats, load_formats
from triage.agents.model import AgentRun
from triage.agents.stream import RunReader

if TYPE_CHECKING:
    from triage.agents.gate import AgentTable, AgentView
    from triage.stages import Stage
    from triage.text import StreamText

__all__ = ["pieces", "place_in_text", "read"]

_PIECE = 1 << 20


def read(view: AgentView, started: Stage | None) -> AgentRun | None:
    """Return the run of a capture that passed the gate; `started` is an agent CLI's stage."""
    table = view.table
    formats = load_formats() if table is None else _formats_of(table)
    found = None if started is None else invoked(started, formats)
    if found is None:
        found = guess_of(view.stdout.raw.encode("utf-8", "surrogatepass"), formats).believed()
        if found is None:
            return None
    reader = RunReader(found, formats)
    source = view.capture.merged if view.merged else view.capture.stdout
    for piece in pieces(source, view.stdout):
        reader.feed(piece)
    run = reader.finish(
        view.capture.exit_code,
        stderr="" if view.merged else view.stderr.text,
        timed_out=view.hang,
    )
    return place_in_text(run, source) if isinstance(source, str) else run


def _formats_of(table: AgentTable) -> Formats:
    return load_formats(table.section("agents"), key=table.hash)


def pieces(source: Any, text: StreamText | None = None) -> Iterator[bytes]:
    """Yield a stream source as bytes in pieces: str, bytes, path, open file, iterable of bytes.

    A file is read from its start and put back where it stood. Where it can't be read, the window
    `text` that was read before is used.
    """
    if isinstance(source, str):
        for start in range(0, len(source), _PIECE):
            yield source[start : start + _PIECE].encode("utf-8", "surrogatepass")
    elif isinstance(source, (bytes, bytearray, memoryview)):
        data = memoryview(source)
        for start in range(0, len(data), _PIECE):
            yield bytes(data[start : start + _PIECE])
    elif isinstance(source, os.PathLike):
        yield from _from_path(source, text)
    elif hasattr(source, "read"):
        yield from _from_file(source, text)
    elif source is not None:
        yield from source


def _from_path(source: os.PathLike[Any], text: StreamText | None) -> Iterator[bytes]:
    try:
        with open(source, "rb") as file:  # noqa: PTH123 - pathlib costs start-up time
            while piece := file.read(_PIECE):
                yield piece
    except OSError:
        if text is None:
            raise
        yield text.raw.encode("utf-8", "surrogatepass")


def _from_file(source: Any, text: StreamText | None) -> Iterator[bytes]:
    try:
        back = source.tell()
        source.seek(0)
    except (OSError, ValueError):
        # A pipe: what was read of it before is gone from it.
        if text is not None:
            yield text.raw.encode("utf-8", "surrogatepass")
            return
        back = None
    while piece := source.read(_PIECE):
        yield piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else piece
    if back is not None:
        source.seek(back)


def place_in_text(run: AgentRun, source: str) -> AgentRun:
    """Return the run with its evidence in code points of `source`."""
    if source.isascii() or not run.evidence:
        return run
    data = source.encode("utf-8", "surrogatepass")
    marks = _code_points(data, sorted({p for e in run.evidence for p in (e.start, e.end)}))
    placed = tuple(replace(e, start=marks[e.start], end=marks[e.end]) for e in run.evidence)
    return replace(run, evidence=placed)


def _code_points(data: bytes, places: Sequence[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    before = total = 0
    for place in places:
        total += len(data[before:place].decode("utf-8", "surrogatepass"))
        found[place] = total
        before = place
    return found
