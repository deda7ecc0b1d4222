"""Secrets are masked at the border: in what is printed, stored or sent, nowhere else.

A secret becomes ``[masked:kind]``, the text around it stays. Masking is total, deterministic and
linear in the text, and masks once: what is masked stays as it is.

Two things make a secret: its own shape (``ghp_...``, a private key, ``://user:...@``), and its
place (``password=...``, ``--token ...``, ``Authorization: ...``, ``curl -u ...``). What is known of
both comes as data from the compiled table (`load_patterns`); where nobody gave any, from the
built-in one. A secret may be split by what a terminal does not show, or by a line's end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from triage.credentials import FOREIGN_WORDS, WORDS
from triage.secret_patterns import Change, Patterns, may_hide

__all__ = [
    "export_patterns",
    "load_patterns",
    "mask",
    "mask_argv",
    "mask_data",
    "mask_piece",
    "patterns_from",
]

# From the beginning of a name's word to the sign that gives it something: the longest word, a quote
# with its backslashes, some blanks.
_REACH = 32

# Masking one secret may uncover the next one; what still moves after this is masked by the line.
_PASSES = 4
_MASKED = r"\[masked:[a-z0-9-]{1,40}\]"
_WITHHELD = "[masked:text]"
_BATCH_CHARS = 256 << 10


class _Plan:
    """What has to be looked for in a text."""

    __slots__ = ("commands", "cut", "near", "places", "shapes")

    def __init__(self, text: str, patterns: Patterns) -> None:
        lowered = text.lower()
        near = patterns.near(lowered)
        tokens = [shape for shape in near if shape.token]
        self.shapes = [shape for shape in near if shape.may_stand_in(lowered)]
        # Tokens that may go on in the next line, and what the text's end left of one.
        self.near = tokens if "\n" in text or "\\n" in text else []
        self.cut: list[Change] = []
        if tokens:
            from triage.secret_splits import cut_off

            self.cut = cut_off(text, tokens)
        if "[masked:" in lowered:
            lowered = re.sub(_MASKED, "", lowered)
        self.places = _may_be_given(lowered)
        self.commands = patterns.commands.may_stand_in(lowered)

    def __bool__(self) -> bool:
        return bool(self.shapes or self.near or self.cut) or self.places or self.commands


_patterns: Patterns | None = None
_source: Callable[[], Mapping[str, Any]] | None = None


def export_patterns(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what rules/secrets.yaml and detect-secrets know, as data for the compiled table."""
    from triage.secret_shapes import collect

    return {"shapes": collect(data), "commands": list(data.get("commands", ()))}


def load_patterns(data: Mapping[str, Any]) -> None:
    """Use what `export_patterns` once returned."""
    global _patterns
    _patterns = Patterns(data)


def patterns_from(source: Callable[[], Mapping[str, Any]]) -> None:
    """Use what `source` returns; it is asked when the first text is masked."""
    global _patterns, _source
    _patterns, _source = None, source


def mask(text: str) -> str:
    """Return `text` with its secrets as ``[masked:kind]``; the same object where it has none."""
    shown = _shown(text)
    plan = _plan(shown)
    # What is taken out may hold something as well: an address, say.
    raw = None if shown is text else _plan(text)
    return _mask(text, plan, raw) if plan or raw else text


def mask_piece(before: str, text: str, after: str) -> str:
    """Return `text` masked as a part of ``before + text + after``: as the rest of a secret, say."""
    if not _may_hold_some(before + text + after):
        return text
    from triage.secret_splits import BEGIN, END

    parts = (part.replace(BEGIN, "").replace(END, "") for part in (before, text, after))
    before, text, after = parts
    whole = mask(f"{before}{BEGIN}{text}{END}{after}")
    found = whole.partition(BEGIN)[2].partition(END)
    return found[0] if found[1] else _WITHHELD


def mask_argv(argv: Sequence[str]) -> list[str]:
    """Mask an argument list, the argument after ``--token`` and its like too."""
    from triage.secret_places import mask_arguments

    made = mask_arguments(argv, _loaded().commands)
    return [mask(item) if new is None else new for item, new in zip(argv, made, strict=True)]


def mask_data(value: Any) -> Any:
    """Return JSON-like data with the secrets in its strings and keys masked.

    A string under a key that names a credential is one (``{"password": "x"}``), and so is `value`
    next to a `name` that does. Data without secrets is returned as it is; otherwise the result is
    a copy in which tuples are lists. Any depth.
    """
    return _rebuilt(value) if any(map(_may_hold_some, _batches(value))) else value


def _may_hold_some(text: str) -> bool:
    shown = _shown(text)
    return bool(_plan(shown)) or (shown is not text and bool(_plan(text)))


def _shown(text: str) -> str:
    """`text` as a terminal shows it; the same object where it hides nothing."""
    if not may_hide(text):
        return text
    from triage.secret_splits import Apart

    return Apart(text).text


def _loaded() -> Patterns:
    if _patterns is None:
        if _source is None:
            from triage.cache import load_table

            load_patterns(load_table().section("secrets"))
        else:
            load_patterns(_source())
    assert _patterns is not None
    return _patterns


def _plan(text: str) -> _Plan:
    return _Plan(text, _loaded())


def _may_be_given(lowered: str) -> bool:
    """Whether a word that names credentials stands where something can be given to it.

    ``KeyError`` and ``authentication failed`` are in many texts; to look at those any closer would
    cost more than the verdict.
    """
    words = [word for word in WORDS if word in lowered]
    if not lowered.isascii() or any(word in lowered for word in FOREIGN_WORDS):
        lowered = lowered.replace("\uff1a", ":").replace("\uff1d", "=")
        words += [word for word in FOREIGN_WORDS if word in lowered]
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


def _mask(text: str, plan: _Plan, raw: _Plan | None) -> str:
    for _ in range(_PASSES):
        masked = _mask_once(text, plan, raw)
        if masked == text:
            return text
        text = masked
        plan, raw = _plan(_shown(text)), None if raw is None else _plan(text)
    # A text made to uncover a secret with each mask: hide what still moves, line by line.
    text = "\n".join(
        line if _masked_line(line) == line else "[masked:line]" for line in text.split("\n")
    )
    plan = _plan(_shown(text))
    return text if _mask_once(text, plan, _plan(text)) == text else _WITHHELD


def _masked_line(line: str) -> str:
    return _mask_once(line, _plan(_shown(line)), _plan(line))


def _mask_once(text: str, plan: _Plan, raw: _Plan | None) -> str:
    from triage.secret_splits import Apart, wrapped

    try:
        apart = Apart(text)
        apart.change(plan.cut)
        if plan.near:
            apart.change(wrapped(apart.text, plan.near))
        for changes in _finders(plan):
            apart.change(changes(apart.text))
        text = apart.together()
        if raw is not None:
            shown = Apart("")
            shown.text = text
            for changes in _finders(raw):
                shown.change(changes(shown.text))
            text = shown.text
    except TimeoutError:
        return _WITHHELD
    return text


def _finders(plan: _Plan) -> Iterator[Callable[[str], Iterable[Change]]]:
    """What finds the secrets of a plan, in the order in which it is applied."""
    for shape in plan.shapes:
        yield shape.find
    if plan.places:
        from triage.secret_places import PLACES, find_places

        for kind in PLACES:
            yield partial(find_places, kind=kind)
    if plan.commands:
        from triage.secret_lines import find_commands

        yield partial(find_commands, commands=_loaded().commands)


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


def _rebuilt(value: Any) -> Any:
    """Copy the data with every string masked; `name` is what a string is given to."""
    from triage.secret_places import mask_arguments, mask_value

    commands = _loaded().commands
    root: list[Any] = [None]
    todo: list[tuple[Any, Any, Any, str]] = [(root, 0, value, "")]

    def masked(text: str, by_place: str | None) -> str:
        return mask(text) if by_place is None else by_place

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
                copy[:] = map(masked, item, mask_arguments(item, commands))
            else:
                todo.extend((copy, index, part, "") for index, part in enumerate(item))
        else:
            target[place] = item
    return root[0]
