"""Tell, from raw evidence alone, why a command-line call failed and what to do next.

    from triage import Capture, classify
    verdict = classify(Capture(exit_code=127, stderr="bash: jqq: command not found"))

Importing does no I/O; each name is loaded on first use.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.bundle import bundle
    from triage.cache import load_table
    from triage.capture_data import capture_from_mapping as capture_from_mapping
    from triage.drop_in import subprocess_run
    from triage.engine import classify
    from triage.envelope import Extraction as Extraction
    from triage.envelope import extract, extract_envelope
    from triage.errors import CaptureError, RuleError, TriageError
    from triage.judge import ajudge_run, judge_run
    from triage.model import Action as Action
    from triage.model import Capture, Verdict
    from triage.model import Retry as Retry
    from triage.run import arun, run

__all__ = [
    "Capture",
    "CaptureError",
    "RuleError",
    "TriageError",
    "Verdict",
    "ajudge_run",
    "arun",
    "bundle",
    "classify",
    "extract",
    "extract_envelope",
    "judge_run",
    "load_table",
    "run",
    "subprocess_run",
]

_HOME = {
    "Action": "model",
    "Capture": "model",
    "CaptureError": "errors",
    "Extraction": "envelope",
    "Retry": "model",
    "RuleError": "errors",
    "TriageError": "errors",
    "Verdict": "model",
    "ajudge_run": "judge",
    "arun": "run",
    "bundle": "bundle",
    "capture_from_mapping": "capture_data",
    "classify": "engine",
    "extract": "envelope",
    "extract_envelope": "envelope",
    "judge_run": "judge",
    "load_table": "cache",
    "run": "run",
    "subprocess_run": "drop_in",
}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'triage' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"triage.{home}"), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """A submodule must not hide the public function of its name (`triage.bundle`, `triage.run`)."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
