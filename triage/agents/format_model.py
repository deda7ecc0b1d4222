"""What each agent CLI prints, as data: rules/agents/*.yaml in compiled form.

A format is a list of event rules. A rule has a condition on paths of the event (`when`), may go
into a list (`each` with `rules`), and has effects: what it says about the run. The words are
those of rules/schema/agent-format.schema.json; `triage.agents.effects` has one function for each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triage.agents.values import Path, find
from triage.agents.when import When

__all__ = ["EFFECTS", "MODIFIERS", "Format", "LineRule", "Meaning", "Rule"]

# Effects in the order they are applied; the value says what stands behind the word in YAML.
EFFECTS: Mapping[str, str] = {
    "session": "paths",
    "prompt": "true",
    "open": "true",
    "turn": "true",
    "message": "true",
    "thinking": "true",
    "text": "paths",
    "text_delta": "paths",
    "said": "true",
    "tool": "true",
    "tool_count": "paths",
    "tool_error": "true",
    "terminal": "true",
    "result": "paths",
    "status": "paths",
    "is_error": "paths",
    "exit_code": "paths",
    "subtype": "paths",
    "reason": "paths",
    "early_stop": "word",
    "cancelled": "true",
    "note": "paths",
    "pending": "paths",
    "recovered": "true",
    "fatal": "paths",
    "turns": "paths",
    "usage": "paths",
    "usage_sum": "paths",
    "cost": "paths",
    "cost_sum": "paths",
    "duration_ms": "paths",
    "denials": "paths",
}
# Words that only say more about an effect of the same rule.
MODIFIERS = frozenset({"id", "details", "when", "each", "rules", "why"})


@dataclass(frozen=True, slots=True)
class Rule:
    """One event rule; `effects` are (word, paths or word) in the order of `EFFECTS`."""

    when: When
    effects: tuple[tuple[str, Any], ...]
    id: tuple[Path, ...]
    details: tuple[Path, ...]
    each: Path | None
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class LineRule:
    """One rule on a line of plain text: a pattern, an effect, and its word or template."""

    pattern: re.Pattern[str]
    effect: str
    word: str


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a result subtype or a terminal reason means (as the reference maps them)."""

    kind: str
    subtype: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Format:
    """One agent CLI: how its runs are started, recognised and read."""

    id: str
    title: str
    aliases: tuple[str, ...]
    programs: tuple[str, ...]
    run_flags: frozenset[str]
    run_words: frozenset[str]
    terminal: str
    unfinished_is_cancelled: bool
    stderr_events: bool
    detect: tuple[tuple[int, When], ...]
    by_type: Mapping[str | None, tuple[Rule, ...]]
    type_path: Path
    text: tuple[LineRule, ...]
    whole: tuple[LineRule, ...]
    stderr: tuple[LineRule, ...]
    subtypes: Mapping[str, Meaning]
    usage_names: tuple[tuple[str, str], ...]

    def rules_for(self, event: Mapping[str, Any]) -> tuple[Rule, ...]:
        """The top-level rules that can hold for `event`, in order."""
        kind = find(event, self.type_path)
        found = self.by_type.get(kind) if isinstance(kind, str) else None
        return self.by_type[None] if found is None else found

    @property
    def reads_events(self) -> bool:
        """Whether the CLI has a machine-readable output at all."""
        return len(self.by_type) > 1 or bool(self.by_type[None])
