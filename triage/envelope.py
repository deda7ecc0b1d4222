"""Find the JSON that a tool meant to print in what it did print: the canonical extraction rule.

`extract_envelope` returns what the seed's reference returns wherever that returns; `extract` also
says where the value stood and what to think of it. Work is linear in the text. The exceptions, all
of them on purpose:

1. Nothing raises. A value nested deeper than `MAX_DEPTH` is no candidate, nor is any part of it;
   an integer of more than `MAX_DIGITS` digits becomes the `str` of its digits.
2. All terminal escapes are stripped, not only CSI with digits and semicolons, and text inside
   a stripped escape is never a candidate. See `triage.escapes`.
3. A byte-order mark before the value is passed over, so a lone scalar behind one is found too.
4. The text is parsed as given first. A value that holds C1 characters keeps them when it is the
   whole text, and loses them like every other escape when it stands among other text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triage.escapes import OffsetMap, strip_escapes
from triage.fresh_stack import load_on_fresh_stack
from triage.frozen import frozen
from triage.json_build import MAX_DEPTH, MAX_DIGITS, repeated_keys
from triage.json_scan import Choice, Decoder, Survey, first_value, is_envelope

if TYPE_CHECKING:
    from types import ModuleType

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

_BLANK = " \t\n\r"
_FEW = 1024
_NESTING = (float, dict, list)
_NONE = Survey(None, candidates=0, documents=0, depth_exceeded=False)
_ONE = Survey(None, candidates=1, documents=1, depth_exceeded=False)


@frozen()
class Extraction:
    """The value found, where it stood, and how far it can be trusted.

    `step` is the rule's step that decided: 2 whole text, 4 last envelope, 5 last value,
    6 nothing found. `start` and `end` are code points of the text given. `stripped` says that
    escapes were removed first; when it is false, ``json.loads(text[start:end]) == value``.
    `fragment`: the value lies inside a broken or cut-off outer value. `line_bounded`:
    it begins at a line's start and runs to a line's end, blanks and escapes apart.
    `has_before`/`has_after`: more than white space and escapes stands around it.

    The counts are made when they are first asked for, since the choice often needs none.
    """

    found: bool
    value: Any
    step: int
    start: int
    end: int
    fragment: bool
    has_before: bool
    has_after: bool
    stripped: bool
    line_bounded: bool
    _counts: _Counts

    @property
    def candidates(self) -> int:
        """How many values were found."""
        return self._counts.survey().candidates

    @property
    def documents(self) -> int:
        """How many of them stand alone on their lines, fragments apart (NDJSON)."""
        return self._counts.survey().documents

    @property
    def depth_exceeded(self) -> bool:
        """Whether a value was passed over because it nests deeper than `MAX_DEPTH`."""
        return self._counts.survey().depth_exceeded


class _Counts:
    """A survey of the text, made when it is first asked for."""

    __slots__ = ("_decoder", "_first", "_survey")

    def __init__(self, decoder: Decoder, first: Choice | None, made: Survey | None) -> None:
        self._decoder = decoder
        self._first = first
        self._survey = made

    def survey(self) -> Survey:
        # Two threads may both make it; then they make the same.
        made = self._survey
        if made is None:
            made = self._survey = _search().survey(self._decoder, self._first)
        return made


def extract_envelope(text: str) -> Any:
    """Return the JSON value that `text` carries, or None (seed, extraction rule; never raises)."""
    return extract(text).value


def extract(text: str, *, stripped: str | None = None) -> Extraction:
    """Return the JSON value that `text` carries, with its provenance; total and linear.

    `stripped` is the text without its escapes, where it is at hand.
    """
    decoder = Decoder(text)
    first = first_value(decoder)
    if first is not None and _ends(text, first[2]):
        return _whole(decoder, first, None)
    clean = strip_escapes(text) if stripped is None else stripped
    offsets = None
    if clean != text:
        offsets = OffsetMap(text)
        decoder = Decoder(clean)
        # A container that stood before the first escape is the same one still; a number may go on.
        if first is None or text[first[1]] not in "[{" or not clean.startswith(text[: first[2]]):
            first = first_value(decoder)
        if first is not None and _ends(clean, first[2]):
            return _whole(decoder, first, offsets)
    if "[" not in clean and "{" not in clean:
        return _chosen(clean, None, offsets, _Counts(decoder, first, _NONE))
    counts = _Counts(decoder, first, None)
    chosen = _search().last_line(decoder, first) or counts.survey().chosen
    return _chosen(clean, chosen, offsets, counts)


def ends_mid_structure(text: str, *, stripped: str | None = None) -> bool:
    """Say whether `text` ends inside a container that began as JSON at the start of a line.

    Escapes and white space at the end are passed over. A bracket in prose does not count, nor
    a bare one at the very end unless nothing stands before it. Costs one decoding of what is
    whole, so there is no need to ask about a text that parsed as a whole. Linear, total. `stripped`
    is the text without its escapes, where it is at hand.
    """
    if "[" not in text and "{" not in text:
        return False
    try:
        from triage.json_end import ends_inside_value
    except RecursionError:
        load_on_fresh_stack("triage.json_end")
        from triage.json_end import ends_inside_value
    return ends_inside_value(text, stripped)


def duplicate_keys(text: str, extraction: Extraction) -> tuple[str, ...]:
    """Return, sorted, the keys that some object of the extracted value gives more than once.

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


def _search() -> ModuleType:
    # Not loaded for text that is JSON as a whole, nor for text without brackets.
    try:
        from triage import json_search
    except RecursionError:
        load_on_fresh_stack("triage.json_search")
        from triage import json_search
    return json_search


def _ends(text: str, at: int) -> bool:
    """Whether only blanks follow; no copy is made of a megabyte to see that they don't."""
    while at < len(text):
        if text[at : at + _FEW].strip(_BLANK):
            return False
        at += _FEW
    return True


def _whole(decoder: Decoder, value: Choice, offsets: OffsetMap | None) -> Extraction:
    start, end = value[1], value[2]
    if offsets is not None:
        start, end = offsets.span(start, end)
    return Extraction(
        found=True,
        value=value[0],
        step=2,
        start=start,
        end=end,
        fragment=False,
        has_before=False,
        has_after=False,
        stripped=offsets is not None,
        line_bounded=True,
        _counts=_Counts(decoder, value, _ONE),
    )


def _chosen(
    text: str, chosen: Choice | None, offsets: OffsetMap | None, counts: _Counts
) -> Extraction:
    found = chosen is not None
    value, start, end, fragment = chosen or (None, 0, 0, False)
    given = offsets.span(start, end) if offsets is not None and found else (start, end)
    stands = _search().surroundings(text, start, end) if found else (False, False, False)
    return Extraction(
        found=found,
        value=value,
        step=6 if not found else 4 if is_envelope(value) else 5,
        start=given[0],
        end=given[1],
        fragment=fragment,
        has_before=stands[0],
        has_after=stands[1],
        stripped=offsets is not None,
        line_bounded=stands[2],
        _counts=counts,
    )
