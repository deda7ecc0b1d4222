"""`triage lint`, `test`, `new` and `docs`: what keeps a table right, printed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from triage.cli import options as opt
from triage.cli.output import finish, guarded, machine_wanted, notice, say, say_json
from triage.cli.status import ExitStatus
from triage.errors import CaptureError, UsageError

if TYPE_CHECKING:
    from triage.model import Capture

__all__ = ["docs", "lint", "new", "test"]

CorpusOption = Annotated[
    str | None,
    typer.Option("--corpus", metavar="DIR", help="Labelled cases (default: corpus/ here)."),
]


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

    root, overlays = _roots(rules)
    findings = lint_table(root, overlays, _corpus(corpus), conditions=not fast)
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
    yes: Annotated[bool, typer.Option("--yes", help="With --bless: write the pins.")] = False,
    mutate: Annotated[
        bool, typer.Option("--mutate", help="Change every condition and see who notices.")
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
        "mutate": mutate, "no_command": no_command, "leave_tool_out": leave_tool_out,
    }  # fmt: skip
    finish(guarded(json, lambda: _test(paths or [], wanted, rules, json)))


def _test(paths: list[str], wanted: dict[str, Any], rules: str | None, json: bool) -> int:
    from triage.cli.testing import TestRun

    root, overlays = _roots(rules)
    found = [Path(path) for path in paths] or [path for path in (_corpus(None),) if path]
    run = TestRun(root, overlays, found, wanted)
    data = run.data()
    if machine_wanted(json):
        say_json(data)
    else:
        run.show()
    return ExitStatus.FAILED if data["failed"] else ExitStatus.OK


def new(
    chapter: Annotated[
        str, typer.Option("--chapter", metavar="NN-NAME", help="Where it belongs: 11-rate-limit.")
    ],
    why: Annotated[
        str, typer.Option("--why", metavar="TEXT", help="Which observable decides, in a sentence.")
    ],
    case_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The case's id (default: its tool).")
    ] = None,
    source: Annotated[
        str, typer.Option("--from", metavar="FILE", help="A JSON capture; - is stdin.")
    ] = "-",
    last_run: Annotated[
        bool, typer.Option("--last-run", help="Take the capture of the last `triage run`.")
    ] = False,
    row_id: Annotated[
        str | None,
        typer.Option("--row-id", metavar="ID", help="Also write a row that begins to explain it."),
    ] = None,
    modes: Annotated[
        str, typer.Option("--modes", metavar="N,N", help="Acceptable modes, best first.")
    ] = "",
    verdict: Annotated[
        str | None,
        typer.Option("--verdict", metavar="KIND", help="Where the chapter alone doesn't say it."),
    ] = None,
    tool: Annotated[
        str | None, typer.Option("--tool", metavar="NAME", help="The program that was called.")
    ] = None,
    corpus: CorpusOption = None,
    rules: opt.RulesOption = None,
    json: opt.JsonOption = False,
) -> None:
    """Write a redacted corpus case from a capture, and a row skeleton if one is asked for.

    Example: triage run --json -- tool x; triage new --last-run --chapter 12-auth --why 'says 401'
    """
    wanted = {
        "chapter": chapter, "why": why, "case_id": case_id, "row_id": row_id, "modes": modes,
        "verdict": verdict, "tool": tool, "corpus": corpus, "rules": rules,
    }  # fmt: skip
    guarded(json, lambda: _new(source, last_run, wanted, json))


def _new(source: str, last_run: bool, wanted: dict[str, Any], json: bool) -> None:
    from triage.scaffold import Label, case_of, tool_of, write_case
    from triage.scaffold_row import add_row, row_skeleton

    capture = _one_capture(source, last_run)
    tool = wanted["tool"] or tool_of(capture)
    if tool is None:
        raise UsageError("--tool", "the capture doesn't say which program ran", "name it")
    label = Label(
        case_id=wanted["case_id"] or f"{tool}-{wanted['chapter'][3:]}".lower(),
        chapter=wanted["chapter"],
        tool=tool,
        why=wanted["why"],
        verdict=wanted["verdict"],
        modes=_modes(wanted["modes"]),
    )
    case = case_of(capture, label)
    skeleton = wanted["row_id"] and row_skeleton(wanted["row_id"], case, label.chapter)
    here = _corpus(wanted["corpus"]) or Path(".triage/corpus")
    written = {"case": str(write_case(here, label.chapter, case)), "row": None}
    if skeleton:
        folder, own = _writable_rules(wanted["rules"])
        path = folder / "table" / f"{label.chapter}.yaml"
        written["row"] = f"{path}:{add_row(path, skeleton, create=own)}"
    if machine_wanted(json):
        say_json(written)
    else:
        say(f"case {written['case']}")
        if skeleton:
            say(f"row  {written['row']}\n\n{skeleton}")
            say(f"Edit it, then: triage test -k {label.case_id}")


def _one_capture(source: str, last_run: bool) -> Capture:
    from triage.capture_data import capture_from_mapping

    if last_run:
        from triage.last_run import recall

        return capture_from_mapping(recall(), "--last-run")
    found = list(opt.captures_in([] if source == "-" else [source]))
    if len(found) != 1:
        raise UsageError("--from", f"{len(found)} captures", "give exactly one")
    if isinstance(found[0], CaptureError):
        raise found[0]
    return found[0]


def _modes(text: str) -> tuple[int, ...]:
    numbers = [word.strip().removeprefix("§") for word in text.split(",") if word.strip()]
    for number in numbers:
        if not number.isdigit() or not 1 <= int(number) <= 77:
            raise UsageError("--modes", f"{number!r} is no failure mode", "write 19,53")
    return tuple(map(int, numbers))


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


def _roots(rules: str | None) -> tuple[Path, list[Path]]:
    """The rules folder and the overlays a verb works with, as `table_for` takes them."""
    from triage.cache import builtin_rules
    from triage.overlays import find_overlays

    if rules is not None:
        if not os.path.isdir(rules):
            what = f"no folder {rules!r}"
            raise UsageError("--rules", what, "name a folder laid out like rules/")
        return Path(rules), []
    return Path(builtin_rules()), [Path(folder) for folder in find_overlays()]


def _corpus(folder: str | None) -> Path | None:
    """The corpus that is named, the one here, or the checkout's beside the rules."""
    from triage.cache import builtin_rules

    if folder is not None:
        return Path(folder)
    for place in (Path("corpus"), Path(builtin_rules()).parent / "corpus"):
        if place.is_dir():
            return place
    return None


def _writable_rules(rules: str | None) -> tuple[Path, bool]:
    """Where a new row is written, and whether chapters may be made there."""
    if rules is not None:
        return Path(rules), True
    if Path("rules/table").is_dir():
        return Path("rules"), False
    return Path(".triage/rules"), True
