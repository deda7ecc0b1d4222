"""`triage extract`, `bundle`, `rules` and `show`: what the rules and a stream say, printed."""

from __future__ import annotations

import os
import re
import sys
from typing import Annotated, Any

import typer

from triage.border import dump
from triage.cli import options as opt
from triage.cli.output import finish, guarded, machine_wanted, notice, say, say_json
from triage.cli.status import ExitStatus
from triage.errors import NotFoundError, UsageError

__all__ = ["bundle", "extract", "rules", "show"]


def extract(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="Captured stdout; - is stdin.")
    ] = "-",
    json: opt.JsonOption = False,
) -> None:
    """Print the JSON payload of a polluted stdout, by the canonical extraction rule.

    Ends with 1 where nothing parses: the output is unstructured and nothing is guessed.

    Example: tool list --json | triage extract
    """
    finish(guarded(json, lambda: _extract(file, json)))


def _extract(file: str, json: bool) -> int:
    from triage.envelope import extract as extract_from
    from triage.redact import mask_data
    from triage.text import read_stream

    if file == "-":
        source: Any = sys.stdin.buffer.read()
    else:
        source = _file(file)
    text = read_stream("stdout", source, head=64 << 20, tail=1 << 20)
    found = extract_from(text.raw)
    usable = found.found and not found.fragment
    if machine_wanted(json):
        facts = {
            "found": found.found, "step": found.step,
            "span": list(text.raw_span(found.start, found.end)),
            "fragment": found.fragment, "candidates": found.candidates, "before": found.has_before,
            "after": found.has_after, "documents": found.documents,
        }  # fmt: skip
        say_json({"payload": mask_data(found.value) if usable else None, **facts})
    elif usable:
        say(dump(mask_data(found.value), pretty=sys.stdout.isatty()))
    return ExitStatus.OK if usable else ExitStatus.FAILED


def bundle(
    command: Annotated[list[str], typer.Argument(metavar="CMD...", help="The command to wrap.")],
    seed: Annotated[
        bool, typer.Option("--seed", help="The seed's prefix to the letter, nothing more.")
    ] = False,
    powershell: Annotated[
        bool, typer.Option("--powershell", help="Render for PowerShell.")
    ] = False,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="S", help="Time limit (default 60).")
    ] = None,
    json: opt.JsonOption = False,
) -> None:
    """Print a command wrapped in the non-interactive bundle; nothing is run.

    Example: triage bundle -- git log
    """
    guarded(json, lambda: _bundle(command, seed, powershell, timeout, json))


def _bundle(
    command: list[str], seed: bool, powershell: bool, timeout: float | None, json: bool
) -> None:
    from triage.bundle import bundle as wrap
    from triage.redact import mask_data

    made = wrap(command, flavour="seed" if seed else "extended", timeout_s=timeout)
    whole = {
        "argv": list(made.argv),
        "env": dict(made.env),
        "stdin": made.stdin,
        "timeout_s": made.timeout_s,
        "new_session": made.new_session,
        "flavour": made.flavour,
        "posix": made.posix,
        "powershell": made.powershell,
    }
    data = mask_data(whole)
    if data != whole:
        notice("a secret of the command is masked: put it back before you run this")
    if machine_wanted(json):
        say_json(data)
    else:
        say(data["powershell" if powershell else "posix"])


def rules(
    row: Annotated[
        str | None, typer.Argument(metavar="[ROW]", help="A row's id, or a seed row's number.")
    ] = None,
    seed: Annotated[bool, typer.Option("--seed", help="The seed's sixteen rows.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="The JSON Schema of a chapter of rows.")
    ] = False,
    rules: opt.RulesOption = None,
    json: opt.JsonOption = False,
) -> None:
    """List the decision table in order, or show one row as it is written.

    Example: triage rules command-not-found
    """
    finish(guarded(json, lambda: _rules(row, seed, schema, rules, json)))


def _rules(row: str | None, seed: bool, schema: bool, folder: str | None, json: bool) -> int:
    from triage.cache import builtin_rules
    from triage.listing import row_source, seed_rows, table_rows

    root = folder or builtin_rules()
    if schema:
        path = os.path.join(root, "schema", "chapter.schema.json")
        with open(path, encoding="utf-8") as file:
            say(file.read().rstrip())
        return ExitStatus.OK
    table = opt.table_for(folder)
    if seed:
        rows = seed_rows(table)
        if machine_wanted(json):
            say_json(rows)
        else:
            for item in rows:
                modes = " ".join(f"§{number}" for number in item["modes"]) or "—"
                say(f"{item['number']:>2}  {item['signal']}\n    {modes}\n    {item['action']}")
        return ExitStatus.OK
    listed = table_rows(table)
    by_number = row is not None and re.fullmatch(r"[0-9]{1,2}", row) is not None
    if row is not None:
        listed = [r for r in listed if r["id"] == row or (by_number and r["row"] == int(row))]
        if not listed:
            raise NotFoundError("ROW", f"no row {row!r}", "see `triage rules` for the ids")
    if machine_wanted(json):
        say_json(listed)
    elif row is not None and not by_number:
        say(row_source(listed[0]["place"], listed[0]["id"]))
    else:
        for r in listed:
            modes = " ".join(f"§{number}" for number in r["modes"]) or "-"
            number = "-" if r["row"] is None else str(r["row"])
            say(f"{r['chapter']:<22} {number:>2}  {r['id']:<30} {modes}")
    return ExitStatus.OK


def show(
    mode: Annotated[str, typer.Argument(metavar="MODE", help="A failure mode: 10 or §10.")],
    json: opt.JsonOption = False,
) -> None:
    """Print the document of one failure mode.

    Example: triage show 10
    """
    finish(guarded(json, lambda: _show(mode, json)))


def _show(mode: str, json: bool) -> int:
    from triage.cache import builtin_rules

    number = mode.removeprefix("§")
    if not re.fullmatch("[0-9]{1,9}", number) or not 1 <= int(number) <= 77:
        raise NotFoundError("MODE", f"{mode!r} is no failure mode", "write a number from 1 to 77")
    folder = os.path.join(builtin_rules(), "modes")
    name = next(n for n in sorted(os.listdir(folder)) if n.startswith(f"{int(number):02}-"))
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        text = file.read()
    if machine_wanted(json):
        say_json({"mode": int(number), "file": f"rules/modes/{name}", "text": text})
    else:
        say(text.rstrip())
    return ExitStatus.OK


def _file(path: str) -> Any:
    if not os.path.isfile(path):
        raise UsageError("FILE", f"no file {path!r}", "name a file that exists, or - for stdin")
    from pathlib import Path

    return Path(path)
