"""An agent run inside an ordinary capture."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from triage.agents.cases import jsonl
from triage.agents.model import AgentRun
from triage.model import Capture
from triage.signals import Signals

OK = jsonl(
    [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "Ok"}},
        {"type": "turn.completed", "usage": {"output_tokens": 2}},
    ]
)


def run_of(**fields: object) -> AgentRun | None:
    return Signals(Capture(**{"exit_code": 0, **fields})).agent  # type: ignore[arg-type]


def test_the_content_tells_without_a_command() -> None:
    run = run_of(stdout=OK)
    assert run is not None and (run.format, run.text_count) == ("codex", 1)


def test_the_command_tells_where_there_is_no_content() -> None:
    run = run_of(command="claude -p 'hello'")
    assert run is not None and (run.format, run.mode) == ("claude-code", "empty")


def test_the_last_stage_is_whose_output_it_is() -> None:
    assert run_of(command="cd repo && opencode run x", stdout="") is not None
    assert run_of(command="claude -p x > out.json", stdout="") is None
    assert run_of(command="claude -p x || true", stdout="") is None


@pytest.mark.parametrize(
    "command", ["cat run.jsonl", "tail -n 50 run.jsonl", "jq -c . run.jsonl", "kubectl logs job/a",
                "docker logs a", "echo \"$line\""]
)  # fmt: skip
def test_showing_a_stream_is_no_run(command: str) -> None:
    assert run_of(command=command, stdout=OK) is None


def test_a_filter_behind_the_agent_leaves_it_a_run() -> None:
    assert run_of(command="codex exec --json x | jq -c .", stdout=OK) is not None


def test_an_unknown_wrapper_script_may_run_an_agent() -> None:
    assert run_of(command="./ci/agent.sh", stdout="starting\n" + OK) is not None


@pytest.mark.parametrize(
    "stdout", ["", "plain text", '{"ok":false,"error":{"code":"X"}}', '{"type":"error"}']
)
def test_ordinary_calls_are_none(stdout: str) -> None:
    assert run_of(stdout=stdout, command="tool x") is None
    assert run_of(stdout=stdout) is None


def test_a_file_is_read_whole_beyond_the_window_and_put_back(tmp_path: Path) -> None:
    tool = jsonl([{"type": "item.completed", "item": {"type": "web_search", "text": "y" * 4000}}])
    start, end = OK.split('{"type":"item', 1)
    data = (start + tool * 3000 + '{"type":"item' + end).encode()
    assert len(data) > 9 << 20
    path = tmp_path / "run.jsonl"
    path.write_bytes(data)
    from_path = run_of(stdout=path)
    assert from_path is not None
    assert (from_path.tool_calls, from_path.size) == (3000, len(data))
    file = io.BytesIO(data)
    from_file = run_of(stdout=file)
    assert from_file is not None and from_file.tool_calls == 3000


def test_a_merged_capture_is_read_with_its_stderr_between() -> None:
    merged = OK.replace("\n", "\nwarning: slow\n", 2)
    run = run_of(merged=merged)
    assert run is not None and (run.terminal_seen, run.bad_lines) == (True, 2)


def test_evidence_is_in_the_units_of_the_source() -> None:
    text = "größe\n" + OK
    for source in (text, text.encode()):
        run = run_of(stdout=source)
        assert run is not None
        item = next(item for item in run.evidence if item.kind == "terminal")
        piece = source[item.start : item.end]
        assert (piece if isinstance(piece, bytes) else piece.encode()).startswith(
            b'{"type":"turn.c'
        )


def test_the_limit_of_the_caller_counts_as_a_time_out() -> None:
    run = run_of(exit_code=None, stdout=OK, silent_s=400.0, idle_limit_s=300.0)
    assert run is not None and (run.timed_out, run.cancelled) == (True, True)


def test_bytes_with_surrogates_and_nul_do_not_raise() -> None:
    assert run_of(stdout=OK.encode() + b"\xff\x00\xed\xa0\x80{") is not None
