"""The seed's reference extraction, kept as an oracle for tests and benchmarks; never shipped.

It is quadratic, raises RecursionError on deep nesting and ValueError on integers of more than
4,300 digits: that is what `triage.envelope` must do better, and all it may do differently.
"""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["reference_envelope"]

_SEED_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def reference_envelope(stdout: str) -> Any:
    """Follow the seed's six steps to the letter."""
    text = _SEED_ESCAPES.sub("", stdout)
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass
    decoder = json.JSONDecoder()
    candidates: list[Any] = []
    position = 0
    while True:
        openers = [found for found in (text.find(c, position) for c in "{[") if found != -1]
        if not openers:
            break
        opener = min(openers)
        try:
            # The slice is the seed's own: it is what makes the reference quadratic.
            value, length = decoder.raw_decode(text[opener:])
        except json.JSONDecodeError:
            position = opener + 1
        else:
            candidates.append(value)
            position = opener + length
    envelopes = [value for value in candidates if isinstance(value, dict) and "ok" in value]
    if envelopes:
        return envelopes[-1]
    return candidates[-1] if candidates else None
