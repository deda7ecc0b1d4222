"""A name, an option or a header makes what is given to it a secret."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from triage.secret_patterns import Commands
from triage.secret_places import PLACES, find_places, mask_arguments, mask_value

COMMANDS = Commands([{"run": ["curl"], "after": {":": ["-u"]}}])


def mask_places(text: str) -> str:
    for kind in PLACES:
        for start, end, made in reversed(list(find_places(text, kind))):
            text = text[:start] + made + text[end:]
    return text


def test_only_the_value_goes() -> None:
    assert mask_places("DB_PASSWORD=hunter2 make deploy") == (
        "DB_PASSWORD=[masked:password] make deploy"
    )
    assert mask_places('{"api_key": "a1b2c3d4", "id": 7}') == (
        '{"api_key": "[masked:api-key]", "id": 7}'
    )


@given(st.integers(100, 400), st.sampled_from(["{}", '"{}"', "'{}'", '\\"{}\\"']))
def test_a_long_value_goes_whole(length: int, quoting: str) -> None:
    value = ("a1B2" * 100)[:length]
    shown = mask_places(f"API_KEY={quoting.replace('{}', value)} end")
    assert shown == f"API_KEY={quoting.replace('{}', '[masked:api-key]')} end"


def test_a_quoted_value_runs_to_its_own_quote() -> None:
    assert mask_places("""password="it's \\"x\\" 1" end""") == (
        """password="[masked:password]" end"""
    )


def test_a_value_that_is_none_may_hold_a_name_and_a_value() -> None:
    assert mask_places("token: invalid, password: hunter2") == (
        "token: invalid, password: [masked:password]"
    )
    assert mask_places("secret: api_key=a1b2c3d4e5") == "secret: [masked:secret]"


def test_the_password_of_an_address_is_left_to_the_address() -> None:
    address = "https://x-access-token:[masked:url-password]@github.com/a/b"
    assert mask_places(address) == address


def test_a_value_by_its_name() -> None:
    assert mask_value("Authorization", "Basic Ym9iOmh1bnRlcjI=") == "Basic [masked:authorization]"
    assert mask_value("Authorization", "required") is None
    assert mask_value("password", "correct horse") == "[masked:password]"
    assert mask_value("title", "a1b2c3d4e5f6") is None


def test_arguments_by_those_before_them() -> None:
    assert mask_arguments(["tool", "--token", "a1b2c3", "x"], COMMANDS) == [
        None,
        None,
        "[masked:token]",
        None,
    ]
    assert mask_arguments(["ls", "-u", "bob:x1"], COMMANDS) == [None, None, None]
    assert mask_arguments(["nice", "curl", "-u", "bob:x1"], COMMANDS)[3] == "bob:[masked:password]"
    assert mask_arguments([], COMMANDS) == []


@given(st.text())
def test_any_text_can_be_searched_and_only_masks_are_new(text: str) -> None:
    masked = mask_places(text)
    assert masked == text or "[masked:" in masked
    assert mask_places(masked) == masked


PIECES = st.sampled_from(
    ["token", "=", ": ", '"', "'", "\\", "api_key", "PASSWORD", " ", "--", "Bearer ", "aB3$%", "\n",
     "é", "ſecret", "K", "authorization", "[masked:x]", ",", "{", "\x0b", "\x1c", "\x85", "\xa0"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join), st.sampled_from(PLACES))
def test_short_and_long_texts_are_read_alike(text: str, kind: str) -> None:
    # A long text is searched by the other engine.
    assert [*find_places(text, kind)] == [*find_places(f"{text}\n{' ' * 5000}", kind)]
