"""Streams of agent CLIs -> one normalised run, and the outcome of that run.

`read_run` finds a run in a capture, `RunReader` reads one that is fed to it, `detect` says whose
stream it is, `conclude` turns a run and the table row that took it into an `AgentVerdict`. The walk
over the table is `triage.judge`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.agents.detect import detect
    from triage.agents.formats import Formats, load_formats
    from triage.agents.gate import read_run
    from triage.agents.model import AgentRun, AgentVerdict, RunEvidence
    from triage.agents.outcome import agent_block, conclude, derive, error_capture
    from triage.agents.stream import RunReader

__all__ = [
    "AgentRun",
    "AgentVerdict",
    "Formats",
    "RunEvidence",
    "RunReader",
    "agent_block",
    "conclude",
    "derive",
    "detect",
    "error_capture",
    "load_formats",
    "read_run",
]

_HOME = {
    "AgentRun": "model",
    "AgentVerdict": "model",
    "Formats": "formats",
    "RunEvidence": "model",
    "RunReader": "stream",
    "agent_block": "outcome",
    "conclude": "outcome",
    "derive": "outcome",
    "detect": "detect",
    "error_capture": "outcome",
    "load_formats": "formats",
    "read_run": "gate",
}


def __getattr__(name: str) -> Any:
    # Loaded on first use: most captures are no agent run.
    if name not in _HOME:
        raise AttributeError(f"module 'triage.agents' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"triage.agents.{_HOME[name]}"), name)
