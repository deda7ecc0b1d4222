"""Which of the last lines of a text are not plainly English, and which pieces of them to look up.

A search in a machine's message catalogues costs a tenth of a second, so nearly all English text
has to be told apart by its words alone. Pieces are what stands between values, quotes and
punctuation: ``Zugriff auf 'a b' nicht möglich`` gives ``Zugriff auf`` and ``nicht möglich``.
"""

from __future__ import annotations

import re

from triage.frozen import frozen

__all__ = [
    "SuspectLine",
    "has_english",
    "may_be_foreign",
    "pieces",
    "plainly_english",
    "suspect_lines",
    "tail_start",
    "wholes",
]

_TAIL_CHARS = 16 << 10
_MOST_LINES = 60
_LONGEST_LINE = 500
_SHORTEST_PIECE_BYTES = 8
_SHORTEST_WHOLE_BYTES = 6
# Three words are seldom one by chance, and seldom torn apart by a value.
_WORDS = 3
_MOST_PER_RUN = 8

# Patterns are kept as text: of a text that is plainly English only the words are looked at.
_LETTER = r"[^\W\d_]"
_RUN = (
    rf"(?<![^\s(:：«„“‘»”’])(?:{_LETTER}+['’])?{_LETTER}+(?:[ \xa0](?:{_LETTER}+['’])?{_LETTER}+)*"
    r"(?=[.,:;!?)…»“”’]*(?:\s|$)|[：。，、；])"
)
# Chinese and Japanese have no spaces to part the words.
_UNSPACED = "[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}"
# What can stand in a run of words, or between them, and is no ASCII.
_BEYOND = r"[^\W\d_\x00-\x7f]|[\udc80-\udcff’\xa0\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
_NO_UTF8 = "[\udc80-\udcff]{2}"
_BETWEEN = ": |："
# No path, no option and no program's name, which a colon follows.
_ASCII_WORD = r"(?<![\w./=-])[A-Za-z]+(?:'t|'re)?(?![\w/:=-])"
# No words of the catalogues' translations (counted over 69 languages): one of them makes a text
# English, unless letters of another alphabet stand in it.
_ENGLISH_WORDS = """
the with and or not cannot can't couldn't didn't doesn't don't won't isn't invalid use uses used
using from failed fails failure failing has have had if does did but that this these those
expected unexpected could would should will must when while than then there here what which who
how why you your yours we our they them their its it been being unable unknown supported
unsupported missing all any each every such found within without during before after because
since until only also already too out new old same other another between into you're permission
permitted denied connection refused closed connect connecting resolve resolving timed
unreachable access allowed required requires request requests response rejected forbidden
unauthorized authentication expired credentials password try trying retry again please check
checking run running ran create created creating build building built compile compiling download
downloading install installing installed require update updated updating upgrade write writing
reading open opening load loading loaded exists exist existing empty changed changes
successfully succeeded success finished completed complete done passed skipped warning warnings
errors aborting aborted terminated killed dumped fault exited exiting exit given specify
specified provided returned called caused raised thrown uncaught unhandled unresolved undefined
defined detected mismatch broken corrupt malformed interactive usage command commands arguments
files directories lines packages versions modules tests bytes object objects value values keys
property function method class field member caller default available unavailable more less most
least many few some recent last next first current previous latest total time times now later
user users owner host hosts memory space device resource temporarily name names line number
range size stack trace thread main starting started stopping stopped waiting listening serving
looking press enter continue recognized locked matches notice notes
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())


@frozen()
class SuspectLine:
    """A line that may be foreign: `pieces` are worth a search; `start`, `end` are in the tail.

    `letters`: a piece has letters beyond ASCII. `no_utf8`: bytes of the line were no UTF-8 (lone
    surrogates stand for them), so its pieces are not known before its code page is.
    """

    text: str
    start: int
    end: int
    pieces: tuple[str, ...]
    letters: bool
    no_utf8: bool


def tail_start(text: str) -> int:
    """Where the last lines begin: half a line is no line to be put into English."""
    start = len(text) - _TAIL_CHARS
    return 0 if start <= 0 else text.find("\n", start - 1) + 1 or len(text)


def plainly_english(text: str) -> bool:
    """Whether the catalogues need not be asked: blank, or ASCII with English words at its end."""
    tail = text[tail_start(text) :]
    return tail.isascii() and (has_english(tail) or not text.strip())


def may_be_foreign(text: str) -> bool:
    """Whether the last lines have anything that the catalogues could know."""
    tail = text[tail_start(text) :]
    if not has_english(tail):
        return bool(suspect_lines(tail))
    # Beside English words only what English can't write counts.
    return any(line.letters or line.no_utf8 for line in suspect_lines(tail, beyond_ascii=True))


def has_english(tail: str) -> bool:
    """Whether a word of `tail` is English and of no other language."""
    return any(match.group().lower() in _ENGLISH for match in re.finditer(_ASCII_WORD, tail))


def suspect_lines(
    tail: str, *, every: bool = False, beyond_ascii: bool = False
) -> list[SuspectLine]:
    """Return those of the last lines that have pieces to look up, oldest first.

    `every`: the text is known to be foreign, so that shorter pieces count too (see `pieces`), but
    none with English words. `beyond_ascii`: lines with no letter beyond ASCII, and no byte that was
    no UTF-8, are left out.
    """
    lines: list[SuspectLine] = []
    end = len(tail)
    for _ in range(_MOST_LINES):
        start = tail.rfind("\n", 0, end) + 1
        text = tail[start:end]
        passed_over = text.isspace() or (
            beyond_ascii and (text.isascii() or re.search(_BEYOND, text) is None)
        )
        if 0 < len(text) <= _LONGEST_LINE and not passed_over:
            no_utf8 = not text.isascii() and re.search(_NO_UTF8, text) is not None
            found = () if no_utf8 else pieces(text, every=every)
            if every:
                found = tuple(piece for piece in found if not has_english(piece))
            if found or no_utf8:
                letters = not all(map(str.isascii, found))
                lines.append(SuspectLine(text, start, end, found, letters, no_utf8))
        if not start:
            break
        end = start - 1
    lines.reverse()
    return lines


def pieces(line: str, *, every: bool = False) -> tuple[str, ...]:
    """Return the pieces of a line that may belong to a translated message, the longest first.

    `every`: the line is known to be foreign, so that one or two words anywhere in it count too.
    """
    found: list[str] = []
    for match in re.finditer(_RUN, line):
        run = match.group()
        if run.isascii():
            words = run.split(" ")
            # Two ASCII words end a message ("Permiso denegado") or are a name of something.
            ends = not line[match.end() :].strip(" .)")
            if not every and (len(words) < 2 or (len(words) == 2 and not ends)):
                continue
        elif re.search(_UNSPACED, run):
            continue
        else:
            words = re.split("[ \xa0]", run)
        if every and len(words) >= _WORDS:
            # A value without quotes before or after the words.
            found += [" ".join(words[:2]), " ".join(words[-2:])]
        if len(words) <= _WORDS:
            found.append(run)
            continue
        # A value without quotes may stand between.
        starts = [*range(0, len(words) - _WORDS, _WORDS), len(words) - _WORDS]
        found += [" ".join(words[at : at + _WORDS]) for at in starts[:_MOST_PER_RUN]]
    # ASCII has none; the class takes longer to compile than to search for.
    for match in () if line.isascii() else re.finditer(_UNSPACED, line):
        run = match.group()
        found += [run] if len(run) <= 8 else [run[:6], run[-6:]]
    unique = {piece for piece in found if _size(piece) >= _SHORTEST_PIECE_BYTES}
    return tuple(sorted(unique, key=lambda piece: (-len(piece), piece)))


def wholes(line: str) -> list[str]:
    """Return what stands between colons at the end of the line: whole messages such as libc's."""
    parts = [part.strip().rstrip(".)。") for part in re.split(_BETWEEN, line)[-4:]]
    return [part for part in parts if _size(part) >= _SHORTEST_WHOLE_BYTES]


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
