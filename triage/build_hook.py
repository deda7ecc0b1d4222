"""Puts the rules and their compiled form into the wheel; only hatchling calls this.

An installed `triage` then finds its table compiled, whether its user has a cache folder or not. An
editable install is left alone: it works with the rules of the checkout, whatever they are by then.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

__all__ = ["RulesHook"]


class RulesHook(BuildHookInterface[Any]):
    """Adds ``rules/`` and ``rules/compiled.jsonl`` to a wheel as ``triage/rules``."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile a copy of the rules; raises `RuleError` where no table can be made of them."""
        if version == "editable":
            return
        root = Path(self.root)
        sys.path.insert(0, self.root)
        from triage.cache import PACKAGED, write_packaged

        # A copy: the checkout stays as it is, and what lies in it uncommitted is not packed.
        self._folder = tempfile.mkdtemp(prefix="triage-wheel-")
        rules = Path(shutil.copytree(root / "rules", Path(self._folder) / "rules"))
        (rules / PACKAGED).unlink(missing_ok=True)
        write_packaged(str(rules))
        build_data["force_include"][str(rules)] = "triage/rules"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the copy."""
        if version != "editable":
            shutil.rmtree(self._folder, ignore_errors=True)
