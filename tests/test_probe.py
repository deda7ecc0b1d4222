"""The probe against real servers on loopback: an error exactly where one is, and no way out.

The recorded pages are what Vite, webpack and Next served to benchmarks/preview_pages.py.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest
from page_servers import (
    PAGES,
    PATIENCE_S,
    SHELL,
    WORDS,
    Answer,
    RawServer,
    Site,
    css,
    html,
    js,
    look,
    moved,
)
from test_redact import TOKENS

from triage.audit import record_verdict
from triage.audit_log import read_lines
from triage.compile import validator
from triage.errors import UsageError
from triage.probe import CHECKS, ProbeResult, aprobe, probe
from triage.redact import load_patterns, mask, mask_data
from triage.table import Table

DRAWS = "document.querySelector('#app').textContent = 'hi'"


def found(result: ProbeResult) -> tuple[Any, ...]:
    """Check, reason and the path of the URL that failed; () where nothing did."""
    if result.ok:
        return ()
    return result.check, result.reason, "/" + result.url.split("/", 3)[3]


def served(answers: dict[str, Answer], path: str = "/", **options: Any) -> tuple[Any, ...]:
    with Site(answers) as site:
        return found(look(site, path, **options))


# -- real dev servers ----------------------------------------------------------------------------


@pytest.mark.parametrize("file", sorted(PAGES.glob("*.json")), ids=lambda file: file.stem)
def test_what_real_dev_servers_serve_is_judged_as_planned(file: Path, root: Path) -> None:
    data = json.loads(file.read_text())
    answers = {
        path: Answer(
            answer["body"].encode(),
            answer.get("type"),
            answer["status"],
            {"Location": answer["location"]} if "location" in answer else {},
        )
        for path, answer in data["answers"].items()
    }
    with Site(answers) as site:
        result = look(site, data["path"])
    assert set(site.asked) <= set(answers)
    assert list(validator(root / "rules", "probe").iter_errors(result.to_dict())) == []
    assert (result.check, result.reason) == (data["expect"]["check"], data["expect"]["reason"])
    if not result.ok:
        assert result.status == data["expect"]["status"]
        assert result.url.removeprefix(site.origin).startswith(data["expect"]["path"])


def test_each_way_is_recorded_for_vite() -> None:
    names = {file.stem.removeprefix("vite-") for file in PAGES.glob("vite-*.json")}
    assert names >= {"working", "broken-import", "empty-index", "missing-icon", "overlay", "build"}


# -- (a) the server answers ----------------------------------------------------------------------


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    result = probe(f"http://127.0.0.1:{port}/")
    assert (result.verdict, result.check, result.reason) == (
        "preview_error", "server", "unreachable",
    )  # fmt: skip
    assert result.status is None


def test_a_server_that_never_answers_is_given_up_in_time() -> None:
    release = threading.Event()
    with RawServer(lambda connection, _: release.wait(PATIENCE_S) and None) as server:
        result = look(server, timeout_s=0.4)
        release.set()
    assert found(result) == ("server", "timeout", "/")


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort",
        b"\0" * 99,
    ],
    ids=["closes", "ssh", "cut", "zeros"],
)
def test_a_server_that_does_not_speak_http(said: bytes) -> None:
    with RawServer(lambda connection, _: connection.sendall(said)) as server:
        assert found(look(server)) == ("server", "protocol", "/")


def test_a_name_nobody_has() -> None:
    result = probe("http://no-such-host.invalid/", timeout_s=PATIENCE_S)
    assert (result.check, result.reason) == ("server", "unreachable")


def test_a_certificate_nobody_vouches_for_needs_to_be_allowed() -> None:
    with Site({"/": html(WORDS)}, tls=True) as site:
        refused = look(site)
        assert found(refused) == ("server", "tls", "/")
        assert site.asked == []
        assert look(site, verify_tls=False).ok


# -- (b) the entry document ----------------------------------------------------------------------


@pytest.mark.parametrize("status", [201, 204, 304, 400, 401, 403, 404, 410, 500, 502, 503])
def test_only_200_is_a_page(status: int) -> None:
    body = b"" if status in (204, 304) else b"<p>broken: some reason"
    with Site({"/": Answer(body, "text/html", status)}) as site:
        result = look(site)
    assert found(result) == ("entry", "status", "/")
    assert result.status == status
    assert result.why == ("broken: some reason" if body else f"HTTP {status}")


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b'{"message": "vite: kaput"}', "vite: kaput"),
        (b'{"error": {"message": "deep"}}', "deep"),
        (b"<html><head><title>t</title></head><pre>Cannot GET /</pre>", "Cannot GET /"),
        (b"\x1b[31mplain\x1b[0m words\nand more", "plain words"),
        (b"\xff\xfe", "HTTP 500"),
    ],
)
def test_what_an_error_answer_says_is_told(body: bytes, why: str) -> None:
    with Site({"/": Answer(body, "text/html", 500)}) as site:
        assert look(site).why == why


@pytest.mark.parametrize(
    "body",
    ["", " \n", "<!-- nothing -->", "<style>body{color:red}</style><!-- x -->",
     "<!doctype html><html><head><title>My app</title></head><body></body></html>",
     "<noscript>enable JavaScript</noscript>", "&nbsp;"],
)  # fmt: skip
def test_a_page_of_nothing_is_blank(body: str) -> None:
    assert served({"/": html(body)}) == ("blank", "empty", "/")


@pytest.mark.parametrize("body", ["three little words", WORDS, "<img src=/a.png>", "<h1>x</h1>"])
def test_a_page_of_anything_is_not(body: str) -> None:
    assert served({"/": html(body)}) == ()


@pytest.mark.parametrize(
    ("kind", "body", "blank"),
    [("text/plain", b"words", False), ("text/plain", b" ", True),
     ("application/json", b"{}", False), (None, b"<p>x", False), (None, b"<!-- -->", True),
     (None, b"", True), ("image/png", b"\x89", False)],
)  # fmt: skip
def test_what_is_no_html_is_blank_only_without_content(
    kind: str | None, body: bytes, blank: bool
) -> None:
    assert served({"/": Answer(body, kind)}) == (("blank", "empty", "/") if blank else ())


def test_pages_are_read_in_their_own_encoding() -> None:
    utf16 = Answer(b"\xff\xfe" + "<p>Wörter".encode("utf-16-le"), "text/html")
    assert served({"/": utf16}) == ()
    only_bom = Answer(b"\xff\xfe" + " ".encode("utf-16-le"), "text/html")
    assert served({"/": only_bom}) == ("blank", "empty", "/")


# -- a shell is blank unless its script resolves and is not empty --------------------------------


def test_a_shell_with_a_script_is_not_blank() -> None:
    assert served({"/": html(SHELL), "/main.js": js(DRAWS)}) == ()


@pytest.mark.parametrize(
    "source", ["", "  \n", "// later\n", "/* a */", "'use strict';", "export {}"]
)
def test_a_shell_with_an_empty_script_is(source: str) -> None:
    assert served({"/": html(SHELL), "/main.js": js(source)}) == ("blank", "empty_script", "/")


def test_a_shell_without_a_script_is_and_one_with_only_the_dev_servers_too() -> None:
    assert served({"/": html("<div id=root></div>")}) == ("blank", "no_script", "/")
    client = '<script type=module src="/@vite/client"></script><div id=root></div>'
    assert served({"/": html(client), "/@vite/client": js(DRAWS)}) == ("blank", "no_script", "/")
    inline = "<script type=module>import '/@vite/client'</script><div id=root></div>"
    assert served({"/": html(inline), "/@vite/client": js(DRAWS)}) == ("blank", "no_script", "/")
    preamble = (
        '<script type=module>import R from "/@react-refresh"; R.inject(window);'
        "window.__vite_plugin_react_preamble_installed__ = true</script><div id=root></div>"
    )
    assert served({"/": html(preamble)}) == ("blank", "no_script", "/")


def test_a_shell_whose_script_fails_is_told_by_the_script() -> None:
    with Site({"/": html(SHELL)}) as site:
        result = look(site)
    assert found(result) == ("asset", "status", "/main.js")
    assert result.status == 404
    assert [check.reason for check in result.checks if not check.ok] == ["status", "entry_script"]


def test_an_inline_script_may_fill_a_shell() -> None:
    assert served({"/": html("<div id=app></div><script>app.append('x')</script>")}) == ()
    assert served({"/": html("<div id=app></div><script> </script>")}) == (
        "blank",
        "no_script",
        "/",
    )
    assert served({"/": html("<div id=app></div><script type=text/x>a</script>")}) == (
        "blank", "no_script", "/",
    )  # fmt: skip


def test_an_inline_setting_does_not_stand_in_for_an_empty_script() -> None:
    page = "<div id=app></div><script>window.ENV = {}</script><script src=/a.js></script>"
    assert served({"/": html(page), "/a.js": js("")}) == ("blank", "empty_script", "/")


def test_a_body_without_elements_needs_a_script_that_makes_some() -> None:
    page = html("<!doctype html><body><script src=/a.js></script></body>")
    assert served({"/": page, "/a.js": js("document.body.append('x')")}) == ()
    assert served({"/": page, "/a.js": js("console.log(1)")}) == ("blank", "empty", "/")
    assert served({"/": page}) == ("asset", "status", "/a.js")
    module = html('<script type=module>import "/b.js"</script>')
    assert served({"/": module, "/b.js": js("document.write('x')")}) == ()


def test_content_that_a_stream_moves_into_place_later_counts() -> None:
    page = "<div hidden id=S:0><p>x</p></div><script>$RC('B:0','S:0')</script>"
    assert served({"/": html(page)}) == ()


def test_a_script_of_another_origin_is_neither_fetched_nor_condemned() -> None:
    with Site({"/main.js": js(DRAWS)}) as other:
        page = html(f"<div id=app></div><script type=module src={other.url}main.js></script>")
        with Site({"/": page}) as site:
            result = look(site)
            assert result.ok
            assert "--allow-origin" in result.warnings[0]
            assert result.skipped == (
                {"url": f"{other.origin}/main.js", "kind": "module", "reason": "other_origin"},
            )
            assert other.asked == []
            allowed = look(site, allow_origins=[other.origin])
            assert allowed.ok
            assert not allowed.warnings
            assert other.asked == ["/main.js"]
            del other.answers["/main.js"]
            assert found(look(site, allow_origins=[other.origin])) == (
                "asset", "status", "/main.js",
            )  # fmt: skip


# -- (c) what it refers to resolves --------------------------------------------------------------

HEAD = {
    "script": "<script src=/x></script>",
    "module": "<script type=module src=/x></script>",
    "stylesheet": "<link rel=stylesheet href=/x>",
    "icon": "<link rel=icon href=/x>",
    "preload": "<link rel=preload as=font href=/x>",
    "modulepreload": "<link rel=modulepreload href=/x>",
    "import": '<script type=module>import "/x"</script>',
    "json": '<script type=module>import x from "/x" with {type: "json"}</script>',
}


@pytest.mark.parametrize("kind", HEAD)
def test_every_kind_of_reference_must_resolve(kind: str) -> None:
    page = html(f"{WORDS}{HEAD[kind]}")
    with Site({"/": page}) as site:
        result = look(site)
    assert found(result) == ("asset", "status", "/x")
    assert [check.kind for check in result.checks if not check.ok] == [kind]
    good = Answer(b"{}" if kind == "json" else b"/**/ a", {
        "stylesheet": "text/css", "icon": "image/png", "preload": "font/woff2",
        "json": "application/json",
    }.get(kind, "text/javascript"))  # fmt: skip
    assert served({"/": page, "/x": good}) == ()
    # The page itself in place of the file, as servers of single-page apps answer anything.
    assert served({"/": page, "/x": html(WORDS)}) == ("asset", "content_type", "/x")


@pytest.mark.parametrize(
    ("kind", "served_as", "good"),
    [
        ("module", "application/javascript", True),
        ("module", "text/javascript; charset=utf-8", True),
        ("module", "text/plain", False),
        ("module", "application/json", False),
        ("module", "video/mp2t", False),
        ("module", None, False),
        ("module", "application/wasm", True),
        ("script", "text/plain", True),
        ("script", None, True),
        ("script", "image/png", False),
        ("stylesheet", "text/css;charset=utf-8", True),
        ("stylesheet", None, True),
        ("stylesheet", "text/plain", False),
        ("icon", "text/plain", True),
        ("icon", None, True),
        ("json", "application/manifest+json", True),
        ("json", "text/javascript", False),
        ("preload", None, True),
    ],
)
def test_the_content_type_must_be_one_a_browser_takes(
    kind: str, served_as: str | None, good: bool
) -> None:
    page = html(f"{WORDS}{HEAD[kind]}")
    result = served({"/": page, "/x": Answer(b"a", served_as)})
    assert result == (() if good else ("asset", "content_type", "/x"))


def test_types_count_as_the_page_and_the_server_say() -> None:
    quirks = html("<p>words" + HEAD["stylesheet"])
    assert served({"/": quirks, "/x": Answer(b"p{}", "text/plain")}) == ()
    strict = Answer(b"a", "text/plain", 200, {"X-Content-Type-Options": "nosniff"})
    assert served({"/": html(WORDS + HEAD["script"]), "/x": strict}) == (
        "asset", "content_type", "/x",
    )  # fmt: skip
    # A script served as HTML runs all the same when it is one.
    odd = Answer(b"alert(1)", "text/html")
    assert served({"/": html(WORDS + HEAD["script"]), "/x": odd}) == ()
    assert (
        served({"/": html(WORDS + "<link rel=preload as=fetch href=/x>"), "/x": html("<p>")}) == ()
    )


def test_imports_are_followed_to_the_end_and_fetched_once() -> None:
    answers = {
        "/": html(SHELL),
        "/main.js": js('import "./a.js"; import("./lazy.js"); ' + DRAWS),
        "/a.js": js('import {b} from "./deep/b.js"; export * from "./a.js"'),
        "/deep/b.js": js('import "../a.js"; import "./c.js"'),
        "/deep/c.js": js("export {}"),
    }
    with Site(answers) as site:
        assert look(site).ok
    assert sorted(site.asked) == sorted(answers)
    del answers["/deep/c.js"]
    assert served(answers) == ("asset", "status", "/deep/c.js")


def test_a_module_is_relative_to_where_it_was_found_in_the_end() -> None:
    answers = {
        "/": html(SHELL),
        "/main.js": moved("/v2/main.js"),
        "/v2/main.js": js('import "./part.js"; ' + DRAWS),
        "/v2/part.js": js("1"),
    }
    assert served(answers) == ()


def test_a_bare_name_needs_an_import_map() -> None:
    bare = {"/main.js": js('import "react"; ' + DRAWS), "/react.js": js("1")}
    with Site({"/": html(SHELL), **bare}) as site:
        result = look(site)
    assert found(result) == ("asset", "bare_specifier", "/main.js")
    assert "'react'" in result.why
    shell = '<script type=importmap>{"imports":{"react":"/react.js"}}</script>' + SHELL
    assert served({"/": html(shell), **bare}) == ()
    del bare["/react.js"]
    assert served({"/": html(shell), **bare}) == ("asset", "status", "/react.js")
    # A script that adds a map itself: what it maps can't be known.
    adds = "<script>const s = document.createElement('script'); s.type = 'importmap'</script>"
    assert served({"/": html(adds + SHELL), **bare}) == ()


@pytest.mark.parametrize(
    ("markup", "path"),
    [
        ("<link rel=icon href=a.png>", "/app/a.png"),
        ("<link rel=icon href=./a.png?v=1>", "/app/a.png?v=1"),
        ("<link rel=icon href=../a.png#x>", "/a.png"),
        ("<link rel=icon href={origin}/a.png>", "/a.png"),
        ("<link rel=icon href=//{host}/a.png>", "/a.png"),
        ("<base href=/other/><link rel=icon href=a.png>", "/other/a.png"),
        ("<base href={origin}/third/x><link rel=icon href=a.png>", "/third/a.png"),
        ("<base href=data:,x><link rel=icon href=a.png>", "/app/a.png"),
        ("<link rel=icon href='\\a.png'>", "/a.png"),
        ("<link rel=icon href=' /a b.png '>", "/a%20b.png"),
    ],
)
def test_references_are_resolved_as_in_a_browser(markup: str, path: str) -> None:
    with Site({path: Answer(b"i", "image/png")}) as site:
        text = markup.format(origin=site.origin, host=f"127.0.0.1:{site.port}")
        site.answers["/app/index.html"] = html(WORDS + text)
        assert found(look(site, "/app/index.html")) == ()
    assert site.asked == ["/app/index.html", path]


def test_what_needs_no_request_makes_none() -> None:
    page = WORDS + (
        "<link rel=icon href='data:image/png;base64,AAAA'><script src='data:text/javascript,1'>"
        "</script>"
        "<link rel=stylesheet href='#x'><script src=''></script><a href=/away>a</a><img src=/i>"
        "<script>new WebSocket('ws://127.0.0.1/hmr')</script>"
        "<link rel=preload as=fetch href=ws://h/x>"
        "<script type=module>import 'data:text/javascript,1'</script><link rel=canonical href=/c>"
    )
    with Site({"/": html(page)}) as site:
        result = look(site)
        assert result.ok
    assert site.asked == ["/"]
    assert result.skipped == ()


def test_what_a_browser_refuses_does_not_resolve() -> None:
    page = html(WORDS + "<link rel=stylesheet href=file:///srv/app/style.css>")
    with Site({"/": page}) as site:
        result = look(site)
    assert (result.check, result.reason, result.url) == (
        "asset", "scheme", "file:///srv/app/style.css",
    )  # fmt: skip


def test_a_blank_page_is_told_before_a_missing_icon() -> None:
    page = html("<!-- blank --><link rel=icon href=/i>")
    assert served({"/": page}) == ("blank", "empty", "/")


# -- redirects and encodings ---------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_within_the_origin_are_followed(status: int) -> None:
    with Site({"/": moved("app/", status), "/app/": html(WORDS)}) as site:
        result = look(site)
    assert result.ok
    assert result.url == f"{site.origin}/app/"


def test_an_empty_page_that_refreshes_elsewhere_is_a_redirect() -> None:
    refresh = html('<meta http-equiv=refresh content="0; url=/app/">')
    with Site({"/": refresh, "/app/": html(WORDS)}) as site:
        result = look(site)
        assert result.ok
        assert result.url.endswith("/app/")
    assert served({"/": refresh, "/app/": refresh}) == ("blank", "empty", "/app/")
    away = html('<meta http-equiv=refresh content="0; url=http://127.0.0.2:9/">')
    with Site({"/": away}) as site:
        assert look(site).reason == "other_origin"


def test_a_circle_of_redirects_ends() -> None:
    assert served({"/": moved("/a"), "/a": moved("/b"), "/b": moved("/a")}) == (
        "entry", "redirect_loop", "/a",
    )  # fmt: skip
    chain = {f"/{number}": moved(f"/{number + 1}") for number in range(50)}
    with Site({"/": moved("/0"), **chain}) as site:
        assert look(site).reason == "redirect_loop"
    assert len(site.asked) == 11
    loop = {"/": html(WORDS + HEAD["icon"]), "/x": moved("/x")}
    assert served(loop) == ("asset", "redirect_loop", "/x")


@pytest.mark.parametrize(
    "where", ["", "data:,x", "javascript:1", "file:///etc/passwd", "http://[", "#x"]
)
def test_a_redirect_to_nowhere_is_no_page(where: str) -> None:
    assert served({"/": moved(where)})[:2] == ("entry", "bad_url")


def test_redirects_do_not_leave_the_origin_unless_allowed() -> None:
    with Site({"/": html(WORDS), "/x": Answer(b"i", "image/png")}) as other:
        answers = {
            "/": moved(other.url),
            "/page": html(WORDS + HEAD["icon"]),
            "/x": moved(f"{other.url}x"),
        }
        with Site(answers) as site:
            result = look(site)
            assert (result.check, result.reason) == ("entry", "other_origin")
            assert (result.url, result.status) == (other.url, 302)
            assert other.asked == []
            # A file that is kept elsewhere may well be there.
            assert look(site, "/page").ok
            assert other.asked == []
            assert look(site, allow_origins=[other.origin]).ok
            assert look(site, "/page", allow_origins=[other.origin]).ok
        assert other.asked == ["/", "/x"]


def encoded(text: str, encoding: str) -> bytes:
    data = text.encode()
    if encoding == "deflate":
        return zlib.compress(data)
    if encoding == "raw deflate":
        return zlib.compress(data)[2:-4]
    return gzip.compress(data) if encoding in ("gzip", "x-gzip", "GZIP") else data


@pytest.mark.parametrize(
    "encoding", ["gzip", "x-gzip", "GZIP", "deflate", "raw deflate", "identity"]
)
def test_compressed_pages_are_read(encoding: str) -> None:
    headers = {"Content-Encoding": encoding.removeprefix("raw ")}
    for text, result in ((WORDS, ()), ("<!-- -->", ("blank", "empty", "/"))):
        answer = Answer(encoded(text, encoding), "text/html", 200, headers)
        assert served({"/": answer}) == result


@pytest.mark.parametrize(
    ("body", "encoding"),
    [(WORDS.encode(), "gzip"), (gzip.compress(WORDS.encode())[:-9], "gzip"), (b"x", "br"),
     (gzip.compress(gzip.compress(WORDS.encode())), "gzip, gzip")],
    ids=["not gzip", "cut gzip", "never asked for", "twice"],
)  # fmt: skip
def test_what_can_not_be_decoded_is_no_page(body: bytes, encoding: str) -> None:
    answer = Answer(body, "text/html", 200, {"Content-Encoding": encoding})
    assert served({"/": answer}) == ("entry", "encoding", "/")


# -- error pages with status 200 -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("<p>x</p><vite-error-overlay></vite-error-overlay>", "vite-overlay"),
        ("<script type=module>document.body.append(new ErrorOverlay(e))</script>", "vite-overlay"),
        ("<body><p>x<iframe id=webpack-dev-server-client-overlay src=/x>", "webpack-overlay"),
        ("Html Webpack Plugin:\n<pre>\n Error: Child compilation failed", "html-webpack-plugin"),
        ('<div id=__next></div><script id=__NEXT_DATA__ type=application/json>{"props":'
         '{"pageProps":{"statusCode":500}},"page":"/_error","query":{},"err":{"name":"Error","message":"kaput"}}'
         "</script>", "next-data-error"),
        ("<html id=__next_error__><body><script>self.__next_f=[1]</script>", "next-error-document"),
        ("<body><p>x<nextjs-portal></nextjs-portal>", "next-overlay"),
    ],
)  # fmt: skip
def test_an_error_page_with_200_is_one_all_the_same(body: str, rule: str) -> None:
    assert served({"/": html(body)}) == ("error_page", rule, "/")


@pytest.mark.parametrize(
    "body",
    [
        "<h1>How the vite-error-overlay works</h1><pre>new ErrorOverlay(error)</pre>",
        "<p>Html Webpack Plugin: a review</p>",
        '<p>x</p><script id=__NEXT_DATA__ type=application/json>{"props":{"err":{"name":"x"}},'
        '"page":"/shop"}</script>',
        '<html id=__next_error__><body><template data-dgst="BAILOUT_TO_CLIENT_SIDE_RENDERING">'
        "</template><div></div><script>self.__next_f=[1]</script>",
        "<p>500 Internal Server Error is what we write about today",
    ],
)
def test_a_page_about_errors_is_none(body: str) -> None:
    assert served({"/": html(body)}) == ()


def test_a_bundle_that_only_throws_is_told_by_the_bundler() -> None:
    bundle = 'throw new Error("Module build failed (from ./loader.js):\\nSyntaxError: x");'
    page = {"/": html("<div id=app></div><script src=/main.js></script>"), "/main.js": js(bundle)}
    with Site(page) as site:
        result = look(site)
    assert found(result) == ("error_page", "webpack-build-failed", "/main.js")
    assert result.why == "webpack: Module build failed (from ./loader.js):"


# -- the library ---------------------------------------------------------------------------------


def test_the_asynchronous_twin_says_the_same() -> None:
    async def both() -> ProbeResult:
        return await aprobe(site.url)

    with Site({"/": html(SHELL), "/main.js": js(DRAWS)}) as site:
        assert asyncio.run(both()) == probe(site.url)


def test_it_may_be_called_where_a_loop_runs() -> None:
    async def inside() -> ProbeResult:
        return probe(site.url)

    with Site({"/": html(WORDS)}) as site:
        assert asyncio.run(inside()).ok


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("x", {}),
        ("file:///x", {}),
        ("http://h/", {"timeout_s": 0}),
        ("http://h/", {"timeout_s": float("nan")}),
        ("http://h/", {"max_bytes": 0}),
        ("http://h/", {"max_assets": -1}),
        ("http://h/", {"allow_origins": ["h:80"]}),
    ],
)
def test_arguments_that_make_no_sense_are_refused(url: str, options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        probe(url, **options)


def test_the_result_is_plain_data_with_every_check(root: Path) -> None:
    answers = {"/": html(SHELL + HEAD["stylesheet"]), "/main.js": js(DRAWS), "/x": css()}
    with Site(answers) as site:
        data = look(site).to_dict()
    assert json.loads(json.dumps(data)) == data
    assert list(validator(root / "rules", "probe").iter_errors(data)) == []
    assert [check["check"] for check in data["checks"]] == [
        "server", "entry", "asset", "asset", "blank",
    ]  # fmt: skip
    assert {check["check"] for check in data["checks"]} <= set(CHECKS)
    assert data["requests"] == 3
    assert (data["verdict"], data["check"], data["url"]) == ("ok", None, site.url)


def test_the_line_names_the_check_the_url_and_the_status() -> None:
    with Site({"/": html("", 503)}) as site:
        line = look(site).line()
    assert line == f"triage probe: preview_error (entry): {site.url}: status 503: HTTP 503"


def test_an_error_is_an_audit_event_and_ok_is_none(tmp_path: Path, root: Path) -> None:
    log = str(tmp_path / "audit")
    with Site({"/": html(SHELL), "/fine": html(WORDS)}) as site:
        assert record_verdict(log, look(site, "/fine")).event is None
        assert record_verdict(log, look(site)).event == "preview.error"
    (event,) = read_lines(log)
    assert event is not None
    assert (event["verdict"], event["check"], event["reason"], event["status"]) == (
        "preview_error", "asset", "status", 404,
    )  # fmt: skip
    assert event["url"] == f"{site.origin}/main.js"
    whole = json.loads(Path(log).read_text())
    assert list(validator(root / "rules", "audit").iter_errors(whole)) == []


def test_no_secret_in_a_page_gets_into_a_report(table: Table, tmp_path: Path) -> None:
    load_patterns(table.section("secrets"))
    for name, token in TOKENS.items():
        if "\n" in token:
            continue
        answers = {"/": Answer(f"<p>refused {token}".encode(), "text/html", 500)}
        with Site(answers) as site:
            result = look(site)
        report = json.dumps(mask_data(result.to_dict())) + mask(result.line())
        assert token not in report, name
        assert "masked:" in report, name
        record_verdict(str(tmp_path / "log"), result)
        assert token not in (tmp_path / "log").read_text(), name
