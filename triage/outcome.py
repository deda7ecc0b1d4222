"""What `triage.run` gives back: every start of the command as its own capture, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from triage.frozen import frozen
from triage.model import Capture, Effect, Verdict

__all__ = ["Attempt", "How", "Outcome"]

# first: as asked; bundle: inside the non-interactive bundle; wait: after a wait that was called
# for; env: with other variables; again: unchanged.
How = Literal["first", "bundle", "wait", "env", "again"]


@frozen(kw_only=True)
class Attempt:
    """One start of the command.

    `exit_status` is what a shell would say of it, 124 after a limit. `started_at` is UTC in ISO
    8601; `last_byte_s` counts seconds from there for each stream, None where it said nothing.
    `waited_s` were spent before it. `ended_by` is itself, limit, idle or signal (one to us), or
    ``not started``. `survivors` are process numbers that no kill reached.
    """

    number: int
    how: How
    capture: Capture
    verdict: Verdict
    exit_status: int
    ended_by: str
    started_at: str
    waited_s: float
    last_byte_s: Mapping[str, float | None]
    survivors: tuple[int, ...] = ()


@frozen(kw_only=True)
class Outcome:
    """The end of a run: its attempts, the last one's verdict, and what was done about it.

    `effect` is the one that was taken, `effect_why` whence. `exit_status` is the last attempt's.
    `interrupted` is the signal that ended us, None where there was none. `done` says how often it
    was started and why not more; the verdict's `retry.why` begins with it. `unwritten` is why its
    stdout could not be handed on although there was a reader (a full disk), None where it was.
    """

    attempts: tuple[Attempt, ...]
    verdict: Verdict
    effect: Effect
    effect_why: str
    exit_status: int
    interrupted: int | None
    done: str
    unwritten: str | None = None

    @property
    def captures(self) -> tuple[Capture, ...]:
        """The captures of all attempts, in order."""
        return tuple(attempt.capture for attempt in self.attempts)

    def to_dict(self, *, raw: bool = False) -> dict[str, Any]:
        """Return plain JSON data: attempts, verdict, effect, statuses. Secrets masked but `raw`."""
        from triage.escalation import outcome_data

        return outcome_data(self, raw=raw)

    def report(self, *, raw: bool = False, text: bool = False) -> str:
        """Return the escalation bundle: all attempts verbatim, secrets masked but `raw`.

        One JSON object a line, each a capture with what triage said of it under `expected`, so
        that ``triage classify`` and a corpus take the file as it is. With `text`: for a reader.
        """
        from triage.escalation import json_report, text_report

        return text_report(self, raw=raw) if text else json_report(self, raw=raw)
