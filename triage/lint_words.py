"""Patterns that would find their number or their word in any text at all.

A pattern is asked of sentences in which a status number is a duration, a line, a port, a count,
and in which a frightening word is just a word. What it finds there is no sign of a failure: 4033ms
is no 403, "the error handling section" is no error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from triage.finding import Finding, found
from triage.pattern import compile_pattern
from triage.rulebook import PatternUse

__all__ = ["WORDS", "word_findings"]

_NUMBERS = (400, 401, 403, 404, 407, 408, 409, 410, 422, 429, 500, 502, 503, 504, 529)
_NUMBER_TEXTS = (
    "{} files changed",
    "took {} ms",
    "took {}ms",
    "line {}",
    "src/app.py:{}:7",
    "listening on port {}",
    "pid {} is alive",
    "version 1.{}.2",
    "rows: {}",
    "2024-01-01 10:{}",
    "id={}",
)
# Words that rules are tempted by, and that manuals, logs and code are full of.
WORDS = (
    "error", "errors", "failed", "failure", "fail", "fatal", "warning", "exception", "abort",
    "aborted", "token", "limit", "limits", "timeout", "denied", "killed", "auth", "login",
    "password", "permission", "forbidden", "unauthorized", "expired", "expire", "invalid",
    "missing", "required", "usage", "panic", "crash", "memory", "disk", "quota", "network",
    "connection", "refused", "reset", "retry", "throttled", "busy", "locked", "lock", "editor",
    "prompt", "input", "terminal", "version", "unsupported", "deprecated", "json", "syntax",
    "unexpected", "unknown", "unable", "cannot", "not found", "no such", "interrupted",
    "signal", "stopped", "broken", "corrupt", "overflow", "rejected", "blocked", "unavailable",
    "credential", "credentials", "certificate", "proxy", "dns", "host", "argument", "option",
    "command",
)  # fmt: skip
_WORD_TEXTS = ("the {} section of this page", "see {} below", "Notes on {}, and other things")
_REPLACED_BY = ("777", "plum")


def word_findings(uses: Iterable[PatternUse]) -> Iterator[Finding]:
    """Yield the patterns that find a bare number or a bare word in harmless text."""
    numbers = _Probes(_NUMBER_TEXTS, tuple(map(str, _NUMBERS)), _REPLACED_BY[0])
    words = _Probes(
        _WORD_TEXTS,
        tuple(form for word in WORDS for form in (word, word.capitalize(), word.upper())),
        _REPLACED_BY[1],
    )
    for use in uses:
        if use.role != "text":
            continue
        pattern = compile_pattern(use.pattern)
        hits = numbers.hits(pattern)
        if hits:
            yield found(
                "bare-number", use.owner, use.where, f"{_cut(use.pattern)} also finds {hits[0]!r}",
                "use `http:` or say what stands beside the number",
            )  # fmt: skip
        if use.context:
            continue
        hits = words.hits(pattern)
        if hits:
            yield found(
                "bare-word", use.owner, use.where, f"{_cut(use.pattern)} also finds {hits[0]!r}",
                "anchor it, or add the words that stand beside it in a failure",
            )  # fmt: skip


class _Probes:
    """Sentences with one word in them, and the same sentences with a harmless word."""

    def __init__(self, texts: tuple[str, ...], words: tuple[str, ...], other: str) -> None:
        self.pairs = [(text.format(word), text.format(other)) for word in words for text in texts]
        # Looked for in one go: nearly all patterns find nothing at all.
        self.together = "\n".join(sentence for sentence, _ in self.pairs)

    def hits(self, pattern: Any) -> list[str]:
        """The sentences in which the pattern finds the word itself."""
        if pattern.search(self.together) is None:
            return []
        return [
            sentence
            for sentence, harmless in self.pairs
            if pattern.search(sentence) is not None and pattern.search(harmless) is None
        ]


def _cut(pattern: str) -> str:
    return repr(pattern if len(pattern) <= 70 else pattern[:69] + "…")
