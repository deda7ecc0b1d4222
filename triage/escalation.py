"""The escalation bundle: all that was seen of a run, in one text that stands alone.

Captures go back through ``triage classify`` as they are. Secrets are masked here, at the border;
a stream that is no UTF-8 is masked byte for byte through lone surrogates and kept as base64.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from triage.model import Capture, StreamSource, Verdict

if TYPE_CHECKING:
    from triage.outcome import Attempt, Outcome

__all__ = ["capture_data", "json_report", "outcome_data", "stream_bytes", "text_report"]

_STREAMS = ("stdout", "stderr", "merged")
_FACTS = (
    "id",
    "exit_code",
    "timed_out",
    "duration_s",
    "silent_s",
    "limit_s",
    "idle_limit_s",
    "stdin",
    "pty",
    "shell",
    "cwd",
    "effect",
    "attempt",
    "sandboxed",
)
# The text report shows this many characters from either end of a stream.
_SHOWN = 20_000


def capture_data(capture: Capture, *, raw: bool = False) -> dict[str, Any]:
    """Return a capture as JSON data; secrets masked but `raw`."""
    from triage.redact import mask_data

    data: dict[str, Any] = {"command": _command(capture, raw)}
    data |= {name: getattr(capture, name) for name in _FACTS}
    for name in _STREAMS:
        source = getattr(capture, name)
        if source is None or (name != "merged" and capture.merged is not None):
            continue
        key, value = _stream(name, source, raw)
        data[key] = value
        if key == "merged_b64":
            # A capture has no such key; a boolean says that stdout holds both.
            data |= {"merged": True, "stdout_b64": data.pop(key)}
    for name in ("pipestatus", "truncated", "previous"):
        items = [
            dict(item) if isinstance(item, Mapping) else item for item in getattr(capture, name)
        ]
        if items:
            data[name] = items if raw else mask_data(items)
    return {key: value for key, value in data.items() if value is not None or key == "exit_code"}


def outcome_data(outcome: Outcome, *, raw: bool = False) -> dict[str, Any]:
    """Return an outcome as JSON data: attempts with capture and verdict, and what was done."""
    return {
        "verdict": _verdict(outcome.verdict, raw),
        "exit_status": outcome.exit_status,
        "interrupted": outcome.interrupted,
        "effect": {"effect": outcome.effect, "why": _masked(outcome.effect_why, raw)},
        "done": outcome.done,
        "attempts": [
            {
                "number": attempt.number,
                "how": attempt.how,
                "started_at": attempt.started_at,
                "waited_s": attempt.waited_s,
                "ended_by": attempt.ended_by,
                "exit_status": attempt.exit_status,
                "last_byte_s": dict(attempt.last_byte_s),
                "survivors": list(attempt.survivors),
                "warnings": [_masked(text, raw) for text in attempt.capture.warnings],
                "capture": capture_data(attempt.capture, raw=raw),
                "verdict": _verdict(attempt.verdict, raw),
            }
            for attempt in outcome.attempts
        ],
    }


def json_report(outcome: Outcome, *, raw: bool = False) -> str:
    """Return one JSON line for each attempt: a capture, labelled with what triage said of it."""
    lines = []
    for attempt in outcome.attempts:
        verdict = attempt.verdict
        data = capture_data(attempt.capture, raw=raw)
        data["source"] = f"triage run, start {attempt.number}, {attempt.started_at}"
        data["labelled_by"] = "triage itself: a claim, not a judgement"
        data["expected"] = {
            "verdict": verdict.verdict,
            "row": verdict.row,
            "rule": verdict.rule,
            "modes": list(verdict.modes),
        }
        data["why"] = _masked(_story(outcome, attempt), raw)
        lines.append(json.dumps(data, ensure_ascii=False) + "\n")
    return "".join(lines).encode("utf-8", "replace").decode()


def text_report(outcome: Outcome, *, raw: bool = False) -> str:
    """Return the bundle for a reader, in Markdown; of long streams both ends."""
    from triage.text import safe

    verdict = outcome.verdict
    parts = [
        f"# {verdict.verdict}: {verdict.title}\n",
        f"- {outcome.done}\n- effect {outcome.effect}: {outcome.effect_why}\n",
        f"- next step ({verdict.action.kind}): {verdict.action.text}\n",
    ]
    for attempt in outcome.attempts:
        capture = attempt.capture
        parts.append(f"\n## Start {attempt.number}\n\n{_story(outcome, attempt)}\n")
        command = _command(capture, raw)
        shown = command if isinstance(command, str) else json.dumps(command, ensure_ascii=False)
        parts.append(f"\n{_fenced(safe(str(shown)))}")
        for name in _STREAMS:
            source = getattr(capture, name)
            if source is not None and (name == "merged" or capture.merged is None):
                data = stream_bytes(source)
                # What is cut first may have lost the half that says what it is.
                text = _masked(data.decode("utf-8", "surrogateescape"), raw)
                if len(text) > 2 * _SHOWN:
                    left_out = len(text) - 2 * _SHOWN
                    text = f"{text[:_SHOWN]}\n[{left_out} characters left out]\n{text[-_SHOWN:]}"
                parts.append(f"\n{name}, {len(data)} bytes:\n\n{_fenced(safe(text))}")
        parts += [f"\n- {warning}\n" for warning in capture.warnings]
    return _masked("".join(parts), raw)


def _story(outcome: Outcome, attempt: Attempt) -> str:
    """One sentence that says what this start was and how it ended."""
    verdict = attempt.verdict
    ended = {
        "limit": "ended by the time limit",
        "idle": "ended by the silence limit",
        "signal": "ended by a signal to triage",
        "not started": "could not be started",
    }.get(attempt.ended_by, "ended by itself")
    row = "no row" if verdict.row is None else f"row {verdict.row}"
    mode = "" if verdict.mode is None else f", §{verdict.mode}"
    return (
        f"Start {attempt.number} of {len(outcome.attempts)} ({attempt.how}), {ended}, status "
        f"{attempt.exit_status}: {verdict.verdict}, {row}{mode} ({verdict.rule})."
    )


def _verdict(verdict: Verdict, raw: bool) -> dict[str, Any]:
    from triage.border import masked_verdict

    return verdict.to_dict() if raw else masked_verdict(verdict)


def _command(capture: Capture, raw: bool) -> str | list[str] | None:
    from triage.redact import mask, mask_argv

    command = capture.command
    if command is None or isinstance(command, str):
        return command if raw or command is None else mask(command)
    return list(command) if raw else mask_argv(command)


def _stream(name: str, source: StreamSource, raw: bool) -> tuple[str, str]:
    """The key and the value of a stream: text where it is UTF-8, base64 where it is not."""
    from triage.redact import mask

    data = stream_bytes(source)
    try:
        text = data.decode("utf-8")
        return name, text if raw else mask(text)
    except UnicodeDecodeError:
        pass
    if not raw:
        text = mask(data.decode("utf-8", "surrogateescape"))
        data = text.encode("utf-8", "surrogateescape")
    import base64

    return f"{name}_b64", base64.b64encode(data).decode("ascii")


def stream_bytes(source: StreamSource) -> bytes:
    """Return all of a stream; an open file is put back where it stood."""
    if isinstance(source, str):
        return source.encode("utf-8", "surrogatepass")
    if isinstance(source, bytes):
        return source
    if isinstance(source, os.PathLike):
        with open(source, "rb") as file:  # noqa: PTH123 - pathlib costs start-up time
            return file.read()
    start = source.tell()
    parts = iter(lambda: source.read(1 << 20), b"")
    data = b"".join(parts)
    source.seek(start)
    return data


def _masked(text: str, raw: bool) -> str:
    if raw:
        return text
    from triage.redact import mask

    return mask(text)


def _fenced(text: str) -> str:
    """A code block with a fence longer than any in the text."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}{'' if text.endswith(chr(10)) else chr(10)}{fence}\n"
