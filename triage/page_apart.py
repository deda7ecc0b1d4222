"""Reading a page that nobody knows in a process of its own, with limits on time and memory.

The HTML algorithm itself can be made to take quadratic time and memory: 110 kB of unclosed, ever
different ``<b>`` made the parser (lexbor 3, through selectolax 1.0) hold 11 GB, 300,000 attributes
on one tag kept it busy for minutes. Small pages can do no harm and are read here and now.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from triage.page import Page, page_from_data, read_page

__all__ = ["read_page_apart"]

# The worst page of this size costs about a tenth of a second and 80 MB.
_HARMLESS_CHARS = 8 << 10
_MEMORY_BYTES = 1 << 30
_CPU_SECONDS = 3
_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from triage.page_apart import serve
serve()
"""


def read_page_apart(html: str, selectors: Sequence[str], *, timeout_s: float) -> Page | None:
    """Read a page; None where it can't be read within the limits (1 GiB, 3 s of processor)."""
    alone = sys.executable and not getattr(sys, "frozen", False)
    if len(html) <= _HARMLESS_CHARS or not alone:
        # A program that carries its own Python has none to start.
        return read_page(html, selectors)
    import subprocess

    request = json.dumps({"html": html, "selectors": list(selectors)})
    try:
        done = subprocess.run(
            [sys.executable, "-S", "-c", _CHILD, json.dumps(sys.path)],
            input=request.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=max(0.1, timeout_s),
            check=True,
        )
        return page_from_data(json.loads(done.stdout))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def serve() -> None:
    """Read one request from stdin, write the page to stdout; what the child process runs."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        # Not every platform has them; the time limit of the parent holds everywhere.
        pass
    request = json.load(sys.stdin)
    page = read_page(request["html"], request["selectors"])
    sys.stdout.write(json.dumps(page.to_dict()))
