"""Turn a JSON Lines file of labelled captures into corpus cases.

    python corpus/import_jsonl.py captures.jsonl

Each line holds ``id``, the capture's keys, ``tool``, ``tool_version`` and
``expected{row, row_alt, modes, why, literal_row}``; row 0 means that the call did not fail.
Labels are carried over as they stand.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from recorder.case import QUOTED_BYTES, expectation, is_plain, write_case  # noqa: E402
from recorder.plan import CHAPTERS  # noqa: E402

LABELLED_BY = "the set's authors, before any classifier existed"
_STREAMS = ("stdout", "stderr")
_KEPT = ("command", "exit_code", *_STREAMS, "timed_out", "duration_s")


def chapter_of(row: int, exit_code: int | None) -> str:
    """Return the corpus directory of a row; row 0 is 99 at exit 0, else 00."""
    if row == 0:
        return CHAPTERS[-1] if exit_code == 0 else CHAPTERS[0]
    return next(name for name in CHAPTERS if name.startswith(f"{row:02d}-"))


def case_from_line(entry: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the chapter and the case of one labelled capture."""
    label = entry["expected"]
    row = label["row"]
    capture: dict[str, Any] = {}
    for key in _KEPT:
        value = entry[key]
        if key in _STREAMS and not is_plain(value) and len(value) > QUOTED_BYTES:
            value = value.encode()
        capture[key] = value
        if key == "exit_code" and entry.get("merged"):
            capture["merged"] = True
    return chapter_of(row, entry["exit_code"]), {
        "id": entry["id"],
        "tool": entry["tool"],
        "tool_version": re.sub(r"Linux/\S+", "Linux/6.1.0-18-amd64", entry["tool_version"]),
        "source": "imported",
        "capture": capture,
        "expect": expectation(
            "failure" if row else "not_failure",
            row or None,
            label.get("row_alt", ()),
            label.get("modes", ()),
            label.get("literal_row"),
        ),
        "labelled_by": LABELLED_BY,
        "why": label["why"],
    }


def main(paths: list[str]) -> int:
    """Import each file named; prints how many cases were written."""
    count = 0
    for path in paths:
        with Path(path).open(encoding="utf-8") as lines:
            for line in filter(str.strip, lines):
                chapter, case = case_from_line(json.loads(line))
                write_case(case, chapter, HERE)
                count += 1
    print(f"{count} cases written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
