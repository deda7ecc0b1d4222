"""A hostile server gets bounded time and memory, and no request beyond its own origin."""

from __future__ import annotations

import json
import socket
import threading
import tracemalloc
import zlib

import pytest
from page_servers import SHELL, WORDS, Answer, RawServer, Site, html, js, look, moved

from triage.probe import ProbeResult, probe

ICON = "<link rel=icon href=/x>"


def found(result: ProbeResult) -> tuple[str | None, str | None]:
    return result.check, result.reason


HTTP_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def endless(connection: socket.socket, path: str) -> None:
    connection.sendall(HTTP_OK + b"\r\n<p>words")
    while True:
        connection.sendall(b"x" * 65536)


def test_an_endless_body_is_cut() -> None:
    with RawServer(endless) as server:
        result = look(server, max_bytes=200_000)
    assert result.ok
    assert "longer" in result.warnings[0]
    assert result.facts["received"] < 1_000_000


def test_an_endless_body_of_nothing_is_blank() -> None:
    def talk(connection: socket.socket, path: str) -> None:
        connection.sendall(HTTP_OK + b"\r\n")
        while True:
            connection.sendall(b" \n" * 32768)

    with RawServer(talk) as server:
        assert found(look(server, max_bytes=200_000)) == ("blank", "empty")


def test_a_body_that_trickles_is_given_up_in_time() -> None:
    stop = threading.Event()

    def talk(connection: socket.socket, path: str) -> None:
        connection.sendall(HTTP_OK + b"\r\n<p>words")
        while not stop.wait(0.02):
            connection.sendall(b"x")

    with RawServer(talk) as server:
        assert found(look(server, timeout_s=0.5)) == ("server", "timeout")
        stop.set()


def test_endless_headers_end() -> None:
    def talk(connection: socket.socket, path: str) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            connection.sendall(b"X-Filler: " + b"y" * 4000 + b"\r\n")

    with RawServer(talk) as server:
        assert found(look(server)) == ("server", "protocol")


def bomb(megabytes: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = b"<p>" + b" " * ((1 << 20) - 3)
    return b"".join(packer.compress(block) for _ in range(megabytes)) + packer.flush()


def test_a_compressed_bomb_does_not_go_off() -> None:
    data = bomb(120)
    assert len(data) < 1 << 20
    answers = {
        "/": Answer(data, "text/html", 200, {"Content-Encoding": "gzip"}),
        "/shell": html(SHELL),
        "/main.js": Answer(data, "text/javascript", 200, {"Content-Encoding": "gzip"}),
    }
    with Site(answers) as site:
        tracemalloc.start()
        try:
            assert found(look(site, max_bytes=1 << 20)) == ("blank", "no_script")
            assert look(site, "/shell", max_bytes=1 << 20).ok
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 40 << 20


def test_a_stream_that_decodes_to_nothing_ends() -> None:
    def talk(connection: socket.socket, path: str) -> None:
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        connection.sendall(HTTP_OK + b"Content-Encoding: gzip\r\n\r\n")
        while True:
            connection.sendall(packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH) * 9000)

    with RawServer(talk) as server:
        result = look(server, max_bytes=100_000)
    assert result.facts["received"] < 1_000_000


def test_ten_thousand_links_are_fetched_to_the_limit_and_few_at_a_time() -> None:
    links = "".join(f"<link rel=icon href=/icon/{number}.png>" for number in range(10_000))
    at_once = most = 0
    lock = threading.Lock()

    def talk(connection: socket.socket, path: str) -> None:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        body = (WORDS + links).encode() if path == "/" else b"i"
        kind = b"text/html" if path == "/" else b"image/png"
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: " + kind
            + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )  # fmt: skip
        with lock:
            at_once -= 1

    with RawServer(talk) as server:
        result = look(server, max_assets=60)
    assert result.ok
    assert len(server.asked) == 61
    assert most <= 6
    assert "were not checked" in result.warnings[0]
    assert result.skipped_count == 5000 - 60
    assert len(result.skipped) == 100


def test_modules_without_end_are_fetched_to_the_limit() -> None:
    def talk(connection: socket.socket, path: str) -> None:
        number = int(path.strip("/m.js") or 0)
        body = f'import "/m{number + 1}.js"; document'.encode()
        kind = b"text/javascript"
        if path == "/":
            body, kind = b"<div></div><script type=module src=/m1.js></script>", b"text/html"
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: " + kind
            + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )  # fmt: skip

    with RawServer(talk) as server:
        assert look(server, max_assets=30).ok
    assert len(server.asked) == 31


def test_imports_without_end_in_one_module_are_followed_to_a_limit() -> None:
    source = "".join(f'import "/m{number}.js";' for number in range(20_000))
    with Site({"/": html(SHELL), "/main.js": js(source)}, fallback=js("1")) as site:
        result = look(site, max_assets=20)
    assert result.ok
    assert len(site.asked) == 21
    assert result.skipped_count == 5000 - 19


def test_no_request_leaves_the_origin_whatever_the_page_says() -> None:
    with Site({}, fallback=js("1")) as other, Site({}) as site:
        there = f"127.0.0.1:{other.port}"
        ways = [
            f"http://{there}/1", f"//{there}/2", f"\\\\{there}\\3", f"/\\{there}/4",
            f"http:\\\\{there}/5", f"http://127.0.0.1:{site.port}@{there}/6", f"\thttp://{there}/7",
            f"http://localhost:{other.port}/8", f"/\t/{there}/16",
            f"http://127.1:{other.port}/9", f"http://[::ffff:127.0.0.1]:{other.port}/10",
            f"http://2130706433:{other.port}/11", "file:///etc/passwd", "file://localhost/etc/passwd",
            "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/admin.js", "gopher://x/",
            f"https://127.0.0.1:{site.port}/12", f"http://{there}/13#@127.0.0.1:{site.port}",
            f"http://127.0.0.1:{other.port}/14", "http://[::1]:1/15",
        ]  # fmt: skip
        tags = "".join(
            f"<script src='{way}'></script><link rel=stylesheet href='{way}'>"
            f"<link rel=icon href='{way}'>"
            f"<link rel=preload as=image href='{way}'><link rel=modulepreload href='{way}'>"
            for way in ways
        )
        imports = "".join(f"import {json.dumps(way)};" for way in ways)
        site.answers = {
            "/": html(f"{WORDS}<script type=module>{imports}</script>{tags}"
                      "<script src=/hop></script><script type=module src=/main.js></script>"),
            "/hop": moved(f"http://{there}/hop"),
            "/main.js": js(imports),
            "/based": html(f"<base href=http://{there}/>{WORDS}<link rel=icon href=y>"),
            "/away": moved(f"//{there}/away"),
        }  # fmt: skip
        for path in ("/", "/based", "/away"):
            look(site, path)
        assert other.asked == []
        assert set(site.asked) <= {"/", "/hop", "/main.js", "/based", "/away"}


def test_a_proxy_from_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with Site({}) as proxy, Site({"/": html(WORDS)}) as site:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.origin)
        assert look(site).ok
        assert proxy.asked == []


def test_a_password_in_the_url_goes_to_its_origin_only_and_is_never_shown() -> None:
    with Site({"/x": Answer(b"i", "image/png")}) as other:
        page = html(f"{WORDS}<link rel=icon href={other.url}x><link rel=icon href=/x>")
        with Site({"/": page, "/x": moved(f"{other.url}x")}) as site:
            url = site.url.replace("://", "://me:s3cret-word@")
            result = probe(url, allow_origins=[other.origin])
        assert result.ok
        assert all("Authorization" in headers for headers in site.headers)
        assert not any("Authorization" in headers for headers in other.headers)
        assert other.asked
    assert "s3cret-word" not in json.dumps(result.to_dict()) + result.line()


def test_a_page_made_to_break_the_parser_is_no_page() -> None:
    page = "".join(f"<b id={number}><p>" for number in range(8000))
    with Site({"/": html(page)}) as site:
        assert found(look(site)) == ("entry", "unreadable")
