"""Rule files -> one compiled table, or one error that names every fault with file:line:column.

The compiled form is JSON data in sections (see `SECTIONS`), made once and cached by content hash;
`triage.table` reads it back. Nothing here runs when a fresh cache is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from triage.conditions import Expander, circle_through
from triage.exits import EXIT_CLASSES
from triage.index import file_rows, pattern_cost, searched_in_text
from triage.rule_sources import RuleFile, RuleSources, place_of_text, validator
from triage.yaml_source import Source, load_yaml

__all__ = ["SECTIONS", "compile_rules"]

SECTIONS = ("hot", "modes", "effects", "policy", "secrets", "agents", "cold")

# Kinds of files -> the schema each is held against.
_SCHEMAS = (
    ("table", "chapter"),
    ("sets", "set"),
    ("vocabulary", "vocabulary"),
    ("effects", "effects"),
    ("bundle", "bundle"),
    ("policy", "policy"),
    ("secrets", "secrets"),
    ("agents", "agent-format"),
)

# What stands for the status in a context of one while its set is checked.
_STATUS = "(?:429)"

Steps = tuple[Any, ...]


class _Compiler:
    def __init__(self, sources: RuleSources, modes: Mapping[int, Any]) -> None:
        self.sources = sources
        self.modes = modes
        self.rows: list[dict[str, Any]] = []
        self.cold: list[dict[str, Any]] = []
        self.row_places: dict[str, tuple[int, str]] = {}
        self._sound: set[str] = set()
        self.expander = self.make_expander()

    def make_expander(self) -> Expander:
        names: dict[str, list[str]] = {}
        words: dict[str, list[str]] = {}
        prompts: dict[str, list[dict[str, Any]]] = {}
        languages: dict[str, list[str]] = {}
        http: list[str] = []
        for file, source in self.sources.of("sets"):
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
            self.check_set(source)
        return Expander(names, words, prompts, languages, http, EXIT_CLASSES)

    def check_set(self, source: Source) -> None:
        """Compile what a set holds, whether a row names it or not: its faults are its own."""
        from triage.pattern import alternatives

        texts = list(source.data.get("patterns", ()))
        for looks in source.data.get("prompts", {}).values():
            for look in looks:
                texts += _list(look.get("pattern", [])) + _list(look.get("raw", []))
        for phrases in source.data.get("languages", {}).values():
            texts += phrases
        for text in texts:
            # Contexts of an HTTP status have a place for it.
            parts = alternatives(text.replace("{status}", _STATUS))
            self.check_patterns(parts, source, ())

    def vocabulary(self) -> list[Any]:
        entries: list[tuple[str, Mapping[str, Any], Source]] = []
        predicates = self.expander.predicates
        for _, source in self.sources.of("vocabulary"):
            for name, entry in (source.data or {}).items():
                if name in predicates:
                    self.sources.issue(
                        source.where_key(name), f"predicate `{name}` twice", "keep one"
                    )
                    continue
                predicates[name] = len(entries)
                entries.append((name, entry, source))
        nodes = [
            self.condition(entry["when"], source, (name, "when")) for name, entry, source in entries
        ]
        told: set[int] = set()
        for name, _, source in entries:
            circle = [] if predicates[name] in told else circle_through(predicates[name], nodes)
            if circle:
                told.update(circle)
                shown = " -> ".join(entries[i][0] for i in circle)
                self.sources.issue(
                    source.where_key(name), f"predicates in a circle: {shown}", "break it"
                )
        return nodes

    def condition(self, when: Mapping[str, Any], source: Source, path: Steps) -> list[Any]:
        def report(place: Steps, what: str, remedy: str) -> None:
            self.sources.issue(source.where(*place), what, remedy)

        known = len(self.expander.patterns)
        node = self.expander.when(when, report, path)
        self.check_patterns(islice(self.expander.patterns, known, None), source, path)
        return node

    def check_patterns(self, patterns: Iterable[str], source: Source, path: Steps) -> None:
        import regex

        from triage.pattern import compile_pattern

        for pattern in patterns:
            if pattern in self._sound:
                continue
            self._sound.add(pattern)
            try:
                compile_pattern(pattern)
            except (regex.error, RecursionError, OverflowError) as error:
                where = source.where(
                    *place_of_text(source.data, pattern.replace(_STATUS, "{status}"), path)
                )
                what = f"{pattern!r} does not compile: {error}"
                self.sources.issue(where, what, "correct the pattern")

    def chapters(self) -> None:
        tables = self.sources.of("table")
        disabled = {row_id for _, s in tables for row_id in s.data.get("disable", ())}
        for file, source in sorted(tables, key=lambda item: (item[0].path.stem, item[0].layer)):
            for index, row in enumerate(source.data.get("rows", ())):
                self.row(disabled, file, source, index, row)
        for _, source in tables:
            for index, row_id in enumerate(source.data.get("disable", ())):
                if row_id not in self.row_places:
                    where = source.where("disable", index)
                    remedy = "see `triage rules`"
                    self.sources.issue(where, f"no row `{row_id}` to disable", remedy)

    def row(
        self,
        disabled: set[str],
        file: RuleFile,
        source: Source,
        index: int,
        row: Mapping[str, Any],
    ) -> None:
        where = source.where("rows", index, "id")
        row_id = row["id"]
        if row_id in self.row_places:
            # Ids are for ever: of two layers the upper one took a name that was given.
            both = (self.row_places[row_id], (file.layer, where))
            first, second = sorted(both, key=lambda place: place[0])
            self.sources.issue(second[1], f"row `{row_id}` twice", f"the other is {first[1]}")
            return
        self.row_places[row_id] = (file.layer, where)
        listed = list(row.get("modes", ()))
        by_value = row.get("modes_by", {})
        for path, table in by_value.items():
            for value, wanted in table.items():
                self.known_modes(wanted, source, ("rows", index, "modes_by", path, value))
        self.known_modes(listed, source, ("rows", index, "modes"))
        node = self.condition(row["when"], source, ("rows", index, "when"))
        captures = {}
        for name, patterns in row.get("capture", {}).items():
            captures[name] = [self.expander.pattern(pattern) for pattern in _list(patterns)]
            self.check_patterns(_list(patterns), source, ("rows", index, "capture", name))
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

    def known_modes(self, wanted: Sequence[int], source: Source, path: Steps) -> None:
        for position, number in enumerate(wanted):
            mode = self.modes.get(number)
            if mode is not None and mode.merged_into is None:
                continue
            what = "has no document" if mode is None else f"was merged into §{mode.merged_into}"
            where = source.where(*path, position)
            self.sources.issue(where, f"§{number} {what}", "write a live § of rules/modes")

    def actions(self) -> None:
        check = validator(self.sources.root, "action")
        for _, source in self.sources.of("table"):
            for index, row in enumerate(source.data.get("rows", ())):
                path = ("rows", index)
                blocks: list[tuple[Steps, str, Any]] = [
                    ((*path, key), key, row[key]) for key in ("do", "retry") if key in row
                ]
                for fact, table in row.get("do_by", {}).items():
                    blocks += [
                        ((*path, "do_by", fact, value), "do", block)
                        for value, block in table.items()
                    ]
                for steps, key, block in blocks:
                    self.sources.check_block(check, "action", source, {key: block}, steps, skip=1)


def compile_rules(root: Path, files: Sequence[RuleFile]) -> dict[str, Any]:
    """Compile rule files into the sections of one table; raises `RuleError` with all faults."""
    from triage.modes import load_modes, to_data

    sources = RuleSources(root, files)
    sources.read()
    for kind, schema in _SCHEMAS:
        sources.check(kind, schema)
    sources.stop_if_broken()
    modes = load_modes(root / "modes")
    compiler = _Compiler(sources, modes)
    compiler.actions()
    predicates = compiler.vocabulary()
    compiler.chapters()
    if not compiler.rows:
        sources.issue(f"{root}:1:1", "a table without rows", "add rules/table/*.yaml")
    sources.stop_if_broken()
    return {
        "hot": _hot(compiler, predicates),
        "modes": to_data(modes),
        "effects": sources.merged("effects"),
        "policy": {kind: _merged_or_ours(sources, kind) for kind in ("bundle", "policy")},
        "secrets": _secrets(sources),
        "agents": {file.path.stem: source.data for file, source in sources.of("agents")},
        "cold": compiler.cold,
    }


def _hot(compiler: _Compiler, predicates: list[Any]) -> dict[str, Any]:
    from triage.literals import grams_of
    from triage.pattern import needs
    from triage.pattern_search import quick_sign
    from triage.regex_cost import quick_chars
    from triage.regex_shape import stays_on_a_line

    sources = list(compiler.expander.patterns)
    needed = [needs(source) for source in sources]
    whens = [row["when"] for row in compiler.rows]
    costs = [pattern_cost(item.clauses) for item in needed]
    index, rows_of, gates = file_rows(whens, predicates, costs)
    # Only patterns searched in the streams' text are prefiltered; the rest look elsewhere.
    scanned = sorted(searched_in_text([*whens, *predicates]))
    return {
        "patterns": sources,
        "quick": "".join(quick_sign(quick_chars(source)) for source in sources),
        "lines": "".join("01"[stays_on_a_line(source)] for source in sources),
        "clauses": [[list(clause) for clause in item.clauses] for item in needed],
        "scanned": scanned,
        **grams_of({pid: needed[pid].clauses for pid in scanned}),
        "predicates": predicates,
        "predicate_names": list(compiler.expander.predicates),
        "rows": compiler.rows,
        "index": index,
        "rows_of": rows_of,
        "gates": gates,
    }


def _merged_or_ours(sources: RuleSources, kind: str) -> Any:
    # No folder of rules can do without these two, and few have a word to say about them.
    return sources.merged(kind) or _ours(kind)


def _ours(kind: str) -> Any:
    from triage.rules_folder import builtin_rules

    path = Path(builtin_rules()) / f"{kind}.yaml"
    return load_yaml(str(path), path.read_text("utf-8")).data


def _secrets(sources: RuleSources) -> Any:
    """What is masked: an overlay adds to ours, and no folder of rules can do without ours."""
    from triage.redact import export_patterns

    files = [source.data for file, source in sources.of("secrets")]
    if not any(file.layer == 0 for file, _ in sources.of("secrets")):
        files.insert(0, _ours("secrets"))
    merged: dict[str, list[Any]] = {}
    for data in files:
        for key in ("tokens", "places", "commands"):
            merged.setdefault(key, []).extend(data.get(key, ()))
    return export_patterns(merged)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
