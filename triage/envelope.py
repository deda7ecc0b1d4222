"""Find the JSON that a tool meant to print in what it did print: the canonical extraction rule.

`extract_envelope` returns what the seed's reference returns wherever that returns (rulings 10
and 41); `extract` also says where the value stood and what to think of it (ruling 11). Work is
linear in the text (ruling 12). The exceptions, all of them on purpose:

1. Nothing raises. A value nested deeper than `MAX_DEPTH` is no candidate, nor is any part of it;
   an integer of more than `MAX_DIGITS` digits becomes the `str` of its digits.
2. All terminal escapes are stripped, not only CSI with digits and semicolons, and text inside
   a stripped escape is never a candidate. See `triage.escapes`.
3. A byte-order mark before the value is passed over, so a lone scalar behind one is found too.
4. The text is parsed as given first. A value that holds C1 characters keeps them when it is the
   whole text, and loses them like every other escape when it stands among other text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from triage.escapes import OffsetMap, strip_escapes
from triage.json_build import MAX_DEPTH, MAX_DIGITS, repeated_keys
from triage.json_cut import BrokenOuter, begins_line, ends_line, ends_mid_structure
from triage.json_scan import NOTHING, START, Decoder

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "Extraction",
    "duplicate_keys",
    "ends_mid_structure",
    "extract",
    "extract_envelope",
    "non_finite",
]

_NON_LEAD = re.compile("[^ \t\n\r\ufeff]")
_NON_BLANK = re.compile("[^\\s\ufeff]")
_NON_JSON_BLANK = re.compile("[^ \t\n\r]")
# So many brackets that begin nothing, and the text is one of those that are full of them.
_DENSE = 64
_NESTING = (float, dict, list)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The value found, where it stood, and how far it can be trusted (ruling 11).

    `step` is the rule's step that decided: 2 whole text, 4 last envelope, 5 last value,
    6 nothing found. `start` and `end` are code points of the text given. `stripped` says that
    escapes were removed first; when it is false, ``json.loads(text[start:end]) == value``.
    `fragment`: the value lies inside a broken or cut-off outer value (ruling 7). `line_bounded`:
    it begins at a line's start and runs to a line's end, blanks and escapes apart (ruling 31).
    `has_before`/`has_after`: more than white space and escapes stands around it. `candidates`
    counts the values found, `documents` those of them that stand alone on their lines.
    `depth_exceeded`: some value was passed over because it nests deeper than `MAX_DEPTH`.
    """

    found: bool
    value: Any
    step: int
    start: int
    end: int
    fragment: bool
    candidates: int
    has_before: bool
    has_after: bool
    stripped: bool
    line_bounded: bool
    documents: int
    depth_exceeded: bool


def extract_envelope(text: str) -> Any:
    """Return the JSON value that `text` carries, or None (seed, extraction rule; never raises)."""
    return extract(text).value


def extract(text: str) -> Extraction:
    """Return the JSON value that `text` carries, with its provenance; total and linear."""
    decoder = Decoder(text)
    first = _first(decoder)
    if first is not None and _NON_JSON_BLANK.search(text, first[2]) is None:
        return _whole(decoder, first, None)
    clean = strip_escapes(text)
    if clean == text:
        return _among_others(decoder, first, None)
    decoder = Decoder(clean)
    # A container that stood before the first escape is the same one still; a number may go on.
    if first is None or text[first[1]] not in "[{" or not clean.startswith(text[: first[2]]):
        first = _first(decoder)
    offsets = OffsetMap(text)
    if first is not None and _NON_JSON_BLANK.search(clean, first[2]) is None:
        return _whole(decoder, first, offsets)
    return _among_others(decoder, first, offsets)


def duplicate_keys(text: str, extraction: Extraction) -> tuple[str, ...]:
    """Return the keys that some object of the extracted value gives twice, each once, in order.

    `text` is the text that was given to `extract`. Costs a second decoding, so it is done only
    when asked for; the value itself keeps the last of the two, as `json.loads` does.
    """
    if not extraction.found:
        return ()
    source = text[extraction.start : extraction.end]
    return repeated_keys(strip_escapes(source) if extraction.stripped else source)


def non_finite(extraction: Extraction) -> tuple[str, ...]:
    """Return JSON pointers to the numbers that are NaN or infinite, in the value's order.

    They come from `NaN`, `Infinity`, `-Infinity`, which are not JSON though `json.loads` takes
    them, and from numbers too large for a float (`1e999`).
    """
    found: list[str] = []
    pending: list[tuple[str, Any]] = [("", extraction.value)]
    while pending:
        pointer, value = pending.pop()
        if type(value) is float:
            if value - value != 0.0:
                found.append(pointer)
            continue
        if type(value) is dict:
            items = [
                (f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", item)
                for key, item in value.items()
                if type(item) in _NESTING
            ]
        elif type(value) is list:
            items = [
                (f"{pointer}/{index}", item)
                for index, item in enumerate(value)
                if type(item) in _NESTING
            ]
        else:
            continue
        pending.extend(reversed(items))
    return tuple(found)


# A value, where it starts, the place behind it, whether it is a fragment. One is made for each
# candidate, so it is a tuple.
_Found = tuple[Any, int, int, bool]


def _first(decoder: Decoder) -> _Found | None:
    """Return the value that stands first in the text, be it the whole of it or not."""
    text = decoder.text
    lead = _NON_LEAD.search(text)
    if lead is None:
        return None
    start = lead.start()
    if lead.group() in "[{":
        if START.match(text, start) is None:
            return None
        value, end = decoder.decode(start)
    else:
        value, end = decoder.scalar(start)
    return None if value is NOTHING else (value, start, end, False)


def _whole(decoder: Decoder, found: _Found, offsets: OffsetMap | None) -> Extraction:
    value, start, end, _ = found
    if offsets is not None:
        start, end = offsets.span(start, end)
    return Extraction(
        found=True,
        value=value,
        step=2,
        start=start,
        end=end,
        fragment=False,
        candidates=1,
        has_before=False,
        has_after=False,
        stripped=offsets is not None,
        line_bounded=True,
        documents=1,
        depth_exceeded=decoder.depth_exceeded,
    )


def _among_others(decoder: Decoder, first: _Found | None, offsets: OffsetMap | None) -> Extraction:
    text = decoder.text
    outer = BrokenOuter(text)
    if decoder.broke is not None:
        outer.note(decoder.broke)
    last: _Found | None = None
    envelope: _Found | None = None
    candidates = documents = at = 0
    starts = _Starts(text)
    while (start := starts.after(at)) >= 0:
        if first is not None and first[1] == start:
            value, at = first[0], first[2]
        else:
            value, at = decoder.decode(start)
        if value is NOTHING:
            if decoder.broke is not None:
                outer.note(decoder.broke)
            continue
        candidates += 1
        fragment = outer.holds(start, at)
        if not fragment and ends_line(text, at) and begins_line(text, start) >= 0:
            documents += 1
        last = (value, start, at, fragment)
        if type(value) is dict and "ok" in value:
            envelope = last
    value, start, end, fragment = envelope or last or (None, 0, 0, False)
    found = last is not None
    return Extraction(
        found=found,
        value=value,
        step=4 if envelope else 5 if found else 6,
        start=offsets.position(start) if offsets and found else start,
        end=offsets.span(start, end)[1] if offsets and found else end,
        fragment=fragment,
        candidates=candidates,
        has_before=found and _NON_BLANK.search(text, 0, start) is not None,
        has_after=found and _NON_BLANK.search(text, end) is not None,
        stripped=offsets is not None,
        line_bounded=found and begins_line(text, start) >= 0 and ends_line(text, end),
        documents=documents,
        depth_exceeded=decoder.depth_exceeded,
    )


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
            if START.match(text, start) is not None:
                return start
            self._dense += 1
            at = start + 1
        match = START.search(text, at)
        return -1 if match is None else match.start()
