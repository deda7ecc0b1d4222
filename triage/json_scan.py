"""Decode JSON values at given places of a text that is mostly something else, in linear time.

`Decoder.decode` answers what ``json.JSONDecoder().raw_decode`` answers at one opening bracket,
except that nothing is sliced or raised, and that a value that nests deeper than `MAX_DEPTH` is
passed over as a whole, whatever the Python version and however deep the caller's own stack is.

Why it is linear: the C scanner decodes what decodes. What fails is walked once by a scanner
without recursion, which remembers every opening bracket that was still open at the break: a start
that failed once fails always. A start inside a string of that walk reads the text with the
quotes the other way round, and there are only two ways round, so no place is walked more
than a few times. Failing C decodes are paid from a credit proportional to the text, because
their exceptions count lines from the top.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triage.fresh_stack import load_on_fresh_stack
from triage.frozen import frozen
from triage.json_build import MAX_DEPTH, build, quick_scan, too_deep

if TYPE_CHECKING:
    from collections.abc import Callable

    from triage.json_walk import Break

__all__ = ["NOTHING", "Choice", "Decoder", "Survey", "first_value", "is_envelope"]

NOTHING: Any = object()
_LEAD = " \t\n\r\ufeff"

# A value, where it starts, the place behind it, whether it is a fragment. One is made for each
# candidate, so it is a tuple.
Choice = tuple[Any, int, int, bool]
# The same of a value that is no fragment.
Found = tuple[Any, int, int]

# What a failing C decode costs besides the characters it read, in characters: the exception,
# a line count from the top at some 64 characters a step, and the whole recursion.
_COST_OF_RAISING = 200
_COST_OF_RECURSION = 20_000
# After so many objects on lines of their own a run of them is counted at once.
_OFTEN = 32


@frozen()
class Survey:
    """What all the values of a text come to: the choice, and the counts."""

    chosen: Choice | None
    candidates: int
    # How many stand alone on their lines, fragments apart.
    documents: int
    depth_exceeded: bool


def is_envelope(value: Any) -> bool:
    """Say whether the seed's step 4 prefers this value: an object with the key "ok"."""
    return type(value) is dict and "ok" in value


def first_value(decoder: Decoder) -> Choice | None:
    """Return the value that stands first in the text, be it the whole of it or not."""
    text = decoder.text
    start = len(text) - len(text.lstrip(_LEAD))
    if start == len(text):
        return None
    value, end = decoder.first(start)
    return None if value is NOTHING else (value, start, end, False)


def _walker() -> Callable[..., tuple[int, int] | Break]:
    # Loaded by the first broken text; most processes never see one.
    try:
        from triage.json_walk import walk
    except RecursionError:
        load_on_fresh_stack("triage.json_walk")
        from triage.json_walk import walk
    return walk


def _objects_from() -> Callable[[str, int], tuple[int, int]]:
    # Loaded by the first long run of lines.
    try:
        from triage.json_run import objects_from
    except RecursionError:
        load_on_fresh_stack("triage.json_run")
        from triage.json_run import objects_from
    return objects_from


class Decoder:
    """Decodes at many starts of one text and remembers which of them cannot succeed."""

    __slots__ = ("_credit", "_failed", "_refused", "_scan", "broke", "depth_exceeded", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth_exceeded = False
        self.broke: Break | None = None
        # One flag a character; no memory before something fails, one flag more than characters.
        self._failed = bytearray()
        self._credit = 2 * len(text) + 65_536
        # The start at which the C scanner last found the text wrong, where nothing walked yet.
        self._refused = -1
        self._scan = quick_scan()

    def has_failed(self, start: int) -> bool:
        """Say whether this start is already known to begin no value."""
        return bool(self._failed) and self._failed[start] == 1

    def first(self, start: int) -> tuple[Any, int]:
        """Decode what stands first: a scalar too; `NOTHING` where no value stands."""
        text = self.text
        if text[start] in "[{":
            value, end = self.attempt(start)
            # The C scanner has refused most texts that are no JSON; the rest is looked into.
            undecided = value is NOTHING and start != self._refused
            return self.decode(start) if undecided else (value, end)
        try:
            return self._scan(text, start)
        except (StopIteration, json.JSONDecodeError):
            return NOTHING, start
        except ValueError:
            return build(text, start)

    def attempt(self, start: int) -> tuple[Any, int]:
        """Decode at `start` if the C scanner can; `NOTHING` leaves open whether a value begins."""
        if self.has_failed(start) or self._credit <= 0:
            return NOTHING, start
        value, end = self._attempt(start)
        if end >= 0:
            return self._admitted(value, start, end)
        if end == -1:
            self._refused = start
        return NOTHING, start

    def _leave(self, start: int) -> int:
        return self._attempt(start)[1] if self._credit > 0 else -1

    def decode(self, start: int) -> tuple[Any, int]:
        """Decode the container that opens at `start`: the value and the place behind it.

        The value is `NOTHING` where none begins (then the place is the next that may, and `broke`
        says why, unless that start had failed before) and where it is too deep (then the place
        is behind all of it).
        """
        self.broke = None
        if self.has_failed(start):
            return NOTHING, self._failed.find(0, start)
        wrong = start == self._refused
        if not wrong and self._credit > 0:
            value, end = self._attempt(start)
            if end >= 0:
                return self._admitted(value, start, end)
            wrong = end == -1
        if not self._failed:
            self._failed = bytearray(len(self.text) + 1)
        outcome = _walker()(self.text, start, self._failed, self._leave if wrong else None)
        if not isinstance(outcome, tuple):
            self.broke = outcome
            return NOTHING, start + 1
        end, depth = outcome
        if depth > MAX_DEPTH:
            self.depth_exceeded = True
            return NOTHING, end
        return build(self.text, start)

    def lines(self, at: int) -> tuple[list[Found], int]:
        """Decode objects that follow at `at`, each on a line of its own, as far as they go.

        Returns the last of them and the last with the key "ok" (value, start, end), in the
        order of the text, and how many there were. This is `decode` for NDJSON, in one loop, which
        passes over most of a long run.
        """
        text, length, scan = self.text, len(self.text), self._scan
        last: Found | None = None
        envelope: Found | None = None
        count = 0
        often = _OFTEN
        while self._credit > 0 and text.startswith("\n{", at):
            start = at + 1
            try:
                value, end = scan(text, start)
            except (ValueError, StopIteration, RecursionError) as error:
                self._charge(error, start)
                break
            if (end < length and text[end] != "\n") or too_deep(value, text, start, end):
                break
            count += 1
            last = (value, start, end)
            if "ok" in value:
                envelope = last
            at = end
            if count == often:
                passed = self._pass_over(at)
                if passed is not None:
                    more, last, found = passed
                    count, at, envelope = count + more, last[2], found or envelope
                # It is tried again, but each time later: it may have found little.
                often = count + often
        return [found for found in (envelope, last) if found is not None], count

    def _pass_over(self, at: int) -> tuple[int, Found, Found | None] | None:
        """Count the objects of the lines behind the line end `at` without decoding each.

        Returns their number, the last of them and the last with the key "ok"; None for none.
        """
        text, scan = self.text, self._scan
        try:
            count, after = _objects_from()(text, at + 1)
            if not count:
                return None
            before = text.rfind("\n", at, after - 1)
            value, end = scan(text, before + 1)
            last = (value, before + 1, end)
            if "ok" in value:
                return count, last, last
            # Any spelling of the key has one of these. Each is looked for anew only where it stood.
            marks = dict.fromkeys(('"ok"', "\\u006"), before)
            while before > at:
                for mark, place in marks.items():
                    if place >= before:
                        marks[mark] = text.rfind(mark, at, before)
                place = max(marks.values())
                if place < 0:
                    break
                before = text.rfind("\n", at, place)
                value, end = scan(text, before + 1)
                if "ok" in value:
                    return count, last, (value, before + 1, end)
        except (ValueError, RecursionError):
            # A huge number, or a stack that is nearly used up: line by line, then.
            return None
        return count, last, None

    def _attempt(self, start: int) -> tuple[Any, int]:
        """Try the C scanner; the place is -1 where the text is wrong, -2 where it is undecided."""
        try:
            return self._scan(self.text, start)
        except (ValueError, StopIteration, RecursionError) as error:
            return NOTHING, self._charge(error, start)

    def _charge(self, error: Exception, start: int) -> int:
        """Take what a failed C decode cost from the credit; -1 says the text is wrong there."""
        if isinstance(error, json.JSONDecodeError):
            cut = error.msg.startswith("Unterminated")
            reached = len(self.text) if cut else error.pos
            self._credit -= reached - start + error.pos // 64 + _COST_OF_RAISING
            return -1
        if isinstance(error, StopIteration):
            self._credit -= int(error.value) - start + _COST_OF_RAISING
            return -1
        # Too deep for the stack, or an integer too long: no verdict on the text.
        self._credit -= _COST_OF_RECURSION
        return -2

    def _admitted(self, value: Any, start: int, end: int) -> tuple[Any, int]:
        if too_deep(value, self.text, start, end):
            self.depth_exceeded = True
            return NOTHING, end
        return value, end
