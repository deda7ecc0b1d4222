"""The patterns of one table, compiled when first asked for and searched in bounded time.

Two engines read the same syntax alike (a test holds them against each other). `regex` watches the
clock: a pattern that runs into the limit is a no-match and one warning, and is not tried again on
the same capture. It is the last guard; lint refuses patterns that could need it. A short text needs
no guard where its search must end in a moment by the pattern's shape (`triage.regex_cost`). There
`re` serves, which is loaded anyway: importing `regex` and compiling ten patterns with it costs
more than starting Python does.

Most patterns can't match across a line's end and need a literal: of a stream's text they are tried
only on the lines that have it (`triage.line_search`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from triage.compiled import by_number
from triage.line_search import lines_with
from triage.literals import is_wide

if TYPE_CHECKING:
    from triage.signals import Signals

__all__ = ["TIMEOUT_S", "Patterns", "quick_sign"]

Found = TypeVar("Found")

TIMEOUT_S = 0.25
_MOST_MATCHES = 200
_QUICK_UNIT = 32
# A text this short is searched before its lines are found.
_WHOLE_UP_TO = 160
_MOST_LINES = 6
# How often a search may lose its time to others before it counts as too slow.
_MOST_WAITS = 8
_LONGEST_WAIT_S = 16 * TIMEOUT_S
# As `triage.pattern.compile_pattern` has it for `regex`.
_FLAGS = int(re.ASCII | re.IGNORECASE | re.MULTILINE)


def quick_sign(size: int) -> str:
    """Return the sign for "quick on texts of up to `size` characters", as `Patterns` reads it."""
    return str((size // _QUICK_UNIT).bit_length() - 1) if size >= _QUICK_UNIT else "0"


class Patterns:
    """Patterns by number; `sources` are as written in the rules, `quick` has a sign for each.

    `clauses` are the literals each needs (see `triage.pattern`); `lines` has a 1 for each that
    can't match across a line's end.
    """

    __slots__ = ("_compiled", "_plain", "clauses", "lines", "quick", "sources")

    def __init__(
        self,
        sources: Sequence[str],
        quick: str = "",
        clauses: Sequence[Sequence[Sequence[str]]] = (),
        lines: str = "",
    ) -> None:
        self.sources = sources
        self.quick = quick
        self.clauses = by_number(clauses)
        self.lines = lines
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
        if ("slow", pid) in signals.memo:
            return None
        spans = self._lines(pid, text, start, end, signals)
        if spans is None and end - start <= self._quick_size(pid):
            match = self._quickly(pid).search(text, start, end)
            return None if match is None else match.span()
        if spans is not None and not spans:
            return None

        def first(seconds: float) -> Any:
            if spans is None:
                return self.pattern(pid).search(text, start, end, timeout=seconds)
            return next(self._by_line(pid, text, spans, seconds), None)

        try:
            match = _in_own_time(first)
        except TimeoutError:
            self._give_up(pid, signals)
            return None
        return None if match is None else match.span()

    def groups(self, pid: int, text: str, start: int, end: int, signals: Signals) -> str | None:
        """Return the first group that matched (or the match) of the last match of a pattern."""
        value: str | None = None

        def look(seconds: float) -> None:
            nonlocal value
            value = None
            for count, match in enumerate(self._matches(pid, text, start, end, signals, seconds)):
                picked = next((group for group in match.groups() if group), None)
                value = picked or value or (match.group() if not match.groups() else None)
                if count >= _MOST_MATCHES:
                    break

        try:
            _in_own_time(look)
        except TimeoutError:
            self._give_up(pid, signals)
        return value

    def find_all(
        self, pid: int, text: str, start: int, end: int, limit: int, signals: Signals
    ) -> list[tuple[int, int]]:
        """Return up to `limit` spans; a pattern that takes too long yields what it had."""
        spans: list[tuple[int, int]] = []

        def look(seconds: float) -> None:
            spans.clear()
            for match in self._matches(pid, text, start, end, signals, seconds):
                spans.append(match.span())
                if len(spans) >= limit:
                    break

        try:
            _in_own_time(look)
        except TimeoutError:
            self._give_up(pid, signals)
        return spans

    def _matches(
        self, pid: int, text: str, start: int, end: int, signals: Signals, seconds: float
    ) -> Iterator[Any]:
        spans = self._lines(pid, text, start, end, signals)
        if spans is None:
            return self._found(pid, text, start, end, seconds)
        return self._by_line(pid, text, spans, seconds)

    def _lines(
        self, pid: int, text: str, start: int, end: int, signals: Signals
    ) -> list[tuple[int, int]] | None:
        """The lines to be searched, and where these are many, the rest; None: search all of it."""
        if end - start <= _WHOLE_UP_TO or not self.lines or self.lines[pid] == "0":
            return None
        lowered = signals.lowered(text)
        if lowered is None:
            return None
        clauses = signals.clauses(pid, text) or self.clauses[pid]
        if is_wide(text):
            clauses = [clause for clause in clauses if all(map(str.isascii, clause))]
        return lines_with(clauses, lowered, start, end, _MOST_LINES)

    def _by_line(
        self, pid: int, text: str, spans: Sequence[tuple[int, int]], seconds: float
    ) -> Iterator[Any]:
        """The same matches, from the lines that have what the pattern needs."""
        last = time.monotonic() + seconds
        # What `re` may do unwatched it may do to all lines together.
        rest = self._quick_size(pid)
        for first, after in spans:
            rest -= after - first
            if rest >= 0:
                yield from self._quickly(pid).finditer(text, first, after)
            else:
                yield from self._found(pid, text, first, after, last - time.monotonic())

    def _found(self, pid: int, text: str, start: int, end: int, seconds: float) -> Iterator[Any]:
        if end - start <= self._quick_size(pid):
            return self._quickly(pid).finditer(text, start, end)
        if seconds <= 0:
            raise TimeoutError
        matches: Iterator[Any] = self.pattern(pid).finditer(text, start, end, timeout=seconds)
        return matches

    def _quick_size(self, pid: int) -> int:
        """Up to how many characters `re` searches in a moment."""
        sign = self.quick[pid] if self.quick else "0"
        return 0 if sign == "0" else _QUICK_UNIT << int(sign)

    def _quickly(self, pid: int) -> re.Pattern[str]:
        compiled = self._plain.get(pid)
        if compiled is None:
            compiled = self._plain[pid] = re.compile(self.sources[pid], _FLAGS)
        return compiled

    def _give_up(self, pid: int, signals: Signals) -> None:
        if ("slow", pid) in signals.memo:
            return
        signals.memo["slow", pid] = True
        signals.warnings.append(
            f"pattern {self.sources[pid][:60]!r} took too long and was passed over"
        )


def _in_own_time(look: Callable[[float], Found]) -> Found:
    """Return what `look` finds in the seconds it is given; raises `TimeoutError`.

    `regex` counts the time in which other threads ran, or other processes: what went to them is
    given again, so that a verdict does not depend on who else is at work.
    """
    seconds = TIMEOUT_S
    for _ in range(_MOST_WAITS):
        begun = time.thread_time()
        try:
            return look(seconds)
        except TimeoutError:
            if time.thread_time() - begun >= TIMEOUT_S / 2:
                raise
            seconds = min(2 * seconds, _LONGEST_WAIT_S)
    raise TimeoutError
