"""One command, word by word: which word of it is a secret, by forms that are data."""

from __future__ import annotations

from typing import Any

import pytest

from triage.secret_commands import Call, between, program_of
from triage.secret_patterns import Commands

FORMS: list[dict[str, Any]] = [
    {"run": ["get"], "flags": "sS", "secret": ["--pass", "-k"], "after": {":": ["-u", "--user"]}},
    {"run": ["sql"], "attached": ["-p"]},
    {"run": ["box"], "then": ["log*"], "secret": ["-p"]},
    {"run": ["add"], "then": ["user"], "argument": 2},
    {"run": ["plus"], "argument": 1, "from": "/", "until": "@"},
    {"run": ["conf"], "then": ["set"], "named": True},
    {"run": ["put"], "pairs": True},
    {"run": ["keys"], "then": ["-*b*"], "argument": "last"},
]


def secrets(line: str, *, sure: bool = True) -> list[str]:
    call = Call(Commands(FORMS), sure=sure)
    words = line.split()
    found = []
    for word in words:
        span = call.word(word)
        if span is not None:
            found.append(word[slice(*span)])
    last = call.last()
    if last is not None:
        found.append(words[last[0]][slice(*last[1])])
    return found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("get --pass X1 url", ["X1"]),
        ("get --pass=X1 url", ["X1"]),
        ("get -kX1 url", ["X1"]),
        ("get -u bob:X1 url", ["X1"]),
        ("get -ubob:X1 url", ["X1"]),
        ("get -sSu bob:X1 url", ["X1"]),
        ("get --user=bob:X:1 url", ["X:1"]),
        ("/usr/bin/get -u bob:X1", ["X1"]),
        ("sudo -u bob:x get -k X1", ["X1"]),
        ("get -xu bob:X1", []),
        ("get -u 1000:1000", []),
        ("get -u bob", []),
        ("get -k --pass", []),
        ("get -k $TOKEN", []),
        ("get -k [masked:password]", []),
        ("other --pass X1", []),
        ("sql -pX1 db", ["X1"]),
        ("sql -p db", []),
        ("box -p X1 login", []),
        ("box login -p X1", ["X1"]),
        ("add user bob x1y2z3 /now", ["x1y2z3"]),
        ("add user bob hunter", ["hunter"]),
        ("add user bob hunter now", []),
        ("plus scott/tiger@db", ["tiger"]),
        ("conf set access_token X1", ["X1"]),
        ("conf set color always", []),
        ("put a=X1 b=X2", ["X1", "X2"]),
        ("keys -b file bob X1", ["X1"]),
        ("keys file bob X1", []),
    ],
)
def test_what_of_a_command_is_a_secret(line: str, found: list[str]) -> None:
    assert secrets(line) == found


def test_prose_about_a_command_has_no_secret_unless_it_looks_like_one() -> None:
    assert secrets("please add user bob later", sure=False) == []
    assert secrets("get -k requires a value", sure=False) == []
    assert secrets("please add user bob x1y2z3", sure=False) == ["x1y2z3"]


def test_a_program_is_known_by_its_name_alone() -> None:
    assert program_of("/usr/bin/Curl") == "curl"
    assert program_of("C:\\Tools\\plink.exe") == "plink.exe"
    assert program_of("['mysql',".replace("'", "")) == "mysql"
    assert program_of("https://example.com/curl") == ""


def test_marks_around_a_secret() -> None:
    assert between("bob:pw", ":", "") == (4, 6)
    assert between("bob/pw@db", "/", "@") == (4, 6)
    assert between("bob", ":", "") is None
