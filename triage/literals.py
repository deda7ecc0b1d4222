"""Thousands of literals looked for in one text, at a cost that hardly grows with their number.

Two ways find the same. Grams: each literal is filed under its rarest four characters, and the
text's own runs of four are looked up; nothing to build, some 75 ns a character, the way for a fresh
process. One RE2 set of all literals: 20 ms to build once, 5 to 20 ns a character, the way for warm
processes and for large texts. (A set of the patterns themselves was tried: their character
classes make automata of so many states that a megabyte of mixed text took seconds, each time.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

__all__ = [
    "BEYOND_ASCII",
    "GramIndex",
    "LiteralSet",
    "Seen",
    "grams_of",
    "has_all",
    "is_wide",
    "lowered_text",
    "outline",
]

# Stands at the end of every lowered text that has a character beyond ASCII, as the one literal
# that patterns need which want such a character, whichever. Any of them would do; a wider one would
# make two bytes of each character of a text that needs one.
BEYOND_ASCII = "\x80"

_GRAM = 4
_CHUNK = 64 << 10
# Of the first text, where it is this short, the runs are found in the filed ones as they stand,
# which takes some microseconds each; a mapping of all of them takes a millisecond.
_FEW = 120
_SCANNED = 1 << 20
_SET_MEMORY = 64 << 20


def lowered_text(text: str) -> str:
    """Return `text` as literals are looked for in it."""
    # Asked before lowering: the Kelvin sign lowers to an ASCII k.
    if text.isascii():
        return text.lower()
    return "".join([*_lowered_chunks(text, 0, len(text)), BEYOND_ASCII])


def is_wide(text: str) -> bool:
    """Whether a lowered copy of `text` is too large to be kept beside it."""
    return len(text) > _SCANNED and not text.isascii()


def outline(text: str) -> str:
    """Return a `lowered_text` of one byte a character: any beyond ASCII are question marks."""
    chunks = _lowered_chunks(text, 0, len(text))
    ascii_only = [chunk.encode("ascii", "replace").decode("ascii") for chunk in chunks]
    return "".join([*ascii_only, BEYOND_ASCII])


def _lowered_chunks(text: str, start: int, end: int) -> Iterator[str]:
    # In chunks: lowering needs twelve bytes for each character it is at.
    return (text[at : at + _CHUNK].lower() for at in range(start, min(end, len(text)), _CHUNK))


def grams_of(clauses: Mapping[int, Sequence[Sequence[str]]]) -> dict[str, Any]:
    """File the numbers of clauses under what their first alternatives can't be without.

    Returns JSON data: ``grams`` (runs of four characters, one after the other), ``filed`` (the
    numbers of each run, in the same order), ``short`` (a whole shorter literal -> numbers) and
    ``bare`` (numbers without any clause).
    """
    from collections import Counter

    literals = {literal for some in clauses.values() if some for literal in some[0]}
    common = Counter(gram for literal in literals for gram in set(_runs(literal)))
    grams: dict[str, list[int]] = {}
    short: dict[str, list[int]] = {}
    for number, some in clauses.items():
        for literal in some[0] if some else ():
            if len(literal) < _GRAM:
                short.setdefault(literal, []).append(number)
            else:
                # What few literals share, few texts have.
                rarest = min(_runs(literal), key=lambda gram: (common[gram], gram))
                grams.setdefault(rarest, []).append(number)
    bare = [number for number, some in clauses.items() if not some]
    # One text parses in no time; a mapping of as many keys costs more than all other parts.
    return {"grams": "".join(grams), "filed": list(grams.values()), "short": short, "bare": bare}


def _runs(text: str) -> list[str]:
    return [text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)]


class GramIndex:
    """What `grams_of` filed, to be looked up."""

    __slots__ = ("_asked", "_bare", "_filed", "_grams", "_places", "_short")

    def __init__(self, filed: Mapping[str, Any]) -> None:
        self._grams: str = filed["grams"]
        self._places: dict[str, int] | None = None
        self._asked = False
        self._filed: Sequence[Sequence[int]] = filed["filed"]
        self._short: Mapping[str, Sequence[int]] = filed["short"]
        self._bare: Sequence[int] = filed["bare"]

    def find(self, lowered: str) -> set[int]:
        """Return the numbers that are filed under something the text has."""
        found = set(self._bare)
        if not self._asked and len(lowered) <= _FEW:
            self._asked = True
            for gram in set(_runs(lowered)):
                place = self._place(gram)
                if place is not None:
                    found.update(self._filed[place])
        else:
            self._look_up(lowered, found)
        for literal, numbers in self._short.items():
            if literal in lowered:
                found.update(numbers)
        return found

    def _place(self, gram: str) -> int | None:
        at = self._grams.find(gram)
        while at % _GRAM and at >= 0:
            at = self._grams.find(gram, at + 1)
        return None if at < 0 else at // _GRAM

    def _look_up(self, lowered: str, found: set[int]) -> None:
        grams, places = self._grams, self._places
        if places is None:
            starts = range(0, len(grams), _GRAM)
            places = self._places = {grams[at : at + _GRAM]: at // _GRAM for at in starts}
        # In pieces: the runs of a long text would need many times its memory.
        for start in range(0, len(lowered), _CHUNK):
            for gram in places.keys() & _runs(lowered[start : start + _CHUNK + _GRAM - 1]):
                found.update(self._filed[places[gram]])


class LiteralSet:
    """Clauses of literals, all looked for in one pass; needs google-re2."""

    __slots__ = (
        *("_bare", "_clauses", "_first", "_leading", "_literals", "_sentinel", "_set", "_shared"),
    )

    def __init__(self, re2: Any, clauses: Mapping[int, Sequence[Sequence[str]]]) -> None:
        """Raises `re2.error` where RE2 refuses the set."""
        numbers: dict[str, int] = {}
        self._bare: list[int] = []
        self._clauses: dict[int, list[frozenset[int]]] = {}
        # Literal -> the clauses that need it or one of its alternatives first, and no other; then
        # those that need others too.
        first: dict[int, tuple[list[int], list[tuple[int, Sequence[frozenset[int]]]]]] = {}
        for number, some in clauses.items():
            if not some:
                self._bare.append(number)
                continue
            self._clauses[number] = known = [
                frozenset(numbers.setdefault(literal, len(numbers)) for literal in clause)
                for clause in some
            ]
            for literal in known[0]:
                alone, others = first.setdefault(literal, ([], []))
                if len(known) > 1:
                    others.append((number, known[1:]))
                else:
                    alone.append(number)
        self._first = first
        self._leading = frozenset(first)
        self._literals = [*numbers]
        self._shared = max(map(len, numbers), default=0)
        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        options.max_mem = _SET_MEMORY
        # Bytes against bytes: what is no text in the capture is no special case here.
        options.encoding = re2.Options.Encoding.LATIN1
        self._set = re2.Set.SearchSet(options)
        for text in numbers:
            self._set.Add(re2.escape(_encoded(text)))
        # This one is in every text: where it is missing, the scan ran out of memory, which the
        # set reports as "nothing is there".
        self._sentinel = len(numbers)
        self._set.Add(b"")
        self._set.Compile()

    def find(self, text: str, lowered: str | None = None) -> Seen | None:
        """Return what was seen of the clauses in the text; None: no answer.

        `lowered` is the text's `lowered_text`, where it is at hand.
        """
        there: set[int] = set()
        for piece in self._pieces(text) if lowered is None else self._parts(lowered):
            hits = self._set.Match(_encoded(piece))
            if not hits or self._sentinel not in hits:
                return None
            there.update(hits)
        there.discard(self._sentinel)
        found = set(self._bare)
        first = self._first
        # Many are only ever asked for after others.
        for hit in there & self._leading:
            alone, others = first[hit]
            found.update(alone)
            for number, clauses in others:
                for clause in clauses:
                    if there.isdisjoint(clause):
                        break
                else:
                    found.add(number)
        return Seen(text, found, there, self._clauses, self._literals)

    def _parts(self, lowered: str) -> Iterator[str]:
        # They share what a literal may be long. In parts: encoded is a copy of the text.
        for start in range(0, max(len(lowered), 1), _SCANNED):
            yield lowered[start : start + _SCANNED + self._shared]

    def _pieces(self, text: str) -> Iterator[str]:
        """The same parts, each lowered when it is asked for."""
        for start in range(0, max(len(text), 1), _SCANNED):
            end = start + _SCANNED
            after = text[end : end + _CHUNK].lower()[: self._shared]
            yield "".join([*_lowered_chunks(text, start, end), after])
        if not text.isascii():
            yield BEYOND_ASCII


class Seen:
    """What one pass over `text` has seen: `found` are the clauses that hold, by number."""

    __slots__ = ("_clauses", "_literals", "_there", "found", "text")

    def __init__(
        self,
        text: str,
        found: set[int],
        there: set[int],
        clauses: Mapping[int, Sequence[frozenset[int]]],
        literals: Sequence[str],
    ) -> None:
        self.text = text
        self.found = found
        self._there = there
        self._clauses = clauses
        self._literals = literals

    def clauses(self, number: int) -> list[list[str]]:
        """Return the clauses of `number`, of each only what stands in the text."""
        there, literals = self._there, self._literals
        known = self._clauses.get(number, ())
        return [[literals[index] for index in clause & there] for clause in known]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def has_all(clauses: Iterable[Sequence[str]], lowered: str, known: dict[str, bool]) -> bool:
    """Whether the text has an alternative of each clause; `known` remembers the answers."""
    return all(any(_has(literal, lowered, known) for literal in clause) for clause in clauses)


def _has(literal: str, lowered: str, known: dict[str, bool]) -> bool:
    answer = known.get(literal)
    if answer is None:
        answer = known[literal] = literal in lowered
    return answer
