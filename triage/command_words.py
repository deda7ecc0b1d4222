"""The word `command:` of `when:`: the line as a whole, and the stages that may own its status."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from triage.finds import Found, Node, Test
from triage.value_tests import passes

if TYPE_CHECKING:
    from triage.command import CommandLine, Stage
    from triage.pattern_search import Patterns
    from triage.signals import Signals

__all__ = ["command_test"]

# Whether the line, or one stage of it, passes one test.
LineTest = Callable[["CommandLine", "Signals"], bool]
StageTest = Callable[["Stage", "Signals"], bool]


def command_test(m: Patterns, node: Node) -> Test:
    """Make the test of ``[command, line tests, stage tests, which]``; it makes no evidence."""
    _, line_tests, stage_tests, which = node
    of_line = [_of_line(m, name, wanted) for name, wanted in line_tests]
    of_stage = [_of_stage(m, name, wanted) for name, wanted in stage_tests]

    def test(s: Signals, found: list[Found]) -> bool:
        line = s.line
        if line is None:
            return False
        for holds in of_line:
            if not holds(line, s):
                return False
        if not of_stage:
            return True
        if which == "owner":
            return bool(s.owners) and all(_passes(of_stage, stage, s) for stage in s.owners)
        stages = s.owners if which == "possible" else (*line.stages, *line.nested)
        return any(_passes(of_stage, stage, s) for stage in stages)

    return test


def _passes(tests: Sequence[StageTest], stage: Stage, s: Signals) -> bool:
    for holds in tests:  # noqa: SIM110 (a generator would cost as much as the tests)
        if not holds(stage, s):
            return False
    return True


def _of_line(m: Patterns, name: str, wanted: Any) -> LineTest:
    if name == "shape":
        return lambda line, s: not line.shape.isdisjoint(wanted)
    if name == "without_shape":
        return lambda line, s: line.shape.isdisjoint(wanted)
    if name == "masks_status":
        return lambda line, s: line.masks_status is wanted
    if name == "json_wanted":
        return lambda line, s: line.json_wanted is wanted
    if name == "effect":
        return lambda line, s: s.effect in wanted
    if name == "owner_certain":
        return lambda line, s: (len(s.owners) == 1) is wanted
    return lambda line, s: m.search(wanted, line.text, 0, len(line.text), s) is not None


def _of_stage(m: Patterns, name: str, wanted: Any) -> StageTest:
    if name == "program":
        programs = frozenset(wanted)
        return lambda stage, s: stage.program.casefold() in programs
    if name == "subcommand":
        paths = [tuple(path) for path in wanted]
        return lambda stage, s: any(stage.words[: len(path)] == path for path in paths)
    if name == "flags":
        return lambda stage, s: not stage.flags.isdisjoint(wanted)
    if name == "flags_all":
        return lambda stage, s: stage.flags.issuperset(wanted)
    if name == "without_flags":
        return lambda stage, s: stage.flags.isdisjoint(wanted)
    if name == "wrapper":
        return lambda stage, s: not set(wanted).isdisjoint(stage.wrappers)
    if name == "words":
        return lambda stage, s: passes(m, wanted, len(stage.words), s)
    return lambda stage, s: _found_in(
        m, wanted, stage.argv[1:] if name == "args" else stage.redirects, s
    )


def _found_in(m: Patterns, pid: int, words: Sequence[str], s: Signals) -> bool:
    text = " ".join(words)
    return m.search(pid, text, 0, len(text), s) is not None
