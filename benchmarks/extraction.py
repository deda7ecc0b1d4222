"""Extraction in numbers: each figure a ratio within one run, at growing sizes, medians.

Run ``python benchmarks/extraction.py`` (some minutes), or import `run` for the rows. Nothing
is saved. Three tables: clean JSON against `json.loads`; mixed text against the seed's reference;
hostile families against themselves at a quarter of the size.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
for _place in (_ROOT, _ROOT / "tests"):
    if str(_place) not in sys.path:
        sys.path.insert(0, str(_place))

from hostile_texts import FAMILIES  # noqa: E402
from reference_extractor import reference_envelope  # noqa: E402

from triage.envelope import ends_mid_structure, extract  # noqa: E402

__all__ = ["main", "run"]

_MEGABYTE = 1_000_000
_CLEAN_LIMIT = 1.15
_SLOPE_LIMIT = 5.0


def _records(size: int, fields: Callable[[int], dict[str, Any]], **style: Any) -> str:
    each = len(json.dumps([fields(1000)], **style))
    data = [fields(index) for index in range(max(1, size // each))]
    return json.dumps({"ok": True, "data": data, "error": None}, **style)


def _flat(index: int) -> dict[str, Any]:
    return {"id": index, "name": f"item {index}", "active": True, "score": 1.25, "note": "words"}


def _nested(index: int) -> dict[str, Any]:
    return {"id": index, "owner": {"name": "someone", "id": 7}, "tags": ["a", "b"], "size": None}


_CLEAN: dict[str, Callable[[int], str]] = {
    "records": lambda size: _records(size, _flat),
    "nested records": lambda size: _records(size, _nested),
    "nested records, indented": lambda size: _records(size, _nested, indent=2),
    "long strings": lambda size: json.dumps(["a line of output, some words long"] * (size // 38)),
    "numbers": lambda size: json.dumps(list(range(size // 8))),
}

_RECORD = (
    '{"event": "progress", "id": 123456, "tags": ["one", "two"], "note": "some hundred bytes"}\n'
)
_INFO = "[INFO] hello world\n"


def _seconds(call: Callable[[], object]) -> float:
    """CPU time: a busy machine should not change a ratio."""
    start = time.process_time()
    call()
    return time.process_time() - start


def _choice(text: str) -> tuple[int, int, int, bool]:
    found = extract(text)
    return found.step, found.start, found.end, found.fragment


def _everything(text: str) -> tuple[int, int, int, bool, int, int]:
    found = extract(text)
    step, start, end, fragment = found.step, found.start, found.end, found.fragment
    return step, start, end, fragment, found.candidates, found.documents


# name -> (text of a size, what is asked, how many times faster than the reference at a megabyte)
_MIXED: dict[str, tuple[Callable[[int], str], Callable[[str], object], float]] = {
    "INFO lines, envelope": (lambda size: _INFO * (size // 19) + '{"ok": true}\n', _choice, 50.0),
    "  with the counts": (lambda size: _INFO * (size // 19) + '{"ok": true}\n', _everything, 50.0),
    "INFO lines around an envelope": (
        lambda size: _INFO * (size // 38) + '{"ok": true}\n' + _INFO * (size // 38),
        _choice,
        50.0,
    ),
    "NDJSON, 90-byte records": (lambda size: _RECORD * (size // len(_RECORD)), _choice, 20.0),
    "  counted": (lambda size: _RECORD * (size // len(_RECORD)), _everything, 5.0),
}


def _row(
    table: str, name: str, size: int, seconds: float, baseline: float, limit: float, over: bool
) -> dict[str, Any]:
    ratio = seconds / baseline if over else baseline / seconds
    return {
        "table": table,
        "name": name,
        "size": size,
        "seconds": seconds,
        "baseline_seconds": baseline,
        "ratio": ratio,
        "limit": limit,
        "ok": ratio <= limit if over else ratio >= limit,
    }


def clean(
    sizes: tuple[int, ...] = (_MEGABYTE // 4, _MEGABYTE, 4 * _MEGABYTE),
) -> list[dict[str, Any]]:
    """Time of `extract` over time of `json.loads`, on text that is JSON as a whole."""
    rows = []
    for name, build in _CLEAN.items():
        for size in sizes:
            text = build(size)
            # Both calls in turn, so that what disturbs one disturbs the other.
            pairs = [
                (_seconds(lambda: json.loads(text)), _seconds(lambda: _everything(text)))  # noqa: B023
                for _ in range(15)
            ]
            baseline = median(pair[0] for pair in pairs)
            seconds = median(pair[1] for pair in pairs)
            rows.append(_row("clean", name, len(text), seconds, baseline, _CLEAN_LIMIT, over=True))
    return rows


def mixed(sizes: tuple[int, ...] = (_MEGABYTE // 4, _MEGABYTE)) -> list[dict[str, Any]]:
    """Time of the reference over time of `extract`, on logs and line-by-line JSON."""
    rows = []
    for name, (build, ask, limit) in _MIXED.items():
        for size in sizes:
            text = build(size)
            seconds = median(_seconds(lambda: ask(text)) for _ in range(7))  # noqa: B023
            # Not often: it takes seconds, and is the one thing here that is not ours.
            repeats = 1 if size >= _MEGABYTE else 3
            baseline = median(
                _seconds(lambda: reference_envelope(text))  # noqa: B023
                for _ in range(repeats)
            )
            wanted = limit if size >= _MEGABYTE else 1.0
            rows.append(_row("mixed", name, len(text), seconds, baseline, wanted, over=False))
    return rows


def hostile(size: int = _MEGABYTE) -> list[dict[str, Any]]:
    """Time at four times `size` over time at `size`, for both questions asked of a text."""
    rows = []
    for question, ask in (("extract", _everything), ("ends mid-structure", ends_mid_structure)):
        for name, build in FAMILIES.items():
            small, large = build(size), build(4 * size)
            pairs = [
                (_seconds(lambda: ask(small)), _seconds(lambda: ask(large)))  # noqa: B023
                for _ in range(3)
            ]
            baseline = median(pair[0] for pair in pairs)
            seconds = median(pair[1] for pair in pairs)
            rows.append(
                _row(question, name, len(large), seconds, baseline, _SLOPE_LIMIT, over=True)
            )
    return rows


def run() -> list[dict[str, Any]]:
    """Return all rows: table, name, size, seconds, baseline_seconds, ratio, limit, ok."""
    return clean() + mixed() + hostile()


def main() -> int:
    """Print the tables; the status is 1 where a figure misses its limit."""
    titles = {
        "clean": "clean JSON: extract / json.loads, at most",
        "mixed": "mixed text: reference / extract, at least",
        "extract": "hostile text: extract at 4 MB / at 1 MB, at most",
        "ends mid-structure": "hostile text: ends_mid_structure at 4 MB / at 1 MB, at most",
    }
    missed = 0
    shown = ""
    for row in run():
        if row["table"] != shown:
            shown = row["table"]
            print(f"\n{titles[shown]}")
        missed += not row["ok"]
        print(
            f"  {row['name']:34} {row['size']:>9,} chars {row['seconds'] * 1000:10.2f} ms"
            f" {row['ratio']:9.2f}  (limit {row['limit']:g})" + ("" if row["ok"] else "  MISSED")
        )
    print(f"\n{missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
