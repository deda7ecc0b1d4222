"""Messages of a catalogue that may stand in a line, and the line with them put into English."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from triage.frozen import frozen
from triage.message_format import Fit, Format, filled, fit, parsed
from triage.mo_catalogue import Catalogue, Message

__all__ = ["Candidate", "Match", "candidates", "into_english", "score"]

# Messages looked at for one piece; "nicht möglich" stands in a hundred of one catalogue.
_MOST_MESSAGES = 160
_DEPTH = 4
# Bytes of foreign letters that must have matched: anywhere in a line, or as a whole part of it.
_LEAST = 10
_LEAST_WHOLE = 4
# What the English of an error has; a help text that fits a line is no error message.
_ERROR = re.compile(
    r"\b(?:cannot|can't|could ?n[o']t|unable|fail(?:s|ed|ure)?|invalid|illegal|unknown|missing|"
    r"unrecogni[sz]ed|denied|refused|unexpected|expected|bad|wrong|unmatched|already|exists?|"
    r"error|fatal|not|no|conflict|must|requires?|undefined|undeclared|unterminated|too|broken|"
    r"abort(?:ed|ing)?|ambiguous|corrupt|timed out|unreachable|busy|in use|full|exceeded|stale|"
    r"(?:is|not) a|fault|killed|unmet|held|interrupted|nothing|read-only|try|returned|"
    r"readonly|required|expression|same file|itself|omitting)\b",
    re.IGNORECASE,
)


@frozen()
class Candidate:
    """One line of a message, parsed on both sides; `least` is the weight that a fit needs."""

    domain: str
    msgid: str
    original: Format
    translated: Format
    least: int
    is_error: bool


@frozen()
class Match:
    """The heaviest message of a line, where it stood, and the whole line in English."""

    candidate: Candidate
    fit: Fit
    english: str


def candidates(
    catalogue: Catalogue, pieces: Iterable[str], wholes: Iterable[str], domain: str
) -> Iterator[Candidate]:
    """Yield what `catalogue` has that is one of `wholes` or contains one of `pieces`."""
    for text in wholes:
        for message in catalogue.whole(text):
            yield _candidate(domain, message.original, message.translation, _LEAST_WHOLE)
    for piece in pieces:
        for message in catalogue.containing(piece, _MOST_MESSAGES):
            for original, translation in _lines(message):
                if piece in translation:
                    yield _candidate(domain, original, translation, _LEAST)


def score(found: Iterable[tuple[str, Candidate]]) -> int:
    """Add up the weight of the heaviest error message of each line in `found` (line, candidate)."""
    best: dict[str, int] = {}
    for line, candidate in found:
        if candidate.is_error:
            hit = _fitting(candidate, line)
            if hit is not None:
                best[line] = max(best.get(line, 0), hit.weight)
    return sum(best.values())


def into_english(line: str, found: list[Candidate], depth: int = 0) -> Match | None:
    """Put the heaviest message of `line` into English, then what stands before, in and after it."""
    hits = [
        (candidate, hit) for candidate in found if (hit := _fitting(candidate, line)) is not None
    ]
    if not hits or depth > _DEPTH:
        return None
    # Of originals with one translation the shortest is the commonest: "cannot remove".
    candidate, hit = max(hits, key=lambda item: (item[1].weight, -len(item[0].msgid)))

    def change(part: str) -> str:
        inner = into_english(part, found, depth + 1) if part else None
        return part if inner is None else inner.english

    middle = filled(candidate.original, hit.values, change)
    english = change(line[: hit.start]) + middle + change(line[hit.end :])
    return Match(candidate, hit, english)


def _fitting(candidate: Candidate, line: str) -> Fit | None:
    hit = fit(candidate.translated, candidate.original, line)
    return hit if hit is not None and hit.weight >= candidate.least else None


def _candidate(domain: str, original: str, translation: str, least: int) -> Candidate:
    source = parsed(original)
    is_error = _ERROR.search(" ".join(source.literals)) is not None
    return Candidate(domain, original, source, parsed(translation), least, is_error)


def _lines(message: Message) -> Iterator[tuple[str, str]]:
    """Pair the lines of a message with their translations; where they differ, only the first."""
    originals = message.original.strip("\n").split("\n")
    translations = message.translation.strip("\n").split("\n")
    if len(originals) != len(translations):
        del originals[1:], translations[1:]
    yield from zip(originals, translations, strict=True)
