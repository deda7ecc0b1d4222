"""What is read of a page: what it shows, what could become content, what it refers to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.page import Page, Reference, Script, page_from_data, read_page
from triage.page_apart import read_page_apart
from triage.page_text import decoded
from triage.probe_client import Fetched


@pytest.mark.parametrize(
    "html",
    [
        "three little words",
        "<p>three little words",
        "<!doctype html><title>t</title><body><h1>x</h1>",
        "<body><textarea></textarea>",
        "<img src=a.png>",
        "<picture><img srcset='a.png 2x'></picture>",
        "<svg viewBox='0 0 1 1'><rect/></svg>",
        "<video src=a.mp4></video>",
        "<audio controls></audio>",
        "<iframe src=/x></iframe>",
        "<input>",
        "<button></button>",
        "<frameset><frame src=/a></frameset>",
        "<div><template></template>x</div>",
        "<div style='display:block'>x</div>",
        "<dialog open>x</dialog>",
        "<my-app><template shadowrootmode=open><h1>Hi</h1></template></my-app>",
        "<p>.</p>",
    ],
)
def test_a_page_that_shows_something(html: str) -> None:
    assert read_page(html).seen is not None


@pytest.mark.parametrize(
    "html",
    [
        "",
        " \n\t ",
        "<!-- only a comment -->",
        "<!-- a --><style>p::before{content:'words in CSS'}</style><!-- b -->",
        "<!doctype html><html><head><title>No content</title></head><body></body></html>",
        "<body>&nbsp;&#8203;\u2060\ufeff<br><hr></body>",
        "<noscript>You need to enable JavaScript to run this app.</noscript>",
        "<html><body><noscript>enable JavaScript</noscript><div id=root></div>",
        "<template><h1>later</h1></template>",
        "<div hidden>later</div>",
        "<body style='margin: 0; display : none'>x</body>",
        "<p style='visibility:hidden'>x</p>",
        "<dialog>x</dialog>",
        "<script>document.write('x')</script>",
        '<script type=application/ld+json>{"a": 1}</script>',
        "<svg><defs><symbol id=a><rect/></symbol></defs></svg>",
        "<svg></svg>",
        "<img>",
        "<img src=a.png hidden>",
        "<input type=hidden>",
        "<audio></audio>",
        "<canvas></canvas>",
        "<object></object>",
    ],
)
def test_a_page_that_shows_nothing(html: str) -> None:
    assert read_page(html).seen is None


def test_the_first_element_that_a_script_could_fill_is_the_mount_point() -> None:
    assert read_page("<body><script></script><div id=app></div>").mount == "div#app"
    assert read_page("<body><br><my-app></my-app>").mount == "my-app"
    assert read_page("<body hidden><main></main>").mount == "main"
    assert read_page("<head><script></script></head><body><style></style><hr></body>").mount is None


def test_references_are_what_a_browser_with_scripts_loads() -> None:
    page = read_page(
        """<!doctype html><head>
        <script src=a.js></script><script type=module src=b.js></script>
        <script nomodule src=old.js></script><script type=module>import "./c.js"</script>
        <script type=text/template src=t.html></script><script src></script>
        <script type=text/babel src=x.jsx></script><script type=text/javascript src=d.js></script>
        <link rel=stylesheet href=a.css><link rel="alternate stylesheet" href=b.css>
        <link rel=stylesheet href=off.css disabled><link rel=stylesheet>
        <link rel="shortcut icon" href=f.ico><link rel=apple-touch-icon href=t.png>
        <link rel=mask-icon href=m.svg><link rel=preload as=font href=f.woff2>
        <link rel=modulepreload href=m.js><link rel=canonical href=/><link rel=preconnect href=//c>
        <link rel=dns-prefetch href=//d><link rel=manifest href=m.json><link rel=prefetch href=n.js>
        <noscript><link rel=stylesheet href=noscript.css><img src=n.png></noscript>
        <template><script src=template.js></script></template>
        <body><svg><script href=svg.js></script></svg><link rel=stylesheet href=body.css>"""
    )
    assert [(item.kind, item.href) for item in page.references] == [
        ("script", "a.js"), ("module", "b.js"), ("script", "d.js"), ("stylesheet", "a.css"),
        ("stylesheet", "b.css"), ("icon", "f.ico"), ("icon", "t.png"), ("icon", "m.svg"),
        ("preload", "f.woff2"), ("modulepreload", "m.js"), ("stylesheet", "body.css"),
    ]  # fmt: skip
    assert page.references[8] == Reference("preload", "f.woff2", "font")
    assert page.scripts == (Script('import "./c.js"', True),)


def test_base_import_maps_data_and_refresh_are_kept() -> None:
    page = read_page(
        '<base target=_top><base href="/app/"><base href="/no/">'
        '<script type=importmap>{"imports":{}}</script><script type=application/json>{}</script>'
        "<meta http-equiv=Refresh content='0; URL=\"/next/\"'><body>x"
    )
    assert page.import_maps == ('{"imports":{}}',)
    assert page.data == ("{}",)
    assert page.refresh == "/next/"
    assert page.base == "/app/"


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/a", "/a"),
        ("5; /b", "/b"),
        ("0,URL = 'c d'", "c d"),
        ("3", None),
        ("x; url=/a", None),
    ],
)
def test_a_refresh_with_a_target_is_read_as_browsers_do(content: str, target: str | None) -> None:
    assert read_page(f'<meta http-equiv="refresh" content="{content}">').refresh == target


def test_the_mode_comes_from_the_doctype() -> None:
    assert read_page("<!-- x --> <!DOCTYPE HTML><p>").standards
    assert not read_page("<p>").standards


def test_selectors_that_match_are_named() -> None:
    page = read_page(
        "<html id=x><vite-error-overlay></vite-error-overlay>", ["vite-error-overlay", "#y"]
    )
    assert page.matched == ("vite-error-overlay",)


def test_a_page_survives_json() -> None:
    page = read_page(
        "<base href=/><script src=a></script><script>1</script><script type=importmap>{}</script>"
        "<script type=x>2</script><p>ü",
        ["p"],
    )
    assert page_from_data(json.loads(json.dumps(page.to_dict()))) == page


TAGS = [
    "<p>", "</p>", "<b a=1>", "<table>", "<script>", "</script>", "<!--", "-->", "<svg>", "x", "<",
    "<template>", "<noscript>", "</noscript>", "<base href=x>", "<frameset>", "<body>", "\0", "&",
    "<link rel=icon href=i>", "<meta http-equiv=refresh content='0;u'>", "</body>",
]  # fmt: skip


@given(st.lists(st.sampled_from(TAGS) | st.text(max_size=5), max_size=40).map("".join))
def test_any_markup_can_be_read(html: str) -> None:
    html = html.encode("utf-8", "replace").decode()
    page = read_page(html, ["p"])
    assert page_from_data(page.to_dict()) == page


def test_a_big_page_is_read_in_another_process_and_the_same() -> None:
    html = "<!doctype html><link rel=icon href=i><div id=a></div>" + "<p>words</p>" * 2000
    assert read_page_apart(html, ["p", "b"], timeout_s=30) == read_page(html, ["p", "b"])


def test_a_page_made_to_eat_memory_is_given_up() -> None:
    html = "".join(f"<b id={number}><p>" for number in range(8000))
    assert read_page_apart(html, [], timeout_s=60) is None


def test_a_page_made_to_eat_time_is_given_up() -> None:
    html = "<i " + " ".join(f"a{number}" for number in range(200_000)) + ">"
    assert read_page_apart(html, [], timeout_s=1) is None


def test_a_page_that_takes_too_long_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "python"
    slow.write_text("#!/bin/sh\nexec sleep 60\n", "utf-8")
    slow.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(slow))
    assert read_page_apart("<p>" * 9000, [], timeout_s=0.2) is None


def test_too_many_references_are_counted_as_more() -> None:
    page = read_page("<link rel=icon href=i>" * 6000)
    assert len(page.references) == 5000
    assert page.more
    assert not Page().more


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        ("ä€".encode(), None, "ä€"),
        ("ä".encode("latin-1"), "iso-8859-1", "ä"),
        (b"\xef\xbb\xbf" + "ä".encode(), "iso-8859-1", "ä"),
        ("\ufeffä".encode("utf-16-le"), None, "ä"),
        ("<meta charset=windows-1252>€".encode("cp1252"), None, "<meta charset=windows-1252>€"),
        ("日本".encode("shift_jis"), "shift_jis", "日本"),
        (b"a\xff", None, "a\ufffd"),
        (b"ab-", "punycode", "ab-"),
        (b"ab", "rot13", "ab"),
        (b"ab", "no-such-charset", "ab"),
        (b"ab", "\0", "ab"),
        (b"x" * 10, "unicode_escape", "x" * 10),
    ],
)
def test_bytes_are_decoded_by_mark_header_or_the_pages_own_word(
    body: bytes, charset: str | None, text: str
) -> None:
    assert decoded(Fetched("http://h/", 200, charset=charset, body=body)) == text
