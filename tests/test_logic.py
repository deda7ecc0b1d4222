"""What can be proved of two conditions, against what the matcher says of real statuses."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.exits import EXIT_CLASSES
from triage.logic import Logic, normal, statuses
from triage.match import Matcher
from triage.model import Capture
from triage.signals import Signals

STDERR = ["text", "stderr", "all", [0, 1], None, 1]
NARROW = ["text", "stderr", "tail", [1], None, 1]
GIT = ["command", [], [["program", ["git"]]], "owner"]
GIT_LOG = ["command", [], [["program", ["git"]], ["subcommand", [["log"]]]], "owner"]
LOGIC = Logic([["exit", ["nonzero"]]])


@pytest.mark.parametrize(
    ("strong", "weak"),
    [
        (["exit", [3]], ["exit", [[1, 9]]]),
        (["exit", [137]], ["exit", ["kill_signal"]]),
        (["exit", [-9]], ["exit", [137]]),
        (["exit", [1, 2]], ["is", 0]),
        (NARROW, STDERR),
        (NARROW, ["text", "any", "all", [1], None, 1]),
        (GIT_LOG, GIT),
        (GIT_LOG, ["command", [], [["program", ["git", "hg"]]], "possible"]),
        (["all", [GIT_LOG, ["exit", [1]]]], ["exit", ["nonzero"]]),
        (["any", [["exit", [1]], ["exit", [2]]]], ["exit", [[1, 2]]]),
        (["exit", [1]], ["any", [["exit", [7]], ["exit", [1]]]]),
        (["not", STDERR], ["not", NARROW]),
        (["exit", [0]], ["not", ["exit", ["nonzero"]]]),
        (["size", [["stdout", [["min", 9]]]]], ["size", [["stdout", [["min", 5]]]]]),
        (["json", [["a", [["in", [True]]]]]], ["json", [["a", [["present", True]]]]]),
        (["empty", ["stdout", "stderr"]], ["empty", ["stderr"]]),
    ],
)
def test_what_implies(strong: Any, weak: Any) -> None:
    assert LOGIC.implies(strong, weak)
    assert not LOGIC.implies(weak, strong) or normal(strong) == normal(weak) or strong[1] == [-9]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["exit", [0]], ["exit", ["nonzero"]]),
        (["exit", [3010]], ["exit", [3011]]),
        (GIT, ["command", [], [["program", ["hg"]]], "owner"]),
        (["timing", [["hang", [["in", [True]]]]]], ["timing", [["hang", [["in", [False]]]]]]),
        (STDERR, ["not", ["any", [STDERR, GIT]]]),
        (["size", [["stdout", [["max", 5]]]]], ["size", [["stdout", [["min", 6]]]]]),
        (["any", [["exit", [1]], ["exit", [2]]]], ["all", [GIT, ["exit", [3]]]]),
    ],
)
def test_what_excludes(one: Any, other: Any) -> None:
    assert LOGIC.disjoint(one, other)
    assert LOGIC.disjoint(other, one)
    assert LOGIC.impossible(["all", [one, other]])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["exit", [3010]], ["exit", ["nonzero"]]),
        (GIT, ["command", [], [["program", ["hg"]]], "any"]),
        (STDERR, NARROW),
        (["exit", ["loader"]], ["exit", ["nonzero"]]),
    ],
)
def test_what_may_be_true_together(one: Any, other: Any) -> None:
    assert not LOGIC.disjoint(one, other)
    assert not LOGIC.impossible(["all", [one, other]])


def test_every_class_of_statuses_has_one_that_stands_for_it() -> None:
    assert [name for name in EXIT_CLASSES if not statuses([name])] == []


def test_the_order_of_parts_makes_no_other_condition() -> None:
    assert normal(["all", [GIT, STDERR]]) == normal(["all", [STDERR, GIT]])
    assert normal(["all", [GIT, STDERR]]) != normal(["any", [GIT, STDERR]])


ITEM = st.one_of(
    st.sampled_from(sorted(EXIT_CLASSES)),
    st.none(),
    st.integers(-70, 300),
    st.tuples(st.integers(0, 255), st.integers(0, 255)).map(sorted),
)
CELL = st.lists(ITEM, min_size=1, max_size=3).map(lambda items: ["exit", items])
CONDITION = st.recursive(
    CELL,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(["all", "any"]), st.lists(inner, min_size=1, max_size=3)).map(
            list
        ),
        inner.map(lambda node: ["not", node]),
    ),
    max_leaves=5,
)


def holds(node: Any, code: int | None) -> bool:
    matcher = Matcher([], [])
    return matcher.holds(node, Signals(Capture(exit_code=code)), [])


@settings(max_examples=150, deadline=None)
@given(CONDITION, CONDITION, st.one_of(st.none(), st.integers(-100, 400)))
def test_a_proof_is_never_wrong(one: Any, other: Any, code: int | None) -> None:
    if LOGIC.implies(one, other) and holds(one, code):
        assert holds(other, code)
    if LOGIC.disjoint(one, other):
        assert not (holds(one, code) and holds(other, code))
    if LOGIC.impossible(one):
        assert not holds(one, code)
