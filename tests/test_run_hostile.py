"""Output that wants to be executed: it is shown, quoted or left out, and never run (ruling 15)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from triage.model import Action
from triage.outcome import Outcome
from triage.run import run

SMUGGLED = [
    "$(touch canary)",
    "`touch canary`",
    "; touch canary; #",
    "' ; touch canary ; '",
    '" ; touch canary ; "',
    "| touch canary",
    "&& touch canary",
    "x\ntouch canary\n",
    "-exec=touch canary",
    "--output=canary",
    "$IFS&touch${IFS}canary",
    "a b\tc*?[x]~",
    "rm -rf canary-folder",
]
# Lines from which some row captures a value, with the status they come with.
SAID = [
    (127, "bash: {}: command not found"),
    (1, "Error: Cannot find module '{}'"),
    (1, "ModuleNotFoundError: No module named '{}'"),
    (128, "fatal: Unable to create '{}/index.lock': File exists."),
    (6, "curl: (6) Could not resolve host: {}"),
    (7, "connect to {} port 443 failed: Connection refused"),
    (2, "error: unknown option '{}'"),
    (2, "ls: cannot access '{}': No such file or directory"),
    (1, "HTTP 429 Too Many Requests, retry after {}"),
    (1, "No space left on device: '{}'"),
    (1, "tool requires version {} or newer"),
    (1, "Permission denied: '{}'"),
]
FIELDS = ["fix_command", "reauth_command", "refresh_command", "suggestion", "hint"]


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """A program that prints what it is given and fails, in a folder where a canary would show."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "tool"
    program.write_text(
        '#!/bin/sh\nprintf %s "$ON_STDOUT"\nprintf %s "$ON_STDERR" >&2\nexit "$CODE"\n'
    )
    program.chmod(0o755)
    (tmp_path / "canary-folder").mkdir()
    return tmp_path


def failed(folder: Path, code: int, stdout: str = "", stderr: str = "") -> Outcome:
    return run(
        ["tool", "get", "item"],
        cwd=folder,
        env={
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "ON_STDOUT": stdout,
            "ON_STDERR": stderr,
            "CODE": str(code),
        },
        effect="read_only",
        max_wait_s=0.0,
    )


def unharmed(folder: Path) -> bool:
    return not (folder / "canary").exists() and (folder / "canary-folder").is_dir()


def recorded(folder: Path, action: Action) -> list[str] | None:
    """Run the rendered line with every program replaced by one that notes its arguments."""
    assert action.argv is not None
    assert action.shell is not None
    subprocess.run(["sh", "-n", "-c", action.shell], check=True)
    stubs = folder / "stubs"
    stubs.mkdir(exist_ok=True)
    note = folder / "note"
    note.unlink(missing_ok=True)
    stub = stubs / Path(action.argv[0]).name
    stub.write_text(f"#!/bin/sh\nprintf '%s\\0' \"$@\" >{note}\n")
    stub.chmod(0o755)
    for real in ("timeout", "env", "setsid"):
        if not (stubs / real).exists():
            (stubs / real).symlink_to(f"/usr/bin/{real}")
    subprocess.run(
        ["/bin/sh", "-c", action.shell], env={"PATH": str(stubs)}, cwd=folder, capture_output=True
    )
    words = note.read_text().split("\0")[:-1] if note.exists() else None
    stub.unlink()
    return words


@pytest.mark.parametrize("smuggled", SMUGGLED)
def test_a_captured_value_is_one_argument_or_not_used(smuggled: str, tool: Path) -> None:
    rendered = 0
    for code, said in SAID:
        action = failed(tool, code, stderr=said.format(smuggled)).verdict.action
        if action.argv is not None:
            assert recorded(tool, action) == list(action.argv[1:])
            rendered += 1
        assert unharmed(tool)
    assert rendered >= 2


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("code", [1, 8, 13])
def test_a_command_that_the_output_asks_for_is_shown_and_never_run(
    field: str, code: int, tool: Path
) -> None:
    wanted = "rm -rf canary-folder; touch canary"
    error = {"code": "TOKEN_EXPIRED", "message": "no", field: wanted, "retryable": True}
    outcome = failed(tool, code, stdout=json.dumps({"ok": False, "error": error}))
    action = outcome.verdict.action
    assert (outcome.verdict.verdict, outcome.verdict.row) == ("failure", 1)
    assert [item.command for item in action.untrusted] == [wanted]
    assert wanted not in " ".join(action.argv or ())
    if action.argv is not None:
        assert recorded(tool, action) == list(action.argv[1:])
    assert unharmed(tool)


def test_an_envelope_after_the_real_one_runs_nothing_and_waits_for_nothing(tool: Path) -> None:
    real = json.dumps({"ok": False, "error": {"code": "PERMISSION_DENIED", "message": "no"}})
    fake = json.dumps(
        {
            "ok": False,
            "error": {
                "code": "RATE_LIMITED",
                "retry_after_ms": 10**12,
                "retryable": True,
                "fix_command": "touch canary",
            },
        }
    )
    outcome = failed(tool, 7, stdout=f"{real}\n{fake}\n")
    assert outcome.verdict.verdict == "failure"
    assert len(outcome.attempts) == 1
    assert unharmed(tool)


def test_a_wait_of_a_thousand_years_is_no_wait(tool: Path) -> None:
    heard: list[float] = []
    for after in ("99999999999", "1e308", "-5", "NaN", "9" * 400):
        outcome = run(
            ["sh", "-c", 'echo "HTTP 429: retry after $0 seconds" >&2; exit 1', after],
            effect="read_only",
            max_wait_s=0.5,
            on_wait=lambda left, _: heard.append(left),
        )
        assert len(outcome.attempts) == 1
    assert heard == []
    assert unharmed(tool)


def test_a_stream_that_steers_terminals_is_captured_as_it_is_and_reported_harmless() -> None:
    evil = "\x1b]0;title\x07\x1b[2J\x1b]52;c;cm0gLXJm\x07\u202egnp.exe"
    outcome = run(["printf", "%s", evil])
    assert outcome.captures[0].stdout == evil.encode()
    report = outcome.report(text=True)
    assert "\x1b" not in report
    assert "\u202e" not in report
