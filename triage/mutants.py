"""Changed conditions: each part of a row's ``when:`` dropped or turned round, one at a time.

The compiled condition and the source are walked side by side, so that every mutant knows the line
of what it changes. Parts are: each condition of an ``all``, each branch of an ``any`` or a
``not``, each status of a list, each test of one command, path or fact, ``after`` and ``count``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triage.logic import normal
from triage.yaml_source import Source

__all__ = ["Mutant", "condition_mutants"]

Node = list[Any]
Path = tuple[Any, ...]
# kind, path, what is changed, the changed condition
Change = tuple[str, Path, str, Node]

_TEXT_WORDS = frozenset({"text", "stdout", "stderr", "error"})
_TESTS = frozenset({"envelope", "json", "extraction", "timing", "size", "observed", "agent"})
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one condition: `target` is a row's id or ``vocabulary:NAME``.

    `kind` is drop, flip, branch, status or test; `node` the condition after the change.
    """

    target: str
    kind: str
    where: str
    what: str
    node: Node


def condition_mutants(
    target: str, when: Mapping[str, Any], node: Node, source: Source, path: Path
) -> Iterator[Mutant]:
    """Yield the mutants of one condition; `node` is the compiled form of `when`, at `path`."""
    seen = {normal(node)}
    for kind, place, what, changed in _mapping(when, node, path, drop_single=True, flips=True):
        key = normal(changed)
        if key in seen:
            continue
        seen.add(key)
        yield Mutant(target, kind, source.where(*place), what, changed)


def _mapping(
    when: Mapping[str, Any], node: Node, path: Path, *, drop_single: bool = False, flips: bool
) -> Iterator[Change]:
    """Changes of the conditions that must hold together.

    A condition that stands alone is dropped only with `drop_single`: in a list it is the item, and
    dropped as such.
    """
    words = list(when)
    if not words:
        return
    single = len(words) == 1
    parts: list[Node] = [node] if single else node[1]

    def rebuilt(index: int, part: Node | None) -> Node:
        kept = [*parts[:index], *([] if part is None else [part]), *parts[index + 1 :]]
        return kept[0] if len(kept) == 1 else ["all", kept]

    for index, (word, part) in enumerate(zip(words, parts, strict=True)):
        here = (*path, word)
        if drop_single or not single:
            yield "drop", here, f"drop {_named(word, when[word])}", rebuilt(index, None)
        if flips:
            turned = part[1] if part[0] == "not" else ["not", part]
            yield "flip", here, f"turn round {_named(word, when[word])}", rebuilt(index, turned)
        for kind, place, what, changed in _word(word, when[word], part, here):
            yield kind, place, what, rebuilt(index, changed)


def _word(word: str, value: Any, node: Node, path: Path) -> Iterator[Change]:
    """Changes inside one condition."""
    if word in ("all", "any"):
        yield from _branches(word, value, node, path)
    elif word == "not":
        items = value if isinstance(value, list) else [value]
        inner = node[1]
        if len(items) == 1:
            place = (*path, 0) if isinstance(value, list) else path
            changes = _mapping(items[0], inner, place, flips=False)
        else:
            changes = _branches("any", items, inner, path)
        for kind, place, what, changed in changes:
            yield kind, place, f"{what} (inside not)", ["not", changed]
    elif word == "is" and isinstance(value, list) and len(value) > 1:
        for index, name in enumerate(value):
            yield "drop", (*path, index), f"drop is: {name}", ["all", _without(node[1], index)]
    elif word == "exit" and isinstance(value, list) and len(value) > 1:
        for index, item in enumerate(value):
            yield (
                "status",
                (*path, index),
                f"drop status {item}",
                ["exit", _without(node[1], index)],
            )
    elif word in _TEXT_WORDS and isinstance(value, Mapping):
        if node[4] is not None:
            yield "test", (*path, "after"), "drop after", [*node[:4], None, node[5]]
        if node[5] > 1:
            yield "test", (*path, "count"), f"count {node[5]} becomes 1", [*node[:5], 1]
    elif word == "command":
        yield from _command(value, node, path)
    elif word in _TESTS and isinstance(value, Mapping) and len(node[1]) > 1:
        for index, (name, _) in enumerate(node[1]):
            changed = [word, _without(node[1], index)]
            yield "test", (*path, name), f"drop {word}.{name}", changed


def _branches(
    word: str, items: Sequence[Mapping[str, Any]], node: Node, path: Path
) -> Iterator[Change]:
    parts: list[Node] = node[1]
    for index, (item, part) in enumerate(zip(items, parts, strict=True)):
        here = (*path, index)
        if len(parts) > 1:
            kind = "branch" if word == "any" else "drop"
            named = " and ".join(_named(key, value) for key, value in item.items())
            yield kind, here, f"drop {named} of {word}", [word, _without(parts, index)]
        # Flips stay with the conditions of an `all`; a turned branch makes any choice hold.
        for inner, place, what, changed in _mapping(item, part, here, flips=word == "all"):
            yield inner, place, what, [word, [*parts[:index], changed, *parts[index + 1 :]]]


def _command(value: Mapping[str, Any], node: Node, path: Path) -> Iterator[Change]:
    _, line, stage, which = node
    if len(line) + len(stage) < 2:
        return
    build: Callable[[int, Node], Node]
    for tests, build in (
        (line, lambda _, kept: ["command", kept, stage, which]),
        (stage, lambda _, kept: ["command", line, kept, which]),
    ):
        for index, (name, _) in enumerate(tests):
            what = f"drop command.{name} {_short(value[name])}"
            yield "test", (*path, name), what, build(index, _without(tests, index))


def _without(items: Sequence[Any], index: int) -> list[Any]:
    return [*items[:index], *items[index + 1 :]]


def _named(word: str, value: Any) -> str:
    return f"{word}: {_short(value)}"


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
