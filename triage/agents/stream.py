"""A stream fed in pieces -> `AgentRun`, in bounded memory, whatever the pieces and the bytes.

`RunReader` cuts lines, finds out the format, applies its rules and knows at any moment whether the
run is lost. Until the first event is recognised the stream is kept (to 4 MiB), because it may be
one pretty-printed document or plain text; after that nothing is kept but the tally.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from triage.agents.detect import LIKELY, WEAK, Guess, events_in
from triage.agents.format_model import Format
from triage.agents.formats import Formats, load_formats
from triage.agents.lines import Line, LineFeed
from triage.agents.model import AgentRun
from triage.agents.plain import is_binary, read_lines, read_whole
from triage.agents.reader import EventReader
from triage.agents.tally import Tally
from triage.agents.values import (
    ABSENT,
    completed,
    document_in,
    glued_object,
    read_text,
    values_of,
)
from triage.agents.when import holds
from triage.exits import meaning

__all__ = ["RunReader", "cut_by_exit"]

Mode = Literal["events", "document", "text", "binary", "empty"]

# What is kept while it is not known whether the stream is events, a document or text.
KEEP = 4 << 20
# Events looked at before the best guess is taken.
_PENDING = 64
_STDERR = 256 << 10
# After so many events of which none is known, lines are only counted.
_HOPELESS = 10_000
_CUT_CLASSES = frozenset({"kill_signal", "user_interrupt", "timeout"})


def cut_by_exit(exit_code: int | None) -> bool:
    """Return whether the status says that the run was ended from outside (130, 137, 143, 124 …)."""
    return not meaning(exit_code).classes.isdisjoint(_CUT_CLASSES)


class RunReader:
    """Reads one agent run: `feed` bytes as they come, then `finish` once.

    `format` is a `Format`, the name of one, or None to find out. Raises `UsageError` for a name
    nobody knows; feeding never raises.
    """

    def __init__(self, format: Format | str | None = None, formats: Formats | None = None) -> None:
        self.formats = formats or load_formats()
        self.format = self.formats.named(format) if isinstance(format, str) else format
        self.given = self.format is not None
        self.tally = Tally()
        self._feed = LineFeed()
        self._guess = Guess(self.formats)
        self._waiting: list[tuple[Line, dict[str, Any]]] = []
        self._reader: EventReader | None = None
        self._kept = bytearray()
        self._keep = True
        self._blank = True
        self._cut_line = False
        if self.format is not None:
            self._reader = EventReader(self.format, self.formats, self.tally)

    @property
    def lost(self) -> str | None:
        """Why the run can't end `ok` any more; None while it can."""
        return self.tally.lost

    @property
    def size(self) -> int:
        return self._feed.size

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream, in pieces of any size."""
        for line in self._feed.feed(data):
            self._line(line)

    def finish(
        self,
        exit_code: int | None = None,
        *,
        stderr: str = "",
        timed_out: bool = False,
        cancelled: bool = False,
    ) -> AgentRun:
        """Return the run; the stream has ended. Call once."""
        for line in self._feed.finish():
            self._line(line)
        mode = self._mode()
        item = self.format or self.formats.named("generic")
        self._stderr(item, stderr[-_STDERR:], mode)
        tally = self.tally
        cancelled = cancelled or tally.cancelled or cut_by_exit(exit_code)
        unfinished = tally.opened or (item.terminal == "always" and not tally.terminals)
        cut = mode in ("events", "document") and unfinished
        if cut and tally.opened and item.unfinished_is_cancelled and exit_code not in (None, 0):
            # Codex: an interrupted turn is the only one that ends without its terminal event.
            cancelled = cancelled or tally.pending is None
        if tally.native_exit and exit_code in (None, 0) and not tally.error_events:
            tally.hard_error = tally.hard_error or "error_during_execution"
            tally.fail(f"the run's own status is {tally.native_exit}")
        if cut or self._cut_line:
            tally.place = (self._feed.lines, self._feed.size, self._feed.size)
            tally.show("cut", "the stream ends without its terminal event" if cut else "")
        return tally.freeze(
            format=item.id,
            mode=mode,
            exit_code=exit_code,
            timed_out=timed_out or "timeout" in meaning(exit_code).classes,
            cancelled=cancelled or timed_out,
            stream_cut=cut,
            lines=self._feed.lines,
            size=self._feed.size,
            cut_line=self._cut_line,
        )

    # -- lines -----------------------------------------------------------------------------------

    def _line(self, line: Line) -> None:
        if self._keep and len(self._kept) < KEEP:
            self._kept += line.data[: KEEP - len(self._kept)] + b"\n"
        if not line.data.strip(b" \t\r\0"):
            return
        self._blank = False
        if self.tally.unknown_events > _HOPELESS and not self.tally.known_events:
            self.tally.unknown_events += 1
            return
        found = False
        values: Iterable[Any] = ()
        if line.complete:
            values = values_of(line.data)
        else:
            self.tally.long_lines += 1
            if line.ended:
                values = (completed(line.data.decode("utf-8", "ignore")),)
        for value in values:
            for event in events_in(value):
                found = True
                self._event(line, event)
        if not found and line.complete:
            glued = glued_object(line.data)
            if glued is not None and self._knows(glued):
                found = True
                self._event(line, glued)
        if not found:
            self.tally.bad_lines += 1
            if not line.ended and line.data.lstrip(b" \t").startswith((b"{", b"[")):
                self._cut_line = True

    def _knows(self, event: dict[str, Any]) -> bool:
        if self.format is not None:
            return reads(self.format, event)
        guess = Guess(self.formats)
        guess.see(event)
        return guess.rank >= LIKELY

    def _event(self, line: Line, event: dict[str, Any]) -> None:
        if self._reader is not None:
            self._read(line, event)
            return
        self._waiting.append((line, event))
        # Only the place of a waiting line is needed, not its bytes.
        line.data = b""
        if self._guess.see(event):
            self._settle(self._guess.format)
        elif len(self._waiting) >= _PENDING:
            self._settle(self._guess.settle(least=WEAK))

    def _settle(self, item: Format | None) -> None:
        self.format = item or self.formats.named("generic")
        self._reader = EventReader(self.format, self.formats, self.tally)
        waiting, self._waiting = self._waiting, []
        for line, event in waiting:
            self._read(line, event)

    def _read(self, line: Line, event: dict[str, Any]) -> None:
        assert self._reader is not None
        self.tally.place = (line.number, line.start, line.end)
        if self._reader.read(event) and self._keep:
            self._keep = False
            self._kept.clear()

    # -- streams that are no events --------------------------------------------------------------

    def _mode(self) -> Mode:
        if self._blank:
            return "empty"
        if self.tally.known_events:
            return "events"
        text = self._kept.decode("utf-8", "replace")
        if self.tally.bad_lines and self._document(text):
            return "document"
        if self._waiting:
            self._settle(self._guess.settle(least=WEAK))
        if self.tally.known_events or self.tally.unknown_events:
            return "events"
        item = self.format or self.formats.named("generic")
        self.format = item
        if item.reads_events and _begins_document(text):
            # JSON that never ends: a document cut off, not an answer in braces.
            self._cut_line = self.tally.opened = True
            return "document"
        if is_binary(text):
            # Neither an answer nor a trace of work, whatever the bytes were meant to be.
            return "binary"
        read_lines(text, item.text, self.tally, self.formats)
        read_whole(text, item.whole, self.tally, self.formats)
        return "text"

    def _document(self, text: str) -> bool:
        """Read one value over several lines: pretty-printed output, or an array of events."""
        value, _, _ = document_in(text)
        events = [] if value is ABSENT else list(events_in(value))
        for event in events[:_PENDING]:
            if self._guess.see(event):
                break
        item = self.format if self.given else self._guess.settle(least=WEAK)
        if not events or item is None or not any(reads(item, event) for event in events[:_PENDING]):
            return False
        self.format = item
        self._waiting.clear()
        self.tally.bad_lines = self.tally.unknown_events = 0
        self.tally.unknown_types.clear()
        self._cut_line = False
        reader = EventReader(item, self.formats, self.tally)
        self.tally.place = (1, 0, self._feed.size)
        for event in events:
            reader.read(event)
        return True

    def _stderr(self, item: Format, stderr: str, mode: Mode) -> None:
        if not stderr.strip():
            return
        self.tally.place = (0, 0, 0)
        read_lines(stderr, item.stderr, self.tally, self.formats, text_counts=False)
        if not item.stderr_events or mode != "empty":
            return
        # Gemini prints its error object on stderr in json mode, and then nothing on stdout.
        start = stderr.find("{")
        value = read_text(stderr[start:]) if start >= 0 else ABSENT
        reader = EventReader(item, self.formats, self.tally)
        if value is ABSENT:
            for text in stderr.splitlines()[-200:]:
                for found in values_of(text.encode("utf-8", "replace")):
                    for event in events_in(found):
                        reader.read(event)
            return
        for event in events_in(value):
            reader.read(event)


def reads(item: Format, event: dict[str, Any]) -> bool:
    """Return whether the format has a rule for this event."""
    return any(holds(rule.when, event) for rule in item.rules_for(event))


def _begins_document(text: str) -> bool:
    start = text.lstrip("\ufeff \t\r\n")
    return start.startswith(("{", "[")) and start[1:].lstrip()[:1] in ("", '"', "{", "[")
