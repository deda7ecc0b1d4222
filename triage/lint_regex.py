"""Patterns that could cost more than their text is long.

Captured text is a stranger's and may be megabytes of anything, so each pattern is read as `sre`
parses it and looked at for the shapes that make backtracking explode (`triage.regex_cost`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from triage.finding import Finding, found
from triage.pattern import needs
from triage.regex_cost import regex_faults
from triage.rulebook import PatternUse

__all__ = ["regex_faults", "regex_findings"]


def regex_findings(uses: Iterable[PatternUse]) -> Iterator[Finding]:
    """Yield what is wrong with the shape of each pattern."""
    re2: dict[str, list[PatternUse]] = {}
    for use in uses:
        for code, what, remedy in regex_faults(use.pattern):
            # A short value is searched once; only streams can be megabytes long.
            if use.role == "value" and code in ("regex-start", "regex-bounds"):
                continue
            yield found(code, use.owner, use.where, what, remedy)
        if needs(use.pattern).re2 is None:
            re2.setdefault(use.owner, []).append(use)
    for owner, listed in re2.items():
        what = f"{len(listed)} patterns that RE2 can't express, looked for one by one"
        yield found("regex-re2", owner, listed[0].where, what, "avoid regex-only syntax")
