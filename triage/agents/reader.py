"""Events of one format -> the tally: which rules hold, and what a subtype or a reason means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triage.agents.effects import APPLY
from triage.agents.format_model import Format, Meaning, Rule
from triage.agents.formats import Formats
from triage.agents.tally import Tally
from triage.agents.values import find
from triage.agents.when import holds

__all__ = ["EventReader"]

_UNMAPPED = Meaning("normal", "success", None)


class EventReader:
    """Applies one format's rules to events, one after the other."""

    def __init__(self, item: Format, formats: Formats, tally: Tally) -> None:
        self.item = item
        self.formats = formats
        self.tally = tally
        # Of the event that is being read:
        self.failed = False
        self.stopped = False
        self.native_subtype: str | None = None
        self.error_reason: str | None = None

    def read(self, event: Mapping[str, Any]) -> bool:
        """Read one event; return whether the format knows it."""
        self._begin()
        known = False
        for rule in self.item.rules_for(event):
            if holds(rule.when, event):
                known = True
                self._apply(rule, event)
        if self.error_reason is not None and not self.stopped:
            # The bare word, where no rule found a message.
            self.fail(self.error_reason)
        if self.failed and not self.stopped:
            # An error that no early stop and no cancel explains: it beats them.
            hard = self.native_subtype == "error"
            self.tally.hard_error = "error" if hard else "error_during_execution"
        if known:
            self.tally.known_events += 1
        else:
            self.tally.unknown(find(event, self.item.type_path))
        return known

    def _begin(self) -> None:
        self.failed = self.stopped = False
        self.native_subtype = self.error_reason = None

    def _apply(self, rule: Rule, value: Any) -> None:
        for word, arg in rule.effects:
            APPLY[word](self, rule, value, arg)
        if rule.each is None:
            return
        items = find(value, rule.each)
        if isinstance(items, dict):
            items = [items]
        if not isinstance(items, list):
            return
        for item in items:
            if isinstance(item, dict):
                for child in rule.rules:
                    if holds(child.when, item):
                        self._apply(child, item)

    def fail(self, text: str) -> None:
        """One fatal error per event, however many rules see it."""
        if not self.failed:
            self.failed = True
            self.tally.fail(text)

    def meaning(self, subtype: str) -> Meaning:
        """Return what a result subtype means; an unknown ``error…`` is an error (total)."""
        found = self.item.subtypes.get(subtype) or self.formats.subtypes.get(subtype)
        if found is not None:
            return found
        if subtype.casefold().startswith("error"):
            return Meaning("error", "error_during_execution", None)
        return _UNMAPPED

    def stop(self, meaning: Meaning, name: str) -> None:
        """Act on what a subtype or a terminal reason means."""
        if meaning.kind == "early_stop":
            self.stopped = True
            self.tally.stop_early(meaning.reason or name, meaning.subtype)
        elif meaning.kind == "cancelled":
            self.stopped = True
            self.tally.cancelled = True
            self.tally.show("cancelled", name)
        elif meaning.kind == "policy":
            self.tally.policy_stop = name
        elif meaning.kind == "error":
            self.error_reason = name
