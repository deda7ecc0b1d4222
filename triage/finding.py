"""One finding of the table's lint, and the codes there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["CODES", "Finding", "Severity", "found"]

Severity = Literal["error", "warning", "note"]

# code -> severity, by what happens when the finding is left as it is: an error makes verdicts
# wrong or rows dead, a warning makes them fragile, a note is a count a person should know.
CODES: Mapping[str, tuple[Severity, str]] = {
    "schema": ("error", "a rule file that can't be loaded"),
    "duplicate": ("error", "two rows with one condition and one outcome"),
    "conflict": ("error", "two rows with one condition and two outcomes"),
    "shadowed": ("error", "a row that an earlier row takes everything from"),
    "impossible": ("error", "a condition that contradicts itself"),
    "sample": ("error", "a match sample lost, or a no_match sample won, by its row"),
    "action": ("error", "a `do`, `do_by` or `retry` that can't be carried out"),
    "bundle": ("error", "a non-interactive bundle that can't work"),
    "regex-nested": ("error", "a repeat inside a repeat that can match the same text"),
    "regex-gaps": ("warning", "two wide open gaps in one branch of a pattern"),
    "regex-bounds": ("warning", "counted gaps whose bounds multiply"),
    "regex-start": ("warning", "a pattern that begins with a repeat and nothing to hold it"),
    "regex-re2": ("note", "a pattern that RE2 can't express"),
    "bare-number": ("warning", "a status number without its context"),
    "bare-word": ("warning", "a common word without context"),
    "no-case": ("warning", "a row that no case of the corpus reaches"),
    "unneeded": ("note", "a condition that no case and no sample needs"),
    "mode-unreached": ("warning", "a mode one capture can show, and no row leads to"),
    "case": ("error", "a corpus case that its schema refuses"),
    "waiver": ("warning", "a waiver that waives nothing"),
    "overlap": ("note", "rows that match the same witnesses, the first of them wins"),
    "disabled": ("note", "a row that an overlay takes out of the table"),
    "tool-names": ("note", "tools a row knows by name"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: which rule, where (``file:line:column``), how bad, what, and the remedy.

    `waived` is the reason the row gives for it, None where it gives none.
    """

    code: str
    rule: str
    where: str
    severity: Severity
    what: str
    remedy: str
    waived: str | None = None

    @property
    def fails(self) -> bool:
        """Whether this finding makes the lint fail."""
        return self.severity != "note" and self.waived is None

    def __str__(self) -> str:
        waived = f" (waived: {self.waived})" if self.waived else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return (
            f"{self.where}: {self.severity} {self.code}: {self.rule}: {self.what}{remedy}{waived}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "code": self.code, "rule": self.rule, "where": self.where, "severity": self.severity,
            "what": self.what, "remedy": self.remedy, "waived": self.waived,
        }  # fmt: skip


def found(code: str, rule: str, where: str, what: str, remedy: str = "") -> Finding:
    """Return a finding with the severity of its code."""
    return Finding(code, rule, where, CODES[code][0], what, remedy)
