"""All formats by name, loaded from the rules once per process."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from triage.agents.format_model import Format, Meaning
from triage.agents.format_rules import compile_format, meanings
from triage.errors import LocatedIssue, RuleError, UsageError

__all__ = ["Formats", "load_formats"]


class Formats:
    """All formats known, by name; and what the subtypes and terminal reasons mean."""

    __slots__ = ("_names", "all", "reasons", "subtypes")

    def __init__(
        self,
        formats: Iterable[Format],
        reasons: Mapping[str, Meaning],
        subtypes: Mapping[str, Meaning],
    ) -> None:
        self.all = tuple(formats)
        self.reasons = reasons
        self.subtypes = subtypes
        self._names: dict[str, Format] = {}
        for item in self.all:
            for name in (item.id, *item.aliases):
                self._names.setdefault(name, item)

    def get(self, name: str) -> Format | None:
        """Return the format of this id or alias, ``claude-code/json`` included, else None."""
        key = name.strip().casefold().replace("_", "-")
        return self._names.get(key) or self._names.get(re.split(r"[/:]", key, maxsplit=1)[0])

    def named(self, name: str) -> Format:
        """Return the format of this name; raises `UsageError` naming those there are."""
        found = self.get(name)
        if found is None:
            known = ", ".join(item.id for item in self.all)
            raise UsageError("format", f"no agent format {name!r}", f"write one of: {known}")
        return found

    def of_program(self, program: str) -> Format | None:
        """Return the format of the CLI with this program name."""
        name = program.casefold()
        for item in self.all:
            if name in item.programs:
                return item
        return None


def load_formats(data: Mapping[str, Any] | None = None, *, key: str | None = None) -> Formats:
    """Compile the formats of `data` (file stem -> YAML data); None: the built-in rules/agents.

    `key` names the data (a table's content hash): what was compiled under it once is used again.
    Raises `RuleError` that names every fault.
    """
    name = "" if data is None else key
    known = None if name is None else _compiled.get(name)
    if known is not None:
        return known
    found = _compile(_read_builtin() if data is None else data)
    if name is not None:
        if len(_compiled) >= _MOST_TABLES:
            _compiled.clear()
        _compiled[name] = found
    return found


_compiled: dict[str, Formats] = {}
_MOST_TABLES = 16


def _read_builtin() -> dict[str, Any]:
    from pathlib import Path as Folder

    from triage.yaml_source import load_yaml

    here = Folder(__file__).resolve().parent.parent
    inside = here / "rules" / "agents"
    folder = inside if inside.is_dir() else here.parent / "rules" / "agents"
    return {
        path.stem: load_yaml(f"rules/agents/{path.name}", path.read_text("utf-8")).data
        for path in sorted(folder.glob("*.yaml"))
    }


def _compile(data: Mapping[str, Any]) -> Formats:
    issues: list[LocatedIssue] = []
    tables: dict[str, dict[str, Meaning]] = {"reasons": {}, "subtypes": {}}
    formats = []
    for item in data.values():
        for key, table in tables.items():
            if "id" not in item:
                table.update(meanings(item.get(key, {})))
    for stem, item in data.items():
        if "id" in item:
            formats.append(compile_format(f"rules/agents/{stem}.yaml", item, issues))
    if issues:
        raise RuleError(issues)
    # A format that any JSON may look like stands last.
    formats.sort(key=lambda item: (item.id == "generic", item.id))
    return Formats(formats, tables["reasons"], tables["subtypes"])
