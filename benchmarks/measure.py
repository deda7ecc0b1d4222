"""How the benchmarks measure: a row for each figure, medians, ratios within one run.

A figure is a ratio of two costs taken in turn in one process, so that what disturbs one disturbs
the other. Absolute times are kept beside it for the reader; nothing is judged by them.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

__all__ = [
    "ROOT",
    "Row",
    "cpu_and_memory",
    "figure",
    "in_turn",
    "main_of",
    "markdown",
    "printed",
    "show",
]

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

# table, name, size, measured, baseline, unit, ratio, limit (None: only printed), ok.
Row = dict[str, Any]


# What a figure is measured in -> how it is shown.
_UNITS = {"s": (1000.0, "ms"), "bytes": (1 / (1 << 20), "MiB"), "rows": (1.0, "rows")}


def figure(
    table: str,
    name: str,
    measured: float,
    baseline: float,
    limit: float | None,
    *,
    size: int = 0,
    unit: str = "s",
    at_least: bool = False,
) -> Row:
    """Build one row; the ratio is `measured` over `baseline`, `limit` what it may be at most."""
    ratio = measured / baseline if baseline else float("inf")
    ok = limit is None or (ratio >= limit if at_least else ratio <= limit)
    return {
        "table": table,
        "name": name,
        "size": size,
        "measured": measured,
        "baseline": baseline,
        "unit": unit,
        "ratio": ratio,
        "limit": limit,
        "at_least": at_least,
        "ok": ok,
    }


def in_turn(calls: Sequence[Callable[[], object]], runs: int, loops: int = 1) -> list[float]:
    """Return the median CPU seconds of one call of each, taken in turn `runs` times."""
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(runs):
        for times, call in zip(taken, calls, strict=True):
            # What one has left behind is not the other's to clear away.
            gc.collect()
            start = time.process_time()
            for _ in range(loops):
                call()
            times.append((time.process_time() - start) / loops)
    return [median(times) for times in taken]


def cpu_and_memory(
    argv: Sequence[str],
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
) -> tuple[float, int, bytes]:
    """Run a child; return its CPU seconds, its peak memory in bytes, and its stdout."""
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        with subprocess.Popen(
            argv, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, cwd=cwd
        ) as child:
            assert child.stdout is not None
            out = child.stdout.read()
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, out


def show(row: Row) -> str:
    """Return a row as one line of the printed table."""
    size = f"{row['size']:>13,}" if row["size"] else " " * 13
    scale, unit = _UNITS[row["unit"]]
    limit = ""
    if row["limit"] is not None:
        sign = "≥" if row["at_least"] else "≤"
        limit = f"  {sign} {row['limit']:g}" + ("" if row["ok"] else "  MISSED")
    return (
        f"  {row['name']:46}{size} {row['measured'] * scale:11.2f} {unit:3}"
        f" /{row['baseline'] * scale:11.2f} {unit:3} = {row['ratio']:8.2f}{limit}"
    )


def printed(rows: Sequence[Row]) -> str:
    """Return all rows as printed, each table under its name, and how many miss their limit."""
    lines: list[str] = []
    table = None
    for row in rows:
        if row["table"] != table:
            table = row["table"]
            lines += ["", str(table)]
        lines.append(show(row))
    missed = sum(not row["ok"] for row in rows)
    return "\n".join([*lines, "", f"{missed} of {len(rows)} missed"])


def markdown(rows: Sequence[Row]) -> str:
    """Return one line for each table and limit: how many figures, and the one nearest to it."""
    groups: dict[tuple[str, float | None], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["table"], row["limit"]), []).append(row)
    lines = ["| Ratio | Figures | Wanted | Worst | |", "|---|--:|--:|--:|---|"]
    for (table, limit), some in groups.items():
        if limit is None:
            continue
        at_least = some[0]["at_least"]
        worst = min(some, key=lambda row: row["ratio"] if at_least else -row["ratio"])
        missed = sum(not row["ok"] for row in some)
        cells = [
            table,
            str(len(some)),
            f"{'≥' if at_least else '≤'} {limit:g}",
            f"{worst['ratio']:.3g}",
            worst["name"].strip() + (f" ({missed} missed)" if missed else ""),
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def main_of(run: Callable[..., Sequence[Row]]) -> int:
    """Be the command line of one benchmark; the status is 1 where a figure misses its limit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer runs")
    parser.add_argument("--json", metavar="FILE", help="save all rows there")
    parser.add_argument("--markdown", action="store_true", help="print what README shows")
    asked = parser.parse_args()
    rows = run(quick=asked.quick)
    if asked.json:
        Path(asked.json).write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    print(markdown(rows) if asked.markdown else printed(rows))
    return int(not all(row["ok"] for row in rows))
