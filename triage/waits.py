"""What others say about waiting: Retry-After, reset times, error objects. Units become seconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["error_code", "told_wait", "wait_hints"]

# Names under which waits are captured from text or stand in an error object -> seconds per unit.
_AFTER = {
    "retry_after": 1.0,
    "retry_after_s": 1.0,
    "retry_after_sec": 1.0,
    "retry_after_secs": 1.0,
    "retry_after_seconds": 1.0,
    "retry_after_ms": 0.001,
    "retry_after_min": 60.0,
    "retryAfter": 1.0,
    "retryAfterMs": 0.001,
}
_RESET = {"reset_in_s": 1.0, "reset_in_seconds": 1.0, "reset_in_ms": 0.001, "reset_in_min": 60.0}


def wait_hints(captured: Mapping[str, str]) -> tuple[float | None, float | None]:
    """Return (retry-after, reset) in seconds from a row's captured values; the longer of several.

    Names understood: ``retry_after`` with a unit or in seconds, ``retry_after_s``, ``_ms``,
    ``_min``; ``reset_in_s``, ``reset_in_ms``, ``reset_in_min``. What is no number is passed over.
    """
    return _longest(captured, _AFTER), _longest(captured, _RESET)


def told_wait(
    error: object, after_s: float | None, reset_s: float | None, longest_s: float
) -> float | None:
    """Return the seconds somebody named, None where nobody did.

    Retry-After (`after_s` from the text, or in the `error` object) beats a reset time; of two that
    disagree the longer counts. A wait above `longest_s` is no wait but a mistake.
    """
    found = error if isinstance(error, Mapping) else {}
    for told in ((after_s, _longest(found, _AFTER)), (reset_s, _longest(found, _RESET))):
        usable = [seconds for seconds in told if seconds is not None and 0 <= seconds <= longest_s]
        if usable:
            return float(max(usable))
    return None


def error_code(error: object) -> str:
    """Return ``error.code`` in capitals with ``_`` between words; "" where there is none."""
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, bool) or not isinstance(code, (str, int)):
        return ""
    if isinstance(code, int):
        return str(code) if 0 <= code < 100_000 else ""
    if len(code) > 100:
        return ""
    return "_".join("".join(char if char.isalnum() else " " for char in code).upper().split())


def _longest(values: Mapping[Any, Any], names: Mapping[str, float]) -> float | None:
    told = [_seconds(values[name], names[name]) for name in values.keys() & names.keys()]
    return max((seconds for seconds in told if seconds is not None), default=None)


def _seconds(value: object, unit: float) -> float | None:
    """Seconds from a number, or from a text such as ``30``, ``1.5``, ``1m30s``, ``200ms``."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        # Comparing first keeps a 5,000-digit integer from overflowing; NaN compares false.
        return value * unit if 0 <= value <= 1e12 else None
    if not isinstance(value, str) or len(value) > 20:
        return None
    import re

    parts = re.fullmatch(
        r"(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+(?:\.[0-9]+)?)(ms|s)?)?", value.strip().lower()
    )
    if parts is None or not any(parts.groups()):
        return None
    hours, minutes, rest, small = parts.groups()
    if hours or minutes or small:
        unit = 0.001 if small == "ms" else 1.0
    return int(hours or 0) * 3600.0 + int(minutes or 0) * 60.0 + float(rest or 0) * unit
