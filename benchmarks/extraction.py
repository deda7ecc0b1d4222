"""Extraction in numbers: each figure a ratio within one run, at growing sizes, medians.

Run ``python benchmarks/extraction.py`` (some minutes), or import `run` for the rows. Three tables:
clean JSON against `json.loads`; mixed text against the seed's reference; hostile families against
themselves at a quarter of the size.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from measure import ROOT, Row, figure, main_of

if str(ROOT / "tests") not in sys.path:
    sys.path.insert(0, str(ROOT / "tests"))

from hostile_texts import FAMILIES
from reference_extractor import reference_envelope

from triage.envelope import ends_mid_structure, extract

__all__ = ["run"]

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
    # Of two that take turns the same one would else always meet the great collection.
    gc.collect()
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
    "  counted": (lambda size: _RECORD * (size // len(_RECORD)), _everything, 20.0),
}


def clean(sizes: tuple[int, ...], runs: int) -> list[Row]:
    """Time of `extract` over time of `json.loads`, on text that is JSON as a whole."""
    rows = []
    for name, build in _CLEAN.items():
        for size in sizes:
            text = build(size)
            # Both calls in turn, so that what disturbs one disturbs the other.
            pairs = [
                (_seconds(lambda: json.loads(text)), _seconds(lambda: _everything(text)))  # noqa: B023
                for _ in range(runs)
            ]
            baseline = median(pair[0] for pair in pairs)
            seconds = median(pair[1] for pair in pairs)
            limit = _CLEAN_LIMIT if size == _MEGABYTE else None
            title = "clean JSON: extract / json.loads"
            rows.append(figure(title, name, seconds, baseline, limit, size=len(text)))
    return rows


def mixed(sizes: tuple[int, ...]) -> list[Row]:
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
            wanted = limit if size >= _MEGABYTE else None
            rows.append(figure("mixed text: the seed's reference / extract", name, baseline,
                               seconds, wanted, size=len(text), at_least=True))  # fmt: skip
    return rows


def hostile(size: int, runs: int) -> list[Row]:
    """Time at four times `size` over time at `size`, for both questions asked of a text."""
    rows = []
    questions = {"extract": _everything, "ends_mid_structure": ends_mid_structure}
    for question, ask in questions.items():
        families = {**FAMILIES, **({"[ only, 20 MB": _twenty} if question == "extract" else {})}
        for name, build in families.items():
            small, large = build(size), build(4 * size)
            pairs = [
                (_seconds(lambda: ask(small)), _seconds(lambda: ask(large)))  # noqa: B023
                for _ in range(runs)
            ]
            baseline = median(pair[0] for pair in pairs)
            seconds = median(pair[1] for pair in pairs)
            rows.append(figure(f"hostile text: {question} at four times the size / at it", name,
                               seconds, baseline, _SLOPE_LIMIT, size=len(large)))  # fmt: skip
    return rows


def _twenty(size: int) -> str:
    """Twenty megabytes of openers where the others are four."""
    return "[" * (5 * size)


def run(*, quick: bool = False) -> list[Row]:
    """Return the rows of all three tables."""
    size = _MEGABYTE // 4 if quick else _MEGABYTE
    sizes = (_MEGABYTE,) if quick else (_MEGABYTE // 4, _MEGABYTE, 4 * _MEGABYTE)
    return [
        *clean(sizes, 7 if quick else 15),
        *mixed((_MEGABYTE,) if quick else (_MEGABYTE // 4, _MEGABYTE)),
        *hostile(size, 1 if quick else 3),
    ]


if __name__ == "__main__":
    raise SystemExit(main_of(run))
