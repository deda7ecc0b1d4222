"""Probe real dev servers, each way, and record what they served for tests/pages.

    python benchmarks/preview_pages.py [TOOL]...     (vite webpack next; all where none is named)

Needs node 20 and npm with a registry; nothing of it is part of the gate. For each tool a project is
installed in a temporary folder; for each case its files are written, the tool's own server is
started on loopback and probed through a relay that keeps every answer. What the probe has to say
stands in the case, written down before it ran: a case that turns out otherwise is not recorded and
the script ends with 1. Recorded bodies are cut where they are long and hold no path of the machine.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT))

from triage.probe import probe  # noqa: E402

_PAGES = _ROOT / "tests" / "pages"
_PACKAGES = {
    "vite": ["vite@7", "preact@10"],
    "webpack": ["webpack@5", "webpack-cli@6", "webpack-dev-server@5", "html-webpack-plugin@5"],
    "next": ["next@15", "react@19", "react-dom@19"],
}
_LONG = 8 << 10
_KEPT = 2 << 10
_START_SECONDS = 60


@dataclass(frozen=True)
class Case:
    """Files, how they are served, and what the probe must say of `path`.

    `expect` is (check, reason, path of the failing URL, status); None for a page that is ok.
    """

    name: str
    files: Mapping[str, str]
    expect: tuple[str, str, str, int] | None
    path: str = "/"
    serve: str = "serve.mjs"
    before: str | None = None
    gone: tuple[str, ...] = field(default=())


_VITE_INDEX = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="UTF-8" />
    <link rel="icon" type="image/svg+xml" href="/mark.svg" />
    <title>Preview</title>
  </head>
  <body>
    <div id="app"></div>
    <script type="module" src="/src/main.js"></script>
  </body>
</html>
"""
_VITE = {
    "serve.mjs": """import { createServer } from 'vite'
const server = await createServer({ configFile: false, logLevel: 'silent', ...(await options()),
  server: { port: Number(process.argv[2]), host: '127.0.0.1', strictPort: true } })
await server.listen()
async function options() {
  try { return (await import('./options.mjs')).default } catch { return {} }
}
""",
    "preview.mjs": """import { preview } from 'vite'
await preview({ configFile: false, logLevel: 'silent',
  preview: { port: Number(process.argv[2]), host: '127.0.0.1', strictPort: true } })
""",
    "index.html": _VITE_INDEX,
    "public/mark.svg": '<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>\n',
    "src/style.css": "body { color: teal }\n",
    "src/label.js": "export const label = 'three words here'\n",
    "src/main.js": "import './style.css'\nimport { label } from './label.js'\n"
    "document.querySelector('#app').textContent = label\n",
}
_BUILD = "node_modules/.bin/vite build --logLevel silent"
_WEBPACK = {
    "webpack.config.js": """const Page = require('html-webpack-plugin')
const fs = require('fs')
module.exports = { mode: 'development', devtool: false, entry: './src/index.js',
  plugins: [new Page(fs.existsSync('page.ejs') ? { template: 'page.ejs' } : {})],
  devServer: { host: '127.0.0.1', client: false, hot: false, liveReload: false } }
""",
    "serve.mjs": """process.argv.splice(2, process.argv.length, 'serve', '--port', process.argv[2])
await import('webpack-cli/bin/cli.js')
""",
    "src/index.js": "import { label } from './label.js'\ndocument.body.textContent = label\n",
    "src/label.js": "export const label = 'three words here'\n",
}
_NEXT = {
    "serve.mjs": """const port = process.argv[2]
process.argv.splice(2, process.argv.length, 'dev', '-H', '127.0.0.1', '-p', port)
await import('next/dist/bin/next')
""",
    "app/layout.js": "export default function L({ children }) {\n"
    "  return <html><body>{children}</body></html>\n}\n",
    "app/page.js": "export default function P() { return <h1>three words here</h1> }\n",
}
_BARE_IMPORT = "import { h } from 'preact'\ndocument.body.append(h('p'))\n"

_CASES: dict[str, list[Case]] = {
    "vite": [
        Case("working", _VITE, None),
        Case(
            "dependency",
            {**_VITE, "src/main.js": "import { h, render } from 'preact'\n"
             "render(h('p', null, 'three words here'), document.querySelector('#app'))\n"},
            None,
        ),
        Case(
            "base",
            {**_VITE, "options.mjs": "export default { base: '/sub/' }\n"},
            None,
            path="/sub/",
        ),
        Case(
            "broken-import",
            {**_VITE, "src/main.js": "import './missing.js'\n"},
            ("asset", "status", "/src/main.js", 500),
        ),
        Case(
            "broken-import-below",
            {**_VITE, "src/label.js": "export { label } from './missing.js'\n"},
            ("asset", "status", "/src/label.js", 500),
        ),
        Case("empty-index", {**_VITE, "index.html": ""}, ("blank", "empty", "/", 200)),
        Case(
            "comments-and-css",
            {**_VITE, "index.html": "<!-- nothing yet -->\n<style>body{color:red}</style>\n"},
            ("blank", "empty", "/", 200),
        ),
        Case(
            "empty-main",
            {**_VITE, "src/main.js": "// to do\n"},
            ("blank", "empty_script", "/", 200),
        ),
        Case(
            "missing-icon", {**_VITE, "public/mark.svg": ""},
            ("asset", "content_type", "/mark.svg", 200), gone=("public/mark.svg",),
        ),
        Case(
            "missing-stylesheet",
            {**_VITE, "index.html": _VITE_INDEX.replace(
                "<title>", '<link rel="stylesheet" href="/theme.css" /><title>')},
            ("asset", "content_type", "/theme.css", 200),
        ),
        Case(
            "missing-main", _VITE, ("asset", "content_type", "/src/main.js", 200),
            gone=("src/main.js",),
        ),
        Case(
            "syntax-error",
            {**_VITE, "index.html": _VITE_INDEX.replace("main.js", "main.ts"),
             "src/main.ts": "const = 3\n"},
            ("asset", "status", "/src/main.ts", 500),
        ),
        Case(
            "overlay",
            {**_VITE, "options.mjs": "export default { plugins: [{ name: 'broken',\n"
             "  transformIndexHtml() { throw new Error('the page can not be made') } }] }\n"},
            ("entry", "status", "/", 500),
        ),
        Case(
            "overlay-200",
            {**_VITE, "options.mjs": "export default { plugins: [{ name: 'broken',\n"
             "  configureServer: (server) => { server.middlewares.use((_, response, next) => {\n"
             "    Object.defineProperty(response, 'statusCode', { get: () => 200, set() {} })\n"
             "    next() }) },\n"
             "  transformIndexHtml() { throw new Error('the page can not be made') } }] }\n"},
            ("error_page", "vite-overlay", "/", 200),
        ),
        Case("build", _VITE, None, serve="preview.mjs", before=_BUILD),
        Case(
            "build-missing-script", _VITE, ("asset", "content_type", "/assets/", 200),
            serve="preview.mjs", before=f"{_BUILD} && rm dist/assets/*.js",
        ),
    ],
    "webpack": [
        # The plugin's own page has no element at all: the script fills the body.
        Case("working", _WEBPACK, None),
        Case(
            "missing-module",
            {**_WEBPACK, "src/index.js": "import x from './missing.js'\ndocument.title = x\n"},
            ("error_page", "webpack-missing-module", "/main.js", 200),
        ),
        Case(
            "optional-module",
            {**_WEBPACK, "src/index.js": "let x = 1\ntry { x = require('optional') } catch {}\n"
             "document.body.textContent = `three words ${x}`\n"},
            None,
        ),
        Case(
            "syntax-error",
            {**_WEBPACK, "src/label.js": "export const = 3\n"},
            ("error_page", "webpack-build-failed", "/main.js", 200),
        ),
        Case(
            "template-error",
            {**_WEBPACK, "page.ejs": "<html><body><%= missing.name %></body></html>\n"},
            ("error_page", "html-webpack-plugin", "/", 200),
        ),
    ],
    "next": [
        Case("working", _NEXT, None),
        Case(
            "throws",
            {**_NEXT, "app/page.js": "export const dynamic = 'force-dynamic'\n"
             "export default function P() { throw new Error('kaput on the server') }\n"},
            ("entry", "status", "/", 500),
        ),
        Case(
            "broken-import",
            {**_NEXT, "app/page.js": "import x from './missing'\nexport default () => x\n"},
            ("entry", "status", "/", 500),
        ),
        Case(
            "late-error",
            {**_NEXT, "app/page.js": "import { Suspense } from 'react'\n"
             "export const dynamic = 'force-dynamic'\n"
             "async function Late() { await new Promise((r) => setTimeout(r, 50));"
             " throw new Error('late') }\n"
             "export default function P() { return <main>three words here"
             "<Suspense fallback={<i>wait</i>}><Late /></Suspense></main> }\n"},
            None,
        ),
        Case(
            "not-found",
            {**_NEXT, "app/page.js": "import { notFound } from 'next/navigation'\n"
             "export default function P() { notFound() }\n"},
            ("entry", "status", "/", 404),
        ),
    ],
}  # fmt: skip


@contextlib.contextmanager
def _served(project: Path, case: Case) -> Iterator[int]:
    port = _free_port()
    server = subprocess.Popen(
        ["node", case.serve, str(port)],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "NEXT_TELEMETRY_DISABLED": "1", "NODE_ENV": "development"},
    )
    try:
        _wait_for(port, server)
        yield port
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe_socket:
        return int(probe_socket.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    limit = time.monotonic() + _START_SECONDS
    while time.monotonic() < limit and server.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise SystemExit(f"the server did not start (status {server.poll()})")


class _Relay:
    """Passes every GET on to the dev server and keeps the answer."""

    def __init__(self, port: int) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        relay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                to = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                headers = {"Accept": self.headers.get("Accept", "*/*")}
                to.request("GET", self.path, headers=headers)
                answer = to.getresponse()
                body = answer.read()
                kind, place = answer.getheader("Content-Type"), answer.getheader("Location")
                relay.answers[self.path] = {
                    "status": answer.status, "type": kind, "location": place,
                    "body": body.decode("utf-8", "replace"),
                }  # fmt: skip
                self.send_response(answer.status)
                for name, value in (("Content-Type", kind), ("Location", place)):
                    if value is not None:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # A connection that the probe cuts at its limit is nothing to report.
        self.server.handle_error = lambda *_: None  # type: ignore[method-assign]
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def _write(project: Path, case: Case) -> None:
    for item in project.iterdir():
        if item.name not in ("node_modules", "package.json", "package-lock.json"):
            shutil.rmtree(item) if item.is_dir() else item.unlink()
    for name, text in case.files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in case.gone:
        (project / name).unlink()
    shutil.rmtree(project / "node_modules" / ".vite", ignore_errors=True)
    if case.before:
        subprocess.run(case.before, shell=True, cwd=project, check=True)


def _run(tool: str, version: str, project: Path, case: Case) -> bool:
    _write(project, case)
    with _served(project, case) as port:
        relay = _Relay(port)
        # A dev server builds on the first request; what it says then is not the page yet.
        probe(relay.origin + case.path, timeout_s=90)
        relay.answers.clear()
        result = probe(relay.origin + case.path, timeout_s=90)
        relay.server.shutdown()
        relay.server.server_close()
    path = result.url.removeprefix(relay.origin)
    found = None if result.ok else (result.check, result.reason, path, result.status)
    good = (found is None) == (case.expect is None) and (
        found is None
        or case.expect is None
        or ((found[0], found[1], found[3]) == (*case.expect[:2], case.expect[3])
            and str(found[2]).startswith(case.expect[2]))
    )  # fmt: skip
    print(f"{'ok  ' if good else 'DIFF'} {tool} {case.name}: {result.line()}", flush=True)
    if good:
        _record(tool, version, project, case, relay.answers)
    return good


def _record(
    tool: str, version: str, project: Path, case: Case, answers: Mapping[str, Mapping[str, Any]]
) -> None:
    kept = {
        _scrubbed(path, project): {
            key: _scrubbed(_shortened(value) if key == "body" else value, project)
            for key, value in answer.items()
            if value is not None
        }
        for path, answer in sorted(answers.items())
    }
    expect = dict(
        zip(("check", "reason", "path", "status"), case.expect or (None,) * 4, strict=True)
    )
    data = {
        "tool": version,
        "case": case.name,
        "path": case.path,
        "expect": expect,
        "answers": kept,
    }
    _PAGES.mkdir(exist_ok=True)
    (_PAGES / f"{tool}-{case.name}.json").write_text(
        json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    )


def _shortened(body: str) -> str:
    # Inline source maps say nothing to the probe, and may hold paths where no search finds them.
    body = re.sub(r"(sourceMappingURL=data:)[^\s]+", r"\1", body)
    return body if len(body) <= _LONG else body[:_KEPT] + "\n/* the rest was left out */\n"


def _scrubbed(value: Any, project: Path) -> Any:
    if isinstance(value, str):
        for path in (str(project), str(project.resolve())):
            value = value.replace(path, "/project").replace(quote(path, safe=""), "%2Fproject")
    return value


def main(tools: list[str]) -> int:
    """Run the cases of each tool; returns 1 where one turned out otherwise than planned."""
    failures = 0
    for tool in tools or list(_CASES):
        with tempfile.TemporaryDirectory(prefix="preview-") as folder:
            project = Path(folder) / "project"
            project.mkdir()
            (project / "package.json").write_text('{"private": true}\n')
            subprocess.run(
                ["npm", "install", "--no-audit", "--no-fund", "--silent", *_PACKAGES[tool]],
                cwd=project,
                check=True,
            )
            package = project / "node_modules" / _PACKAGES[tool][0].rpartition("@")[0]
            version = f"{tool} {json.loads((package / 'package.json').read_text())['version']}"
            failures += sum(not _run(tool, version, project, case) for case in _CASES[tool])
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
