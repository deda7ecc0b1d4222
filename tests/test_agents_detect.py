"""Whose stream is it? And: ordinary JSON is nobody's."""

from __future__ import annotations

from pathlib import Path

import pytest

from triage.agents.cases import AgentCase, jsonl, load_cases
from triage.agents.detect import detect, invoked
from triage.agents.gate import maybe_stream
from triage.command import parse_command

CASES = load_cases(Path(__file__).parent.parent / "corpus" / "agents")
# These streams hold no event that only their CLI prints.
NOT_TOLD = {
    "goose/error_event",
    "generic/unknown_agent_failed",
    "generic/unknown_agent_silent",
    "gemini-cli/json_document_cut",
}
TOLD = [case for case in CASES if "{" in case.stdout and case.id not in NOT_TOLD]
# Grok prints what Claude prints, a bare result of Qwen too: the verdict is the same.
ALIKE = {"claude-code": {"claude-code"}, "cursor-agent": {"cursor-agent", "claude-code"}}


@pytest.mark.parametrize("case", TOLD, ids=lambda case: case.id)
def test_each_stream_is_recognised_by_its_events(case: AgentCase) -> None:
    assert detect(case.stdout) in ALIKE.get(case.cli, {case.cli})
    assert detect(case.stdout.encode()) == detect(case.stdout)


ORDINARY = {
    "a test runner": jsonl([{"type": "start", "time": 0}, {"type": "testDone", "result": "error"},
                            {"type": "done", "success": False, "time": 9}]),
    "go test -json": jsonl([{"Action": "run", "Test": "T"}, {"Action": "fail", "Elapsed": 0.1}]),
    "cargo": jsonl([{"reason": "compiler-message", "message": {"level": "error", "message": "x"}}]),
    "terraform": jsonl([{"@level": "error", "@message": "Error: no", "type": "diagnostic"}]),
    "yarn": jsonl([{"type": "error", "data": "An unexpected error occurred"}]),
    "a log": jsonl([{"level": "error", "message": "boom", "type": "error"}]),
    "an error event": jsonl([{"type": "error", "message": "file not found"}]),
    "a result": jsonl([{"type": "result", "status": "ok"}]),
    "a result that failed": jsonl([{"type": "result", "success": False, "error": "no"}]),
    "a message log": jsonl([{"type": "message", "text": "hello", "user": "U1"}]),
    "a chat log": jsonl([{"role": "assistant", "content": "hello"}]),
    "kubectl watch": jsonl([{"type": "ADDED", "object": {"kind": "Pod"}}]),
    "docker events": jsonl([{"Type": "container", "Action": "die", "Actor": {}}]),
    "a webhook": jsonl([{"event": "push", "ref": "main"}]),
    "an API reply": '{"status":"ok","response":"fine"}',
    "an envelope": '{"ok":false,"error":{"type":"X","message":"no","code":41}}',
    "an API error": '{"error":{"type":"invalid_request","message":"no"}}',
    "a session": '{"session_id":"abc","user":"me"}',
    "a completion": '{"type":"complete"}',
    "geojson": '{"type":"FeatureCollection","features":[]}',
    "pretty JSON": '{\n  "type": "module",\n  "messages": []\n}\n',
    "messages of a linter": '[{"filePath":"a.js","messages":[{"ruleId":"x","severity":2}]}]',
    "plain text": "Error: something about type and event\n",
    "nothing": "",
    "bytes": "\x00\x01{\x02",
}  # fmt: skip


@pytest.mark.parametrize("text", ORDINARY.values(), ids=ORDINARY.keys())
def test_ordinary_output_is_no_agents_stream(text: str) -> None:
    assert detect(text) is None


def test_one_event_quoted_in_a_long_log_makes_no_stream_of_it() -> None:
    event = jsonl([{"type": "thread.started", "thread_id": "t"}])
    assert detect(event) == "codex"
    assert detect("collected 900 items\n" * 200 + event + "FAILED test_x\n" * 100) is None


def test_a_banner_before_the_events_does_not_hide_them() -> None:
    banner = "\n    __( O)>  new session\n   goose is ready\n"
    event = jsonl([{"type": "message", "message": {"role": "assistant", "content": []}}])
    assert detect(banner + event) == "goose"


def test_text_without_json_costs_no_look() -> None:
    assert not maybe_stream("x" * 100)
    assert not maybe_stream('{"a": 1}')
    assert maybe_stream('{"type": "x"}')


@pytest.mark.parametrize(
    ("command", "cli"),
    [
        ("claude -p 'fix it'", "claude-code"),
        ("cd repo && claude --print --output-format json 'x'", "claude-code"),
        ("codex exec --json 'x'", "codex"),
        ("codex -m gpt-x exec 'x'", "codex"),
        ("opencode run 'x'", "opencode"),
        ("gemini -p x -o json", "gemini-cli"),
        ("goose run -t x", "goose"),
        ("aider --message x", "aider"),
        ("timeout 60 agy -p x", "antigravity"),
        ("npx qwen -p x", "qwen-code"),
    ],
)
def test_a_command_that_starts_a_run(command: str, cli: str) -> None:
    found = invoked(parse_command(command).stages[-1])
    assert found is not None and found.id == cli


@pytest.mark.parametrize(
    "command",
    [
        "claude --version",
        "claude mcp list",
        "claude -p --help",
        "codex login",
        "opencode models",
        "claude -p x > out.json",
        "gemini",
        "pip install aider",
        "grep -p claude",
    ],
)
def test_a_command_that_starts_none_or_hides_its_output(command: str) -> None:
    assert invoked(parse_command(command).stages[-1]) is None
