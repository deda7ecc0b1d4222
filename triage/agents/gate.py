"""The cheap look: can this call be an agent run? Nothing is loaded for the many that can't."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Protocol

    from triage.agents.model import AgentRun
    from triage.command import CommandLine, Stage
    from triage.model import Capture
    from triage.text import StreamText

    class AgentTable(Protocol):
        """What is needed of `triage.table.Table`."""

        hash: str

        def section(self, name: str, /) -> Any: ...

    class AgentView(Protocol):
        """What is needed of `triage.signals.Signals`."""

        @property
        def capture(self) -> Capture: ...
        @property
        def stdout(self) -> StreamText: ...
        @property
        def stderr(self) -> StreamText: ...
        @property
        def merged(self) -> bool: ...
        @property
        def line(self) -> CommandLine | None: ...
        @property
        def hang(self) -> bool: ...
        @property
        def table(self) -> AgentTable | None: ...


__all__ = ["PROGRAMS", "READERS", "maybe_stream", "read_run"]

# The programs of rules/agents/*.yaml, so that most captures need not load those files (a test
# keeps the two equal).
PROGRAMS = frozenset(
    {
        "agy", "aider", "antigravity", "claude", "clawcodex", "codex", "copilot", "cursor-agent",
        "gemini", "goose", "opencode", "pi", "qwen",
    }
)  # fmt: skip

# Programs that show what others wrote: a stream in their output is no run of theirs.
READERS = frozenset(
    {
        "ag", "aws", "awk", "bat", "cat", "curl", "cut", "diff", "echo", "egrep", "fgrep", "find",
        "fold", "gawk", "gh", "git", "gojq", "grep", "gzcat", "head", "jaq", "jq", "journalctl",
        "less", "ls", "more", "nl", "printf", "rg", "sed", "sort", "sqlite3", "strings", "tac",
        "tail", "uniq", "wget", "xzcat", "yq", "zcat",
    }
)  # fmt: skip

# One of these stands in the first lines of every format that is recognised by its content.
_MARKS = ('"type"', '"event"', '"session_id"', '"conversation_id"', '"messages"', '"msg"')
_HEAD = 256 << 10


def maybe_stream(text: str) -> bool:
    """Return whether `text` can be an agent's stream; no rules are needed to say no."""
    start = text.find("{", 0, _HEAD)
    return start >= 0 and any(text.find(mark, start, _HEAD) >= 0 for mark in _MARKS)


def read_run(view: AgentView) -> AgentRun | None:
    """Return the normalised run where the call is an agent CLI's, else None; total.

    The command tells (``claude -p …``, whatever it printed), else the content of stdout does:
    distinctive events that make up most of it. Calls that only show a file (``cat run.jsonl``)
    are none.
    """
    started = _agent_stage(view.line)
    if started is None and (not maybe_stream(view.stdout.raw) or _shows_only(view.line)):
        return None
    from triage.agents.capture import read

    return read(view, started)


def _agent_stage(line: CommandLine | None) -> Stage | None:
    """The last stage of the line, where it starts an agent CLI."""
    if line is None or not line.stages:
        return None
    last: Stage = line.stages[-1]
    return last if last.program.casefold() in PROGRAMS else None


def _shows_only(line: CommandLine | None) -> bool:
    """The last stage prints what is in files or logs, and no stage is an agent."""
    if line is None or not line.stages:
        return False
    last = line.stages[-1]
    shows = last.program.casefold() in READERS or "logs" in last.words[:2]
    return shows and not any(stage.program.casefold() in PROGRAMS for stage in line.stages)
