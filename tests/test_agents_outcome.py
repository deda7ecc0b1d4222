"""`derive` is the one place subtypes and is_error come from: pinned as a whole cross product."""

from __future__ import annotations

from itertools import product

import pytest

from triage.agents.model import AgentRun, RunVerdict
from triage.agents.outcome import VERDICTS, conclude, derive, error_capture

EDE = "error_during_execution"
EMT = "error_max_turns"

# The source's own table (seed 002): (exit, early stop) -> (subtype, is_error). There an exit status
# of 1 means a hard error and 130 a cancel, both of which beat an early stop.
SOURCE = [
    (0, None, "success", False),
    (0, EDE, EDE, True),
    (0, EMT, EMT, True),
    (130, None, "cancelled", False),
    (130, EDE, "cancelled", False),
    (1, None, "error", True),
    (1, EDE, "error", True),
]


@pytest.mark.parametrize(("status", "early", "subtype", "is_error"), SOURCE)
def test_the_source_table_holds(
    status: int, early: str | None, subtype: str, is_error: bool
) -> None:
    cancelled = status == 130
    hard = "error" if status == 1 else None
    verdict: RunVerdict = "ok"
    if cancelled:
        verdict = "nonzero_exit"
    elif hard or early:
        verdict = "agent_error"
    found = derive(verdict, cancelled=cancelled, hard_error=hard, early_stop=early)
    assert found == (subtype, is_error)


def expected(verdict: str, cancelled: bool, hard: str | None, early: str | None, cut: bool) -> str:
    """The same rule as a list of who beats whom, written the other way round."""
    if verdict == "ok":
        return "success"
    if verdict == "agent_error" and not cancelled:
        for subtype in (hard, early, "stream_cut" if cut else None):
            if subtype:
                return subtype
        return EDE
    if cancelled:
        return "cancelled"
    return {"nonzero_exit": "error", "agent_no_output": EDE}[verdict]


def test_every_combination_of_verdict_cancel_error_stop_and_cut() -> None:
    seen = set()
    for verdict, cancelled, hard, early, cut in product(
        VERDICTS, (False, True), (None, "error", EDE), (None, EDE, EMT), (False, True)
    ):
        subtype, is_error = derive(
            verdict, cancelled=cancelled, hard_error=hard, early_stop=early, stream_cut=cut
        )
        assert subtype == expected(verdict, cancelled, hard, early, cut)
        assert is_error is (subtype not in ("success", "cancelled"))
        seen.add(subtype)
    assert seen == {"success", "cancelled", "error", EDE, EMT, "stream_cut"}


def run(**fields: object) -> AgentRun:
    base: dict[str, object] = {"format": "codex", "mode": "events", "exit_code": 0}
    return AgentRun(**{**base, **fields})  # type: ignore[arg-type]


def test_without_a_row_a_status_is_all_that_is_known() -> None:
    assert conclude(run(exit_code=3), None).verdict == "nonzero_exit"
    assert conclude(run(exit_code=3), None).subtype == "error"
    assert conclude(run(exit_code=3), None).rule is None


def test_without_a_row_a_run_cut_from_outside_is_cancelled_even_without_a_status() -> None:
    verdict = conclude(run(exit_code=None, cancelled=True, timed_out=True), None)
    assert (verdict.verdict, verdict.subtype) == ("nonzero_exit", "cancelled")
    assert verdict.is_error is False


def test_a_row_that_knows_a_guard_by_its_text_sets_subtype_and_reason() -> None:
    decision = {"verdict": "agent_error", "subtype": EMT, "early_stop": "max_turns"}
    verdict = conclude(run(hard_error=EDE, error_events=1), decision, rule="r", title="t")
    assert (verdict.subtype, verdict.early_stop, verdict.early_stop_reason) == (
        EMT,
        True,
        "max_turns",
    )


def test_a_hard_error_takes_the_early_stop_away() -> None:
    verdict = conclude(
        run(hard_error=EDE, early_stop="max_turns", early_stop_subtype=EMT),
        {"verdict": "agent_error"},
    )
    assert (verdict.subtype, verdict.early_stop) == (EDE, False)


def test_the_diagnostic_line_names_verdict_subtype_cause_format_and_status() -> None:
    verdict = conclude(
        run(error_events=1, error_text="401 Unauthorized\nmore"),
        {"verdict": "agent_error"},
        rule="agent-hard-error",
        title="the agent run failed",
    )
    assert verdict.line() == (
        "triage agent: agent_error (error_during_execution): "
        "the agent run failed: 401 Unauthorized [codex, exit 0]"
    )


def test_the_result_has_the_keys_of_ruling_21_and_the_metrics() -> None:
    data = conclude(run(usage={"output_tokens": 3}, cost_usd=0.1, turns=2), None).to_dict()
    wanted = {
        "verdict", "subtype", "early_stop", "is_error", "native_status", "exit_code", "counts",
        "usage", "result", "evidence", "cost_usd", "duration_ms", "turns",
    }  # fmt: skip
    assert wanted <= set(data)
    assert data["usage"] == {"output_tokens": 3}


def test_the_error_text_becomes_an_ordinary_failed_call() -> None:
    capture = error_capture(run(error_text="HTTP 429"))
    assert capture is not None
    assert (capture.exit_code, capture.stderr) == (1, "HTTP 429\n")
    assert error_capture(run(exit_code=1)) is None


def test_an_unknown_status_stays_unknown() -> None:
    assert run(exit_code=None).exit == "unknown"
    assert "exit_unknown" in conclude(run(exit_code=None), {"verdict": "ok"}).flags
