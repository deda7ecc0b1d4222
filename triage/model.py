"""The facts that flow through `triage`: what was captured, what was decided, what to do.

Everything here is frozen; nothing here does I/O or imports another module of the package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from triage.frozen import fresh, frozen

__all__ = [
    "SCHEMA_VERSION",
    "Action",
    "Capture",
    "Effect",
    "Evidence",
    "Kind",
    "Retry",
    "StreamSource",
    "Tier",
    "Untrusted",
    "Verdict",
]

SCHEMA_VERSION = "1.0"

Tier = Literal["A", "B", "C"]
Effect = Literal["read_only", "mutating", "unknown"]
Kind = Literal["failure", "not_failure", "ambiguous", "insufficient"]

# A stream may be given as text, as bytes, as a path or as an open binary file.
StreamSource = Any


@frozen(kw_only=True)
class Capture:
    """One finished command-line call as its observer saw it.

    `stdout`, `stderr` and `merged` are `str`, `bytes`, a path (`os.PathLike`) or an open binary
    file. `merged` is set where the observer stored both streams as one text. An unknown exit
    status is None, never 0. Times are seconds.
    """

    exit_code: int | None
    command: str | tuple[str, ...] | None = None
    stdout: StreamSource = ""
    stderr: StreamSource = ""
    merged: StreamSource | None = None
    timed_out: bool = False
    duration_s: float | None = None
    silent_s: float | None = None
    limit_s: float | None = None
    idle_limit_s: float | None = None
    pipestatus: tuple[int, ...] = ()
    stdin: str | None = None
    pty: bool | None = None
    shell: str | None = None
    cwd: str | None = None
    effect: Effect | None = None
    attempt: int = 1
    previous: tuple[Mapping[str, Any], ...] = ()
    truncated: tuple[Mapping[str, Any], ...] = ()
    sandboxed: bool | None = None
    id: str | None = None
    warnings: tuple[str, ...] = ()


@frozen()
class Evidence:
    """The very bytes a verdict rests on; `start`/`end` index the stream as given.

    `_around` is what stands before and after it, so that the rest of a secret is known as one.
    """

    stream: str
    line: int
    start: int
    end: int
    text: str
    _around: tuple[str, str] = ("", "")


@frozen()
class Untrusted:
    """A command that the captured output asks for; shown, never run unless allowed."""

    field: str
    command: str


@frozen()
class Action:
    """What to do next, as data: `argv` + `env` + `stdin` + limits, and the same as one POSIX line.

    `kind` is one of `triage.actions.ACTION_KINDS`. `wait_s` is waited before `argv` starts.
    """

    kind: str
    text: str
    argv: tuple[str, ...] | None = None
    env: Mapping[str, str] = fresh(factory=dict)
    stdin: str | None = None
    timeout_s: float | None = None
    wait_s: float | None = None
    shell: str | None = None
    untrusted: tuple[Untrusted, ...] = ()


@frozen()
class Retry:
    """Whether the same call may be started again, how often, after how long, and why."""

    may: bool
    attempts_left: int
    wait_s: float | None
    why: str


@frozen()
class Verdict:
    """One decision: did it fail, which row, which §N, on what evidence, what to do next."""

    id: str | None
    verdict: Kind
    row: int | None
    rule: str
    mode: int | None
    modes: tuple[int, ...]
    title: str
    severity: str | None
    tier: Tier | None
    signature: str | None
    fallback: str | None
    action: Action
    retry: Retry
    evidence: tuple[Evidence, ...]
    payload: Any
    extraction: Mapping[str, Any] | None
    flags: tuple[str, ...]
    also: tuple[Mapping[str, Any], ...]
    doc: str | None
    warnings: tuple[str, ...]
    table: Mapping[str, Any]
    window: Mapping[str, Any]
    why: str = ""
    agent: Mapping[str, Any] | None = None
    schema_version: str = SCHEMA_VERSION

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data; keys as published in rules/schema/verdict.schema.json."""
        action = self.action
        data: dict[str, Any] = {
            "schema_version": self.schema_version,
            "id": self.id,
            "verdict": self.verdict,
            "row": self.row,
            "rule": self.rule,
            "mode": self.mode,
            "modes": list(self.modes),
            "title": self.title,
            "severity": self.severity,
            "tier": self.tier,
            "signature": self.signature,
            "fallback": self.fallback,
            "why": self.why,
            "action": {
                "kind": action.kind,
                "text": action.text,
                "argv": None if action.argv is None else list(action.argv),
                "env": dict(action.env),
                "stdin": action.stdin,
                "timeout_s": action.timeout_s,
                "wait_s": action.wait_s,
                "shell": action.shell,
                "untrusted": [
                    {"field": item.field, "command": item.command} for item in action.untrusted
                ],
            },
            "retry": {
                "may": self.retry.may,
                "attempts_left": self.retry.attempts_left,
                "wait_s": self.retry.wait_s,
                "why": self.retry.why,
            },
            "evidence": [
                {"stream": e.stream, "line": e.line, "start": e.start, "end": e.end, "text": e.text}
                for e in self.evidence
            ],
            "payload": self.payload,
            "extraction": None if self.extraction is None else dict(self.extraction),
            "flags": list(self.flags),
            "also": [dict(item) for item in self.also],
            "doc": self.doc,
            "warnings": list(self.warnings),
            "table": dict(self.table),
            "window": dict(self.window),
        }
        if self.agent is not None:
            data["agent"] = dict(self.agent)
        return data
