"""Labelled agent streams: corpus/agents/<cli>/<name>.yaml, input and expectation in one file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.errors import LocatedIssue, RuleError
from triage.yaml_source import load_yaml

__all__ = ["AgentCase", "jsonl", "load_cases"]


@dataclass(frozen=True, slots=True)
class AgentCase:
    """One stream and what a careful reader says of it; `place` is its file."""

    id: str
    place: str
    cli: str
    stdout: str
    stderr: str
    exit_code: int | None
    timed_out: bool
    verdict: str
    subtype: str
    early_stop: bool
    flags: tuple[str, ...]
    usage: Mapping[str, int | float]
    why: str
    synthetic: bool


def jsonl(events: Iterable[Any]) -> str:
    """Return values as a stream of JSON lines, the way most CLIs print them."""
    return "".join(
        json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in events
    )


def load_cases(folder: Path) -> list[AgentCase]:
    """Load every case below `folder`, in the order of their names.

    Raises `RuleError` with file:line:column for a file that is no YAML or lacks a key.
    """
    return [_load(path, folder) for path in sorted(folder.glob("*/*.yaml"))]


def _load(path: Path, folder: Path) -> AgentCase:
    name = path.relative_to(folder).with_suffix("").as_posix()
    source = load_yaml(str(path), path.read_text("utf-8"))
    data = source.data
    stdout = data["stdout"] if "stdout" in data else jsonl(data.get("stdout_jsonl", ()))
    try:
        return AgentCase(
            id=name,
            place=source.where(),
            cli=data["cli"],
            stdout=stdout,
            stderr=data.get("stderr", ""),
            exit_code=data["exit_code"],
            timed_out=data.get("timed_out", False),
            verdict=data["expected_verdict"],
            subtype=data["expected_subtype"],
            early_stop=data["early_stop"],
            flags=tuple(data.get("expected_flags", ())),
            usage=data.get("expected_usage", {}),
            why=data["why"],
            synthetic=data["synthetic"],
        )
    except KeyError as error:
        what = f"key {error} is missing"
        raise RuleError([LocatedIssue(source.where(), what, "add it")]) from None
