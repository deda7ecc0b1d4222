"""Values that are not whole: what lies inside a broken one, and whether a text ends inside one.

A fragment (ruling 7) is a value found inside an outer value that began as JSON and did not
complete. Prose brackets began nothing: `[INFO]`, `[3 of 5]`, `{name}`.
"""

from __future__ import annotations

import re

from triage.escapes import strip_escapes
from triage.json_scan import MAY_BEGIN, Break, Decoder

__all__ = [
    "BrokenOuter",
    "begins_line",
    "ends_line",
    "ends_mid_structure",
    "is_followed",
    "last_before",
]

_LINE_OPENER = re.compile(f"[\n\r][ \t\ufeff]*+(?={MAY_BEGIN})")
_LINE_END = re.compile(r"[\r\n]")
_LINE_REST = re.compile(r"[ \t]*+(?:[\r\n]|\Z)")
_BRACKET_OR_QUOTE = re.compile(r'["\[\]{}]')
_STRING_STOP = re.compile(r'["\\\x00-\x1f]')
_NEXT_MARK = re.compile(r"[ \t\r\n]*+[,\]}]")


def begins_line(text: str, start: int) -> int:
    """Return how many blanks stand between the line's start and `start`; -1 where more stands."""
    at = start
    while at and text[at - 1] in " \t\ufeff":
        at -= 1
    return start - at if at == 0 or text[at - 1] in "\n\r" else -1


def ends_line(text: str, end: int) -> bool:
    """Say whether only blanks stand between `end` and the end of its line."""
    return _LINE_REST.match(text, end) is not None


def last_before(text: str, position: int) -> int:
    """Return the last place before `position` that holds no white space, -1 for none."""
    at = position - 1
    while at >= 0 and text[at] in " \t\r\n":
        at -= 1
    return at


def is_followed(text: str, end: int) -> bool:
    """Say whether the next mark after `end` is one that goes on with an outer JSON value."""
    return _NEXT_MARK.match(text, end) is not None


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


def ends_mid_structure(text: str) -> bool:
    """Say whether `text` ends inside a container that began as JSON at the start of a line.

    Escapes and white space at the end are passed over. A bracket in prose does not count, nor
    a bare one at the very end unless nothing stands before it. Costs one decoding of what is
    whole, so there is no need to ask about a text that parsed as a whole. Linear, total.
    """
    if "[" not in text and "{" not in text:
        return False
    # As given first (ruling 41): a value may hold characters that are escapes elsewhere.
    cut = _is_cut(text)
    if cut is None:
        clean = strip_escapes(text)
        cut = clean != text and _is_cut(clean)
    return bool(cut)


def _is_cut(text: str) -> bool | None:
    """Say whether the text ends inside a value, False where it ends behind one, else None."""
    # The line end before the first line spares the pattern a slow alternative.
    body = "\n" + text.rstrip(" \t\r\n")
    decoder = Decoder(body)
    at = 0
    whole = False
    while (match := _LINE_OPENER.search(body, at)) is not None:
        start = match.end()
        whole = not decoder.has_failed(start)
        _, at = decoder.decode(start)
        broke = decoder.broke
        if broke is None:
            continue
        whole = False
        if broke.ran_out and (broke.began or not body[:start].strip(" \t\r\n\ufeff")):
            return True
    return False if whole and at == len(body) else None
