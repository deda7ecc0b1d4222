"""The facts that flow through `triage`: what was captured, what was decided, what to do.

Everything here is frozen. Nothing here does I/O or imports another module of the package
except `errors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from triage.errors import CaptureError

__all__ = [
    "CAPTURE_KEYS",
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
    "capture_from_mapping",
]

SCHEMA_VERSION = "1.0"

Tier = Literal["A", "B", "C"]
Effect = Literal["read_only", "mutating", "unknown"]
Kind = Literal["failure", "not_failure", "ambiguous", "insufficient"]

# A stream may be given as text, as bytes, as a path or as an open binary file (issue: big captures).
StreamSource = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """One finished command-line call as its observer saw it (ruling 42).

    `stdout`, `stderr` and `merged` are `str`, `bytes`, a path (`os.PathLike`) or an open binary
    file. `merged` is set where the observer stored both streams as one text. An unknown exit
    status is None, never 0 (ruling 23). Times are seconds.
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


@dataclass(frozen=True, slots=True)
class Evidence:
    """The very bytes a verdict rests on; `start`/`end` index the stream as given (ruling 40)."""

    stream: str
    line: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Untrusted:
    """A command that the captured output asks for; shown, never run unless allowed (ruling 15)."""

    field: str
    command: str


@dataclass(frozen=True, slots=True)
class Action:
    """What to do next, as data: `argv` + `env` + `stdin` + limits, and the same as one POSIX line.

    `kind` is one of `triage.actions.ACTION_KINDS`. `wait_s` is waited before `argv` starts.
    """

    kind: str
    text: str
    argv: tuple[str, ...] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: str | None = None
    timeout_s: float | None = None
    wait_s: float | None = None
    shell: str | None = None
    untrusted: tuple[Untrusted, ...] = ()


@dataclass(frozen=True, slots=True)
class Retry:
    """Whether the same call may be started again, how often, after how long, and why."""

    may: bool
    attempts_left: int
    wait_s: float | None
    why: str


@dataclass(frozen=True, slots=True)
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


# key -> (accepted types as a person would say it, the Python types). bool is an int in Python,
# so numbers are checked apart.
CAPTURE_KEYS: Mapping[str, str] = {
    "id": "string",
    "command": "string or list of strings",
    "exit_code": "integer or null",
    "stdout": "string",
    "stderr": "string",
    "stdout_b64": "base64 string",
    "stderr_b64": "base64 string",
    "merged": "string or boolean",
    "timed_out": "boolean",
    "duration_s": "number",
    "silent_s": "number",
    "limit_s": "number",
    "idle_limit_s": "number",
    "pipestatus": "list of integers",
    "stdin": "null|closed|pipe|tty|file",
    "pty": "boolean",
    "shell": "string",
    "cwd": "string",
    "effect": "read_only|mutating|unknown",
    "attempt": "integer",
    "previous": "list of verdict objects",
    "truncated": "list of {stream, at, bytes}",
    "sandboxed": "boolean",
}

# Keys of labelled captures that carry no observable; they are passed over without a warning.
_LABEL_KEYS = frozenset({"expected", "tool", "tool_version", "source", "labelled_by", "why"})
_MISSING = object()


def capture_from_mapping(data: object, where: str = "capture") -> Capture:
    """Build a `Capture` from JSON data; an unknown key is a warning, a wrong type an error.

    `where` is the place named in errors (``stdin:3``). Raises `CaptureError` naming the key,
    what was found and what was wanted.
    """
    if not isinstance(data, Mapping):
        raise CaptureError(where, f"a capture is a JSON object, got {_kind(data)}", "write {...}")
    if "exit_code" not in data:
        raise CaptureError(
            where, "key `exit_code` is missing", "write null where the status is not known"
        )
    warnings = [
        f"{where}: unknown key `{key}` ignored"
        for key in data
        if key not in CAPTURE_KEYS and key not in _LABEL_KEYS
    ]
    fields: dict[str, Any] = {}
    for key in CAPTURE_KEYS:
        value = data.get(key, _MISSING)
        if value is _MISSING or (value is None and key != "exit_code"):
            continue
        fields[key] = _checked(key, value, where)
    for stream in ("stdout", "stderr"):
        encoded = fields.pop(f"{stream}_b64", None)
        if encoded is not None:
            fields[stream] = encoded
    if isinstance(fields.get("merged"), bool):
        # Some observers mark a stdout that holds both streams with a boolean.
        if fields.pop("merged"):
            fields["merged"] = fields.pop("stdout", "")
    return Capture(**fields, warnings=tuple(warnings))


def _checked(key: str, value: Any, where: str) -> Any:
    wanted = CAPTURE_KEYS[key]
    good: Any = _MISSING
    if key == "exit_code":
        if value is None or _is_int(value):
            good = value
    elif key == "command":
        if isinstance(value, str):
            good = value
        elif isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
            good = tuple(value)
    elif key in ("stdout_b64", "stderr_b64"):
        good = _decoded(value)
    elif key == "merged":
        if isinstance(value, (str, bool, bytes)):
            good = value
    elif key == "pipestatus":
        if isinstance(value, (list, tuple)) and all(_is_int(item) for item in value):
            good = tuple(value)
    elif key in ("previous", "truncated"):
        if isinstance(value, (list, tuple)) and all(isinstance(item, Mapping) for item in value):
            good = tuple(value)
    elif wanted == "boolean":
        if isinstance(value, bool):
            good = value
    elif wanted == "number":
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            good = float(value) if abs(value) < 1e18 else 1e18 if value > 0 else -1e18
    elif wanted == "integer":
        if _is_int(value):
            good = value
    elif "|" in wanted:
        if value in wanted.split("|"):
            good = value
    elif isinstance(value, str) or (key in ("stdout", "stderr") and isinstance(value, bytes)):
        good = value
    if good is _MISSING:
        raise CaptureError(
            where, f"key `{key}`: got {_kind(value)}, wanted {wanted}", "correct the value"
        )
    return good


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _decoded(value: object) -> Any:
    import base64
    import binascii

    if not isinstance(value, str):
        return _MISSING
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return _MISSING


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int):
        return "an integer"
    if isinstance(value, float):
        return "a number"
    if isinstance(value, str):
        shown = value if len(value) <= 40 else value[:37] + "..."
        return f"the string {shown!r}"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    return type(value).__name__


