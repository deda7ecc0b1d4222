"""Errors with one root and a location in every message."""

from __future__ import annotations

__all__ = [
    "CaptureError",
    "CommandStartError",
    "LocatedIssue",
    "NotFoundError",
    "RuleError",
    "TriageError",
    "UsageError",
]


class TriageError(Exception):
    """Root of every error this package raises on purpose.

    `where` names the place (``file:line:column``, ``stdin:3``, ``--exit``), `what` says what is
    wrong there, `remedy` what to write instead. The message is always ``where: what; remedy``.
    """

    def __init__(self, where: str, what: str, remedy: str = "") -> None:
        self.where = where
        self.what = what
        self.remedy = remedy
        super().__init__(f"{where}: {what}" + (f"; {remedy}" if remedy else ""))


class LocatedIssue:
    """One finding at one place; `RuleError` carries all of them, not just the first."""

    __slots__ = ("remedy", "what", "where")

    def __init__(self, where: str, what: str, remedy: str = "") -> None:
        self.where = where
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f"; {self.remedy}" if self.remedy else "")


class RuleError(TriageError):
    """A rule file can't be used; nothing is classified with a half-loaded table."""

    def __init__(self, issues: list[LocatedIssue]) -> None:
        first = issues[0]
        self.issues = tuple(issues)
        more = f" (and {len(issues) - 1} more)" if len(issues) > 1 else ""
        super().__init__(first.where, first.what, first.remedy + more if more else first.remedy)


class CaptureError(TriageError):
    """A capture can't be read: not JSON, not an object, or a key of the wrong type."""


class UsageError(TriageError):
    """The caller's arguments don't fit together."""


class NotFoundError(TriageError):
    """The caller asks for a row, mode or case that there is not."""


class CommandStartError(TriageError):
    """The command could not be started; `status` is the shell's meaning (126 or 127)."""

    def __init__(self, where: str, what: str, remedy: str = "", *, status: int = 126) -> None:
        super().__init__(where, what, remedy)
        self.status = status
