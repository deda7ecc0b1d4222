"""GNU message catalogues (``.mo``) searched as bytes: from translated text to its original.

The standard library reads a catalogue whole, from the original to the translation, which is the
other way round and costs a hundred times as much for the megabytes of a machine's catalogues. Here
a file is only searched for some bytes, and only the messages they lie in are decoded. Format: the
GNU gettext manual, "The Format of GNU MO Files". A damaged file is no catalogue, never an error.
"""

from __future__ import annotations

import os
import re
import struct
from bisect import bisect_right
from collections.abc import Iterator

from triage.frozen import frozen

__all__ = ["Catalogue", "Listed", "Message", "list_catalogues", "read_catalogue"]

_BYTE_ORDERS = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}
_HEADER_BYTES = 20
# The largest catalogue of a Debian with everything installed (gcc, German) is 2.1 MB.
_LARGEST_BYTES = 8 << 20
_LONGEST_MESSAGE = 4096
_CHARSET = re.compile(rb"charset=([A-Za-z0-9_.:-]{1,40})")
# What a version at the end of a domain is made of: ``gcc-12``, ``libapt-pkg6.0``.
_VERSION = "0123456789.-"
# An original may carry its context before this mark.
_CONTEXT = "\x04"


@frozen()
class Message:
    """One message: the English original and its translation, one plural form each."""

    original: str
    translation: str


@frozen()
class Listed:
    """One catalogue on disk: its domain without a version (``gcc`` for ``gcc-12.mo``)."""

    domain: str
    language: str
    path: str


class Catalogue:
    """One catalogue's bytes; nothing is decoded that no search has found."""

    __slots__ = (
        "_charset",
        "_count",
        "_data",
        "_numbers",
        "_order",
        "_originals",
        "_starts",
        "_translations",
    )

    def __init__(
        self, data: bytes, order: str, count: int, originals: int, translations: int
    ) -> None:
        self._data = data
        self._order = order
        self._count = count
        self._originals = originals
        self._translations = translations
        self._starts: list[int] | None = None
        self._numbers: list[int] = []
        self._charset = self._declared_charset()

    def whole(self, text: str) -> Iterator[Message]:
        """Yield the messages of which one form is exactly `text`."""
        needle = self._encoded(text)
        if not needle:
            return
        needle = b"\0" + needle + b"\0"
        at = self._data.find(needle)
        while at >= 0:
            yield from (m for m in self._around(at + 1) if m.translation == text)
            at = self._data.find(needle, at + 1)

    def containing(self, piece: str, most: int) -> Iterator[Message]:
        """Yield the messages whose translation contains `piece`, at most `most` of them."""
        needle = self._encoded(piece)
        if not needle:
            return
        at = self._data.find(needle)
        while at >= 0 and most > 0:
            for message in self._around(at):
                if piece in message.translation:
                    yield message
                    most -= 1
            # One message counts once, however often it says the same.
            after = self._data.find(b"\0", at)
            at = self._data.find(needle, after) if after >= 0 else -1

    def _declared_charset(self) -> str:
        # The header is the translation of the empty original, which sorts first.
        header = self._bytes(self._translations, 0) if self._count else None
        found = _CHARSET.search(header or b"")
        name = found.group(1).decode("ascii") if found else "utf-8"
        try:
            "a".encode(name)
        except (LookupError, UnicodeError):
            return "utf-8"
        return name

    def _encoded(self, text: str) -> bytes:
        try:
            return text.encode(self._charset)
        except UnicodeError:
            return b""

    def _bytes(self, table: int, number: int) -> bytes | None:
        length, start = struct.unpack_from(f"{self._order}2I", self._data, table + 8 * number)
        if length > _LONGEST_MESSAGE or start + length > len(self._data):
            return None
        return self._data[start : start + length]

    def _around(self, at: int) -> Iterator[Message]:
        """Yield the forms of the message whose translation holds the byte `at`."""
        if self._starts is None:
            flat = struct.unpack_from(
                f"{self._order}{2 * self._count}I", self._data, self._translations
            )
            starts = flat[1::2]
            self._numbers = sorted(range(self._count), key=starts.__getitem__)
            self._starts = [starts[number] for number in self._numbers]
        place = bisect_right(self._starts, at) - 1
        if place < 0:
            return
        number = self._numbers[place]
        original = self._bytes(self._originals, number)
        translation = self._bytes(self._translations, number)
        if not original or not translation or at >= self._starts[place] + len(translation):
            return
        try:
            forms = translation.decode(self._charset).split("\0")
            sources = original.decode(self._charset).split("\0")
        except UnicodeError:
            return
        sources[0] = sources[0].rpartition(_CONTEXT)[2]
        for index, form in enumerate(forms):
            yield Message(sources[min(index, len(sources) - 1)], form)


def read_catalogue(path: str) -> Catalogue | None:
    """Read one ``.mo`` file; None where it can't be read or is no sound catalogue."""
    try:
        # A pipe of that name would never end.
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            data = file.read(_LARGEST_BYTES + 1)
    except OSError:
        return None
    order = _BYTE_ORDERS.get(data[:4])
    if order is None or not _HEADER_BYTES <= len(data) <= _LARGEST_BYTES:
        return None
    revision, count, originals, translations = struct.unpack_from(f"{order}4I", data, 4)
    if revision >> 16 > 1 or max(originals, translations) + 8 * count > len(data):
        return None
    return Catalogue(data, order, count, originals, translations)


def list_catalogues(roots: tuple[str, ...]) -> tuple[Listed, ...]:
    """List the catalogues under `roots` (``<root>/<language>/LC_MESSAGES/<domain>.mo``), sorted.

    Languages that are English (``en_GB``, ``en@quot``) are left out.
    """
    found: list[Listed] = []
    for root in roots:
        for language in _names(root):
            if language == "en" or language.startswith(("en_", "en@")):
                continue
            folder = os.path.join(root, language, "LC_MESSAGES")
            for name in _names(folder):
                if name.endswith(".mo"):
                    domain = name[:-3].rstrip(_VERSION)
                    found.append(Listed(domain, language, os.path.join(folder, name)))
    return tuple(found)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
