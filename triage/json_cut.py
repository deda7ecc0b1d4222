"""Which values lie inside a broken one: fragments.

A fragment is a value found inside an outer value that began as JSON and did not complete. Prose
brackets began nothing: `[INFO]`, `[3 of 5]`, `{name}`.
"""

from __future__ import annotations

import re

from triage.json_place import begins_line, ends_line, is_followed, last_before
from triage.json_walk import Break

__all__ = ["BrokenOuter"]

_LINE_END = re.compile(r"[\r\n]")
_BRACKET_OR_QUOTE = re.compile(r'["\[\]{}]')
_STRING_STOP = re.compile(r'["\\\x00-\x1f]')


class BrokenOuter:
    """The broken value that a scan from left to right is inside of, if any.

    `note` is told of every start that failed, `holds` asked about every value found, both in
    the order of the text. Up to the break the grammar says what is inside. Behind it brackets
    are counted, strings skipped, until the outer value closes, with two exceptions. A value
    alone on its line, no deeper than the line on which the outer value began, is a new document.
    And an outer value that broke on the line on which it began (a log line that quotes a cut
    body) goes on below only where a value has a neighbour that JSON puts there: a comma, a
    closing bracket, ``"key":``.
    """

    __slots__ = (
        "_at",
        "_broke",
        "_depth",
        "_in_string",
        "_indent",
        "_line",
        "_line_end",
        "_one_line",
        "_seen",
        "_text",
    )

    def __init__(self, text: str) -> None:
        self._text = text
        self._broke: Break | None = None
        # Of the line on which the outer value began; whether it broke there too.
        self._indent = 0
        self._one_line = False
        # What is known of lines: the start of the one asked for last, the end of the one at hand.
        self._line = self._seen = 0
        self._line_end = -1
        # The count of open brackets up to a place.
        self._at = self._depth = 0
        self._in_string = False

    @property
    def is_closed(self) -> bool:
        """Whether no outer value is open, as far as was asked."""
        return self._broke is None

    def note(self, broke: Break) -> None:
        """Take a start that failed for the outer value, unless one is open around it."""
        if not broke.began or (self._broke is not None and self._open_at(broke.start)):
            return
        self._broke = broke
        self._indent = self._indent_at(broke.start)
        self._one_line = self._line_end_at(broke.start) >= broke.at
        self._at = broke.start
        self._depth = 0
        self._in_string = False

    def holds(self, start: int, end: int) -> bool:
        """Say whether the value at this span lies inside the broken outer value."""
        broke, text = self._broke, self._text
        if broke is None or not self._open_at(start):
            return False
        before = last_before(text, start)
        mark = text[before] if before >= 0 else ""
        followed = is_followed(text, end)
        alone = 0 <= begins_line(text, start) <= self._indent and ends_line(text, end)
        # No printer breaks the line behind a colon: `near {"a":` and a document below it.
        if alone and not followed and (start >= broke.at or mark == ":"):
            self._broke = None
            return False
        if start < broke.at or not self._one_line or start < self._line_end_at(broke.at):
            return True
        if followed or mark in ("[", "{", ","):
            return True
        key_end = last_before(text, before) if mark == ":" else -1
        return key_end >= 0 and text[key_end] == '"'

    def _line_end_at(self, position: int) -> int:
        """Return where the line of `position` ends; asked for in the text's order."""
        if self._line_end < position:
            match = _LINE_END.search(self._text, position)
            self._line_end = match.start() if match else len(self._text)
        return self._line_end

    def _indent_at(self, start: int) -> int:
        """Return how many blanks begin the line of `start`; asked for in the text's order."""
        text, seen = self._text, self._seen
        # Only what is new since the last question: a text may be one endless line.
        self._line = max(self._line, text.rfind("\n", seen, start) + 1)
        self._line = max(self._line, text.rfind("\r", seen, start) + 1)
        self._seen = start
        first = self._line
        while text[first] in " \t\ufeff":
            first += 1
        return first - self._line

    def _open_at(self, position: int) -> bool:
        broke, text, at = self._broke, self._text, self._at
        if broke is None:
            return False
        if position < broke.at:
            return True
        while at < position:
            pattern = _STRING_STOP if self._in_string else _BRACKET_OR_QUOTE
            match = pattern.search(text, at, position)
            if match is None:
                at = position
                break
            at = match.end()
            mark = match.group()
            if self._in_string:
                if mark == "\\":
                    at += 1
                else:
                    # A line end inside a string: the string broke there.
                    self._in_string = False
            elif mark == '"':
                self._in_string = True
            elif mark in "[{":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth == 0:
                    self._broke = None
                    return False
        self._at = at
        return True
