"""Where a verb finds rules and labelled captures, and where it may write new ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from triage.errors import UsageError

__all__ = [
    "CorpusOption",
    "corpus_here",
    "rules_roots",
    "writable_chapter",
    "writable_corpus",
]

CorpusOption = Annotated[
    str | None,
    typer.Option("--corpus", metavar="DIR", help="Labelled cases (default: ours, or yours here)."),
]


def rules_roots(rules: str | None) -> tuple[Path, list[Path]]:
    """The rules folder and the overlays a verb works with, as `table_for` takes them."""
    from triage.cache import builtin_rules
    from triage.overlays import find_overlays

    if rules is not None:
        if not os.path.isdir(rules):
            what = f"no folder {rules!r}"
            raise UsageError("--rules", what, "name a folder laid out like rules/")
        return Path(rules), []
    return Path(builtin_rules()), [Path(folder) for folder in find_overlays()]


def corpus_here(folder: str | None) -> Path | None:
    """The corpus that is named, the project's own, or the checkout's beside the rules."""
    from triage.cache import builtin_rules

    if folder is not None:
        return Path(folder)
    own = Path(".triage/corpus")
    # A project may have a folder of that name for reasons of its own.
    here = Path("corpus") if _is_checkout() else _own_folder("corpus")
    for place in (own, here, Path(builtin_rules()).parent / "corpus"):
        if place.is_dir():
            return place
    return None


def _is_checkout() -> bool:
    return Path("rules/table").is_dir() and Path("corpus").is_dir()


def _own_folder(name: str) -> Path:
    """The project's folder of `name`, rules or corpus; beside the other where it has only that."""
    from triage.overlays import project_folders

    found = dict(zip(("rules", "corpus"), project_folders(), strict=True))
    if (own := found.pop(name)) is None:
        (other,) = found.values()
        own = ".triage/" + name if other is None else os.path.join(os.path.dirname(other), name)
    # As a person in that folder would type it.
    relative = os.path.relpath(own)
    return Path(own if relative.startswith("..") else relative)


def writable_corpus(folder: str | None) -> Path:
    if folder is not None:
        return Path(folder)
    return Path("corpus") if _is_checkout() else _own_folder("corpus")


def writable_chapter(rules: str | None, chapter: str) -> tuple[Path, bool]:
    """The file a new row is written to, and whether it may be made."""
    if rules is not None:
        return Path(rules) / "table" / f"{chapter}.yaml", True
    if _is_checkout():
        return Path("rules/table") / f"{chapter}.yaml", False
    # A name that sorts before ours: after our chapter's general entry it would never win.
    return _own_folder("rules") / "table" / f"{chapter[:2]}-0-own.yaml", True
