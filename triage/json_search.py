"""Choose among the JSON values of a text: the last envelope, else the last value (seed, step 3-5).

`survey` looks at all of them. `last_line` often knows the choice without: a value that stands
alone on its line or lines, with no closing bracket below it, is the last one whatever came before,
unless the text before could hold it. It cannot: a string does not go on over a line end, and a
JSON value continues with an opening bracket only behind ``[``, ``,`` or ``:``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from triage.fresh_stack import load_on_fresh_stack
from triage.json_grammar import START
from triage.json_place import begins_line, ends_line, is_followed, last_before
from triage.json_scan import NOTHING, Choice, Decoder, Survey, is_envelope

if TYPE_CHECKING:
    from triage.json_cut import BrokenOuter

__all__ = ["last_line", "surroundings", "survey"]

_START = re.compile(START)
_NON_BLANK = re.compile("[^\\s\ufeff]")
# So many brackets that begin nothing, and the text is one of those that are full of them.
_DENSE = 64


def last_line(decoder: Decoder, first: Choice | None) -> Choice | None:
    """Return the choice where the end of the text decides it; None where all must be looked at."""
    text = decoder.text
    end = max(text.rfind("}"), text.rfind("]")) + 1
    start = text.rfind("\n", 0, end) + 1
    if text[start : start + 1] in ("]", "}"):
        # The last line of an indented value; the first one is the next that is not indented.
        start = max(text.rfind("\n{", 0, end), text.rfind("\n[", 0, end)) + 1
    if end == 0 or text[start] not in "[{" or _START.match(text, start) is None:
        return None
    before = last_before(text, start)
    if (
        (before >= 0 and text[before] in "[,:")
        or is_followed(text, end)
        or not ends_line(text, end)
    ):
        return None
    if first is not None and first[1] == start:
        value, reached = first[0], first[2]
    else:
        value, reached = decoder.attempt(start)
    if value is NOTHING or reached != end:
        return None
    # Any spelling of the key has its quotes and letters, or an escape.
    if not is_envelope(value) and (
        text.find('"ok"', 0, start) >= 0 or text.find("\\u", 0, start) >= 0
    ):
        return None
    return value, start, end, False


def survey(decoder: Decoder, first: Choice | None) -> Survey:
    """Look at every value of the decoder's text, from left to right; `first` is known already."""
    text = decoder.text
    outer: BrokenOuter | None = None
    if decoder.broke is not None:
        outer = _broken_outer(text)
        outer.note(decoder.broke)
    last: Choice | None = None
    envelope: Choice | None = None
    candidates = documents = at = 0
    starts = _Starts(text)
    while (start := starts.after(at)) >= 0:
        if first is not None and first[1] == start:
            value, at = first[0], first[2]
        else:
            value, at = decoder.decode(start)
        if value is NOTHING:
            if decoder.broke is not None:
                outer = outer or _broken_outer(text)
                outer.note(decoder.broke)
            continue
        candidates += 1
        fragment = outer is not None and outer.holds(start, at)
        if not fragment and ends_line(text, at) and begins_line(text, start) >= 0:
            documents += 1
        last = (value, start, at, fragment)
        if is_envelope(value):
            envelope = last
        if (outer is None or outer.is_closed) and text.startswith("\n{", at):
            found, count = decoder.lines(at)
            candidates += count
            documents += count
            for value, start, at in found:
                last = (value, start, at, False)
                if is_envelope(value):
                    envelope = last
    return Survey(envelope or last, candidates, documents, decoder.depth_exceeded)


def surroundings(text: str, start: int, end: int) -> tuple[bool, bool, bool]:
    """Say whether something stands before a value, after it, and whether lines bound it."""
    return (
        _NON_BLANK.search(text, 0, start) is not None,
        _NON_BLANK.search(text, end) is not None,
        begins_line(text, start) >= 0 and ends_line(text, end),
    )


def _broken_outer(text: str) -> BrokenOuter:
    try:
        from triage.json_cut import BrokenOuter
    except RecursionError:
        load_on_fresh_stack("triage.json_cut")
        from triage.json_cut import BrokenOuter
    return BrokenOuter(text)


class _Starts:
    """The brackets of a text that may begin a value, asked for from left to right."""

    __slots__ = ("_curly", "_dense", "_square", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._square = self._curly = -1
        self._dense = 0

    def after(self, at: int) -> int:
        """Return the next such bracket at or after `at`, -1 where there is none."""
        text, length = self._text, len(self._text)
        # In prose, hopping from bracket to bracket is a hundred times faster than a pattern.
        while self._dense < _DENSE:
            if self._square < at:
                self._square = text.find("[", at)
                if self._square < 0:
                    self._square = length
            if self._curly < at:
                self._curly = text.find("{", at)
                if self._curly < 0:
                    self._curly = length
            start = min(self._square, self._curly)
            if start == length:
                return -1
            if _START.match(text, start) is not None:
                return start
            self._dense += 1
            at = start + 1
        match = _START.search(text, at)
        return -1 if match is None else match.start()
