"""Rule folders of a few rows, written for one test and compiled like any other."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from triage.cache import load_table
from triage.engine import signals_for
from triage.model import Capture
from triage.signals import Signals
from triage.table import Table

__all__ = ["RULES", "Condition", "add_overlay", "row", "write_rules"]

RULES = Path(__file__).parent.parent / "rules"
# What a table has beside its rows; linked, so that a folder costs nothing.
_AROUND = ("modes", "effects.yaml", "bundle.yaml", "policy.yaml", "secrets.yaml")


def row(row_id: str, when: Any, **keys: Any) -> dict[str, Any]:
    """A row with all that a row must have."""
    return {
        "id": row_id,
        "when": when,
        "why": "Written for a test, which says what it is for.",
        "match": [{"exit_code": 1}],
        "no_match": [{"exit_code": 0}],
        **keys,
    }


def write_rules(
    folder: Path,
    chapters: Mapping[str, Any],
    *,
    vocabulary: Any = None,
    sets: Mapping[str, Any] | None = None,
    bare: bool = False,
) -> Path:
    """Write a rule folder; `chapters` maps a chapter's name to its rows, or to the text itself.

    `bare` leaves out what only a whole verdict needs, the 77 documents above all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schema").symlink_to(RULES / "schema")
    if bare:
        (folder / "modes").mkdir()
    for name in () if bare else _AROUND:
        (folder / name).symlink_to(RULES / name)
    _write(folder, chapters, vocabulary, sets)
    return folder


def add_overlay(
    folder: Path,
    chapters: Mapping[str, Any],
    *,
    vocabulary: Any = None,
    sets: Mapping[str, Any] | None = None,
) -> Path:
    """Write an overlay: what it adds, and nothing of what a table must have."""
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder, chapters, vocabulary, sets)
    return folder


def _write(
    folder: Path, chapters: Mapping[str, Any], vocabulary: Any, sets: Mapping[str, Any] | None
) -> None:
    for name, rows in chapters.items():
        data = {"rows": rows} if isinstance(rows, list) else rows
        _dump(folder / "table" / f"{name}.yaml", data)
    if vocabulary is not None:
        _dump(folder / "vocabulary.yaml", vocabulary)
    for name, data in (sets or {}).items():
        _dump(folder / "sets" / f"{name}.yaml", data)


def _dump(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = data if isinstance(data, str) else yaml.safe_dump(data, sort_keys=False)
    path.write_text(text, encoding="utf-8")


class Condition:
    """One `when:` compiled into a table of one row; ask it about captures."""

    def __init__(self, folder: Path, when: Any, **more: Any) -> None:
        self.table: Table = load_table(
            write_rules(folder, {"10-one": [row("one", when)]}, bare=True, **more), cache=False
        )

    def signals(self, **capture: Any) -> Signals:
        """The signals of a capture as the engine would make them."""
        return signals_for(Capture(**{"exit_code": 1, **capture}), self.table)

    def evidence(self, **capture: Any) -> list[str] | None:
        """The texts that made it true, None where it is false.

        The answer must not depend on the prefilter, and a row that holds must be looked at.
        """
        signals = self.signals(**capture)
        condition = self.table.row(0).when
        found: list[Any] = []
        holds = self.table.matcher.holds(condition, signals, found)
        every = Signals(signals.capture, self.table)
        assert self.table.matcher.holds(condition, every, []) is holds, "the prefilter decided"
        if not holds:
            assert not found, "evidence of a condition that is false"
            return None
        assert 0 in self.table.prefilter.rows(signals, signals.possible), "the index passed it over"
        return [(s.raw if pid == -1 else s.text)[start:end] for s, start, end, pid in found]

    def holds(self, **capture: Any) -> bool:
        """Whether the condition is true of a capture; exit status 1 where none is given."""
        return self.evidence(**capture) is not None
