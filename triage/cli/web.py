"""`triage probe` and `triage audit`: is the preview page alive, and what failed so far."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from triage.cli import options as opt
from triage.cli.output import finish, guarded, machine_wanted, notice, say, say_json
from triage.cli.status import ExitStatus
from triage.errors import UsageError

__all__ = ["audit", "probe"]


def probe(
    url: Annotated[str, typer.Argument(metavar="URL", help="The page, http or https.")],
    json: opt.JsonOption = False,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Take a certificate that nobody vouches for.")
    ] = False,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option("--allow-origin", metavar="ORIGIN", help="Fetch from there too; repeatable."),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", help="Give up after so long in all.")
    ] = 30.0,
    max_assets: Annotated[
        int, typer.Option("--max-assets", metavar="N", help="Most files fetched besides the page.")
    ] = 200,
    audit: opt.AuditOption = None,
) -> None:
    """Check a preview page: it comes, it is not blank, and what it refers to resolves.

    Plain GETs within the page's own origin, no browser. Ends with 95 for a preview error.

    Example: triage probe http://127.0.0.1:5173/
    """
    options = {
        "verify_tls": not insecure, "allow_origins": allow_origin or [], "timeout_s": timeout,
        "max_assets": max_assets,
    }  # fmt: skip
    finish(guarded(json, lambda: _probe(url, options, json, audit)))


def _probe(url: str, options: dict[str, Any], json: bool, audit: str | None) -> int:
    from contextlib import suppress

    from triage.errors import RuleError
    from triage.probe import probe as probe_page
    from triage.redact import mask, mask_data

    # The shapes of secrets come with the table; a table that is broken is no reason not to probe,
    # they are then collected anew.
    with suppress(RuleError):
        opt.table_for(None)
    result = probe_page(url, **options)
    if audit:
        opt.record_audit(audit, result, None, None)
    if machine_wanted(json):
        say_json(mask_data(result.to_dict()), warnings=[mask(text) for text in result.warnings])
        if not result.ok:
            notice(result.line().removeprefix("triage "))
    else:
        _print(result)
    return ExitStatus.OK if result.ok else ExitStatus.PREVIEW_ERROR


def _print(result: Any) -> None:
    from triage.redact import mask

    say(mask(result.line().removeprefix("triage probe: ")))
    failed = [check for check in result.checks if not check.ok]
    for check in failed[:20] if len(failed) > 1 else ():
        status = "-" if check.status is None else check.status
        name = f"{check.check} ({check.kind})" if check.kind else check.check
        say(mask(f"  {name}: {check.url}: {status}: {check.detail}"))
    if len(failed) > 20:
        say(f"  … and {len(failed) - 20} more")
    say(f"  {_parts(result)}")
    for warning in result.warnings:
        say(mask(f"  warning: {warning}"))


def _parts(result: Any) -> str:
    """What became of the files that the page refers to, where there was a page to read them in."""
    if not any(check.check == "blank" for check in result.checks):
        return "there was no page to read, so nothing it refers to was checked"
    files = [check for check in result.checks if check.kind is not None]
    good = sum(check.ok for check in files)
    said = f"{good} of {len(files)} files it refers to resolve" if files else "it refers to no file"
    if not result.skipped_count:
        return said
    reasons = sorted({item["reason"].replace("_", " ") for item in result.skipped})
    said = said if files else "no file it refers to was checked"
    return f"{said}; {result.skipped_count} not fetched ({', '.join(reasons)})"


def audit(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Audit file (default $TRIAGE_AUDIT).")
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option("--event", metavar="NAME", help="Only these, e.g. 'agent.*'; repeatable."),
    ] = None,
    rule: Annotated[
        list[str] | None,
        typer.Option("--rule", metavar="ID", help="Only by these rules; repeatable."),
    ] = None,
    mode: Annotated[
        list[int] | None, typer.Option("--mode", metavar="N", help="Only these §N; repeatable.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Only from then on: an ISO time, or 24h."),
    ] = None,
    lines: Annotated[
        int, typer.Option("--lines", metavar="N", help="Also print the last N events.")
    ] = 0,
    json: opt.JsonOption = False,
) -> None:
    """Count the failures in an audit file by event, verdict, rule and mode.

    Only whole lines count; torn ones are counted apart.

    Example: triage audit audit.jsonl --since 24h
    """
    guarded(json, lambda: _audit(file, event, rule, mode, since, lines, json))


def _audit(
    file: str | None,
    events: list[str] | None,
    rules: list[str] | None,
    modes: list[int] | None,
    since: str | None,
    lines: int,
    json: bool,
) -> None:
    from triage.audit import destination
    from triage.audit_summary import since_time, summarize
    from triage.border import dump

    path = destination(file)
    if path is None:
        raise UsageError("FILE", "no audit file named", "name one, or set TRIAGE_AUDIT")
    summary = summarize(
        path,
        events=events or (),
        rules=rules or (),
        modes=modes or (),
        since=None if since is None else since_time(since),
        keep=lines,
    )
    if machine_wanted(json):
        say_json(summary.to_dict())
        return
    torn = f", {summary.torn} torn lines" if summary.torn else ""
    say(f"{summary.matched} of {summary.whole} events{torn}")
    if summary.first is not None:
        say(f"{summary.first} to {summary.last}")
    for name, counts in (
        ("event", summary.by_event),
        ("verdict", summary.by_verdict),
        ("rule", summary.by_rule),
        ("mode", summary.by_mode),
    ):
        for value, count in list(counts.items())[:20]:
            say(f"{name:>8}  {count:>7}  {value}")
    for item in summary.events:
        say(dump(item))
