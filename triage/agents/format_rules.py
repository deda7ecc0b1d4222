"""One format file -> one `Format`: paths split, patterns compiled, rules filed by event type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from triage.agents.format_model import EFFECTS, MODIFIERS, Format, LineRule, Meaning, Rule
from triage.agents.values import Path, parse_path
from triage.agents.when import TESTS, Test, When, one_of
from triage.errors import LocatedIssue

__all__ = ["compile_format", "meanings"]

_FLAGS = re.ASCII | re.IGNORECASE | re.MULTILINE


def compile_format(where: str, data: Mapping[str, Any], issues: list[LocatedIssue]) -> Format:
    """Compile the data of one file; faults are added to `issues`."""
    return _Compiler(where, issues).format(data)


def meanings(data: Mapping[str, Any]) -> dict[str, Meaning]:
    """Compile a table of subtypes or terminal reasons."""
    return {
        name: Meaning(entry["class"], entry.get("subtype", name), entry.get("reason"))
        for name, entry in data.items()
    }


class _Compiler:
    def __init__(self, where: str, issues: list[LocatedIssue]) -> None:
        self.where = where
        self.issues = issues

    def format(self, data: Mapping[str, Any]) -> Format:
        type_path = data.get("type", "type")
        events = [
            (_types(item.get("when", {}), type_path), item) for item in data.get("events", ())
        ]
        rules = [
            (types, self.rule(item, parse_path(type_path) if types is not None else None))
            for types, item in events
        ]
        command = data.get("command", {})
        return Format(
            id=data["id"],
            title=data["title"],
            aliases=tuple(data.get("aliases", ())),
            programs=tuple(command.get("programs", ())),
            run_flags=frozenset(command.get("flags", ())),
            run_words=frozenset(command.get("words", ())),
            terminal=data.get("terminal", "never"),
            unfinished_is_cancelled=bool(data.get("unfinished_is_cancelled", False)),
            stderr_events=bool(data.get("stderr_events", False)),
            detect=tuple(
                (sign["rank"], self.when(sign["when"])) for sign in data.get("detect", ())
            ),
            by_type=_by_type(rules),
            type_path=parse_path(type_path),
            text=self.lines(data.get("text", ())),
            whole=self.lines(data.get("whole", ())),
            stderr=self.lines(data.get("stderr", ())),
            subtypes=meanings(data.get("subtypes", {})),
            usage_names=tuple(data.get("usage_names", {}).items()),
        )

    def rule(self, data: Mapping[str, Any], types: Path | None = None) -> Rule:
        for word in data:
            if word not in EFFECTS and word not in MODIFIERS:
                known = ", ".join([*EFFECTS, *sorted(MODIFIERS)])
                self.issues.append(LocatedIssue(self.where, f"no effect `{word}`", f"use {known}"))
        effects = []
        for word, kind in EFFECTS.items():
            if word in data:
                value = data[word]
                effects.append((word, _paths(value) if kind == "paths" else value))
        return Rule(
            when=self.when(data.get("when", {}), types),
            effects=tuple(effects),
            id=_paths(data.get("id", ())),
            details=_paths(data.get("details", ())),
            each=parse_path(data["each"]) if "each" in data else None,
            rules=tuple(self.rule(item) for item in data.get("rules", ())),
        )

    def when(self, data: Any, types: Path | None = None) -> When:
        """Compile a condition; a lone test of exact types at `types` is left to the index."""
        alternatives = _alternatives(data)
        if len(alternatives) > 1:
            types = None
        return tuple(
            tuple(
                (parse_path(path), self.test(test))
                for path, test in item.items()
                if types is None or parse_path(path) != types or isinstance(test, dict)
            )
            for item in alternatives
        )

    def test(self, data: Any) -> Test:
        if not isinstance(data, dict):
            return one_of(data if isinstance(data, list) else [data])
        tests = []
        for kind, wanted in data.items():
            if kind not in TESTS:
                known = ", ".join(sorted(TESTS))
                self.issues.append(LocatedIssue(self.where, f"no test `{kind}`", f"use {known}"))
                continue
            argument = self.pattern(wanted) if kind == "matches" else wanted
            tests.append(TESTS[kind](argument))
        if len(tests) == 1:
            return tests[0]
        return lambda value: all(test(value) for test in tests)

    def pattern(self, source: str) -> re.Pattern[str]:
        try:
            return re.compile(source, _FLAGS)
        except (re.error, RecursionError, OverflowError) as error:
            self.issues.append(
                LocatedIssue(self.where, f"{source!r} does not compile: {error}", "correct it")
            )
            return re.compile(r"(?!)")

    def lines(self, data: Sequence[Mapping[str, Any]]) -> tuple[LineRule, ...]:
        rules = []
        for item in data:
            effect = next(word for word in item if word != "matches")
            word = item[effect]
            rules.append(
                LineRule(self.pattern(item["matches"]), effect, word if word is not True else "")
            )
        return tuple(rules)


def _paths(value: Any) -> tuple[Path, ...]:
    items = value if isinstance(value, (list, tuple)) else [value]
    return tuple(parse_path(item) for item in items if isinstance(item, str))


def _alternatives(data: Any) -> list[Mapping[str, Any]]:
    return data if isinstance(data, list) else [data]


def _types(data: Any, type_path: str) -> set[str] | None:
    """The types that a condition as written asks for exactly; None where it asks for none."""
    found: set[str] = set()
    for alternative in _alternatives(data):
        exact = alternative.get(type_path)
        if exact is None or isinstance(exact, dict):
            return None
        found.update(exact if isinstance(exact, list) else [exact])
    return found


def _by_type(
    rules: Sequence[tuple[set[str] | None, Rule]],
) -> dict[str | None, tuple[Rule, ...]]:
    """Rules filed under each type their condition asks for, so that most are never tried."""
    names = {name for types, _ in rules if types is not None for name in types}
    filed: dict[str | None, tuple[Rule, ...]] = {
        name: tuple(rule for types, rule in rules if types is None or name in types)
        for name in names
    }
    filed[None] = tuple(rule for types, rule in rules if types is None)
    return filed
