"""The rules as they are written, with the place of every part: what lint and mutation read.

The compiled table knows what a row means; the rulebook knows its samples, its waivers, and on
which line each of its conditions and patterns stands.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.model import Capture
from triage.samples import sample_capture
from triage.yaml_source import Source, load_yaml

__all__ = ["PatternUse", "RowSource", "Rulebook", "load_rulebook"]

_TEXT_WORDS = frozenset({"text", "stdout", "stderr", "error", "raw"})
# What narrows a row enough that a common word beside it has a context.
_CONTEXT = frozenset({"agent", "envelope", "json", "http", "language"})
_COMMAND_CONTEXT = frozenset({"program", "args", "line", "subcommand"})


@dataclass(frozen=True, slots=True)
class RowSource:
    """One row as written, or a named predicate, whose id is ``vocabulary:NAME``.

    `steps` is its path in the file, `layer` 0 for the built-in rules.
    """

    id: str
    chapter: str
    layer: int
    source: Source
    steps: tuple[Any, ...]
    data: Mapping[str, Any]

    def where(self, *path: Any) -> str:
        """``file:line:column`` of a part of the row; of its id without a path."""
        return self.source.where(*self.steps, *(path or ("id",)))

    @property
    def waived(self) -> Mapping[str, str]:
        """Finding code -> why it is right here."""
        waived: Mapping[str, str] = self.data.get("waive", {})
        return waived

    def samples(self, kind: str) -> Iterator[tuple[Capture, str]]:
        """Yield the captures of `match` or `no_match`, each with its place."""
        for index, sample in enumerate(self.data.get(kind, ())):
            where = self.where(kind, index)
            yield sample_capture(sample, where), where


@dataclass(frozen=True, slots=True)
class PatternUse:
    """One pattern, where it stands and what it is used for.

    `owner` is a row's id, ``vocabulary:NAME`` or ``sets/NAME``. `role` is text (looked for in the
    streams), absent (must not be found), value (tested on one short value: an argument, a JSON
    string) or capture. `context` says that another condition beside it narrows what it is asked of.
    """

    pattern: str
    owner: str
    where: str
    role: str
    context: bool


class Rulebook:
    """Rows, sets and named predicates of one rules folder and its overlays, in table order.

    `disabled` are the rows that stand in a file and are not asked.
    """

    __slots__ = ("disabled", "roots", "rows", "sets", "vocabulary")

    def __init__(
        self,
        roots: Sequence[Path],
        rows: Sequence[RowSource],
        disabled: Sequence[RowSource],
        sets: Sequence[tuple[str, Source]],
        vocabulary: Sequence[tuple[int, Source]],
    ) -> None:
        self.roots = tuple(roots)
        self.rows = tuple(rows)
        self.disabled = tuple(disabled)
        self.sets = tuple(sets)
        self.vocabulary = tuple(vocabulary)

    def predicates(self) -> Iterator[RowSource]:
        """Yield every named predicate."""
        for layer, source in self.vocabulary:
            for name, entry in (source.data or {}).items():
                yield RowSource(f"vocabulary:{name}", "", layer, source, (name,), entry)

    def waiving(self) -> Iterator[RowSource]:
        """Yield all that may waive a finding about itself: the rows, then the named predicates."""
        yield from self.rows
        yield from self.predicates()

    def patterns(self) -> Iterator[PatternUse]:
        """Yield every pattern of the rules with its place and use."""
        for row in self.waiving():
            path = (*row.steps, "when")
            yield from _condition_patterns(
                row.data["when"], row.source, path, row.id, "text", False
            )
            for name, patterns in row.data.get("capture", {}).items():
                for item, where in _listed(patterns, row.source, (*row.steps, "capture", name)):
                    yield PatternUse(item, row.id, where, "capture", True)
        for name, source in self.sets:
            yield from _set_patterns(name, source)


def load_rulebook(root: Path, overlays: Sequence[Path] = ()) -> Rulebook:
    """Read the rules below `root` and the overlays; raises `RuleError` for what is no YAML.

    Rows stand in the order in which the table walks them. What a schema would refuse may be missing
    or raise `KeyError`: compile the table first.
    """
    roots = (root, *overlays)
    chapters: list[tuple[str, int, Source]] = []
    sets: list[tuple[str, Source]] = []
    vocabulary: list[tuple[int, Source]] = []
    for layer, folder in enumerate(roots):
        chapters += [
            (path.stem, layer, _source(path)) for path in sorted((folder / "table").glob("*.yaml"))
        ]
        sets += [(path.stem, _source(path)) for path in sorted((folder / "sets").glob("*.yaml"))]
        words = folder / "vocabulary.yaml"
        if words.is_file():
            vocabulary.append((layer, _source(words)))
    off = {row for _, _, source in chapters for row in source.data.get("disable", ())}
    rows = [
        RowSource(row["id"], stem, layer, source, ("rows", index), row)
        for stem, layer, source in sorted(chapters, key=lambda item: item[:2])
        for index, row in enumerate(source.data.get("rows", ()))
    ]
    asked = [row for row in rows if row.id not in off]
    return Rulebook(roots, asked, [row for row in rows if row.id in off], sets, vocabulary)


def _source(path: Path) -> Source:
    return load_yaml(_shown(path), path.read_text("utf-8"))


def _shown(path: Path) -> str:
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return str(path)
    return str(path) if relative.startswith("..") else relative


def _listed(value: Any, source: Source, path: tuple[Any, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield item, source.where(*path, index)
    else:
        yield value, source.where(*path)


def _condition_patterns(
    when: Mapping[str, Any],
    source: Source,
    path: tuple[Any, ...],
    owner: str,
    role: str,
    context: bool,
) -> Iterator[PatternUse]:
    for word, value in when.items():
        here = (*path, word)
        beside = context or any(
            _narrows(other, when[other]) for other in when if other not in (word, "not")
        )
        if word in ("all", "any"):
            for index, item in enumerate(value):
                inner = beside or (
                    word == "all"
                    and any(
                        _narrows(other, test)
                        for position, part in enumerate(value)
                        if position != index
                        for other, test in part.items()
                    )
                )
                yield from _condition_patterns(item, source, (*here, index), owner, role, inner)
        elif word == "not":
            for index, item in enumerate(value if isinstance(value, list) else [value]):
                inner_path = (*here, index) if isinstance(value, list) else here
                turned = "text" if role == "absent" else "absent"
                yield from _condition_patterns(item, source, inner_path, owner, turned, beside)
        elif word in _TEXT_WORDS:
            block = value if isinstance(value, Mapping) else {"pattern": value}
            at = (*here, "pattern") if isinstance(value, Mapping) else here
            if "pattern" in block:
                for item, where in _listed(block["pattern"], source, at):
                    yield PatternUse(item, owner, where, role, beside or "after" in block)
            if "after" in block:
                yield PatternUse(block["after"], owner, source.where(*here, "after"), role, True)
        elif word == "command":
            for name in ("args", "redirects", "line"):
                if name in value:
                    yield PatternUse(value[name], owner, source.where(*here, name), "value", True)
        elif isinstance(value, Mapping):
            for name, test in value.items():
                if isinstance(test, Mapping) and "matches" in test:
                    where = source.where(*here, name, "matches")
                    yield PatternUse(test["matches"], owner, where, "value", True)


def _narrows(word: str, value: Any) -> bool:
    """Whether a condition says what kind of text the pattern beside it is asked of."""
    if word == "command":
        return bool(_COMMAND_CONTEXT.intersection(value))
    return word in _CONTEXT or word in _TEXT_WORDS or word == "is"


def _set_patterns(name: str, source: Source) -> Iterator[PatternUse]:
    data = source.data
    owner = f"sets/{name}"
    for item, where in _listed(data.get("patterns", []), source, ("patterns",)):
        # The contexts of `http:` hold a place for the status; any error's status fills it here.
        item = item.replace("{status}", "(?:4\\d\\d|5\\d\\d)") if name == "http" else item
        yield PatternUse(item, owner, where, "text", False)
    for code, phrases in data.get("languages", {}).items():
        for item, where in _listed(phrases, source, ("languages", code)):
            yield PatternUse(item, owner, where, "text", False)
    for kind, looks in data.get("prompts", {}).items():
        for index, look in enumerate(looks):
            for key in ("pattern", "raw"):
                if key in look:
                    path = ("prompts", kind, index, key)
                    for item, where in _listed(look[key], source, path):
                        # A prompt is the last line of a call that waits: that is its context.
                        yield PatternUse(item, owner, where, "text", True)
