"""The patterns of one table, compiled when first asked for and searched under a time limit.

The limit is the last guard (lint refuses patterns that could need it): a pattern that runs into it
is a no-match and one warning, and is not tried again on the same capture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.signals import Signals

__all__ = ["TIMEOUT_S", "Patterns"]

TIMEOUT_S = 0.25
_MOST_MATCHES = 200


class Patterns:
    """Patterns by number; `sources` are as written in the rules."""

    __slots__ = ("_compiled", "sources")

    def __init__(self, sources: Sequence[str]) -> None:
        self.sources = sources
        self._compiled: dict[int, Any] = {}

    def pattern(self, pid: int) -> Any:
        """Return the compiled pattern `pid`."""
        compiled = self._compiled.get(pid)
        if compiled is None:
            from triage.pattern import compile_pattern

            compiled = self._compiled[pid] = compile_pattern(self.sources[pid])
        return compiled

    def search(
        self, pid: int, text: str, start: int, end: int, signals: Signals
    ) -> tuple[int, int] | None:
        """Return the span of the first match between `start` and `end`."""
        if ("slow", pid) in signals.memo:
            return None
        try:
            match = self.pattern(pid).search(text, start, end, timeout=TIMEOUT_S)
        except TimeoutError:
            self._give_up(pid, signals)
            return None
        return None if match is None else match.span()

    def groups(
        self, pid: int, text: str, start: int, end: int, signals: Signals | None = None
    ) -> str | None:
        """Return the first group that matched (or the match) of the last match of a pattern."""
        value: str | None = None
        try:
            matches = self.pattern(pid).finditer(text, start, end, timeout=TIMEOUT_S)
            for count, match in enumerate(matches):
                picked = next((group for group in match.groups() if group), None)
                value = picked or value or (match.group() if not match.groups() else None)
                if count >= _MOST_MATCHES:
                    break
        except TimeoutError:
            self._give_up(pid, signals)
        return value

    def find_all(
        self,
        pid: int,
        text: str,
        start: int,
        end: int,
        limit: int,
        signals: Signals | None = None,
    ) -> list[tuple[int, int]]:
        """Return up to `limit` spans; a pattern that takes too long yields what it had."""
        spans: list[tuple[int, int]] = []
        try:
            for match in self.pattern(pid).finditer(text, start, end, timeout=TIMEOUT_S):
                spans.append(match.span())
                if len(spans) >= limit:
                    break
        except TimeoutError:
            self._give_up(pid, signals)
        return spans

    def _give_up(self, pid: int, signals: Signals | None) -> None:
        if signals is None or ("slow", pid) in signals.memo:
            return
        signals.memo["slow", pid] = True
        signals.warnings.append(
            f"pattern {self.sources[pid][:60]!r} took too long and was passed over"
        )
