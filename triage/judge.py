"""Judge an agent run: read its stream, walk the agent chapter of the table, first match wins.

`judge_run` takes a whole stream, `ajudge_run` an asynchronous one, `RunJudge` is fed while the
agent runs and knows early when the run is lost. All three end in the same rows.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triage.agents.capture import pieces, place_in_text
from triage.agents.formats import load_formats
from triage.agents.model import AgentRun, AgentVerdict
from triage.agents.outcome import conclude, error_capture
from triage.agents.stream import RunReader
from triage.cache import load_table
from triage.engine import matching_rows, signals_for
from triage.model import Capture
from triage.signals import Signals

if TYPE_CHECKING:
    from triage.match import Found
    from triage.table import Row, Table

__all__ = ["AGENT_CHAPTER", "RunJudge", "agent_row", "ajudge_run", "cause_of", "judge_run"]

AGENT_CHAPTER = "00-agent-run"


class RunJudge:
    """Judges a run while it goes on: `feed` bytes, look at `lost`, `finish` once at the end.

    `format` is the name of an agent CLI; None finds it out from the events. Raises `UsageError` for
    a name nobody knows, `RuleError` for a broken table; feeding never raises and keeps its memory
    bounded.
    """

    def __init__(self, format: str | None = None, *, table: Table | None = None) -> None:
        self._table = table or load_table()
        formats = load_formats(self._table.section("agents"), key=self._table.hash)
        self._reader = RunReader(format, formats)

    @property
    def lost(self) -> str | None:
        """Why the run can't be judged `ok` any more, whatever still comes; None while it can.

        Errors that a CLI can recover from (a reconnect, a retry) do not count before the end.
        """
        return self._reader.lost

    @property
    def format(self) -> str | None:
        """The agent CLI, None while it is not known."""
        found = self._reader.format
        return None if found is None else found.id

    def feed(self, data: bytes | str) -> None:
        """Take the next piece of stdout; pieces may end anywhere."""
        self._reader.feed(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)

    def finish(
        self,
        exit_code: int | None = None,
        *,
        stderr: str | bytes = "",
        timed_out: bool = False,
        cancelled: bool = False,
    ) -> AgentVerdict:
        """Return the verdict; the stream has ended. An unknown status is None."""
        return self._judge(self._read(exit_code, stderr, timed_out, cancelled), stderr)

    def _read(
        self, exit_code: int | None, stderr: str | bytes, timed_out: bool, cancelled: bool
    ) -> AgentRun:
        text = stderr.decode("utf-8", "replace") if isinstance(stderr, bytes) else stderr
        return self._reader.finish(exit_code, stderr=text, timed_out=timed_out, cancelled=cancelled)

    def _judge(self, run: AgentRun, stderr: str | bytes) -> AgentVerdict:
        row = agent_row(run, self._table, stderr=stderr)
        if row is None:
            return conclude(run, None)
        verdict = conclude(run, row.agent, rule=row.id, title=row.title)
        return replace(verdict, cause=cause_of(run, self._table)) if verdict.is_error else verdict


def agent_row(run: AgentRun, table: Table | None = None, *, stderr: str | bytes = "") -> Row | None:
    """Return the first row of the agent chapter that takes `run`; None for a bare non-zero exit."""
    table = table or load_table()
    capture = Capture(exit_code=run.exit_code, stderr=stderr, timed_out=run.timed_out)
    signals = Signals(capture, table)
    # The stream was read already, and may be gone: rows ask for the run, not for stdout.
    signals.__dict__["agent"] = run
    for row in _chapter(table):
        found: list[Found] = []
        if table.matcher.holds(row.when, signals, found):
            return row
    return None


def cause_of(run: AgentRun, table: Table | None = None) -> dict[str, Any] | None:
    """Return what the rows for ordinary calls make of the run's error text, None for nothing.

    `{rule, row, mode, modes, title}`: rate limit, expired login, network …, named by the same rows
    that name them for any other tool.
    """
    capture = error_capture(run)
    if capture is None:
        return None
    table = table or load_table()
    row, _ = matching_rows(signals_for(capture, table), table)[0]
    if row.verdict != "failure" or row.row in (None, 16) or not row.modes:
        return None
    return {
        "rule": row.id,
        "row": row.row,
        "mode": row.modes[0],
        "modes": list(row.modes),
        "title": row.title,
    }


def _chapter(table: Table) -> Iterator[Row]:
    return (row for row in table if row.chapter == AGENT_CHAPTER)


def judge_run(
    stream: Any,
    *,
    exit_code: int | None = None,
    stderr: str | bytes = "",
    format: str | None = None,
    timed_out: bool = False,
    cancelled: bool = False,
    table: Table | None = None,
) -> AgentVerdict:
    """Judge one agent run from its stdout.

    `stream` is str, bytes, a path, an open binary file or an iterable of bytes; it is read in
    pieces. `format` names the CLI where the events can't tell it (plain text, no output at all).
    Raises `UsageError` for an unknown format and `OSError` for a path that can't be read.
    """
    judge = RunJudge(format, table=table)
    for piece in pieces(stream):
        judge.feed(piece)
    run = judge._read(exit_code, stderr, timed_out, cancelled)
    if isinstance(stream, str):
        run = place_in_text(run, stream)
    return judge._judge(run, stderr)


async def ajudge_run(
    stream: AsyncIterable[bytes] | Any,
    *,
    exit_code: int | None = None,
    stderr: str | bytes = "",
    format: str | None = None,
    timed_out: bool = False,
    cancelled: bool = False,
    table: Table | None = None,
) -> AgentVerdict:
    """`judge_run` for a stream that arrives asynchronously (anything else is judged at once)."""
    if not isinstance(stream, AsyncIterable):
        return judge_run(
            stream,
            exit_code=exit_code,
            stderr=stderr,
            format=format,
            timed_out=timed_out,
            cancelled=cancelled,
            table=table,
        )
    judge = RunJudge(format, table=table)
    async for piece in stream:
        judge.feed(piece)
    return judge.finish(exit_code, stderr=stderr, timed_out=timed_out, cancelled=cancelled)
