"""Plain text of an agent CLI: which lines are its own, which are errors, which are an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from triage.agents.format_model import LineRule, Meaning
from triage.agents.formats import Formats
from triage.agents.tally import Tally
from triage.agents.values import bounded

__all__ = ["is_binary", "read_lines", "read_whole"]

_LINE = 2_000
_WHOLE = 20_000
# Of a longer text the first and the last lines are looked at.
_LINES = 5_000
_FALLBACK = Meaning("early_stop", "error_during_execution", None)
_SAMPLE = 64 << 10
# NULs at the ends of a line are what a truncated log is filled with.
_PADDING = re.compile(r"(?m)^\0+|\0+$")
_CONTROL = re.compile(r"[\0-\x06\x0e-\x1a\x1c-\x1f\x7f]+")


def is_binary(text: str) -> bool:
    """Whether a tenth of `text` is neither letters nor what terminals are sent.

    What could not be decoded counts only beside control characters: alone it is a text in some
    code page.
    """
    sample = _PADDING.sub("", text[:_SAMPLE])
    controls = _CONTROL.findall(sample)
    size = len(sample) - sum(map(len, controls)) + len(controls)
    return bool(controls) and (len(controls) + sample.count("\ufffd")) * 10 > size


def read_lines(
    text: str,
    rules: Sequence[LineRule],
    tally: Tally,
    formats: Formats,
    *,
    text_counts: bool = True,
) -> None:
    """Apply line rules, first match wins; a line that no rule takes is assistant text."""
    from triage.escapes import strip_escapes

    position = 0
    ascii_only = text.isascii()
    lines = text.split("\n")
    skipped = range(_LINES, len(lines) - _LINES)
    for number, raw in enumerate(lines, start=1):
        if text_counts:
            size = len(raw) if ascii_only else len(raw.encode("utf-8", "replace"))
            tally.place = (number, position, position + size)
            position += size + 1
        line = "" if number in skipped else strip_escapes(bounded(raw, _LINE)).strip()
        if not line:
            continue
        for rule in rules:
            match = rule.pattern.search(line)
            if match is not None:
                _act(rule, match.groupdict(), line, tally, formats)
                break
        else:
            if text_counts:
                tally.say(line + "\n", delta=True)


def read_whole(text: str, rules: Sequence[LineRule], tally: Tally, formats: Formats) -> None:
    """Apply rules that look at the output as one text (anchored with ``\\A`` and ``\\Z``)."""
    whole = text.strip()[:_WHOLE]
    for rule in rules:
        match = rule.pattern.search(whole)
        if match is not None:
            _act(rule, match.groupdict(), whole, tally, formats)
            return


def _act(
    rule: LineRule, groups: dict[str, str | None], line: str, tally: Tally, formats: Formats
) -> None:
    text = groups.get("text") or line
    if rule.effect == "fatal":
        tally.hard_error = tally.hard_error or "error_during_execution"
        tally.fail(text)
    elif rule.effect == "pending":
        tally.pending = (bounded(text, _LINE), tally.place)
    elif rule.effect == "recovered":
        tally.recover()
    elif rule.effect == "note":
        tally.notice(text)
    elif rule.effect == "tool":
        tally.call_tool(bounded(groups.get("name") or "", 80), None)
    elif rule.effect == "early_stop":
        reason = rule.word or groups.get("reason") or ""
        meaning = formats.reasons.get(reason, _FALLBACK)
        if meaning.kind == "early_stop":
            tally.stop_early(reason, meaning.subtype)
    elif rule.effect == "cancelled":
        tally.cancelled = True
