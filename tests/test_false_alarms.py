"""A small run of benchmarks/false_alarms.py: output full of frightening words is no failure."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path
from typing import Any

import pytest

from triage.engine import classify
from triage.table import Table

PATH = Path(__file__).parent.parent / "benchmarks" / "false_alarms.py"


@pytest.fixture(scope="module")
def benchmark() -> Any:
    spec = importlib.util.spec_from_file_location("false_alarms", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its frozen classes and annotations are looked up by the module's name.
    sys.modules["false_alarms"] = module
    spec.loader.exec_module(module)
    return module


def test_logs_tests_and_searches_that_succeed_raise_no_alarm(
    benchmark: Any, tmp_path: Path, table: Table
) -> None:
    commands = list(itertools.islice(benchmark.commands(tmp_path), 120))
    own = [argv for argv in commands if str(tmp_path) in " ".join(argv) or "unittest" in argv]
    found = [capture for argv in own if (capture := benchmark.run(argv, tmp_path)) is not None]
    assert len(found) >= 10
    said = "".join((capture.stdout + capture.stderr).decode() for capture in found)
    assert all(word in said for word in ("Traceback", "rate limit exceeded", "denied", "403"))
    alarms = {c.command: classify(c, table).rule for c in found}
    assert {rule for rule in alarms.values() if rule != "clean-exit"} == set(), alarms


def test_what_does_not_end_with_0_is_no_capture(benchmark: Any, tmp_path: Path) -> None:
    assert benchmark.run((sys.executable, "-c", "raise SystemExit(3)"), tmp_path) is None
    assert benchmark.run((sys.executable, "-c", ""), tmp_path) is None
    assert benchmark.run(("no-such-program-here",), tmp_path) is None


def test_the_machine_is_left_alone(benchmark: Any) -> None:
    left = benchmark._LEFT_ALONE
    for name in ("reboot", "mkfs.ext4", "kill", "sshd", "update-grub", "gpg-agent"):
        assert left.match(name)
    for name in ("cat", "git", "cargo", "tar"):
        assert not left.match(name)
