"""From a case to a row that begins to explain it: a skeleton for a person to finish.

Its pattern is the most telling line with what changes from run to run left open; its samples are
the case itself and the same call without its symptom.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from triage.command import parse_command
from triage.errors import UsageError
from triage.scaffold import ID, schema_line
from triage.yaml_source import load_yaml

__all__ = ["add_row", "row_skeleton"]

_SCHEMA = "../schema/chapter.schema.json"
_LONGEST_PATTERN = 90
_SAMPLE_KEYS = ("exit_code", "command", "stdout", "stderr", "merged", "timed_out")
_TELLING = re.compile(
    r"(?i)\b(?:error|fail|fatal|cannot|can't|could not|unable|denied|refused|not)"
)
# What differs from run to run in a message: quoted names, addresses, paths, numbers.
_VARIABLE = re.compile(
    r"""(?P<quoted>"[^"]*"|'[^']*'|`[^`']*[`'])|(?P<word>\[masked:[^]]*]|\S*[/\\]\S*)|(?P<number>\d+)"""
)
_NO_ROWS = re.compile(r"(?m)^rows: *\[\].*\n?")
_OPENED = {"quoted": "[\"'`][^\"'`\\n]{1,80}[\"'`]", "word": r"\S{1,120}", "number": r"\d+"}


def row_skeleton(row_id: str, case: Mapping[str, Any], chapter: str) -> str:
    """Return a row that takes this case, as YAML to be narrowed and widened by a person."""
    if not ID.fullmatch(row_id):
        raise UsageError("--row-id", f"{row_id!r} is no id", "write words-joined-by-dashes")
    why = " ".join(case["why"].split())
    if len(why) < 20:
        raise UsageError("--why", "a row's reason has at least 20 characters", "say more")
    capture = {
        key: value
        for key, value in case["capture"].items()
        if key in _SAMPLE_KEYS and value != "" and not isinstance(value, bytes)
    }
    code = capture["exit_code"]
    number = int(chapter[:2])
    lines = [f"  - id: {row_id}"]
    if case["expect"]["row"] is not None:
        lines.append(f"    row: {number}")
    if case["expect"].get("modes"):
        lines.append(f"    modes: {case['expect']['modes']}")
    lines.append("    when:")
    lines.append(f"      exit: {'zero' if code == 0 else 'unknown' if code is None else 'nonzero'}")
    stream, pattern = _telling(capture)
    if pattern:
        lines.append(f"      {stream}: {_quoted(pattern)}")
    elif capture.get("command"):
        program = parse_command(_command(capture["command"])).programs
        if program:
            lines.append(f"      command: {{program: {sorted(program)[0]}}}")
    if case["expect"]["verdict"] != "failure":
        lines.append(f"    verdict: {case['expect']['verdict']}")
    lines.append(f"    why: {_quoted(why)}")
    lines.append("    match:")
    lines.append(f"      - {_flow(capture)}")
    lines.append("    no_match:")
    other = {"exit_code": 0 if code != 0 else 1, **_only(capture, "command")}
    lines.append(f"      - {_flow(other)}")
    return "\n".join(lines) + "\n"


def _only(capture: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {key: capture[key]} if key in capture else {}


def _command(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _telling(capture: Mapping[str, Any]) -> tuple[str, str]:
    """The stream and a pattern of the line that says most, "" where nothing was printed."""
    for stream in ("stderr", "stdout"):
        lines = [line.strip() for line in str(capture.get(stream, "")).split("\n") if line.strip()]
        if lines:
            said = [line for line in lines if _TELLING.search(line)]
            line = said[-1] if said else lines[-1]
            return ("text" if capture.get("merged") else stream), _pattern(line)
    return "text", ""


def _pattern(line: str) -> str:
    """A line as a pattern: what changes from run to run is left open, the words stay."""
    parts, position = [], 0
    for match in _VARIABLE.finditer(line):
        parts.append(re.escape(line[position : match.start()]))
        parts.append(_OPENED[match.lastgroup or "word"])
        position = match.end()
        if sum(map(len, parts)) > _LONGEST_PATTERN:
            break
    else:
        parts.append(re.escape(line[position:][:_LONGEST_PATTERN]))
    pattern = "".join(parts).replace(r"\ ", " ").replace(r"\-", "-")
    return pattern.rstrip("\\ ")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _flow(capture: Mapping[str, Any]) -> str:
    pairs = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in capture.items()]
    return "{" + ", ".join(pairs) + "}"


def add_row(path: Path, skeleton: str, *, create: bool = False) -> int:
    """Put a row before the last row of a chapter, whose general entry it is; returns its line.

    The rest of the file stays as it is, to the byte. `create` makes the chapter where there is
    none (overlays). Raises `UsageError` where there is no such chapter or the id is taken.
    """
    row_id = skeleton.split("id: ", 1)[1].split("\n", 1)[0]
    if not path.is_file():
        if not create:
            chapters = ", ".join(sorted(item.stem for item in path.parent.glob("*.yaml"))) or "none"
            raise UsageError("--chapter", f"no chapter {path.stem!r}", f"there are {chapters}")
        path.parent.mkdir(parents=True, exist_ok=True)
        head = schema_line(path.parent, _SCHEMA) + "rows:\n"
        path.write_text(head + skeleton, encoding="utf-8")
        return head.count("\n") + 1
    text = path.read_text("utf-8")
    source = load_yaml(str(path), text)
    rows = source.data.get("rows", [])
    if any(row["id"] == row_id for row in rows):
        raise UsageError("--row-id", f"there is a row `{row_id}` in {path}", "give another id")
    lines = text.split("\n")
    if rows:
        place = int(source.where("rows", len(rows) - 1).rsplit(":", 2)[1]) - 1
        lines[place:place] = [*skeleton.rstrip("\n").split("\n"), ""]
    else:
        # A chapter that only disables.
        head = _NO_ROWS.sub("", text).rstrip("\n")
        lines = [*head.split("\n"), "rows:", *skeleton.split("\n")]
        place = lines.index("rows:") + 1
    changed = "\n".join(lines)
    ids = [row["id"] for row in load_yaml(str(path), changed).data["rows"]]
    if ids != [*(row["id"] for row in rows[:-1]), row_id, *(row["id"] for row in rows[-1:])]:
        raise UsageError(str(path), "its rows are not in block style", "add the row by hand")
    path.write_text(changed, encoding="utf-8")
    return place + 1
