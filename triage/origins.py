"""Origins and links: what a page's URL names, and whether it stays where the probe may go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from triage.errors import UsageError

__all__ = ["Link", "Origin", "normalized", "origin_of", "parse_origin", "parse_target", "resolve"]

_PORTS = {"http": 80, "https": 443}
_LONGEST_URL = 8192
# What a URL parser drops: tabs and line ends anywhere, controls and blanks around.
_DROPPED = str.maketrans("", "", "\t\r\n")
_AROUND = "".join(map(chr, range(33)))

# Scheme, host in ASCII, port.
Origin = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Link:
    """A reference made absolute: `url` to fetch, or why there is nothing to fetch.

    `skip` is None for what is to be fetched, else `inline` (data:, blob:), `socket`, `fragment`,
    `other_origin`, `scheme` (a browser refuses it) or `bad_url`.
    """

    url: str
    skip: str | None = None


def parse_target(url: str) -> tuple[str, Origin, tuple[str, str] | None]:
    """Return the URL to probe without its user and fragment, its origin, and its user.

    Raises `UsageError` for anything but an http or https URL with a host.
    """
    parsed = _parsed(url)
    if parsed is None or parsed.scheme not in _PORTS or not parsed.host:
        shown = url if len(url) <= 80 else url[:77] + "..."
        raise UsageError("URL", f"{shown!r} is no http(s) URL", "write http://127.0.0.1:5173/")
    user = (parsed.username, parsed.password) if parsed.username or parsed.password else None
    return _clean(parsed), origin_of(parsed), user


def parse_origin(text: str) -> Origin:
    """Return an origin given as ``http://host:port``; raises `UsageError` for more or less."""
    parsed = _parsed(text)
    if (
        parsed is None
        or parsed.scheme not in _PORTS
        or not parsed.host
        or parsed.raw_path not in (b"", b"/")
        or parsed.userinfo
        or parsed.fragment
    ):
        raise UsageError(
            "--allow-origin", f"{text[:80]!r} is no origin", "write http://localhost:5174"
        )
    return origin_of(parsed)


def origin_of(url: Any) -> Origin:
    """Return the origin of a parsed URL."""
    host: str = url.raw_host.decode("ascii", "replace").lower().rstrip(".")
    return url.scheme, host, url.port or _PORTS.get(url.scheme, 0)


def resolve(href: str, base: str, origins: Iterable[Origin]) -> Link:
    """Make `href` absolute as a browser does, and say whether it may be fetched."""
    from urllib.parse import urljoin

    text = normalized(href)
    name = _scheme(text)
    if name in ("data", "blob", "about", "javascript"):
        return Link(text[:40], "inline")
    if name in ("ws", "wss"):
        return Link(text[:200], "socket")
    if not text or text.startswith("#"):
        return Link(text[:40], "fragment")
    if len(text) > _LONGEST_URL:
        return Link(text[:200], "bad_url")
    try:
        joined = urljoin(base, text)
    except ValueError:
        return Link(text[:200], "bad_url")
    parsed = _parsed(joined)
    if parsed is None:
        return Link(text[:200], "bad_url")
    if parsed.scheme not in _PORTS:
        return Link(text[:200], "scheme")
    if not parsed.host:
        return Link(text[:200], "bad_url")
    url = _clean(parsed)
    return Link(url, None if origin_of(parsed) in origins else "other_origin")


def normalized(href: str) -> str:
    """Return a reference without what browsers drop, its backslashes turned as they turn them.

    Both matter for where it leads: ``\\\\host`` and ``/<tab>/host`` leave the origin.
    """
    text = href.strip(_AROUND).translate(_DROPPED)
    if _scheme(text) not in ("", *_PORTS):
        return text
    path, mark, query = text.partition("?")
    return path.replace("\\", "/") + mark + query


def _scheme(text: str) -> str:
    scheme, colon, _ = text.partition(":")
    return scheme.lower() if colon and scheme.isascii() and scheme[:1].isalpha() else ""


def _clean(parsed: Any) -> str:
    return str(parsed.copy_with(fragment=None, userinfo=b""))


def _parsed(url: str) -> Any:
    """The URL as the client will read it; None where it can't, so that no two readings differ."""
    import httpx

    try:
        parsed = httpx.URL(url.strip(_AROUND).translate(_DROPPED))
        str(parsed)
        origin_of(parsed)
    except (httpx.InvalidURL, ValueError, TypeError):
        return None
    return parsed if (parsed.port or 0) < 1 << 16 else None
