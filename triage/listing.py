"""The table as lists for people and tools: all rows, the seed's rows, one row as it is written."""

from __future__ import annotations

from typing import Any

from triage.table import Table

__all__ = ["row_source", "seed_rows", "table_rows"]


def table_rows(table: Table) -> list[dict[str, Any]]:
    """Return every row in table order: id, row, chapter, modes, verdict, why, place."""
    places = {
        item["id"]: f"{table.roots[item['layer']]}/{item['place']}"
        for item in table.section("cold")
    }
    return [
        {
            "id": row.id,
            "row": row.row,
            "chapter": row.chapter,
            "title": row.title,
            "modes": list(row.modes),
            "verdict": row.verdict,
            "flags": list(row.flags),
            "why": row.why,
            "place": places.get(row.id, ""),
        }
        for row in table
    ]


def seed_rows(table: Table) -> list[dict[str, Any]]:
    """Return the seed's sixteen rows from the entries that hold them, in the seed's order."""
    numbers = {row.id: row.row for row in table}
    rows = [
        {"number": numbers[item["id"]], "rule": item["id"], **item["seed"]}
        for item in table.section("cold")
        if item.get("seed")
    ]
    return sorted(rows, key=lambda item: item["number"])


def row_source(place: str, row_id: str) -> str:
    """Return the lines of a rule file that hold one row; `place` is file:line:column."""
    path, line, _ = place.rsplit(":", 2)
    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        lines = file.read().split("\n")
    start = int(line) - 1
    end = start + 1
    while end < len(lines) and not lines[end].startswith("  - id: "):
        end += 1
    return f"# {place} ({row_id})\n" + "\n".join(lines[start:end]).rstrip()
