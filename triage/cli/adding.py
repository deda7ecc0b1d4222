"""`triage new`: a capture becomes a corpus case, and a row that begins to explain it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from triage.cli import options as opt
from triage.cli.output import guarded, machine_wanted, say, say_json
from triage.cli.places import CorpusOption, writable_chapter, writable_corpus
from triage.errors import CaptureError, UsageError

if TYPE_CHECKING:
    from triage.model import Capture
    from triage.table import Table

__all__ = ["new"]


def new(
    chapter: Annotated[
        str, typer.Option("--chapter", metavar="NN-NAME", help="Where it goes, e.g. 11-rate-limit.")
    ],
    why: Annotated[
        str, typer.Option("--why", metavar="TEXT", help="Which observable decides, in a sentence.")
    ],
    case_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The case's id (default: its tool).")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="A JSON capture; - (the default) is stdin."),
    ] = None,
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


def _new(source: str | None, last_run: bool, wanted: dict[str, Any], json: bool) -> None:
    from triage.scaffold import Label, case_of, free_path, tool_of, write_case
    from triage.scaffold_row import add_row, row_skeleton

    if last_run and source is not None:
        raise UsageError("--from --last-run", "two captures", "give one of them")
    table = opt.table_for(wanted["rules"])
    _known_chapter(wanted["chapter"], table)
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
    here = writable_corpus(wanted["corpus"])
    written: dict[str, str | None] = {
        "case": str(free_path(here, label.chapter, label.case_id)),
        "row": None,
    }
    if skeleton and any(row.id == wanted["row_id"] for row in table):
        raise UsageError("--row-id", f"there is a row `{wanted['row_id']}`", "give another id")
    try:
        # The row first: it may be refused, and then there is no case without it.
        if skeleton:
            path, own = writable_chapter(wanted["rules"], label.chapter)
            written["row"] = f"{path}:{add_row(path, skeleton, create=own)}"
        write_case(here, label.chapter, case)
    except OSError as error:
        what = f"can't be written: {error.strerror}"
        raise UsageError(str(error.filename), what, "name a place you may write") from None
    if machine_wanted(json):
        say_json(written)
    else:
        say(f"case {written['case']}")
        if skeleton:
            say(f"row  {written['row']}\n\n{skeleton}")
            say(f"Edit it, then: triage test -k {label.case_id}")


def _known_chapter(chapter: str, table: Table) -> None:
    known = sorted({row.chapter for row in table})
    if chapter not in known:
        what = f"there is no chapter {chapter[:60]!r}"
        raise UsageError("--chapter", what, f"write one of {', '.join(known)}")


def _one_capture(source: str | None, last_run: bool) -> Capture:
    from triage.capture_data import capture_from_mapping

    if last_run:
        from triage.last_run import recall

        return capture_from_mapping(recall(), "--last-run")
    name = source or "-"
    found = list(opt.captures_in([] if name == "-" else [name]))
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
