"""Run as the command line runs: a process that does nothing else, between a caller and a command.

Its streams, its status, its environment and its death must be those of the command.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from programs.census import alive_with
from test_again import HUNG

from triage.capture_data import capture_from_mapping

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parent.parent
LONG = bool(os.environ.get("TRIAGE_LONG"))
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}


def line(argv: list[str], **options: Any) -> list[str]:
    return [sys.executable, str(PROGRAMS / "as_cli.py"), json.dumps(options), *argv]


def through(argv: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(line(argv, **options), capture_output=True, env=ENV, timeout=120)


def begun(argv: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start it and wait for the first byte of the command."""
    process = subprocess.Popen(
        line(argv, **options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV
    )
    assert process.stdout is not None
    assert process.stdout.read(1) == b"*"
    return process


# --- faithfulness --------------------------------------------------------------------------------


def a_program(number: int) -> str:
    """Random bytes to both streams in random pieces, then a random status or signal."""
    chance = random.Random(number)
    # Bytes that are the same in every run, without importing `random`, which costs a second start.
    steps = ["import os, signal, _sha3"]
    for _ in range(chance.randint(0, 8)):
        size = chance.choice([0, 1, 10, 1000, 70_000])
        steps += [
            f"data = _sha3.shake_128(b'{chance.random()}').digest({size})",
            f"while data: data = data[os.write({chance.choice([1, 2])}, data):]",
        ]
    if chance.random() < 0.6:
        steps.append(f"os._exit({chance.choice([0, 1, 2, 7, 64, 99, 126, 127, 200, 255])})")
    else:
        signum = chance.choice(["SIGTERM", "SIGKILL", "SIGINT", "SIGABRT", "SIGRTMIN"])
        if signum != "SIGKILL":
            steps.append(f"signal.signal(signal.{signum}, signal.SIG_DFL)")
        steps.append(f"os.kill(os.getpid(), signal.{signum}); signal.pause()")
    return "\n".join(steps)


@pytest.mark.parametrize("part", range(4))
def test_status_and_both_streams_are_those_of_the_command_without_us(part: int) -> None:
    from triage.run import run

    for number in range(part, 1000 if LONG else 60, 4):
        argv = [sys.executable, "-ISc", a_program(number)]
        alone = subprocess.run(argv, capture_output=True, timeout=60)
        outcome = run(argv, classify=lambda _: HUNG, effect="unknown")
        capture = outcome.captures[0]
        status = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
        assert (capture.exit_code, outcome.exit_status) == (alone.returncode, status)
        assert read(capture.stdout) == alone.stdout
        assert read(capture.stderr) == alone.stderr
        if number // 4 % 15 == 0:
            seen = through(argv, retry=False)
            assert (seen.returncode, seen.stdout) == (status, alone.stdout)
            assert seen.stderr == alone.stderr


def read(source: Any) -> bytes:
    return source if isinstance(source, bytes) else bytes(source.read())


def test_the_environment_of_the_command_is_the_callers_to_the_letter() -> None:
    alone = subprocess.run(["env"], capture_output=True, env=ENV).stdout
    assert through(["env"]).stdout == alone


def test_descriptors_the_caller_passed_on_are_passed_on() -> None:
    read_end, write_end = os.pipe()
    subprocess.run(
        line(["bash", "-c", f"echo through >&{write_end}"]),
        pass_fds=[write_end],
        env=ENV,
        timeout=60,
        check=True,
    )
    assert os.read(read_end, 100) == b"through\n"
    os.close(read_end)
    os.close(write_end)


def test_output_of_any_length_goes_through_in_bounded_memory(tmp_path: Path) -> None:
    through(["true"])  # compiles the table, where nobody has yet: that is not what is measured
    size = 2 << 30 if LONG else 64 << 20
    script = f"yes 'a line of output, and another one' | head -c {size}"
    peak = tmp_path / "peak"
    with subprocess.Popen(
        line(["sh", "-c", script], peak=str(peak)), stdout=subprocess.PIPE, env=ENV
    ) as process:
        assert process.stdout is not None
        seen = digest(process.stdout)
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE) as alone:
        assert alone.stdout is not None
        assert seen == digest(alone.stdout)
    assert process.returncode == 0
    assert int(peak.read_text()) < 100 << 10


def digest(stream: Any) -> tuple[int, str]:
    total, size = hashlib.sha256(), 0
    while part := stream.read(1 << 20):
        total.update(part)
        size += len(part)
    return size, total.hexdigest()


def test_a_reader_that_stops_reading_stops_the_command() -> None:
    script = (
        f"{sys.executable} {PROGRAMS / 'as_cli.py'} '{{}}' yes | head -n 3; echo ${{PIPESTATUS[0]}}"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, env=ENV, timeout=60)
    assert done.stdout == b"y\ny\ny\n141\n"
    assert done.stderr == b""


# --- signals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_to_us_reaches_the_command_and_then_ends_us_the_same_way(
    name: str, tmp_path: Path
) -> None:
    number = getattr(signal, name)
    report = tmp_path / "report.jsonl"
    trap = f"trap 'echo heard; exit 5' {name[3:]}; printf '*'; while :; do sleep 0.05; done"
    process = begun(["bash", "-c", trap], report=str(report))
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert out == b"heard\n"
    assert process.returncode == -number
    capture = capture_from_mapping(json.loads(report.read_text()))
    assert (capture.stdout, capture.exit_code) == ("*heard\n", 5)


def test_a_command_that_does_not_listen_is_killed_and_the_capture_is_still_there(
    tmp_path: Path,
) -> None:
    report = tmp_path / "report.jsonl"
    token = f"600.{time.time_ns()}"
    deaf = f"trap '' TERM; (setsid sleep {token} &); printf '*'; while :; do sleep 0.05; done"
    process = begun(["bash", "-c", deaf], report=str(report), grace_s=0.3)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    assert json.loads(report.read_text())["exit_code"] == -signal.SIGKILL
    assert alive_with(token) == []


def test_what_the_command_leaves_behind_after_a_signal_is_ended_too() -> None:
    token = f"600.{time.time_ns()}"
    line = f"(setsid sleep {token} &); sleep {token} & printf '*'; wait"
    process = begun(["bash", "-c", line], grace_s=30)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert alive_with(token) == []


def test_a_second_signal_ends_its_patience(tmp_path: Path) -> None:
    deaf = "trap '' INT; printf '*'; while :; do sleep 0.05; done"
    process = begun(["bash", "-c", deaf], grace_s=1000)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT


def test_a_library_call_that_is_interrupted_ends_its_command_and_raises() -> None:
    token = f"600.{time.time_ns()}"
    program = (
        "from triage.run import run\n"
        f"line = \"trap 'echo heard >&2; exit' INT; printf '*' >&2; sleep {token} & wait\"\n"
        "try: run(['bash', '-c', line], passthrough=(2, 2))\n"
        "except KeyboardInterrupt: print('raised')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV
    )
    assert process.stderr is not None
    assert process.stderr.read(1) == b"*"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert (out, process.returncode) == (b"raised\n", 0)
    assert alive_with(token) == []


def test_what_was_ignored_stays_ignored() -> None:
    script = "printf '*'; sleep 0.5; echo unharmed"
    process = subprocess.Popen(
        ["nohup", *line(["sh", "-c", script])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=ENV,
    )
    assert process.stdout is not None
    assert process.stdout.read(1) == b"*"
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=60)
    assert (out, process.returncode) == (b"unharmed\n", 0)


def test_a_caller_that_ignores_its_children_does_not_cost_us_the_status() -> None:
    ignoring = "import os, signal, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{ignoring}os.execv(sys.argv[1], sys.argv[1:])", *line(["false"])],
        env=ENV,
        timeout=60,
    )
    assert done.returncode == 1


def test_a_signal_during_a_wait_ends_the_wait(tmp_path: Path) -> None:
    # Without a hint a rate limit is waited for a minute.
    limited = "printf '*'; echo 'HTTP 429: Too Many Requests' >&2; exit 1"
    process = begun(["sh", "-c", limited], effect="read_only", max_wait_s=600)
    time.sleep(0.5)
    process.terminate()
    process.communicate(timeout=50)
    assert process.returncode == -signal.SIGTERM


def test_orphans_fall_to_this_process_only_while_the_command_runs() -> None:
    program = (
        "from triage.offspring import become_subreaper, is_subreaper\n"
        "from triage.run import run\n"
        "def once():\n"
        "    run(['true'], exclusive=True, on_stdout=print)\n"
        "    return is_subreaper()\n"
        "print(is_subreaper(), once(), become_subreaper(), once())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=ENV)
    assert done.stdout == b"False False True True\n"
