"""One run of the preview probe: the checks in order, and the verdict from them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from triage.asset_rules import HTML_TYPES
from triage.error_pages import PreviewRules, message_in, preview_rules
from triage.errors import UsageError
from triage.origins import Origin, parse_origin, parse_target, resolve
from triage.page import Page
from triage.page_apart import read_page_apart
from triage.page_assets import Walk
from triage.page_text import decoded
from triage.probe import Check, ProbeResult
from triage.probe_client import Fetched, OriginClient

__all__ = ["ProbeRun", "Settings"]

_SERVER_PROBLEMS = frozenset(("unreachable", "tls", "timeout", "protocol", "not_tried"))
_READING_SECONDS = 10.0
_REFRESHES = 3
_SKIPPED_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Settings:
    """The arguments of a probe, checked."""

    url: str
    origin: Origin
    origins: frozenset[Origin]
    user: tuple[str, str] | None
    timeout_s: float
    max_bytes: int
    max_assets: int
    max_redirects: int
    verify_tls: bool

    @classmethod
    def checked(
        cls,
        url: str,
        *,
        timeout_s: float,
        max_bytes: int,
        max_assets: int,
        max_redirects: int,
        allow_origins: Iterable[str],
        verify_tls: bool,
    ) -> Self:
        """Raise `UsageError` for what makes no sense, else return the settings."""
        if not (math.isfinite(timeout_s) and timeout_s > 0):
            raise UsageError("--timeout", f"{timeout_s} s is no time limit", "give seconds above 0")
        for name, value in (("max_bytes", max_bytes), ("max_assets", max_assets)):
            if value < 1:
                raise UsageError(name, f"{value} is too little", "give at least 1")
        target, origin, user = parse_target(url)
        allowed = (parse_origin(text) for text in allow_origins)
        return cls(
            target, origin, frozenset((origin, *allowed)), user, timeout_s, max_bytes, max_assets,
            max(0, max_redirects), verify_tls,
        )  # fmt: skip


class ProbeRun:
    """Walks through the checks; `run` is called once."""

    def __init__(self, settings: Settings, deadline: float) -> None:
        self._settings = settings
        self._deadline = deadline
        self._rules: PreviewRules = preview_rules()
        self._checks: list[Check] = []
        self._warnings: list[str] = []

    async def run(self) -> ProbeResult:
        """Probe the page and return the result; raises nothing for what the server does."""
        settings = self._settings
        client = OriginClient(
            settings.origins,
            deadline=self._deadline,
            verify_tls=settings.verify_tls,
            user=settings.user,
            user_origin=settings.origin,
            max_redirects=settings.max_redirects,
        )
        async with client:
            return await self._run(client)

    async def _run(self, client: OriginClient) -> ProbeResult:
        fetched, html, page = await self._arrive(client)
        if page is None:
            return self._result(client, None, fetched)
        settings = self._settings
        walk = Walk(client, page, fetched.url, self._rules, settings.max_assets, settings.max_bytes)
        shown = self._rules.error_page(page, html)
        if shown is not None:
            detail = f"{shown.tool} serves an error page: {shown.message}".rstrip(" :")
            self._fail("error_page", fetched.url, fetched.status, shown.rule, detail)
        await walk.run()
        self._assets(walk)
        self._blank(page, fetched, walk)
        self._note(page, fetched, walk)
        return self._result(client, walk, fetched)

    async def _arrive(self, client: OriginClient) -> tuple[Fetched, str, Page | None]:
        """Fetch and read the page; None where there is nothing to read or no need to."""
        url = self._settings.url
        for left in reversed(range(_REFRESHES + 1)):
            fetched = await client.get(url, kind="document", limit=self._settings.max_bytes)
            self._checks.clear()
            if not self._entry(fetched):
                break
            html = decoded(fetched)
            if not _is_html(fetched):
                self._blank_text(fetched, html)
                break
            page = await self._read(html)
            if page is None:
                detail = "the page can't be read within the limits on time and memory"
                self._fail("entry", fetched.url, fetched.status, "unreadable", detail)
                break
            # A page that shows nothing and sends the browser on is a redirect in other words.
            link = resolve(page.refresh or "", fetched.url, client.origins)
            if page.seen is None and link.skip == "other_origin":
                detail = (
                    f"{fetched.url} sends the browser to another origin, "
                    "which --allow-origin does not name"
                )
                self._fail("entry", link.url, fetched.status, "other_origin", detail)
                break
            if not left or page.seen is not None or link.skip or link.url == fetched.url:
                return fetched, html, page
            url = link.url
        return fetched, "", None

    def _entry(self, fetched: Fetched) -> bool:
        """Check (a) and the first half of (b); whether there is a page to look at."""
        if fetched.problem in _SERVER_PROBLEMS:
            self._fail("server", fetched.url, fetched.status, fetched.problem, fetched.detail)
            return False
        self._pass("server", fetched.url, fetched.status)
        if fetched.problem is not None:
            detail = fetched.detail
            if fetched.problem == "other_origin":
                detail = f"{detail}, which --allow-origin does not name"
            self._fail("entry", fetched.url, fetched.status, fetched.problem, detail)
            return False
        if fetched.status != 200:
            detail = message_in(decoded(fetched)) or f"HTTP {fetched.status}"
            self._fail("entry", fetched.url, fetched.status, "status", detail)
            return False
        self._pass("entry", fetched.url, fetched.status)
        return True

    async def _read(self, html: str) -> Page | None:
        left = self._deadline - asyncio.get_running_loop().time()
        limit = min(_READING_SECONDS, max(0.5, left))
        return await asyncio.to_thread(
            read_page_apart, html, self._rules.selectors, timeout_s=limit
        )

    def _blank_text(self, fetched: Fetched, text: str) -> None:
        if text.strip():
            self._pass("blank", fetched.url, fetched.status)
        else:
            self._fail("blank", fetched.url, fetched.status, "empty", "the document is empty")

    def _assets(self, walk: Walk) -> None:
        for asset in walk.assets:
            if asset.fault is not None:
                reason, detail = asset.fault
                self._fail("asset", asset.url, asset.status, reason, detail, asset.kind)
            elif asset.broken is not None:
                detail = f"{asset.broken.tool}: {asset.broken.message}"
                rule = asset.broken.rule
                self._fail("error_page", asset.url, asset.status, rule, detail, asset.kind)
            else:
                self._pass("asset", asset.url, asset.status, asset.kind)

    def _blank(self, page: Page, fetched: Fetched, walk: Walk) -> None:
        """Check the second half of (b): something is seen, or a script can make it so."""
        at = (fetched.url, fetched.status)
        if page.seen is not None:
            self._pass("blank", *at)
            return
        inline = [
            script.source
            for script in page.scripts
            if script.source.strip() and not self._rules.is_dev_snippet(script.source)
        ]
        code = [asset for asset in walk.assets if asset.own and asset.kind in _ENTRY_KINDS]
        good = [asset for asset in code if asset.fault is None]
        draws = any(self._rules.draws(source) for source in inline) or any(
            asset.draws for asset in good if asset.own
        )
        foreign = any(
            item.kind in _ENTRY_KINDS and item.reason in ("other_origin", "limit")
            for item in walk.skipped
        )
        if page.mount is None:
            if draws:
                self._pass("blank", *at)
            elif any(asset.fault is not None for asset in code):
                self._fail("blank", *at, "entry_script", "empty but for a script that fails")
            else:
                self._fail("blank", *at, "empty", "no text, and no element that could hold any")
            return
        where = f"<{page.mount}> is empty"
        if any(not asset.empty for asset in good) or (inline and (draws or not code)):
            self._pass("blank", *at)
        elif any(asset.fault is not None for asset in code):
            self._fail("blank", *at, "entry_script", f"{where}, and the script for it fails")
        elif foreign:
            self._pass("blank", *at)
            self._warnings.append(
                f"{where}, and no script for it was checked; allow its origin with --allow-origin"
            )
        elif code:
            self._fail("blank", *at, "empty_script", f"{where}, and so is the script for it")
        else:
            self._fail("blank", *at, "no_script", f"{where}, and there is no script to fill it")

    def _note(self, page: Page, fetched: Fetched, walk: Walk) -> None:
        if fetched.cut:
            self._warnings.append(
                f"the page was read up to {self._settings.max_bytes} bytes and is longer"
            )
        missed = sum(item.reason == "limit" for item in walk.skipped)
        if missed or page.more:
            self._warnings.append(f"{missed} references were not checked: the limit was reached")

    def _pass(self, check: str, url: str, status: int | None, kind: str | None = None) -> None:
        self._checks.append(Check(check, True, url, status, kind))

    def _fail(
        self, check: str, url: str, status: int | None, reason: str, detail: str,
        kind: str | None = None,
    ) -> None:  # fmt: skip
        self._checks.append(Check(check, False, url, status, kind, reason, detail))

    def _result(self, client: OriginClient, walk: Walk | None, fetched: Fetched) -> ProbeResult:
        failed = sorted((check for check in self._checks if not check.ok), key=_rank)
        skipped = walk.skipped if walk is not None else []
        first = failed[0] if failed else None
        return ProbeResult(
            verdict="ok" if first is None else "preview_error",
            check=first.check if first else None,
            reason=first.reason if first else None,
            url=first.url if first else fetched.url,
            status=first.status if first else fetched.status,
            why=first.detail if first else "the page comes, shows something, and its parts resolve",
            entry=self._settings.url,
            checks=tuple(self._checks),
            skipped=tuple(
                {"url": item.url, "kind": item.kind, "reason": item.reason}
                for item in skipped[:_SKIPPED_SHOWN]
            ),
            skipped_count=len(skipped),
            warnings=tuple(self._warnings),
            facts={"requests": client.requests, "received": client.received},
        )


# Kinds that a browser runs because the page says so.
_ENTRY_KINDS = frozenset(("script", "module", "import"))
_ORDER = {"server": 0, "entry": 1, "error_page": 2, "blank": 4, "asset": 6}


def _rank(check: Check) -> int:
    """The order in which failures are told: the cause of a blank page before the blank page."""
    if check.check == "asset" and check.kind in ("script", "module", "import", "json", "css"):
        return 3
    return _ORDER[check.check] + (check.check == "blank" and check.reason == "entry_script")


def _is_html(fetched: Fetched) -> bool:
    if fetched.content_type in HTML_TYPES:
        return True
    # Without a type a browser looks at the start.
    return fetched.content_type == "" and b"<" in fetched.body[:512]
