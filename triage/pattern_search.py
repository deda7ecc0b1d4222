"""The patterns of one table, compiled when first asked for and searched in bounded time.

Two engines read the same syntax alike (a test holds them against each other). `regex` watches the
clock: a pattern that runs into the limit is a no-match and one warning, and is not tried again on
the same capture. It is the last guard; lint refuses patterns that could need it. A short text needs
no guard where its search must end in a moment by the pattern's shape (`triage.regex_cost`). There
`re` serves, which is loaded anyway: importing `regex` and compiling ten patterns with it costs
more than starting Python does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.signals import Signals

__all__ = ["TIMEOUT_S", "Patterns", "quick_sign"]

TIMEOUT_S = 0.25
_MOST_MATCHES = 200
_QUICK_UNIT = 32
_MOST_QUICK = _QUICK_UNIT << 7
# As `triage.pattern.compile_pattern` has it for `regex`.
_FLAGS = int(re.ASCII | re.IGNORECASE | re.MULTILINE)


def quick_sign(size: int) -> str:
    """Return the sign for "quick on texts of up to `size` characters", as `Patterns` reads it."""
    return str((size // _QUICK_UNIT).bit_length() - 1) if size >= _QUICK_UNIT else "0"


class Patterns:
    """Patterns by number; `sources` are as written in the rules, `quick` has a sign for each."""

    __slots__ = ("_compiled", "_plain", "quick", "sources")

    def __init__(self, sources: Sequence[str], quick: str = "") -> None:
        self.sources = sources
        self.quick = quick
        self._compiled: dict[int, Any] = {}
        self._plain: dict[int, re.Pattern[str]] = {}

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
        if self._is_quick(pid, end - start):
            match = self._quickly(pid).search(text, start, end)
            return None if match is None else match.span()
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
            for count, match in enumerate(self._matches(pid, text, start, end)):
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
            for match in self._matches(pid, text, start, end):
                spans.append(match.span())
                if len(spans) >= limit:
                    break
        except TimeoutError:
            self._give_up(pid, signals)
        return spans

    def _matches(self, pid: int, text: str, start: int, end: int) -> Iterator[Any]:
        if self._is_quick(pid, end - start):
            return self._quickly(pid).finditer(text, start, end)
        matches: Iterator[Any] = self.pattern(pid).finditer(text, start, end, timeout=TIMEOUT_S)
        return matches

    def _is_quick(self, pid: int, size: int) -> bool:
        if size > _MOST_QUICK or not self.quick:
            return False
        sign = self.quick[pid]
        return sign != "0" and size <= _QUICK_UNIT << int(sign)

    def _quickly(self, pid: int) -> re.Pattern[str]:
        compiled = self._plain.get(pid)
        if compiled is None:
            compiled = self._plain[pid] = re.compile(self.sources[pid], _FLAGS)
        return compiled

    def _give_up(self, pid: int, signals: Signals | None) -> None:
        if signals is None or ("slow", pid) in signals.memo:
            return
        signals.memo["slow", pid] = True
        signals.warnings.append(
            f"pattern {self.sources[pid][:60]!r} took too long and was passed over"
        )
