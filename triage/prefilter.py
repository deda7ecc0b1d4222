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

if TYPE_CHECKING:
    from triage.signals import Signals

__all__ = ["Prefilter"]

# The set of 1,000 patterns costs what some hundred small literal scans do; below this size, and
# before this many captures in one process, literals are cheaper.
_SET_FROM_CHARS = 48 << 10
_SET_FROM_CALLS = 24
_SET_MEMORY = 256 << 20
# How a whole text can begin that is JSON without a bracket in it.
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
        rows: set[int] = set(index.get("always", ()))
        for pid in possible:
            rows.update(index.get(f"p:{pid}", ()))
        meaning = signals.exit
        code = signals.status
        for number in {code, meaning.normal} - {None}:
            rows.update(index.get(f"exit:{number}", ()) if abs(number or 0) < 1 << 40 else ())
        for name in meaning.classes:
            rows.update(index.get(f"class:{name}", ()))
        line = signals.line
        if line is not None:
            rows.update(index.get("command", ()))
            for program in line.programs:
                rows.update(index.get(f"program:{program.casefold()}", ()))
        for key in _special(signals):
            rows.update(index.get(key, ()))
        return sorted(rows)

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


def _special(signals: Signals) -> list[str]:
    keys = []
    stdout = signals.stdout
    if signals.hang:
        keys.append("hang")
    raw = stdout.raw
    if "{" in raw or "[" in raw:
        keys.append("json")
        if '"ok"' in raw or "ok" in raw:
            keys.append("ok")
        keys.append("agent")
    else:
        if stdout.had_escapes or raw.lstrip("\ufeff \t\r\n").startswith(_SCALARS):
            keys.append("json")
        if signals.line is not None:
            # An agent CLI that printed nothing, or only text, is known by its command.
            keys.append("agent")
    if stdout.had_escapes or signals.stderr.had_escapes:
        keys.append("escapes")
    if stdout.size + signals.stderr.size >= 30_000:
        keys.append("big")
    if not stdout.text.strip() and not signals.stderr.text.strip():
        keys.append("quiet")
    return keys
