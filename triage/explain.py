"""Why each row above the winner did not match: the first of its conditions that failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triage.engine import classify, signals_for
from triage.finds import Found
from triage.model import Capture
from triage.signals import Signals
from triage.table import Table

__all__ = ["describe", "explain_capture"]

_LONGEST = 200
_QUOTED = 70
_SHOWN = 3
_STREAMS = {"any": "stderr or stdout", "error": "the stream with the error"}
_WINDOWS = {
    "all": "",
    "head": "the start of ",
    "tail": "the end of ",
    "first_line": "the first line of ",
    "last_line": "the last line of ",
}
_FACTS = {
    "envelope": "JSON envelope in stdout with ",
    "json": "JSON in stdout with ",
    "extraction": "JSON found in stdout with ",
    "timing": "",
    "size": "size of ",
    "observed": "note of ",
    "agent": "agent run with ",
}
# A row is no nearer for these: every other call has them too.
_COMMON = frozenset(("zero", "nonzero", "unknown"))


def explain_capture(capture: Capture, table: Table) -> dict[str, Any]:
    """Walk every row down to the winner and say what decided it.

    Returns ``{"verdict": {verdict, rule, title, row, mode}, "rows": [{rule, title, chapter, row,
    matched, near, because}]}``; `near` is true where the capture has something that the row asks
    for and that not every call has. Each row is asked; patterns whose literals the text does not
    hold are not looked for.
    """
    verdict = classify(capture, table)
    signals = signals_for(capture, table)
    rows = []
    for row in table:
        matched = table.matcher.holds(row.when, signals, [])
        because = "every condition holds" if matched else _failed(row.when, signals, table)
        rows.append(
            {
                "rule": row.id,
                "title": row.title,
                "chapter": row.chapter,
                "row": row.row,
                "matched": matched,
                "near": matched or _is_near(row.when, signals, table),
                "because": because,
            }
        )
        if row.id == verdict.rule:
            break
    return {
        "verdict": {
            "verdict": verdict.verdict,
            "rule": verdict.rule,
            "title": verdict.title,
            "row": verdict.row,
            "mode": verdict.mode,
        },
        "rows": rows,
    }


def _failed(node: Sequence[Any], signals: Signals, table: Table) -> str:
    """The first part of a condition that does not hold, in words."""
    if node[0] == "all":
        for part in node[1]:
            if not table.matcher.holds(part, signals, []):
                return _failed(part, signals, table)
    if node[0] == "not":
        return f"ruled out by {_present(node[1], signals, table)}"
    if node[0] == "exit":
        status = _status(signals.capture.exit_code)
        return f"exit status {status}, not {_listed([_status(item) for item in node[1]], 'or')}"
    if node[0] == "command" and signals.capture.command is None:
        return "no command was noted"
    if node[0] == "is":
        part = _first_failing(table.matcher.predicates[node[1]], signals, table)
        # A status or an exclusion says more than the name it goes by; a list of signs says less.
        if part[0] in ("exit", "not"):
            return _failed(part, signals, table)
    return f"no {describe(node, table)}"


def _first_failing(node: Sequence[Any], signals: Signals, table: Table) -> Sequence[Any]:
    """The first part of nested conditions and predicates that does not hold, else the whole."""
    parts = node[1] if node[0] == "all" else [node]
    part = next((item for item in parts if not table.matcher.holds(item, signals, [])), node)
    if part[0] == "is":
        return _first_failing(table.matcher.predicates[part[1]], signals, table)
    return part


def _present(node: Sequence[Any], signals: Signals, table: Table) -> str:
    """What of a condition that holds is there: the text found, else the condition in words."""
    if node[0] == "any":
        node = next(part for part in node[1] if table.matcher.holds(part, signals, []))
        return _present(node, signals, table)
    found: list[Found] = []
    table.matcher.holds(node, signals, found)
    for stream, start, end, kind in found:
        if kind >= 0 and stream.text[start:end].strip():
            from triage.redact import mask_piece

            # Here, not at the border: there it is cut, and a secret with it.
            around = (
                stream.text[max(0, start - _LONGEST) : start],
                stream.text[end : end + _LONGEST],
            )
            text = mask_piece(around[0], stream.text[start:end], around[1])
            return f"{_quoted(text)} in {stream.name}"
    return describe(node, table)


def _is_near(node: Sequence[Any], signals: Signals, table: Table) -> bool:
    for part in node[1] if node[0] == "all" else [node]:
        found: list[Found] = []
        if part[0] in ("not", "empty", "size", "observed"):
            continue
        if not table.matcher.holds(part, signals, found):
            continue
        if found or (part[0] == "exit" and not _COMMON.intersection(map(str, part[1]))):
            return True
        if part[0] == "timing" or (part[0] == "command" and _names_a_program(part)):
            return True
    return False


def _names_a_program(node: Sequence[Any]) -> bool:
    return any(name == "program" for name, _ in node[2])


def describe(node: Sequence[Any], table: Table, depth: int = 0) -> str:
    """Return a condition in words, cut to one readable line; a pattern is shown as it may look."""
    word = node[0]
    if word in ("all", "any"):
        return _several(word, node[1], table, depth)
    if word == "not":
        return _cut(f"absence of {describe(node[1], table, depth + 1)}")
    if word == "is":
        return f"sign of `{table.predicate_names[node[1]]}` (rules/vocabulary.yaml)"
    if word == "text":
        return _text(node, table)
    if word == "raw":
        shown = _like(node[2], table)
        return _cut(f"escape codes like {shown} in {_STREAMS.get(node[1], node[1])}")
    if word == "exit":
        return _cut(f"exit status {_listed([_status(item) for item in node[1]], 'or')}")
    if word == "command":
        tests = [_command_test(name, wanted, table) for name, wanted in [*node[1], *node[2]]]
        return _cut(f"command with {', '.join(tests)}")
    if word == "language":
        return "known message in another language"
    if word == "empty":
        return f"empty {' and '.join(node[1])}"
    if word == "mid_structure":
        return "stdout that ends inside JSON" if node[1] else "stdout that ends outside JSON"
    facts = ", ".join(_fact(name, given, table) for name, given in node[1])
    return _cut(_FACTS[word] + facts if facts else _FACTS[word].removesuffix(" with "))


def _several(word: str, parts: Sequence[Any], table: Table, depth: int) -> str:
    if depth >= 2:
        return f"{'one' if word == 'any' else 'all'} of {len(parts)} conditions"
    if not parts:
        return "anything"
    more = [f"{len(parts) - _SHOWN} more"] if len(parts) > _SHOWN + 1 else []
    kept = parts[:_SHOWN] if more else parts
    shown = [*(describe(part, table, depth + 1) for part in kept), *more]
    joined = ("; or " if word == "any" else "; and ").join(shown)
    return _cut(f"({joined})" if depth and len(shown) > 1 else joined)


def _text(node: Sequence[Any], table: Table) -> str:
    _, stream, window, pids, after, least = node
    times = f", {least} times" if least > 1 else ""
    behind = f" after {_like([after], table)}" if after is not None else ""
    where = _WINDOWS[window] + _STREAMS.get(stream, stream)
    return f"text like {_like(pids, table)}{times}{behind} in {where}"


def _like(pids: Sequence[int], table: Table) -> str:
    """The patterns as one text that the first of them finds, the others counted."""
    from triage.pattern_text import example_texts

    if not pids:
        return "nothing"
    pattern = table.matcher.sources[pids[0]]
    made = example_texts(pattern)
    shown = _quoted(made[0].strip()) if made else f"/{_cut(pattern, _QUOTED)}/"
    return shown + (f" (or {len(pids) - 1} more)" if len(pids) > 1 else "")


def _quoted(text: str) -> str:
    return '"' + _cut(" ".join(text.split()), _QUOTED) + '"'


def _status(item: Any) -> str:
    if isinstance(item, list):
        return f"{item[0]} to {item[1]}"
    return "unknown" if item is None else str(item)


def _command_test(name: str, wanted: Any, table: Table) -> str:
    if name in ("line", "args", "redirects"):
        return f"{name} like {_like([wanted], table)}"
    if name == "words":
        return _fact(name, wanted, table)
    if isinstance(wanted, bool):
        return _fact(name, [["in", [wanted]]], table)
    # A subcommand is a list of words.
    shown = [" ".join(item) if isinstance(item, list) else str(item) for item in wanted]
    return f"{name.replace('_', ' ')} {_listed(shown, 'or')}"


def _fact(name: str, tests: Sequence[Any], table: Table) -> str:
    name = {"": "value", "kind": ""}.get(name, name)
    if tests in ([["in", [True]]], [["in", [False]]]):
        return name if tests[0][1][0] else f"{name} false"
    return " and ".join(f"{name} {_test(kind, arg, table)}".lstrip() for kind, arg in tests)


def _test(kind: str, wanted: Any, table: Table) -> str:
    if kind == "present":
        return "present" if wanted else "absent"
    if kind == "in":
        return _listed([_value(item) for item in wanted], "or")
    if kind == "matches":
        return f"like {_like([wanted], table)}"
    if kind == "kind":
        return f"of kind {_listed(wanted, 'or')}"
    words = {"min": "at least", "max": "at most", "contains": "holding"}
    return f"{words[kind]} {_value(wanted)}"


def _value(value: Any) -> str:
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _listed(items: Sequence[str], joint: str) -> str:
    if len(items) > _SHOWN + 1:
        return f"{', '.join(items[:_SHOWN])} {joint} {len(items) - _SHOWN} more"
    *first, last = items
    return f"{', '.join(first)} {joint} {last}" if first else last


def _cut(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
