"""Shapes of secrets and command forms, as the compiled table has them; found by their literals.

A pattern is compiled when a text may hold what it finds: most texts hold no secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from triage.secret_commands import Commands

__all__ = ["SECONDS", "Change", "Patterns", "Shape"]

# From and to in a text, and what is to stand there.
Change = tuple[int, int, str]

# For one pattern on one text. None comes near it; a text that made one would be withheld whole.
SECONDS = 10.0
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


def _decoded(secret: str) -> str:
    from base64 import b64decode

    try:
        return b64decode(secret, validate=True).decode("latin-1")
    except ValueError:
        return ""
