"""The failure modes (§N): one Markdown document each, read into frozen `Mode` records.

Tier, signature, fallback and first action are written once, on lines of the document that grep
finds; the engine reads the same lines, so the two can't disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from triage.errors import LocatedIssue, RuleError, TriageError
from triage.frozen import frozen

if TYPE_CHECKING:
    from pathlib import Path

    from triage.model import Tier
    from triage.yaml_source import Source

__all__ = ["LINES", "Mode", "from_data", "load_modes", "mode_from_data", "to_data"]

# The labels of the lines that grep finds, in the order in which a document shows them.
LINES = ("Signature", "Tier", "Fallback", "First action", "Rows")

_SEED_ROWS = 16
_FILE_NAME = r"([0-9]{2})-([a-z0-9]+(?:-[a-z0-9]+)*)\.md"
_LABELLED = r"\*\*([A-Z][a-z]+(?: [a-z]+)?):\*\*(.*)"
_TUPLES = ("rows", "related")


@frozen()
class Mode:
    """One failure mode as its document states it.

    `rows` are the seed's rows that link it, `related` other §N. `merged_into` is the live §N of
    a stub, else None. `fallback` is None only where tier A or B needs none. `doc` is a file name.
    """

    id: int
    slug: str
    title: str
    part: str
    severity: str
    frequency: str
    detectability: str
    tier: Tier
    observable: str
    signature: str
    fallback: str | None
    first_action: str
    rows: tuple[int, ...]
    related: tuple[int, ...]
    merged_into: int | None
    doc: str


def load_modes(directory: Path, schema: Path | None = None) -> dict[int, Mode]:
    """Read every ``NN-slug.md`` of a folder; keys are the §N, ascending.

    `schema` is the JSON Schema of the front matter, ``../schema/mode.schema.json`` unless given.
    Raises `RuleError` with file:line:column for each defect found, never after the first only.
    """
    if not directory.is_dir():
        raise RuleError([LocatedIssue(f"{directory}:1:1", "no such folder", "name rules/modes")])
    check = _validator(schema or directory.parent / "schema" / "mode.schema.json")
    issues: list[LocatedIssue] = []
    documents: list[_Document] = []
    for path in sorted(directory.glob("*.md")):
        try:
            document = _Document(str(path), path.name, path.read_bytes().decode("utf-8"))
            document.read(check)
        except UnicodeDecodeError as error:
            issues.append(LocatedIssue(f"{path}:1:1", f"not UTF-8: {error.reason}", "re-encode it"))
        except RuleError as error:
            issues.extend(error.issues)
        else:
            issues.extend(document.issues)
            documents.append(document)
    issues.extend(_cross_check(documents))
    if issues:
        raise RuleError(issues)
    modes = (document.mode() for document in documents)
    return {mode.id: mode for mode in sorted(modes, key=lambda mode: mode.id)}


def to_data(modes: Mapping[int, Mode]) -> list[dict[str, Any] | None]:
    """Plain JSON data of `modes` for the compiled table: §N at place N, None where there is none.

    `from_data` reads all of it back, `mode_from_data` one entry: a verdict needs no more.
    """
    from dataclasses import asdict

    return [
        asdict(modes[number]) if number in modes else None
        for number in range(max(modes, default=-1) + 1)
    ]


def from_data(data: Any) -> dict[int, Mode]:
    """The modes that `to_data` wrote; raises `TriageError` when `data` has another shape."""
    try:
        modes = [mode_from_data(entry) for entry in data if entry is not None]
    except TypeError as error:
        raise _misshapen(error) from None
    return {mode.id: mode for mode in modes}


def mode_from_data(data: Any) -> Mode:
    """The mode that is one entry of `to_data`; raises `TriageError` as `from_data` does."""
    try:
        fields: dict[str, Any] = {**data}
        for name in _TUPLES:
            fields[name] = tuple(fields[name])
        return Mode(**fields)
    except (TypeError, KeyError) as error:
        raise _misshapen(error) from None


def _misshapen(error: Exception) -> TriageError:
    return TriageError(
        "compiled modes", f"not what this version writes: {error}", "compile the rules again"
    )


class _Document:
    """One file on its way to a `Mode`; collects issues instead of stopping at the first."""

    def __init__(self, path: str, name: str, text: str) -> None:
        self.path = path
        self.name = name
        self.lines = text.split("\n")
        self.issues: list[LocatedIssue] = []
        self.front: dict[str, Any] = {}
        self.source: Source
        self.found: dict[str, tuple[int, int, str]] = {}

    def read(self, check: Any) -> None:
        """Fill `front` and `found`; raises `RuleError` where the front matter can't be read."""
        end = self._read_front(check)
        self._read_lines(end)
        if not self.issues:
            self._compare()

    def mode(self) -> Mode:
        """The finished record; only for a document without issues."""
        front = self.front
        return Mode(
            id=front["id"],
            slug=front["slug"],
            title=front["title"],
            part=front["part"],
            severity=front["severity"],
            frequency=front["frequency"],
            detectability=front["detectability"],
            tier=front["tier"],
            observable=front["observable"],
            signature=self.found["Signature"][2],
            fallback=self.found["Fallback"][2] if "Fallback" in self.found else None,
            first_action=self.found["First action"][2],
            rows=_numbers(self.found["Rows"][2]) or (),
            related=tuple(front["related"]),
            merged_into=front.get("merged_into"),
            doc=self.name,
        )

    def issue(self, where: str, what: str, remedy: str) -> None:
        self.issues.append(LocatedIssue(where, what, remedy))

    def _read_front(self, check: Any) -> int:
        from pathlib import Path

        from triage.schema_words import complaint, schema_place
        from triage.yaml_source import load_yaml

        if self.lines[0].rstrip() != "---":
            raise RuleError(
                [LocatedIssue(f"{self.path}:1:1", "no front matter", "begin with a line `---`")]
            )
        ends = (i for i, line in enumerate(self.lines) if i and line.rstrip() == "---")
        end = next(ends, None)
        if end is None:
            raise RuleError(
                [LocatedIssue(f"{self.path}:1:1", "front matter without an end", "add `---`")]
            )
        # An empty first line stands for the `---`, so that marks are lines of the whole file.
        self.source = load_yaml(self.path, "\n" + "\n".join(self.lines[1:end]) + "\n")
        beside = Path(self.path).parent.parent / "schema" / "mode.schema.json"
        for error in check.iter_errors(self.source.data):
            self.issue(
                self.source.where(*error.absolute_path),
                complaint(error),
                f"see {schema_place(beside)}",
            )
        if not self.issues:
            self.front = self.source.data
        return end

    def _read_lines(self, end: int) -> None:
        import re

        for number, line in enumerate(self.lines[end + 1 :], end + 2):
            labelled = re.match(_LABELLED, line)
            if labelled is None or labelled[1] not in LINES:
                continue
            label, value = labelled[1], labelled[2].strip()
            where = f"{self.path}:{number}:1"
            if label in self.found:
                self.issue(where, f"a second line `**{label}:**`", "keep one")
            elif not value:
                self.issue(where, f"`**{label}:**` says nothing", "finish the line")
            else:
                column = line.index(value, labelled.start(2)) + 1
                self.found[label] = (number, column, value)
        for label in LINES:
            told = label in self.found or any(f"`**{label}:**`" in i.what for i in self.issues)
            if not told and label != "Fallback":
                self.issue(
                    f"{self.path}:{end + 1}:1", f"no line `**{label}:**`", "add it below the title"
                )

    def _compare(self) -> None:
        """Hold the parts against each other: file name, front matter, lines."""
        import re

        front, named = self.front, re.fullmatch(_FILE_NAME, self.name)
        if named is None:
            self.issue(f"{self.path}:1:1", "the file is not named NN-slug.md", "rename it")
        elif (int(named[1]), named[2]) != (front["id"], front["slug"]):
            self.issue(
                self.source.where("id"),
                f"id {front['id']} and slug {front['slug']} are not what the file is named after",
                f"name it {front['id']:02d}-{front['slug']}.md",
            )
        tier = self.found["Tier"][2]
        if tier not in ("A", "B", "C"):
            self.issue(self.place("Tier"), f"tier `{tier}`", "write A, B or C and nothing else")
        elif tier != front["tier"]:
            self.issue(
                self.place("Tier"), f"tier {tier}, front matter says {front['tier']}", "correct one"
            )
        elif tier == "C" and "Fallback" not in self.found:
            # A caller that can't do tier C has nothing else to do (seed).
            self.issue(self.place("Tier"), "tier C without `**Fallback:**`", "add the line")
        if _numbers(self.found["Rows"][2]) is None:
            self.issue(
                self.place("Rows"),
                f"rows `{self.found['Rows'][2]}`",
                f"write `none` or ascending numbers of 1 to {_SEED_ROWS}, like `2, 6`",
            )
        if (front["observable"] == "merged") != ("merged_into" in front):
            self.issue(
                self.source.where("observable"),
                "`observable: merged` and `merged_into` go together",
                "write both or neither",
            )

    def place(self, label: str) -> str:
        line, column, _ = self.found[label]
        return f"{self.path}:{line}:{column}"


def _numbers(text: str) -> tuple[int, ...] | None:
    """The rows of a ``**Rows:**`` line; None when the text is no such list."""
    if text == "none":
        return ()
    parts = [part.strip() for part in text.split(",")]
    # The length is looked at first: int() refuses numbers of thousands of digits by raising.
    if not all(part.isascii() and part.isdigit() and len(part) <= 2 for part in parts):
        return None
    rows = tuple(int(part) for part in parts)
    ascending = rows == tuple(sorted(set(rows)))
    return rows if ascending and rows[0] >= 1 and rows[-1] <= _SEED_ROWS else None


def _cross_check(documents: list[_Document]) -> Iterator[LocatedIssue]:
    """Issues between documents: an id twice, references to nowhere, stubs of stubs."""
    whole = [document for document in documents if document.front]
    first: dict[int, _Document] = {}
    for document in whole:
        number = document.front["id"]
        if number in first:
            where = document.source.where("id")
            yield LocatedIssue(where, f"§{number} is {first[number].name} too", "give each its own")
        first.setdefault(number, document)
    for document in whole:
        front, source = document.front, document.source
        for position, number in enumerate(front["related"]):
            if number not in first or number == front["id"]:
                where = source.where("related", position)
                yield LocatedIssue(where, f"§{number} is no other document", "name one that exists")
        target = front.get("merged_into")
        if target is None:
            continue
        where = source.where("merged_into")
        if target not in first or "merged_into" in first[target].front:
            yield LocatedIssue(where, f"§{target} is no live document", "name the live one")
        elif first[target].front["tier"] != front["tier"]:
            yield LocatedIssue(
                source.where("tier"), f"not the tier of §{target}", "a stub has its target's tier"
            )


def _validator(schema: Path) -> Any:
    import json

    from jsonschema import Draft202012Validator

    try:
        return Draft202012Validator(json.loads(schema.read_bytes()))
    except (OSError, ValueError) as error:
        raise RuleError(
            [LocatedIssue(f"{schema}:1:1", f"no readable schema: {error}", "restore the file")]
        ) from None
