"""Classification in a warm process: by size of the text, by number of rows, by what survives.

Run ``python benchmarks/matching.py``, or import `run` for the rows. The baselines are `json.loads`
of the capture, one scan of the text by the RE2 set that the table is prefiltered with, and a
table of a tenth of the rows.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import yaml
from measure import ROOT, Row, figure, in_turn, main_of

from triage.cache import load_table
from triage.capture_data import capture_from_mapping
from triage.cases import load_cases
from triage.engine import classify, signals_for
from triage.literals import LiteralSet
from triage.model import Capture
from triage.table import Table

__all__ = ["run"]

_MEGABYTE = 1_000_000
_WORDS = (
    *("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet"),
    *("kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango"),
)
_COMPLAINTS = (
    "error: something went wrong",
    "warning: unused variable x",
    "Traceback (most recent call last):",
    "connection refused by peer",
    "npm ERR! code E404",
)
_WARM = 30


def run(*, quick: bool = False) -> list[Row]:
    """Return the rows of all four tables."""
    table = load_table(ROOT / "rules")
    captures = list(_of_two_kilobytes())
    return [
        *_small(table, captures[:12] if quick else captures, 5 if quick else 15),
        *_large(table, quick),
        *_survivors(table),
        *_many_rows(captures, quick),
        *_foreign(),
    ]


def _of_two_kilobytes() -> Iterator[tuple[Capture, str]]:
    """The captures of the corpus that are about two kilobytes of JSON, and that JSON."""
    for case in load_cases(ROOT / "corpus"):
        capture = case.capture
        streams = {
            name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
            for name in ("stdout", "stderr", "merged")
            if isinstance(value := getattr(capture, name), (str, bytes))
        }
        data = {"exit_code": capture.exit_code, "command": capture.command, **streams}
        written = json.dumps(data)
        if 1500 <= len(written) <= 2700:
            yield capture_from_mapping(data), written


def _scan(table: Table) -> Callable[[bytes], Any]:
    import re2

    hot = table.section("hot")
    clauses = hot["clauses"]
    found: Callable[[bytes], Any] = LiteralSet(
        re2, {pid: clauses[pid] for pid in hot["scanned"]}
    )._set.Match
    return found


def _texts(capture: Capture) -> bytes:
    both = (capture.stderr, capture.stdout, capture.merged or "")
    return "\n".join(map(str, both)).lower().encode("utf-8", "surrogatepass")


def _small(table: Table, captures: list[tuple[Capture, str]], runs: int) -> Iterator[Row]:
    scan = _scan(table)
    all_of_them = [(capture, written, _texts(capture)) for capture, written in captures]
    for capture, _, text in all_of_them * 2:
        classify(capture, table)
        scan(text)
    loads, scans, ours = in_turn(
        [
            lambda: [json.loads(written) for _, written, _ in all_of_them],
            lambda: [scan(text) for _, _, text in all_of_them],
            lambda: [classify(capture, table) for capture, _, _ in all_of_them],
        ],
        runs,
    )
    size = int(median(len(written) for _, written in captures))
    yield figure("2 KB, warm / json.loads + one RE2 Set scan", "one after the other", ours,
                 loads + scans, 12.0, size=size)  # fmt: skip
    ratios = []
    for capture, written, text in all_of_them:
        loads, scans, ours = in_turn(
            [lambda: json.loads(written), lambda: scan(text), lambda: classify(capture, table)],  # noqa: B023
            runs,
            10,
        )
        ratios.append((ours / (loads + scans), ours, loads + scans))
    _, ours, baseline = sorted(ratios)[len(ratios) // 2]
    yield figure("2 KB, warm / json.loads + one RE2 Set scan", "the same again and again (median)",
                 ours, baseline, 12.0, size=size)  # fmt: skip


def _lines(size: int, complaints: bool) -> str:
    chance = random.Random(1)
    lines: list[str] = []
    while size > 0:
        line = " ".join(chance.choices(_WORDS, k=10))
        if complaints and chance.random() < 0.02:
            line = chance.choice(_COMPLAINTS)
        lines.append(line)
        size -= len(line) + 1
    return "\n".join(lines) + "\n"


def _log(size: int) -> str:
    line = "2026-11-30 12:{:02}:{:02} INFO worker {}: request {} handled in {} ms\n"
    return "".join(
        line.format(n // 60 % 60, n % 60, n % 7, n, n % 90) for n in range(max(1, size // 62))
    )


def _large(table: Table, quick: bool) -> Iterator[Row]:
    scan = _scan(table)
    texts: list[tuple[str, Callable[[int], str], int, float]] = [
        ("words, no row survives", lambda size: _lines(size, False), 1, 3.0),
        ("log, no row survives", _log, 1, 3.0),
        ("words and complaints, status 1", lambda size: _lines(size, True), 1, 15.0),
        ("words and complaints, status 0", lambda size: _lines(size, True), 0, 15.0),
    ]
    for name, build, status, limit in texts:
        for size in (_MEGABYTE // 4, _MEGABYTE) if quick else (_MEGABYTE, 4 * _MEGABYTE):
            data = build(size).encode()
            capture = Capture(exit_code=status, stdout=data, command="tool run")
            for _ in range(_WARM):
                classify(Capture(exit_code=1, stderr="x"), table)
            classify(capture, table)
            scans, ours = in_turn(
                [lambda: (scan(data), data.decode()), lambda: classify(capture, table)],  # noqa: B023
                3 if quick else 7,
            )
            yield figure("plain text / one RE2 Set scan + decoding", name, ours, scans,
                         limit if size >= _MEGABYTE else None,
                         size=len(data))  # fmt: skip


def _survivors(table: Table) -> Iterator[Row]:
    for mode in ("literals", "re2"):
        tried = table.with_prefilter(mode)
        shares = []
        for case in load_cases(ROOT / "corpus"):
            signals = signals_for(case.capture, tried)
            shares.append(sum(1 for _ in tried.prefilter.rows(signals, signals.possible)))
        yield figure("rows that survive the prefilter, median share", f"corpus, {mode}",
                     median(shares), len(table), 0.05, unit="rows")  # fmt: skip


def _varied(text: Any, number: int) -> Any:
    """The same `text:` condition with each word of its patterns turned `number` letters on."""
    if isinstance(text, dict):
        changed = {key: _varied(text[key], number) for key in ("pattern", "after") if key in text}
        return {**text, **changed}
    if isinstance(text, list):
        return [_varied(pattern, number) for pattern in text]
    # Escapes keep their letters.
    return re.sub(
        r"\\u[0-9a-f]{4}|\\x..|\\.|[a-z]{4,}", lambda match: _turned(match.group(), number), text
    )


def _turned(word: str, number: int) -> str:
    if word.startswith("\\"):
        return word
    return "".join(chr((ord(char) - 97 + number) % 26 + 97) for char in word)


def _rules_of(folder: Path, count: int) -> Path:
    """A copy of the rules with `count` rows: the first hundred, then variations of them."""
    target = folder / f"rules-{count}"
    shutil.copytree(ROOT / "rules", target, ignore=shutil.ignore_patterns("compiled.jsonl"))
    rows = []
    for path in sorted((target / "table").glob("*.yaml")):
        rows += yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)["rows"]
        path.unlink()
    last = rows.pop()
    step = max(1, len(rows) // 99)
    kept = rows[::step][:99]
    written = [row for row in rows if "text" in row["when"] and "set" not in row["when"]["text"]]
    made = list(kept)
    turn = 1
    while len(made) < count - 1:
        for row in written[: count - 1 - len(made)]:
            when = {**row["when"], "text": _varied(row["when"]["text"], turn)}
            made.append({**row, "id": f"{row['id']}-{turn}", "when": when})
        turn += 1
    text = json.dumps({"about": "Rows made from real ones.", "rows": [*made, last]})
    (target / "table" / "00-all.yaml").write_text(text, "utf-8")
    return target


def _many_rows(captures: list[tuple[Capture, str]], quick: bool) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        few, many = (load_table(_rules_of(Path(name), count), cache=False) for count in (100, 1000))
        for capture, _ in captures * 2:
            classify(capture, few)
            classify(capture, many)
        small, large = in_turn(
            [
                lambda: [classify(capture, few) for capture, _ in captures],
                lambda: [classify(capture, many) for capture, _ in captures],
            ],
            5 if quick else 15,
        )
        yield figure("1,000 rows / 100 rows", f"{len(captures)} captures of 2 KB, warm", large,
                     small, 1.5)  # fmt: skip


def _foreign() -> Iterator[Row]:
    """Text that is of no language: the system's catalogues must not be searched for long."""
    chance = random.Random(3)
    table = load_table(ROOT / "rules")
    makers: list[tuple[str, Callable[[int], str | bytes]]] = [
        ("numbers", lambda size: "".join(f"{n * 7919}\n" for n in range(size // 9))),
        ("random bytes", chance.randbytes),
        ("random letters", lambda size: "".join(chance.choices("абвгдежз \n", k=size))),
    ]
    for name, build in makers:
        times = []
        for size in (_MEGABYTE, 4 * _MEGABYTE):
            # Each time another text, since the last ones are remembered.
            captures = [Capture(exit_code=3, stderr=build(size + n)) for n in range(3)]
            times.append(
                median(in_turn([lambda: classify(given, table)], 1)[0] for given in captures)  # noqa: B023
            )
        yield figure("no language, with the system's catalogues: 4 MB / 1 MB", name, times[1],
                     times[0], 5.0, size=4 * _MEGABYTE)  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main_of(run))
