"""The normalised agent run: what any agent CLI's stream says, in one set of words.

`AgentRun` is the reading of a stream, `AgentVerdict` the judgement of it. Both are
frozen and bounded: a gigabyte of events ends in a few kilobytes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "AgentRun",
    "AgentVerdict",
    "RunEvidence",
    "RunVerdict",
]

RunVerdict = Literal["ok", "agent_no_output", "agent_error", "nonzero_exit"]


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """One thing the stream showed: its kind, where it stood, and the start of its text.

    `line` counts from 1; `start` and `end` are offsets of the line in the stream as given (bytes
    for bytes, code points for str).
    """

    kind: str
    line: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """One agent run, read from its stream; what the table's `agent:` conditions look at.

    Counts are of the whole stream. An unknown exit status is None, never 0. Texts are
    cut to a few thousand characters. `early_stop` is the last mapped reason why the loop ended the
    run itself; an unmapped reason never erases it.
    """

    format: str
    mode: Literal["events", "document", "text", "binary", "empty"]
    exit_code: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    text_count: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    thinking: int = 0
    terminal_seen: bool = False
    stream_cut: bool = False
    native_status: str | None = None
    native_exit: int | None = None
    terminal_reason: str | None = None
    is_error: bool | None = None
    error_events: int = 0
    hard_error: str | None = None
    nonfatal_errors: int = 0
    error_text: str = ""
    notices: str = ""
    early_stop: str | None = None
    early_stop_subtype: str | None = None
    policy_stop: str | None = None
    possibly_recovered: bool = False
    turns: int | None = None
    prompts: int = 0
    usage: Mapping[str, int | float] = field(default_factory=dict)
    cost_usd: float | None = None
    duration_ms: int | float | None = None
    session: str | None = None
    result: str | None = None
    result_cut: bool = False
    last_text: str = ""
    last_message_empty: bool = False
    result_missing: bool = False
    permission_denials: int = 0
    denied: tuple[str, ...] = ()
    known_events: int = 0
    unknown_events: int = 0
    unknown_types: tuple[str, ...] = ()
    bad_lines: int = 0
    long_lines: int = 0
    lines: int = 0
    size: int = 0
    cut_line: bool = False
    evidence: tuple[RunEvidence, ...] = ()

    @property
    def exit(self) -> Literal["zero", "nonzero", "unknown"]:
        """The exit status as the rows ask for it."""
        if self.exit_code is None:
            return "unknown"
        return "zero" if self.exit_code == 0 else "nonzero"

    def facts(self) -> dict[str, Any]:
        """Return the flat facts that `agent:` conditions of the table may name.

        Scalars, and one list (`denied`); absent values are None. Texts of several errors or
        notices are joined with line feeds, so ``^`` in a pattern finds each.
        """
        return {
            "format": self.format,
            "mode": self.mode,
            "exit": self.exit,
            "exit_code": self.exit_code,
            "timed_out": self.timed_out,
            "cancelled": self.cancelled,
            "texts": self.text_count,
            "tools": self.tool_calls,
            "tool_errors": self.tool_errors,
            "thinking": self.thinking,
            "terminal_seen": self.terminal_seen,
            "stream_cut": self.stream_cut,
            "native_status": self.native_status,
            "native_exit": self.native_exit,
            "terminal_reason": self.terminal_reason,
            "is_error": self.is_error,
            "errors": self.error_events,
            "hard_error": self.hard_error,
            "nonfatal_errors": self.nonfatal_errors,
            "error_text": self.error_text,
            "notices": self.notices,
            "early_stop": self.early_stop,
            "early_stop_subtype": self.early_stop_subtype,
            "policy_stop": self.policy_stop,
            "possibly_recovered": self.possibly_recovered,
            "turns": self.turns,
            "prompts": self.prompts,
            "output_tokens": self.usage.get("output_tokens"),
            "cost_usd": self.cost_usd,
            "duration_ms": self.duration_ms,
            "result": self.result,
            "last_text": self.last_text,
            "empty_final_message": self.last_message_empty,
            "result_missing": self.result_missing,
            "permission_denials": self.permission_denials,
            "denied": list(self.denied),
            "known_events": self.known_events,
            "unknown_events": self.unknown_events,
            "bad_lines": self.bad_lines,
            "cut_line": self.cut_line,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentVerdict:
    """The judgement of one agent run; `rule` is the table row that decided it.

    `rule` is None for `nonzero_exit`: no row of the agent chapter took the run, so the rest of the
    table says what the status means. `cause` is what the rows for ordinary calls make
    of the error's text: {rule, row, mode, modes, title}.
    """

    verdict: RunVerdict
    subtype: str
    early_stop: bool
    early_stop_reason: str | None
    is_error: bool
    native_status: str | None
    exit_code: int | None
    rule: str | None
    why: str
    flags: tuple[str, ...]
    run: AgentRun
    cause: Mapping[str, Any] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How much of everything the stream held."""
        run = self.run
        return {
            "texts": run.text_count,
            "tool_calls": run.tool_calls,
            "tool_errors": run.tool_errors,
            "thinking": run.thinking,
            "errors": run.error_events,
            "nonfatal_errors": run.nonfatal_errors,
            "permission_denials": run.permission_denials,
            "prompts": run.prompts,
            "known_events": run.known_events,
            "unknown_events": run.unknown_events,
            "bad_lines": run.bad_lines,
            "long_lines": run.long_lines,
            "lines": run.lines,
            "bytes": run.size,
        }

    def line(self) -> str:
        """Return the one diagnostic line for stderr: it names the verdict and why."""
        shown = self.verdict if self.verdict == "ok" else f"{self.verdict} ({self.subtype})"
        status = "unknown" if self.exit_code is None else str(self.exit_code)
        return f"triage agent: {shown}: {self.why} [{self.run.format}, exit {status}]"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data, the whole metrics block included (an eval adapter reads it)."""
        run = self.run
        return {
            "verdict": self.verdict,
            "subtype": self.subtype,
            "early_stop": self.early_stop,
            "early_stop_reason": self.early_stop_reason,
            "is_error": self.is_error,
            "native_status": self.native_status,
            "exit_code": self.exit_code,
            "format": run.format,
            "mode": run.mode,
            "rule": self.rule,
            "why": self.why,
            "flags": list(self.flags),
            "timed_out": run.timed_out,
            "cancelled": run.cancelled,
            "terminal_seen": run.terminal_seen,
            "terminal_reason": run.terminal_reason,
            "policy_stop": run.policy_stop,
            "error": run.error_text or None,
            "cause": None if self.cause is None else dict(self.cause),
            "counts": self.counts,
            "turns": run.turns,
            "usage": dict(run.usage),
            "cost_usd": run.cost_usd,
            "duration_ms": run.duration_ms,
            "session": run.session,
            "result": run.result,
            "result_cut": run.result_cut,
            "denied": list(run.denied),
            "evidence": [
                {"kind": e.kind, "line": e.line, "start": e.start, "end": e.end, "text": e.text}
                for e in run.evidence
            ],
        }
