"""What leaves the process: masked, printable, and in one of the published shapes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from triage.model import SCHEMA_VERSION, Verdict
from triage.redact import mask, mask_data, mask_piece
from triage.text import printable

if TYPE_CHECKING:
    from triage.errors import TriageError

__all__ = [
    "dump",
    "envelope",
    "error_envelope",
    "line_of",
    "masked_evidence",
    "masked_verdict",
]


# What a verdict says in a stranger's words; the rest are the rules' own, and numbers.
_OF_THE_CALL = ("id", "action", "evidence", "payload", "warnings", "agent")


def masked_verdict(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as plain data with every secret masked."""
    data = verdict.to_dict()
    data["evidence"] = masked_evidence(verdict)
    return {**data, **mask_data({name: data[name] for name in _OF_THE_CALL if name in data})}


def masked_evidence(verdict: Verdict) -> list[dict[str, Any]]:
    """Return a verdict's evidence as plain data, masked as the part of its stream that it is."""
    shown = [dict(item) for item in verdict.to_dict()["evidence"]]
    for item, data in zip(verdict.evidence, shown, strict=True):
        before, after = item._around
        data["text"] = mask_piece(before, item.text, after)
    return shown


def dump(data: Any, *, pretty: bool = False) -> str:
    """Return JSON text that any stream can take: lone surrogates become U+FFFD, NaN null."""
    try:
        try:
            text = _json(data, pretty)
        except ValueError:
            text = _json(_finite(data), pretty)
    except (RecursionError, ValueError):
        # Only a payload can be that deep (or hold a number that long); the rest is ours.
        text = _json(_without_payload(data), pretty)
    return printable(text)


def _json(data: Any, pretty: bool) -> str:
    return json.dumps(
        data,
        ensure_ascii=False,
        allow_nan=False,
        indent=2 if pretty else None,
        separators=None if pretty else (",", ":"),
    )


def _finite(data: Any) -> Any:
    # Python reads NaN and Infinity, which no other reader of JSON has to.
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, (list, tuple)) else data


def _without_payload(data: Any) -> Any:
    note = "payload left out: too deep or too long to print"
    if isinstance(data, dict) and isinstance(data.get("data"), dict):
        return {**data, "data": _without_payload(data["data"])}
    if isinstance(data, dict):
        return {**data, "payload": None, "warnings": [*data.get("warnings", ()), note]}
    return {"payload": None, "warnings": [note]}


def envelope(
    data: Any, *, warnings: Sequence[str] = (), meta: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the spec's response envelope around `data`."""
    return {
        "ok": True,
        "data": data,
        "error": None,
        "warnings": list(warnings),
        "meta": {"schema_version": SCHEMA_VERSION, **(meta or {})},
    }


def error_envelope(error: TriageError, code: str, *, retryable: bool = False) -> dict[str, Any]:
    """Return the envelope of one of our own errors."""
    issues = [mask(str(issue)) for issue in getattr(error, "issues", ())]
    return {
        "ok": False,
        "data": None,
        "error": {
            "code": code,
            "message": mask(str(error)),
            "where": mask(error.where),
            "suggestion": mask(error.remedy) or None,
            "retryable": retryable,
            **({"issues": issues} if len(issues) > 1 else {}),
        },
        "warnings": [],
        "meta": {"schema_version": SCHEMA_VERSION},
    }


def line_of(verdict: Mapping[str, Any]) -> str:
    """Return the frozen one-line form of a masked verdict.

    ``VERDICT row=N mode=N rule=ID tier=T retry=N wait=S action=KIND next=COMMAND``; what there is
    none of is ``-``; `next` is the POSIX form of the action and stands last because it has blanks.
    """
    action = verdict["action"]
    retry = verdict["retry"]
    wait = action["wait_s"] if action["wait_s"] is not None else retry["wait_s"]
    words = [
        verdict["verdict"],
        f"row={_dash(verdict['row'])}",
        f"mode={_dash(verdict['mode'])}",
        f"rule={verdict['rule']}",
        f"tier={_dash(verdict['tier'])}",
        f"retry={retry['attempts_left'] if retry['may'] else 0}",
        f"wait={'-' if wait is None else f'{wait:g}'}",
        f"action={action['kind']}",
        f"next={' '.join((action['shell'] or '-').split())}",
    ]
    return " ".join(words)


def _dash(value: object) -> str:
    return "-" if value is None else str(value)
