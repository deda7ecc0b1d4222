"""Audit events: one greppable line for every failed call, failed agent turn and broken preview.

A line says when, what, by which rule and mode, and on what masked evidence; of the command it
keeps a hash, so that the same call is found again and its arguments are not. Recording never
raises and never stops a run: what could not be written is a warning.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triage.audit_log import LINE_BYTES, append_line, encode_line
from triage.redact import mask, mask_data

if TYPE_CHECKING:
    from triage.agents.model import AgentVerdict
    from triage.model import Verdict
    from triage.probe import ProbeResult

__all__ = [
    "EVENTS",
    "Recorded",
    "command_hash",
    "destination",
    "record",
    "record_verdict",
    "time_stamp",
]

EVENTS = {
    "call.failed": "a call failed",
    "call.ambiguous": "a call may have failed; which stage can't be told",
    "call.insufficient": "too little was captured of a call",
    "agent.turn_failed": "an agent run ended with another verdict than ok",
    "preview.error": "a preview page is down, blank, or lacks what it refers to",
}
VERSION = 1
_CALL_EVENTS = {
    "failure": "call.failed",
    "ambiguous": "call.ambiguous",
    "insufficient": "call.insufficient",
}
# Key of a verdict -> how many characters of it are kept.
_TEXTS = {"rule": 100, "id": 100, "agent": 40, "subtype": 60, "early_stop": 100, "check": 40,
          "reason": 60, "url": 500, "why": 400}  # fmt: skip
_NUMBERS = ("row", "mode", "exit_code", "status")
_EVIDENCE_ITEMS = 5
_EVIDENCE_CHARS = 400
# Far more than is kept, so that no secret is cut in two before it is masked.
_UNMASKED_CHARS = 64 << 10


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of an event: true when its line is in the file, else `warning` says why not.

    `event` is None where the verdict is nothing to record; that counts as done.
    """

    event: str | None
    warning: str | None = None

    def __bool__(self) -> bool:
        return self.warning is None


def destination(option: str | None) -> str | None:
    """Return the audit file: the option, else ``TRIAGE_AUDIT``, else None."""
    return option or os.environ.get("TRIAGE_AUDIT") or None


def command_hash(command: str | Sequence[str] | None) -> str | None:
    """Return ``sha256:`` and 16 hexadecimal digits for a command line, None for none."""
    if command is None or not command:
        return None
    from hashlib import sha256

    if not isinstance(command, str):
        import shlex

        command = shlex.join(command)
    return f"sha256:{sha256(command.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def record(
    path: str,
    event: str,
    *,
    verdict: Mapping[str, Any],
    command: str | Sequence[str] | None = None,
    exit_code: int | None = None,
    now: float | None = None,
) -> Recorded:
    """Append one event to the audit file `path`.

    `verdict` is the plain data of a verdict (`to_dict()` of any kind); the keys that
    rules/schema/audit.schema.json names are kept, masked and cut. `now` is seconds since the
    epoch. Safe under any number of writers; never raises.
    """
    line = _line(_facts(event, verdict, command, exit_code, now))
    problem = append_line(path, line)
    if problem is None:
        return Recorded(event)
    warning = mask(f"audit: {event} not recorded in {path!r}: {problem}")
    return Recorded(event, warning)


def record_verdict(
    path: str | None,
    verdict: Verdict | AgentVerdict | ProbeResult,
    *,
    command: str | Sequence[str] | None = None,
    exit_code: int | None = None,
    now: float | None = None,
) -> Recorded:
    """Record a verdict of any kind if it tells of a failure; `path` None records nothing.

    `call.failed` (or ambiguous, insufficient) for a call, `agent.turn_failed` for an agent run,
    `preview.error` for a probe. `exit_code` is the call's own; a `Verdict` does not carry it.
    """
    data = verdict.to_dict()
    event = _event_of(data)
    if path is None or event is None:
        return Recorded(None)
    from triage.border import masked_evidence
    from triage.model import Verdict

    if isinstance(verdict, Verdict):
        data["evidence"] = masked_evidence(verdict)
    return record(path, event, verdict=data, command=command, exit_code=exit_code, now=now)


def _event_of(data: Mapping[str, Any]) -> str | None:
    word = data["verdict"]
    if "check" in data:
        return "preview.error" if word == "preview_error" else None
    run = data if "subtype" in data else data.get("agent")
    if run is not None:
        if run["verdict"] != "ok":
            return "agent.turn_failed"
        return None if run is data else _CALL_EVENTS.get(word)
    return _CALL_EVENTS.get(word)


def _facts(
    event: str,
    verdict: Mapping[str, Any],
    command: str | Sequence[str] | None,
    exit_code: int | None,
    now: float | None,
) -> dict[str, Any]:
    known: dict[str, Any] = dict(verdict)
    agent = verdict.get("agent")
    if isinstance(agent, Mapping) and event.startswith("agent."):
        # The verdict of a captured stream: the turn is what failed, the row says what to do.
        known.update({key: agent.get(key) for key in ("verdict", "subtype", "format", "exit_code")})
        known["early_stop_reason"] = agent.get("early_stop_reason")
    known["agent"] = known.get("format") if isinstance(known.get("format"), str) else agent
    known["early_stop"] = known.get("early_stop_reason")
    if exit_code is not None:
        known["exit_code"] = exit_code
    cause = known.get("cause")
    if isinstance(cause, Mapping):
        # The `mode` of an agent verdict is how its stream was read, no §N.
        known.update(row=cause.get("row"), mode=cause.get("mode"))
    kept: dict[str, Any] = {"verdict": str(known.get("verdict") or "unknown")[:40]}
    for key in _TEXTS:
        if isinstance(known.get(key), str) and known[key]:
            kept[key] = known[key][:_UNMASKED_CHARS]
    kept["evidence"] = [text[:_UNMASKED_CHARS] for text in _evidence(known.get("evidence"))]
    kept = mask_data(kept)
    for key, most in _TEXTS.items():
        if key in kept:
            kept[key] = _cut(kept[key], most)
    kept["evidence"] = [_cut(text, _EVIDENCE_CHARS) for text in kept["evidence"]]
    numbers = {key: known[key] for key in _NUMBERS if _is_number(known.get(key))}
    return {
        "v": VERSION,
        "time": time_stamp(time.time() if now is None else now),
        "event": event[:60],
        "verdict": kept.pop("verdict"),
        "rule": kept.pop("rule", None),
        "mode": numbers.pop("mode", None),
        "command": command_hash(command),
        **numbers,
        **kept,
        "pid": os.getpid(),
    }


def _evidence(items: object) -> list[str]:
    if not isinstance(items, (list, tuple)):
        return []
    texts: list[str] = []
    for item in items[:_EVIDENCE_ITEMS]:
        text = item.get("text") if isinstance(item, Mapping) else item
        if isinstance(text, str) and text.strip():
            texts.append(text.strip())
    return texts


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def time_stamp(seconds: float) -> str:
    """Return seconds since the epoch as UTC, ``2026-06-07T08:00:00.000Z``; sorts as text."""
    whole = int(seconds)
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
    return f"{moment}.{int((seconds - whole) * 1000):03d}Z"


def _line(event: dict[str, Any]) -> bytes:
    """Encode the event; what is too long for one piece loses its evidence, longest first."""
    line = encode_line(event)
    while len(line) > LINE_BYTES:
        if event["evidence"]:
            longest = max(range(len(event["evidence"])), key=lambda at: len(event["evidence"][at]))
            event["evidence"][longest] = _halved(event["evidence"][longest])
            event["evidence"] = [text for text in event["evidence"] if text]
        else:
            key = max(_TEXTS, key=lambda name: len(event.get(name) or ""))
            event[key] = _halved(event[key]) or None
        line = encode_line(event)
    return line


def _halved(text: str) -> str:
    return "" if len(text) < 8 else text[: len(text) // 2] + "…"
