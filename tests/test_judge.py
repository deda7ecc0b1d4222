"""The judge's three doors lead to the same rows."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from triage.agents.cases import jsonl
from triage.agents.model import AgentRun
from triage.cache import load_table
from triage.errors import UsageError
from triage.judge import AGENT_CHAPTER, RunJudge, agent_row, ajudge_run, cause_of, judge_run

TABLE = load_table()
OK = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "Größe"}},
    {"type": "turn.completed", "usage": {"output_tokens": 2}},
]
LOST = [
    *OK[:2],
    {"type": "turn.failed", "error": {"message": "unexpected status 401 Unauthorized"}},
]


def test_text_bytes_path_file_and_pieces_are_the_same_stream(tmp_path: Path) -> None:
    text = jsonl(OK)
    path = tmp_path / "run.jsonl"
    path.write_bytes(text.encode())
    sources = [text.encode(), path, io.BytesIO(text.encode()), iter([text.encode()])]
    found = [judge_run(source, exit_code=0, table=TABLE).to_dict() for source in sources]
    assert found[0] == found[1] == found[2] == found[3]
    assert judge_run(text, exit_code=0, table=TABLE).verdict == "ok"


def test_evidence_counts_code_points_in_text_and_bytes_in_bytes() -> None:
    text = jsonl(OK)
    for source in (text, text.encode()):
        verdict = judge_run(source, exit_code=0, table=TABLE)
        end = next(item for item in verdict.run.evidence if item.kind == "terminal")
        piece = source[end.start : end.end]
        shown = piece.decode() if isinstance(piece, bytes) else piece
        assert shown.startswith('{"type":"turn.completed"') and shown.endswith("}")


def test_the_async_twin_agrees() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for byte in jsonl(LOST).encode():
            yield bytes([byte])

    async def both() -> list[dict[str, object]]:
        first = await ajudge_run(pieces(), exit_code=1, table=TABLE)
        second = await ajudge_run(jsonl(LOST).encode(), exit_code=1, table=TABLE)
        return [first.to_dict(), second.to_dict()]

    first, second = asyncio.run(both())
    assert first == second == judge_run(jsonl(LOST).encode(), exit_code=1, table=TABLE).to_dict()


def test_the_incremental_judge_knows_the_format_and_takes_text_too() -> None:
    judge = RunJudge(table=TABLE)
    assert judge.format is None
    judge.feed(jsonl(OK))
    assert judge.format == "codex"
    assert judge.finish(0).verdict == "ok"


def test_the_decision_is_a_row_of_the_agent_chapter() -> None:
    verdict = judge_run(jsonl(LOST), exit_code=0, table=TABLE)
    rows = {row.id: row for row in TABLE if row.chapter == AGENT_CHAPTER}
    assert verdict.rule in rows
    row = rows[verdict.rule]
    assert row.agent is not None and row.agent["verdict"] == verdict.verdict


def test_a_bare_status_is_taken_by_no_row_of_the_chapter() -> None:
    run = AgentRun(format="codex", mode="events", exit_code=7, text_count=1, terminal_seen=True)
    assert agent_row(run, TABLE) is None


def test_the_cause_is_named_by_the_rows_for_ordinary_calls() -> None:
    rate = AgentRun(format="x", mode="events", exit_code=1, error_text="HTTP 429 Too Many Requests")
    cause = cause_of(rate, TABLE)
    assert cause is not None and cause["mode"] == 19
    refused = AgentRun(format="x", mode="events", error_text="connect ECONNREFUSED 127.0.0.1:443")
    cause = cause_of(refused, TABLE)
    assert cause is not None and cause["mode"] == 31
    assert cause_of(AgentRun(format="x", mode="events"), TABLE) is None
    assert cause_of(AgentRun(format="x", mode="events", error_text="it went wrong"), TABLE) is None


def test_an_unknown_format_is_the_callers_error() -> None:
    with pytest.raises(UsageError):
        judge_run("", format="nosuch", table=TABLE)


WRITER = """
import sys, time
for line in {lines!r}:
    sys.stdout.write(line); sys.stdout.flush(); time.sleep(0.01)
time.sleep(60)
"""


def test_a_real_process_killed_midway_is_judged() -> None:
    text = jsonl(OK[:3])
    pieces = [text[i : i + 7] for i in range(0, len(text), 7)]
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER.format(lines=pieces)], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    judge = RunJudge(table=TABLE)
    seen = 0
    while seen < len(text.encode()):
        piece = child.stdout.read1()
        judge.feed(piece)
        seen += len(piece)
    child.kill()
    child.stdout.close()
    verdict = judge.finish(child.wait())
    assert (verdict.verdict, verdict.subtype) == ("nonzero_exit", "cancelled")
    assert verdict.run.text_count == 1


def test_the_line_for_stderr_is_one_line() -> None:
    verdict = judge_run(
        jsonl([{"type": "error", "sessionID": "s", "error": {"message": "a\nb\r\nc"}}]),
        exit_code=0,
        format="opencode",
        table=TABLE,
    )
    assert "\n" not in verdict.line()
    assert verdict.line().startswith("triage agent: agent_error (error_during_execution): ")
