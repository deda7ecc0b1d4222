"""A link is made absolute as a browser does it, and told apart by whether it may be fetched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.errors import UsageError
from triage.origins import Link, origin_of, parse_origin, parse_target, resolve

BASE = "http://127.0.0.1:5173/app/index.html"
ORIGINS = frozenset((("http", "127.0.0.1", 5173),))


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("main.js", "http://127.0.0.1:5173/app/main.js"),
        ("./main.js?v=1#top", "http://127.0.0.1:5173/app/main.js?v=1"),
        ("../x.css", "http://127.0.0.1:5173/x.css"),
        ("/x.css", "http://127.0.0.1:5173/x.css"),
        ("//127.0.0.1:5173/x", "http://127.0.0.1:5173/x"),
        ("http://127.0.0.1:5173/x", "http://127.0.0.1:5173/x"),
        ("HTTP://127.0.0.1:5173/x", "http://127.0.0.1:5173/x"),
        ("  /a\n\tb.js ", "http://127.0.0.1:5173/ab.js"),
        ("/ä b.js", "http://127.0.0.1:5173/%C3%A4%20b.js"),
        ("http://me:pw@127.0.0.1:5173/x", "http://127.0.0.1:5173/x"),
        ("?page=2", "http://127.0.0.1:5173/app/index.html?page=2"),
    ],
)
def test_links_within_the_origin_are_absolute(href: str, url: str) -> None:
    assert resolve(href, BASE, ORIGINS) == Link(url)


@pytest.mark.parametrize(
    ("href", "why"),
    [
        ("data:text/css,p{}", "inline"),
        ("blob:http://x/1", "inline"),
        ("javascript:void 0", "inline"),
        ("ws://127.0.0.1:5173/hmr", "socket"),
        ("#top", "fragment"),
        ("", "fragment"),
        ("http://127.0.0.1:5174/x", "other_origin"),
        ("https://127.0.0.1:5173/x", "other_origin"),
        ("http://localhost:5173/x", "other_origin"),
        ("http://10.0.0.1/x", "other_origin"),
        ("http://169.254.169.254/latest/meta-data", "other_origin"),
        ("//evil.example/x", "other_origin"),
        ("\\\\evil.example\\x", "other_origin"),
        ("/\\evil.example/x", "other_origin"),
        ("http:\\\\evil.example", "other_origin"),
        ("http://127.0.0.1:5173@evil.example/", "other_origin"),
        ("file:///etc/passwd", "scheme"),
        ("ftp://127.0.0.1/x", "scheme"),
        ("chrome-extension://x/y.js", "scheme"),
        ("http://[::1", "bad_url"),
        ("http://:80/", "bad_url"),
        ("http://127.0.0.1:99999999/", "bad_url"),
        ("/" + "x" * 10000, "bad_url"),
    ],
)
def test_what_is_not_to_be_fetched_says_why(href: str, why: str) -> None:
    assert resolve(href, BASE, ORIGINS).skip == why


@given(st.text(max_size=80), st.sampled_from(["", "http:", "//", "/\\", "http://x@", "\t/", "a:"]))
def test_whatever_a_page_says_only_the_origin_is_fetched(rest: str, start: str) -> None:
    import httpx

    link = resolve(start + rest, BASE, ORIGINS)
    if link.skip is None:
        # Judged by the very reading that the client sends its request by.
        assert origin_of(httpx.URL(link.url)) in ORIGINS


def test_the_target_loses_its_user_and_its_fragment() -> None:
    assert parse_target("http://me:pw@H.example/a?b#c") == (
        "http://h.example/a?b", ("http", "h.example", 80), ("me", "pw"),
    )  # fmt: skip
    assert parse_target("https://h.example.")[1] == ("https", "h.example", 443)


@pytest.mark.parametrize("url", ["", "x", "/a", "ftp://h/", "http://", "http:///x", "file:///x"])
def test_what_can_not_be_probed_is_the_callers_mistake(url: str) -> None:
    with pytest.raises(UsageError, match="URL"):
        parse_target(url)


def test_an_origin_is_scheme_host_and_port_and_no_more() -> None:
    assert parse_origin("http://LOCALHOST:5174/") == ("http", "localhost", 5174)
    assert parse_origin("https://h") == ("https", "h", 443)
    for bad in ("localhost:5174", "http://h/path", "http://u@h", "http://h#f", "*", "http://h?q"):
        with pytest.raises(UsageError, match="--allow-origin"):
            parse_origin(bad)
