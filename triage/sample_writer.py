"""Put samples into the rows they are for, as lines of the chapter's file; nothing else changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from triage.errors import UsageError
from triage.suggest import Suggestion
from triage.yaml_source import Source, load_yaml

__all__ = ["flow_line", "write_samples"]

_LONGEST_REMARK = 120


def flow_line(suggestion: Suggestion) -> str:
    """Return a sample as one line of YAML, with what it makes noticeable as a remark."""
    data = {"exit_code": suggestion.sample["exit_code"], **suggestion.sample}
    pairs = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in data.items()]
    remark = "; ".join(mutant.what for mutant in suggestion.notices)
    remark = "".join(char if char.isprintable() else " " for char in remark)
    if len(remark) > _LONGEST_REMARK:
        remark = remark[: _LONGEST_REMARK - 1] + "…"
    return f"- {{{', '.join(pairs)}}} # notices: {remark}"


def write_samples(suggestions: Sequence[Suggestion], files: Mapping[str, Path]) -> int:
    """Write each sample into its row's list; `files` maps a row's id to its chapter's file.

    Returns how many were written. A row whose list is not in block style is left alone. Raises
    `UsageError` where a file would not read back as what was meant.
    """
    by_file: dict[Path, list[Suggestion]] = {}
    for suggestion in suggestions:
        by_file.setdefault(files[suggestion.rule], []).append(suggestion)
    written = 0
    for path, listed in by_file.items():
        text = path.read_text("utf-8")
        changed, count = _with_samples(text, listed, str(path))
        if count:
            path.write_text(changed, encoding="utf-8")
        written += count
    return written


def _with_samples(text: str, suggestions: Sequence[Suggestion], name: str) -> tuple[str, int]:
    source = load_yaml(name, text)
    wanted = load_yaml(name, text).data
    rows = {row["id"]: (index, row) for index, row in enumerate(wanted["rows"])}
    lines = text.split("\n")
    places: list[tuple[int, str]] = []
    for suggestion in suggestions:
        index, row = rows[suggestion.rule]
        place = _end_of_list(lines, source, index, suggestion.kind)
        if place is None:
            continue
        line, indent = place
        places.append((line, " " * indent + flow_line(suggestion)))
        row[suggestion.kind].append(json.loads(json.dumps(suggestion.sample)))
    for already, (line, added) in enumerate(sorted(places, key=lambda place: place[0])):
        lines.insert(line + already, added)
    changed = "\n".join(lines)
    if _plain(load_yaml(name, changed).data) != _plain(wanted):
        raise UsageError(f"{name}:1:1", "the samples can't be written here", "add them by hand")
    return changed, len(places)


def _plain(data: Any) -> Any:
    return json.loads(json.dumps(data))


def _end_of_list(
    lines: Sequence[str], source: Source, index: int, kind: str
) -> tuple[int, int] | None:
    """The line after a row's list of samples, and how far its items are indented."""
    row = source.data["rows"][index]
    last = int(source.where("rows", index, kind, len(row[kind]) - 1).rsplit(":", 2)[1])
    head = lines[last - 1]
    indent = len(head) - len(head.lstrip())
    if not head.lstrip().startswith("- "):
        return None
    # An item may go on over further lines, which are indented deeper.
    while last < len(lines) and lines[last].strip():
        deeper = len(lines[last]) - len(lines[last].lstrip())
        if deeper <= indent:
            break
        last += 1
    return last, indent
