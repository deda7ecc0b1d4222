"""Fetching what a page refers to, and what its modules import, within limits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from triage.asset_rules import asset_fault
from triage.error_pages import ErrorPage, PreviewRules
from triage.import_maps import ImportMap
from triage.origins import Link, resolve
from triage.page import Page, Reference
from triage.page_text import decoded
from triage.probe_client import Fetched, OriginClient
from triage.script_source import Import, imports_of, is_empty

__all__ = ["Asset", "Skipped", "Walk"]

# What decides about a blank page comes first where the limit does not let all through.
_RANK = {"script": 0, "module": 0, "import": 1, "json": 1, "css": 1, "stylesheet": 2, "icon": 3,
         "modulepreload": 4, "preload": 5}  # fmt: skip
_CODE = frozenset(("script", "module", "modulepreload", "import"))
# An image or a font need not be read to the end to know that it is there.
_GLANCE_BYTES = 64 << 10
# Reading imports takes up to a microsecond a character, following one some ten.
_MOST_SOURCE_CHARS = 4 << 20
_MOST_IMPORTS = 5000


@dataclass(frozen=True, slots=True)
class Skipped:
    """A reference that was not fetched, and why: other_origin, inline, socket, limit …"""

    url: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Asset:
    """One reference that was looked at; `fault` is (reason, detail) where it does not resolve.

    `empty` and `draws` are about a script's source; `broken` is what a bundler says of itself in
    it; `own` is false for the dev server's scripts.
    """

    kind: str
    url: str
    status: int | None
    fault: tuple[str, str] | None = None
    empty: bool = False
    draws: bool = False
    broken: ErrorPage | None = None
    own: bool = True
    imports: tuple[Import, ...] = ()


@dataclass(slots=True)
class Walk:
    """A walk from a page over its references; `run` fills `assets` and `skipped`."""

    client: OriginClient
    page: Page
    url: str
    rules: PreviewRules
    max_assets: int
    max_bytes: int
    assets: list[Asset] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    source_chars_left: int = _MOST_SOURCE_CHARS
    imports_left: int = _MOST_IMPORTS

    async def run(self) -> None:
        """Fetch the page's references, then what their modules import, until nothing is new."""
        base = self._base()
        maps = ImportMap(self.page.import_maps, base)
        seen: set[tuple[str, str]] = set()
        todo = sorted(self._references(base, maps), key=lambda item: _RANK[item[0].kind])
        while todo:
            tasks = []
            for reference, link in todo:
                if link.skip is not None:
                    self._skip(reference, link)
                    continue
                group = "code" if reference.kind in _CODE else reference.kind
                known = (group, link.url)
                if known in seen or (group == "preload" and ("code", link.url) in seen):
                    continue
                seen.add(known)
                if len(seen) > self.max_assets:
                    self.skipped.append(Skipped(link.url, reference.kind, "limit"))
                else:
                    tasks.append(self._fetch(reference, link.url))
            found = await asyncio.gather(*tasks)
            todo = []
            for asset in found:
                if asset is None:
                    continue
                self.assets.append(asset)
                todo += self._imported(asset.imports, asset.url, asset.status, maps)

    def _base(self) -> str:
        if self.page.base is None:
            return self.url
        link = resolve(self.page.base, self.url, self.client.origins)
        # A base of another origin counts; what it leads to is then of that origin too.
        return link.url if link.skip in (None, "other_origin") else self.url

    def _references(self, base: str, maps: ImportMap) -> Iterable[tuple[Reference, Link]]:
        for reference in self.page.references:
            yield reference, resolve(reference.href, base, self.client.origins)
        for script in self.page.scripts:
            if script.module and not self.rules.is_dev_snippet(script.source):
                yield from self._imported(self._imports(script.source), base, None, maps)

    def _imported(
        self, imports: Sequence[Import], importer: str, status: int | None, maps: ImportMap
    ) -> list[tuple[Reference, Link]]:
        found = []
        for item in imports:
            kind = item.type if item.type in ("json", "css") else "import"
            url = maps.resolve(item.specifier, importer)
            if url is not None:
                reference = Reference(kind, item.specifier)
                found.append((reference, resolve(url, importer, self.client.origins)))
            elif any("importmap" in script.source for script in self.page.scripts):
                # A script may add an import map; what it says can't be known.
                self.skipped.append(Skipped(item.specifier[:200], kind, "import_map"))
            else:
                detail = f"nothing says where a browser finds {item.specifier[:100]!r}"
                self.assets.append(Asset(kind, importer, status, ("bare_specifier", detail)))
        return found

    def _imports(self, source: str) -> tuple[Import, ...]:
        if self.source_chars_left <= 0:
            return ()
        found = imports_of(source[: self.source_chars_left])[: self.imports_left]
        self.source_chars_left -= len(source)
        self.imports_left -= len(found)
        return found

    def _skip(self, reference: Reference, link: Link) -> None:
        if link.skip in ("scheme", "bad_url"):
            why = {"scheme": "a browser does not load this scheme from a page",
                   "bad_url": "no URL"}[link.skip]  # fmt: skip
            self.assets.append(Asset(reference.kind, link.url, None, (link.skip, why)))
        elif link.skip not in ("inline", "fragment", "socket"):
            self.skipped.append(Skipped(link.url, reference.kind, link.skip or "unknown"))

    async def _fetch(self, reference: Reference, url: str) -> Asset | None:
        code = reference.kind in _CODE
        limit = self.max_bytes if code else min(self.max_bytes, _GLANCE_BYTES)
        fetched = await self.client.get(url, kind=reference.kind, limit=limit)
        if fetched.problem in ("other_origin", "not_tried"):
            reason = "limit" if fetched.problem == "not_tried" else "other_origin"
            self.skipped.append(Skipped(fetched.url, reference.kind, reason))
            return None
        kind = "module" if reference.kind == "import" else reference.kind
        fault = asset_fault(
            kind, fetched, destination=reference.destination, standards=self.page.standards
        )
        shown = fetched.url if fault is None else url
        if fault is not None or not code:
            return Asset(reference.kind, shown, fetched.status, fault)
        return self._script(reference, fetched)

    def _script(self, reference: Reference, fetched: Fetched) -> Asset:
        source = decoded(fetched)
        parts = urlsplit(fetched.url)
        own = not self.rules.is_dev_client(
            f"{parts.path}?{parts.query}" if parts.query else parts.path
        )
        module = reference.kind != "script"
        return Asset(
            reference.kind,
            fetched.url,
            fetched.status,
            empty=is_empty(source),
            # Of what was not read anything may be true.
            draws=fetched.cut or self.rules.draws(source),
            broken=self.rules.broken_script(source) if own else None,
            own=own,
            imports=self._imports(source) if module else (),
        )
