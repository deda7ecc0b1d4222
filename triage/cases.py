"""Labelled captures: one YAML file each, input and expectation side by side.

``corpus/<chapter>/<id>.yaml`` holds a call (``rules/schema/case.schema.json``), raw bytes stand
beside it; ``corpus/agents/<cli>/<name>.yaml`` holds an agent's stream. Folders that hold neither
(plans, fixtures) have no file with a label and are passed over.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from triage.capture_data import capture_from_mapping
from triage.errors import LocatedIssue, RuleError, TriageError, UsageError
from triage.model import Capture
from triage.yaml_source import Source, load_yaml

__all__ = ["Case", "load_cases", "only", "selector"]

_KEYS = frozenset(
    {"id", "tool", "tool_version", "source", "synthetic", "capture", "how", "expect"}
    | {"labelled_by", "why"}
)
_EXPECTED = frozenset({"verdict", "row", "row_alt", "modes", "literal_row", "rule"})
_VERDICTS = ("failure", "not_failure", "ambiguous", "insufficient")
# Not cases: what recorded them, what they were recorded against, raw streams beside them.
_OTHER_FOLDERS = frozenset({"plans", "fixtures"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One labelled capture.

    `place` is ``file:line:column`` of its expectation. `row` is the seed's row, None where the
    call did not fail; `row_alt` are rows as good, 0 for "no failure"; `modes` the acceptable §N,
    best first; `rule` the row id that is pinned, if any. `agent` is the verdict and subtype of an
    agent's stream, None for any other call.
    """

    id: str
    place: str
    path: Path
    chapter: str
    tool: str
    source: str
    synthetic: bool
    capture: Capture
    verdict: str
    row: int | None
    row_alt: tuple[int, ...] = ()
    modes: tuple[int, ...] = ()
    rule: str | None = None
    agent: tuple[str, str] | None = None
    why: str = ""

    def without_command(self) -> Case:
        """Return the same case as an observer saw it who did not note the command."""
        return replace(self, capture=replace(self.capture, command=None))


def load_cases(root: Path) -> Iterator[Case]:
    """Yield the cases below a folder, or the one of a file, in the order of their paths.

    Raises `RuleError` with file:line:column for every file that is no case, after the others.
    """
    issues: list[LocatedIssue] = []
    for path in _files(root):
        try:
            case = _load(path)
        except RuleError as error:
            issues.extend(error.issues)
            continue
        except TriageError as error:
            issues.append(LocatedIssue(error.where, error.what, error.remedy))
            continue
        if case is not None:
            yield case
    if issues:
        raise RuleError(issues)


def _files(root: Path) -> list[Path]:
    if root.is_file():
        return [root]
    if not root.is_dir():
        raise UsageError(str(root), "no such file or folder", "name a corpus folder or a case")
    return [
        path
        for path in sorted(root.rglob("*.yaml"))
        if not _OTHER_FOLDERS.intersection(path.relative_to(root).parts[:-1])
        and path.parent.name not in _OTHER_FOLDERS
    ]


def _load(path: Path) -> Case | None:
    name = _shown(path)
    try:
        source = load_yaml(name, path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{name}:1:1", f"can't be read: {error}", "save it as UTF-8") from None
    data = source.data
    if isinstance(data, Mapping) and "expected_verdict" in data:
        return _agent_case(path, source)
    if not isinstance(data, Mapping) or "expect" not in data:
        # Other YAML may lie in a corpus (its thresholds); a case says what it expects.
        return None
    _check(source)
    expect = data["expect"]
    return Case(
        id=data["id"],
        place=source.where("expect"),
        path=path,
        chapter=path.parent.name,
        tool=data["tool"],
        source=data["source"],
        synthetic=data.get("synthetic", False) or data["source"] == "synthetic",
        capture=_capture(path, source),
        verdict=expect["verdict"],
        row=expect["row"],
        row_alt=tuple(expect.get("row_alt", ())),
        modes=tuple(expect.get("modes", ())),
        rule=expect.get("rule"),
        why=data["why"],
    )


def _check(source: Source) -> None:
    """Faults that would make a label silently count for less; the schema says the rest."""
    data = source.data
    issues = [
        LocatedIssue(source.where(), f"key `{key}` is missing", "add it")
        for key in ("id", "tool", "source", "capture", "why")
        if key not in data
    ]
    issues += [
        LocatedIssue(source.where(key), f"unknown key `{key}`", "remove it or correct its name")
        for key in data.keys() - _KEYS
    ]
    expect = data["expect"]
    if not isinstance(expect, Mapping) or expect.get("verdict") not in _VERDICTS:
        one_of = ", ".join(_VERDICTS)
        issues.append(
            LocatedIssue(source.where("expect"), "no verdict", f"write verdict: one of {one_of}")
        )
    else:
        issues += [
            LocatedIssue(
                source.where("expect", key), f"unknown key `{key}`", "remove it or correct its name"
            )
            for key in expect.keys() - _EXPECTED
        ]
        if isinstance(expect.get("row"), int) is not (expect["verdict"] == "failure"):
            issues.append(
                LocatedIssue(
                    source.where("expect"), "row and verdict disagree", "a failure has one"
                )
            )
    if issues:
        raise RuleError(issues)


def _capture(path: Path, source: Source) -> Capture:
    data = dict(source.data["capture"])
    for stream in ("stdout", "stderr"):
        beside = data.pop(f"{stream}_file", None)
        if beside is None:
            continue
        file = path.parent / str(beside)
        try:
            data[stream] = file.read_bytes()
        except OSError as error:
            where = source.where("capture", f"{stream}_file")
            raise UsageError(
                where, f"{beside} can't be read: {error.strerror}", "restore it"
            ) from None
    return capture_from_mapping(data, source.where("capture"))


def _agent_case(path: Path, source: Source) -> Case:
    from triage.agents.cases import jsonl

    data = source.data
    name = path.with_suffix("").relative_to(path.parent.parent).as_posix()
    ok = data["expected_verdict"] == "ok"
    fields = {key: data[key] for key in ("exit_code", "stderr", "timed_out") if key in data}
    fields["stdout"] = data["stdout"] if "stdout" in data else jsonl(data.get("stdout_jsonl", ()))
    # An agent's error at exit 0 is row 2; other statuses may be any row's.
    row = None if ok else 2
    return Case(
        id=f"agents/{name}",
        place=source.where(),
        path=path,
        chapter="agents",
        tool=str(data["cli"]),
        source="synthetic",
        synthetic=True,
        capture=capture_from_mapping(fields, source.where()),
        verdict="not_failure" if ok else "failure",
        row=row,
        row_alt=() if ok else tuple(range(1, 17)),
        agent=(data["expected_verdict"], data["expected_subtype"]),
        why=data["why"],
    )


def _shown(path: Path) -> str:
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):
        return str(path)
    return str(path) if relative.startswith("..") else relative


def selector(expression: str) -> Callable[[Case], bool]:
    """Compile ``-k``: words found in a case's id, tool, chapter or source; and, or, not, ( ).

    Words beside each other must all be there. Raises `UsageError`.
    """
    tokens = expression.replace("(", " ( ").replace(")", " ) ").split()
    position = 0

    def peek() -> str:
        return tokens[position].lower() if position < len(tokens) else ""

    def either() -> Callable[[str], bool]:
        nonlocal position
        choices = [both()]
        while peek() == "or":
            position += 1
            choices.append(both())
        return lambda text: any(choice(text) for choice in choices)

    def both() -> Callable[[str], bool]:
        nonlocal position
        parts = [single()]
        while peek() not in ("", "or", ")"):
            if peek() == "and":
                position += 1
            parts.append(single())
        return lambda text: all(part(text) for part in parts)

    def single() -> Callable[[str], bool]:
        nonlocal position
        word = peek()
        if word in ("", "and", "or", ")"):
            raise UsageError("-k", f"{expression!r} is no expression", "write words, and, or, not")
        position += 1
        if word == "not":
            inner = single()
            return lambda text: not inner(text)
        if word == "(":
            group = either()
            if peek() != ")":
                raise UsageError("-k", f"a `(` of {expression!r} is not closed", "add `)`")
            position += 1
            return group
        return lambda text: word in text

    chosen = either()
    if position < len(tokens):
        raise UsageError("-k", f"a `)` of {expression!r} has no `(`", "remove it")
    return lambda case: chosen(f"{case.chapter}/{case.id} {case.tool} {case.source}".lower())


def only(cases: Iterable[Case], expression: str | None) -> list[Case]:
    """Return the cases that ``-k EXPR`` selects, all of them without one."""
    if expression is None:
        return list(cases)
    chosen = selector(expression)
    return [case for case in cases if chosen(case)]
