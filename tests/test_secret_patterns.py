"""Shapes and forms are found by what a text must have, before any pattern is compiled."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from triage.secret_patterns import Commands, Patterns, Shape, may_hide


def shape(**changes: Any) -> Shape:
    data = {"kind": "x", "pattern": "key=(\\S+)", "flags": "m", "group": 1, "literals": [["key="]],
            "run": 0, "digit": False, "base64_of": "", "token": False}  # fmt: skip
    return Shape({**data, **changes})


def test_a_shape_finds_its_group() -> None:
    assert list(shape().find("a key=abc key=d")) == [
        (6, 9, "[masked:x]"),
        (14, 15, "[masked:x]"),
    ]


def test_what_a_shape_asks_of_its_secret() -> None:
    assert not shape(digit=True).holds("key=abc")
    assert shape(digit=True).holds("key=abc1")
    assert not shape(run=8).holds("key=abc1")
    assert not shape().holds("key=<KEY>")
    assert shape(base64_of=":").holds("key=" + base64.b64encode(b"bob:pw").decode())
    assert not shape(base64_of=":").holds("key=JavaScript12")


def test_reversed_patterns_give_the_first_first() -> None:
    assert [start for start, *_ in shape(flags="mr").find("key=a\nkey=b")] == [4, 10]


def test_shapes_are_near_by_their_first_literals() -> None:
    data = {"kind": "x", "pattern": "tok", "flags": "", "group": 0, "literals": [["tok"], ["en"]],
            "run": 0, "digit": False, "base64_of": "", "token": True}  # fmt: skip
    patterns = Patterns({"shapes": [data], "commands": []})
    assert [item.kind for item in patterns.near("a tok")] == ["x"]
    assert patterns.near("nothing") == []
    assert not patterns.near("a tok")[0].may_stand_in("a tok")


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("curl -u x", True),
        ("'/usr/bin/curl' '-u' x", True),
        ("curl x", False),
        ("incurl -u x", False),
        ("npm config set a b", True),
        ("npm install a", False),
    ],
)
def test_forms_are_near_by_program_and_words(text: str, may: bool) -> None:
    commands = Commands(
        [
            {"run": ["curl"], "secret": ["-u"]},
            {"run": ["npm"], "then": ["conf*", "set"], "named": True},
        ]
    )
    assert commands.may_stand_in(text) is may


def test_texts_that_hide_something() -> None:
    assert may_hide("a\x1b[1mb")
    assert may_hide("a\\u001b[1mb")
    assert not may_hide("a\tb\r\nc ü │ 密码")
