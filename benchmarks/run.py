"""Every figure of the engine in one run: `python benchmarks/run.py [--quick] [--json FILE]`.

Takes five minutes and a gigabyte of the temporary folder; ``--quick`` takes one, at sizes that
show whether something broke. The status is 1 where a figure misses its limit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import Row, main_of

__all__ = ["PARTS", "run"]

PARTS = ("process", "matching", "extraction", "memory")


def run(*, quick: bool = False) -> list[Row]:
    """Return the rows of all parts.

    Each part is a process of its own: what one leaves behind is for the collector of garbage to go
    through, again and again, while another is measured.
    """
    return [row for part in PARTS for row in _rows_of(part, quick)]


def _rows_of(part: str, quick: bool) -> Any:
    script = Path(__file__).with_name(f"{part}.py")
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "rows.json"
        words = [sys.executable, str(script), "--json", str(saved), *["--quick"] * quick]
        # The status says that a figure missed its limit, and so do the rows.
        subprocess.run(words, stdout=subprocess.DEVNULL, check=False)
        return json.loads(saved.read_text("utf-8"))


if __name__ == "__main__":
    raise SystemExit(main_of(run))
