"""Which names hold credentials, and which values are secrets and not prose."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.credentials import (
    FOREIGN_WORDS,
    WORD_PATTERN,
    WORDS,
    is_placeholder,
    is_secret,
    kind_of,
    named_credential,
)


@pytest.mark.parametrize(
    ("name", "word", "qualified"),
    [
        ("password", "password", False),
        ("DB_PASSWORD", "password", True),
        ("db_pass", "pass", True),
        ("--pass", "pass", False),
        ("pwd", "pwd", False),
        ("access_token", "token", True),
        ("accessToken", "token", True),
        ("X-Auth-Token", "token", True),
        ("token", "token", False),
        ("api_key", "api_key", True),
        ("apiKey", "apikey", True),
        ("API key", "api key", True),
        ("aws_secret_access_key", "secret_access_key", True),
        ("client_secret", "secret", True),
        ("Authorization", "authorization", False),
        ("_auth", "auth", False),
    ],
)
def test_names_of_credentials(name: str, word: str, qualified: bool) -> None:
    found = named_credential(name)
    assert found is not None
    assert word.endswith(found[0])
    assert found[1] is qualified


@pytest.mark.parametrize(
    "name",
    ["", "token_type", "password_policy", "tokenizer", "max_tokens", "secret_name", "api_key_id",
     "nextPageToken", "next_page_token", "continuation-token", "unexpected token", "public_key",
     "primary key", "compass", "by-pass", "author", "GIT_ASKPASS_PROGRAM", "keyboard", "row"],
)  # fmt: skip
def test_names_that_hold_none(name: str) -> None:
    assert named_credential(name) is None


@pytest.mark.parametrize(
    "value",
    ["<TOKEN>", "$TOKEN", "${TOKEN}", "$(cat f)", "%TOKEN%", "%s:%s", "{{ token }}", "{token}",
     "[TOKEN]", "****", "xxxxx", "XXXX", "...", "abcd...wxyz", "***", "TOKEN", "MY_API_KEY",
     "YOUR_TOKEN", "your-token-here", "REDACTED", "changeme", "[masked:token]", "sk-xxxxxxxx"],
)  # fmt: skip
def test_placeholders(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize("value", ["hunter2", "a1B2c3", "P@ss", "$6$salt$hash", "[masked:a]b", ""])
def test_what_is_no_placeholder(value: str) -> None:
    assert not is_placeholder(value)


def judged(word: str, value: str, *, firm: bool = False, quoted: bool = False) -> bool:
    return is_secret(word, True, value, firm=firm, quoted=quoted, alone=True)


def test_a_password_is_one_unless_it_says_what_is_wrong_with_it() -> None:
    assert judged("password", "hunter")
    assert judged("password", "correct horse battery", firm=True, quoted=True)
    assert not judged("password", "incorrect")
    assert not judged("password", "is required.", firm=True, quoted=True)
    assert not judged("pwd", "build")
    assert judged("pwd", "hunter", firm=True)


def test_a_token_has_to_look_like_one_where_its_place_is_uncertain() -> None:
    assert not judged("token", "identifier")
    assert judged("token", "a1b2c3d4e5")
    assert judged("token", "abcd", firm=True)
    assert not judged("token", "expired", firm=True)
    assert not judged("token", "two words", firm=True, quoted=True)
    assert not judged("token", "123456", firm=True)
    assert not judged("token", "2024-01-31T10:00:00Z")


def test_where_a_secret_is_kept_is_no_secret() -> None:
    for value in ("/etc/ssl/server.key", "./id_rsa", "~/.netrc", "C:\\keys\\a.pem", "token.txt",
                  "https://example.com/key"):  # fmt: skip
        assert not judged("private-key", value, firm=True)
    assert judged("secret-key", "/" + "aB3" * 9 + "/" + "cD4" * 4, firm=True)


def test_source_code_is_not_a_value() -> None:
    def code(value: str, after: str) -> bool:
        return is_secret("token", True, value, firm=True, quoted=False, alone=False, after=after)

    assert not code("self.token", "\n")
    assert not code("read_token", "(")
    assert not code("other", ")")
    assert not code("other", ", ")
    assert code("a1b2c3", ", ")


@given(st.text(max_size=40), st.booleans(), st.booleans(), st.booleans(), st.text(max_size=2))
def test_any_value_can_be_judged(
    value: str, firm: bool, quoted: bool, alone: bool, after: str
) -> None:
    for word in ("password", "token", "auth"):
        verdict = is_secret(word, False, value, firm=firm, quoted=quoted, alone=alone, after=after)
        assert not (verdict and is_placeholder(value.strip()))


@given(st.from_regex(re.compile(WORD_PATTERN, re.IGNORECASE | re.ASCII), fullmatch=True))
def test_every_name_holds_one_of_the_words_that_are_looked_for_first(word: str) -> None:
    assert any(part in f"_{word}".lower() for part in (*WORDS, *FOREIGN_WORDS))


def test_kinds_are_written_one_way() -> None:
    assert kind_of("API_KEY") == kind_of("api key") == "api-key"
    assert kind_of("pwd") == kind_of("Passwd") == "password"


@pytest.mark.parametrize(
    "word",
    ["passwort", "password", "passwd", "passphrase", "passcode", "psw", "pw", "pwd", "secret",
     "token", "credential", "credentials", "authorization", "auth", "api-key", "access key",
     "storage_key", *FOREIGN_WORDS],
)  # fmt: skip
def test_every_word_is_known_in_a_name(word: str) -> None:
    assert named_credential(word) is not None
    assert named_credential(f"my_{word.upper()}") is not None
    assert named_credential(f"{word}_count_of_lines") is None
