"""Lines that witnesses really printed, for samples that read like what a tool would print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from triage.finds import Found
from triage.logic import normal
from triage.sketch import Sketch
from triage.witness import Gathered

__all__ = ["PrintedLines"]

_LINES_PER_CONDITION = 3
_LONGEST_LINES = 200


class PrintedLines:
    """Lines that witnesses really printed and that a condition finds, the shortest ones."""

    def __init__(self, gathered: Gathered) -> None:
        self.matcher = gathered.table.matcher
        self.signals = sorted(
            (witness.signals for witness in gathered.witnesses),
            key=lambda signals: signals.stdout.size + signals.stderr.size,
        )
        self.known: dict[str, list[Sketch]] = {}

    def __call__(self, node: Sequence[Any]) -> list[Sketch]:
        """Return sketches that hold one such line each, none for what leaves no evidence."""
        key = normal(node)
        if key not in self.known:
            self.known[key] = list(islice(self._sketches(node), _LINES_PER_CONDITION))
        return self.known[key]

    def _sketches(self, node: Sequence[Any]) -> Iterator[Sketch]:
        for signals in self.signals:
            found: list[Found] = []
            if signals.merged or not self.matcher.holds(node, signals, found):
                continue
            for stream, start, end, kind in found[:1]:
                text = stream.text
                if kind >= 0 and text[start:end].strip():
                    after = text.find("\n", max(end - 1, start))
                    line = text[text.rfind("\n", 0, start) + 1 : after if after >= 0 else None]
                    if len(line) <= _LONGEST_LINES:
                        yield {stream.name: line}
