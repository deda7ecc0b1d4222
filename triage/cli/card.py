"""The human form of a verdict."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from triage.cli.output import Terminal

__all__ = ["print_card", "print_explanation"]

_STYLES = {
    "failure": "bold red",
    "not_failure": "bold green",
    "ambiguous": "bold yellow",
    "insufficient": "bold yellow",
}
_WORDS = {
    "failure": "FAILED",
    "not_failure": "NOT A FAILURE",
    "ambiguous": "AMBIGUOUS",
    "insufficient": "TOO LITTLE CAPTURED",
}


def print_card(data: dict[str, Any], stream: TextIO | None = None) -> None:
    """Print one masked verdict for a person; `stream` is stdout where None."""
    from rich.text import Text

    terminal = Terminal(stream or sys.stdout)
    head = Text(_WORDS[data["verdict"]], style=_STYLES[data["verdict"]])
    head.append(f"  {data['title']}", style="bold")
    terminal.print(head)
    place = f"row {data['row']}" if data["row"] else "no row"
    mode = f", §{data['mode']}" if data["mode"] else ""
    rest = [f"§{number}" for number in data["modes"][1:]]
    likely = f" (also likely {', '.join(rest)})" if rest else ""
    _field(terminal, "where", f"{place}{mode}{likely}, rule {data['rule']}")
    for item in data["evidence"][:3]:
        text = " ".join(item["text"].split())
        _field(terminal, "evidence", f"{item['stream']}:{item['line']}: {text[:200]}")
    _field(terminal, "why", data["why"])
    action = data["action"]
    _field(terminal, "do", action["text"])
    if action["wait_s"]:
        _field(terminal, "wait", f"{action['wait_s']:g} s")
    if action["shell"]:
        _field(terminal, "run", action["shell"])
    for item in action["untrusted"]:
        _field(terminal, "untrusted", f"{item['command']}  (from {item['field']}; not run)")
    retry = data["retry"]
    may = f"yes, {retry['attempts_left']} left" if retry["may"] else "no"
    _field(terminal, "retry", f"{may}: {retry['why']}")
    if data["fallback"]:
        _field(terminal, "fallback", data["fallback"])
    if data["flags"]:
        _field(terminal, "flags", ", ".join(data["flags"]))
    if data["doc"]:
        _field(terminal, "read", f"triage show {data['mode']}")
    for warning in data["warnings"]:
        _field(terminal, "warning", warning)


def print_explanation(report: dict[str, Any], all_rows: bool) -> None:
    """Print for a person what `triage.explain` found; without `all_rows` what came near."""
    from rich.text import Text

    terminal = Terminal(sys.stdout)
    verdict = report["verdict"]
    head = Text(_WORDS[verdict["verdict"]], style=_STYLES[verdict["verdict"]])
    head.append(f"  {verdict['title']}", style="bold")
    terminal.print(head)
    place = f"row {verdict['row']}" if verdict["row"] else "no row"
    mode = f", §{verdict['mode']}" if verdict["mode"] else ""
    _field(terminal, "where", f"{place}{mode}, rule {verdict['rule']}")
    above = [step for step in report["rows"] if not step["matched"]]
    shown = [step for step in above if all_rows or step["near"]]
    near = "" if all_rows else f", {len(shown) or 'none'} of them near it (--all shows all)"
    _field(terminal, "above", f"{len(above)} rules were asked before this one{near}")
    for step in shown:
        number = "-" if step["row"] is None else step["row"]
        line = Text(f"  {number:>2}  {step['rule']:<28} ")
        line.append(step["because"], style="dim")
        terminal.print(line)


def _field(terminal: Terminal, name: str, text: str) -> None:
    from rich.text import Text

    line = Text(f"{name:>10}  ", style="dim")
    line.append(text, style="default")
    terminal.print(line)
