"""The files a table is made of: parsed, held against their schemas, each fault with its place.

What is wrong is gathered, not raised at once: a writer wants to see all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from triage.errors import LocatedIssue, RuleError
from triage.schema_words import complaint, schema_place, shown, type_words
from triage.yaml_source import Source, load_yaml

__all__ = ["RuleFile", "RuleSources", "place_of_text", "validator"]


class RuleFile:
    """One file of the rules.

    `kind` is its folder, `layer` 0 for the built-in and 1… for overlays; `name` is the path to
    print in errors, `relative` the one below its own root, which a cached table may keep.
    """

    __slots__ = ("kind", "layer", "name", "path", "relative", "text")

    def __init__(
        self, path: Path, name: str, relative: str, kind: str, layer: int, text: str
    ) -> None:
        self.path = path
        self.name = name
        self.relative = relative
        self.kind = kind
        self.layer = layer
        self.text = text


def validator(root: Path, name: str) -> Any:
    """A jsonschema validator of rules/schema/`name`.schema.json that knows its siblings."""
    import json

    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    folder = root / "schema"
    registry: Any = Registry()
    for path in sorted(folder.glob("*.schema.json")):
        resource = Resource.from_contents(
            json.loads(path.read_text("utf-8")), default_specification=_draft()
        )
        registry = registry.with_resource(path.name, resource)
    schema = json.loads((folder / f"{name}.schema.json").read_text("utf-8"))
    return Draft202012Validator({"$id": f"{name}.schema.json", **schema}, registry=registry)


def _draft() -> Any:
    from referencing.jsonschema import DRAFT202012

    return DRAFT202012


class RuleSources:
    """The parsed files by kind (``table``, ``sets`` …), and the issues found so far."""

    def __init__(self, root: Path, files: Sequence[RuleFile]) -> None:
        self.root = root
        self.files = files
        self.issues: list[LocatedIssue] = []
        self._by_kind: dict[str, list[tuple[RuleFile, Source]]] = {}

    def of(self, kind: str) -> list[tuple[RuleFile, Source]]:
        """Return the files of one kind, those of lower layers first."""
        return self._by_kind.get(kind, [])

    def merged(self, kind: str) -> Any:
        """Return the data of the last layer that has the file: an overlay replaces it whole."""
        items = self.of(kind)
        return items[-1][1].data if items else {}

    def issue(self, where: str, what: str, remedy: str = "") -> None:
        self.issues.append(LocatedIssue(where, what, remedy))

    def stop_if_broken(self) -> None:
        """Raise `RuleError` with all issues where there are any."""
        if self.issues:
            raise RuleError(self.issues)

    def read(self) -> None:
        """Parse all files but the modes, which have a reader of their own."""
        for file in self.files:
            if file.kind == "modes":
                continue
            try:
                source = load_yaml(file.name, file.text)
            except RuleError as error:
                self.issues.extend(error.issues)
                continue
            self._by_kind.setdefault(file.kind, []).append((file, source))
        self.stop_if_broken()

    def check(self, kind: str, schema: str) -> None:
        """Hold the files of one kind against rules/schema/`schema`.schema.json."""
        if self.of(kind):
            check = validator(self.root, schema)
            for _, source in self.of(kind):
                self.check_block(check, schema, source, source.data, ())

    def check_block(
        self,
        check: Any,
        schema: str,
        source: Source,
        data: Any,
        path: tuple[Any, ...],
        skip: int = 0,
    ) -> None:
        """Hold `data` against a validator; it stands at `path`, its first `skip` steps left out."""
        for error in check.iter_errors(data):
            for fault in _faults(error):
                steps = (*path, *fault.steps[skip:])
                where = source.where_key(*steps) if fault.at_key else source.where(*steps)
                remedy = fault.remedy or f"see {self._schema(schema)}"
                self.issue(where, fault.what, remedy)

    def _schema(self, name: str) -> str:
        return schema_place(self.root / "schema" / f"{name}.schema.json")


class _Fault:
    """What one schema error says to a writer."""

    __slots__ = ("at_key", "remedy", "steps", "what")

    def __init__(
        self, what: str, steps: tuple[Any, ...], remedy: str = "", *, at_key: bool = False
    ) -> None:
        self.what = what
        self.steps = steps
        self.remedy = remedy
        self.at_key = at_key


def _faults(error: Any) -> Iterator[_Fault]:
    """The most specific complaints of a schema error: of several forms, those that got furthest."""
    leaves, todo = [], [error]
    while todo:
        item = todo.pop()
        if item.context:
            todo.extend(item.context)
        elif item.validator != "oneOf" or isinstance(item.instance, Mapping):
            leaves.append(item)
    leaves = leaves or [error]
    depth = max(len(leaf.absolute_path) for leaf in leaves)
    deepest = [leaf for leaf in leaves if len(leaf.absolute_path) == depth]
    steps = tuple(deepest[0].absolute_path)
    for leaf in deepest:
        if leaf.validator == "additionalProperties" and "properties" in leaf.schema:
            known = leaf.schema["properties"]
            for key in leaf.instance.keys() - known.keys():
                remedy = f"known here are: {', '.join(sorted(known))}"
                yield _Fault(f"unknown key `{key}`", (*steps, key), remedy, at_key=True)
            return
    types = dict.fromkeys(name for leaf in deepest for name in _types(leaf))
    if types and all(leaf.validator == "type" for leaf in deepest):
        yield _Fault(f"{shown(deepest[0].instance)} is no {type_words(list(types))}", steps)
        return
    best = min(deepest, key=lambda leaf: (leaf.validator in ("type", "const"), len(leaf.message)))
    if best.validator == "oneOf":
        yield _Fault("several forms at once", steps, "keep one of them")
        return
    if "propertyNames" in best.absolute_schema_path:
        yield _Fault(complaint(best), (*steps, best.instance), at_key=True)
        return
    if best.validator == "required":
        yield _Fault(complaint(best), steps, "add it")
        return
    if best.validator == "minLength":
        wanted = f"write {best.validator_value} characters or more"
        yield _Fault(complaint(best), steps, wanted)
        return
    yield _Fault(complaint(best), steps)


def _types(leaf: Any) -> list[str]:
    wanted = leaf.validator_value
    return [] if leaf.validator != "type" else wanted if isinstance(wanted, list) else [wanted]


def place_of_text(data: Any, wanted: str, start: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the path of the string below `start` that is or holds `wanted`, else `start`."""
    node = data
    for step in start:
        node = node[step]
    todo = [(start, node)]
    while todo:
        path, item = todo.pop()
        if isinstance(item, str) and wanted in item:
            return path
        if isinstance(item, Mapping):
            todo.extend(((*path, key), value) for key, value in item.items())
        elif isinstance(item, list):
            todo.extend(((*path, i), value) for i, value in enumerate(item))
    return start
