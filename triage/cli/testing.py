"""One run of `triage test`: samples, cases, and whatever else was asked for."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

from triage import corpus as runner
from triage.bless import pins, write_pins
from triage.cache import load_table
from triage.cases import Case, only
from triage.cli.figures import (
    miss_data,
    percent,
    print_comparison,
    print_mutation,
    print_report,
)
from triage.cli.output import say
from triage.errors import NotFoundError, UsageError
from triage.mutate import MutationReport, mutate
from triage.rulebook import Rulebook, load_rulebook
from triage.sample_writer import flow_line, write_samples
from triage.suggest import Suggestion, suggest
from triage.table import Table
from triage.witness import Gathered, failed_samples, gather

__all__ = ["TestRun"]


class TestRun:
    """What `triage test` found; each part is computed when it is asked for."""

    def __init__(
        self, root: Path, overlays: list[Path], paths: list[Path], wanted: dict[str, Any]
    ) -> None:
        self.root = root
        self.overlays = overlays
        self.paths = paths
        self.wanted = wanted
        # Some seconds of work hang on these: what is wrong with them is said before.
        _writable(wanted["save"])
        if wanted["suggest"] and not wanted["mutate"]:
            raise UsageError("--suggest", "nothing to suggest for", "add --mutate")
        if wanted["yes"] and not (wanted["bless"] or wanted["suggest"]):
            raise UsageError("--yes", "nothing to write", "add --bless, or --mutate --suggest")
        self.before = None
        if wanted["baseline"] is not None:
            self.before = runner.read_results(Path(wanted["baseline"]))["cases"]
        only((), wanted["select"])
        self.found = self._found()

    @cached_property
    def table(self) -> Table:
        return load_table(self.root, overlays=self.overlays)

    @cached_property
    def rulebook(self) -> Rulebook:
        return load_rulebook(self.root, self.overlays)

    def _found(self) -> list[Case]:
        """The cases that were asked for, those of disabled rows too."""
        found = [case for path in self.paths for case in runner.load_cases(path)]
        chosen = only(found, self.wanted["select"])
        if self.wanted["select"] is not None and not chosen:
            what = f"none of {len(found)} cases has these words"
            raise NotFoundError("-k", what, "see the names of the corpus's files")
        return chosen

    @cached_property
    def left_out(self) -> dict[Path, str]:
        """File -> id of our cases that a row took which is disabled: their label is ours."""
        off = {row.id for row in self.rulebook.disabled}
        corpus = (self.root.parent / "corpus").resolve()
        ours = [case for case in self.found if off and case.path.resolve().is_relative_to(corpus)]
        before = runner.run_cases(ours, load_table(self.root)).outcomes if ours else ()
        return {item.case.path: item.case.id for item in before if item.rule in off}

    @cached_property
    def cases(self) -> list[Case]:
        return [case for case in self.found if case.path not in self.left_out]

    @cached_property
    def report(self) -> runner.Report:
        return runner.run_cases(self.cases, self.table)

    @cached_property
    def figures(self) -> dict[str, Any]:
        return self.report.figures()

    @cached_property
    def gathered(self) -> Gathered:
        return gather(self.table, self.rulebook, self.cases if self.wanted["mutate"] else ())

    @cached_property
    def failed_samples(self) -> list[dict[str, Any]]:
        return [
            {"rule": witness.owner, "kind": witness.kind, "place": witness.place, "won_by": row.id}
            for witness, row in failed_samples(self.gathered, self.rulebook)
        ]

    @cached_property
    def mutation(self) -> MutationReport:
        return mutate(self.rulebook, self.gathered)

    @cached_property
    def suggestions(self) -> list[Suggestion]:
        """Samples that would notice what nobody notices, where that was asked for."""
        if not (self.wanted["mutate"] and self.wanted["suggest"]):
            return []
        return list(suggest(self.rulebook, self.gathered, self.mutation.survivors))

    @cached_property
    def others(self) -> dict[str, Any]:
        """The figures of the runs under harder conditions that were asked for."""
        others: dict[str, Any] = {}
        if self.wanted["no_command"]:
            others["without_command"] = runner.without_commands(self.cases, self.table).figures()
        if self.wanted["leave_tool_out"]:
            others["without_tool"] = runner.without_tools(self.cases, self.table)
        if self.wanted["mutate"]:
            others["mutation"] = self.mutation.figures()
        return others

    @cached_property
    def below(self) -> list[str]:
        """Figures on the wrong side of the corpus's thresholds; a selection is not held to them."""
        if self.wanted["select"] is not None or len(self.paths) != 1:
            return []
        thresholds = runner.read_thresholds(self.paths[0])
        return runner.below_thresholds(self.figures, thresholds)

    @cached_property
    def comparison(self) -> runner.Comparison | None:
        before = self.before
        if before is None:
            return None
        now = self.report.per_case()
        known = {case: before[case] for case in before if case in now or not self.wanted["select"]}
        return runner.compare(known, now)

    @cached_property
    def unpinned(self) -> list[str]:
        """Pinned cases that another row takes."""
        return [item.case.id for item in self.report.outcomes if not item.pinned]

    def data(self) -> dict[str, Any]:
        """Run everything that was asked for, write what is to be written; all of it as data."""
        if self.wanted["save"] is not None:
            self._save(Path(self.wanted["save"]))
        changes = pins(self.report) if self.wanted["bless"] else []
        if self.wanted["yes"]:
            write_pins(changes)
            files = {row.id: Path(row.source.name) for row in self.rulebook.rows}
            write_samples(self.suggestions, files)
        failed = bool(
            self.failed_samples
            or self.figures["failures_called_fine"]
            or self.below
            or (self.unpinned and not self.wanted["bless"])
        )
        compared = self.comparison
        return {
            "failed": failed,
            "samples": {"count": len(self.gathered.samples), "failed": self.failed_samples},
            "disabled": {
                "rows": [row.id for row in self.rulebook.disabled],
                "cases_left_out": sorted(self.left_out.values()),
            },
            "figures": self.figures,
            "below_thresholds": self.below,
            "unpinned": self.unpinned,
            "misses": [miss_data(item) for item in self.report.misses()],
            "mode_misses": [miss_data(item) for item in self.report.mode_misses()],
            "confusion": [list(item) for item in self.report.confusion()],
            "by_tool": self.report.by_tool(),
            **self.others,
            **({"survivors": self._survivors()} if self.wanted["mutate"] else {}),
            **({"suggestions": self._suggestions()} if self.wanted["suggest"] else {}),
            **({"pins": [str(pin) for pin in changes]} if self.wanted["bless"] else {}),
            **({} if compared is None else {"comparison": _plain(compared)}),
        }

    def _save(self, path: Path) -> None:
        saved = runner.results(self.report, self.table, self.others)
        try:
            path.write_text(runner.results_text(saved), encoding="utf-8")
        except OSError as error:
            what = f"{str(path)!r} can't be written: {error.strerror}"
            raise UsageError("--save", what, "name a file you may write") from None

    def _survivors(self) -> list[dict[str, str]]:
        return [
            {"rule": item.target, "kind": item.kind, "where": item.where, "what": item.what}
            for item in self.mutation.survivors
        ]

    def _suggestions(self) -> list[dict[str, Any]]:
        return [
            {
                "rule": item.rule,
                "kind": item.kind,
                "sample": dict(item.sample),
                "won_by": item.won_by,
                "notices": [f"{mutant.where}: {mutant.what}" for mutant in item.notices],
            }
            for item in self.suggestions
        ]

    def show(self) -> None:
        """Print everything for a person; `data` was called before."""
        wanted = self.wanted
        held = len(self.gathered.samples) - len(self.failed_samples)
        say(f"samples        {held} of {len(self.gathered.samples)} hold")
        if self.rulebook.disabled:
            rows = ", ".join(row.id for row in self.rulebook.disabled)
            say(f"disabled       {rows}; {len(self.left_out)} cases that they took are left out")
        if self.cases:
            print_report(self.report, self.figures, misses=True)
        for sample in self.failed_samples:
            verb = "is won by" if sample["kind"] == "match" else "is reached,"
            told = f"{sample['kind']} of {sample['rule']} {verb} {sample['won_by']}"
            say(f"{sample['place']}: {told}")
        for name in self.unpinned:
            say(f"{name}: won by another row than it is pinned to")
        if "without_command" in self.others:
            rows = self.others["without_command"]["rows"]
            say(f"\nwithout the command   rows {percent(rows)}")
        if "without_tool" in self.others:
            self._show_tools()
        if wanted["mutate"]:
            print_mutation(self.mutation)
        for item in self.suggestions:
            say(f"{item.rule}: {item.kind} (now won by {item.won_by}):\n      {flow_line(item)}")
        if self.comparison is not None:
            print_comparison(self.comparison)
        if wanted["bless"]:
            self._show_pins()
        for sentence in self.below:
            say(f"below threshold: {sentence}")

    def _show_tools(self) -> None:
        found = self.others["without_tool"]
        say(f"without the tool's name   rows {percent(found['average'])}, mean over tools")
        for tool, item in found["tools"].items():
            if item["rows"] is not None and item["rows"] < 1:
                say(f"  {tool}: {percent(item['rows'])} of {item['cases']}")

    def _show_pins(self) -> None:
        # Written by then: only what a case was pinned to before is still in memory.
        for pin in pins(self.report):
            say(f"  {pin}")
        say("written" if self.wanted["yes"] else "nothing written; add --yes to write")


def _writable(path: str | None) -> None:
    """Raises `UsageError` where no file can be written there."""
    if path is None:
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise UsageError("--save", f"no folder {str(Path(path).parent)!r}", "make it first")
    if Path(path).is_dir() or not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise UsageError("--save", f"{path!r} can't be written", "name a file you may write")


def _plain(compared: runner.Comparison) -> dict[str, Any]:
    return {
        "better": [list(item) for item in compared.better],
        "worse": [list(item) for item in compared.worse],
        "moved": [list(item) for item in compared.moved],
        "only_before": list(compared.only_before),
        "only_after": list(compared.only_after),
    }
