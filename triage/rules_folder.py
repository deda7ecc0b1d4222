"""Where the built-in rules lie: inside an installed package, or beside it in a checkout."""

from __future__ import annotations

import os

__all__ = ["builtin_rules"]


def builtin_rules() -> str:
    """The folder of the built-in rules: inside the package, or the checkout's beside it."""
    here = os.path.dirname(os.path.abspath(__file__))
    beside = os.path.join(os.path.dirname(here), "rules")
    inside = os.path.join(here, "rules")
    return inside if os.path.isdir(inside) else beside
