"""What a caller may ask of a run, checked before anything is started."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, TypedDict

from triage.errors import UsageError
from triage.frozen import frozen
from triage.model import Capture, Effect, Tier, Verdict
from triage.spool import DEFAULT_LIMIT

if TYPE_CHECKING:
    from triage.passthrough import Target
    from triage.repeats import Repeats
    from triage.table import Table

__all__ = ["Options", "RunOptions", "run_options"]

_LONGEST_S = 1e7  # about four months; past that a limit is a slip of the pen


class Options(TypedDict, total=False):
    """The keywords of `triage.run` and `triage.arun` (see `triage.run.run`)."""

    shell_line: str | None
    shell: str
    timeout_s: float | None
    idle_timeout_s: float | None
    grace_s: float
    limit_bytes: int
    stdin: str | int | os.PathLike[str] | IO[Any]
    pty: bool
    cwd: str | os.PathLike[str] | None
    env: Mapping[str, str | None] | None
    effect: Effect | None
    retry: bool
    max_wait_s: float
    passthrough: bool | tuple[Target, Target]
    state: Repeats | None
    on_wait: Callable[[float, str], object] | None
    on_stdout: Callable[[bytes], object] | None
    tier: Tier | None
    table: Table | None
    classify: Callable[[Capture], Verdict] | None
    exclusive: bool


@frozen(kw_only=True)
class RunOptions:
    """`Options` with their defaults; `run_options` makes them."""

    argv: Sequence[str] | None = None
    shell_line: str | None = None
    shell: str = "bash"
    timeout_s: float | None = None
    idle_timeout_s: float | None = None
    grace_s: float = 3.0
    limit_bytes: int = DEFAULT_LIMIT
    stdin: str | int | os.PathLike[str] | IO[Any] = "null"
    pty: bool = False
    cwd: str | os.PathLike[str] | None = None
    env: Mapping[str, str | None] | None = None
    effect: Effect | None = None
    retry: bool = True
    max_wait_s: float = 60.0
    passthrough: bool | tuple[Target, Target] = False
    state: Repeats | None = None
    on_wait: Callable[[float, str], object] | None = None
    on_stdout: Callable[[bytes], object] | None = None
    tier: Tier | None = None
    table: Table | None = None
    classify: Callable[[Capture], Verdict] | None = None
    exclusive: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are started."""
        if self.shell_line is not None:
            return (self.shell, "-c", self.shell_line)
        return tuple(self.argv or ())

    @property
    def command(self) -> str | tuple[str, ...]:
        """The command as a capture holds it: the line, or the words."""
        return self.words if self.shell_line is None else self.shell_line

    def environment(self) -> dict[str, str]:
        """Return this process's environment with the caller's changes."""
        made = dict(os.environ)
        for name, value in (self.env or {}).items():
            if value is None:
                made.pop(name, None)
            else:
                made[name] = value
        return made


def run_options(argv: Sequence[str] | None, options: Options) -> RunOptions:
    """Check the options of a run; raises `UsageError` for values that mean nothing.

    An option that does not exist is a `TypeError`, as for any function.
    """
    made = RunOptions(argv=argv, **options)
    if (made.argv is None) == (made.shell_line is None):
        what = "there is no command" if made.argv is None else "there are two: words and a line"
        raise UsageError("command", what, "give either a command or a shell line")
    if isinstance(made.argv, (str, bytes)):
        raise UsageError("command", "one text is no list of words", "give it as shell_line")
    if made.argv is not None and not (made.argv and made.argv[0]):
        raise UsageError("command", "there is no program to run", "give the command to run")
    if made.shell_line is not None and not made.shell_line.strip():
        raise UsageError("command", "the line is empty", "give the line to run")
    _seconds("timeout", made.timeout_s, least=math.ulp(0.0))
    _seconds("idle timeout", made.idle_timeout_s, least=math.ulp(0.0))
    _seconds("grace", made.grace_s, least=0.0)
    _seconds("max wait", made.max_wait_s, least=0.0)
    if made.limit_bytes < 0:
        raise UsageError("limit bytes", f"{made.limit_bytes} is no size", "give 0 or more")
    if made.effect not in (None, "read_only", "mutating", "unknown"):
        raise UsageError(
            "effect", f"there is no {made.effect!r}", "use read_only, mutating or unknown"
        )
    return made


def _seconds(name: str, value: float | None, *, least: float) -> None:
    if value is not None and not least <= value <= _LONGEST_S:
        raise UsageError(name, f"{value!r} is no time limit", "give seconds, above 0")
