"""A plan: how to make one case, its surroundings and its label, written before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

__all__ = ["CHAPTERS", "LABELLED_BY", "Plan", "RecordError", "plan_from_mapping", "read_plans"]

CHAPTERS: tuple[str, ...] = (
    "00-expected-exit",
    "01-error-envelope",
    "02-masked-failure",
    "03-hang",
    "04-command-not-found",
    "05-runtime-version",
    "06-usage",
    "07-invalid-json",
    "08-crash",
    "09-polluted-json",
    "10-output-size",
    "11-rate-limit",
    "12-auth",
    "13-network",
    "14-killed",
    "15-foreign-language",
    "16-prose-exit",
    "99-clean-exit",
)

LABELLED_BY = "recorder, from the seed's table before any run"


class RecordError(Exception):
    """A plan entry that cannot be recorded as it stands; the message names entry and key."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to make one case: the call, its surroundings and its label."""

    id: str
    chapter: str
    tool: str
    why: str
    command: str | tuple[str, ...]  # text is a line for `interpreter`, a tuple is run directly
    verdict: str = "failure"
    row: int | None = None
    row_alt: tuple[int, ...] = ()
    modes: tuple[int, ...] = ()
    interpreter: str = "bash"
    setup: str = ""
    teardown: str = ""  # ends what the setup left running
    files: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 6.0
    stdin: str = "null"
    pty: bool = False
    merge: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "."
    fixture: str | None = None
    kill: str = "KILL"
    exit_style: str = "python"
    exit_code: int | None = None  # what the author expects to see; another status is an error
    user: str | None = None
    version: str | None = None  # a line that prints the tool's version
    literal_row: int | None = None
    source: str = "recorded"
    labelled_by: str = LABELLED_BY


_ALIASES = {"timeout": "timeout_s", "exit": "exit_style", "expect_exit": "exit_code"}


def plan_from_mapping(entry: Mapping[str, Any], where: str) -> Plan:
    """Build a `Plan` from one entry of a plan file; raises `RecordError` naming `where`."""
    data = {_ALIASES.get(key, key): value for key, value in entry.items()}
    line, argv = data.pop("shell", None), data.pop("cmd", None)
    if (line is None) == (argv is None):
        raise RecordError(f"{where}: give either `shell` (a line) or `cmd` (a list)")
    if data.pop("pipefail", False):
        if line is None:
            raise RecordError(f"{where}: `pipefail` needs `shell`")
        line = f"set -o pipefail; {line}"
    data["command"] = line if line is not None else tuple(str(word) for word in argv)
    for key in ("modes", "row_alt"):
        data[key] = tuple(data.get(key, ()))
    data["env"] = {key: str(value) for key, value in data.get("env", {}).items()}
    if data.get("row") == 0:  # the table has no row 0: it means "no failure"
        data["row"], data["verdict"] = None, data.get("verdict", "not_failure")
    try:
        plan = Plan(**data)
    except TypeError as problem:
        raise RecordError(f"{where}: {problem}") from None
    if plan.chapter not in CHAPTERS:
        raise RecordError(f"{where}: no chapter `{plan.chapter}`; there are {', '.join(CHAPTERS)}")
    if plan.verdict == "failure" and plan.row is None:
        raise RecordError(f"{where}: a failure needs `row`")
    return plan


def read_plans(path: Path) -> list[Plan]:
    """Read a plan file: a list of entries, or a mapping with `defaults` and `cases`."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    defaults: Mapping[str, Any] = {}
    if isinstance(data, Mapping):
        defaults, data = data.get("defaults", {}), data["cases"]
    return [
        plan_from_mapping({**defaults, **entry}, f"{path.name}#{entry.get('id', number)}")
        for number, entry in enumerate(data, start=1)
    ]
