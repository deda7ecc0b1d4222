"""Why each row above the winner did not match: the first of its conditions that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triage.engine import classify, signals_for
from triage.model import Capture
from triage.signals import Signals
from triage.table import Table

__all__ = ["describe", "explain_capture"]

_LONGEST = 100


def explain_capture(capture: Capture, table: Table) -> dict[str, Any]:
    """Walk every row down to the winner and say what decided it.

    Returns ``{"verdict": {...}, "rows": [{rule, chapter, row, matched, near, because}]}``; `near`
    is true where at least one condition of the row held. The prefilter is left out, so that each
    row is really asked.
    """
    verdict = classify(capture, table)
    signals = signals_for(capture, table)
    signals.possible = None
    rows = []
    for row in table:
        matched = table.matcher.holds(row.when, signals, [])
        held, failed = _decide(row.when, signals, table)
        rows.append(
            {
                "rule": row.id,
                "chapter": row.chapter,
                "row": row.row,
                "matched": matched,
                "near": matched or held > 0,
                "because": "every condition holds" if matched else f"not: {failed}",
            }
        )
        if row.id == verdict.rule:
            break
    return {
        "verdict": {
            "verdict": verdict.verdict,
            "rule": verdict.rule,
            "row": verdict.row,
            "mode": verdict.mode,
        },
        "rows": rows,
    }


def _decide(node: Sequence[Any], signals: Signals, table: Table) -> tuple[int, str]:
    """How many conditions held before the first that failed, and that one in words."""
    parts = node[1] if node[0] == "all" else [node]
    held = 0
    for part in parts:
        if not table.matcher.holds(part, signals, []):
            return held, describe(part, table)
        held += 1
    return held, ""


def describe(node: Sequence[Any], table: Table, depth: int = 0) -> str:
    """Return a condition in the words of a rule file, cut to one readable line."""
    word = node[0]
    if word in ("all", "any"):
        if depth >= 2:
            return f"{word} of {len(node[1])}"
        joined = ", ".join(describe(child, table, depth + 1) for child in node[1])
        return _cut(f"{word}({joined})")
    if word == "not":
        return _cut(f"no {describe(node[1], table, depth + 1)}")
    if word == "is":
        return f"is: {table.predicate_names[node[1]]}"
    if word == "text":
        pattern = table.matcher.sources[node[3][0]] if node[3] else ""
        more = f" or {len(node[3]) - 1} more" if len(node[3]) > 1 else ""
        window = "" if node[2] == "all" else f" {node[2]}"
        return _cut(f"{node[1]}{window} ~ {pattern}") + more
    if word == "exit":
        return _cut(f"exit: {', '.join(_status(item) for item in node[1])}")
    if word == "command":
        tests = [f"{name}: {_value(name, wanted, table)}" for name, wanted in [*node[1], *node[2]]]
        return _cut(f"command({node[3]}) {'; '.join(tests)}")
    if word == "language":
        return "language: a message in another language"
    return _cut(f"{word}: {node[1] if len(node) > 1 else ''}")


def _status(item: Any) -> str:
    if isinstance(item, list):
        return f"{item[0]}-{item[1]}"
    return "null" if item is None else str(item)


def _value(name: str, wanted: Any, table: Table) -> str:
    if name in ("line", "args", "redirects") and isinstance(wanted, int):
        return table.matcher.sources[wanted]
    if isinstance(wanted, list):
        # A part may be the number of a pattern.
        shown = ", ".join(
            " ".join(map(str, w)) if isinstance(w, list) else str(w) for w in wanted[:4]
        )
        return shown + (f" … {len(wanted)}" if len(wanted) > 4 else "")
    return str(wanted)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
