"""What `frozen` makes behaves like the dataclass it stands for."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.frozen import fresh, frozen
from triage.model import Capture


@frozen()
class Point:
    """Two numbers."""

    x: int
    y: int = 7
    notes: Mapping[str, str] = fresh(factory=dict)
    _seen: int = 0

    @property
    def total(self) -> int:
        return self.x + self.y


@dataclasses.dataclass(frozen=True, slots=True)
class Twin:
    """The same, made by dataclasses."""

    x: int
    y: int = 7
    notes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    _seen: int = dataclasses.field(default=0, repr=False, compare=False)


@frozen(kw_only=True)
class Named:
    name: str
    size: int = 0


@frozen(eq=False)
class Unique:
    name: str


# As a caller without a type checker sees them.
point: Any = Point
named: Any = Named


@given(st.lists(st.integers(), max_size=5), st.dictionaries(st.sampled_from("xyz"), st.integers()))
def test_it_takes_what_its_twin_takes(values: list[Any], options: dict[str, Any]) -> None:
    def made(cls: Callable[..., Any]) -> list[Any] | str:
        try:
            one = cls(*values, **options)
        except TypeError:
            return "refused"
        return [one.x, one.y, one.notes, one._seen]

    assert made(Point) == made(Twin)


@given(st.integers(), st.integers(), st.integers(), st.integers())
def test_it_compares_hashes_and_shows_like_its_twin(a: int, b: int, c: int, d: int) -> None:
    assert (Point(a, b) == Point(c, d)) is (Twin(a, b) == Twin(c, d))
    assert repr(Point(a, b, _seen=c)) == repr(Twin(a, b)).replace("Twin", "Point")
    assert hash(Named(name="x", size=a)) == hash(Named(name="x", size=a))


def test_hidden_fields_are_no_part_of_equality() -> None:
    assert Point(1, _seen=1) == Point(1, _seen=2)
    assert point(1) != Twin(1)
    assert point(1) != (1, 7, {})


def test_without_equality_each_instance_is_itself() -> None:
    one, other = Unique("x"), Unique("x")
    assert one == one
    assert one != other
    assert len({one, other}) == 2


def test_nothing_can_be_changed() -> None:
    one: Any = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.x
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.other = 2
    assert not hasattr(one, "__dict__")
    assert one.x == 1


def test_a_default_made_by_a_factory_is_shared_by_nobody() -> None:
    assert Point(1).notes is not Point(1).notes


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: point(), "'x'"),
        (lambda: point(1, z=2), "'z'"),
        (lambda: point(1, x=2), "'x'"),
        (lambda: point(1, 2, {}, 3, 4), "4 positional"),
        (lambda: named("x"), "0 positional"),
    ],
)
def test_a_wrong_call_is_told(call: Callable[[], object], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        call()


def test_copies_and_pickles_are_equal() -> None:
    one = Point(1, 2, {"a": "b"})
    for made in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert made == one
    assert copy.deepcopy(one).notes is not one.notes


def test_dataclasses_and_inspect_take_it_for_a_dataclass() -> None:
    one: Any = Point(1)
    assert dataclasses.is_dataclass(Point)
    assert [field.name for field in dataclasses.fields(one)] == ["x", "y", "notes", "_seen"]
    assert dataclasses.replace(one, x=3) == Point(3)
    assert dataclasses.asdict(one) == dataclasses.asdict(Twin(1))
    assert str(inspect.signature(Point)) == str(inspect.signature(Twin))
    assert inspect.signature(Named).parameters["name"].kind is inspect.Parameter.KEYWORD_ONLY


def test_it_can_be_matched_by_its_fields() -> None:
    match Point(1, 2):
        case Point(x=x, y=y):
            assert (x, y) == (1, 2)


def test_a_capture_can_be_replaced_in_part() -> None:
    capture = Capture(exit_code=1, stderr="x")
    assert dataclasses.replace(capture, exit_code=2) == Capture(exit_code=2, stderr="x")


def test_what_every_verdict_needs_does_not_import_dataclasses() -> None:
    code = (
        "import sys, triage.model, triage.text, triage.table; print('dataclasses' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
