"""`triage lint`, `test` and `docs`: what keeps a table right, printed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from triage.cli import options as opt
from triage.cli.output import finish, guarded, machine_wanted, notice, say, say_json
from triage.cli.places import CorpusOption, corpus_here, rules_roots
from triage.cli.status import ExitStatus
from triage.errors import UsageError

__all__ = ["docs", "lint", "test"]


def lint(
    corpus: CorpusOption = None,
    rules: opt.RulesOption = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Don't ask which conditions no case needs.")
    ] = False,
    notes: Annotated[
        bool, typer.Option("--notes", help="Print every note and what is waived.")
    ] = False,
    json: opt.JsonOption = False,
) -> None:
    """Verify the decision table: order, samples, patterns, conditions, actions, modes.

    Ends with 1 where an error or a warning is not waived in its row (waive: {code: reason}).

    Example: triage lint --corpus corpus
    """
    finish(guarded(json, lambda: _lint(corpus, rules, fast, notes, json)))


def _lint(corpus: str | None, rules: str | None, fast: bool, notes: bool, json: bool) -> int:
    from triage.cli.figures import print_findings
    from triage.lint import counts, lint_table

    root, overlays = rules_roots(rules)
    findings = lint_table(root, overlays, corpus_here(corpus), conditions=not fast)
    counted = counts(findings)
    if machine_wanted(json):
        say_json({"counts": counted, "findings": [finding.to_dict() for finding in findings]})
    else:
        print_findings(findings, counted, notes)
    failed = any(finding.fails for finding in findings)
    return ExitStatus.FAILED if failed else ExitStatus.OK


def test(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Corpus folders or cases (default: corpus/)."),
    ] = None,
    select: Annotated[
        str | None,
        typer.Option("-k", metavar="EXPR", help="Only cases with these words; and, or, not, ()."),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="FILE", help="Compare with saved results.")
    ] = None,
    save: Annotated[
        str | None, typer.Option("--save", metavar="FILE", help="Save results as JSON.")
    ] = None,
    bless: Annotated[
        bool, typer.Option("--bless", help="Show which cases would be pinned to their row.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="With --bless or --suggest: write them.")
    ] = False,
    mutate: Annotated[
        bool, typer.Option("--mutate", help="Change every condition and see who notices.")
    ] = False,
    suggest: Annotated[
        bool,
        typer.Option("--suggest", help="With --mutate: samples that would notice the rest."),
    ] = False,
    no_command: Annotated[
        bool, typer.Option("--no-command", help="Also run all cases without their command.")
    ] = False,
    leave_tool_out: Annotated[
        bool,
        typer.Option(
            "--leave-tool-out",
            help="Also run each tool's cases with its name taken out of all rules.",
        ),
    ] = False,
    rules: opt.RulesOption = None,
    json: opt.JsonOption = False,
) -> None:
    """Run labelled captures and the rows' own samples; print how right the table is.

    Ends with 1 where a sample or a pinned case fails, a failure is called fine, or a figure is
    below the corpus's thresholds.yaml.

    Example: triage test -k 'git and not log' --baseline before.json
    """
    wanted = {
        "select": select, "baseline": baseline, "save": save, "bless": bless, "yes": yes,
        "mutate": mutate, "suggest": suggest, "no_command": no_command,
        "leave_tool_out": leave_tool_out,
    }  # fmt: skip
    finish(guarded(json, lambda: _test(paths or [], wanted, rules, json)))


def _test(paths: list[str], wanted: dict[str, Any], rules: str | None, json: bool) -> int:
    from triage.cli.testing import TestRun

    root, overlays = rules_roots(rules)
    found = [Path(path) for path in paths] or [path for path in (corpus_here(None),) if path]
    run = TestRun(root, overlays, found, wanted)
    data = run.data()
    if machine_wanted(json):
        say_json(data)
    else:
        run.show()
    return ExitStatus.FAILED if data["failed"] else ExitStatus.OK


def docs(
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; end with 1 where a block is stale.")
    ] = False,
    json: opt.JsonOption = False,
) -> None:
    """Bring the generated parts of README and of the modes' documents up to date.

    Example: triage docs --check
    """
    finish(guarded(json, lambda: _docs(check, json)))


def _docs(check: bool, json: bool) -> int:
    from triage.cache import builtin_rules
    from triage.cli.blocks import refresh

    root = Path(builtin_rules()).parent
    if not (root / "README.md").is_file():
        raise UsageError(str(root), "no checkout: its README.md is missing", "run it in a checkout")
    stale, warnings = refresh(root, write=not check)
    for warning in warnings:
        notice(warning)
    if machine_wanted(json):
        say_json(
            [{"path": item.path, "block": item.block, "summary": item.summary} for item in stale],
            warnings=warnings,
        )
    else:
        for item in stale:
            say(f"{item.path}: {item.block} {'is stale' if check else 'written'}: {item.summary}")
    return ExitStatus.FAILED if check and stale else ExitStatus.OK
