"""Bytes to text without ever failing, and how many bytes a text was.

UTF-8 unless the bytes are plainly UTF-16, which Windows PowerShell and `wsl` write. A byte that is
no text stays as a lone surrogate (Python's `surrogateescape`), so each position in the text still
has one place in the bytes. Code pages are not guessed: a wrong guess is a wrong letter.
"""

from __future__ import annotations

import re

__all__ = ["SURROGATE", "cut_end", "cut_start", "decoded", "encoding_of", "width"]

SURROGATE = "[\ud800-\udfff]"
_SAMPLE_BYTES = 512


def encoding_of(data: bytes) -> str:
    """Return ``utf-8``, ``utf-16-le`` or ``utf-16-be``, from the mark or from where NULs stand."""
    if data.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if data.startswith(b"\xfe\xff"):
        return "utf-16-be"
    sample = data[:_SAMPLE_BYTES]
    pairs = len(sample) // 2
    # Four letters at least: two file names of one letter, NUL after each, look the same.
    if pairs >= 4 and b"\0" in sample:
        low, high = sample[0::2].count(0), sample[1::2].count(0)
        if high * 10 >= pairs * 8 and low * 20 <= pairs:
            return "utf-16-le"
        if low * 10 >= pairs * 8 and high * 20 <= pairs:
            return "utf-16-be"
    return "utf-8"


def decoded(data: bytes, encoding: str) -> tuple[str, bool]:
    """Decode all of `data`, and say whether some of it was not text in `encoding`."""
    if encoding == "utf-8":
        try:
            return data.decode("utf-8"), False
        except UnicodeDecodeError:
            return data.decode("utf-8", "surrogateescape"), True
    text = data[: len(data) & ~1].decode(encoding, "surrogatepass")
    if len(data) & 1:
        return text + data[-1:].decode("ascii", "surrogateescape"), True
    return text, re.search(SURROGATE, text) is not None


def width(text: str, encoding: str) -> int:
    """Count the bytes that `decoded` made `text` from."""
    errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
    return len(text.encode(encoding, errors))


def cut_end(data: bytes) -> int:
    """Count the bytes at the end of UTF-8 `data` that begin a character it does not finish."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte >= 0xC0:
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return back if wanted > back else 0
        if byte < 0x80:
            break
    return 0


def cut_start(data: bytes) -> int:
    """Count the bytes at the start of UTF-8 `data` that end a character begun before it."""
    skip = 0
    while skip < min(3, len(data)) and 0x80 <= data[skip] < 0xC0:
        skip += 1
    return skip
