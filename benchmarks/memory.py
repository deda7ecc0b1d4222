"""Peak memory of whole processes that classify large captures, and the verdicts they come to.

Run ``python benchmarks/memory.py`` (it writes a gigabyte to the temporary folder), or import `run`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measure import ROOT, Row, cpu_and_memory, figure, main_of

__all__ = ["run"]

_MEGABYTE = 1 << 20
_LIMIT = 256 << 20
_LINE = b"2026-11-30 12:00:00 INFO worker 3: request handled in 17 ms, nothing to say about it\n"
_CAUSE = b"fatal: unable to access 'https://host/x.git/': Could not resolve host: host\n"
_TRIAGE = "import sys; from triage.__main__ import main; status = main()"
# The peak since the process was begun; what `wait4` tells may be that of the process it came from.
_PEAK = (
    "\nimport re\nhigh = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]"
    "\nopen({!r}, 'w').write(high)"
)


def run(*, quick: bool = False) -> list[Row]:
    """Return the rows: one large file with its cause in three places, text, and JSON captures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder)}
        env.pop("TRIAGE_AUDIT", None)
        log = folder / "log.txt"
        _verdict(["classify", "--exit", "1", "--stdout", os.devnull, "--json"], env)
        idle = _verdict(["classify", "--exit", "1", "--stdout", os.devnull, "--json"], env)[1]
        return [
            *_one_file(log, env, (64 if quick else 1024) * _MEGABYTE),
            *_text(log, env, idle),
            *_json(folder, env),
        ]


def _one_file(log: Path, env: dict[str, str], size: int) -> Iterator[Row]:
    table = "one file of plain text: peak / 256 MiB"
    for place in ("head", "middle", "tail"):
        _write(log, size, place)
        verdict, peak = _verdict(["classify", "--exit", "128", "--stdout", str(log),
                                  "--command", "git fetch", "--json"], env)  # fmt: skip
        windowed = "windowed" in verdict["flags"]
        seen = verdict["row"] == 13
        # What stands in the middle is not read, and then the verdict has to say so.
        right = windowed and seen is (place != "middle")
        row = figure(table, f"cause at the {place}: row {verdict['row']}, windowed", peak, _LIMIT,
                     1.0, size=size, unit="bytes")  # fmt: skip
        yield {**row, "ok": row["ok"] and right}
    log.unlink()


def _text(log: Path, env: dict[str, str], idle: int) -> Iterator[Row]:
    size = 10 * _MEGABYTE
    wide = _LINE.replace(b"o", "ö".encode())
    for name, line in (("ASCII", _LINE), ("with letters beyond", wide)):
        log.write_bytes(line * (size // len(line)))
        _, peak = _verdict(["classify", "--exit", "1", "--stdout", str(log), "--json"], env)
        yield figure("10 MB of plain text: peak above the idle process / size", name, peak - idle,
                     size, 6.0, size=size, unit="bytes")  # fmt: skip
    log.unlink()


def _json(folder: Path, env: dict[str, str]) -> Iterator[Row]:
    records = [{"id": n, "name": f"item {n}", "tags": ["a", "b"]} for n in range(100_000)]
    texts = {
        "one clean value": (json.dumps({"ok": True, "data": records}), "json.loads(text)"),
        "NDJSON": (
            "\n".join(map(json.dumps, records)),
            "[json.loads(line) for line in text.split('\\n')]",
        ),
    }
    read = "import json, sys; from triage import Capture, classify;"
    # With the set built, which is there once for all captures.
    read += "classify(Capture(exit_code=1, stderr='x' * 300_000)); text = open(sys.argv[1]).read();"
    file = folder / "text.json"
    for name, (text, loads) in texts.items():
        file.write_text(text)
        ours = "kept = classify(Capture(exit_code=1, stdout=text))"
        # The first one compiles the table, and is not looked at.
        peaks = [
            _peak(read + work, [str(file)], env)[0] for work in ("", "", f"kept = {loads}", ours)
        ]
        _, none, loaded, judged = peaks
        yield figure("JSON captures: classify / json.loads + twice the text, above the text read",
                     name, judged - none, loaded - none + 2 * len(text), 1.0,
                     size=len(text), unit="bytes")  # fmt: skip


def _write(log: Path, size: int, place: str) -> None:
    block = _LINE * (_MEGABYTE // len(_LINE))
    count = size // len(block)
    with log.open("wb") as file:
        if place == "head":
            file.write(_CAUSE)
        for number in range(count):
            if place == "middle" and number == count // 2:
                file.write(_CAUSE)
            file.write(block)
        if place == "tail":
            file.write(_CAUSE)


def _verdict(words: list[str], env: dict[str, str]) -> tuple[dict[str, object], int]:
    peak, out = _peak(_TRIAGE, words, env)
    return json.loads(out)["data"], peak


def _peak(code: str, words: list[str], env: dict[str, str]) -> tuple[int, bytes]:
    with tempfile.NamedTemporaryFile() as noted:
        argv = [sys.executable, "-c", code + _PEAK.format(noted.name), *words]
        _, _, out = cpu_and_memory(argv, b"", env)
        return int(noted.read()) * 1024, out


if __name__ == "__main__":
    raise SystemExit(main_of(run))
