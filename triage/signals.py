"""What a capture shows, derived lazily: nothing is computed that no row asks for.

A `Signals` belongs to one classification in
one thread; it is the only mutable object between a capture and its verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triage.exits import ExitMeaning, meaning
from triage.literals import is_wide, lowered_text, outline
from triage.text import StreamText, read_stream

if TYPE_CHECKING:
    from functools import cached_property as fact

    from triage.agents.model import AgentRun
    from triage.command import CommandLine, Stage
    from triage.envelope import Extraction
    from triage.literals import Seen
    from triage.model import Capture, Effect, StreamSource
    from triage.table import Table

__all__ = ["HEAD_BYTES", "TAIL_BYTES", "Signals"]

# What is read of a stream that is longer: its cause stands in the first or the last megabytes.
HEAD_BYTES = 4 << 20
TAIL_BYTES = 4 << 20

# The step of the extraction that takes the whole text.
_WHOLE = 2
_BIG_ENOUGH_TO_REST = 0.98  # a duration this near the limit was ended by the limit


if not TYPE_CHECKING:

    class fact:  # noqa: N801 (a decorator, as `property` is one)
        """`functools.cached_property` without the lock that Python 3.11 takes for each."""

        __slots__ = ("made", "name")

        def __init__(self, made):
            self.made = made
            self.name = made.__name__

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.made(instance)
            return value


class Signals:
    """Lazily derived facts of one `Capture`; `memo` holds what the matcher looked up already."""

    def __init__(self, capture: Capture, table: Table | None = None) -> None:
        self.capture = capture
        self.table = table
        self.memo: dict[Any, Any] = {}
        self.warnings: list[str] = list(capture.warnings)
        self.possible: frozenset[int] | set[int] | None = None
        # Where a pattern was searched for in a stream -> what was found.
        self.spans: dict[tuple[int, int, int, int], tuple[int, int] | None] = {}
        # What a pass over the streams has seen, where there was one.
        self.seen: list[Seen] = []
        # By the identity of a stream's text, which lives as long.
        self._lowered: dict[int, str] = {}
        # Whether a row has said already that nothing failed.
        self.fine = False

    @fact
    def stdout(self) -> StreamText:
        if self.capture.merged is not None:
            harness = self._harness
            return self._read("merged", harness[1] if harness else self.capture.merged)
        return self._read("stdout", self.capture.stdout)

    @fact
    def stderr(self) -> StreamText:
        if self.capture.merged is not None:
            return self.stdout
        return self._read("stderr", self.capture.stderr)

    def lowered(self, text: str) -> str | None:
        """Lower-case letters for each character of a stream's `text`; None for any other text.

        A character more may stand at the end (see `triage.literals`); of a wide text those beyond
        ASCII can't be told.
        """
        if text is not self.stderr.text and text is not self.stdout.text:
            return None
        lowered = self.lowered_of(text)
        # The dotted capital I lowers to two characters.
        return lowered if len(lowered) - (not text.isascii()) == len(text) else None

    def lowered_of(self, text: str) -> str:
        """What `triage.literals` makes of a stream's `text`: its outline if it is wide."""
        known: str | None = self._lowered.get(id(text))
        if known is None:
            known = outline(text) if is_wide(text) else lowered_text(text)
            self._lowered[id(text)] = known
        return known

    def clauses(self, number: int, text: str) -> list[list[str]]:
        """The literals that pattern `number` needs, of those in a stream's text; [] if unknown."""
        for seen in self.seen:
            if seen.text is text:
                return seen.clauses(number)
        return []

    @fact
    def merged(self) -> bool:
        return self.capture.merged is not None

    @fact
    def error_stream(self) -> StreamText:
        """Where the error would be: stderr, or stdout where stderr is blank."""
        return self.stdout if self.stderr.blank else self.stderr

    @fact
    def status(self) -> int | None:
        """The exit status: the observer's, or the one a harness wrote into the merged text."""
        code = self.capture.exit_code
        if code is None and self.merged:
            if self._harness is not None:
                return self._harness[0]
            from triage.harness_text import status_in

            code = status_in(self.stdout.text)[0]
        return code

    @fact
    def _harness(self) -> tuple[int | None, StreamSource] | None:
        """The status a harness wrote into merged text, and that text without it; None for files."""
        merged = self.capture.merged
        if self.capture.exit_code is not None or not isinstance(merged, (str, bytes)):
            return None
        from triage.harness_text import status_and_rest

        return status_and_rest(merged)

    @fact
    def exit(self) -> ExitMeaning:
        return meaning(self.status)

    @fact
    def line(self) -> CommandLine | None:
        if self.capture.command is None:
            return None
        from triage.command import parse_command

        return parse_command(self.capture.command)

    @fact
    def owners(self) -> tuple[Stage, ...]:
        """The stages that may own the status, leaving out builtins that don't fail in silence."""
        if self.line is None:
            return ()
        owners = self.line.owners(self.status, self.capture.pipestatus)
        loud = tuple(stage for stage in owners if not stage.quiet_builtin)
        return loud or owners

    @fact
    def effect(self) -> Effect:
        """Whether the call only reads: the caller's word, else rules/effects.yaml."""
        declared = self.capture.effect
        if declared is not None and declared != "unknown":
            return declared
        if self.line is None or self.table is None:
            return "unknown"
        from triage.effects import effect_of

        return effect_of(self.line, declared, self.table.effects).effect

    @fact
    def extraction(self) -> Extraction:
        from triage.envelope import extract

        return extract(self.stdout.raw, stripped=self.stdout.stripped)

    @fact
    def envelope(self) -> dict[str, Any] | None:
        """The extracted value where it is an envelope: an object with `ok`, and no fragment."""
        if "ok" not in self.stdout.raw:
            return None
        found = self.extraction
        value = found.value
        if not found.found or found.fragment or not isinstance(value, dict):
            return None
        return value if isinstance(value.get("ok"), bool) else None

    @fact
    def mid_structure(self) -> bool:
        from triage.envelope import ends_mid_structure

        raw = self.stdout.raw
        if ("[" in raw or "{" in raw) and self.extraction.step == _WHOLE:
            # It ends where its value ends; to look once more would be to decode it once more.
            return False
        return ends_mid_structure(raw, stripped=self.stdout.stripped)

    @fact
    def hang(self) -> bool:
        """Ended by a limit, or silent past the caller's limit."""
        capture = self.capture
        if capture.timed_out or "timeout" in self.exit.classes:
            return True
        if self.merged or capture.exit_code in (None, -1):
            from triage.harness_text import ended_by_limit

            if ended_by_limit(self.stdout.text):
                return True
        idle, silent = capture.idle_limit_s, capture.silent_s
        if idle is not None and silent is not None and silent >= idle > 0:
            return True
        if "signal" in self.exit.classes or "unknown" in self.exit.classes:
            limit, duration = capture.limit_s, capture.duration_s
            if limit and duration is not None and duration >= limit * _BIG_ENOUGH_TO_REST:
                return True
        # `timeout -s KILL 5 cmd` ends with 137: the limit is in the command itself.
        return "kill_signal" in self.exit.classes and any(
            "timeout" in stage.wrappers for stage in self.owners
        )

    @fact
    def agent(self) -> AgentRun | None:
        """The normalised agent run where stdout is an agent CLI's stream."""
        from triage.agents.gate import read_run

        return read_run(self)

    @fact
    def foreign(self) -> Any:
        """The English original of a translated message, from the system's catalogues."""
        from triage.english import may_be_foreign, plainly_english

        for stream in (self.stderr,) if self.merged else (self.stderr, self.stdout):
            if plainly_english(stream.text) or not may_be_foreign(stream.text):
                continue
            from triage.locale_text import find_original

            found = find_original(stream.text)
            if found is not None:
                return found, stream
        return None

    @property
    def known_agent(self) -> AgentRun | None:
        """The agent run where a row asked for it already; asking is not free."""
        run: AgentRun | None = self.__dict__.get("agent")
        return run

    @fact
    def repeats(self) -> int:
        """How many earlier verdicts of the same call ended in one row, from the last back."""
        previous = self.capture.previous
        return self.repeats_of(previous[-1].get("rule")) if previous else 0

    def repeats_of(self, rule: object) -> int:
        """How many of the last verdicts in a row were failures by `rule`."""
        count = 0
        for verdict in reversed(self.capture.previous):
            if verdict.get("rule") != rule or verdict.get("verdict", "failure") != "failure":
                break
            count += 1
        return count

    def _read(self, name: str, source: Any) -> StreamText:
        return read_stream(name, source, head=HEAD_BYTES, tail=TAIL_BYTES)
