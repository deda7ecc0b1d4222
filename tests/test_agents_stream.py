"""A stream in, one run out: whatever stands around the events, whatever the bytes."""

from __future__ import annotations

import gzip
import json
import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.agents import lines
from triage.agents.cases import jsonl
from triage.agents.model import AgentRun
from triage.agents.stream import RunReader, cut_by_exit
from triage.errors import UsageError
from triage.judge import judge_run

CODEX = [
    {"type": "thread.started", "thread_id": "t"},
    {"type": "turn.started"},
    {"type": "item.completed", "item": {"id": "i", "type": "agent_message", "text": "Größe: 3"}},
    {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 2}},
]


def read(
    data: str | bytes, format: str | None = None, exit_code: int | None = 0, **known: object
) -> AgentRun:
    reader = RunReader(format)
    reader.feed(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return reader.finish(exit_code, **known)  # type: ignore[arg-type]


def essence(run: AgentRun) -> tuple[object, ...]:
    return (
        run.format, run.text_count, run.tool_calls, run.terminal_seen, run.stream_cut,
        run.error_events, run.early_stop, run.result, dict(run.usage), run.last_message_empty,
    )  # fmt: skip


PLAIN = read(jsonl(CODEX))


def test_the_plain_stream() -> None:
    assert essence(PLAIN) == (
        "codex", 1, 0, True, False, 0, None, "Größe: 3", {"input_tokens": 5, "output_tokens": 2},
        False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "data",
    [
        "Welcome to the tool!\n\n" + jsonl(CODEX) + "bye\n",
        jsonl(CODEX).replace("\n", "\r\n"),
        "\ufeff" + jsonl(CODEX),
        jsonl(CODEX).replace("\n", "\nwarning: retrying 401 Unauthorized [3/5]\n"),
        "Reading additional input from stdin..." + jsonl(CODEX),
        "\x1b[?25l\x1b[2K" + jsonl(CODEX),
        jsonl(CODEX).replace("}\n{", "}{"),
        jsonl(CODEX).replace("\n", "\n\x00\n"),
        jsonl(CODEX).rstrip("\n"),
        "\n" * 50 + jsonl(CODEX),
        jsonl([*CODEX[:2], {"type": "from.the.future", "error": "x"}, 7, [], None, *CODEX[2:]]),
    ],
    ids=[
        "banner", "crlf", "bom", "stderr between", "glued stderr", "escapes", "lost line feeds",
        "nul lines", "no last line feed", "blank lines", "unknown events",
    ],
)  # fmt: skip
def test_what_surrounds_the_events_changes_nothing(data: str) -> None:
    assert essence(read(data)) == essence(PLAIN)


def test_utf16_from_a_powershell_redirect_is_the_same_run() -> None:
    assert essence(read(("\ufeff" + jsonl(CODEX)).encode("utf-16-le"))) == essence(PLAIN)


def test_bytes_that_are_no_utf8_are_survived() -> None:
    run = read(jsonl(CODEX).encode("latin-1"))
    assert run.result == "Gr��e: 3"
    assert run.terminal_seen


def test_unknown_events_bad_lines_and_a_cut_line_are_counted() -> None:
    data = jsonl(CODEX[:2]) + 'noise\n{"type":"new.kind"}\n{"type":"item.comp'
    run = read(data, exit_code=1)
    assert (run.unknown_events, run.unknown_types) == (1, ("new.kind",))
    assert (run.bad_lines, run.cut_line, run.lines) == (2, True, 5)
    assert run.stream_cut


def test_evidence_says_where_each_thing_stood() -> None:
    data = "banner\n" + jsonl(CODEX)
    run = read(data)
    text = next(item for item in run.evidence if item.kind == "text")
    assert text.line == 4
    assert json.loads(data.encode()[text.start : text.end])["item"]["text"] == "Größe: 3"
    assert [item.kind for item in run.evidence] == ["text", "terminal"]


def test_lone_surrogates_and_control_characters_can_be_printed_afterwards() -> None:
    event = json.dumps(CODEX[2]).replace("Gr\\u00f6\\u00dfe", "\\ud83d \\u0000")
    assert "\\ud83d" in event
    run = read(jsonl(CODEX[:2]) + event + "\n" + jsonl(CODEX[3:]))
    assert run.result is not None
    json.dumps(run.facts()).encode()
    run.result.encode()


def test_a_line_over_the_cap_is_read_as_far_as_it_was_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_CAP", 2000)
    monkeypatch.setattr(lines, "HEAD_CAP", 500)
    result = {"type": "result", "subtype": "success", "is_error": False, "session_id": "s",
              "result": "x" * 5000}  # fmt: skip
    run = read(jsonl([result]), "claude-code")
    assert (run.long_lines, run.terminal_seen, run.text_count) == (1, True, 1)
    assert run.result is not None and set(run.result) == {"x"}


def test_a_line_over_the_cap_that_never_ends_is_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_CAP", 2000)
    monkeypatch.setattr(lines, "HEAD_CAP", 500)
    event = '{"type":"result","subtype":"success","is_error":false,"result":"' + "x" * 5000
    run = read(event, "claude-code")
    assert (run.terminal_seen, run.stream_cut, run.cut_line) == (False, True, True)


def test_memory_stays_bounded_over_many_events_and_endless_lines() -> None:
    reader = RunReader("codex")
    reader.feed(jsonl(CODEX[:2]).encode())
    tool = {"type": "item.completed", "item": {"type": "command_execution", "text": "y" * 2000}}
    block = b"".join(
        json.dumps({**tool, "item": {**tool["item"], "id": f"i{n}"}}).encode() + b"\n"
        for n in range(500)
    )
    reader.feed(block)
    tracemalloc.start()
    for number in range(20):
        reader.feed(block.replace(b'"id": "i', b'"id": "i%d-' % number))
    for _ in range(40):
        reader.feed(b"z" * (1 << 20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 3 * lines.LINE_CAP
    assert reader.finish(0).tool_calls == 21 * 500


def test_a_stream_of_unknown_objects_is_given_up_early() -> None:
    run = read("{}\n" * 30_000)
    assert (run.unknown_events, run.known_events) == (30_000, 0)


def test_a_tool_call_is_counted_once_per_id() -> None:
    started = {"type": "item.started", "item": {"id": "a", "type": "web_search"}}
    ended = {"type": "item.completed", "item": {"id": "a", "type": "web_search"}}
    assert read(jsonl([*CODEX[:2], started, ended, *CODEX[2:]])).tool_calls == 1


def test_the_status_of_the_process_and_that_of_the_stream_are_kept_apart() -> None:
    events = [{"type": "result", "sessionId": "s", "exitCode": 3, "usage": {}}]
    run = read(jsonl(events), "copilot-cli", exit_code=0)
    assert (run.exit_code, run.native_exit, run.hard_error) == (0, 3, "error_during_execution")
    honest = read(jsonl(events), "copilot-cli", exit_code=3)
    assert honest.hard_error is None


def test_an_unknown_status_stays_unknown() -> None:
    run = read(jsonl(CODEX), exit_code=None)
    assert (run.exit_code, run.exit) == (None, "unknown")


@pytest.mark.parametrize("code", [130, 137, 143, 129, 124, -2, -9, -15, 3221225786])
def test_statuses_that_mean_ended_from_outside(code: int) -> None:
    assert cut_by_exit(code)
    assert read(jsonl(CODEX), exit_code=code).cancelled


@pytest.mark.parametrize("code", [None, 0, 1, 2, 134, 139, 255, -1, -11, 10**30])
def test_statuses_that_do_not(code: int | None) -> None:
    assert not cut_by_exit(code)


def test_plain_text_and_nothing_are_modes_of_their_own() -> None:
    assert read("Hello.\n").mode == "text"
    assert read("Hello.\n").text_count == 1
    assert read(" \n\t\n").mode == "empty"
    assert read("").mode == "empty"


@pytest.mark.parametrize("format", [None, "aider"])
@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 40,
        b"\x7fELF\x02\x01\x01"
        + bytes(200)
        + b"\x03\0>\0\x01\0\0\0\xc0\x6b" * 20
        + b".text\0.data\0",
        gzip.compress(random.Random(7).randbytes(4000), mtime=0),
    ],
    ids=["every byte", "a program", "an archive"],
)
def test_bytes_that_are_no_text_are_no_answer(data: bytes, format: str | None) -> None:
    run = read(data, format=format)
    assert (run.mode, run.text_count, run.tool_calls) == ("binary", 0, 0)
    judged = judge_run(data, exit_code=0, format=format)
    assert (judged.verdict, judged.rule) == ("agent_no_output", "agent-no-output")
    assert "is no text" in judged.why


@pytest.mark.parametrize(
    "data",
    [
        "Готово: тесты проходят.\n".encode("cp1251"),
        b"\0" * 5000 + b"Done.\0\nAll tests pass.\0\n",
        b"\x1b[32mDone\x1b[0m\x07 50%\x08\x08\x08100%\r\n",
        b"The file holds a NUL (\0) where a blank belongs; I have removed it.\n",
    ],
    ids=["a code page", "padding", "a terminal's", "one control character"],
)
def test_text_with_odd_bytes_is_an_answer(data: bytes) -> None:
    assert read(data).mode == "text"
    assert judge_run(data, exit_code=0).verdict == "ok"


def test_a_format_nobody_knows_is_an_error_of_the_caller() -> None:
    with pytest.raises(UsageError):
        RunReader("nosuch")


@given(st.binary(max_size=400), st.sampled_from([None, "claude-code", "aider", "goose"]))
def test_any_bytes_give_a_run(data: bytes, format: str | None) -> None:
    run = read(data, format, exit_code=None, stderr=data.decode("latin-1"))
    assert run.lines <= data.count(b"\n") + data.count(b"\x0a\x00") + 1
    assert json.dumps(run.facts())


@pytest.mark.parametrize(
    "data",
    [b"[" * 1_000_000, b'{"a":' * 200_000, b'"' * 500_000, b"\x00" * 500_000, b"{}" * 300_000],
)
def test_hostile_bytes_end_soon(data: bytes) -> None:
    assert read(data, "claude-code").size == len(data)
