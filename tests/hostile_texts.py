"""Families of texts that punish an extractor, each buildable at any size.

Used by the property tests at small sizes (agreement with the reference, totality) and by
`benchmarks/extraction.py` at large ones (time must grow in a straight line).
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["FAMILIES"]


def _repeated(unit: str, before: str = "", after: str = "") -> Callable[[int], str]:
    def build(size: int) -> str:
        count = max(1, (size - len(before) - len(after)) // len(unit))
        return before + unit * count + after

    return build


def _closed(opener: str, inner: str, closer: str) -> Callable[[int], str]:
    def build(size: int) -> str:
        count = max(1, (size - len(inner)) // (len(opener) + len(closer)))
        return opener * count + inner + closer * count

    return build


# name -> a text of about that many characters
FAMILIES: dict[str, Callable[[int], str]] = {
    "INFO lines, envelope": _repeated("[INFO] hello world\n", after='{"ok": true}\n'),
    "NDJSON": _repeated('{"event": "progress", "id": 12345, "tags": ["a", "b"], "note": "x"}\n'),
    "[ only": _repeated("["),
    "{ only": _repeated("{"),
    "closed lists too deep": _closed("[", "1", "]"),
    "closed objects too deep": _closed('{"a":', "1", "}"),
    "deep lists side by side": _repeated("[" * 1200 + "]" * 1200 + "\n"),
    "unclosed objects": _repeated('{"a":'),
    "unclosed lists of numbers": _repeated("[1,"),
    "400 openers, unclosed list": _repeated("1234, ", before="[" * 400),
    "unclosed list of lists": _repeated("[1, 2], ", before="["),
    "unclosed list of empty lists": _repeated("[],", before="["),
    "unclosed list of objects": _repeated('{"id": 1, "name": "abc"},\n', before="["),
    "[2026-11-30": _repeated("[2026-11-30 INFO] "),
    "[12:00:01] step [3/5]": _repeated("[12:00:01] step [3/5]\n"),
    "half-open numbers": _repeated("[1, 2., [-, [1e, [0x1, [01, "),
    "half-open literals": _repeated("[true, [fals, [nul, [Infinit, [-Inf, "),
    "quotes": _repeated('"'),
    "quote after bracket": _repeated('["'),
    "quotes in threes": _repeated('["""'),
    "brackets in strings, even": _repeated('["[",'),
    "brackets in strings, odd": _repeated('["[", "]"', before='"'),
    "strings of openers": _repeated('["[[[[{{{{", '),
    "strings of openers, inverted": _repeated('["[[[[{{{{", ', before='["'),
    "keys of openers": _repeated('{"[{": ["{", {"]": "}", '),
    "backslashes": _repeated("\\"),
    "backslashes in a string": _repeated("\\", before='["'),
    "escaped quotes": _repeated('\\"', before='["'),
    "escaped openers": _repeated('["\\"[", '),
    "broken escapes": _repeated('["\\x", ["\\u12", '),
    "long escaped string, cut": _repeated("a\\n\\u00e9", before='{"ok": true, "text": "'),
    "unicode escapes": _repeated("\\ud83d\\ude00", before='["', after='"'),
    "ESC[": _repeated("\x1b["),
    "ESC[ before JSON": _repeated("\x1b[", after='{"ok": true}'),
    "colour in every value": _repeated('{"a": \x1b[31m1\x1b[0m}, '),
    "titles never ended": _repeated("\x1b]0;[1, "),
    "device strings never ended": _repeated("\x1bP{\n"),
    "C1 introducers": _repeated("\x9b\x9d\x90[1]"),
    "NUL": _repeated("\x00[\x00{"),
    "NUL in strings": _repeated('["a\x00", '),
    "lone surrogates": _repeated('["\ud800\udc00\udfff", '),
    "wide text": _repeated("größe [x] {ß} \U0001f600 [\U0001f600] "),
    "blanks between openers": _repeated("[ \t  "),
    "blanks after an opener": _repeated(" ", before="["),
    "line ends after openers": _repeated("{\n"),
    "broken objects": _repeated('{"a": 1, oops}\n'),
    "broken objects, values inside": _repeated('{"a": [1], "b": {"ok": false} oops\n'),
    "digits": _repeated("1", before="[", after="]"),
    "huge integers": _repeated("1" * 5000 + ",", before="["),
    "long exponents": _repeated("[1e99999999999, "),
    "commas": _repeated(",", before="["),
    "colons": _repeated(":", before='{"a"'),
    "one word": _repeated("error "),
    "envelope in a cut list": _repeated('{"ok": true},', before='{"data": [', after='{"o'),
    "cut strings line by line": _repeated('{"a": "cut\n'),
}
