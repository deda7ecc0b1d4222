"""Whether a text ends in the middle of a JSON value."""

from __future__ import annotations

import re

from triage.escapes import strip_escapes
from triage.json_grammar import RAN_OUT, START
from triage.json_scan import Decoder

__all__ = ["ends_inside_value"]

# A bracket at the start of a line that begins a value, or the beginning of one cut off.
_OPENER = rf"[ \t\ufeff]*+(?={START}|[\[{{]{RAN_OUT})"
_LINE_OPENER = re.compile(rf"[\n\r]{_OPENER}")


def ends_inside_value(text: str, stripped: str | None = None) -> bool:
    """Say whether `text` ends inside a value, as `triage.envelope.ends_mid_structure` puts it."""
    # As given first: a value may hold characters that are escapes elsewhere.
    cut = _is_cut(text)
    if cut is None:
        clean = strip_escapes(text) if stripped is None else stripped
        cut = clean != text and _is_cut(clean)
    return bool(cut)


def _is_cut(text: str) -> bool | None:
    """Say whether the text ends inside a value, False where it ends behind one, else None."""
    body = text.rstrip(" \t\r\n")
    decoder = Decoder(body)
    at = 0
    whole = False
    # The first line by itself: an alternative for it would make the pattern slow.
    match = re.match(_OPENER, body) or _LINE_OPENER.search(body)
    while match is not None:
        start = match.end()
        whole = not decoder.has_failed(start)
        _, at = decoder.decode(start)
        match = _LINE_OPENER.search(body, at)
        broke = decoder.broke
        if broke is None:
            continue
        whole = False
        if broke.ran_out and (broke.began or not body[:start].strip(" \t\r\n\ufeff")):
            return True
    return False if whole and at == len(body) else None
