"""Whose stream is this? Told by distinctive event shapes, never by the word "error" or "result".

A signature has a rank: 3 settles it, 2 is believed when nothing better comes, 1 only where the
caller says that it is an agent's stream. Ordinary JSON of other tools must pass by untouched, so
most of a stream's lines have to be events before a capture is taken for an agent run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triage.agents.format_model import Format
from triage.agents.formats import Formats, load_formats
from triage.agents.gate import PROGRAMS
from triage.agents.lines import LineFeed
from triage.agents.values import ABSENT, document_in, glued_object, values_of
from triage.agents.when import holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Guess", "detect", "events_in", "guess_of", "invoked"]

SURE = 3
LIKELY = 2
WEAK = 1

_HEAD = 256 << 10
_DOCUMENT = 4 << 20
_MAX_LINES = 400
_DOCUMENT_MARKS = (b'"session_id"', b'"conversation_id"', b'"messages"', b'"response"')
# How many lines that are no events may surround the events.
_FREE_NOISE = 30


class Guess:
    """The best signature seen so far."""

    __slots__ = ("events", "format", "formats", "noise", "rank")

    def __init__(self, formats: Formats) -> None:
        self.formats = formats
        self.format: Format | None = None
        self.rank = 0
        self.events = 0
        self.noise = 0

    def see(self, event: Mapping[str, Any]) -> bool:
        """Look at one event; return whether the format is settled."""
        for item in self.formats.all:
            for rank, when in item.detect:
                if rank > self.rank and holds(when, event):
                    self.format, self.rank = item, rank
        self.events += 1
        return self.rank >= SURE

    def believed(self) -> Format | None:
        """The format of a stream that nobody announced: most of its lines have to be events."""
        return self.settle() if self.noise <= _FREE_NOISE + 2 * self.events else None

    def settle(self, *, least: int = LIKELY) -> Format | None:
        return self.format if self.rank >= least else None


def events_in(value: Any) -> Iterable[dict[str, Any]]:
    """The events a JSON value holds: itself, or its members (``--output-format json`` arrays)."""
    if isinstance(value, dict):
        return (value,)
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict)]
    return ()


def detect(head: str | bytes, formats: Formats | None = None) -> str | None:
    """Return the id of the agent CLI whose stream begins with `head`, None where it is no such.

    Only the first 256 KiB are looked at, 4 MiB where it is one document. Text formats can't be told
    from any other text: name them.
    """
    data = head.encode("utf-8", "replace") if isinstance(head, str) else head
    if b"{" not in data[:_HEAD]:
        return None
    found = guess_of(data, formats or load_formats()).believed()
    return None if found is None else found.id


def guess_of(data: bytes, formats: Formats) -> Guess:
    """Look at the first lines of `data`, or at the one document in it."""
    guess = Guess(formats)
    feed = LineFeed()
    for line in (*feed.feed(data[:_HEAD]), *feed.finish()):
        if line.number > _MAX_LINES:
            break
        found = [event for value in values_of(line.data) for event in events_in(value)]
        if not found:
            glued = glued_object(line.data)
            found = [glued] if glued is not None and _likely(glued, formats) else []
        for event in found[:64]:
            guess.see(event)
        if not found and line.data.strip():
            guess.noise += 1
    if (
        guess.rank < LIKELY
        and guess.noise
        and any(mark in data[:_HEAD] for mark in _DOCUMENT_MARKS)
    ):
        text = data[:_DOCUMENT].decode("utf-8", "replace")
        value, start, end = document_in(text)
        if value is not ABSENT:
            guess.noise = (text[:start] + text[end:]).count("\n")
            for event in list(events_in(value))[:64]:
                guess.see(event)
    return guess


def _likely(event: dict[str, Any], formats: Formats) -> bool:
    guess = Guess(formats)
    guess.see(event)
    return guess.rank >= LIKELY


def invoked(stage: Any, formats: Formats | None = None) -> Format | None:
    """Return the format of the agent run that a command stage starts, None where it starts none.

    ``claude -p`` is a run, ``claude mcp list`` is not; a run whose output goes to a file shows
    nothing of itself.
    """
    program = stage.program.casefold()
    if program not in PROGRAMS:
        return None
    item = (formats or load_formats()).of_program(program)
    if item is None or any(redirect.startswith((">", "1>", "&>")) for redirect in stage.redirects):
        return None
    if not stage.flags.isdisjoint(("--help", "-h", "--version")):
        return None
    if not stage.flags.isdisjoint(item.run_flags):
        return item
    if not item.run_words.isdisjoint(stage.words[:3]):
        return item
    return None
