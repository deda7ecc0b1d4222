"""Which command of a shell line produced the exit status.

`parse_command` reads a line once: its commands with wrappers peeled off, the shape in which
they hang together, and from that which of them may own the final status. It is total: a text
that is no shell line gives the shape `unparsed` and the first words as its only command.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from triage.frozen import frozen, replaced
from triage.shell_line import MAX_LINE, Reading, Simple
from triage.shell_words import Word
from triage.stage import Stage
from triage.stages import Stages, read
from triage.status_owner import Tree, hides_failure, owners

__all__ = ["CommandLine", "Stage", "parse_command"]

_JSON_OPTIONS = frozenset(
    ["-o", "-f", "-F", "-of", "--output", "--format", "--out", "--output-format", "--outputformat",
     "--message-format", "--reporter", "--report", "--print-format", "-print_format",
     "--error-format", "--format-type"]
)  # fmt: skip
_JSON_PROGRAMS = frozenset(["jq", "gojq", "jaq", "json.tool"])
# Of these `--json` is data to send.
_JSON_SENDERS = frozenset(["curl", "http", "https", "xh", "wget"])
# What comes out of these is what went in.
_FILTERS = frozenset(["cat", "tee", "head", "tail"])
_REMEMBERED = 4096


@frozen()
class CommandLine:
    """A line as a shell would see it.

    `stages` are its commands in order, `nested` those inside substitutions. `shape` is a subset
    of simple, pipeline, and, or, semicolon, background, negated, subshell, group, loop,
    conditional, function, substitution, heredoc, pipefail, masked_or_true, unparsed. `parsed` is
    False for a text that could not be read to its end; `doubts` are reasons why a line may run
    more than its stages.
    """

    text: str
    stages: tuple[Stage, ...] = ()
    nested: tuple[Stage, ...] = ()
    shape: frozenset[str] = frozenset()
    parsed: bool = True
    doubts: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()
    _tree: Tree | None = None
    _all: tuple[Stage, ...] = ()

    def owners(self, exit_code: int | None, pipestatus: Sequence[int] = ()) -> tuple[Stage, ...]:
        """Return the stages that may own the final status; one stage means it is certain.

        A pipeline belongs to its last stage; under pipefail to any stage, unless `pipestatus`
        tells. `a && b` belongs to `b` when it is 0, to either when it is not; `a || b` the
        other way round. `a; b` belongs to `b` (under `set -e` to either). `a &` belongs to
        nobody. An assignment belongs to its substitution. Builtins such as `cd` are returned
        like any other; `quiet_builtin` lets a rule leave them out. With an unknown status every
        possibility is returned. No stage at all: the shell itself owns the status.
        """
        if self._tree is None:
            return self.stages if not self.parsed else ()
        found = owners(self._tree, exit_code, tuple(pipestatus))
        return tuple(self._all[index] for index in found)

    @property
    def final(self) -> Stage | None:
        """The stage that owns the status whatever it is, None when that depends."""
        found = self.owners(None)
        return found[0] if len(found) == 1 and self.parsed else None

    @property
    def masks_status(self) -> bool:
        """True where status 0 may hide the failure of an earlier command."""
        return self._tree is not None and hides_failure(self._tree)

    @property
    def programs(self) -> frozenset[str]:
        """The programs of all stages, nested ones too."""
        return frozenset(stage.program for stage in self._all or self.stages)

    @property
    def json_wanted(self) -> bool:
        """True where the command that owns a successful end was asked for JSON."""
        shown = list(self.owners(0))
        index = len(self.stages) - 1
        if shown and shown[-1] is self.stages[index]:
            while self.stages[index].program in _FILTERS and "|" in self.stages[index].connector:
                index -= 1
            shown.append(self.stages[index])
        return any(_asks_for_json(stage) for stage in shown)

    @property
    def argv_for_rerun(self) -> tuple[str, ...]:
        """The words that start the same line again; () for a text no process can be given."""
        if self.argv:
            return self.argv
        if not self.text.strip() or not _can_start((self.text,)):
            return ()
        return ("bash", "-c", self.text)


def parse_command(command: str | Sequence[str] | None) -> CommandLine:
    """Read a command line given as text or as a list of words; never raises.

    The result for a short text is remembered. None and an empty line have no stages.
    """
    if command is None:
        return CommandLine("", parsed=False)
    if not isinstance(command, str):
        return _from_words(tuple(command))
    return _remembered(command) if len(command) <= _REMEMBERED else _from_text(command)


def _from_words(words: tuple[str, ...]) -> CommandLine:
    if sum(map(len, words)) > MAX_LINE:
        return _from_text(" ".join(words)[: MAX_LINE + 1])
    from shlex import quote

    text = " ".join(quote(word) for word in words)
    line = _build(text, Reading(Simple(tuple(Word(word) for word in words)) if words else None))
    return replaced(line, argv=words if _can_start(words) else ())


def _from_text(text: str) -> CommandLine:
    reading = read(text)
    line = _build(text, reading)
    root = reading.root
    if not isinstance(root, Simple) or not reading.whole or root.redirects or root.inner:
        return line
    values = (*root.words, *(value for _, value in root.env))
    argv = tuple(word.text for word in root.words)
    if not argv or any(word.expands for word in values):
        return line
    if root.env:
        argv = ("env", *(f"{name}={value.text}" for name, value in root.env), *argv)
    return replaced(line, argv=argv) if _can_start(argv) else line


_remembered = lru_cache(maxsize=512)(_from_text)


def _build(text: str, reading: Reading) -> CommandLine:
    found = Stages(reading)
    top = set(found.top)
    return CommandLine(
        text,
        tuple(found.stages[index] for index in found.top),
        tuple(stage for index, stage in enumerate(found.stages) if index not in top),
        frozenset(found.shape),
        "unparsed" not in found.shape,
        tuple(dict.fromkeys(found.doubts)),
        (),
        found.tree,
        tuple(found.stages),
    )


def _can_start(words: Sequence[str]) -> bool:
    """Whether a process can be given these words: no NUL, nothing without a byte form."""
    try:
        return all(
            "\0" not in word and bool(word.encode("utf-8", "surrogateescape") or True)
            for word in words
        )
    except UnicodeEncodeError:
        return False


def _asks_for_json(stage: Stage) -> bool:
    if stage.program in _JSON_PROGRAMS:
        return not stage.flags & {"-r", "-j", "--raw-output", "--join-output"}
    if stage.program in _JSON_SENDERS:
        return False
    arguments = stage.argv[1:]
    for position, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in ("--json", "-json") and value not in ("false", "no"):
            return True
        if name[:2] in ("-o", "-f") and len(name) > 2 and not equals:
            value = name[2:]
        elif name not in _JSON_OPTIONS:
            continue
        elif not equals:
            value = arguments[position + 1] if position + 1 < len(arguments) else ""
        if (value.startswith("json") and not value.startswith("jsonpath")) or "{{json" in value:
            return True
    return False
