"""What the generated parts of README and of the modes' documents say; `triage.docs` writes them.

Everything comes from data that can be checked: the table, the corpus, saved results. Nothing here
measures anything, so that a document written twice is the same twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from triage.cases import Case
from triage.engine import classify
from triage.listing import seed_rows, table_rows
from triage.score import judge_case
from triage.table import Table

__all__ = [
    "accuracy_block",
    "block_names",
    "exit_codes_block",
    "mode_examples",
    "mode_rules",
    "mutation_block",
    "table_block",
]

_EXCERPT_LINES = 8
_LONGEST_EXCERPT = 2000


def mode_rules(table: Table) -> list[dict[str, Any]]:
    """Rows as ``{id, row, chapter, modes, why}`` in table order; one more for each `modes_by`.

    A row that puts other modes first for some codes stands once for each of these, its id followed
    by the codes.
    """
    rules: list[dict[str, Any]] = []
    listed = {item["id"]: item for item in table_rows(table)}
    for row in table:
        item = {key: listed[row.id][key] for key in ("id", "row", "chapter", "modes", "why")}
        rules.append(item)
        by_modes: dict[tuple[int, ...], list[str]] = {}
        for path, by_value in row.modes_by.items():
            for value, modes in by_value.items():
                if modes and tuple(modes[:1]) != row.modes[:1]:
                    by_modes.setdefault(tuple(modes), []).append(f"{path} {value}")
        for modes, values in by_modes.items():
            shown = ", ".join(values[:3]) + (", …" if len(values) > 3 else "")
            rules.append({**item, "id": f"{row.id}: {shown}", "modes": list(modes)})
    return rules


def mode_examples(table: Table, cases: Sequence[Case]) -> dict[int, dict[str, Any]]:
    """§N -> ``{case_id, command, exit_code, excerpt}``: the shortest real capture that shows it.

    Only cases count that the table gets right and whose label puts the mode first.
    """
    candidates: dict[int, list[tuple[int, str, Case, str]]] = {}
    for case in cases:
        if case.synthetic or not case.modes or case.capture.command is None:
            continue
        if excerpt := _excerpt(case):
            length = len(excerpt) + len(str(case.capture.command))
            candidates.setdefault(case.modes[0], []).append((length, case.id, case, excerpt))
    return {
        mode: example
        for mode, found in sorted(candidates.items())
        if (example := _first_right(table, sorted(found, key=lambda item: item[:2]))) is not None
    }


def _first_right(
    table: Table, candidates: Sequence[tuple[int, str, Case, str]]
) -> dict[str, Any] | None:
    """The shortest one that the table gets right; the longer ones are never asked."""
    for _, _, case, excerpt in candidates:
        outcome = judge_case(case, classify(case.capture, table))
        if outcome.accepted and outcome.mode_best:
            return {
                "case_id": f"{case.chapter}/{case.id}",
                "command": case.capture.command,
                "exit_code": case.capture.exit_code,
                "excerpt": excerpt,
            }
    return None


def _excerpt(case: Case) -> str:
    """The end of the stream that says why, as text."""
    from triage.text import read_stream, strip_escapes

    capture = case.capture
    sources = [capture.merged] if capture.merged is not None else [capture.stderr, capture.stdout]
    for source in sources:
        stream = read_stream("stream", source, head=1 << 16, tail=1 << 16)
        lines = [line for line in strip_escapes(stream.text).split("\n") if line.strip()]
        if lines:
            return "\n".join(lines[-_EXCERPT_LINES:])[-_LONGEST_EXCERPT:]
    return ""


def table_block(table: Table) -> str:
    """README's table: the seed's rows in order, with their refinements counted."""
    rows = table_rows(table)
    lines = ["| Row | Signal | Modes | First action | Rules |", "|--:|---|---|---|--:|"]
    for seed in seed_rows(table):
        modes = " ".join(f"§{number}" for number in seed["modes"]) or "—"
        count = sum(row["row"] == seed["number"] for row in rows)
        cells = [str(seed["number"]), seed["signal"], modes, seed["action"], str(count)]
        lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    other = sum(row["verdict"] != "failure" for row in rows)
    lines += ["", f"{len(rows)} rules in all; {other} of them say that nothing failed, or that it "
              "can't be told."]  # fmt: skip
    return "\n".join(lines)


def exit_codes_block(meanings: Mapping[Any, str]) -> str:
    """README's exit statuses; `meanings` is status -> meaning."""
    lines = ["| Status | Meaning |", "|--:|---|"]
    lines += [f"| {int(status)} | {_cell(text)} |" for status, text in meanings.items()]
    return "\n".join(lines)


def accuracy_block(saved: Mapping[str, Any], table: Table) -> str:
    """README's accuracy from saved results (``triage test --save``), reachable modes from rules."""
    figures = saved["figures"]
    single = [n for n in range(1, 78) if table.mode(n).observable == "single"]
    first = {modes[0] for rule in mode_rules(table) if (modes := rule["modes"])}
    lines = [
        f"On {figures['cases']} captures of {figures['tools']} tools "
        f"({figures['synthetic']} invented ones are checked and not counted):",
        "",
        "| Figure | Value |",
        "|---|--:|",
        f"| right row, defensible alternatives accepted | {_percent(figures['rows'])} |",
        f"| right row to the letter | {_percent(figures['rows_strict'])} |",
        f"| acceptable mode | {_percent(figures['modes'])} |",
        f"| best mode | {_percent(figures['modes_best'])} |",
        f"| false alarms | {figures['false_alarms']} of {figures['no_failure_cases']} |",
        f"| failures called fine | {figures['failures_called_fine']} of {figures['failures']} |",
        f"| ended in the catch-all | {_percent(figures['unclassified_share'])} |",
    ]
    if "without_command" in saved:
        lines.append(
            f"| right row with no command noted | {_percent(saved['without_command']['rows'])} |"
        )
    if "without_tool" in saved:
        lines.append(
            "| right row with the tool's name taken out of all rules, mean over tools | "
            f"{_percent(saved['without_tool']['average'])} |"
        )
    reached = sum(number in first for number in single)
    lines.append(
        f"| modes one capture can show that a rule puts first | {reached} of {len(single)} |"
    )
    lines += [
        "",
        "| Row | Captures | Precision | Recall | Acceptable mode |",
        "|--:|--:|--:|--:|--:|",
    ]
    for row, item in figures["by_row"].items():
        name = "no failure" if row == "0" else row
        cells = [
            name,
            str(item["cases"]),
            *map(_percent, (item["precision"], item["recall"], item["modes"])),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def mutation_block(saved: Mapping[str, Any]) -> str:
    """README's mutation score from saved results (``triage test --mutate --save``)."""
    figures = saved["mutation"]
    lines = [
        f"{figures['noticed']} of {figures['mutants']} changes of the table "
        f"({_percent(figures['score'])}) are noticed by a case or a sample.",
        "",
        "| Change | Noticed | Made |",
        "|---|--:|--:|",
    ]
    for kind, item in figures["by_kind"].items():
        lines.append(f"| {_KINDS[kind]} | {item['noticed']} | {item['mutants']} |")
    return "\n".join(lines)


_KINDS = {
    "branch": "a branch of a choice dropped",
    "drop": "a condition dropped",
    "flip": "a condition turned round",
    "status": "a status of a list dropped",
    "swap": "two neighbours swapped",
    "test": "a test of a command, path or fact dropped",
}


def _percent(value: float | None) -> str:
    return "—" if value is None else f"{value * 100:.1f} %"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def block_names(path: Path) -> list[str]:
    """The names of the generated blocks a document has markers for."""
    import re

    text = path.read_text("utf-8") if path.is_file() else ""
    return re.findall(r"(?m)^<!-- generated:([a-z0-9-]+) begin -->\s*$", text)
