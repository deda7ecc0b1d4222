"""Terminal escape sequences: take them out of a text, and find the way back to where they stood.

What counts as an escape (ECMA-48):

* CSI, with private parameter bytes and intermediate bytes, ended by its final byte;
* OSC ended by BEL or ST, on one line;
* DCS, APC, PM and SOS ended by ST, over several lines if need be;
* two-character and charset escapes (``ESC 7``, ``ESC ( B``), and an ESC that starts nothing;
* the 8-bit C1 forms of all of these (U+0080 to U+009F).

Three decisions keep broken sequences from eating a log. A control string that is never ended
ends with its line; its 8-bit form, which a wrongly decoded letter may look like, then counts as
one character only. An ESC inside a control string ends it, as it does in terminals. And
a bracket or brace is a final byte only after an intermediate byte: no terminal knows
``CSI {``, while a cut introducer before a JSON value is common.
"""

from __future__ import annotations

import re

__all__ = ["OffsetMap", "strip_escapes"]

# The possessive quantifiers give nothing back, and no body may contain another introducer of its
# own kind: each character is looked at a bounded number of times, whatever the text.
#
# Kept as text: most texts have no escape, and compiling it takes as long as loading a module.
_ESCAPE = r"""(?x)
    \x1b (?:
        \[ [0-?]*+ (?: [\ -/]++ [@-~] | [@-Z\\^-z|~] )?
      | \] [^\x07\x18\x1a\x1b\x9c\r\n]*+ (?: \x07 | \x1b\\ | \x9c )?
      | [PX^_] (?: [^\x18\x1a\x1b\x9c]*+ (?: \x1b\\ | \x9c ) | [^\x18\x1a\x1b\x9c\r\n]*+ )
      | [\ -/]*+ [0-Z\\^-z|~]
    )?
  | \x9b [0-?]*+ (?: [\ -/]++ [@-~] | [@-Z\\^-z|~] )
  | \x9d [^\x07\x18\x1a\x1b\x80-\x9f\r\n]*+ (?: \x07 | \x1b\\ | \x9c )
  | [\x90\x98\x9e\x9f] [^\x18\x1a\x1b\x80-\x9f]*+ (?: \x1b\\ | \x9c )
  | [\x80-\x9f]
    """
_C1 = tuple(map(chr, range(0x80, 0xA0)))


class OffsetMap:
    """Positions in a stripped text -> positions in the text it was made from (code points).

    The cuts are looked up when the first question is asked: most strippings are never asked.
    """

    __slots__ = ("_at", "_removed", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._at: list[int] | None = None
        self._removed: list[int] = []

    def position(self, stripped: int) -> int:
        """Return where the character at `stripped` stood; the end of the text maps to its end."""
        at = self._at
        if at is None:
            at = self._find_cuts()
        # By hand: importing bisect here could overflow a stack that is nearly used up.
        low, high = 0, len(at)
        while low < high:
            middle = (low + high) // 2
            if stripped < at[middle]:
                high = middle
            else:
                low = middle + 1
        return stripped + (self._removed[low - 1] if low else 0)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the narrowest original span that holds ``stripped[start:end]``.

        Escapes between its characters are inside, escapes before and after it are not.
        """
        first = self.position(start)
        return (first, first) if end <= start else (first, self.position(end - 1) + 1)

    def _find_cuts(self) -> list[int]:
        at: list[int] = []
        removed: list[int] = []
        total = 0
        for match in re.finditer(_ESCAPE, self._text) if _has_escape(self._text) else ():
            start, end = match.span()
            if at and at[-1] == start - total:
                total += end - start
                removed[-1] = total
                continue
            at.append(start - total)
            total += end - start
            removed.append(total)
        # In this order: another thread asks as soon as it sees the places.
        self._removed, self._at = removed, at
        return at


def _has_escape(text: str) -> bool:
    # Thirty-two searches for one character are four times faster than one for a class.
    return "\x1b" in text or (not text.isascii() and any(c1 in text for c1 in _C1))


def strip_escapes(text: str) -> str:
    """Return `text` without its terminal escape sequences; linear time, total."""
    return re.sub(_ESCAPE, "", text) if _has_escape(text) else text
