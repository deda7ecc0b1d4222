"""One command from start to outcome: what it did is captured, and what is safe is done about it."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs.census import alive_with, descriptors
from test_again import HUNG, LIMITED

from triage.errors import UsageError
from triage.model import Action, Capture, Effect, Retry, Verdict
from triage.repeats import Repeats
from triage.run import arun, run
from triage.run_options import Options

PROGRAMS = Path(__file__).parent / "programs"


def verdicts(*made: Verdict) -> Callable[[Capture], Verdict]:
    """A classifier that says these one after another, the last for ever."""
    left = list(made)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


FINE = replace(
    HUNG,
    verdict="not_failure",
    row=None,
    rule="clean-exit",
    flags=(),
    action=Action("none", ""),
    retry=Retry(False, 0, None, "the call did not fail"),
)


def lines_of(path: Path) -> int:
    return len(path.read_text().splitlines()) if path.exists() else 0


# --- capture -------------------------------------------------------------------------------------


def test_the_four_observables_of_a_failure() -> None:
    outcome = run(["sh", "-c", "echo out; echo err >&2; exit 3"], retry=False)
    (capture,) = outcome.captures
    assert (capture.exit_code, capture.stdout, capture.stderr) == (3, b"out\n", b"err\n")
    assert capture.timed_out is False
    assert capture.duration_s is not None
    assert capture.silent_s is not None
    assert 0 <= capture.silent_s <= capture.duration_s < 60
    assert (capture.stdin, capture.pty, capture.attempt) == ("null", False, 1)
    assert outcome.exit_status == 3
    (attempt,) = outcome.attempts
    assert attempt.ended_by == "itself"
    assert set(attempt.last_byte_s) == {"stdout", "stderr"}
    assert attempt.started_at.endswith("+00:00")


@pytest.mark.parametrize(
    ("line", "code", "status"),
    [("exit 0", 0, 0), ("exit 255", 255, 255), ("kill -9 $$", -9, 137), ("kill -15 $$", -15, 143)],
)
def test_the_status_passes_through_as_a_shell_shows_it(line: str, code: int, status: int) -> None:
    outcome = run(["sh", "-c", line], retry=False)
    assert (outcome.captures[0].exit_code, outcome.exit_status) == (code, status)


def test_a_program_that_does_not_exist_is_an_outcome_with_row_4() -> None:
    out, err = io.BytesIO(), io.BytesIO()
    outcome = run(["no-such-program-here"], passthrough=(out, err))
    assert outcome.exit_status == 127
    assert err.getvalue() == b"triage: no-such-program-here: command not found\n"
    assert outcome.captures[0].stderr == err.getvalue()
    assert (outcome.verdict.verdict, outcome.verdict.row) == ("failure", 4)
    assert len(outcome.attempts) == 1


def test_a_shell_line_is_one_line_for_bash() -> None:
    outcome = run(shell_line="echo a | tr a b && exit 7")
    capture = outcome.captures[0]
    assert (capture.command, capture.shell) == ("echo a | tr a b && exit 7", "bash")
    assert (capture.stdout, capture.exit_code) == (b"b\n", 7)


def test_folder_environment_and_stdin_are_the_callers(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("from the file")
    os.environ["TRIAGE_TEST_GONE"] = "still here"
    outcome = run(
        ["sh", "-c", 'pwd; echo "$ADDED|$TRIAGE_TEST_GONE"; cat'],
        cwd=tmp_path,
        env={"ADDED": "this", "TRIAGE_TEST_GONE": None},
        stdin=str(tmp_path / "in"),
    )
    del os.environ["TRIAGE_TEST_GONE"]
    capture = outcome.captures[0]
    assert capture.stdout == f"{tmp_path}\nthis|\nfrom the file".encode()
    assert (capture.cwd, capture.stdin) == (str(tmp_path), "file")


def test_beyond_the_limit_head_and_tail_are_kept_and_the_cut_is_recorded() -> None:
    script = (
        "import sys; sys.stdout.write('x' * 500_000 + 'the end'); print('e' * 50, file=sys.stderr)"
    )
    out = io.BytesIO()
    outcome = run([sys.executable, "-c", script], limit_bytes=100_000, passthrough=(out, None))
    capture = outcome.captures[0]
    kept = capture.stdout.read()
    assert len(out.getvalue()) == 500_007
    assert kept == b"x" * 99_993 + b"the end"
    assert capture.truncated == ({"stream": "stdout", "at": 50_000, "bytes": 400_007},)
    assert capture.stderr == b"e" * 50 + b"\n"
    assert "truncated" in outcome.verdict.flags


def test_a_terminal_merges_both_streams_and_is_no_longer_there_without_pty() -> None:
    line = "test -t 1 && echo terminal || echo none; echo err >&2"
    with_one = run(["sh", "-c", line], pty=True).captures[0]
    assert (with_one.merged, with_one.pty, with_one.stdin) == (b"terminal\r\nerr\r\n", True, "tty")
    without = run(["sh", "-c", line]).captures[0]
    assert (without.merged, without.stdout, without.stderr) == (None, b"none\n", b"err\n")


def test_both_streams_pass_through_on_their_own(capfd: pytest.CaptureFixture[str]) -> None:
    print("before", flush=False)
    run(["sh", "-c", "printf out; printf err >&2"], passthrough=True)
    assert capfd.readouterr() == ("before\nout", "err")


# --- limits --------------------------------------------------------------------------------------


def test_a_limit_ends_it_with_what_it_printed() -> None:
    outcome = run(["sh", "-c", "echo so far; exec sleep 600"], timeout_s=1.0, effect="unknown")
    capture = outcome.captures[0]
    assert (capture.stdout, capture.timed_out, capture.limit_s) == (b"so far\n", True, 1.0)
    assert (outcome.exit_status, outcome.attempts[0].ended_by) == (124, "limit")
    assert capture.exit_code == -signal.SIGTERM
    assert outcome.verdict.row == 3


def test_silence_ends_it_only_once_it_is_silent() -> None:
    line = "for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; exec sleep 600"
    outcome = run(["sh", "-c", line], idle_timeout_s=2.0, effect="unknown")
    capture = outcome.captures[0]
    assert capture.stdout == b"1\n2\n3\n4\n5\n6\n"
    assert outcome.attempts[0].ended_by == "idle"
    assert outcome.exit_status == 124
    assert capture.silent_s is not None
    assert capture.silent_s >= 2.0


def test_one_that_ignores_the_request_is_killed_after_its_grace() -> None:
    line = "trap '' TERM; echo deaf; while :; do sleep 0.05; done"
    outcome = run(["sh", "-c", line], timeout_s=1.0, grace_s=0.2, effect="unknown")
    assert outcome.captures[0].exit_code == -signal.SIGKILL
    assert outcome.exit_status == 124


def test_one_that_is_stopped_hears_the_request_too() -> None:
    outcome = run(["sh", "-c", "kill -STOP $$"], timeout_s=0.3, grace_s=30.0, effect="unknown")
    assert outcome.captures[0].exit_code == -signal.SIGTERM


def test_what_it_says_in_its_grace_is_there() -> None:
    line = "trap 'echo cleaned up; exit 0' TERM; echo on; while :; do sleep 0.05; done"
    outcome = run(["sh", "-c", line], timeout_s=1.0, effect="unknown")
    assert outcome.captures[0].stdout == b"on\ncleaned up\n"
    assert (outcome.captures[0].exit_code, outcome.exit_status) == (0, 124)


def test_a_grandchild_that_holds_the_pipe_does_not_hold_us() -> None:
    token = f"600.{time.time_ns()}"
    outcome = run(["sh", "-c", f"sleep {token} & echo done"], timeout_s=120)
    capture = outcome.captures[0]
    assert (capture.stdout, capture.exit_code, capture.timed_out) == (b"done\n", 0, False)
    assert any("held open" in warning for warning in capture.warnings)
    # It went on in the background by itself, as it would have without us.
    (left,) = alive_with(token)
    os.kill(left, signal.SIGKILL)


def test_what_a_grandchild_still_says_at_once_is_there() -> None:
    outcome = run(["sh", "-c", "(sleep 0.1; echo late) & echo early"])
    assert outcome.captures[0].stdout == b"early\nlate\n"


def test_a_reader_that_does_not_read_does_not_keep_a_limit_from_ending_it() -> None:
    read_end, write_end = os.pipe()
    outcome = run(
        ["sh", "-c", "yes"],
        timeout_s=0.5,
        grace_s=0.3,
        effect="unknown",
        passthrough=(write_end, None),
    )
    assert outcome.exit_status == 124
    assert any("nobody read it" in warning for warning in outcome.captures[0].warnings)
    os.close(read_end)
    os.close(write_end)


def test_a_reader_that_has_gone_ends_it_as_a_pipe_would() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    outcome = run(["yes"], passthrough=(write_end, None), timeout_s=120)
    assert outcome.captures[0].exit_code == -signal.SIGPIPE
    assert outcome.exit_status == 141
    assert len(outcome.attempts) == 1
    os.close(write_end)


# --- retries -------------------------------------------------------------------------------------


def test_a_read_only_hang_is_started_once_more_inside_the_bundle(tmp_path: Path) -> None:
    (tmp_path / "page").write_text("all of it\n" * 100)
    outcome = run(["less", str(tmp_path / "page")], pty=True, timeout_s=1.0, env={"TERM": "xterm"})
    assert outcome.effect == "read_only"
    first, second = outcome.attempts
    assert (first.how, first.verdict.row, first.verdict.mode) == ("first", 3, 10)
    assert (second.how, second.capture.pty, second.capture.stdin) == ("bundle", False, "null")
    assert second.capture.stdout == b"all of it\n" * 100
    assert second.capture.attempt == 2
    assert second.capture.previous[0]["rule"] == first.verdict.rule
    assert (outcome.exit_status, outcome.verdict.verdict) == (0, "not_failure")
    assert outcome.done.startswith("started 2 times (start 2 inside the non-interactive bundle)")
    assert outcome.verdict.retry.why == outcome.done


def test_the_bundle_sets_its_variables_for_the_second_start_only(tmp_path: Path) -> None:
    line = 'echo "${GIT_PAGER-unset}|${CI-unset}"; exec sleep 600'
    outcome = run(
        shell_line=line,
        timeout_s=1.0,
        effect="read_only",
        env={"GIT_PAGER": None, "CI": None},
        classify=verdicts(HUNG, FINE),
    )
    assert [capture.stdout for capture in outcome.captures] == [b"unset|unset\n", b"cat|true\n"]
    assert [capture.limit_s for capture in outcome.captures] == [1.0, 1.0]


def test_a_wait_that_was_called_for_is_waited_and_told() -> None:
    heard: list[tuple[float, str]] = []
    limited = replace(LIMITED, retry=replace(LIMITED.retry, wait_s=0.2), action=Action(
        "wait_then_retry", "", wait_s=0.2))  # fmt: skip
    outcome = run(
        ["true"],
        effect="read_only",
        classify=verdicts(limited, FINE),
        on_wait=lambda left, why: heard.append((left, why)),
    )
    assert [attempt.how for attempt in outcome.attempts] == ["first", "wait"]
    assert outcome.attempts[1].waited_s == 0.2
    assert 0 < heard[0][0] <= 0.2
    assert heard[0][1] == "the limit passes with time"
    assert heard[-1][0] == 0.0
    assert outcome.done.startswith("started 2 times (start 2 unchanged after 0.2 s); ")


def test_a_wait_past_the_callers_limit_is_not_begun() -> None:
    outcome = run(["true"], effect="read_only", classify=verdicts(LIMITED), max_wait_s=5)
    assert len(outcome.attempts) == 1
    assert outcome.done == (
        "started once, not again: a wait of 7 s is more than the 5 s allowed; "
        "left to the caller: the limit passes with time"
    )


def test_three_starts_are_the_most_whatever_is_allowed() -> None:
    again = replace(LIMITED, action=Action("rerun", ""), retry=Retry(True, 9, None, "go on"))
    outcome = run(["true"], effect="read_only", classify=verdicts(again))
    assert len(outcome.attempts) == 3
    assert [capture.attempt for capture in outcome.captures] == [1, 2, 3]
    assert [len(capture.previous) for capture in outcome.captures] == [0, 1, 2]


def test_the_engine_itself_stops_after_two_failures_alike() -> None:
    outcome = run(["sleep", "600"], effect="read_only", timeout_s=0.2)
    assert [attempt.how for attempt in outcome.attempts] == ["first", "bundle"]
    assert outcome.verdict.action.kind == "escalate"
    assert "repeated" in outcome.verdict.flags


def test_a_read_only_failure_that_no_row_explains_is_started_once_more_after_a_second() -> None:
    outcome = run(["sh", "-c", "echo odd >&2; exit 3"], effect="read_only")
    first, second = outcome.attempts
    assert first.verdict.flags == ("unclassified",)
    assert (second.how, second.waited_s) == ("again", 1.0)
    assert outcome.verdict.flags == ("unclassified", "repeated")
    assert outcome.verdict.action.kind == "escalate"
    assert outcome.done.startswith("started 2 times (start 2 unchanged after 1 s); the second")


def test_a_second_start_that_does_not_fail_the_same_way_is_no_repeat(tmp_path: Path) -> None:
    once = f"[ -e {tmp_path}/seen ] && {{ echo fine; exit $0; }}; touch {tmp_path}/seen; exit 3"
    succeeded = run(["sh", "-c", once, "0"], effect="read_only")
    assert [a.capture.exit_code for a in succeeded.attempts] == [3, 0]
    assert succeeded.verdict.verdict == "not_failure"
    assert "repeated" not in succeeded.verdict.flags
    (tmp_path / "seen").unlink()
    failed_otherwise = run(["sh", "-c", once, "127"], effect="read_only")
    assert [a.capture.exit_code for a in failed_otherwise.attempts] == [3, 127]
    assert failed_otherwise.verdict.rule != failed_otherwise.attempts[0].verdict.rule
    assert "repeated" not in failed_otherwise.verdict.flags


def test_a_hangup_is_told_from_a_status_that_nobody_had() -> None:
    outcome = run(["sh", "-c", "kill -HUP $$"], effect="read_only")
    assert (outcome.captures[0].exit_code, outcome.exit_status) == (129, 129)
    assert outcome.verdict.rule == "killed"


def test_no_retry_means_none() -> None:
    outcome = run(["sleep", "600"], effect="read_only", timeout_s=0.2, retry=False)
    assert len(outcome.attempts) == 1
    # The verdict says yes to one more start, so the reason must not read like a no to it.
    assert outcome.verdict.retry.may
    assert outcome.verdict.retry.why == outcome.done
    assert outcome.done.startswith(
        "started once, not again: retries are switched off; left to the caller: "
    )


def test_every_row_starts_a_call_that_may_change_things_exactly_once(
    table: Any, tmp_path: Path
) -> None:
    from triage.engine import classify

    samples = list(dict(row_samples()).items())
    assert len(samples) > 100
    for effect in ("mutating", "unknown"):
        for number, (rule, sample) in enumerate(samples):
            # Unknown is treated like mutating; where a retry is near it is tried all the same.
            if effect == "unknown" and not (sample.timed_out or "rate" in rule):
                continue
            log = tmp_path / f"{effect}-{number}"

            def judged(seen: Capture, sample: Capture = sample) -> Verdict:
                return classify(
                    replace(
                        sample, effect=seen.effect, attempt=seen.attempt, previous=seen.previous
                    ),
                    table,
                )

            outcome = run(
                ["sh", "-c", 'echo started >>"$0"; exit 1', str(log)],
                effect=effect,
                classify=judged,
                max_wait_s=1e6,
                table=table,
            )
            assert (rule, lines_of(log)) == (rule, 1)
            assert len(outcome.attempts) == 1


def test_a_read_only_call_is_started_again_by_some_rows_so_that_the_count_above_means_something(
    table: Any, tmp_path: Path
) -> None:
    from triage.engine import classify

    starts = {}
    for number, (rule, sample) in enumerate(row_samples()):
        if sample.timed_out:
            log = tmp_path / str(number)
            run(
                ["sh", "-c", 'echo started >>"$0"; exit 1', str(log)],
                effect="read_only",
                classify=lambda seen, sample=sample: classify(  # type: ignore[misc]
                    replace(
                        sample, effect="read_only", attempt=seen.attempt, previous=seen.previous
                    ),
                    table,
                ),
                max_wait_s=0.0,
                table=table,
            )
            starts[rule] = lines_of(log)
    assert starts["hang-pager"] == 2
    assert starts["hang"] == 2
    assert starts["hang-password"] == 1
    assert set(starts.values()) <= {1, 2}


def row_samples() -> list[tuple[str, Capture]]:
    """Every row's own samples of what it takes."""
    import yaml

    from triage.capture_data import capture_from_mapping

    found = []
    for chapter in sorted((Path(__file__).parent.parent / "rules" / "table").glob("*.yaml")):
        for row in yaml.safe_load(chapter.read_text("utf-8"))["rows"]:
            for sample in row.get("match", ()):
                data = {key: value for key, value in sample.items() if key != "effect"}
                found.append((row["id"], capture_from_mapping(data)))
    return found


@settings(max_examples=25)
@given(
    effect=st.sampled_from(["mutating", "unknown"]),
    kind=st.sampled_from(["rerun", "rerun_with_bundle", "wait_then_retry", "rerun_with_env"]),
    flags=st.sampled_from([(), ("timed_out",)]),
    row=st.sampled_from([None, 1, 3, 11, 16]),
    left=st.integers(1, 9),
)
def test_no_verdict_however_wrong_starts_a_mutating_call_twice(
    tmp_path_factory: pytest.TempPathFactory,
    effect: Effect,
    kind: str,
    flags: tuple[str, ...],
    row: int | None,
    left: int,
) -> None:
    log = tmp_path_factory.mktemp("once") / "log"
    wrong = replace(
        HUNG, row=row, flags=flags, action=Action(kind, ""), retry=Retry(True, left, 0.0, "go on")
    )
    run(
        ["sh", "-c", 'echo started >>"$0"; exit 1', str(log)],
        effect=effect,
        classify=verdicts(wrong),
    )
    assert lines_of(log) == 1


# --- memory --------------------------------------------------------------------------------------


def test_the_same_failure_in_the_next_run_is_a_repeat_and_ends_in_escalation(
    tmp_path: Path,
) -> None:
    memory = Repeats(tmp_path / "calls.jsonl")
    call: Options = {"state": memory, "effect": "unknown"}
    first = run(["sh", "-c", "echo broken >&2; exit 9"], **call)
    second = run(["sh", "-c", "echo broken >&2; exit 9"], **call)
    third = run(["sh", "-c", "echo broken >&2; exit 9"], **call)
    assert [run.captures[0].attempt for run in (first, second, third)] == [1, 2, 3]
    assert "repeated" not in first.verdict.flags
    assert "repeated" in second.verdict.flags
    assert second.verdict.action.kind == third.verdict.action.kind == "escalate"
    assert not second.verdict.retry.may


def test_a_hang_that_was_tried_before_is_not_tried_twice_again(tmp_path: Path) -> None:
    memory = Repeats(tmp_path / "calls.jsonl")
    call: Options = {"state": memory, "effect": "read_only", "timeout_s": 0.2}
    run(["sleep", "600"], **call, retry=False)
    run(["sleep", "600"], **call, retry=False)
    outcome = run(["sleep", "600"], **call)
    assert outcome.captures[0].attempt == 3
    assert len(outcome.attempts) == 1


# --- asyncio -------------------------------------------------------------------------------------


def test_many_commands_run_at_once() -> None:
    async def several() -> list[bytes]:
        outcomes = await asyncio.gather(*(arun(["echo", str(n)]) for n in range(8)))
        return [outcome.captures[0].stdout for outcome in outcomes]

    assert asyncio.run(several()) == [b"%d\n" % n for n in range(8)]


def test_a_cancelled_run_ends_the_command_first() -> None:
    token = f"600.{time.time_ns()}"

    async def cancelled() -> list[int]:
        task = asyncio.create_task(arun(["sleep", token]))
        while not alive_with(token):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return alive_with(token)

    assert asyncio.run(cancelled()) == []


def test_an_error_in_arun_is_raised_where_it_is_awaited() -> None:
    with pytest.raises(UsageError, match="is no folder"):
        asyncio.run(arun(["true"], cwd="/no/such/folder"))


# --- what can't be asked for ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "options", "words"),
    [
        (None, {}, "there is no command"),
        (["true"], {"shell_line": "true"}, "there are two"),
        ([], {}, "no program"),
        (None, {"shell_line": "  "}, "the line is empty"),
        ("true", {}, "no list of words"),
        (["true"], {"timeout_s": 0}, "no time limit"),
        (["true"], {"timeout_s": float("nan")}, "no time limit"),
        (["true"], {"idle_timeout_s": -1}, "no time limit"),
        (["true"], {"grace_s": -1}, "no time limit"),
        (["true"], {"max_wait_s": float("inf")}, "no time limit"),
        (["true"], {"limit_bytes": -1}, "is no size"),
        (["true"], {"effect": "harmless"}, "there is no"),
        (["true"], {"cwd": "/no/such/folder"}, "is no folder"),
        (["true"], {"stdin": "/no/such/file"}, "No such file"),
        (["true"], {"env": {"": "x"}}, "no variable"),
    ],
)
def test_bad_input_is_an_error_and_nothing_is_started(
    argv: Any, options: Any, words: str, tmp_path: Path
) -> None:
    if argv == ["true"]:
        argv = ["touch", str(tmp_path / "started")]
    with pytest.raises(UsageError, match=words):
        run(argv, **options)
    assert not (tmp_path / "started").exists()


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="timeout"):
        run(["true"], timeout=5)  # type: ignore[call-arg]


# --- what is left behind -------------------------------------------------------------------------


def test_no_descriptor_and_no_zombie_is_left() -> None:
    run(["true"])
    before = descriptors()
    for _ in range(20):
        run(["sh", "-c", "echo x; exit 1"], retry=False)
        run(["no-such-program-here"])
        run(["sh", "-c", "echo y"], pty=True)
    run(["sleep", "600"], timeout_s=0.1, retry=False)
    with pytest.raises(UsageError):
        run(["true"], stdin="/no/such/file")
    assert descriptors() == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_an_exception_on_the_way_ends_the_command(tmp_path: Path) -> None:
    token = f"600.{time.time_ns()}"

    class Failing:
        def write(self, data: bytes) -> object:
            raise ZeroDivisionError(data)

    with pytest.raises(ZeroDivisionError):
        run(["sh", "-c", f"echo x; exec sleep {token}"], passthrough=(Failing(), None))
    assert alive_with(token) == []
