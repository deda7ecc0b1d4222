"""Telling a dev server's error page, a bundler's broken script and a dev client from a real page.

The signs are data: rules/preview.yaml.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from triage.escapes import strip_escapes
from triage.page import Page, read_page

__all__ = ["ErrorPage", "PreviewRules", "message_in", "preview_rules"]

_MESSAGE_CHARS = 400
_BODY_CHARS = 64 << 10
# The size up to which a hostile page does no harm to the parser (see `triage.page_apart`).
_PAGE_CHARS = 8 << 10


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """A known error page or broken script: the rule's id, whose it is, and what it says."""

    rule: str
    tool: str
    message: str


class PreviewRules:
    """rules/preview.yaml, its patterns compiled."""

    def __init__(self, data: dict[str, Any]) -> None:
        clients = data["dev_clients"]
        self._client_urls = _any_of(clients["urls"])
        self._client_inline = _any_of(clients["inline"])
        self._draws = _any_of(data["draws"])
        self._pages = data["error_pages"]
        self._messages = [re.compile(pattern, re.S) for pattern in data["messages"]]
        self._broken = [
            (item, re.compile(item["pattern"], re.M)) for item in data["broken_scripts"]
        ]
        self.selectors = tuple(
            selector for item in self._pages for selector in item.get("elements", ())
        )

    def is_dev_client(self, path: str) -> bool:
        """Whether a script at this path (with its query) is the dev server's and not the page's."""
        return self._client_urls.search(path) is not None

    def is_dev_snippet(self, source: str) -> bool:
        """Whether an inline script is the dev server's."""
        return self._client_inline.search(source) is not None

    def draws(self, source: str) -> bool:
        """Whether a script touches the document, so that it may fill a page without elements."""
        return self._draws.search(source) is not None

    def error_page(self, page: Page, html: str) -> ErrorPage | None:
        """Return the first known error page that `page` is; `html` is its source."""
        scripts = [*(script.source for script in page.scripts), *page.data]
        for item in self._pages:
            if not any(True for _ in _signs(item, page, scripts)):
                continue
            unless = item.get("unless")
            if unless is None or re.search(unless, html) is None:
                return ErrorPage(item["id"], item["tool"], message_in(html))
        return None

    def embedded_message(self, body: str) -> str | None:
        """Return the error that a dev server's error page carries for its overlay."""
        match = next(filter(None, (pattern.search(body) for pattern in self._messages)), None)
        if match is None:
            return None
        try:
            return str(json.loads(f'"{match[1]}"'))
        except ValueError:
            return match[1]

    def broken_script(self, source: str) -> ErrorPage | None:
        """Return what a bundler says about itself in a script that only throws."""
        for item, pattern in self._broken:
            match = pattern.search(source)
            if match is not None:
                return ErrorPage(item["id"], item["tool"], _tidy(match[1]))
        return None


def _signs(item: dict[str, Any], page: Page, scripts: list[str]) -> Iterator[str]:
    yield from (selector for selector in item.get("elements", ()) if selector in page.matched)
    for pattern in item.get("scripts", ()):
        compiled = re.compile(pattern, re.M | re.S)
        yield from (pattern for source in scripts if compiled.search(source))
    yield from (pattern for pattern in item.get("text", ()) if re.search(pattern, page.text, re.M))


def message_in(body: str) -> str:
    """Return the error that the body of an answer tells, at most 400 characters, "" for none.

    A JSON object's `message` or `error`, the error inside a dev server's error page, else what
    the page shows, or the first line of a text.
    """
    body = body[:_BODY_CHARS]
    found = _json_message(body) or preview_rules().embedded_message(body)
    if found is None:
        found = read_page(body[:_PAGE_CHARS]).text if "<" in body else body
    return _tidy(found)


def _json_message(body: str) -> str | None:
    if body.lstrip()[:1] != "{":
        return None
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    for key in ("message", "error"):
        value = data.get(key)
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, str) and value.strip():
            return value
    return None


def _tidy(text: str) -> str:
    lines = [line for line in strip_escapes(text[:8000]).splitlines() if line.strip()]
    # "Module build failed (from loader):" says nothing without what follows.
    first = "\n".join(lines[: 2 if lines and lines[0].rstrip().endswith(":") else 1])
    shown = " ".join("".join(c if c.isprintable() else " " for c in first).split())
    return shown if len(shown) <= _MESSAGE_CHARS else shown[: _MESSAGE_CHARS - 1] + "…"


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.M)


@cache
def preview_rules() -> PreviewRules:
    """Load rules/preview.yaml once; raises `RuleError` where it is no YAML."""
    from pathlib import Path

    from triage.rules_folder import builtin_rules
    from triage.yaml_source import load_yaml

    path = Path(builtin_rules()) / "preview.yaml"
    return PreviewRules(load_yaml(str(path), path.read_text("utf-8")).data)
