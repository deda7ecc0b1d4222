"""What can be known of two conditions without any capture: does one imply or exclude the other?

Works on the compiled form, where cells are sets and intervals. Every yes is a proof; a no only
says that no proof was found, because patterns are not compared with one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from triage.match import WORDS
from triage.model import Capture
from triage.signals import Signals

__all__ = ["Logic", "normal", "statuses"]

Node = Sequence[Any]

# Statuses that stand for all others: unknown, signals, 0…255, wider numbers, NTSTATUS.
_STATUSES: tuple[int | None, ...] = (
    *(None, *range(-70, 300), 1000, 32768, -1073741819, 1 << 40),
    *(0x80000001, 0x80000002, 0x80000003, 0x80000004, *range(0xC0000000, 0xC0000600)),
    *(0x80004005, 0x80070005, -2147024891),
)
_DEEPEST = 40
# A stage test of `owner` holds for all stages that may own the status, of `possible` for one.
_WEAKER_STAGE = {
    "owner": ("owner", "possible", "any"),
    "possible": ("possible", "any"),
    "any": ("any",),
}


def normal(node: Node) -> str:
    """A text that is the same for conditions which differ in the order of their parts only."""
    if node[0] in ("all", "any"):
        inner = ",".join(sorted({normal(child) for child in node[1]}))
        return f"{node[0]}({inner})"
    if node[0] == "not":
        return f"not({normal(node[1])})"
    return repr(node)


def statuses(items: Sequence[Any], beside: Sequence[Any] = ()) -> frozenset[int | None]:
    """The statuses, of a set that stands for all, that an `exit:` condition holds for.

    The set holds the numbers that `items` and `beside` name, so that two answers can be compared
    when each was asked with the other's items beside.
    """
    named = {number for item in (*items, *beside) for number in _numbers(item)}
    return _statuses(tuple(map(_frozen, items)), tuple(sorted(named.difference(_STATUSES))))


def _numbers(item: Any) -> Sequence[int]:
    if isinstance(item, list):
        return item
    return () if item is None or isinstance(item, str) else (item,)


def _frozen(item: Any) -> Any:
    return tuple(item) if isinstance(item, list) else item


@lru_cache(maxsize=4096)
def _statuses(items: tuple[Any, ...], named: tuple[int, ...]) -> frozenset[int | None]:
    node = ["exit", [list(item) if isinstance(item, tuple) else item for item in items]]
    nothing: Any = None
    _, holds = WORDS["exit"](nothing, node)
    calls = (*_calls(), *(_call(code) for code in named))
    return frozenset(call.capture.exit_code for call in calls if holds(call, []))


def _call(code: int | None) -> Signals:
    return Signals(Capture(exit_code=code))


@lru_cache(maxsize=1)
def _calls() -> tuple[Signals, ...]:
    return tuple(_call(code) for code in _STATUSES)


class Logic:
    """Proofs over conditions of one table, whose named predicates it looks into."""

    __slots__ = ("predicates",)

    def __init__(self, predicates: Sequence[Node]) -> None:
        self.predicates = predicates

    def implies(self, strong: Node, weak: Node, depth: int = 0) -> bool:
        """Whether every capture that `strong` holds for is one that `weak` holds for."""
        if depth > _DEEPEST:
            return False
        if strong == weak:
            return True
        deeper = depth + 1
        if weak[0] == "all":
            return all(self.implies(strong, part, deeper) for part in weak[1])
        if strong[0] == "any":
            return bool(strong[1]) and all(self.implies(part, weak, deeper) for part in strong[1])
        if strong[0] == "all" and any(self.implies(part, weak, deeper) for part in strong[1]):
            return True
        if weak[0] == "any" and any(self.implies(strong, part, deeper) for part in weak[1]):
            return True
        if weak[0] == "not":
            if strong[0] == "not":
                return self.implies(weak[1], strong[1], deeper)
            return self.disjoint(strong, weak[1], deeper)
        if weak[0] == "is":
            return self.implies(strong, self.predicates[weak[1]], deeper)
        if strong[0] == "is":
            return self.implies(self.predicates[strong[1]], weak, deeper)
        return strong[0] == weak[0] and _cell_implies(strong, weak)

    def disjoint(self, one: Node, other: Node, depth: int = 0) -> bool:
        """Whether no capture can satisfy both."""
        if depth > _DEEPEST:
            return False
        deeper = depth + 1
        for left, right in ((one, other), (other, one)):
            if left[0] == "all":
                if any(self.disjoint(part, right, deeper) for part in left[1]):
                    return True
            elif left[0] == "any":
                if left[1] and all(self.disjoint(part, right, deeper) for part in left[1]):
                    return True
            elif left[0] == "not":
                if self.implies(right, left[1], deeper):
                    return True
            elif left[0] == "is" and self.disjoint(self.predicates[left[1]], right, deeper):
                return True
        return one[0] == other[0] and _cells_disjoint(one, other)

    def impossible(self, node: Node) -> bool:
        """Whether a condition contradicts itself."""
        if node[0] == "any":
            return all(self.impossible(part) for part in node[1])
        if node[0] == "is":
            return self.impossible(self.predicates[node[1]])
        if node[0] == "exit":
            return not statuses(node[1])
        if node[0] != "all":
            return False
        parts = node[1]
        if any(self.impossible(part) for part in parts):
            return True
        return any(
            self.disjoint(part, other)
            for index, part in enumerate(parts)
            for other in parts[index + 1 :]
        )


def _cell_implies(strong: Node, weak: Node) -> bool:
    word = strong[0]
    if word == "exit":
        return statuses(strong[1], weak[1]) <= statuses(weak[1], strong[1])
    if word == "text":
        return _text_implies(strong, weak)
    if word == "raw":
        return weak[1] in ("any", strong[1]) and set(strong[2]) <= set(weak[2])
    if word == "empty":
        return set(strong[1]) >= set(weak[1])
    if word == "command":
        return _command_implies(strong, weak)
    if word in ("envelope", "json", "extraction", "timing", "size", "observed", "agent"):
        known = dict(map(tuple, strong[1]))
        return all(path in known and _implied(known[path], tests) for path, tests in weak[1])
    return False


def _text_implies(strong: Node, weak: Node) -> bool:
    _, stream, window, pids, after, least = strong
    _, weak_stream, weak_window, weak_pids, weak_after, weak_least = weak
    return (
        weak_stream in ("any", stream)
        and weak_window in ("all", window)
        and set(pids) <= set(weak_pids)
        and weak_after in (None, after)
        and (weak_least <= 1 or (weak_least <= least and weak_window == window))
    )


def _command_implies(strong: Node, weak: Node) -> bool:
    if weak[2] and weak[3] not in _WEAKER_STAGE[strong[3]]:
        return False
    line = dict(map(tuple, strong[1]))
    stage = dict(map(tuple, strong[2]))
    return all(
        name in line and _option_implies(name, line[name], wanted) for name, wanted in weak[1]
    ) and all(
        name in stage and _option_implies(name, stage[name], wanted) for name, wanted in weak[2]
    )


def _option_implies(name: str, strong: Any, weak: Any) -> bool:
    if strong == weak:
        return True
    if name in ("program", "flags", "wrapper", "shape"):
        return set(strong) <= set(weak)
    if name in ("flags_all", "without_flags", "without_shape"):
        return set(strong) >= set(weak)
    if name == "subcommand":
        return all(any(path[: len(short)] == short for short in weak) for path in strong)
    return name == "words" and _implied(strong, weak)


def _implied(known: Sequence[Any], wanted: Sequence[Any]) -> bool:
    return all(any(_test_implies(test, other) for test in known) for other in wanted)


def _test_implies(strong: Sequence[Any], weak: Sequence[Any]) -> bool:
    if strong == weak:
        return True
    (kind, value), (weak_kind, weak_value) = strong, weak
    if kind == "in":
        if weak_kind == "in":
            return {_key(item) for item in value} <= {_key(item) for item in weak_value}
        if weak_kind == "present":
            return bool(weak_value) and None not in value
        if weak_kind in ("min", "max"):
            return all(_within(item, weak_kind, weak_value) for item in value)
        return False
    if weak_kind == "present":
        return bool(weak_value) and kind in ("min", "max", "matches", "contains")
    return kind == weak_kind and kind in ("min", "max") and _within(value, kind, weak_value)


def _within(value: Any, kind: str, bound: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return value >= bound if kind == "min" else value <= bound


def _key(item: Any) -> Any:
    return item.casefold() if isinstance(item, str) else (type(item) is bool, item)


def _cells_disjoint(one: Node, other: Node) -> bool:
    word = one[0]
    if word == "exit":
        return not statuses(one[1], other[1]) & statuses(other[1], one[1])
    if word == "mid_structure":
        return bool(one[1] is not other[1])
    if word == "command":
        return _commands_disjoint(one, other)
    if word in ("envelope", "json", "extraction", "timing", "size", "observed", "agent"):
        known = dict(map(tuple, one[1]))
        return any(path in known and _apart(known[path], tests) for path, tests in other[1])
    return False


def _commands_disjoint(one: Node, other: Node) -> bool:
    line = dict(map(tuple, one[1]))
    for name, wanted in other[1]:
        if isinstance(wanted, bool) and line.get(name, wanted) is not wanted:
            return True
    # Several stages may own a status, so only where all of them must fit can two rows exclude.
    if one[3] != "owner" or other[3] != "owner":
        return False
    stage = dict(map(tuple, one[2]))
    for name, wanted in other[2]:
        if name == "program" and name in stage and not set(stage[name]) & set(wanted):
            return True
        if name == "without_flags" and set(stage.get("flags_all", ())) & set(wanted):
            return True
        if name == "without_flags" and "flags" in stage and set(stage["flags"]) <= set(wanted):
            return True
        if name == "subcommand" and name in stage and not _may_share(stage[name], wanted):
            return True
    return False


def _may_share(paths: Sequence[Any], others: Sequence[Any]) -> bool:
    return any(
        left[: len(right)] == right or right[: len(left)] == left
        for left in paths
        for right in others
    )


def _apart(tests: Sequence[Any], others: Sequence[Any]) -> bool:
    for kind, value in tests:
        for other_kind, other_value in others:
            if kind == other_kind == "in" and not {_key(item) for item in value} & {
                _key(item) for item in other_value
            }:
                return True
            if kind == "min" and other_kind == "max" and value > other_value:
                return True
            if kind == "max" and other_kind == "min" and value < other_value:
                return True
    return False
