"""Loopback servers for the probe's tests, well-behaved and hostile; all count their requests."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from triage.probe import ProbeResult, probe

PAGES = Path(__file__).parent / "pages"
WORDS = "<!doctype html><p>three little words"
SHELL = '<!doctype html><div id="app"></div><script type="module" src="/main.js"></script>'
# A whole probe of any server here ends long before this; it is no measure, only an end.
PATIENCE_S = 20.0


@dataclass(frozen=True)
class Answer:
    """One answer of a site; `headers` may replace what is set by default."""

    body: bytes = b""
    type: str | None = "text/html"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def html(text: str, status: int = 200, **headers: str) -> Answer:
    return Answer(text.encode(), "text/html; charset=utf-8", status, headers)


def js(text: str, **headers: str) -> Answer:
    return Answer(text.encode(), "text/javascript", 200, headers)


def css(text: str = "p{color:red}") -> Answer:
    return Answer(text.encode(), "text/css")


def moved(where: str, status: int = 302) -> Answer:
    return Answer(b"", None, status, {"Location": where})


NOT_FOUND = html("<h1>Cannot GET it</h1>", 404)


class Site:
    """A server on a free port of loopback; `asked` is every path asked for, in order.

    `answers` maps paths with their query to answers; another path gets `fallback`.
    """

    def __init__(
        self,
        answers: Mapping[str, Answer],
        *,
        fallback: Answer = NOT_FOUND,
        tls: bool = False,
    ) -> None:
        self.answers = dict(answers)
        self.fallback = fallback
        self.asked: list[str] = []
        self.headers: list[Mapping[str, str]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.asked.append(self.path)
                site.headers.append(dict(self.headers))
                answer = site.answers.get(self.path, site.fallback)
                self.send_response(answer.status)
                given = {"Content-Type": answer.type, "Content-Length": str(len(answer.body))}
                for name, value in {**given, **answer.headers}.items():
                    if value is not None:
                        self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(answer.body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(PAGES / "self-signed.pem")
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_address[1]
        self.origin = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        self.url = self.origin + "/"

    def __enter__(self) -> Self:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._server.shutdown()
        self._server.server_close()


class RawServer:
    """A server that speaks what `talk` writes: it gets a connection and the path asked for."""

    def __init__(self, talk: Callable[[socket.socket, str], None]) -> None:
        self._talk = talk
        self.asked: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._socket.getsockname()[1]
        self.origin = f"http://127.0.0.1:{self.port}"
        self.url = self.origin + "/"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            request = b""
            while b"\r\n\r\n" not in request:
                piece = connection.recv(4096)
                if not piece:
                    return
                request += piece
            path = request.split(b" ", 2)[1].decode("latin-1")
            self.asked.append(path)
            self._talk(connection, path)


def look(site: Site | RawServer, path: str = "/", **options: Any) -> ProbeResult:
    return probe(site.origin + path, **{"timeout_s": PATIENCE_S, **options})
