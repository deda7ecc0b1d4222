"""Statuses and time-outs that harnesses and CI logs write into the text they keep."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage import classify
from triage.harness_text import ended_by_limit, status_and_rest, status_in
from triage.model import Capture

LAST_LINES = [
    ("Exit code: 2", 2),
    ("Exit code 127", 127),
    ("[exit code: 1]", 1),
    ("Process exited with code 3", 3),
    ("##[error]Process completed with exit code 137.", 137),
    ("2026-11-30T10:00:00.1234567Z ##[error]Process completed with exit code 1.", 1),
    ("Error: Process completed with exit code 1.", 1),
    ("##[error]Bash exited with code '1'.", 1),
    ("ERROR: Job failed: exit code 2", 2),
    ("CircleCI received exit code 1", 1),
    ("Process finished with exit code -1073741819 (0xC0000005)", -1073741819),
    ("Process finished with exit code 137 (interrupted by signal 9:SIGKILL)", 137),
]
LIMITS = [
    "Command timed out after 120 s",
    "Error: Command timed out after 120 seconds",
    "Error: bash failed: Command timed out after 30s: 'make'",
    "bash tool terminated command after exceeding timeout 120000 ms",
    "Command did not complete within its 3s timeout and was moved to the background",
    "ERROR: Job failed: execution took longer than 1h0m0s seconds",
    "##[error]The job of build 7 has exceeded the maximum execution time of 60 min.",
]
IN_PROSE = [
    "the child had exit code 3 and was started again\ndone\n",
    "# Exit code: 2 means that there are changes\n",
    "waits until the process finished with exit code 0 or 1, then goes on\n",
]


@pytest.mark.parametrize(("line", "status"), LAST_LINES)
def test_the_last_line_tells_the_status_and_is_no_part_of_the_text(line: str, status: int) -> None:
    assert status_in(f"building\n{line}\n") == (status, "building")
    read, rest = status_and_rest(f"building\n{line}\n")
    assert read == status
    assert isinstance(rest, str)
    assert len(rest) == len(f"building\n{line}\n")
    assert rest.split() == ["building"]


@pytest.mark.parametrize("text", IN_PROSE)
def test_prose_about_statuses_is_text(text: str) -> None:
    assert status_in(text) == (None, text)


@pytest.mark.parametrize("line", LIMITS)
def test_a_limit_of_the_harness_is_a_hang(line: str) -> None:
    assert ended_by_limit(f"step 1\n{line}\n")
    assert classify(Capture(exit_code=None, command="make", merged=f"step 1\n{line}\n")).row == 3


def test_a_limit_that_is_only_talked_about_is_none() -> None:
    assert not ended_by_limit("raise the limit when a Command timed out after 10 s\n")


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    status, rest = status_and_rest(text)
    assert status is None or isinstance(status, int)
    assert len(rest) == len(text)
