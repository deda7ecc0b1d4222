"""All that one command started is found: by session, parents and mark, and once seen for good."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from programs.census import alive_with

from triage.offspring import MARK, Offspring, new_mark
from triage.process import Child, Launch, start


def started(line: str, mark: str | None) -> tuple[Child, Offspring]:
    env = dict(os.environ)
    if mark is not None:
        env[MARK] = mark
    child = start(Launch(argv=("sh", "-c", line), env=env))
    return child, Offspring(child.pid, mark=mark, adopts=False)


def until(true: Callable[[], bool]) -> None:
    """Wait for something that is bound to happen; a minute means that it is not."""
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def has(offspring: Offspring, child: Child, token: str) -> bool:
    """Whether all that the line left behind is known; in the midst of an exec nothing has it."""
    alive = set(alive_with(token))
    return bool(alive) and child.pid not in alive and alive <= set(offspring.living())


def ended(child: Child, offspring: Offspring) -> None:
    assert offspring.kill(5.0) == ()
    child.reap()
    child.close()


def test_a_mark_holds_those_of_the_runs_around_it() -> None:
    outer = new_mark()
    inner = new_mark(outer)
    assert inner.startswith(f"{outer}:")
    assert new_mark() != new_mark()
    for _ in range(20):
        inner = new_mark(inner)
    assert len(inner) < 200


def test_an_orphan_in_a_session_of_its_own_is_found_by_its_mark() -> None:
    token = str(time.time_ns())
    child, offspring = started(f"(setsid sleep 600.{token} &); exec sleep 601", new_mark())
    until(lambda: len(alive_with(token)) == 1)
    until(lambda: has(offspring, child, token))
    ended(child, offspring)
    until(lambda: not alive_with(token))


def test_somebody_elses_processes_are_never_among_them() -> None:
    child, offspring = started("sleep 600 & exec sleep 601", new_mark())
    other = subprocess.Popen(["sleep", "602"], env={**os.environ, MARK: new_mark()})
    until(lambda: len(offspring.living()) == 2)
    assert other.pid not in offspring.living()
    assert os.getpid() not in offspring.living()
    ended(child, offspring)
    assert other.poll() is None
    other.kill()
    other.wait()


def test_a_child_that_was_seen_once_is_not_lost_when_its_parents_die(tmp_path: Path) -> None:
    token = str(time.time_ns())
    # No mark in its environment, a session of its own, and deaf to TERM.
    deaf = tmp_path / "deaf"
    stubborn = f"trap '' TERM; : >{deaf}; while :; do sleep 1; done # {token}"
    child, offspring = started(f'env -i setsid sh -c "{stubborn}" & exec sleep 601', new_mark())
    until(deaf.exists)
    until(lambda: has(offspring, child, token))
    offspring.send(signal.SIGTERM)
    until(child.exited)
    until(lambda: has(offspring, child, token))
    ended(child, offspring)
    until(lambda: not alive_with(token))


def test_where_there_is_no_proc_psutil_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    token = str(time.time_ns())
    child, offspring = started(f"(setsid sleep 600.{token} &); exec sleep 601", new_mark())
    until(lambda: len(alive_with(token)) == 1)
    until(lambda: len(offspring.living()) == 2)
    by_proc = offspring.living()
    monkeypatch.setattr("triage.offspring._PROC", False)
    assert Offspring(child.pid, mark=None, adopts=False).living() == [child.pid]
    assert offspring.living() == by_proc
    ended(child, offspring)
    until(lambda: not alive_with(token))


def test_a_zombie_is_not_alive() -> None:
    child, offspring = started("exit 0", None)
    until(child.exited)
    assert offspring.living() == []
    assert child.reap() == 0
    child.close()


def test_a_subreaper_finds_what_dropped_everything_and_reaps_it() -> None:
    token = str(time.time_ns())
    program = (
        "import os, sys, time\n"
        "from triage.offspring import Offspring, become_subreaper, children_of_ours\n"
        "from triage.process import Launch, start\n"
        "assert become_subreaper()\n"
        f"line = '(env -i setsid sleep 600.{token} &); exec sleep 601'\n"
        "child = start(Launch(argv=('sh', '-c', line), env=dict(os.environ)))\n"
        "family = Offspring(child.pid, mark=None, adopts=True)\n"
        "while len(family.living()) < 2: time.sleep(0.01)\n"
        "print(family.kill(5.0))\n"
        "child.reap()\n"
        "while children_of_ours(): family.reap_adopted()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "()\n"
    assert alive_with(token) == []
