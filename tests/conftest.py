"""What tests share: the table of the checkout, compiled once per run and never cached elsewhere."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from triage.cache import load_table
from triage.table import Table

if hasattr(signal, "SIGHUP"):
    # Under nohup it comes ignored, and every child of a test would ignore it too.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

ROOT = Path(__file__).parent.parent

settings.register_profile("gate", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("long", max_examples=50_000, deadline=None)
settings.load_profile("long" if os.environ.get("TRIAGE_LONG") else "gate")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    # A user's cache and rules must not change what the tests see.
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["XDG_CONFIG_HOME"] = str(tmp_path_factory.mktemp("config"))
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def table(_own_cache: None) -> Table:
    return load_table(ROOT / "rules")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT
