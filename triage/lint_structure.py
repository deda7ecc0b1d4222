"""What a table says about itself: rows that can't win, actions that can't work, dead modes.

Duplicates, contradictions and shadows are proofs over exit sets, intervals and words (see
`triage.logic`); nothing here needs a capture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from triage.finding import Finding, found
from triage.logic import Logic, normal
from triage.rulebook import RowSource, Rulebook
from triage.table import Table
from triage.witness import outcome_of

__all__ = ["structure_findings"]


def structure_findings(rulebook: Rulebook, table: Table) -> Iterator[Finding]:
    """Yield every finding that needs no witness."""
    yield from _order(rulebook, table)
    yield from _modes(rulebook, table)
    for row in rulebook.rows:
        yield from _actions(row)
    yield from _bundles(rulebook, table)
    yield from _tool_names(rulebook, table)
    for row in rulebook.disabled:
        what = "disabled: neither it nor what it took of its neighbours' samples is asked"
        yield found("disabled", row.id, row.where(), what)


def _order(rulebook: Rulebook, table: Table) -> Iterator[Finding]:
    logic = Logic(table.matcher.predicates)
    forms: dict[str, int] = {}
    for number, row in enumerate(rulebook.rows):
        when = table.row(number).when
        if logic.impossible(when):
            what = "its condition contradicts itself"
            yield found("impossible", row.id, row.where("when"), what, "correct the condition")
            continue
        form = normal(when)
        first = forms.setdefault(form, number)
        if first != number:
            other = rulebook.rows[first]
            if other.layer > row.layer:
                continue
            same = outcome_of(table.row(first)) == outcome_of(table.row(number))
            code = "duplicate" if same else "conflict"
            what = f"the same condition as `{other.id}` ({other.where()}), which wins"
            remedy = "remove one" if same else "make the conditions differ, or keep one outcome"
            yield found(code, row.id, row.where("when"), what, remedy)
            continue
        for earlier in range(number):
            # An overlay may take over what is ours.
            if rulebook.rows[earlier].layer > row.layer:
                continue
            if logic.implies(when, table.row(earlier).when):
                other = rulebook.rows[earlier]
                what = f"`{other.id}` ({other.where()}) takes everything this row could"
                remedy = "move this row above it, or narrow it"
                yield found("shadowed", row.id, row.where("when"), what, remedy)
                break


def _modes(rulebook: Rulebook, table: Table) -> Iterator[Finding]:
    reached: set[int] = set()
    for row in (*rulebook.rows, *rulebook.disabled):
        reached.update(row.data.get("modes", ())[:1])
        for by_value in row.data.get("modes_by", {}).values():
            reached.update(number for modes in by_value.values() for number in modes[:1])
    folder = rulebook.roots[0] / "modes"
    for number in range(1, 78):
        mode = table.mode(number)
        if mode.observable == "single" and number not in reached:
            where = f"{folder}/{mode.doc}:1:1"
            what = f"one capture can show §{number} ({mode.title}), and no row puts it first"
            yield found("mode-unreached", f"§{number}", where, what, "add a row, or to modes_by")


def _actions(row: RowSource) -> Iterator[Finding]:
    from triage.actions import check_action

    names = frozenset(row.data.get("capture", {}))
    retry: Mapping[str, Any] | None = row.data.get("retry")
    blocks: list[tuple[tuple[Any, ...], Any]] = [(("do",), row.data.get("do"))]
    for path, by_value in row.data.get("do_by", {}).items():
        blocks += [(("do_by", path, value), block) for value, block in by_value.items()]
    seen: set[tuple[str, str]] = set()
    for place, block in blocks:
        for path, what, remedy in check_action(block, retry, names):
            where = row.where(*place, *path[1:]) if path[0] == "do" else row.where(*path)
            if (where, what) not in seen:
                seen.add((where, what))
                yield found("action", row.id, where, what, remedy)


def _bundles(rulebook: Rulebook, table: Table) -> Iterator[Finding]:
    from triage.bundle import check_bundles

    for path, what, remedy in check_bundles(table.bundles):
        where = f"{rulebook.roots[0]}/bundle.yaml:1:1"
        yield found("bundle", ".".join(path), where, what, remedy)


def _tool_names(rulebook: Rulebook, table: Table) -> Iterator[Finding]:
    for number, row in enumerate(rulebook.rows):
        names = _programs(table.row(number).when, table)
        if names:
            shown = ", ".join(sorted(names)[:6]) + (", …" if len(names) > 6 else "")
            what = f"knows {len(names)} tools by name: {shown}"
            yield found("tool-names", row.id, row.where("when"), what)


def _programs(node: Any, table: Table) -> set[str]:
    names: set[str] = set()
    todo = [node]
    while todo:
        item = todo.pop()
        if item[0] == "command":
            for name, wanted in item[2]:
                if name == "program":
                    names.update(wanted)
        elif item[0] in ("all", "any"):
            todo.extend(item[1])
        elif item[0] == "not":
            todo.append(item[1])
        elif item[0] == "is":
            todo.append(table.matcher.predicates[item[1]])
    return names
