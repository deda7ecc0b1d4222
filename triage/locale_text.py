"""Text in another language, led back to its English original by the system's message catalogues.

A message is foreign when a known translation stands in it, not because of its letters.
The catalogues of the tools that fail most often are searched for pieces of the last lines; the
language is settled first, from libc's texts or the first domain that knows one, then each line is
translated back with that language's catalogues alone. Nothing is read for plainly English text.
What a machine has no catalogues for is left to rules/sets/languages.yaml.
"""

from __future__ import annotations

import re
from functools import lru_cache

from triage.catalogue_match import Candidate, candidates, into_english, score
from triage.english import SuspectLine, has_english, pieces, suspect_lines, tail_start, wholes
from triage.frozen import frozen, replaced
from triage.mo_catalogue import Catalogue, Listed, list_catalogues, read_catalogue

__all__ = ["SYSTEM_ROOTS", "Original", "find_original", "to_english"]

# Where GNU/Linux, the BSDs, Homebrew and Ubuntu's language packs keep catalogues.
SYSTEM_ROOTS = (
    "/usr/share/locale",
    "/usr/share/locale-langpack",
    "/usr/local/share/locale",
    "/opt/homebrew/share/locale",
)
# In this order: the first domain that knows a piece settles the language, and libc's texts end most
# messages of all the others. Desktop programs and help texts are not worth the reading.
_DOMAINS = (
    *("libc", "bash", "coreutils", "make", "apt", "libapt-pkg", "tar", "grep", "sed", "findutils"),
    *("git", "dpkg", "diffutils", "wget", "gawk", "cpplib", "ld", "bfd", "gcc", "psql", "libpq"),
    *(
        "subversion",
        "sudo",
        "shadow",
        "gnupg",
        "cpio",
        "util-linux",
        "patch",
        "dnf",
        "man-db",
        "binutils",
    ),
)
# How many of them, a third of the bytes, are searched on a mere suspicion.
_COMMON = 10
# Bounds of the search: pieces and whole messages that settle the language, lines translated.
_MOST_PIECES = 6
_MOST_LINES = 12

_BETWEEN = re.compile(r": |：")
_NUMBER = re.compile(r"\d+")
# Code pages that a message in bytes which are no UTF-8 may be in, the likeliest first.
_CODE_PAGES = (
    *("koi8-r", "cp1251", "euc_jp", "cp932", "gb18030", "euc_kr", "big5", "cp1252", "iso8859-2"),
    *("cp1250", "iso8859-9", "iso8859-7", "iso8859-5", "koi8-u", "cp866", "cp850", "cp852"),
)


@frozen()
class Original:
    """One recognised message: `msgid` is the English original as catalogues key it.

    `start` and `end` are code points of the text that was searched; `english_text` is the whole
    line with everything that was recognised in it put back into English.
    """

    language: str
    domain: str
    msgid: str
    start: int
    end: int
    english_text: str


def find_original(text: str, roots: tuple[str, ...] = SYSTEM_ROOTS) -> Original | None:
    """Return the best recognised error message of `text`, None where none is known; never raises.

    Only the last lines are looked at. `roots` are folders of ``<language>/LC_MESSAGES/*.mo``.
    """
    shift = tail_start(text)
    found = _recognised(text[shift:], roots, sure=False)
    best: Original | None = None
    heaviest = 0
    for weight, original in found:
        if weight >= heaviest and original.msgid:
            best, heaviest = original, weight
    if best is None or not shift:
        return best
    return replaced(best, start=best.start + shift, end=best.end + shift)


def to_english(text: str, roots: tuple[str, ...] = SYSTEM_ROOTS) -> str | None:
    """Return `text` with every recognised line in English, None where nothing was recognised.

    For text that is known to be foreign: more is searched than for `find_original`.
    """
    shift = tail_start(text)
    found = _recognised(text[shift:], roots, sure=True)
    if not any(original.msgid for _, original in found):
        return None
    parts = []
    last = 0
    for _, original in found:
        start = text.rfind("\n", 0, shift + original.start) + 1
        end = text.find("\n", shift + original.end)
        parts += [text[last:start], original.english_text]
        last = len(text) if end < 0 else end
    return "".join([*parts, text[last:]])


@lru_cache(maxsize=16)
def _recognised(
    tail: str, roots: tuple[str, ...], *, sure: bool
) -> tuple[tuple[int, Original], ...]:
    if not sure and tail.isascii() and has_english(tail):
        return ()
    lines = suspect_lines(tail, every=sure)
    domains: tuple[str, ...] = _DOMAINS
    if not sure and not any(line.letters or line.no_utf8 for line in lines):
        # Without letters of another alphabet the text is most likely English with rare words.
        if has_english(tail):
            return ()
        domains = _DOMAINS[:_COMMON]
    listed = _listed(roots) if lines else {}
    settled = _settle(lines, listed, domains) if listed else None
    if settled is None:
        return ()
    language, code_page = settled
    catalogues = [
        (item.domain, catalogue)
        for domain in _DOMAINS
        for item in listed.get(domain, ())
        if item.language == language and (catalogue := _cached(item.path)) is not None
    ]
    found = []
    for line in lines[-_MOST_LINES:]:
        if line.no_utf8:
            text = _decoded(line.text, code_page) if code_page else None
            if text is None:
                continue
            line = replaced(line, text=text)
        hit = _translated(line, catalogues, language)
        if hit is not None:
            found.append(hit)
    return tuple(found)


@lru_cache(maxsize=4)
def _listed(roots: tuple[str, ...]) -> dict[str, list[Listed]]:
    by_domain: dict[str, list[Listed]] = {}
    for item in list_catalogues(roots):
        if item.domain in _DOMAINS:
            by_domain.setdefault(item.domain, []).append(item)
    return by_domain


@lru_cache(maxsize=32)
def _cached(path: str) -> Catalogue | None:
    return read_catalogue(path)


def _settle(
    lines: list[SuspectLine], listed: dict[str, list[Listed]], domains: tuple[str, ...]
) -> tuple[str, str] | None:
    """Return the language, and the code page of lines that are no UTF-8 (`` `` for the others).

    It is the one whose catalogue matches most in the first domain that matches at all.
    """
    sought = _sought([line for line in lines if not line.no_utf8])
    pages = _sought_by_page([line for line in lines if line.no_utf8])
    for domain in domains:
        scores: dict[tuple[str, str], int] = {}
        for item in listed.get(domain, ()):
            catalogue = read_catalogue(item.path)
            if catalogue is None:
                continue
            scores[item.language, ""] = _score(catalogue, *sought)
            if domain == "libc":
                for page, parts in pages.items():
                    scores[item.language, page] = _score(catalogue, [], parts)
        # Ties are languages that say the same: the shorter code, then the alphabet.
        best = min(scores, key=lambda key: (-scores[key], len(key[0]), *key), default=None)
        if best is not None and scores[best]:
            return best
    return None


Sought = list[tuple[str, str]]


def _sought(lines: list[SuspectLine]) -> tuple[Sought, Sought]:
    """Return the (line, piece) and the (line, whole message) that are looked for first."""
    last = lines[-_MOST_LINES:]
    of_pieces = [(line.text, piece) for line in last for piece in line.pieces]
    of_pieces.sort(key=lambda item: -len(item[1]))
    of_wholes = [(line.text, part) for line in last for part in wholes(line.text)]
    return of_pieces[:_MOST_PIECES], of_wholes[-2 * _MOST_PIECES :]


def _sought_by_page(lines: list[SuspectLine]) -> dict[str, Sought]:
    """Return the whole messages of the last two lines by the code page they are read in."""
    pages: dict[str, Sought] = {}
    for line in lines[-2:]:
        for page in _CODE_PAGES:
            text = _decoded(line.text, page)
            if text is not None:
                pages.setdefault(page, []).extend((text, part) for part in wholes(text))
    return pages


def _score(catalogue: Catalogue, of_pieces: Sought, of_wholes: Sought) -> int:
    found = [
        (line, candidate)
        for line, piece in of_pieces
        for candidate in candidates(catalogue, [piece], [], "")
    ]
    found += [
        (line, candidate)
        for line, part in of_wholes
        for candidate in candidates(catalogue, [], [part], "")
    ]
    return score(found)


def _translated(
    line: SuspectLine, catalogues: list[tuple[str, Catalogue]], language: str
) -> tuple[int, Original] | None:
    parts = wholes(line.text)
    for part in _BETWEEN.split(line.text)[:3]:
        # "Fehler: " and bash's "Zeile 1: " are messages too.
        parts += [f"{part}: ", f"{_NUMBER.sub('%d', part)}: "]
    sought = pieces(line.text, every=True)[: 2 * _MOST_PIECES]
    found: list[Candidate] = []
    for domain, catalogue in catalogues:
        found += candidates(catalogue, sought, parts, domain)
    match = into_english(line.text, found)
    if match is None:
        return None
    start, end = line.start + match.fit.start, line.start + match.fit.end
    if line.no_utf8:
        # Positions in the line as it was read are none of the text as given.
        start, end = line.start, line.end
    msgid = match.candidate.msgid if match.candidate.is_error else ""
    return match.fit.weight, Original(
        language, match.candidate.domain, msgid, start, end, match.english
    )


def _decoded(text: str, code_page: str) -> str | None:
    """Read a line whose bytes were no UTF-8 as `code_page`, None where they are none of it."""
    try:
        return text.encode("utf-8", "surrogateescape").decode(code_page)
    except UnicodeError:
        return None
