"""The bundle that is handed on: everything verbatim, nothing secret, and readable by ourselves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_again import HUNG

from triage.capture_data import capture_from_mapping
from triage.engine import classify
from triage.escalation import capture_data
from triage.model import Capture
from triage.outcome import Outcome
from triage.run import run

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def ended(script: str, **options: object) -> Outcome:
    return run(["sh", "-c", script], effect="unknown", **options)  # type: ignore[arg-type]


def captures_in(report: str) -> list[Capture]:
    return [capture_from_mapping(json.loads(line)) for line in report.splitlines()]


def test_every_attempt_is_a_line_that_classify_takes_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "page").write_text("a page\n" * 100)
    outcome = run(["less", str(tmp_path / "page")], pty=True, timeout_s=1.0, env={"TERM": "xterm"})
    assert len(outcome.attempts) == 2
    again = captures_in(outcome.report(raw=True))
    for capture, attempt in zip(again, outcome.attempts, strict=True):
        assert capture.warnings == ()
        verdict = classify(capture)
        assert (verdict.row, verdict.rule) == (attempt.verdict.row, attempt.verdict.rule)
    assert again[1].previous[0]["rule"] == outcome.attempts[0].verdict.rule


def test_a_line_is_labelled_with_what_was_said_of_it() -> None:
    (line,) = ended("echo 'bash: jqq: command not found' >&2; exit 127").report().splitlines()
    data = json.loads(line)
    assert data["expected"]["row"] == 4
    assert data["why"].startswith("Start 1 of 1 (first), ended by itself, status 127: failure")


@settings(max_examples=60)
@given(stdout=st.binary(max_size=200), stderr=st.binary(max_size=200))
def test_streams_come_back_byte_for_byte(stdout: bytes, stderr: bytes) -> None:
    capture = Capture(exit_code=1, command=("tool",), stdout=stdout, stderr=stderr)
    data = json.loads(json.dumps(capture_data(capture, raw=True)))
    back = capture_from_mapping(data)
    assert as_bytes(back.stdout) == stdout
    assert as_bytes(back.stderr) == stderr


@pytest.mark.parametrize("merged", [b"text\r\n", b"\xff\xfe not text \x80"])
def test_a_merged_stream_stays_one(merged: bytes) -> None:
    capture = Capture(exit_code=None, merged=merged, timed_out=True, pty=True)
    back = capture_from_mapping(json.loads(json.dumps(capture_data(capture, raw=True))))
    assert as_bytes(back.merged) == merged
    assert (back.stdout, back.stderr, back.exit_code) == ("", "", None)


def as_bytes(stream: object) -> bytes:
    assert isinstance(stream, (str, bytes))
    return stream.encode() if isinstance(stream, str) else stream


def test_secrets_are_masked_in_streams_words_and_text_but_not_when_raw() -> None:
    script = f"echo token {SECRET}; printf 'bytes \\377 {SECRET}' >&2; exit 1"
    outcome = ended(script)
    for report in (outcome.report(), outcome.report(text=True), json.dumps(outcome.to_dict())):
        assert SECRET not in report
        assert "[masked:" in report
    assert SECRET.encode() not in as_bytes(captures_in(outcome.report())[0].stderr)
    raw = outcome.report(raw=True)
    assert SECRET in raw
    assert captures_in(raw)[0].stdout == f"token {SECRET}\n"


def test_a_masked_report_gets_the_same_verdict() -> None:
    outcome = ended(f"echo 'HTTP 401: Bad credentials for {SECRET}' >&2; exit 1")
    masked = classify(captures_in(outcome.report())[0])
    assert (masked.row, masked.rule) == (outcome.verdict.row, outcome.verdict.rule)


def test_a_cut_is_in_the_report_and_a_spooled_stream_can_be_read_twice() -> None:
    outcome = ended("yes 0123456 | head -c 600000; exit 3", limit_bytes=300_000)
    first, second = outcome.report(), outcome.report()
    assert first == second
    (capture,) = captures_in(first)
    assert capture.truncated == outcome.captures[0].truncated
    assert len(capture.stdout) == 300_000


def test_the_text_shows_both_ends_of_a_long_stream_and_what_to_do() -> None:
    text = ended("seq 20000; echo '```' >&2; exit 3").report(text=True)
    assert text.startswith("# failure: ")
    assert "\n1\n2\n3\n" in text
    assert "\n19999\n20000\n" in text
    assert "characters left out" in text
    # A fence in the output does not end the block it stands in.
    assert "````\n```\n````\n" in text
    assert "next step (" in text


def test_data_of_an_outcome_holds_every_attempt_and_says_what_was_done() -> None:
    outcome = run(
        ["sh", "-c", "echo out; exit 1"],
        effect="read_only",
        classify=lambda _: replace(HUNG, table={"hash": "x"}),
    )
    data = json.loads(json.dumps(outcome.to_dict()))
    assert data["effect"] == {"effect": "read_only", "why": outcome.effect_why}
    assert [attempt["how"] for attempt in data["attempts"]] == ["first", "bundle"]
    assert data["attempts"][0]["capture"]["stdout"] == "out\n"
    assert data["verdict"]["retry"]["why"] == data["done"]
    assert data["exit_status"] == 1
