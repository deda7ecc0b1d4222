"""`subprocess_run` is `subprocess.run`, and knows why it failed."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from triage.drop_in import CompletedCall, subprocess_run


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((["sh", "-c", "echo out; echo err >&2; exit 3"],), {"capture_output": True}),
        (("echo $0 $HOME; exit 4",), {"shell": True, "stdout": subprocess.PIPE, "text": True}),
        ((["cat"],), {"input": b"in\xff", "stdout": subprocess.PIPE}),
        ((["cat"],), {"input": "text", "encoding": "utf-8", "capture_output": True}),
        ((["sh", "-c", "echo a; echo b >&2"],), {"stdout": -1, "stderr": subprocess.STDOUT}),
        ((["true"],), {}),
        ((["sh", "-c", "kill -9 $$"],), {}),
        (([Path("/bin/echo"), b"bytes"],), {"stdout": subprocess.PIPE, "cwd": Path("/")}),
        ((), {"args": ["sh", "-c", "exit 3"], "timeout": 60}),
    ],
)
def test_the_result_is_that_of_subprocess_run(args: Any, kwargs: Any) -> None:
    alone = subprocess.run(*args, **kwargs)
    with_us = subprocess_run(*args, **kwargs)
    assert isinstance(with_us, subprocess.CompletedProcess)
    assert vars(alone).items() <= vars(with_us).items()
    expected = "not_failure" if alone.returncode == 0 else "failure"
    assert with_us.verdict.verdict == expected


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((["no-such-program-here"],), {}),
        ((["true"],), {"cwd": "/no/such/folder"}),
        ((["true"],), {"no_such_option": 1}),
        ((["true"],), {"input": b"x", "stdin": subprocess.PIPE}),
        ((["echo", "a\0b"],), {}),
        ((), {}),
    ],
)
def test_it_raises_what_subprocess_run_raises(args: Any, kwargs: Any) -> None:
    with pytest.raises(Exception) as alone:
        subprocess.run(*args, **kwargs)
    with pytest.raises(Exception) as with_us:
        subprocess_run(*args, **kwargs)
    assert type(with_us.value) is type(alone.value)
    assert str(with_us.value) == str(alone.value)


def test_a_failure_that_is_checked_carries_its_verdict() -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        subprocess_run(
            ["sh", "-c", "echo 'bash: jqq: command not found' >&2; exit 127"],
            check=True,
            capture_output=True,
        )
    error: Any = caught.value
    assert type(error) is subprocess.CalledProcessError
    assert (error.returncode, error.stderr) == (127, b"bash: jqq: command not found\n")
    assert error.verdict.row == 4


def test_a_limit_that_strikes_carries_the_verdict_of_a_hang() -> None:
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        subprocess_run(["sh", "-c", "echo so far; exec sleep 600"], timeout=1.0, stdout=-1)
    error: Any = caught.value
    assert (error.timeout, error.stdout) == (1.0, b"so far\n")
    assert error.verdict.row == 3


def test_the_verdict_is_made_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def noted(capture: object) -> str:
        asked.append(capture)
        return "the verdict"

    monkeypatch.setattr("triage.engine.classify", noted)
    done = subprocess_run(["false"])
    assert asked == []
    assert [done.verdict, done.verdict] == ["the verdict"] * 2
    assert len(asked) == 1


def test_a_shell_line_and_its_words_are_told_apart() -> None:
    assert subprocess_run("exit 1", shell=True).capture.command == "exit 1"
    assert subprocess_run(["exit 1", "zero"], shell=True).capture.command == "exit 1"
    assert subprocess_run(["sh", "-c", "exit 1"]).capture.command == ("sh", "-c", "exit 1")


def test_it_is_printed_and_checked_like_the_original() -> None:
    done: CompletedCall = subprocess_run(["false"])
    assert "args=['false'], returncode=1" in repr(done)
    with pytest.raises(subprocess.CalledProcessError):
        done.check_returncode()


def test_importing_the_package_does_not_import_subprocess() -> None:
    program = "import sys, triage; print('subprocess' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"False\n"
    assert inspect.getdoc(subprocess_run)


def test_a_hangup_is_told_from_a_status_that_nobody_had() -> None:
    done = subprocess_run(["sh", "-c", "kill -HUP $$"], capture_output=True)
    assert done.returncode == -1
    assert (done.capture.exit_code, done.verdict.rule) == (129, "killed")
