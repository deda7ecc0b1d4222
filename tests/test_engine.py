"""The answers the table must give, and the laws of a verdict."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from triage import Capture, Verdict, classify
from triage.border import dump, masked_verdict
from triage.table import Table


@pytest.fixture(scope="module")
def schema(root: Path) -> Draft202012Validator:
    return Draft202012Validator(json.loads((root / "rules/schema/verdict.schema.json").read_text()))


def test_missing_program(table: Table) -> None:
    verdict = classify(Capture(exit_code=127, stderr="bash: jqq: command not found\n"), table)
    assert (verdict.verdict, verdict.row, verdict.mode) == ("failure", 4, 20)
    assert verdict.evidence[0].text == "bash: jqq: command not found"


def test_pager_is_rerun_once_with_the_bundle(table: Table) -> None:
    capture = Capture(
        exit_code=124, timed_out=True, command="git log", stdout="commit 1\ncommit 2\n(END)"
    )
    verdict = classify(capture, table)
    assert (verdict.row, verdict.mode, verdict.rule) == (3, 10, "hang-pager")
    assert "pager" in verdict.flags
    assert verdict.action.kind == "rerun_with_bundle"
    assert verdict.action.argv is not None
    assert verdict.action.argv == ("git", "log")
    assert verdict.action.env["GIT_PAGER"] == "cat"
    assert verdict.action.stdin == "null"
    assert (verdict.retry.may, verdict.retry.attempts_left) == (True, 1)


def test_expired_token_in_an_envelope(table: Table) -> None:
    stdout = '{"ok":false,"error":{"code":"TOKEN_EXPIRED","fix_command":"tool auth refresh"}}'
    verdict = classify(Capture(exit_code=8, stdout=stdout, command="tool ls"), table)
    assert (verdict.row, verdict.mode) == (1, 53)
    assert [item.command for item in verdict.action.untrusted] == ["tool auth refresh"]
    assert verdict.action.argv is None or "refresh" not in verdict.action.argv


def test_secondary_rate_limit_is_no_denial(table: Table) -> None:
    text = "gh: You have exceeded a secondary rate limit (HTTP 403)"
    verdict = classify(Capture(exit_code=1, stderr=text, command="gh api /x"), table)
    assert (verdict.row, verdict.mode) == (11, 19)
    assert verdict.action.wait_s == 60


def test_grep_without_a_match_did_not_fail(table: Table) -> None:
    verdict = classify(Capture(exit_code=1, command="grep -q x a.txt"), table)
    assert (verdict.verdict, verdict.row) == ("not_failure", None)


def test_compound_line_is_ambiguous(table: Table) -> None:
    verdict = classify(Capture(exit_code=1, command="node -e 'process.exit(1)' && rg x"), table)
    assert verdict.verdict == "ambiguous"


def test_trace_that_ends_in_a_refused_connection(table: Table) -> None:
    stderr = (
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n'
        "OSError: ECONNREFUSED: connection refused\n"
    )
    verdict = classify(Capture(exit_code=1, stderr=stderr, command="python a.py"), table)
    assert (verdict.row, verdict.modes[0]) == (8, 31)


def test_make_after_a_compiler_error(table: Table) -> None:
    stderr = "x.c:2:10: error: expected expression before ';'\nmake: *** [Makefile:2: x] Error 1\n"
    verdict = classify(Capture(exit_code=2, stderr=stderr, command="make"), table)
    assert (verdict.row, verdict.rule) == (16, "reported-failure")


def test_german_ls_error(table: Table) -> None:
    stderr = "ls: Zugriff auf 'fehlt' nicht möglich: Datei oder Verzeichnis nicht gefunden\n"
    verdict = classify(Capture(exit_code=2, stderr=stderr, command="ls fehlt"), table)
    assert (verdict.row, verdict.mode) == (15, 57)
    assert verdict.action.env["LC_ALL"] == "C"


def test_coloured_json_after_an_update_banner(table: Table) -> None:
    stdout = 'A new version (2.0.0) is available\n\x1b[1m{"items":[1]}\x1b[0m\n'
    verdict = classify(Capture(exit_code=0, stdout=stdout, command="tool ls --json"), table)
    assert (verdict.row, verdict.mode) == (9, 41)
    assert verdict.payload == {"items": [1]}


def test_json_cut_at_the_pipe_size(table: Table) -> None:
    stdout = ('{"items":["' + "x" * 70_000)[:65_536]
    verdict = classify(Capture(exit_code=0, stdout=stdout, command="tool ls --json"), table)
    assert (verdict.row, verdict.rule) == (10, "cut-by-pipe")
    assert verdict.action.kind in ("redirect_to_file", "verify_state")


@pytest.mark.parametrize(
    "text", ["request took 4033ms", "SyntaxError: Unexpected token '}'", "port 4030 is open"]
)
def test_numbers_and_words_without_context(table: Table, text: str) -> None:
    verdict = classify(Capture(exit_code=1, stderr=text, command="tool x"), table)
    rows = {verdict.row, *(item["row"] for item in verdict.also)}
    assert rows.isdisjoint({11, 12})


def test_server_that_listens(table: Table) -> None:
    capture = Capture(
        exit_code=137, timed_out=True, stdout="Listening on http://localhost:3000\n",
        command="npm run dev",
    )  # fmt: skip
    verdict = classify(capture, table)
    assert (verdict.verdict, verdict.rule) == ("not_failure", "server-listening")
    assert "timed_out" in verdict.flags
    assert verdict.action.kind == "start_in_background"


def test_fragment_is_no_evidence(table: Table) -> None:
    stdout = '{"items":[{"ok":true,"id":1},{"ok":false,"id":2},{"i'
    verdict = classify(Capture(exit_code=0, stdout=stdout, command="tool ls --json"), table)
    assert verdict.row == 10
    assert verdict.payload is None


@pytest.mark.parametrize(
    ("status", "ok", "contradicts"), [(0, False, True), (3, True, True), (1, False, False)]
)
def test_contradictions_are_flagged(
    table: Table, status: int, ok: bool, contradicts: bool
) -> None:
    verdict = classify(Capture(exit_code=status, stdout=json.dumps({"ok": ok})), table)
    assert ("contradiction" in verdict.flags) is contradicts
    assert verdict.verdict == "failure"


def test_weak_caller_gets_the_fallback(table: Table) -> None:
    capture = Capture(exit_code=1, stderr="gh: API rate limit exceeded (HTTP 429)", command="gh x")
    strong, weak = classify(capture, table), classify(capture, table, tier="A")
    assert strong.tier == "C"
    assert weak.action.kind == "fallback"
    assert strong.fallback is not None
    assert weak.action.text.startswith(strong.fallback)
    assert "Not known to be read-only" in weak.action.text


def test_second_identical_failure_stops(table: Table) -> None:
    capture = Capture(exit_code=124, timed_out=True, command="git log", stdout="a\n(END)")
    first = classify(capture, table)
    again = classify(replace(capture, previous=(first.to_dict(),)), table)
    assert first.retry.may
    assert not again.retry.may
    assert again.action.kind == "escalate"
    assert "repeated" in again.flags


def test_evidence_spans_index_the_source(table: Table) -> None:
    stderr = "\x1b[31mfatal:\x1b[0m größe \x1b[1mconnect ECONNREFUSED 127.0.0.1:1\x1b[0m\n"
    for source in (stderr, stderr.encode()):
        found = classify(Capture(exit_code=1, stderr=source), table).evidence[0]
        part = source[found.start : found.end]
        text = part.decode() if isinstance(part, bytes) else part
        assert "ECONNREFUSED" in text


def test_masked_capture_gets_the_same_verdict(table: Table) -> None:
    token = "ghp_" + "a1B2" * 9
    raw = Capture(exit_code=1, stderr=f"Authorization: Bearer {token}\nHTTP 401: Bad credentials")
    verdict = classify(raw, table)
    printed = masked_verdict(verdict)
    assert token not in dump(printed)
    hidden = classify(replace(raw, stderr=str(raw.stderr).replace(token, "[masked:token]")), table)
    assert (hidden.rule, hidden.row, hidden.mode) == (verdict.rule, verdict.row, verdict.mode)


STATUSES = st.one_of(
    st.none(), st.integers(-300, 300), st.sampled_from([0xC0000005, -1073741819, 9009, 10**5000])
)
HOSTILE = st.one_of(
    st.text(max_size=300),
    st.binary(max_size=300),
    st.sampled_from(
        ["[" * 4000, "{" * 4000, '{"ok":' * 3000, "\x1b[" * 2000, "\ud800\udfff", "9" * 6000,
         "\0" * 99]
    ),
    st.lists(
        st.sampled_from(
            ["Traceback (most recent call last):\n", "error: ", '{"ok":false}', "HTTP 403", "\r",
             "(END)", "usage: x\n", "\x1b[1m", "429", "é", "\udcff", "Permission denied\n",
             "[", "}", '"']
        ),
        max_size=30,
    ).map("".join),
)  # fmt: skip
COMMANDS = st.one_of(
    st.none(),
    st.text(max_size=120),
    st.lists(st.text(max_size=20), max_size=5).map(tuple),
    st.sampled_from(["grep x", "a && b || c", "curl -s x | jq .", "$(", "'", "git log; true"]),
)


@settings(max_examples=400)
@given(status=STATUSES, stdout=HOSTILE, stderr=HOSTILE, command=COMMANDS, timed_out=st.booleans())
def test_classify_never_raises(
    table: Table,
    schema: Draft202012Validator,
    status: int | None,
    stdout: Any,
    stderr: Any,
    command: Any,
    timed_out: bool,
) -> None:
    capture = Capture(
        exit_code=status, stdout=stdout, stderr=stderr, command=command, timed_out=timed_out
    )
    verdict = classify(capture, table)
    assert isinstance(verdict, Verdict)
    printed = json.loads(dump(masked_verdict(verdict)))
    schema.validate({**printed, "payload": None})


def test_same_capture_same_verdict(table: Table) -> None:
    capture = Capture(exit_code=1, stderr="error: unknown option '--x'\n", command="tool --x")
    assert classify(capture, table).to_dict() == classify(capture, table).to_dict()


def test_what_leaves_is_json_for_every_reader() -> None:
    assert dump({"a": [float("nan"), float("inf")], "b": 1.5}) == '{"a":[null,null],"b":1.5}'
    assert json.loads(dump({"payload": 10**6000, "row": 1}))["payload"] is None


@pytest.mark.parametrize("merged", ["Exit code 1\n", b"Exit code 1\n", "\n[exit code: 1]\n"])
def test_the_line_of_a_harness_is_no_word_of_the_command(merged: str | bytes) -> None:
    verdict = classify(Capture(exit_code=None, merged=merged, command="grep -n panic main.go"))
    assert (verdict.verdict, verdict.rule) == ("not_failure", "search-found-nothing")


def test_a_find_behind_the_line_of_a_harness_keeps_its_place() -> None:
    merged = "Exit code 2\nls: cannot access 'x': No such file or directory\n"
    verdict = classify(Capture(exit_code=None, merged=merged, command="ls x"))
    (found, *_) = verdict.evidence
    assert merged[found.start : found.end] == found.text
