"""One look at the text: which patterns, and so which rows, can still match.

A pattern can't match a text without its literals (see `triage.pattern`), and the literals of all
patterns are looked for together (see `triage.literals`). Only what can't match is ever skipped, so
verdicts are the same with either way of looking, with none, and where google-re2 is not installed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from triage.compiled import by_number
from triage.index import DEAR
from triage.literals import GramIndex, LiteralSet, has_all

if TYPE_CHECKING:
    from triage.signals import Signals

__all__ = ["Prefilter"]

# The set costs some 130 ms until it is built, what it saves a microsecond for two characters.
_SET_FROM_CHARS = 256 << 10
_SET_FROM_CALLS = 24
# How a whole text can begin that is JSON without a bracket in it.
_BLANKS = "\ufeff \t\r\n"
_SCALARS = ('"', "-", *"0123456789", "true", "false", "null", "NaN", "Infinity")


class Prefilter:
    """The patterns of one table, ready to be looked for together."""

    __slots__ = ("_calls", "_gates", "_grams", "_lock", "_rows_of", "_set", "hot", "mode")

    def __init__(self, hot: Mapping[str, Any], mode: str = "auto") -> None:
        self.hot = hot
        self.mode = mode
        self._calls = 0
        self._lock = threading.Lock()
        self._grams: GramIndex | None = None
        # None: not built yet; False: can't be built.
        self._set: Any = None
        self._rows_of: Any = None
        self._gates: Any = None

    def possible(self, signals: Signals) -> set[int] | None:
        """Return the patterns that may match the streams' text, None for "any of them"."""
        if self.mode == "off":
            return None
        self._calls += 1
        texts = [signals.lowered_stdout]
        if not signals.merged and signals.lowered_stderr:
            # What stands in one of the two streams says nothing of the other.
            texts = [signals.lowered_stderr, *filter(None, texts)]
        if self.mode == "re2" or (
            self.mode == "auto"
            and (sum(map(len, texts)) > _SET_FROM_CHARS or self._calls > _SET_FROM_CALLS)
        ):
            found = self._by_set(texts, signals)
            if found is not None:
                return found
        return self._by_grams(texts)

    def rows(self, signals: Signals, possible: frozenset[int] | set[int] | None) -> Iterator[int]:
        """Yield the numbers of the rows that can still match, in table order.

        One by one, so that what is dear is not worked out for rows that nobody comes to.
        """
        if possible is None:
            yield from range(len(self.hot["rows"]))
            return
        if self._gates is None:
            self._rows_of = by_number(self.hot["rows_of"])
            self._gates = by_number(self.hot["gates"])
        index, rows_of, gates = self.hot["index"], self._rows_of, self._gates
        keys = _keys(signals)
        active: set[int | str] = {*possible, *keys}
        filed: set[int] = set(index.get("always", ()))
        for key in keys:
            filed.update(index.get(key, ()))
        for pid in possible:
            filed.update(rows_of[pid])
        for number in sorted(filed):
            for gate in gates[number]:
                if active.isdisjoint(gate) and not _worked_out(gate[0], signals):
                    break
            else:
                yield number

    def _by_grams(self, texts: Sequence[str]) -> set[int]:
        if self._grams is None:
            self._grams = GramIndex(self.hot)
        clauses = self.hot["clauses"]
        possible: set[int] = set()
        for lowered in texts:
            known: dict[str, bool] = {}
            found = self._grams.find(lowered)
            possible.update(pid for pid in found if has_all(clauses[pid], lowered, known))
        return possible

    def _by_set(self, texts: Sequence[str], signals: Signals) -> set[int] | None:
        with self._lock:
            # Once, and not by each of the threads that come first.
            if self._set is None:
                self._set = self._build(signals)
        possible: set[int] = set()
        for lowered in texts:
            seen = self._set.find(lowered) if self._set else None
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


def _keys(signals: Signals) -> list[str]:
    """The keys of `triage.index` that are active, but for patterns and the dear ones."""
    meaning = signals.exit
    keys = [f"class:{name}" for name in meaning.classes]
    codes = {signals.status, meaning.normal}
    keys += [f"exit:{code}" for code in codes if code is not None and abs(code) < 1 << 40]
    line = signals.line
    if line is not None:
        keys.append("command")
        keys += [f"program:{program.casefold()}" for program in line.programs]
        keys += [f"shape:{shape}" for shape in line.shape]
    stdout, stderr = signals.stdout, signals.stderr
    raw = stdout.raw
    escapes = stdout.had_escapes
    if "{" in raw or "[" in raw or escapes or raw.lstrip(_BLANKS).startswith(_SCALARS):
        keys.append("json")
        # A key may be written with \\u escapes, or with colours inside its quotes.
        if '"ok"' in raw or ("ok" in raw and (escapes or "\\u" in raw)):
            keys.append("ok")
    if line is not None or "{" in raw or signals.known_agent is not None:
        keys.append("agent?")
    if escapes or stderr.had_escapes:
        keys.append("escapes")
    if stdout.size + stderr.size >= 30_000:
        keys.append("big")
    if stdout.blank:
        keys.append("empty:stdout")
    if stderr.blank:
        keys.append("empty:stderr")
    capture = signals.capture
    for name, there in (
        ("hang", signals.hang),
        ("merged", signals.merged),
        ("truncated", capture.truncated),
        ("sandboxed", capture.sandboxed),
        ("pty", capture.pty),
        ("undecodable", stdout.undecodable or stderr.undecodable),
    ):
        if there:
            keys.append(name)
    return keys


def _worked_out(key: int | str, signals: Signals) -> bool:
    """Whether one of the dear keys is active; False for any other."""
    if key not in DEAR:
        return False
    if key == "agent":
        return signals.agent is not None
    if key == "cut":
        return signals.mid_structure
    if key == "foreign":
        return not signals.fine and signals.foreign is not None
    if key == "envelope":
        return signals.envelope is not None
    if key == "polluted":
        found = signals.extraction
        return found.found and (found.has_before or found.has_after)
    line = signals.line
    if line is None:
        return False
    return line.masks_status if key == "masks_status" else line.json_wanted
