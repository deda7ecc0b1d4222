"""After a limit nothing of the command is alive, however hard it tried to stay."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from programs.census import alive_with, descriptors
from test_run_alone import ENV, line

from triage.run import run

BROOD = Path(__file__).parent / "programs" / "brood.py"
RUNS = 200 if os.environ.get("TRIAGE_LONG") else 5
CHILDREN = 50
LIMIT_S, GRACE_S = 2.0, 0.4
# What the issue allows, and the time a loaded machine may take to do anything at all.
WITHIN_S = LIMIT_S + GRACE_S + 1.0 + 20.0


def brood(token: str) -> list[str]:
    # -I: no site, no user's start-up files; 50 forks are quick then.
    return [sys.executable, "-I", str(BROOD), token, str(CHILDREN)]


def test_of_fifty_children_none_is_left_run_after_run_and_no_descriptor() -> None:
    run(["true"])
    before = descriptors()
    for _ in range(RUNS):
        token = str(time.time_ns())
        began = time.monotonic()
        # The kind that drops its environment as well is out of reach for a library call.
        outcome = run(
            [*brood(token), "marked"], timeout_s=LIMIT_S, grace_s=GRACE_S, effect="unknown"
        )
        assert time.monotonic() - began < WITHIN_S
        assert alive_with(token) == []
        (capture,) = outcome.captures
        assert (capture.stdout, capture.stderr) == (b"50 are out\n", b"and nothing follows\n")
        assert capture.timed_out
        assert outcome.exit_status == 124
        assert outcome.attempts[0].survivors == ()
    assert descriptors() == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_alone_even_those_that_dropped_everything_are_found() -> None:
    for _ in range(max(RUNS // 4, 1)):
        token = str(time.time_ns())
        done = subprocess.run(
            line([*brood(token), "orphans"], timeout_s=LIMIT_S, grace_s=GRACE_S, effect="unknown"),
            capture_output=True,
            env=ENV,
            timeout=120,
        )
        assert (done.returncode, done.stdout) == (124, b"50 are out\n")
        assert alive_with(token) == []


def test_a_command_that_bears_faster_than_it_dies_is_ended_too() -> None:
    token = str(time.time_ns())
    # Each one bears its successor as soon as it lives, in a session of its own, and goes; the
    # line dies out by itself, so that a failure here does not burn the machine for ever.
    relay = 'trap "" TERM; [ $2 = 0 ] || setsid sh -c "$0" "$0" "$1" $(($2-1)) & sleep 0.01'
    outcome = run(
        ["sh", "-c", f"{relay}; sleep 600", relay, token, "3000"],
        timeout_s=0.5,
        grace_s=0.2,
        effect="unknown",
    )
    assert outcome.exit_status == 124
    assert outcome.attempts[0].survivors == ()
    assert alive_with(token) == []
