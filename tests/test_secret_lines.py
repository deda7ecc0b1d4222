"""Commands are found in texts of all kinds: quoted, nested, listed, piped, cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.secret_lines import find_commands
from triage.secret_patterns import Commands

COMMANDS = Commands(
    [
        {"run": ["curl"], "flags": "s", "after": {":": ["-u"]}},
        {"run": ["mysql"], "attached": ["-p"]},
        {"run": ["vault"], "then": ["login"], "argument": 1},
        {"run": ["sudo"], "stdin": ["-S"]},
        {"run": ["chpasswd"], "stdin": "always", "from": ":"},
    ]
)


def masked(text: str) -> str:
    for start, end, _ in reversed(find_commands(text, COMMANDS)):
        text = f"{text[:start]}#{text[end:]}"
    return text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("curl -u bob:pw https://x", "curl -u bob:# https://x"),
        ("curl -u 'bob:p w' x", "curl -u 'bob:#' x"),
        ("curl -u'bob:p w' x", "curl -u'bob:#' x"),
        ('curl -u "$USER":pw x', 'curl -u "$USER":# x'),
        ("curl -u 'it'\\''s:p'\\''w' x", "curl -u 'it'\\''s:#' x"),
        ("log\n+ curl -s -u bob:pw x\nend", "log\n+ curl -s -u bob:# x\nend"),
        ("curl \\\n  -u bob:pw", "curl \\\n  -u bob:#"),
        ("curl x\n-u bob:pw", "curl x\n-u bob:pw"),
        ("curl x && tool -u bob:pw", "curl x && tool -u bob:pw"),
        ("curl x?a=1&b=2 -u bob:pw", "curl x?a=1&b=2 -u bob:#"),
        ("curl -d '{\n\"a\": 1\n}' -u bob:pw", "curl -d '{\n\"a\": 1\n}' -u bob:#"),
        ("ssh h 'mysql -ppw db'", "ssh h 'mysql -p# db'"),
        ("ssh h \"sh -c 'mysql -ppw db'\"", "ssh h \"sh -c 'mysql -p# db'\""),
        ('{"command": "curl -u \\"bob:pw\\" x"}', '{"command": "curl -u \\"bob:#\\" x"}'),
        ('["curl","-u","bob:pw"]', '["curl","-u","bob:#"]'),
        ("Command '['curl', '-u', 'bob:pw']' failed", "Command '['curl', '-u', 'bob:#']' failed"),
        ("it doesn't curl -u bob:pw", "it doesn't curl -u bob:#"),
        ("vault login pw", "vault login #"),
        ("sudo vault login pw", "sudo vault login #"),
        ("error: vault login timeout", "error: vault login timeout"),
        ("echo pw | sudo -S ls", "echo # | sudo -S ls"),
        ("echo -n 'p w' | tr a b | sudo -S ls", "echo -n '#' | tr a b | sudo -S ls"),
        ("printf '%s\\n' pw | sudo -S ls", "printf '%s\\n' # | sudo -S ls"),
        ("sudo -S ls <<< pw", "sudo -S ls <<< #"),
        ("echo pw | sudo ls", "echo pw | sudo ls"),
        ("echo pw; sudo -S ls", "echo pw; sudo -S ls"),
        ("cat f | sudo -S ls", "cat f | sudo -S ls"),
        ("echo $PW | sudo -S ls", "echo $PW | sudo -S ls"),
        ("echo bob:pw | chpasswd", "echo bob:# | chpasswd"),
        ("chpasswd <<EOF\nbob:pw\namy:pw\nEOF\nls", "chpasswd <<EOF\nbob:#\namy:#\nEOF\nls"),
        ("chpasswd <<EOF bob:pw EOF", "chpasswd <<EOF bob:# EOF"),
    ],
)
def test_a_secret_is_found_where_a_command_stands(text: str, shown: str) -> None:
    assert masked(text) == shown


@given(
    st.lists(
        st.sampled_from(
            [
                "curl",
                " ",
                "-u",
                "bob:pw",
                "'",
                '"',
                "\\",
                '\\"',
                "|",
                "&&",
                ";",
                "\n",
                "<<<",
                "<<",
                "EOF",
                "echo",
                "sudo -S",
                "[",
                "]",
                ",",
                "(",
                ")",
                "`",
                "$(",
                "&",
                "é",
                "mysql -p",
            ]
        )
    ).map("".join)
)
def test_any_text_can_be_read_and_spans_stay_in_it(text: str) -> None:
    for start, end, _ in find_commands(text, COMMANDS):
        assert 0 <= start < end <= len(text)
