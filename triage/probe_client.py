"""GET with limits: never another origin, never more than so many bytes, never after the deadline.

The body is decoded here, piece by piece, because a client that decodes a whole piece at a time can
be made to hold a thousand times what it received. Nothing a server does raises: it ends in the
`problem` of a `Fetched`.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from triage.origins import Origin, origin_of, resolve

__all__ = ["ACCEPT", "Fetched", "OriginClient"]

# What browsers send for each kind; dev servers answer by it (Vite wraps CSS for a module).
ACCEPT = {
    "document": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "stylesheet": "text/css,*/*;q=0.1",
    "icon": "image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.8",
}
_STEP = 64 << 10
_REDIRECTS = (301, 302, 303, 307, 308)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of one GET, redirects followed.

    `problem` is None for an answer that was read (whole, or `cut` at the limit), else
    `unreachable`, `tls`, `timeout`, `protocol`, `redirect_loop`, `other_origin`, `encoding`,
    `bad_url`, or `not_tried` where the time was over before its turn came; then `detail` says
    more. `url` is the last one asked, for `other_origin` the one not asked.
    """

    url: str
    status: int | None = None
    content_type: str = ""
    charset: str | None = None
    nosniff: bool = False
    body: bytes = b""
    cut: bool = False
    problem: str | None = None
    detail: str = ""

    @property
    def ok(self) -> bool:
        """Whether an answer of the 200 class was read."""
        return self.problem is None and self.status is not None and 200 <= self.status < 300


class OriginClient:
    """An HTTP client that knows its origins; an asynchronous context manager.

    `deadline` is a time of the running loop's clock after which every request ends in a timeout.
    `user` is sent to the first origin only. `requests` and `received` count what was done.
    """

    def __init__(
        self,
        origins: frozenset[Origin],
        *,
        deadline: float,
        verify_tls: bool = True,
        user: tuple[str, str] | None = None,
        user_origin: Origin | None = None,
        max_redirects: int = 10,
        concurrency: int = 6,
    ) -> None:
        self.origins = origins
        self.requests = 0
        self.received = 0
        self._deadline = deadline
        self._verify = verify_tls
        self._user = user
        self._user_origin = user_origin
        self._max_redirects = max_redirects
        self._slots = asyncio.Semaphore(concurrency)
        self._client: Any = None

    async def __aenter__(self) -> Self:
        import httpx

        # Reading the system's certificates takes longer than a probe of http.
        verify = self._verify and any(scheme == "https" for scheme, *_ in self.origins)
        self._client = httpx.AsyncClient(
            verify=verify,
            trust_env=False,  # no proxy: that would leave the origin
            follow_redirects=False,
            timeout=None,  # the deadline is for the whole request, also when bytes trickle
            headers={"User-Agent": "triage-probe", "Accept-Encoding": "gzip, deflate"},
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def get(self, url: str, *, kind: str, limit: int) -> Fetched:
        """GET `url`, which must be of our origins, with at most `limit` decoded bytes of body."""
        seen = set()
        async with self._slots:
            if asyncio.get_running_loop().time() >= self._deadline:
                return Fetched(url, problem="not_tried", detail="no time left")
            for _ in range(self._max_redirects + 1):
                seen.add(url)
                fetched, location = await self._once(url, kind, limit)
                if location is None:
                    return fetched
                link = resolve(location, url, self.origins)
                if link.skip == "other_origin":
                    return Fetched(link.url, fetched.status, problem="other_origin",
                                   detail=f"{url} redirects to another origin")  # fmt: skip
                if link.skip is not None:
                    return Fetched(url, fetched.status, problem="bad_url",
                                   detail=f"redirects to {link.url!r}")  # fmt: skip
                if link.url in seen:
                    return Fetched(link.url, fetched.status, problem="redirect_loop",
                                   detail="redirects in a circle")  # fmt: skip
                url = link.url
        return Fetched(url, fetched.status, problem="redirect_loop",
                       detail=f"more than {self._max_redirects} redirects")  # fmt: skip

    async def _once(self, url: str, kind: str, limit: int) -> tuple[Fetched, str | None]:
        import httpx

        self.requests += 1
        headers = {"Accept": ACCEPT.get(kind, "*/*")}
        try:
            async with asyncio.timeout_at(self._deadline):
                async with self._client.stream(
                    "GET", url, headers=headers, auth=self._auth(url)
                ) as response:
                    location = response.headers.get("location")
                    if response.status_code in _REDIRECTS and location is not None:
                        return Fetched(url, response.status_code), location
                    return await self._read(url, response, limit), None
        except TimeoutError:
            return Fetched(url, problem="timeout", detail="no whole answer in time"), None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError) as error:
            problem, detail = _named(error)
            return Fetched(url, problem=problem, detail=detail), None

    def _auth(self, url: str) -> tuple[str, str] | None:
        import httpx

        return self._user if origin_of(httpx.URL(url)) == self._user_origin else None

    async def _read(self, url: str, response: Any, limit: int) -> Fetched:
        kind, _, rest = response.headers.get("content-type", "").partition(";")
        facts: dict[str, Any] = {
            "status": response.status_code,
            "content_type": kind.strip().lower(),
            "charset": _charset(rest),
            "nosniff": response.headers.get("x-content-type-options", "").lower() == "nosniff",
        }
        encoding = response.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
            detail = f"encoded as {encoding[:40]!r}, which was not asked for"
            return Fetched(url, **facts, problem="encoding", detail=detail)
        body = bytearray()
        try:
            async for piece in self._decoded(response.aiter_raw(_STEP), encoding, limit):
                body += piece
                if len(body) > limit:
                    return Fetched(url, **facts, body=bytes(body[:limit]), cut=True)
        except zlib.error as error:
            return Fetched(url, **facts, problem="encoding", detail=f"broken {encoding}: {error}")
        except _RawLimitError:
            return Fetched(url, **facts, body=bytes(body), cut=True)
        return Fetched(url, **facts, body=bytes(body))

    async def _decoded(
        self, pieces: AsyncIterator[bytes], encoding: str, limit: int
    ) -> AsyncIterator[bytes]:
        raw = 0
        decoder: Any = None
        async for piece in pieces:
            self.received += len(piece)
            raw += len(piece)
            if encoding in ("", "identity"):
                yield piece
                continue
            # An endless stream may decode to nothing at all.
            if raw > limit + _STEP:
                raise _RawLimitError
            if decoder is None:
                decoder = zlib.decompressobj(_window(encoding, piece))
            while piece and not decoder.eof:
                yield decoder.decompress(piece, _STEP)
                piece = decoder.unconsumed_tail
        if decoder is not None and not decoder.eof:
            raise zlib.error("the stream ends too early")


class _RawLimitError(Exception):
    """More was received than may be read, however little came out of it."""


def _window(encoding: str, first: bytes) -> int:
    if encoding != "deflate":
        return zlib.MAX_WBITS | 16
    # Half of all servers send deflate without its zlib header; browsers take both.
    headed = len(first) > 1 and first[0] & 15 == 8 and (first[0] << 8 | first[1]) % 31 == 0
    return zlib.MAX_WBITS if headed else -zlib.MAX_WBITS


def _charset(parameters: str) -> str | None:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'").lower()[:40] or None
    return None


def _named(error: Exception) -> tuple[str, str]:
    """The problem and its detail behind an exception of the client."""
    import ssl

    import httpx

    said = " ".join(str(error).split())[:200] or type(error).__name__
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return "tls", said
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, httpx.TimeoutException):
        return "timeout", said
    if isinstance(error, (httpx.ConnectError, OSError)):
        return "unreachable", said
    if isinstance(error, (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError)):
        return "bad_url", said
    return "protocol", said
