"""The command line: parse options, call one function, print; no logic."""

from __future__ import annotations

__all__: list[str] = []
