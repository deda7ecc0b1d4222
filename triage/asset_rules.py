"""Whether an answer is what a browser accepts for a script, a module, a stylesheet, an icon …"""

from __future__ import annotations

import re

from triage.error_pages import message_in
from triage.page import is_javascript
from triage.page_text import decoded
from triage.probe_client import Fetched

__all__ = ["HTML_TYPES", "asset_fault"]

HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
_NEVER_SCRIPT = re.compile(r"(?:image|audio|video)/|text/csv\Z")
_JSON = re.compile(r"(?:application|text)/(?:[a-z0-9.-]{1,60}\+)?json")
_HTML_START = re.compile(
    rb"[\s\xef\xbb\xbf]{0,200}<(?:!doctype|html|head|body|!--|script|meta)", re.I
)
# What these preloads fetch is never a page.
_NO_PAGE = frozenset(("script", "style", "font", "image", "audio", "video", "track", "worker"))


def asset_fault(
    kind: str, fetched: Fetched, *, destination: str = "", standards: bool = True
) -> tuple[str, str] | None:
    """Return (reason, detail) why the answer is of no use as this `kind`, None where it is.

    `kind` is a `Reference.kind`, ``json`` or ``css`` (a module with that type). `standards` is
    whether the page is in standards mode, where stylesheets of a wrong type are refused.
    """
    if fetched.problem is not None:
        return fetched.problem, fetched.detail
    if not fetched.ok:
        return "status", message_in(decoded(fetched)) or f"HTTP {fetched.status}"
    served = fetched.content_type
    if kind == "preload":
        kind = {"script": "script", "style": "stylesheet"}.get(destination, kind)
    if served in HTML_TYPES and _is_wrong_page(kind, destination, fetched):
        return "content_type", f"HTML is served where {_wanted(kind, destination)} is wanted"
    if kind in ("module", "modulepreload"):
        wrong = not is_javascript(served) and served != "application/wasm"
    elif kind == "script":
        wrong = _NEVER_SCRIPT.match(served) is not None or (
            fetched.nosniff and not is_javascript(served)
        )
    elif kind == "json":
        wrong = not _JSON.fullmatch(served)
    elif kind in ("stylesheet", "css"):
        strict = kind == "css" or standards or fetched.nosniff
        wrong = strict and served not in ("text/css", "")
    else:
        wrong = False
    if wrong:
        shown = repr(served) if served else "no type"
        return "content_type", f"a browser refuses {_wanted(kind, destination)} served as {shown}"
    return None


def _is_wrong_page(kind: str, destination: str, fetched: Fetched) -> bool:
    if kind == "preload":
        return destination in _NO_PAGE
    # A classic script of a wrong type runs all the same, unless it is really a page.
    return kind != "script" or fetched.nosniff or _HTML_START.match(fetched.body) is not None


def _wanted(kind: str, destination: str) -> str:
    names = {
        "script": "a script", "module": "a module", "modulepreload": "a module",
        "stylesheet": "a stylesheet", "css": "a stylesheet", "json": "JSON", "icon": "an icon",
    }  # fmt: skip
    return names.get(kind) or f"a preload ({destination or 'no as='})"
