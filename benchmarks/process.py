"""Whole processes: CPU of `triage` over CPU of ``python -c pass``, as installed from a wheel.

Run ``python benchmarks/process.py``. Bytecode is cached, as it is for everybody but the first.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from measure import ROOT, Row, cpu_and_memory, figure, main_of

__all__ = ["installed", "run"]

_RUNS = 11
# What the console script does.
_TRIAGE = ("-c", "import sys; from triage.__main__ import main; sys.exit(main())")
_CAPTURES = {
    "command not found": {"exit_code": 127, "stderr": "bash: jqq: command not found"},
    "with its command": {
        "exit_code": 127, "command": "jqq .", "stderr": "bash: jqq: command not found",
    },
    "connection refused": {
        "exit_code": 7, "command": "curl -s http://localhost:9",
        "stderr": "curl: (7) Failed to connect to localhost port 9: Connection refused\n",
    },
    "error envelope": {
        "exit_code": 8, "command": "tool list",
        "stdout": json.dumps({"ok": False, "error": {"code": "TOKEN_EXPIRED", "message": "x"}}),
    },
}  # fmt: skip
_COMPOUND = {
    "exit_code": 1,
    "command": 'for f in *.c; do cc -c "$f" || exit 1; done && (cd build; make)',
    "stderr": "a.c:1:1: error: unknown type name 'foo'\n",
}


def installed(folder: Path) -> Path:
    """Lay the package out below `folder` as a wheel does, with the compiled table; its parent."""
    from triage.cache import write_packaged

    site = folder / "site"
    kept = shutil.ignore_patterns("__pycache__", "compiled.jsonl")
    shutil.copytree(ROOT / "triage", site / "triage", ignore=kept)
    shutil.copytree(ROOT / "rules", site / "triage" / "rules", ignore=kept)
    write_packaged(str(site / "triage" / "rules"))
    return site


def run(*, quick: bool = False) -> list[Row]:
    """Return the rows: machine path, classify in both formats, cold cache, shell parser."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = _environment(folder, installed(folder))
        warm, cold = folder / "cache", folder / "cold"
        files = {}
        for title, capture in {**_CAPTURES, "compound": _COMPOUND}.items():
            files[title] = folder / f"{title.replace(' ', '-')}.json"
            files[title].write_text(json.dumps(capture) + "\n")
        one = str(files["with its command"])
        jobs: list[tuple[str, list[str], bytes, float | None, Path]] = [
            (f"machine path: {title}", [], files[title].read_bytes(), 5.0, warm)
            for title in _CAPTURES
        ]
        jobs += [
            ("classify --json FILE", ["classify", "--json", one], b"", 10.0, warm),
            ("classify --json with flags", [*_flags(folder), "--json"], b"", 10.0, warm),
            ("classify FILE (human)", ["classify", one], b"", 14.0, warm),
            ("machine path, cold cache", [], files["with its command"].read_bytes(), 24.0, cold),
            ("classify --json FILE, cold cache", ["classify", "--json", one], b"", 24.0, cold),
            ("machine path, compound command", [], files["compound"].read_bytes(), None, warm),
        ]
        costs: dict[str, list[float]] = {}
        for turn in range((5 if quick else _RUNS) + 1):
            for title, words, stdin, _, cache in [("pass", ["-"], b"", None, warm), *jobs]:
                argv = [sys.executable, *_TRIAGE, *words]
                if title == "pass":
                    argv = [sys.executable, "-c", "pass"]
                if cache is cold:
                    shutil.rmtree(cold, ignore_errors=True)
                # Elsewhere: `-c` would import the checkout from the current folder.
                surroundings = {**env, "XDG_CACHE_HOME": str(cache)}
                used, _, _ = cpu_and_memory(argv, stdin, surroundings, cwd=folder)
                # The first turn writes bytecode and the cache.
                if turn:
                    costs.setdefault(title, []).append(used)
        base = median(costs["pass"])
        return [
            figure("process over python -c pass", title, median(costs[title]), base, limit)
            for title, _, _, limit, _ in jobs
        ]


def _flags(folder: Path) -> list[str]:
    stderr = folder / "stderr.txt"
    stderr.write_text("bash: jqq: command not found\n")
    return ["classify", "--exit", "127", "--stderr", str(stderr), "--command", "jqq ."]


def _environment(folder: Path, site: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {
        **kept,
        "HOME": str(folder / "home"),
        "PYTHONPATH": str(site),
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
    }


if __name__ == "__main__":
    raise SystemExit(main_of(run))
