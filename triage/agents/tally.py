"""What has been seen of one run so far: counters and the few texts worth keeping.

The only mutable object between a stream and its `AgentRun`. Its size has a bound: texts are cut,
lists have a limit, ids of tool calls are remembered for the last thousand.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

from triage.agents.model import AgentRun, RunEvidence
from triage.agents.values import blank, bounded

__all__ = ["ERROR_CAP", "RESULT_CAP", "Tally"]

RESULT_CAP = 16_000
ERROR_CAP = 2_000
_SHOWN = 300
_IDS = 1_024
_NOTICES = 8
_UNKNOWN_TYPES = 20
_DENIED = 20

# Where a line stands: number, start, end (byte offsets).
Place = tuple[int, int, int]
_NOWHERE: Place = (0, 0, 0)


class Tally:
    """Counts one run; `place` is the line that is being read."""

    def __init__(self) -> None:
        self.place: Place = _NOWHERE
        self.text_count = 0
        self.tool_calls = 0
        self.tool_floor = 0
        self.tool_errors = 0
        self.thinking = 0
        self.turn_starts = 0
        self.turns: int | None = None
        self.prompts = 0
        self.terminals = 0
        self.opened = False
        self.native_status: str | None = None
        self.native_exit: int | None = None
        self.terminal_reason: str | None = None
        self.is_error: bool | None = None
        self.error_events = 0
        self.nonfatal_errors = 0
        self.first_error = ""
        self.last_error = ""
        self.hard_error: str | None = None
        self.pending: tuple[str, Place] | None = None
        self.notices: deque[str] = deque(maxlen=_NOTICES)
        self.early_stop: str | None = None
        self.early_stop_subtype: str | None = None
        self.policy_stop: str | None = None
        self.cancelled = False
        self.usage: dict[str, int | float] = {}
        self.cost: float | None = None
        self.duration_ms: int | float | None = None
        self.session: str | None = None
        self.result: str | None = None
        self.result_cut = False
        self.last_text = ""
        self.denied: list[str] = []
        self.denials = 0
        self.known_events = 0
        self.unknown_events = 0
        self.unknown_types: list[str] = []
        self.bad_lines = 0
        self.long_lines = 0
        self._in_delta = False
        self._said = False
        self._error_line = 0
        self._good_line = 0
        self._tool_ids: OrderedDict[str, None] = OrderedDict()
        self._evidence: dict[str, list[RunEvidence]] = {}

    # -- what an effect calls ------------------------------------------------------------------

    def say(self, text: str, *, delta: bool = False) -> None:
        """Count one assistant text; blank is none, fragments in a row are one."""
        if blank(text):
            return
        self._said = True
        self._good_line = self.place[0]
        if delta and self._in_delta:
            if len(self.last_text) < RESULT_CAP:
                self.last_text = bounded(self.last_text + text, RESULT_CAP)
            return
        self._in_delta = delta
        self.text_count += 1
        self.last_text = bounded(text, RESULT_CAP)
        self.show("text", text)

    def speak_up(self) -> None:
        """A new assistant message begins: nothing has been said in it yet."""
        self._said = False
        self._in_delta = False

    def call_tool(self, name: str, call_id: str | None) -> None:
        """Count one tool call, once per id."""
        self._said = False
        self._in_delta = False
        if call_id is not None:
            if call_id in self._tool_ids:
                return
            self._tool_ids[call_id] = None
            if len(self._tool_ids) > _IDS:
                self._tool_ids.popitem(last=False)
        self.tool_calls += 1
        self.show("tool", name)

    def fail(self, text: str) -> None:
        """Count one fatal error."""
        text = bounded(text, ERROR_CAP)
        self.error_events += 1
        self.first_error = self.first_error or text
        self.last_error = text or self.last_error
        self._error_line = self.place[0]
        self.show("error", text)

    def notice(self, text: str) -> None:
        """Keep one error or warning that the CLI itself did not treat as the end."""
        self.nonfatal_errors += 1
        text = bounded(text, _SHOWN)
        if text and (not self.notices or self.notices[-1] != text):
            self.notices.append(text)
        self.show("notice", text)

    def end(self) -> None:
        """The run's, or the prompt's, terminal event."""
        self.terminals += 1
        self.opened = False
        self._in_delta = False
        self.show("terminal", self.native_status or "")

    def stop_early(self, reason: str, subtype: str) -> None:
        self.early_stop = reason
        self.early_stop_subtype = subtype
        self.show("early_stop", reason)

    def deny(self, names: list[str], count: int) -> None:
        self.denials += count
        self.denied.extend(bounded(name, 80) for name in names[: _DENIED - len(self.denied)])

    def recover(self) -> None:
        self.pending = None
        self._good_line = self.place[0]

    def unknown(self, kind: Any) -> None:
        self.unknown_events += 1
        name = bounded(kind, 60) if isinstance(kind, str) else "?"
        if len(self.unknown_types) < _UNKNOWN_TYPES and name not in self.unknown_types:
            self.unknown_types.append(name)

    def keep_result(self, text: str) -> None:
        self.result = bounded(text, RESULT_CAP)
        self.result_cut = len(text) > RESULT_CAP
        if not blank(text):
            self._said = True

    def show(self, kind: str, text: str) -> None:
        """Remember the first and the last line of each kind."""
        number, start, end = self.place
        item = RunEvidence(kind, number, start, end, bounded(text, _SHOWN))
        kept = self._evidence.setdefault(kind, [])
        if len(kept) < 2:
            kept.append(item)
        else:
            kept[1] = item

    # -- the end -------------------------------------------------------------------------------

    @property
    def lost(self) -> str | None:
        """Why the run can't end `ok` any more, whatever still comes; None while it can."""
        if self.cancelled:
            return "cancelled"
        if self.error_events:
            return self.last_error or "a fatal error event"
        if self.early_stop is not None:
            return f"stopped early: {self.early_stop}"
        return None

    def freeze(self, **known: Any) -> AgentRun:
        """Return the run; `known` are the fields that the stream alone does not tell."""
        if self.pending is not None:
            text, self.place = self.pending
            self.pending = None
            self.hard_error = self.hard_error or "error_during_execution"
            self.fail(text)
        errors = self.first_error
        if self.last_error != self.first_error:
            errors = f"{errors}\n{self.last_error}"
        evidence = [item for items in self._evidence.values() for item in items]
        evidence.sort(key=lambda item: (item.line, item.kind))
        result = self.last_text if self.result is None else self.result
        did = bool(self.text_count or self.tool_calls)
        return AgentRun(
            text_count=self.text_count,
            tool_calls=max(self.tool_calls, self.tool_floor),
            tool_errors=self.tool_errors,
            thinking=self.thinking,
            terminal_seen=self.terminals > 0,
            native_status=self.native_status,
            native_exit=self.native_exit,
            terminal_reason=self.terminal_reason,
            is_error=self.is_error,
            error_events=self.error_events,
            hard_error=self.hard_error,
            nonfatal_errors=self.nonfatal_errors,
            error_text=errors,
            notices="\n".join(self.notices),
            early_stop=self.early_stop,
            early_stop_subtype=self.early_stop_subtype,
            policy_stop=self.policy_stop,
            possibly_recovered=0 < self._error_line < self._good_line,
            turns=self.turns if self.turns is not None else self.turn_starts or None,
            prompts=max(self.prompts, self.terminals),
            usage=self.usage,
            cost_usd=self.cost,
            duration_ms=self.duration_ms,
            session=self.session,
            result=result or None,
            result_cut=self.result_cut,
            last_text=bounded(self.last_text, ERROR_CAP),
            last_message_empty=did and not self._said,
            result_missing=self.text_count > 0 and self.result is not None and blank(self.result),
            permission_denials=self.denials,
            denied=tuple(self.denied),
            known_events=self.known_events,
            unknown_events=self.unknown_events,
            unknown_types=tuple(self.unknown_types),
            bad_lines=self.bad_lines,
            long_lines=self.long_lines,
            evidence=tuple(evidence),
            **known,
        )
