"""One look at the text: which patterns, and so which rows, can still match.

A pattern can't match a text without its literals (see `triage.pattern`), and the literals of all
patterns are looked for together (see `triage.literals`). Only what can't match is ever skipped, so
verdicts are the same with either way of looking, with none, and where google-re2 is not installed.
"""

from __future__ import annotations

import _thread
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from triage.literals import GramIndex, LiteralSet, has_all, is_wide, lowered_text
from triage.row_gates import RowGates

if TYPE_CHECKING:
    from triage.signals import Signals

__all__ = ["Prefilter"]

# The set costs some 130 ms until it is built, what it saves a microsecond for two characters.
_SET_FROM_CHARS = 256 << 10
_SET_FROM_CALLS = 24


class Prefilter:
    """The patterns of one table, ready to be looked for together."""

    __slots__ = ("_calls", "_gates", "_grams", "_lock", "_set", "hot", "mode")

    def __init__(self, hot: Mapping[str, Any], mode: str = "auto") -> None:
        self.hot = hot
        self.mode = mode
        self._calls = 0
        self._lock = _thread.allocate_lock()
        self._grams: GramIndex | None = None
        # None: not built yet; False: can't be built.
        self._set: Any = None
        self._gates = RowGates(hot)

    def possible(self, signals: Signals) -> set[int] | None:
        """Return the patterns that may match the streams' text, None for "any of them"."""
        if self.mode == "off":
            return None
        self._calls += 1
        texts = [signals.stdout.text]
        if not signals.merged and signals.stderr.text:
            # What stands in one of the two streams says nothing of the other.
            texts = [signals.stderr.text, *filter(None, texts)]
        if self.mode == "re2" or (
            self.mode == "auto"
            and (sum(map(len, texts)) > _SET_FROM_CHARS or self._calls > _SET_FROM_CALLS)
        ):
            found = self._by_set(texts, signals)
            if found is not None:
                return found
        return self._by_grams(texts, signals)

    def rows(self, signals: Signals, possible: frozenset[int] | set[int] | None) -> Iterator[int]:
        """Yield the numbers of the rows that can still match, in table order.

        One by one, so that what is dear is not worked out for rows that nobody comes to.
        """
        if possible is None:
            yield from range(len(self.hot["rows"]))
        else:
            yield from self._gates.rows(signals, possible, warm=self._calls > _SET_FROM_CALLS)

    def _by_grams(self, texts: Sequence[str], signals: Signals) -> set[int]:
        if self._grams is None:
            self._grams = GramIndex(self.hot)
        clauses = self.hot["clauses"]
        possible: set[int] = set()
        for text in texts:
            known: dict[str, bool] = {}
            lowered = lowered_text(text) if is_wide(text) else signals.lowered_of(text)
            found = self._grams.find(lowered)
            possible.update(pid for pid in found if has_all(clauses[pid], lowered, known))
        return possible

    def _by_set(self, texts: Sequence[str], signals: Signals) -> set[int] | None:
        with self._lock:
            # Once, and not by each of the threads that come first.
            if self._set is None:
                self._set = self._build(signals)
        possible: set[int] = set()
        for text in texts:
            lowered = None if is_wide(text) else signals.lowered_of(text)
            seen = self._set.find(text, lowered) if self._set else None
            if seen is None:
                return None
            signals.seen.append(seen)
            possible |= seen.found
        return possible

    def _build(self, signals: Signals) -> Any:
        try:
            import re2
        except ImportError:
            return False
        clauses = self.hot["clauses"]
        try:
            return LiteralSet(re2, {pid: clauses[pid] for pid in self.hot["scanned"]})
        except re2.error:
            signals.warnings.append("the RE2 set does not compile; literals are used instead")
            return False
