"""The word `command:` of `when:`: the line as a whole, and the stages that may own its status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triage.finds import Found, Node
from triage.value_tests import passes

if TYPE_CHECKING:
    from triage.pattern_search import Patterns
    from triage.signals import Signals

__all__ = ["command_holds"]


def command_holds(m: Patterns, node: Node, s: Signals, found: list[Found]) -> bool:
    """Whether ``[command, line tests, stage tests, which]`` is true; makes no evidence."""
    line = s.line
    if line is None:
        return False
    _, line_tests, stage_tests, which = node
    for name, wanted in line_tests:
        if name == "shape" and not line.shape.intersection(wanted):
            return False
        if name == "without_shape" and line.shape.intersection(wanted):
            return False
        if name == "masks_status" and line.masks_status is not wanted:
            return False
        if name == "json_wanted" and line.json_wanted is not wanted:
            return False
        if name == "effect" and s.effect not in wanted:
            return False
        if name == "owner_certain" and (len(s.owners) == 1) is not wanted:
            return False
        if name == "line" and m.search(wanted, line.text, 0, len(line.text), s) is None:
            return False
    if not stage_tests:
        return True
    if which == "owner":
        return bool(s.owners) and all(_stage(m, stage_tests, stage, s) for stage in s.owners)
    stages = s.owners if which == "possible" else (*line.stages, *line.nested)
    return any(_stage(m, stage_tests, stage, s) for stage in stages)


def _stage(m: Patterns, tests: Node, stage: Any, s: Signals) -> bool:
    for name, wanted in tests:
        if name == "program":
            if stage.program.casefold() not in wanted:
                return False
        elif name == "subcommand":
            if not any(stage.words[: len(path)] == tuple(path) for path in wanted):
                return False
        elif name == "flags":
            if stage.flags.isdisjoint(wanted):
                return False
        elif name == "flags_all":
            if not stage.flags.issuperset(wanted):
                return False
        elif name == "without_flags":
            if not stage.flags.isdisjoint(wanted):
                return False
        elif name == "wrapper":
            if not set(stage.wrappers).intersection(wanted):
                return False
        elif name == "words":
            if not passes(m, wanted, len(stage.words), s):
                return False
        elif name == "args":
            text = " ".join(stage.argv[1:])
            if m.search(wanted, text, 0, len(text), s) is None:
                return False
        elif name == "redirects":
            text = " ".join(stage.redirects)
            if m.search(wanted, text, 0, len(text), s) is None:
                return False
    return True
