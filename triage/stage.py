"""One command of a shell line, wrappers peeled off."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from triage.frozen import fresh, frozen
from triage.shell_words import Word
from triage.wrappers import LONG_SINGLE_DASH, program_name

__all__ = ["QUIET", "Around", "Stage", "stage_of"]

# Builtins that practically never fail, and say so on stderr when they do.
QUIET = frozenset(
    ["", ":", "cd", "pushd", "popd", "export", "declare", "typeset", "local", "readonly", "unset",
     "set", "shopt", "setopt", "echo", "printf", "true", "source", ".", "alias", "umask", "trap",
     "hash", "sleep", "exit", "return", "break", "continue"]
)  # fmt: skip
# Options before a subcommand that take the next word, so that `git -C dir log` is `log`.
_VALUES: Mapping[str, frozenset[str]] = {
    "git": frozenset(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix"]),
    "kubectl": frozenset(["-n", "--namespace", "--context", "--kubeconfig", "--cluster", "--user",
                          "-s", "--server", "--token", "--as", "--as-group", "-o", "--output",
                          "-l", "--selector", "-f", "--filename", "-c", "--container"]),
    "helm": frozenset(["-n", "--namespace", "--kube-context", "--kubeconfig", "-o", "--output",
                       "-f", "--values", "--set", "--version"]),
    "docker": frozenset(["-H", "--host", "-c", "--context", "--config", "-l", "--log-level",
                         "-f", "--file", "-p", "--project-name", "--project-directory"]),
    "podman": frozenset(["--url", "--identity", "-c", "--connection", "--root", "--log-level"]),
    "gh": frozenset(["-R", "--repo", "--hostname"]),
    "glab": frozenset(["-R", "--repo"]),
    "npm": frozenset(["--prefix", "-C", "-w", "--workspace", "--registry"]),
    "pnpm": frozenset(["-C", "--dir", "-F", "--filter"]),
    "yarn": frozenset(["--cwd"]),
    "uv": frozenset(["--directory", "--project", "--python", "--cache-dir", "--config-file"]),
    "cargo": frozenset(["-C", "--config", "--color", "-Z", "--manifest-path", "-p", "--package"]),
    "aws": frozenset(["--profile", "--region", "--output", "--query", "--endpoint-url",
                      "--cli-read-timeout", "--cli-connect-timeout", "--ca-bundle", "--color"]),
    "gcloud": frozenset(["--project", "--account", "--configuration", "--format", "--zone",
                         "--region", "--filter", "--limit", "--verbosity"]),
    "az": frozenset(["--subscription", "-o", "--output", "--query", "-g", "--resource-group",
                     "-n", "--name"]),
    "systemctl": frozenset(["-H", "--host", "-M", "--machine", "-t", "--type", "-p", "--property",
                            "-n", "--lines", "-o", "--output"]),
    "go": frozenset(["-C"]),
    "make": frozenset(["-C", "--directory", "-f", "--file", "--makefile", "-I"]),
    "conda": frozenset(["-n", "--name", "-p", "--prefix", "-c", "--channel"]),
}  # fmt: skip


@frozen()
class Stage:
    """One command of a line, wrappers peeled off.

    `program` has no directory and no `.exe`; `raw_program` is as written. `argv` begins at the
    program, `words` are its positionals (subcommands, operands), `flags` its options (`--x=1`
    gives `--x`; `-rf` gives `-rf`, `-r`, `-f`). `wrappers` and `runners` were taken off, outermost
    first, `before` are their words. `connector` is the operator in front. Indices into `argv`:
    `expanded` of the words whose value only a shell knows, `open_words` of those that may turn
    out to be options, `splitting` of those that may turn into several words.
    """

    program: str
    raw_program: str
    argv: tuple[str, ...]
    words: tuple[str, ...]
    flags: frozenset[str]
    wrappers: tuple[str, ...] = ()
    runners: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    connector: str = ""
    redirects: tuple[str, ...] = ()
    env: Mapping[str, str] = fresh(factory=dict)
    negated: bool = False
    open_words: frozenset[int] = frozenset()
    expanded: frozenset[int] = frozenset()
    splitting: frozenset[int] = frozenset()

    @property
    def via(self) -> str:
        """The runner that starts the program (`python` of `python -m pytest`), or ''."""
        return self.runners[-1] if self.runners else ""

    @property
    def quiet_builtin(self) -> bool:
        """True for a builtin (or a bare assignment) that fails only with a text on stderr."""
        return self.program in QUIET


@frozen()
class Around:
    """What a command inherits from the commands and the place it stands in."""

    wrappers: tuple[str, ...] = ()
    runners: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    env: Mapping[str, str] = MappingProxyType({})
    lines: int = 0
    depth: int = 0
    top: bool = True


def stage_of(
    words: tuple[Word, ...],
    around: Around,
    connector: str = "",
    redirects: tuple[str, ...] = (),
    negated: bool = False,
) -> Stage:
    """Build a `Stage` from the words that were left after peeling."""
    argv = tuple(word.text for word in words)
    raw = argv[0] if argv else ""
    program = program_name(raw)
    return Stage(
        program,
        raw,
        argv,
        _positionals(program, argv[1:]),
        _flags(program, argv[1:]),
        around.wrappers,
        tuple("python" if name.startswith("python") else name for name in around.runners),
        around.before,
        connector,
        redirects,
        around.env,
        negated,
        frozenset(index for index, word in enumerate(words) if word.open),
        frozenset(index for index, word in enumerate(words) if word.expands),
        frozenset(index for index, word in enumerate(words) if word.splits),
    )


def _positionals(program: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
    values = _VALUES.get(program, frozenset())
    found: list[str] = []
    skip = False
    for position, word in enumerate(arguments):
        if skip:
            skip = False
        elif word == "--":
            return (*found, *arguments[position + 1 :])
        elif word in values:
            skip = True
        elif word[:1] != "-" or word == "-":
            found.append(word)
    return tuple(found)


def _flags(program: str, arguments: tuple[str, ...]) -> frozenset[str]:
    found: set[str] = set()
    for word in arguments:
        if word == "--":
            break
        if word[:1] != "-" or word == "-":
            continue
        name = word.partition("=")[0]
        found.add(name)
        cluster = name[1:]
        # Longer than this it is an option with its value, or one of a tool's own long options.
        if cluster.isalnum() and 1 < len(cluster) <= 8 and program not in LONG_SINGLE_DASH:
            found.update("-" + letter for letter in cluster)
    return frozenset(found)
