"""Every figure of the engine in one run: `python benchmarks/run.py [--quick] [--json FILE]`.

Takes some minutes and a gigabyte of the temporary folder; ``--quick`` a minute, at sizes that
show whether something broke. The status is 1 where a figure misses its limit.
"""

from __future__ import annotations

import extraction
import matching
import memory
import process
from measure import Row, main_of

__all__ = ["run"]


def run(*, quick: bool = False) -> list[Row]:
    """Return the rows of all benchmarks of the engine."""
    parts = (process, matching, extraction, memory)
    return [row for part in parts for row in part.run(quick=quick)]


if __name__ == "__main__":
    raise SystemExit(main_of(run))
