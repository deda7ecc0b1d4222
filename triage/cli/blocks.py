"""The generated blocks of README, and the documents they and the modes' blocks go into."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from triage.cache import load_table
from triage.cases import load_cases
from triage.cli.status import MEANINGS
from triage.corpus import read_results, rules_digest
from triage.docs import Stale, refresh_blocks, refresh_modes
from triage.documents import (
    accuracy_block,
    block_names,
    exit_codes_block,
    mode_examples,
    mode_rules,
    mutation_block,
    table_block,
)
from triage.redact import patterns_from

__all__ = ["RESULTS", "help_block", "refresh"]

# Saved by `triage test --no-command --leave-tool-out --mutate --save corpus/accuracy.json`.
RESULTS = "corpus/accuracy.json"
_WIDTH = 88


def refresh(root: Path, *, write: bool) -> tuple[list[Stale], list[str]]:
    """Bring the documents of a checkout up to date; returns what was not, and warnings."""
    table = load_table(root / "rules")
    # Excerpts are masked; without this the masking would load a table of its own.
    patterns_from(lambda: table.section("secrets"))
    warnings: list[str] = []
    saved = root / RESULTS
    results: Any = read_results(saved) if saved.is_file() else None
    if results is not None and results.get("rules") != rules_digest(table):
        again = f"triage test --no-command --leave-tool-out --mutate --save {RESULTS}"
        warnings.append(f"{RESULTS} was saved with other rules: run `{again}`")
    texts: dict[str, Callable[[], str]] = {
        "table": lambda: table_block(table),
        "cli": help_block,
        "exit-codes": lambda: exit_codes_block(MEANINGS),
    }
    if results is not None:
        texts["accuracy"] = lambda: accuracy_block(results, table)
        if "mutation" in results:
            texts["mutation"] = lambda: mutation_block(results)
    readme = root / "README.md"
    wanted = {name: texts[name] for name in block_names(readme) if name in texts}
    stale = refresh_blocks(readme, wanted, write=write)
    modes = {number: table.mode(number) for number in range(1, 78)}
    corpus = root / "corpus"
    cases = list(load_cases(corpus)) if corpus.is_dir() else []
    examples = mode_examples(table, cases)
    folder = root / "rules" / "modes"
    stale += refresh_modes(folder, modes, mode_rules(table), examples, write=write)
    return stale, warnings


def help_block() -> str:
    """Every verb's ``--help``, as a fixed width shows it."""
    from typer.main import get_command

    from triage.cli.app import build

    group: Any = get_command(build())
    parts = []
    for name, command in group.commands.items():
        context = command.context_class(
            command, info_name=f"triage {name}", terminal_width=_WIDTH, max_content_width=_WIDTH
        )
        lines = [line.rstrip() for line in command.get_help(context).strip().split("\n")]
        parts.append("\n".join([f"#### `triage {name}`", "", "```text", *lines, "```"]))
    return "\n\n".join(parts)
