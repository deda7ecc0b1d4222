"""Pin cases to the row that wins them now: ``expect.rule``, and nothing else, is rewritten.

A label says which seed row a call belongs to; a pin says which of our rows, so that a later change
of the table can't move a case without somebody seeing it. Cases with a wrong row are never pinned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from triage.errors import UsageError
from triage.score import Outcome, Report
from triage.yaml_source import load_yaml

__all__ = ["Pin", "pins", "write_pins"]


@dataclass(frozen=True, slots=True)
class Pin:
    """One case whose pinned row would change; `before` is None where it had none."""

    outcome: Outcome
    before: str | None
    after: str

    def __str__(self) -> str:
        return f"{self.outcome.case.id}: {self.before or '(not pinned)'} -> {self.after}"


def pins(report: Report) -> list[Pin]:
    """Return what blessing would change, in the order of the cases."""
    return [
        Pin(item, item.case.rule, item.rule)
        for item in report.outcomes
        if item.accepted and item.case.agent is None and item.case.rule != item.rule
    ]


def write_pins(changes: Iterable[Pin]) -> int:
    """Write each pin into its case's file; returns how many were written.

    Raises `UsageError` for a file whose expectation is not in block style; files before it are
    written by then.
    """
    count = 0
    for pin in changes:
        path = pin.outcome.case.path
        text = path.read_text("utf-8")
        changed = _pinned(text, pin.after, str(path))
        path.write_text(changed, encoding="utf-8")
        count += 1
    return count


def _pinned(text: str, rule: str, name: str) -> str:
    source = load_yaml(name, text)
    lines = text.split("\n")
    old = "rule" in source.data["expect"]
    line = int(source.where("expect", "rule" if old else "row").rsplit(":", 2)[1]) - 1
    head = lines[line]
    key = head.lstrip().partition(":")[0]
    if key not in ("rule", "row"):
        where = source.where("expect")
        raise UsageError(where, "the expectation is written on one line", "write one key a line")
    indent = head[: len(head) - len(head.lstrip())]
    if old:
        lines[line] = f"{indent}rule: {rule}"
    else:
        lines.insert(line + 1, f"{indent}rule: {rule}")
    changed = "\n".join(lines)
    # The rest of the file must stay what it was, to the value.
    before, after = source.data, load_yaml(name, changed).data
    if after["expect"].pop("rule") != rule:
        raise UsageError(f"{name}:{line + 1}:1", "the pin can't be written here", "pin it by hand")
    before["expect"].pop("rule", None)
    if before != after:
        raise UsageError(f"{name}:{line + 1}:1", "the pin would change more", "pin it by hand")
    return changed
