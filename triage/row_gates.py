"""The rows whose gates are open for one capture (see `triage.index`), found in either of two ways.

A process of one verdict goes through the rows that are filed under something it has. A warm one has
laid all gates into one number for each key, a bit for each row, so that some fifty unions tell
about all rows at once, be they a hundred or a thousand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from triage.compiled import by_number
from triage.index import DEAR

if TYPE_CHECKING:
    from triage.signals import Signals

__all__ = ["RowGates"]

# How a whole text can begin that is JSON without a bracket in it.
_BLANKS = "\ufeff \t\r\n"
_SCALARS = ('"', "-", *"0123456789", "true", "false", "null", "NaN", "Infinity")

Key = int | str
Gate = Sequence[Key]


class RowGates:
    """The gates of one table's rows."""

    __slots__ = ("_filed", "_hot", "_laid")

    def __init__(self, hot: Mapping[str, Any]) -> None:
        self._hot = hot
        self._filed: Any = None
        self._laid: _Laid | None = None

    def rows(
        self, signals: Signals, possible: frozenset[int] | set[int], *, warm: bool
    ) -> Iterator[int]:
        """Yield the numbers of the rows that can match, in table order."""
        keys = _keys(signals)
        active: set[Key] = {*possible, *keys}
        if warm:
            if self._laid is None:
                self._laid = _Laid(self._hot)
            yield from self._laid.rows(signals, active)
            return
        if self._filed is None:
            self._filed = by_number(self._hot["rows_of"]), by_number(self._hot["gates"])
        rows_of, gates = self._filed
        index = self._hot["index"]
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


class _Laid:
    """All gates at once: the n-th of every row stands in the n-th run of bits of each number."""

    __slots__ = ("_all", "_count", "_dear", "_depth", "_of_key", "_without")

    def __init__(self, hot: Mapping[str, Any]) -> None:
        filed: list[list[Key]] = [[] for _ in hot["rows"]]
        for key, rows in [*hot["index"].items(), *enumerate(hot["rows_of"])]:
            for number in rows:
                filed[number].append(key)
        gates: list[list[Gate]] = [[] if keys == ["always"] else [keys] for keys in filed]
        # Row -> gates with a key that has to be worked out: asked last, one by one.
        self._dear: dict[int, list[Gate]] = {}
        for number, others in enumerate(hot["gates"]):
            for gate in others:
                if gate[0] in DEAR:
                    self._dear.setdefault(number, []).append(gate)
                else:
                    gates[number].append(gate)
        count = self._count = len(gates)
        self._depth = max(map(len, gates), default=0)
        self._all = (1 << count) - 1
        self._of_key: dict[Key, int] = {}
        self._without = 0
        for number, some in enumerate(gates):
            for depth in range(self._depth):
                bit = 1 << (depth * count + number)
                if depth >= len(some):
                    self._without |= bit
                    continue
                for key in some[depth]:
                    self._of_key[key] = self._of_key.get(key, 0) | bit

    def rows(self, signals: Signals, active: set[Key]) -> Iterator[int]:
        opened, get = self._without, self._of_key.get
        for key in active:
            opened |= get(key, 0)
        rows = self._all
        for depth in range(self._depth):
            rows &= opened >> depth * self._count
        closed: set[Key] = set()
        while rows:
            lowest = rows & -rows
            rows ^= lowest
            number = lowest.bit_length() - 1
            for gate in self._dear.get(number, ()):
                if active.isdisjoint(gate) and (
                    gate[0] in closed or not _worked_out(gate[0], signals)
                ):
                    closed.add(gate[0])
                    break
            else:
                yield number


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
