"""`triage agent` from the outside: every verdict in every format, with and without --exit-zero."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from page_servers import Site
from programs.census import alive_with

from triage.cli.app import run_app

ROOT = Path(__file__).parent.parent
LONG = bool(os.environ.get("TRIAGE_LONG"))
INIT = {"type": "system", "subtype": "init", "session_id": "s", "claude_code_version": "2.1.0"}
DONE = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
SAID = {"type": "assistant", "session_id": "s", "message": DONE}
USAGE = {"input_tokens": 7, "output_tokens": 9}


def result(**fields: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, "session_id": "s",
            "num_turns": 1, "total_cost_usd": 0.25, "usage": USAGE, **fields}  # fmt: skip


class Run(NamedTuple):
    """A stream with its status; the verdict, the subtype, our status, why, and the table's row."""

    events: list[dict[str, Any]]
    exit: str
    verdict: str
    subtype: str
    status: int
    why: str
    rule: str
    row: int | None


LIMIT = "You've hit your session limit · resets 3:43am (UTC)"
RUNS = {
    "ok": Run([INIT, SAID, result(result="Done.")], "0", "ok", "success", 0,
              "the agent run ended in order", "agent-ok", None),
    "no output": Run([INIT, result(result="")], "0", "agent_no_output", "error_during_execution",
                     90, "the agent ended having said and done nothing", "agent-no-output", 2),
    "no output, status unknown": Run(
        [INIT, result(result="")], "null", "agent_no_output", "error_during_execution", 90,
        "the agent ended having said and done nothing", "agent-no-output", 2),
    "error": Run([INIT, result(is_error=True, result=LIMIT)], "0", "agent_error",
                 "error_during_execution", 91,
                 f"the agent run failed although its status does not say so: {LIMIT}",
                 "agent-hard-error", 2),
    "early stop": Run([INIT, SAID, result(subtype="error_max_turns", is_error=True)], "0",
                      "agent_error", "error_max_turns", 91,
                      "the agent run was cut short by its own guard: max_turns",
                      "agent-early-stop", 2),
    "cut": Run([INIT, SAID], "0", "agent_error", "stream_cut", 91,
               "the agent's stream ends without its terminal event", "agent-stream-cut", 2),
    "status": Run([INIT, SAID, result(result="Done.")], "3", "nonzero_exit", "error", 92,
                  "the CLI exited with 3, and no event of the stream says why",
                  "unclassified", 16),
    "cancelled": Run([INIT, SAID], "143", "nonzero_exit", "cancelled", 92,
                     "the agent run was cancelled", "agent-cancelled", 3),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TRIAGE_AUDIT", "TRIAGE_FORMAT"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("exit_zero", [False, True], ids=["", "--exit-zero"])
@pytest.mark.parametrize("form", ["human", "--json", "TRIAGE_FORMAT"])
@pytest.mark.parametrize("name", RUNS)
def test_every_verdict_in_every_format_with_and_without_exit_zero(
    name: str,
    form: str,
    exit_zero: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = RUNS[name]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in run.events))
    if form == "TRIAGE_FORMAT":
        monkeypatch.setenv("TRIAGE_FORMAT", "json")
    words = [str(path), "--exit", run.exit, *["--json"] * (form == "--json")]
    status = run_app(["agent", *words, *["--exit-zero"] * exit_zero])
    out, err = capsys.readouterr()
    assert status == (0 if exit_zero else run.status)

    shown = run.verdict if run.verdict == "ok" else f"{run.verdict} ({run.subtype})"
    told = "unknown" if run.exit == "null" else run.exit
    assert err == f"triage agent: {shown}: {run.why} [claude-code, exit {told}]\n"

    if form == "human":
        place = "no row" if run.row is None else f"row {run.row}"
        assert out.startswith(f"{shown}: {run.why}\n  claude-code: ")
        assert f"\n  {place}" in out
        assert f"rule {run.rule}\n" in out
        assert ("\n  do: " in out) is (run.verdict != "ok")
        return
    data = json.loads(out)["data"]
    assert next(iter(data)) == "verdict"
    assert (data["verdict"], data["subtype"], data["why"]) == (run.verdict, run.subtype, run.why)
    assert data["exit_code"] == (None if run.exit == "null" else int(run.exit))
    assert (data["triage"]["rule"], data["triage"]["row"]) == (run.rule, run.row)
    assert data["triage"]["agent"]["verdict"] == run.verdict
    ended = run.events[-1].get("type") == "result"
    assert data["usage"] == (USAGE if ended else {})
    assert (data["turns"], data["cost_usd"]) == ((1, 0.25) if ended else (None, None))


def test_an_unknown_status_is_never_called_0(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert run_app(["agent"]) == 90
    out, err = capsys.readouterr()
    assert err.endswith("[generic, exit unknown]\n")
    assert "exits 0" not in out + err
    # The table is told that this was an agent's run, though nothing in the stream says so.
    assert "row 2, §1, rule agent-no-output" in out


def test_the_verb_and_classify_take_the_same_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for run in RUNS.values():
        text = "".join(json.dumps(event) + "\n" for event in run.events)
        code = None if run.exit == "null" else int(run.exit)
        path = tmp_path / "capture.json"
        path.write_text(json.dumps({"exit_code": code, "stdout": text}))
        assert run_app(["classify", "--json", str(path)]) == 0
        data = json.loads(capsys.readouterr().out)["data"]
        assert (data["rule"], data["agent"]["verdict"], data["agent"]["subtype"]) == (
            run.rule, run.verdict, run.subtype)  # fmt: skip


# --- the audit file and the preview --------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "rule", "mode"),
    [("error", "agent-hard-error", 19), ("status", "unclassified", None), ("ok", None, None)],
)
def test_the_audit_file_has_the_rule_whoever_took_the_run(
    name: str, rule: str | None, mode: int | None, tmp_path: Path
) -> None:
    path, audit = tmp_path / "run.jsonl", tmp_path / "audit.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in RUNS[name].events))
    run_app(["agent", str(path), "--exit", RUNS[name].exit, "--audit", str(audit)])
    events = [json.loads(line) for line in audit.read_text().splitlines()] if rule else []
    assert audit.exists() is bool(rule)
    assert [(e["event"], e["rule"], e["mode"], e["verdict"]) for e in events] == (
        [("agent.turn_failed", rule, mode, RUNS[name].verdict)] if rule else []
    )


@pytest.mark.parametrize("exit_zero", [False, True], ids=["", "--exit-zero"])
@pytest.mark.parametrize("name", ["ok", "status"])
def test_a_broken_preview_is_named_with_its_address_in_the_one_line(
    name: str, exit_zero: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in RUNS[name].events))
    with Site({}) as site:
        url = site.url
        words = ["agent", str(path), "--exit", RUNS[name].exit, "--web", "--probe", url, "--json"]
        status = run_app([*words, *["--exit-zero"] * exit_zero])
    out, err = capsys.readouterr()
    assert status == (0 if exit_zero else {"ok": 95, "status": 92}[name])
    (line,) = err.splitlines()
    first, second = f"preview_error (entry): {url}", RUNS[name].verdict
    if name == "status":
        first, second = second, first
    assert line.startswith(f"triage agent: {first}")
    assert second in line
    data = json.loads(out)["data"]
    assert (data["verdict"], data["preview"]["verdict"]) == (RUNS[name].verdict, "preview_error")


# --- running the agent ---------------------------------------------------------------------------


def agent(*words: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "triage", "agent", *words],
        capture_output=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        **options,
    )


def test_a_command_is_run_with_every_word_and_its_output_passes_through() -> None:
    done = agent("--", "echo", "agent", "--json", "--", "agent")
    assert done.stdout == b"agent --json -- agent\n"
    assert done.stderr.startswith(b"ok: ")
    assert done.returncode == 0


def test_a_command_that_only_reads_is_not_said_to_change_things() -> None:
    done = agent("--timeout", "0.5", "--", "sleep", "60")
    assert done.returncode == 92
    assert b"(cancelled)" in done.stderr
    assert b"changes things" not in done.stderr


WRITER = """
import json, sys, time
for event in json.loads(sys.argv[1]):
    text = json.dumps(event) + "\\n"
    for at in range(0, len(text), 40):
        sys.stdout.write(text[at:at + 40]); sys.stdout.flush(); time.sleep(0.002)
sys.stdout.write('{"type": "assist'); sys.stdout.flush()
time.sleep(600 + float(sys.argv[2]))
"""


def test_an_agent_that_writes_in_pieces_and_is_ended_midway_is_judged_by_what_it_said() -> None:
    token = f"0.{time.time_ns()}"
    events = json.dumps([INIT, SAID])
    words = ["--timeout", "2", "--json", "--", sys.executable, "-c", WRITER, events, token]
    done = agent(*words)
    data = json.loads(done.stdout)["data"]
    assert done.returncode == 92
    assert (data["verdict"], data["subtype"]) == ("nonzero_exit", "cancelled")
    assert (data["format"], data["counts"]["texts"]) == ("claude-code", 1)
    assert (data["timed_out"], data["triage"]["row"]) == (True, 3)
    assert alive_with(token) == []


# A text and an error at the start, then so many bytes of tool output, then an orderly end.
LONG_RUN = """
import json, sys
size, failed = int(sys.argv[1]), sys.argv[2] == "failed"
def put(**event): sys.stdout.write(json.dumps(event) + "\\n")
put(type="step_start", sessionID="s", timestamp=1, part={"type": "step-start"})
put(type="text", sessionID="s", timestamp=2, part={"type": "text", "text": "I begin."})
filler = "x" * 100_000
state = {"status": "completed", "input": {}, "output": filler}
def call(number):
    put(type="tool_use", sessionID="s", timestamp=4,
        part={"type": "tool", "tool": "bash", "callID": f"c{number}", "state": state})
for number in range(size // 200_000): call(number)
if failed:
    put(type="error", sessionID="s", timestamp=3,
        error={"name": "APIError", "data": {"message": "Invalid API key.", "statusCode": 401}})
for number in range(size // 200_000): call(-1 - number)
put(type="step_finish", sessionID="s", timestamp=5, part={"type": "step-finish", "reason": "stop"})
"""

PEAK = """
import sys
from pathlib import Path
from triage.__main__ import main
status = main()
text = Path("/proc/self/status").read_text()
Path(sys.argv[0]).write_text(text.partition("VmHWM:")[2].split()[0])
sys.exit(status)
"""


@pytest.mark.parametrize("way", ["command", "file", "stdin"])
def test_a_long_run_is_judged_whole_in_bounded_memory(way: str, tmp_path: Path) -> None:
    size = 1 << 30 if LONG else 24 << 20
    writer = [sys.executable, "-c", LONG_RUN, str(size)]
    stream, peak = tmp_path / "run.jsonl", tmp_path / "peak"

    def judged(end: str) -> tuple[int, dict[str, Any], str]:
        words = {"command": ["--", *writer, end], "file": [str(stream)], "stdin": ["-"]}[way]
        if way != "command":
            words += ["--exit", "0"]
            with stream.open("wb") as out:
                subprocess.run([*writer, end], stdout=out, check=True)
        # argv[0] of the program is where it writes its peak.
        program = f"import sys; sys.argv[0] = {str(peak)!r}\n{PEAK}"
        with (stream if way == "stdin" else Path(os.devnull)).open("rb") as stdin:
            done = subprocess.run(
                [sys.executable, "-c", program, "agent", "--json", *words],
                stdin=stdin,
                capture_output=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                timeout=600,
            )
        return done.returncode, json.loads(done.stdout)["data"], done.stderr.decode()

    judged("fine")  # compiles the table, where nobody has yet: that is not what is measured
    status, data, line = judged("failed")
    # The error stands in the middle, far from either end that a capture keeps.
    assert (status, data["verdict"], data["triage"]["row"]) == (91, "agent_error", 2)
    assert "Invalid API key." in line
    status, data, _ = judged("fine")
    assert (status, data["verdict"], data["format"]) == (0, "ok", "opencode")
    assert data["counts"]["tool_calls"] == 2 * (size // 200_000)
    assert int(peak.read_text()) < 100 << 10
    # pytest keeps the folders of three sessions.
    stream.unlink(missing_ok=True)


@pytest.mark.parametrize(
    "words",
    [
        ["/none/such"],
        ["a", "b"],
        ["--format", "none"],
        ["--exit", "soon"],
        ["--stderr", "/none"],
        ["--rules", "/none"],
        ["--web"],
        ["--probe", "http://127.0.0.1:9/"],
        ["--bogus"],
        ["--exit", "3", "--", "true"],
        ["--timed-out", "--", "true"],
        ["--timeout", "3"],
        ["--timeout", "0", "--", "true"],
        ["--"],
    ],
    ids=" ".join,
)
def test_bad_input_ends_with_2_and_one_message(words: list[str]) -> None:
    done = agent(*words, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.startswith(b"triage: ")
