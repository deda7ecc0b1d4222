"""Rule files -> one compiled table, or one error that names every fault with file:line:column.

The compiled form is JSON data in sections (see `SECTIONS`), made once and cached by content hash;
`triage.table` reads it back. Nothing here runs when a fresh cache is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from triage.conditions import Expander
from triage.errors import LocatedIssue, RuleError
from triage.exits import EXIT_CLASSES
from triage.index import gates_of
from triage.yaml_source import Source, load_yaml

__all__ = ["SECTIONS", "RuleFile", "compile_rules", "validator"]

SECTIONS = ("hot", "modes", "effects", "policy", "secrets", "agents", "cold")


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


class _Compiler:
    def __init__(self, root: Path, files: Sequence[RuleFile]) -> None:
        self.root = root
        self.files = files
        self.issues: list[LocatedIssue] = []
        self.sources: dict[str, list[tuple[RuleFile, Source]]] = {}
        self.rows: list[dict[str, Any]] = []
        self.cold: list[dict[str, Any]] = []
        self.row_places: dict[str, str] = {}

    def issue(self, where: str, what: str, remedy: str = "") -> None:
        self.issues.append(LocatedIssue(where, what, remedy))

    def stop_if_broken(self) -> None:
        if self.issues:
            raise RuleError(self.issues)

    def read(self) -> None:
        for file in self.files:
            if file.kind == "modes":
                continue
            try:
                source = load_yaml(file.name, file.text)
            except RuleError as error:
                self.issues.extend(error.issues)
                continue
            self.sources.setdefault(file.kind, []).append((file, source))
        self.stop_if_broken()

    def check(self, kind: str, schema: str) -> None:
        if not self.sources.get(kind):
            return
        check = validator(self.root, schema)
        for _, source in self.sources[kind]:
            for error in check.iter_errors(source.data):
                what, path = _deepest(error)
                self.issue(source.where(*path), what, f"see rules/schema/{schema}.schema.json")

    def expander(self) -> Expander:
        names: dict[str, list[str]] = {}
        words: dict[str, list[str]] = {}
        prompts: dict[str, list[dict[str, Any]]] = {}
        languages: dict[str, list[str]] = {}
        http: list[str] = []
        for file, source in self.sources.get("sets", []):
            stem = file.path.stem
            data = source.data
            # An overlay's set of the same name adds to ours.
            names.setdefault(stem, []).extend(data.get("names", ()))
            if "patterns" in data:
                words.setdefault(stem, []).extend(data["patterns"])
            for kind, looks in data.get("prompts", {}).items():
                prompts.setdefault(kind, []).extend(looks)
            for code, phrases in data.get("languages", {}).items():
                languages.setdefault(code, []).extend(phrases)
            if stem == "http":
                http.extend(data.get("patterns", ()))
        return Expander(names, words, prompts, languages, http, EXIT_CLASSES)

    def vocabulary(self, expander: Expander) -> list[Any]:
        entries: list[tuple[str, Mapping[str, Any], Source]] = []
        for _, source in self.sources.get("vocabulary", []):
            for name, entry in (source.data or {}).items():
                if name in expander.predicates:
                    self.issue(source.where(name), f"predicate `{name}` twice", "keep one")
                    continue
                expander.predicates[name] = len(entries)
                entries.append((name, entry, source))
        nodes = []
        for name, entry, source in entries:
            nodes.append(self.condition(expander, entry["when"], source, (name, "when")))
        for name, _, source in entries:
            cycle = _cycle(expander.predicates[name], nodes)
            if cycle:
                shown = " -> ".join(entries[i][0] for i in cycle)
                self.issue(source.where(name), f"predicates in a circle: {shown}", "break it")
        self.stop_if_broken()
        return nodes

    def condition(
        self, expander: Expander, when: Mapping[str, Any], source: Source, path: tuple[Any, ...]
    ) -> list[Any]:
        def report(place: tuple[Any, ...], what: str, remedy: str) -> None:
            self.issue(source.where(*place), what, remedy)

        before = set(expander.patterns)
        node = expander.when(when, report, path)
        self.compile_patterns(expander, before, source, path)
        return node

    def compile_patterns(
        self, expander: Expander, before: set[str], source: Source, path: tuple[Any, ...]
    ) -> None:
        import regex

        from triage.pattern import compile_pattern

        for pattern in expander.patterns.keys() - before:
            try:
                compile_pattern(pattern)
            except (regex.error, RecursionError, OverflowError) as error:
                where = source.where(*_find(source.data, pattern, path))
                self.issue(where, f"{pattern!r} does not compile: {error}", "correct the pattern")

    def chapters(self, expander: Expander, modes: Mapping[int, Any]) -> None:
        disabled = {
            row_id
            for _, source in self.sources.get("table", [])
            for row_id in source.data.get("disable", ())
        }
        ordered = sorted(
            self.sources.get("table", []), key=lambda item: (item[0].path.stem, item[0].layer)
        )
        for file, source in ordered:
            for index, row in enumerate(source.data["rows"]):
                self.row(expander, modes, disabled, file, source, index, row)
        for _, source in self.sources.get("table", []):
            for index, row_id in enumerate(source.data.get("disable", ())):
                if row_id not in self.row_places:
                    self.issue(
                        source.where("disable", index),
                        f"no row `{row_id}` to disable",
                        "see `triage rules`",
                    )

    def row(
        self,
        expander: Expander,
        modes: Mapping[int, Any],
        disabled: set[str],
        file: RuleFile,
        source: Source,
        index: int,
        row: Mapping[str, Any],
    ) -> None:
        where = source.where("rows", index, "id")
        row_id = row["id"]
        if row_id in self.row_places:
            self.issue(where, f"row `{row_id}` twice", f"the other is {self.row_places[row_id]}")
            return
        self.row_places[row_id] = where
        listed = list(row.get("modes", ()))
        by_value = row.get("modes_by", {})
        for path, table in by_value.items():
            for value, wanted in table.items():
                self.known_modes(modes, wanted, source, ("rows", index, "modes_by", path, value))
        self.known_modes(modes, listed, source, ("rows", index, "modes"))
        node = self.condition(expander, row["when"], source, ("rows", index, "when"))
        captures = {}
        before = set(expander.patterns)
        for name, patterns in row.get("capture", {}).items():
            many = patterns if isinstance(patterns, list) else [patterns]
            captures[name] = [expander.pattern(pattern) for pattern in many]
        self.compile_patterns(expander, before, source, ("rows", index, "capture"))
        if row_id in disabled:
            return
        hot = {
            "id": row_id,
            "row": row.get("row"),
            "chapter": file.path.stem,
            "title": row.get("title"),
            "modes": listed,
            "modes_by": by_value,
            "when": node,
            "capture": captures,
            "verdict": row.get("verdict", "failure"),
            "flags": row.get("flags", []),
            "agent": row.get("agent"),
            "do": row.get("do", {}),
            "do_by": row.get("do_by", {}),
            "retry": row.get("retry"),
            "why": " ".join(row["why"].split()),
        }
        self.rows.append(hot)
        place = f"{file.relative}:{where[len(source.name) + 1 :]}"
        self.cold.append(
            {"id": row_id, "place": place, "seed": row.get("seed"), "layer": file.layer}
        )

    def known_modes(
        self, modes: Mapping[int, Any], wanted: Sequence[int], source: Source, path: tuple[Any, ...]
    ) -> None:
        for position, number in enumerate(wanted):
            if number not in modes:
                self.issue(
                    source.where(*path, position),
                    f"§{number} has no document",
                    "write a live § of rules/modes",
                )

    def actions(self) -> None:
        check = validator(self.root, "action")
        for _, source in self.sources.get("table", []):
            for index, row in enumerate(source.data["rows"]):
                blocks: list[tuple[tuple[Any, ...], str, Any]] = []
                if "do" in row:
                    blocks.append((("rows", index, "do"), "do", row["do"]))
                if "retry" in row:
                    blocks.append((("rows", index, "retry"), "retry", row["retry"]))
                for path, table in row.get("do_by", {}).items():
                    blocks += [
                        (("rows", index, "do_by", path, value), "do", block)
                        for value, block in table.items()
                    ]
                for path_steps, key, block in blocks:
                    for error in check.iter_errors({key: block}):
                        what, deep = _deepest(error)
                        self.issue(
                            source.where(*path_steps, *tuple(deep)[1:]),
                            what,
                            "see rules/schema/action.schema.json",
                        )


def compile_rules(root: Path, files: Sequence[RuleFile]) -> dict[str, Any]:
    """Compile rule files into the sections of one table; raises `RuleError` with all faults."""
    from triage.modes import load_modes, to_data

    compiler = _Compiler(root, files)
    compiler.read()
    for kind, schema in (
        ("table", "chapter"),
        ("sets", "set"),
        ("vocabulary", "vocabulary"),
        ("effects", "effects"),
        ("bundle", "bundle"),
        ("policy", "policy"),
        ("agents", "agent-format"),
    ):
        compiler.check(kind, schema)
    compiler.stop_if_broken()
    compiler.actions()
    modes = load_modes(root / "modes")
    expander = compiler.expander()
    predicates = compiler.vocabulary(expander)
    compiler.chapters(expander, modes)
    if not compiler.rows:
        compiler.issue(f"{root}:1:1", "a table without rows", "add rules/table/*.yaml")
    compiler.stop_if_broken()
    return {
        "hot": _hot(compiler, expander, predicates),
        "modes": to_data(modes),
        "effects": _merged(compiler, "effects"),
        "policy": {"bundle": _merged(compiler, "bundle"), "policy": _merged(compiler, "policy")},
        "secrets": _secrets(),
        "agents": {f.path.stem: s.data for f, s in compiler.sources.get("agents", [])},
        "cold": compiler.cold,
    }


def _hot(compiler: _Compiler, expander: Expander, predicates: list[Any]) -> dict[str, Any]:
    from triage.pattern import needs

    sources = list(expander.patterns)
    needed = [needs(source) for source in sources]
    # Only patterns searched in the streams' text are prefiltered; the rest look elsewhere.
    scanned = sorted(_scanned([row["when"] for row in compiler.rows] + predicates))
    has_clauses = [bool(item.clauses) for item in needed]
    gates = [gates_of(row["when"], predicates, has_clauses) for row in compiler.rows]
    index: dict[str, list[int]] = {}
    for number, gate in enumerate(gates):
        for key in gate[0] if gate else ("always",):
            index.setdefault(str(key), []).append(number)
    return {
        "patterns": sources,
        "clauses": [[list(clause) for clause in item.clauses] for item in needed],
        "re2": [item.re2 for item in needed],
        "scanned": scanned,
        "predicates": predicates,
        "predicate_names": list(expander.predicates),
        "rows": compiler.rows,
        "index": dict(sorted(index.items())),
        # What a row needs beside the key it is filed under.
        "gates": [gate[1:] for gate in gates],
    }


def _scanned(nodes: Sequence[Any]) -> set[int]:
    found: set[int] = set()
    todo = list(nodes)
    while todo:
        node = todo.pop()
        if node[0] == "text":
            found.update(node[3])
        elif node[0] in ("all", "any"):
            todo.extend(node[1])
        elif node[0] == "not":
            todo.append(node[1])
        elif node[0] == "language":
            todo.extend(node[2])
    return found


def _merged(compiler: _Compiler, kind: str) -> Any:
    """The data of the last layer that has the file: an overlay replaces it whole."""
    items = compiler.sources.get(kind, [])
    return items[-1][1].data if items else {}


def _secrets() -> Any:
    from triage.redact import export_patterns

    return export_patterns()


def _cycle(start: int, nodes: Sequence[Any]) -> list[int]:
    path = [start]

    def walk(number: int) -> bool:
        for target in _references(nodes[number]):
            if target == start:
                path.append(start)
                return True
            if target in path:
                continue
            path.append(target)
            if walk(target):
                return True
            path.pop()
        return False

    return path if walk(start) else []


def _references(node: Sequence[Any]) -> list[int]:
    if node[0] == "is":
        return [node[1]]
    if node[0] in ("all", "any"):
        return [target for child in node[1] for target in _references(child)]
    return _references(node[1]) if node[0] == "not" else []


def _deepest(error: Any) -> tuple[str, tuple[Any, ...]]:
    """The most specific complaint of a `oneOf` and where it stands."""
    leaves, todo = [], [error]
    while todo:
        item = todo.pop()
        if item.context:
            todo.extend(item.context)
        else:
            leaves.append(item)
    best = max(leaves, key=lambda item: (len(item.absolute_path), -len(item.message)))
    message = best.message if len(best.message) < 160 else best.message[:157] + "..."
    return message, tuple(best.absolute_path)


def _find(data: Any, wanted: str, start: tuple[Any, ...]) -> tuple[Any, ...]:
    """The path of a string below `start`, `start` itself where it came from a set."""
    node = data
    for step in start:
        node = node[step]
    todo = [(start, node)]
    while todo:
        path, item = todo.pop()
        # A pattern may be one part of the alternation that the file holds.
        if isinstance(item, str) and wanted in item:
            return path
        if isinstance(item, Mapping):
            todo.extend(((*path, key), value) for key, value in item.items())
        elif isinstance(item, list):
            todo.extend(((*path, i), value) for i, value in enumerate(item))
    return start
