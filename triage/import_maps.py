"""Where a module specifier leads: relative, absolute, or through the page's import maps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from urllib.parse import urljoin

from triage.origins import normalized

__all__ = ["ImportMap"]


class ImportMap:
    """The page's import maps, merged; the first one that names a specifier decides.

    What is no import map is passed over, as a browser does.
    """

    def __init__(self, texts: Iterable[str], base: str) -> None:
        self._imports: dict[str, str | None] = {}
        self._scopes: dict[str, dict[str, str | None]] = {}
        for text in texts:
            try:
                data = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if not isinstance(data, Mapping):
                continue
            _add(self._imports, data.get("imports"), base)
            scopes = data.get("scopes")
            if isinstance(scopes, Mapping):
                for prefix, entries in scopes.items():
                    _add(self._scopes.setdefault(_absolute(prefix, base), {}), entries, base)

    def resolve(self, specifier: str, importer: str) -> str | None:
        """Return the URL of a specifier as `importer` (a URL) names it, None where it has none."""
        specifier = normalized(specifier)
        name = specifier if _is_bare(specifier) else _absolute(specifier, importer)
        prefixes = sorted((p for p in self._scopes if _in_scope(importer, p)), key=len)
        for entries in (*(self._scopes[prefix] for prefix in reversed(prefixes)), self._imports):
            found, target = _look_up(name, entries)
            if found:
                return target
        return None if _is_bare(specifier) else name


def _add(entries: dict[str, str | None], given: object, base: str) -> None:
    if not isinstance(given, Mapping):
        return
    for key, value in given.items():
        name = key if _is_bare(key) else _absolute(key, base)
        usable = isinstance(value, str) and not _is_bare(value)
        entries.setdefault(name, _absolute(value, base) if usable else None)


def _look_up(name: str, entries: Mapping[str, str | None]) -> tuple[bool, str | None]:
    if name in entries:
        return True, entries[name]
    end = name.rfind("/") + 1
    # From the longest prefix that ends in a slash to the shortest.
    while end > 0:
        prefix = name[:end]
        if prefix in entries:
            target = entries[prefix]
            return True, None if target is None else _absolute(name[end:], target)
        end = name.rfind("/", 0, end - 1) + 1
    return False, None


def _in_scope(importer: str, prefix: str) -> bool:
    return importer == prefix or (prefix.endswith("/") and importer.startswith(prefix))


def _is_bare(specifier: str) -> bool:
    """Whether only an import map can say where this leads."""
    if specifier.startswith(("/", "./", "../")):
        return False
    scheme, colon, _ = specifier.partition(":")
    return not (colon and scheme.isascii() and scheme.isalnum() and scheme[:1].isalpha())


def _absolute(text: str, base: str) -> str:
    try:
        return urljoin(base, text)
    except ValueError:
        return text
