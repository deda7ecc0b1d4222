"""Secrets are masked at the border: in what is printed, stored or sent, nowhere else.

A secret becomes ``[masked:kind]``, the text around it stays. Masking is total, deterministic and
linear in the text, and masks once: what is masked stays as it is.

Two things make a secret: its own shape (``ghp_...``, a private key, ``://user:...@``), and its
place (``password=...``, ``--token ...``, ``Authorization: ...``). The shapes come as data from
the compiled table (`load_patterns`); where nobody gave any they are collected when first needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

__all__ = [
    "WORDS",
    "export_patterns",
    "load_patterns",
    "mask",
    "mask_argv",
    "mask_data",
    "patterns_from",
]

# Each name of a credential holds one of these, in lower case. What knows more about names and
# values is imported for a text that has one: most have none, and start-up time counts.
WORDS = ("passw", "passphrase", "passcode", "pwd", "_pass", "-pass", "secret", "token", "key",
         "credential", "auth")  # fmt: skip
# From the beginning of such a word to the sign that gives it something: the longest word, a quote
# with its backslashes, some blanks.
_REACH = 32

# Masking one secret may uncover the next one; what still moves after this is masked by the line.
_PASSES = 4
# For one pattern on one text. None comes near it; a text that made one would be withheld whole.
_SECONDS = 10.0
_WITHHELD = "[masked:text]"
_BATCH_CHARS = 256 << 10
# White space, quotes and signs that a shape's match may hold around the token itself.
_EDGES = " \t\r\n\"'=:"


class _Shape:
    """One shape of a secret; its pattern is compiled when a text may hold it."""

    __slots__ = ("_compiled", "_source", "digit", "group", "kind", "literals", "run")

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.kind: str = data["kind"]
        self.group: int = data["group"]
        self.run: int = data["run"]
        self.digit: bool = data["digit"]
        self.literals: list[list[str]] = data["literals"]
        self._source = f"(?{data['flags']}){data['pattern']}"
        self._compiled: Any = None

    def may_stand_in(self, lowered: str) -> bool:
        """Whether a text with this lower-cased form can match; its first literals are in it."""
        return all(
            any(literal in lowered for literal in clause) for clause in self.literals[1:]
        ) and (not self.run or _run_of(self.run).search(lowered) is not None)

    def mask_in(self, text: str) -> str:
        if self._compiled is None:
            import regex

            self._compiled = regex.compile(self._source)
        return str(self._compiled.sub(self._masked, text, timeout=_SECONDS))

    def _masked(self, match: Any) -> str:
        from triage.credentials import is_placeholder

        whole: str = match[0]
        secret: str = match[self.group] or ""
        start = match.start(self.group) - match.start()
        if not self.group:
            start = len(secret) - len(secret.lstrip(_EDGES))
            secret = secret.strip(_EDGES)
        if (
            not secret
            or len(secret) < self.run
            or (self.digit and not any(char.isdigit() for char in secret))
            or is_placeholder(secret)
        ):
            return whole
        return f"{whole[:start]}[masked:{self.kind}]{whole[start + len(secret) :]}"


class _Shapes:
    """All shapes in the order in which they are applied, found by the literals they need."""

    __slots__ = ("_always", "_by_literal", "_shapes")

    def __init__(self, data: Iterable[Mapping[str, Any]]) -> None:
        self._shapes = [_Shape(item) for item in data]
        self._always: list[int] = []
        self._by_literal: dict[str, list[int]] = {}
        for number, shape in enumerate(self._shapes):
            if not shape.literals:
                self._always.append(number)
            for literal in shape.literals[0] if shape.literals else ():
                self._by_literal.setdefault(literal, []).append(number)

    def in_text(self, lowered: str) -> list[_Shape]:
        """Return the shapes that may stand in a text, given its lower-cased form."""
        numbers = set(self._always)
        for literal, some in self._by_literal.items():
            if literal in lowered:
                numbers.update(some)
        shapes = (self._shapes[number] for number in sorted(numbers))
        return [shape for shape in shapes if shape.may_stand_in(lowered)]


_shapes: _Shapes | None = None
_source: Callable[[], Iterable[Mapping[str, Any]]] | None = None


def export_patterns() -> list[dict[str, Any]]:
    """Return every shape as JSON data for the compiled table; imports detect-secrets."""
    from triage.secret_shapes import collect

    return collect()


def load_patterns(data: Iterable[Mapping[str, Any]]) -> None:
    """Use the shapes that `export_patterns` once returned."""
    global _shapes
    _shapes = _Shapes(data)


def patterns_from(source: Callable[[], Iterable[Mapping[str, Any]]]) -> None:
    """Use the shapes that `source` returns; it is asked when the first text is masked."""
    global _shapes, _source
    _shapes, _source = None, source


def mask(text: str) -> str:
    """Return `text` with its secrets as ``[masked:kind]``; the same object where it has none."""
    return _mask(text, *_candidates(text))


def mask_argv(argv: Sequence[str]) -> list[str]:
    """Mask an argument list, the argument after ``--token`` and its like too."""
    from triage.secret_places import mask_arguments

    made = mask_arguments(argv)
    return [mask(item) if new is None else new for item, new in zip(argv, made, strict=True)]


def mask_data(value: Any) -> Any:
    """Return JSON-like data with the secrets in its strings and keys masked.

    A string under a key that names a credential is one (``{"password": "x"}``), and so is `value`
    next to a `name` that does. Data without secrets is returned as it is; otherwise the result is
    a copy in which tuples are lists. Any depth.
    """
    shapes: dict[_Shape, None] = {}
    places = False
    for batch in _batches(value):
        some, placed = _candidates(batch)
        shapes.update(dict.fromkeys(some))
        places = places or placed
    return _rebuilt(value, list(shapes), places) if shapes or places else value


def _candidates(text: str) -> tuple[list[_Shape], bool]:
    """The shapes that may stand in `text`, and whether it may have secrets by their place."""
    if _shapes is None:
        load_patterns(export_patterns() if _source is None else _source())
    assert _shapes is not None
    lowered = text.lower()
    return _shapes.in_text(lowered), _may_be_given(lowered)


def _may_be_given(lowered: str) -> bool:
    """Whether a word that names credentials stands where something can be given to it.

    ``KeyError`` and ``authentication failed`` are in many texts; to look at those any closer would
    cost more than the verdict.
    """
    words = [word for word in WORDS if word in lowered]
    if not words:
        return False
    if lowered.startswith("-") or " -" in lowered or "\n-" in lowered:
        return True
    for word in words:
        at = lowered.find(word)
        while at >= 0:
            if lowered.find("=", at, at + _REACH) >= 0 or lowered.find(":", at, at + _REACH) >= 0:
                return True
            at = lowered.find(word, at + 1)
    return False


def _mask(text: str, shapes: Iterable[_Shape], places: bool) -> str:
    for _ in range(_PASSES):
        masked = _mask_once(text, shapes, places)
        if masked == text:
            return text
        text = masked
        shapes, places = _candidates(text)
    # A text made to uncover a secret with each mask: hide what still moves, line by line.
    return "\n".join(
        line if _mask_once(line, *_candidates(line)) == line else "[masked:line]"
        for line in text.split("\n")
    )


def _mask_once(text: str, shapes: Iterable[_Shape], places: bool) -> str:
    try:
        for shape in shapes:
            text = shape.mask_in(text)
        if not places:
            return text
        from triage.secret_places import mask_places

        return mask_places(text)
    except TimeoutError:
        return _WITHHELD


def _batches(value: Any) -> Iterator[str]:
    """Every string of the data, joined to texts of moderate size; a name has a colon after it."""
    todo = [value]
    batch: list[str] = []
    size = 0
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            batch.append(item)
            size += len(item)
            if size > _BATCH_CHARS:
                yield "\n".join(batch)
                batch, size = [], 0
        elif isinstance(item, Mapping):
            todo.extend(item.values())
            names = (*item, item.get("name"), item.get("key"))
            todo.extend(f"{name}:" for name in names if isinstance(name, str))
        elif isinstance(item, (list, tuple)):
            todo.extend(item)
    yield "\n".join(batch)


def _rebuilt(value: Any, shapes: Sequence[_Shape], places: bool) -> Any:
    """Copy the data with every string masked; `name` is what a string is given to."""
    from triage.secret_places import mask_arguments, mask_value

    root: list[Any] = [None]
    todo: list[tuple[Any, Any, Any, str]] = [(root, 0, value, "")]

    def masked(text: str, by_place: str | None) -> str:
        if by_place is not None:
            return by_place
        lowered = text.lower()
        some = [
            shape
            for shape in shapes
            if all(any(one in lowered for one in clause) for clause in shape.literals[:1])
        ]
        return _mask(text, some, places)

    while todo:
        target, place, item, name = todo.pop()
        if isinstance(item, str):
            target[place] = masked(item, mask_value(name, item) if name else None)
        elif isinstance(item, Mapping):
            made: dict[Any, Any] = {}
            target[place] = made
            title = item.get("name", item.get("key"))
            for key, part in item.items():
                shown = masked(key, None) if isinstance(key, str) else key
                while shown in made:
                    shown = f"{shown}'"
                made[shown] = None
                given_to = title if key == "value" and isinstance(title, str) else key
                todo.append((made, shown, part, given_to if isinstance(given_to, str) else ""))
        elif isinstance(item, (list, tuple)):
            copy: list[Any] = [None] * len(item)
            target[place] = copy
            if all(isinstance(part, str) for part in item):
                copy[:] = map(masked, item, mask_arguments(item))
            else:
                todo.extend((copy, index, part, "") for index, part in enumerate(item))
        else:
            target[place] = item
    return root[0]


def _run_of(length: int) -> re.Pattern[str]:
    return re.compile(f"[a-z0-9_-]{{{length}}}")
