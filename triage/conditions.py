"""A row's `when:` as written -> the compiled condition `triage.match` walks.

Sugar is taken out here: sets become their members, `prompt:` and `http:` become text conditions,
patterns become numbers in one list, so that the matcher has few words and the prefilter sees all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from triage.errors import LocatedIssue
from triage.pattern import alternatives

__all__ = ["Expander", "Report", "circle_through"]

Report = Callable[[tuple[Any, ...], str, str], None]
Node = list[Any]

EXIT_CLASSES_HELP = "a number, a range such as 129-143, null, or a class of triage.exits"


class Expander:
    """Turns conditions of one table into nodes; gathers its patterns and named predicates."""

    def __init__(
        self,
        names: Mapping[str, list[str]],
        word_sets: Mapping[str, list[str]],
        prompts: Mapping[str, list[dict[str, Any]]],
        languages: Mapping[str, list[str]],
        http: list[str],
        exit_classes: frozenset[str],
    ) -> None:
        self.names = names
        self.word_sets = word_sets
        self.prompts = prompts
        self.languages = languages
        self.http = http
        self.exit_classes = exit_classes
        self.patterns: dict[str, int] = {}
        self.predicates: dict[str, int] = {}
        self.issues: list[LocatedIssue] = []

    def pattern(self, source: str) -> int:
        return self.patterns.setdefault(source, len(self.patterns))

    def when(self, data: Mapping[str, Any], report: Report, path: tuple[Any, ...]) -> Node:
        """Compile one `when:`; faults go to `report(path, what, remedy)`."""
        children = [self._word(word, value, report, (*path, word)) for word, value in data.items()]
        return children[0] if len(children) == 1 else ["all", children]

    def _word(self, word: str, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        if word in ("all", "any"):
            return [word, [self.when(item, report, (*path, i)) for i, item in enumerate(value)]]
        if word == "not":
            if not isinstance(value, list):
                return ["not", self.when(value, report, path)]
            inner = [self.when(item, report, (*path, i)) for i, item in enumerate(value)]
            return ["not", inner[0] if len(inner) == 1 else ["any", inner]]
        if word in ("text", "stdout", "stderr", "error"):
            return self._text("any" if word == "text" else word, value, report, path)
        method = getattr(self, f"_{word}")
        result: Node = method(value, report, path)
        return result

    def _is(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        nodes = []
        for name in _list(value):
            if name not in self.predicates:
                known = ", ".join(sorted(self.predicates)) or "none"
                report(path, f"no predicate `{name}` in vocabulary.yaml", f"known are: {known}")
                continue
            nodes.append(["is", self.predicates[name]])
        return nodes[0] if len(nodes) == 1 else ["all", nodes]

    def _exit(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        items: list[Any] = []
        for item in _list(value):
            if isinstance(item, str):
                low, dash, high = item.partition("-")
                if dash and low.isdigit() and high.isdigit():
                    if int(low) > int(high):
                        report(path, f"`{item}` holds nothing", f"write {high}-{low}")
                    items.append([int(low), int(high)])
                    continue
                if item not in self.exit_classes:
                    report(path, f"`{item}` is no exit status", f"write {EXIT_CLASSES_HELP}")
            items.append(item)
        return ["exit", items]

    def _text(self, stream: str, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        if not isinstance(value, Mapping):
            value = {"pattern": value}
        sources = _list(value["pattern"]) if "pattern" in value else self._set(value, report, path)
        after = value.get("after")
        return [
            "text",
            value.get("in", stream),
            value.get("window", "all"),
            [self.pattern(part) for source in sources for part in alternatives(source)],
            None if after is None else self.pattern(after),
            value.get("count", 1),
        ]

    def _set(self, value: Mapping[str, Any], report: Report, path: tuple[Any, ...]) -> list[str]:
        name = value["set"]
        if name not in self.word_sets:
            known = ", ".join(sorted(self.word_sets))
            report(path, f"no set of patterns `{name}` under sets/", f"known are: {known}")
        return self.word_sets.get(name, [])

    def _raw(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        if not isinstance(value, Mapping):
            value = {"pattern": value}
        return ["raw", value.get("in", "any"), [self.pattern(p) for p in _list(value["pattern"])]]

    def _paths(self, word: str, value: Any) -> Node:
        if value is True:
            return [word, []]
        return [word, [[path, self._tests(test)] for path, test in value.items()]]

    def _envelope(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        return self._paths("envelope", value)

    def _json(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        return self._paths("json", value)

    def _extraction(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        tests = [
            [name, [["kind", _list(test)]] if name == "kind" else self._tests(test)]
            for name, test in value.items()
        ]
        return ["extraction", tests]

    def _named(self, word: str, value: Any) -> Node:
        return [word, [[name, self._tests(test)] for name, test in value.items()]]

    def _timing(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        return self._named("timing", value)

    def _size(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        return self._named("size", value)

    def _observed(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        return self._named("observed", value)

    def _agent(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        return self._named("agent", value)

    def _empty(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        return ["empty", ["stdout", "stderr"] if value == "both" else _list(value)]

    def _mid_structure(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        return ["mid_structure", value]

    def _prompt(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        nodes: list[Node] = []
        for kind in _list(value):
            if kind not in self.prompts:
                known = ", ".join(sorted(self.prompts))
                report(path, f"no prompt kind `{kind}` under sets/", f"known are: {known}")
            for look in self.prompts.get(kind, []):
                if "raw" in look:
                    node = self._raw(
                        {"in": look.get("in", "any"), "pattern": look["raw"]}, report, path
                    )
                else:
                    node = self._text("any", {"window": "last_line", **look}, report, path)
                nodes.append(node)
        return ["any", nodes]

    def _language(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        codes = sorted(self.languages) if value is True else value
        nodes: list[Node] = []
        for code in codes:
            if code not in self.languages:
                known = ", ".join(sorted(self.languages))
                report(path, f"no language `{code}` under sets/", f"known are: {known}")
                continue
            nodes.append(self._text("any", self.languages[code], report, path))
        return ["language", None if value is True else codes, nodes, value is True]

    def _http(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        if not isinstance(value, Mapping):
            value = {"status": value}
        alternatives = "|".join(
            f"{str(status)[0]}\\d\\d" if isinstance(status, str) else str(status)
            for status in _list(value["status"])
        )
        sources = [context.replace("{status}", f"(?:{alternatives})") for context in self.http]
        text = {"in": value.get("in", "any"), "window": value.get("window", "all")}
        return self._text("any", {**text, "pattern": sources}, report, path)

    def _command(self, value: Any, report: Report, path: tuple[Any, ...]) -> Node:
        line: list[Node] = []
        stage: list[Node] = []
        for name, wanted in value.items():
            if name in ("shape", "without_shape", "effect"):
                line.append([name, _list(wanted)])
            elif name in ("masks_status", "json_wanted", "owner_certain"):
                line.append([name, wanted])
            elif name == "line":
                line.append([name, self.pattern(wanted)])
            elif name == "program":
                stage.append(
                    [name, [item.casefold() for item in self._programs(wanted, report, path)]]
                )
            elif name == "subcommand":
                stage.append([name, [item.split() for item in _list(wanted)]])
            elif name in ("args", "redirects"):
                stage.append([name, self.pattern(wanted)])
            elif name == "words":
                stage.append([name, self._tests(wanted)])
            elif name != "stage":
                stage.append([name, _list(wanted)])
        return ["command", line, stage, value.get("stage", "owner")]

    def _programs(self, value: Any, report: Report, path: tuple[Any, ...]) -> list[str]:
        if not isinstance(value, Mapping):
            return _list(value)
        name = value["set"]
        if name not in self.names:
            known = ", ".join(sorted(self.names))
            report(path, f"no set of names `{name}` under sets/", f"known are: {known}")
        return self.names.get(name, [])

    def _tests(self, value: Any) -> Node:
        if not isinstance(value, Mapping):
            return [["in", _list(value)]]
        tests: Node = []
        for kind, wanted in value.items():
            if kind == "matches":
                wanted = self.pattern(wanted)
            elif kind == "kind":
                wanted = _list(wanted)
            tests.append([kind, wanted])
        return tests


def circle_through(start: int, nodes: Sequence[Node]) -> list[int]:
    """Return the way from predicate `start` back to itself, [] where there is none."""
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


def _references(node: Node) -> list[int]:
    if node[0] == "is":
        return [node[1]]
    if node[0] in ("all", "any"):
        return [target for child in node[1] for target in _references(child)]
    return _references(node[1]) if node[0] == "not" else []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
