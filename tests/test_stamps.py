"""Times of a log collector are no part of what a program printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage import classify
from triage.model import Capture
from triage.stamps import stamp_cuts, unstamped

STAMP = "2026-11-30T10:00:00.1234567Z "
NINE = "2026-11-30T10:00:00.123456789Z "

lines = st.lists(st.text(alphabet="ab :é", min_size=0, max_size=9), min_size=1, max_size=6)


def test_stamps_before_every_line_go() -> None:
    assert unstamped(f"{STAMP}npm error\n{STAMP}done\n") == "npm error\ndone\n"
    assert unstamped(f"{NINE}npm error\n") == "npm error\n"


def test_a_line_that_only_has_its_time_is_blank() -> None:
    assert unstamped(f"{STAMP}a\n{STAMP.rstrip()}\n{STAMP}b") == "a\n\nb"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\n",
        f"{STAMP}a\nb\n",
        f"a\n{STAMP}b\n",
        "2026-11-30T10:00:00.123Z ERROR no disk\n",
        "2026-11-30T10:00:00Z ERROR no disk\n",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert unstamped(text) is text
    assert stamp_cuts(text) is None


@given(lines)
def test_positions_lead_back(printed: list[str]) -> None:
    text = "\n".join(STAMP + line for line in printed)
    clean = unstamped(text)
    cuts = stamp_cuts(text)
    assert clean == "\n".join(printed)
    assert cuts is not None
    assert [text[cuts.position(at)] for at in range(len(clean))] == list(clean)


def test_a_log_of_a_job_is_judged_as_the_call_itself() -> None:
    said = "error: unrecognized option '--frce'\nTry 'tool --help' for more information.\n"
    logged = "".join(STAMP + line + "\n" for line in said.splitlines())
    bare = classify(Capture(command="tool --frce", exit_code=2, merged=said))
    job = classify(Capture(command="tool --frce", exit_code=2, merged=logged))
    assert (job.row, job.rule, job.mode) == (bare.row, bare.rule, bare.mode)
    assert job.evidence[0].text == bare.evidence[0].text
    assert logged[job.evidence[0].start :].startswith(job.evidence[0].text[:5])
