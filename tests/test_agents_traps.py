"""The streams that break naive rules, each a named pair or case."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.agents.cases import load_cases
from triage.agents.model import AgentVerdict
from triage.cache import load_table
from triage.judge import judge_run

CASES = {case.id: case for case in load_cases(Path(__file__).parent.parent / "corpus" / "agents")}
TABLE = load_table()


def judged(name: str) -> AgentVerdict:
    case = CASES[name]
    return judge_run(
        case.stdout,
        exit_code=case.exit_code,
        stderr=case.stderr,
        timed_out=case.timed_out,
        format=case.cli,
        table=TABLE,
    )


@pytest.mark.parametrize("name", ["not_logged_in", "session_limit", "context_exhausted_on_resume"])
def test_1_subtype_success_with_is_error_and_a_text_is_an_error(name: str) -> None:
    verdict = judged(f"claude-code/{name}")
    assert verdict.native_status == "success"
    assert verdict.run.text_count > 0
    assert verdict.run.result is not None and verdict.run.error_text.startswith(verdict.run.result)
    assert verdict.verdict == "agent_error"


@pytest.mark.parametrize(
    "name", ["claude-code/retry_recovered", "codex/reconnect_recovered", "pi/retry_then_success"]
)
def test_2_error_words_in_the_stream_of_a_run_that_is_fine(name: str) -> None:
    verdict = judged(name)
    assert verdict.run.nonfatal_errors > 0
    assert verdict.verdict == "ok"


def test_3_the_same_event_shape_with_another_end() -> None:
    recovered = judged("codex/reconnect_recovered")
    failed = judged("codex/auth_failed_after_reconnects")
    assert "Reconnecting" in recovered.run.notices and "Reconnecting" in failed.run.notices
    assert (recovered.verdict, failed.verdict) == ("ok", "agent_error")


def test_4_status_error_without_an_error_object_and_exit_0() -> None:
    verdict = judged("gemini-cli/invalid_stream_exit0")
    assert (verdict.native_status, verdict.exit_code, verdict.verdict) == (
        "error",
        0,
        "agent_error",
    )


def test_5_an_error_as_content_block_behind_a_banner_with_a_complete_event() -> None:
    verdict = judged("goose/auth_401_exit0")
    assert verdict.run.bad_lines == 3
    assert verdict.run.terminal_seen
    assert verdict.verdict == "agent_error"


def test_6_a_sentinel_text_hides_the_emptiness_and_an_empty_text_is_none() -> None:
    fixed, before = (
        judged("clawcodex/empty_response"),
        judged("clawcodex/empty_response_before_fix"),
    )
    assert (fixed.run.text_count, fixed.verdict) == (1, "agent_error")
    assert (before.run.text_count, before.verdict) == (0, "agent_no_output")


def test_7_stickiness_and_precedence() -> None:
    assert judged("clawcodex/sticky_multi_prompt").subtype == "error_max_turns"
    assert judged("clawcodex/sticky_last_mapped_wins").subtype == "error_during_execution"
    assert judged("clawcodex/cancelled_after_early_stop_json").subtype == "cancelled"
    assert judged("claude-code/two_prompts_first_cut_short").early_stop_reason == "max_turns"
    assert judged("claude-code/early_stop_then_api_error").early_stop is False


def test_8_one_run_in_two_views() -> None:
    assert judged("claude-code/result_lost_text_streamed").verdict == "ok"
    assert judged("claude-code/result_lost_json").verdict == "agent_no_output"


@pytest.mark.parametrize(
    ("name", "verdict", "subtype"),
    [
        ("claude-code/killed_by_term", "nonzero_exit", "cancelled"),
        ("claude-code/cut_exit0", "agent_error", "stream_cut"),
        ("codex/interrupted_no_terminal", "nonzero_exit", "cancelled"),
    ],
)
def test_9_no_terminal_event(name: str, verdict: str, subtype: str) -> None:
    found = judged(name)
    assert not found.run.terminal_seen
    assert (found.verdict, found.subtype) == (verdict, subtype)


def test_10_text_and_a_finished_step_and_then_an_error() -> None:
    verdict = judged("opencode/text_then_504")
    assert verdict.run.terminal_seen and verdict.run.text_count == 1
    assert verdict.verdict == "agent_error"


def test_11_subtype_and_flag_contradict_each_other() -> None:
    verdict = judged("claude-code/max_turns_flag_false")
    assert verdict.run.is_error is False
    assert (verdict.verdict, verdict.is_error) == ("agent_error", True)
    assert "contradiction" in verdict.flags


def test_12_a_tool_without_text_is_output_and_thinking_is_not() -> None:
    assert judged("copilot-cli/tool_only_turn").verdict == "ok"
    assert judged("claude-code/tools_without_last_words").verdict == "ok"
    assert judged("claude-code/thinking_alone").verdict == "agent_no_output"


def test_where_the_sources_disagree_each_decision_stands() -> None:
    """One line per row of the table of disagreements between the three sources."""
    assert "empty_final_message" in judged("claude-code/tools_without_last_words").flags
    assert judged("claude-code/blank_text").verdict == "agent_no_output"
    assert "possibly_recovered" in judged("opencode/recovered_exit1").flags
    assert judged("opencode/recovered_exit1").verdict == "agent_error"
    assert judged("clawcodex/max_turns").exit_code == 0
    assert judged("clawcodex/cancelled").is_error is False
    assert judged("claude-code/zero_turns_nothing").verdict == "agent_no_output"
    assert judged("codex/reconnect_recovered").verdict == "ok"


def test_policy_stops_are_ok_because_the_operators_own_rule_worked() -> None:
    for name in ("claude-code/stop_hook", "clawcodex/hook_stopped"):
        assert judged(name).verdict == "ok"
    assert judged("claude-code/stop_hook").rule == "agent-stopped-by-policy"
