"""JSON data -> `Capture`: an unknown key is a warning, a wrong type an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triage.errors import CaptureError
from triage.model import Capture

__all__ = ["CAPTURE_KEYS", "capture_from_mapping"]

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
    # Some observers mark a stdout that holds both streams with a boolean.
    if isinstance(fields.get("merged"), bool) and fields.pop("merged"):
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


