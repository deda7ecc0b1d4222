"""The commands of a line, one by one: wrappers peeled off, nested lines read, order kept."""

from __future__ import annotations

from collections.abc import Mapping

from triage.frozen import replaced
from triage.shell_line import (
    MAX_LINE,
    MAX_OPERATORS,
    Branch,
    Node,
    Reading,
    Simple,
    best_effort,
    read_line,
    with_extras,
)
from triage.shell_words import Word
from triage.stage import QUIET, Around, Stage, stage_of
from triage.status_owner import Tree, TreeKind
from triage.wrappers import Peeled, peel

__all__ = ["Stage", "Stages", "read"]

# Quiet builtins whose failure changes what the rest of the line does.
_LOUD = frozenset(["cd", "pushd", "popd", "source", "."])
_DECLARE = frozenset(["export", "declare", "typeset", "local", "readonly", "alias"])
_SHAPES: Mapping[str, frozenset[str]] = {
    "pipe": frozenset(["pipeline"]),
    "seq": frozenset(["semicolon"]),
    "background": frozenset(["background"]),
    "not": frozenset(["negated"]),
    "group": frozenset(["group"]),
    "subshell": frozenset(["subshell"]),
    "if": frozenset(["conditional"]),
    "case": frozenset(["conditional"]),
    "loop": frozenset(["loop"]),
    "function": frozenset(["function"]),
}
_COMPOUND = frozenset(["and", "or", "unparsed"]).union(*_SHAPES.values())
_NEST = 5
_DEPTH = 120


def read(text: str) -> Reading:
    """Read a line by the cheapest means that can; a text that is no line by its first words."""
    if len(text) > MAX_LINE or "\0" in text:
        return best_effort(text)
    source = _posix_spelling(text)
    reading = read_line(source)
    if reading is not None:
        return reading
    if sum(map(source.count, "|&;()<>~")) > MAX_OPERATORS:
        return best_effort(text)
    from triage.shell_tree import parse_line

    reading = parse_line(source)
    return reading if reading.root is not None or reading.whole else best_effort(text)


def _posix_spelling(text: str) -> str:
    """Double the backslashes of a Windows line, where they separate directories."""
    start = text.lstrip()
    if start.startswith(("& ", "&'", '&"')):
        # PowerShell's call operator.
        text = start = start[1:].lstrip()
    if "\\" not in text:
        return text
    bare = start.lstrip("\"'")
    drive = bare[1:3] == ":\\" and bare[:1].isalpha()
    if drive or bare.startswith((".\\", "..\\", "\\\\")) or ".exe" in bare[:300].split(" ", 1)[0]:
        return text.replace("\\", "\\\\")
    return text


class Stages:
    """Walks a reading once.

    `stages` holds all commands in order, `top` the indices of those outside substitutions,
    `tree` how they hang together, `shape` and `doubts` what was met on the way.
    """

    __slots__ = ("doubts", "errexit", "pipefail", "shape", "stages", "top", "tree")

    def __init__(self, reading: Reading) -> None:
        self.stages: list[Stage] = []
        self.top: list[int] = []
        self.shape: set[str] = set()
        self.doubts: list[str] = list(reading.doubts)
        self.pipefail = self.errexit = False
        self.tree: Tree | None = None
        self._note(reading)
        if reading.root is not None:
            self.tree = self._walk(reading.root, "", Around())
            if isinstance(reading.root, Simple) and not self.shape & _COMPOUND:
                self.shape.add("simple")

    def _note(self, reading: Reading) -> None:
        self.shape |= {"heredoc"} if reading.heredoc else set()
        self.shape |= set() if reading.whole else {"unparsed"}

    def _walk(self, node: Node, connector: str, outer: Around, negated: bool = False) -> Tree:
        if outer.depth > _DEPTH:
            self.shape.add("unparsed")
            return Tree("nobody")
        outer = replaced(outer, depth=outer.depth + 1)
        if isinstance(node, Simple):
            return self._command(node, connector, outer, negated)
        for part in node.inner:
            self.shape.add("substitution")
            self._walk(part, "", replaced(outer, top=False))
        if outer.top:
            self.shape |= _shape_of(node)
        kind = node.kind
        scoped = kind in ("subshell", "function")
        before = (self.pipefail, self.errexit)
        pipefail = kind == "pipe" and self.pipefail
        watched: list[int] = []
        parts: list[Tree] = []
        operator = connector
        for position, part in enumerate(node.parts):
            last = position == len(node.parts) - 1
            inverted = kind == "not" or (negated and kind == "pipe" and last)
            ends_at_failure = kind == "seq" and self.errexit
            parts.append(self._walk(part, operator, outer, inverted))
            if ends_at_failure and not parts[-1].quiet:
                watched.append(position)
            operator = node.ops[position] if position < len(node.ops) else ";"
        if scoped:
            self.pipefail, self.errexit = before
        if kind == "function":
            return Tree("nobody", tuple(parts))
        name: TreeKind = kind
        return Tree(
            name,
            tuple(parts),
            node.ops,
            conditions=node.conditions,
            exhaustive=node.exhaustive,
            pipefail=pipefail,
            watched=tuple(watched),
        )

    def _command(self, simple: Simple, connector: str, outer: Around, negated: bool) -> Tree:
        nested = replaced(outer, top=False, wrappers=(), runners=(), before=())
        inner = tuple(self._walk(part, "", nested) for part in simple.inner)
        self.shape |= {"substitution"} if inner else set()
        peeled = peel(simple.words)
        assigned = (*simple.env, *peeled.env)
        env = {**outer.env, **{name: value.text for name, value in assigned}}
        around = replaced(
            outer,
            wrappers=outer.wrappers + peeled.wrappers,
            runners=outer.runners + peeled.runners,
            before=outer.before + peeled.before,
            env=env,
            lines=outer.lines + 1,
        )
        if not inner and any(_looks_run(value.text) for _, value in assigned):
            self.doubts.append("an assignment holds a command substitution as text")
        if peeled.line is not None and outer.lines < _NEST:
            return self._line(peeled, simple.redirects, connector, around, negated)
        index = len(self.stages)
        stage = stage_of(peeled.words, around, connector, simple.redirects, negated)
        if stage.program in _DECLARE and not inner and any(map(_looks_run, stage.argv)):
            self.doubts.append("an assignment holds a command substitution as text")
        self.stages.append(stage)
        if outer.top:
            self.top.append(index)
        self._options(stage)
        if not simple.words and inner:
            # The status of a bare assignment is that of its last substitution.
            return inner[-1]
        leaves = stage.program in ("exit", "return")
        return Tree(
            "leaf",
            stage=index,
            quiet=stage.program in QUIET and stage.program not in _LOUD,
            gives=_fixed_status(stage),
            leaves=leaves,
            passes=leaves and stage.argv[1:] in ((), ("$?",)),
            buries=bool(inner),
        )

    def _line(
        self,
        peeled: Peeled,
        redirects: tuple[str, ...],
        connector: str,
        around: Around,
        negated: bool,
    ) -> Tree:
        """Read the line of `sh -c LINE` in place of the shell that would run it."""
        line = peeled.line or Word("")
        if line.expands:
            self.doubts.append("the line given to a shell depends on an expansion")
        reading = read(line.text)
        self._note(reading)
        self.doubts.extend(reading.doubts)
        before = (self.pipefail, self.errexit)
        self.pipefail, self.errexit = "pipefail" in peeled.strict, "e" in peeled.strict
        node = with_extras(reading.root or Simple(), Simple(redirects=redirects))
        tree = self._walk(node, connector, around, negated)
        self.pipefail, self.errexit = before
        return Tree("subshell", (tree,))

    def _options(self, stage: Stage) -> None:
        """Follow `set -e` and `set -o pipefail` (zsh: setopt) along the line."""
        if stage.program not in ("set", "setopt"):
            return
        previous = ""
        for word in stage.argv[1:]:
            name = word.lower().replace("_", "")
            on = previous[:1] != "+"
            if name == "pipefail":
                self.pipefail = on
            elif name in ("errexit", "errreturn"):
                self.errexit = on
            elif word[:1] in "-+" and "e" in word[1:] and word[:2] != "--":
                self.errexit = word[0] == "-"
            previous = word
        if self.pipefail:
            self.shape.add("pipefail")


def _shape_of(node: Branch) -> frozenset[str]:
    if node.kind == "list":
        masked = any(
            operator == "||" and isinstance(part, Simple) and _words(part) in (("true",), (":",))
            for operator, part in zip(node.ops, node.parts[1:], strict=False)
        )
        names = {"and" if operator == "&&" else "or" for operator in node.ops}
        return frozenset(names | ({"masked_or_true"} if masked else set()))
    return _SHAPES.get(node.kind, frozenset())


def _fixed_status(stage: Stage) -> int:
    """Return the only status a command can have, -1 where it depends."""
    if stage.program in ("true", ":"):
        return 0
    if stage.program == "false":
        return 1
    if stage.program in ("exit", "return") and len(stage.argv) == 2 and stage.argv[1].isdecimal():
        return int(stage.argv[1][-9:]) & 255
    return -1


def _words(simple: Simple) -> tuple[str, ...]:
    return tuple(word.text for word in simple.words)


def _looks_run(text: str) -> bool:
    return "$(" in text or "`" in text
