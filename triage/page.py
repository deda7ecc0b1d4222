"""Reading an HTML page: what it refers to, what it shows, what could become content.

A page is read as a browser without scripts would lay it out: what stands in `noscript`,
`template`, `hidden` or ``display: none`` is not seen, though a script may turn it into content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Page", "Reference", "Script", "is_javascript", "page_from_data", "read_page"]

# Nothing of these is laid out, whatever stands in them.
_UNSEEN = frozenset(
    (
        "head", "script", "style", "x-noscript", "template", "title", "meta", "link", "base",
        "param", "source", "track", "datalist", "noembed", "noframes", "area", "rp", "col",
        "colgroup",
    )
)  # fmt: skip
# Seen without any text of their own; what they need to be seen is in `_shows`.
_REPLACED = frozenset(
    (
        "img", "svg", "video", "audio", "iframe", "frame", "object", "embed", "input", "button",
        "textarea", "select", "progress", "meter", "math", "picture",
    )
)  # fmt: skip
_NO_MOUNT = _UNSEEN | {"br", "wbr", "hr", "html", "body", "frameset"}
_INVISIBLE = re.compile(
    r"(?:^|[;{\s])(?:display\s{0,5}:\s{0,5}none|visibility\s{0,5}:\s{0,5}hidden)", re.IGNORECASE
)
# White space, and what takes no room: zero-width characters, marks, variation selectors.
_NO_INK = re.compile("[\\s\x00-\x20\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e"
                     "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff"
                     "\uffa0\ufff9-\ufffb]+")  # fmt: skip
# The essences that the HTML standard lists as JavaScript.
_JAVASCRIPT = re.compile(
    r"(?:application|text)/(?:x-)?(?:ecma|java)script|text/(?:javascript1\.[0-5]|jscript|livescript)"
)
_DOCTYPE = re.compile(
    r"[\s\ufeff]{0,200}(?:<!--[^>]{0,2000}>\s{0,200}){0,5}<!doctype\s{1,9}html", re.I
)
_REFRESH = re.compile(r"\s*(\d{1,4})[\d.]*\s*[;,\s]\s*(?:url\s*=\s*)?[\"']?([^\"'\s][^\"']*)", re.I)
# The parser reads pages as if without scripts, where text in the head's `noscript` starts the body.
_NOSCRIPT = re.compile(r"<(/?)noscript(?=[\s/>])", re.IGNORECASE)
# A declarative shadow root is laid out although it is written as a template.
_SHADOW = re.compile(r"<template(?=[^>]{0,400}\sshadowrootmode\s{0,5}=)", re.IGNORECASE)
_TEXT_CHARS = 4000
_MOST_REFERENCES = 5000


@dataclass(frozen=True, slots=True)
class Reference:
    """One thing the page refers to.

    `kind` is script, module, stylesheet, icon, preload or modulepreload; `destination` is the
    ``as`` of a preload.
    """

    kind: str
    href: str
    destination: str = ""


@dataclass(frozen=True, slots=True)
class Script:
    """One inline script that runs: its source, and whether it is a module."""

    source: str
    module: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What was read of a page.

    `text` is the start of what is seen, `seen` names the first thing that is seen (``text`` or an
    element), `mount` the first element that a script could fill. `data` holds the scripts that
    are data, `matched` the selectors asked for that some element matches. `more` says that there
    are more references than are kept.
    """

    base: str | None = None
    references: tuple[Reference, ...] = ()
    scripts: tuple[Script, ...] = ()
    data: tuple[str, ...] = ()
    import_maps: tuple[str, ...] = ()
    refresh: str | None = None
    text: str = ""
    seen: str | None = None
    mount: str | None = None
    standards: bool = True
    matched: tuple[str, ...] = ()
    more: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that `page_from_data` takes back."""
        return asdict(self)


def is_javascript(media_type: str) -> bool:
    """Whether a media type in lower case, without parameters, is one of JavaScript."""
    return _JAVASCRIPT.fullmatch(media_type) is not None


def page_from_data(data: Mapping[str, Any]) -> Page:
    """Build a page from what `Page.to_dict` gave, through JSON or not."""
    fields = dict(data)
    fields["references"] = tuple(Reference(**item) for item in data["references"])
    fields["scripts"] = tuple(Script(**item) for item in data["scripts"])
    for name in ("data", "import_maps", "matched"):
        fields[name] = tuple(data[name])
    return Page(**fields)


def read_page(html: str, selectors: Sequence[str] = ()) -> Page:
    """Read a page in this process.

    The parser's time and memory are not bounded by the size of a hostile page; see
    `triage.page_apart`.
    """
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(_SHADOW.sub("<x-shadow", _NOSCRIPT.sub(r"<\1x-noscript", html)))
    reading = _Reading()
    root = tree.root
    if root is not None:
        for node, hidden, in_body in _nodes(root):
            reading.take(node, hidden, in_body)
    matched = tuple(selector for selector in selectors if tree.css_first(selector) is not None)
    return reading.page(_DOCTYPE.match(html) is not None, matched)


def _nodes(root: Any) -> Iterator[tuple[Any, bool, bool]]:
    """Every node in document order, with whether it is hidden and whether it is in the body."""
    todo: list[tuple[Any, bool, bool]] = [(root, False, False)]
    top = True
    while todo:
        node, hidden, in_body = todo.pop()
        yield node, hidden, in_body
        if not top and node.next is not None:
            todo.append((node.next, hidden, in_body))
        top = False
        tag = node.tag
        # Links and scripts in these are not what a browser with scripts loads.
        if node.child is not None and tag not in ("x-noscript", "template", "svg", "math"):
            inside = in_body or tag in ("body", "frameset")
            todo.append((node.child, hidden or _hides(node), inside))


def _hides(node: Any) -> bool:
    tag = node.tag
    if tag in _UNSEEN:
        return True
    if tag.startswith("-"):
        return False
    attributes = node.attributes
    return (
        "hidden" in attributes
        or _INVISIBLE.search(attributes.get("style") or "") is not None
        or (tag == "dialog" and "open" not in attributes)
    )


class _Reading:
    def __init__(self) -> None:
        self.base: str | None = None
        self.references: list[Reference] = []
        self.scripts: list[Script] = []
        self.data: list[str] = []
        self.import_maps: list[str] = []
        self.refresh: str | None = None
        self.texts: list[str] = []
        self.size = 0
        self.seen: str | None = None
        self.mount: str | None = None
        self.more = False

    def page(self, standards: bool, matched: tuple[str, ...]) -> Page:
        return Page(
            base=self.base,
            references=tuple(self.references),
            scripts=tuple(self.scripts),
            data=tuple(self.data),
            import_maps=tuple(self.import_maps),
            refresh=self.refresh,
            text=" ".join(" ".join(self.texts).split())[:_TEXT_CHARS],
            seen=self.seen,
            mount=self.mount,
            standards=standards,
            matched=matched,
            more=self.more,
        )

    def take(self, node: Any, hidden: bool, in_body: bool) -> None:
        tag: str = node.tag
        if tag == "-text":
            if not hidden and in_body:
                self._text(node.text(deep=False))
            return
        if tag.startswith("-"):
            return
        attributes = node.attributes
        if in_body:
            self._element(tag, node, attributes, hidden)
        if tag == "script":
            self._script(node, attributes)
        elif tag == "link":
            self._link(attributes)
        elif tag == "base" and self.base is None:
            self.base = attributes.get("href")
        elif tag == "meta" and (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            match = _REFRESH.match(attributes.get("content") or "")
            self.refresh = self.refresh or (match[2].strip() if match else None)

    def _text(self, text: str) -> None:
        if not _NO_INK.sub("", text[:_TEXT_CHARS]) and not _NO_INK.sub("", text):
            return
        if self.seen is None:
            self.seen = "text"
        if self.size < _TEXT_CHARS:
            self.texts.append(text[: 4 * _TEXT_CHARS])
            self.size += len(text)

    def _element(
        self, tag: str, node: Any, attributes: Mapping[str, str | None], hidden: bool
    ) -> None:
        if self.mount is None and tag not in _NO_MOUNT:
            name = attributes.get("id")
            self.mount = f"{tag}#{name[:60]}" if name else tag
        shown = tag in _REPLACED and not hidden and _shows(tag, node, attributes)
        if shown and self.seen is None and not _hides(node):
            self.seen = tag

    def _script(self, node: Any, attributes: Mapping[str, str | None]) -> None:
        kind = (attributes.get("type") or "").strip().lower()
        language = attributes.get("language")
        if kind == "" and language and "type" not in attributes:
            kind = f"text/{language.lower()}"
        module = kind == "module"
        if kind == "importmap":
            self.import_maps.append(node.text(deep=True))
        elif not (module or kind == "" or is_javascript(kind)):
            self.data.append(node.text(deep=True))
        elif module or "nomodule" not in attributes:
            source = attributes.get("src")
            if "src" not in attributes:
                self.scripts.append(Script(node.text(deep=True), module))
            elif source:
                self._refer(Reference("module" if module else "script", source))

    def _link(self, attributes: Mapping[str, str | None]) -> None:
        href = attributes.get("href")
        words = (attributes.get("rel") or "").lower().split()
        if not href or "disabled" in attributes:
            return
        if "stylesheet" in words:
            self._refer(Reference("stylesheet", href))
        elif "modulepreload" in words:
            self._refer(Reference("modulepreload", href))
        elif "preload" in words:
            self._refer(Reference("preload", href, (attributes.get("as") or "").lower()))
        elif any(word == "icon" or word.endswith("-icon") for word in words) or (
            words and words[0].startswith("apple-touch-icon")
        ):
            self._refer(Reference("icon", href))

    def _refer(self, reference: Reference) -> None:
        if len(self.references) < _MOST_REFERENCES:
            self.references.append(reference)
        else:
            self.more = True


def _shows(tag: str, node: Any, attributes: Mapping[str, str | None]) -> bool:
    """Whether a replaced element shows something by itself."""
    if tag in ("img", "embed", "iframe", "frame"):
        return bool(attributes.get("src") or attributes.get("srcset") or attributes.get("srcdoc"))
    if tag == "object":
        return bool(attributes.get("data"))
    if tag == "video":
        return node.child is not None or bool(attributes.get("src") or attributes.get("poster"))
    if tag == "audio":
        return "controls" in attributes
    if tag == "input":
        return (attributes.get("type") or "").lower() != "hidden"
    if tag in ("svg", "math"):
        return _draws(node)
    return tag != "picture"


def _draws(svg: Any) -> bool:
    """Whether a drawing has more in it than definitions (a sprite of symbols shows nothing)."""
    child = svg.child
    while child is not None:
        tag = child.tag
        if tag not in ("defs", "symbol", "style", "title", "desc", "metadata", "script") and not (
            tag.startswith("-") and not _NO_INK.sub("", child.text(deep=False) or "")
        ):
            return True
        child = child.next
    return False
