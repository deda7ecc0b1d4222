"""The preview probe: does a page come, is it blank, does what it refers to resolve.

Plain GETs within one origin, no browser; asked for after a turn of the web loop and never in batch
use, where no page is no failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["CHECKS", "Check", "ProbeResult", "aprobe", "probe"]

CHECKS = {
    "server": "the server answers",
    "entry": "the entry document is served with 200, from an origin that is allowed",
    "error_page": "it is no error page of a dev server, its scripts no failed build",
    "asset": "a script, stylesheet, icon, preload or module that it refers to resolves",
    "blank": "it shows something, or has an element and a script that can",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was checked: where, with what HTTP status, and if it failed why.

    `check` is a key of `CHECKS`; `kind` says what an asset is (script, module, import, json, css,
    stylesheet, icon, preload, modulepreload). `reason` is a word, `detail` a sentence; `detail`
    may quote the server.
    """

    check: str
    ok: bool
    url: str
    status: int | None = None
    kind: str | None = None
    reason: str | None = None
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "check": self.check,
            "ok": self.ok,
            "kind": self.kind,
            "url": self.url,
            "status": self.status,
            "reason": self.reason,
            "detail": self.detail,
        }


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What the probe found: `ok`, or `preview_error` with the check that failed first.

    `url` and `status` are those of the failing check, for `ok` of the page. `checks` holds every
    check made, `skipped` what was referred to and not fetched ({url, kind, reason}), `warnings`
    what could not be decided. `requests` and `received` (bytes) count what was done.
    """

    verdict: Literal["ok", "preview_error"]
    check: str | None
    reason: str | None
    url: str
    status: int | None
    why: str
    entry: str
    checks: tuple[Check, ...]
    skipped: tuple[Mapping[str, str], ...] = ()
    skipped_count: int = 0
    warnings: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong with the page as far as it can be seen without a browser."""
        return self.verdict == "ok"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data; not masked, details may quote the server."""
        return {
            "verdict": self.verdict,
            "check": self.check,
            "reason": self.reason,
            "url": self.url,
            "status": self.status,
            "why": self.why,
            "entry": self.entry,
            "checks": [check.to_dict() for check in self.checks],
            "skipped": [dict(item) for item in self.skipped],
            "skipped_count": self.skipped_count,
            "warnings": list(self.warnings),
            **self.facts,
        }

    def line(self) -> str:
        """Return the one diagnostic line for stderr."""
        if self.ok:
            return f"triage probe: ok: {self.url}"
        status = "no status" if self.status is None else f"status {self.status}"
        return f"triage probe: preview_error ({self.check}): {self.url}: {status}: {self.why}"


async def aprobe(
    url: str,
    *,
    timeout_s: float = 30.0,
    max_bytes: int = 4 << 20,
    max_assets: int = 200,
    max_redirects: int = 10,
    allow_origins: Iterable[str] = (),
    verify_tls: bool = True,
) -> ProbeResult:
    """`probe` for a running event loop (asyncio)."""
    import asyncio

    from triage.probe_run import ProbeRun, Settings

    settings = Settings.checked(
        url,
        timeout_s=timeout_s,
        max_bytes=max_bytes,
        max_assets=max_assets,
        max_redirects=max_redirects,
        allow_origins=allow_origins,
        verify_tls=verify_tls,
    )
    return await ProbeRun(settings, asyncio.get_running_loop().time() + timeout_s).run()


def probe(
    url: str,
    *,
    timeout_s: float = 30.0,
    max_bytes: int = 4 << 20,
    max_assets: int = 200,
    max_redirects: int = 10,
    allow_origins: Iterable[str] = (),
    verify_tls: bool = True,
) -> ProbeResult:
    """Check a preview page: the server answers, the page is not blank, its assets resolve.

    `timeout_s` is for everything, `max_bytes` for each body after decoding, `max_assets` for the
    files besides the page. Nothing is asked of another origin (scheme, host and port) than that
    of `url`, redirects included, unless `allow_origins` names it. Never raises for what a server
    does; raises `UsageError` for arguments that make no sense. Blocks; may be called where an
    event loop runs.
    """
    import asyncio
    from functools import partial

    work = partial(
        aprobe,
        url,
        timeout_s=timeout_s,
        max_bytes=max_bytes,
        max_assets=max_assets,
        max_redirects=max_redirects,
        allow_origins=tuple(allow_origins),
        verify_tls=verify_tls,
    )
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work())).result()
