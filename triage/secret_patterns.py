"""Shapes of secrets and command forms, as the compiled table has them; found by their literals.

A pattern is compiled when a text may hold what it finds: most texts hold no secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.secret_commands import Form

__all__ = ["SECONDS", "SIGNS", "Change", "Commands", "Patterns", "Shape", "may_hide"]

# From and to in a text, and what is to stand there.
Change = tuple[int, int, str]

# For one pattern on one text. None comes near it; a text that made one would be withheld whole.
SECONDS = 10.0
# What a program's name may have around it.
_AROUND = str.maketrans(dict.fromkeys("\"'`[](){},;|&<>\\/", " "))
# Controls, and characters without a width.
SIGNS = (
    "\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\ud800-\udfff\ufdd0\ufdd1\ufe00-\ufe0f\ufeff\ufff9-\ufffd"
    "\U000e0000-\U000e007f"
)
_MAY_HIDE = rf"[{SIGNS}]|\\(?:u(?:00|20|[fF][eE])|x1[bB]|033\[|e\[)"
# White space, quotes and signs that a shape's match may hold around the token itself.
_EDGES = " \t\r\n\"'=:"


class Shape:
    """One shape of a secret.

    `token` says that it is one by itself, so that it is recognized in two pieces too.
    """

    __slots__ = ("_base64_of", "_compiled", "_digit", "_group", "_source", "kind", "literals",
                 "run", "token")  # fmt: skip

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.kind: str = data["kind"]
        self.run: int = data["run"]
        self.literals: list[list[str]] = data["literals"]
        self.token: bool = data["token"]
        self._group: int = data["group"]
        self._digit: bool = data["digit"]
        self._base64_of: str = data["base64_of"]
        self._source = f"(?{data['flags']}){data['pattern']}"
        self._compiled: Any = None

    def may_stand_in(self, lowered: str) -> bool:
        """Whether a text with this lower-cased form can match; its first literals are in it."""
        return all(
            any(literal in lowered for literal in clause) for clause in self.literals[1:]
        ) and (not self.run or re.search(f"[a-z0-9_-]{{{self.run}}}", lowered) is not None)

    def find(self, text: str) -> Iterator[Change]:
        """Yield the secrets of this shape, the first first; raises TimeoutError, never yet."""
        changes = [self._change(match) for match in self._matches(text)]
        return iter(sorted(change for change in changes if change is not None))

    def holds(self, text: str) -> bool:
        """Whether a secret of this shape stands in `text`."""
        return any(self._change(match) is not None for match in self._matches(text))

    def _matches(self, text: str) -> Iterator[Any]:
        if self._compiled is None:
            import regex

            self._compiled = regex.compile(self._source)
        matches: Iterator[Any] = self._compiled.finditer(text, timeout=SECONDS)
        return matches

    def _change(self, match: Any) -> Change | None:
        from triage.credentials import is_placeholder

        secret: str = match[self._group] or ""
        start = match.start(self._group)
        if not self._group:
            start += len(secret) - len(secret.lstrip(_EDGES))
            secret = secret.strip(_EDGES[:-2]).lstrip(_EDGES)
        if (
            not secret
            or len(secret) < self.run
            or (self._digit and not any(char.isdigit() for char in secret))
            or (self._base64_of and self._base64_of not in _decoded(secret))
            or is_placeholder(secret)
        ):
            return None
        return start, start + len(secret), f"[masked:{self.kind}]"


class Commands:
    """All forms by the program's name."""

    __slots__ = ("_by_name", "_data", "names")

    def __init__(self, data: Iterable[Mapping[str, Any]]) -> None:
        self._data: dict[str, list[Mapping[str, Any]]] = {}
        for item in data:
            for name in item["run"]:
                self._data.setdefault(name, []).append(item)
        self.names = frozenset(self._data)
        self._by_name: dict[str, list[Form]] = {}

    def may_stand_in(self, lowered: str) -> bool:
        """Whether a text with this lower-cased form names a program, and the rest of a form."""
        found = self.names.intersection(lowered.translate(_AROUND).split())
        return any(_may_apply(item, lowered) for name in found for item in self._data[name])

    def forms(self, name: str) -> Sequence[Form]:
        found = self._by_name.get(name)
        if found is None:
            from triage.secret_commands import Form

            found = self._by_name[name] = [Form(item) for item in self._data.get(name, ())]
        return found


class Patterns:
    """All shapes in the order in which they are applied, and all command forms."""

    __slots__ = ("_always", "_by_literal", "_shapes", "commands")

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._shapes = [Shape(item) for item in data["shapes"]]
        self.commands = Commands(data["commands"])
        self._always: list[int] = []
        self._by_literal: dict[str, list[int]] = {}
        for number, shape in enumerate(self._shapes):
            if not shape.literals:
                self._always.append(number)
            for literal in shape.literals[0] if shape.literals else ():
                self._by_literal.setdefault(literal, []).append(number)

    def near(self, lowered: str) -> list[Shape]:
        """Return the shapes of whose literals a text has the first, given its lower-cased form."""
        numbers = set(self._always)
        for literal, some in self._by_literal.items():
            if literal in lowered:
                numbers.update(some)
        return [self._shapes[number] for number in sorted(numbers)]


def may_hide(text: str) -> bool:
    """Whether something in `text` is not shown by a terminal, or written as an escape."""
    return re.search(_MAY_HIDE, text) is not None


def _may_apply(item: Mapping[str, Any], lowered: str) -> bool:
    """Whether the words and options of a form may stand in a text, each anywhere."""
    for word in item.get("then", ()):
        if max(word.split("*"), key=len).lower() not in lowered:
            return False
    if "flags" in item or not item.keys().isdisjoint(("argument", "named", "pairs")):
        return True
    options = [*item.get("secret", ()), *item.get("attached", ())]
    options += (option for some in item.get("after", {}).values() for option in some)
    stdin = item.get("stdin", ())
    return stdin == "always" or any(word.lower() in lowered for word in (*options, *stdin))


def _decoded(secret: str) -> str:
    from base64 import b64decode

    try:
        return b64decode(secret, validate=True).decode("latin-1")
    except ValueError:
        return ""
