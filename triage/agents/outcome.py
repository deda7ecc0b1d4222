"""From a run and the table row that took it to the agent verdict: subtype, is_error, flags.

`derive` is the only place where a subtype and `is_error` come from; a cross-product test pins it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from triage.agents.model import AgentRun, AgentVerdict, RunVerdict
from triage.agents.values import bounded
from triage.model import Capture

__all__ = ["VERDICTS", "agent_block", "conclude", "derive", "error_capture"]

_LONGEST_SAID = 160
_LONGEST_MASKED = 8192

VERDICTS: tuple[RunVerdict, ...] = ("ok", "agent_no_output", "agent_error", "nonzero_exit")


def derive(
    verdict: RunVerdict,
    *,
    cancelled: bool = False,
    hard_error: str | None = None,
    early_stop: str | None = None,
    stream_cut: bool = False,
) -> tuple[str, bool]:
    """Return (subtype, is_error); pure and total.

    Cancel beats a hard error beats an early stop beats a cut stream. `hard_error` and
    `early_stop` are the subtypes these would give. Only `success` and `cancelled` are no error,
    as in the source of the rule.
    """
    if verdict == "ok":
        subtype = "success"
    elif cancelled:
        subtype = "cancelled"
    elif verdict == "nonzero_exit":
        subtype = "error"
    elif verdict == "agent_no_output":
        subtype = "error_during_execution"
    elif hard_error is not None:
        subtype = hard_error
    elif early_stop is not None:
        subtype = early_stop
    elif stream_cut:
        subtype = "stream_cut"
    else:
        subtype = "error_during_execution"
    return subtype, subtype not in ("success", "cancelled")


class DecidingRow(Protocol):
    """What is needed of `triage.table.Row`."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str | None: ...
    @property
    def agent(self) -> Mapping[str, Any] | None: ...


def agent_block(run: AgentRun, row: DecidingRow, signals: object = None) -> dict[str, Any]:
    """Return the `agent` object of an ordinary verdict, whichever row won."""
    if row.agent is None:
        return conclude(run, None).to_dict()
    return conclude(run, row.agent, rule=row.id, title=row.title).to_dict()


def conclude(
    run: AgentRun,
    decision: Mapping[str, Any] | None,
    *,
    rule: str | None = None,
    title: str | None = None,
) -> AgentVerdict:
    """Return the agent verdict for the `agent:` block of the row that took the run.

    `decision` has `verdict`, and for early stops known by a text `subtype` and `early_stop`. None
    means that no row of the agent chapter took it: `nonzero_exit`, or `ok` where nothing says that
    the run was ended (a table without the chapter).
    """
    if decision is None:
        ended = run.exit == "nonzero" or run.cancelled
        decision = {"verdict": "nonzero_exit" if ended else "ok"}
    verdict: RunVerdict = decision["verdict"]
    stop = decision.get("early_stop")
    if stop is not None:
        # The row knows the guard's own text, which is why the error is no hard one.
        subtype, is_error = derive(verdict, early_stop=decision.get("subtype"))
        reason: str | None = stop
    else:
        subtype, is_error = derive(
            verdict,
            cancelled=run.cancelled or decision.get("subtype") == "cancelled",
            hard_error=run.hard_error,
            early_stop=run.early_stop_subtype,
            stream_cut=run.stream_cut,
        )
        early = verdict == "agent_error" and run.hard_error is None
        reason = run.early_stop if early else None
    return AgentVerdict(
        verdict=verdict,
        subtype=subtype,
        early_stop=reason is not None,
        early_stop_reason=reason,
        is_error=is_error,
        native_status=run.native_status,
        exit_code=run.exit_code,
        rule=rule,
        why=_why(run, verdict, title, reason, subtype),
        flags=_flags(run, verdict),
        run=run,
    )


def _why(
    run: AgentRun, verdict: RunVerdict, title: str | None, reason: str | None, subtype: str
) -> str:
    said = title or {
        "ok": "the run ended in order",
        "nonzero_exit": "the run was ended from outside"
        if run.cancelled
        else f"the CLI exited with {run.exit_code}, and no event of the stream says why",
    }.get(verdict, verdict)
    if run.mode == "binary" and verdict == "agent_no_output":
        said = f"{said}: what it printed is no text"
    if reason is not None and reason not in said:
        said = f"{said}: {reason}"
    text = run.error_text if verdict == "agent_error" else ""
    if "\n" in text or len(text) > _LONGEST_SAID:
        from triage.redact import mask

        # What loses its lines or its end must lose its secrets first.
        text = mask(text[:_LONGEST_MASKED])
    first = text.split("\n", 1)[0].strip()
    # A CLI that names no error but its subtype has said nothing new.
    if first and first not in (reason, subtype):
        said = f"{said}: {bounded(' '.join(first.split()), _LONGEST_SAID)}"
    return said


def _flags(run: AgentRun, verdict: RunVerdict) -> tuple[str, ...]:
    ok = verdict == "ok"
    flags = {
        "empty_final_message": run.last_message_empty,
        "result_missing": run.result_missing,
        # Tokens were paid for and no text arrived: lost, not absent.
        "text_lost": verdict == "agent_no_output" and run.usage.get("output_tokens", 0) > 1
        and not run.thinking,
        "permission_denied": run.permission_denials > 0,
        "nothing_done": ok and run.turns == 0,
        "policy_stop": run.policy_stop is not None,
        "possibly_recovered": run.possibly_recovered,
        "contradiction": (run.is_error is False and run.error_events > 0 and not run.cancelled)
        or (run.exit == "zero" and verdict == "agent_error")
        or (run.exit == "nonzero" and run.terminal_seen and run.error_events == 0
            and run.early_stop is None and not run.cancelled),
        "no_terminal_event": run.stream_cut,
        "cut_line": run.cut_line,
        "long_lines": run.long_lines > 0,
        "exit_unknown": run.exit_code is None,
        "format_unknown": run.format == "generic",
    }  # fmt: skip
    return tuple(name for name, holds in flags.items() if holds)


def error_capture(run: AgentRun) -> Capture | None:
    """Return the run's error as an ordinary failed call, None where the stream names no error.

    The rows that serve ordinary calls then say which §N it is (rate limit, expiry, network …).
    """
    if not run.error_text.strip():
        return None
    return Capture(exit_code=run.exit_code or 1, stderr=run.error_text + "\n")
