"""Exit statuses of `triage` itself, documented and frozen."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["AGENT_STATUS", "MEANINGS", "VERDICT_STATUS", "ExitStatus", "read_status"]


class ExitStatus(IntEnum):
    """What `triage` ends with; a child's own status is passed through by `run` as it is."""

    OK = 0
    FAILED = 1
    USAGE = 2
    PARTIAL = 3
    RULES = 4
    NOT_FOUND = 5
    VERDICT_FAILURE = 80
    VERDICT_AMBIGUOUS = 81
    VERDICT_INSUFFICIENT = 82
    AGENT_NO_OUTPUT = 90
    AGENT_ERROR = 91
    AGENT_NONZERO_EXIT = 92
    PREVIEW_ERROR = 95


MEANINGS: dict[ExitStatus, str] = {
    ExitStatus.OK: "done; with --exit-code also: the call did not fail",
    ExitStatus.FAILED: "a check found something (lint, test, docs --check), or triage itself broke",
    ExitStatus.USAGE: "bad arguments or an unreadable input; nothing was done",
    ExitStatus.PARTIAL: "some captures of a stream could not be read; the others were classified",
    ExitStatus.RULES: "a rule file is wrong; nothing was classified",
    ExitStatus.NOT_FOUND: "no such row, mode or case",
    ExitStatus.VERDICT_FAILURE: "--exit-code: the call failed",
    ExitStatus.VERDICT_AMBIGUOUS: "--exit-code: which stage failed can't be told",
    ExitStatus.VERDICT_INSUFFICIENT: "--exit-code: too little was captured",
    ExitStatus.AGENT_NO_OUTPUT: "agent: it ended without text and without a tool call",
    ExitStatus.AGENT_ERROR: "agent: an error or an early stop inside the stream",
    ExitStatus.AGENT_NONZERO_EXIT: "agent: it ended with a non-zero status, or was cut off",
    ExitStatus.PREVIEW_ERROR: "probe: the page is down, blank, or lacks what it refers to",
}

VERDICT_STATUS = {
    "failure": ExitStatus.VERDICT_FAILURE,
    "not_failure": ExitStatus.OK,
    "ambiguous": ExitStatus.VERDICT_AMBIGUOUS,
    "insufficient": ExitStatus.VERDICT_INSUFFICIENT,
}

AGENT_STATUS = {
    "ok": ExitStatus.OK,
    "agent_no_output": ExitStatus.AGENT_NO_OUTPUT,
    "agent_error": ExitStatus.AGENT_ERROR,
    "nonzero_exit": ExitStatus.AGENT_NONZERO_EXIT,
}


def read_status(good: int, bad: int) -> ExitStatus:
    """The status of a verb that read so many captures and could not read so many others."""
    if not bad:
        return ExitStatus.OK
    return ExitStatus.PARTIAL if good else ExitStatus.USAGE
