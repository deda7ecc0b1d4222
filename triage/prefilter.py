"""One look at the text: which patterns, and so which rows, can still match.

Two scanners find the same thing at different prices. Literals: each pattern needs some lower-case
literals, looked for one by one; nothing to build, best for a single small capture. RE2: all
patterns as one set, one linear pass; paid once per process, best for large texts and warm
processes. Both only ever skip what can't match (see `triage.pattern`), so verdicts are the same
with either, with neither, and where google-re2 is not installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from triage.index import DEAR

if TYPE_CHECKING:
    from triage.signals import Signals

__all__ = ["Prefilter"]

# The set of 1,000 patterns costs what some hundred small literal scans do; below this size, and
# before this many captures in one process, literals are cheaper.
_SET_FROM_CHARS = 48 << 10
_SET_FROM_CALLS = 24
_SET_MEMORY = 256 << 20
# How a whole text can begin that is JSON without a bracket in it.
_BLANKS = "\ufeff \t\r\n"
_SCALARS = ('"', "-", *"0123456789", "true", "false", "null", "NaN", "Infinity")


class Prefilter:
    """The patterns of one table, ready to be looked for together."""

    __slots__ = ("_always", "_by_literal", "_calls", "_rest", "_set", "hot", "mode")

    def __init__(self, hot: Mapping[str, Any], mode: str = "auto") -> None:
        self.hot = hot
        self.mode = mode
        self._calls = 0
        # None: not built yet; False: can't be built; else the set, its patterns, those it lacks.
        self._set: Any = None
        self._always: list[int] = []
        self._by_literal: dict[str, list[int]] | None = None
        self._rest: dict[int, list[list[str]]] = {}

    def possible(self, signals: Signals) -> set[int] | None:
        """Return the patterns that may match the streams' text, None for "any of them"."""
        if self.mode == "off":
            return None
        self._calls += 1
        out = signals.stdout.text
        text = out if signals.merged else f"{signals.stderr.text}\n{out}"
        if self.mode != "literals" and (
            self.mode == "re2" or len(text) > _SET_FROM_CHARS or self._calls > _SET_FROM_CALLS
        ):
            found = self._scan_set(text, signals)
            if found is not None:
                return found
        return self._scan_literals(text.lower())

    def rows(self, signals: Signals, possible: frozenset[int] | set[int] | None) -> Sequence[int]:
        """Return the numbers of the rows that can still match, in table order."""
        if possible is None:
            return range(len(self.hot["rows"]))
        index = self.hot["index"]
        active: set[int | str] = {*possible, *_keys(signals)}
        filed: set[int] = set(index.get("always", ()))
        for key in active:
            filed.update(index.get(str(key), ()))
        gates = self.hot["gates"]
        return [
            number
            for number in sorted(filed)
            if all(
                not active.isdisjoint(gate) or _worked_out(gate[0], signals)
                for gate in gates[number]
            )
        ]

    def _scan_literals(self, lowered: str) -> set[int]:
        if self._by_literal is None:
            self._index_literals()
        found = set(self._always)
        rest = self._rest
        known: dict[str, bool] = {}
        for literal, pids in (self._by_literal or {}).items():
            if literal in lowered:
                for pid in pids:
                    if pid not in found and all(
                        any(_has(word, lowered, known) for word in clause) for clause in rest[pid]
                    ):
                        found.add(pid)
        return found

    def _index_literals(self) -> None:
        by_literal: dict[str, list[int]] = {}
        for pid in self.hot["scanned"]:
            clauses = self.hot["clauses"][pid]
            if not clauses:
                self._always.append(pid)
                continue
            self._rest[pid] = clauses[1:]
            for literal in clauses[0]:
                by_literal.setdefault(literal, []).append(pid)
        self._by_literal = by_literal

    def _scan_set(self, text: str, signals: Signals) -> set[int] | None:
        if self._set is None:
            self._set = self._build(signals)
        if self._set is False:
            return None
        try:
            data = text.encode()
        except UnicodeEncodeError:
            # A lone surrogate is one character to every pattern; U+FFFD is one to RE2 too.
            data = "".join(
                "\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text
            ).encode()
        patterns, pids, lacking = self._set
        hits = patterns.Match(data)
        if not hits or len(pids) not in hits:
            return None
        return {*lacking, *(pids[number] for number in hits if number < len(pids))}

    def _build(self, signals: Signals) -> Any:
        try:
            import re2
        except ImportError:
            return False
        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        options.max_mem = _SET_MEMORY
        patterns = re2.Set.SearchSet(options)
        pids: list[int] = []
        lacking: list[int] = []
        for pid in self.hot["scanned"]:
            source = self.hot["re2"][pid]
            if source is None:
                lacking.append(pid)
                continue
            try:
                patterns.Add(source)
            except re2.error:
                lacking.append(pid)
            else:
                pids.append(pid)
        try:
            # The last one matches every text: where it is missing, the scan ran out of memory,
            # which the set reports as "nothing matches".
            patterns.Add("")
            patterns.Compile()
        except re2.error:
            signals.warnings.append("the RE2 set does not compile; literals are used instead")
            return False
        return patterns, pids, lacking


def _has(literal: str, lowered: str, known: dict[str, bool]) -> bool:
    answer = known.get(literal)
    if answer is None:
        answer = known[literal] = literal in lowered
    return answer


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
    if line is not None or "{" in raw:
        keys.append("agent?")
    if escapes or stderr.had_escapes:
        keys.append("escapes")
    if stdout.size + stderr.size >= 30_000:
        keys.append("big")
    if not stdout.text.strip():
        keys.append("empty:stdout")
    if not stderr.text.strip():
        keys.append("empty:stderr")
    capture = signals.capture
    for name, there in (
        ("hang", signals.hang),
        ("merged", signals.merged),
        ("truncated", capture.truncated),
        ("sandboxed", capture.sandboxed),
        ("pty", capture.pty),
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
    if key == "envelope":
        return signals.envelope is not None
    if key == "polluted":
        found = signals.extraction
        return found.found and (found.has_before or found.has_after)
    line = signals.line
    if line is None:
        return False
    return line.masks_status if key == "masks_status" else line.json_wanted
