"""The `match` and `no_match` samples of rows, as captures: a rule's own tests travel with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from triage.capture_data import capture_from_mapping
from triage.model import Capture

__all__ = ["row_samples", "sample_capture"]


def sample_capture(data: Mapping[str, Any], where: str) -> Capture:
    """Build the capture of a sample or a case; raises `CaptureError` naming `where`.

    Beside the keys of a capture, ``stdout_jsonl`` is a list of objects printed one a line, and
    ``stdout_repeat: {head, text, times, tail}`` a long output in few words.
    """
    fields = dict(data)
    lines = fields.pop("stdout_jsonl", None)
    if lines is not None:
        import json

        text = "".join(
            (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)) + "\n"
            for line in lines
        )
        fields["stdout"] = text
    repeat = fields.pop("stdout_repeat", None)
    if repeat is not None:
        middle = repeat["text"] * repeat["times"]
        fields["stdout"] = f"{repeat.get('head', '')}{middle}{repeat.get('tail', '')}"
    return capture_from_mapping(fields, where)


def row_samples(row: Mapping[str, Any], where: str) -> Iterator[tuple[str, Capture]]:
    """Yield ("match" or "no_match", capture) of one row as it is written."""
    for kind in ("match", "no_match"):
        for number, sample in enumerate(row.get(kind, ()), 1):
            yield kind, sample_capture(sample, f"{where} {kind} {number}")
