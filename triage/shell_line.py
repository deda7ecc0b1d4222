"""The shape of a shell line: words, redirections, and how its commands hang together.

Lines made of words, quotes, redirections and `| && || ; &` are read here. Whatever else a line
holds (substitutions, groups, keywords, here-documents, comments) is the business of
`triage.shell_tree`, which costs an import of tree-sitter.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

__all__ = [
    "MAX_LINE",
    "MAX_OPERATORS",
    "Branch",
    "Kind",
    "Node",
    "Reading",
    "Simple",
    "Word",
    "best_effort",
    "read_line",
    "read_word",
    "with_extras",
]

# A longer line is a program, not a call; the grammar's error recovery is quadratic in the number
# of operators (measured: 16,000 characters of `a|` take 3 s, 4,000 operators below 0.4 s).
MAX_LINE = 65_536
MAX_OPERATORS = 4_000

Kind = Literal[
    "pipe", "list", "seq", "background", "not", "group", "subshell", "if", "loop", "case",
    "function",
]  # fmt: skip


class Word(NamedTuple):
    """One word of a command.

    `text` has its quotes removed; expansions stand in it as written. `expands` says that only a
    shell knows the value, `open` that it may turn out to be an option (`"$X"`), `splits` that it
    may turn into other words (`$X`, `-{a,b}`); a word that splits is open.
    """

    text: str
    expands: bool = False
    open: bool = False
    splits: bool = False


class Simple(NamedTuple):
    """A simple command; `inner` holds the lines of its substitutions."""

    words: tuple[Word, ...] = ()
    env: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[str, ...] = ()
    inner: tuple[Node, ...] = ()


class Branch(NamedTuple):
    """Commands that hang together; `ops` are the operators after each part ('' where none).

    `if` and `loop` keep the number of condition parts in `conditions`; they come first.
    """

    kind: Kind
    parts: tuple[Node, ...]
    ops: tuple[str, ...] = ()
    inner: tuple[Node, ...] = ()
    conditions: int = 0
    exhaustive: bool = False


Node = Simple | Branch


class Reading(NamedTuple):
    """What a line says: `root` None for an empty line.

    `doubts` are reasons why the line may run more than it shows; `heredoc` says that one was
    seen; `whole` is False where the text could not be read to its end as a shell line.
    """

    root: Node | None
    whole: bool = True
    heredoc: bool = False
    doubts: tuple[str, ...] = ()


# The alternatives begin with different characters, so there is one way to read a text.
_PIECE = re.compile(
    r"""
      (?P<plain>[^\s'"\\|&;<>()`$]+)
    | '(?P<raw>[^']*)'
    | "(?P<double>(?:[^"\\$`]|\\[\s\S]|\$(?![({\[]))*)"
    | \\(?P<escaped>[\s\S])
    | (?P<literal>\\\Z|\$(?![A-Za-z0-9_?\#@*!${(\['"-]))
    | (?P<variable>\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9?\#@*$!-]))
    """,
    re.VERBOSE | re.ASCII,
)
_BLANK = re.compile(r"(?:[ \t\r\f\v]|\\\r?\n)+")
_CONTROL = re.compile(r"\|\||\|&|\||&&|;|\n|&(?!>)")
_REDIRECT = re.compile(r"(?:[0-9]+)?(?:>>|>&|>\||<&|<>|<(?!<)|>)(?!\()|&>>?", re.ASCII)
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\+?=", re.ASCII)
_DOUBLE_ESCAPE = re.compile(r'\\(["\\$`]|\n)')
_DOUBLE_VARIABLE = re.compile(r"\\[\s\S]|\$(?=[A-Za-z_0-9?#@*$!-])", re.ASCII)
# A directory by convention: never an option, never several words worth a thought.
_PLACE = re.compile(r'"?\$\{?(?:HOME|PWD|OLDPWD|TMPDIR|HOSTNAME|USER|LOGNAME)\b', re.ASCII)
_KEYWORDS = frozenset(
    ["if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
     "select", "function", "coproc", "{", "}", "[[", "]]", "in"]
)  # fmt: skip


def read_line(text: str) -> Reading | None:
    """Read a line without compound commands or substitutions; None when it needs the parser."""
    line = _Line()
    position, size = 0, len(text)
    while position < size:
        blank = _BLANK.match(text, position)
        if blank:
            position = blank.end()
            continue
        control = _CONTROL.match(text, position)
        if control:
            if not line.close(control.group()):
                return None
            position = control.end()
            continue
        redirect = _REDIRECT.match(text, position)
        if redirect:
            gap = _BLANK.match(text, redirect.end())
            target = _scan_word(text, gap.end() if gap else redirect.end())
            if target is None:
                return None
            line.redirects.append(redirect.group() + target[0].text)
            position = target[1]
            continue
        scanned = None if text[position] == "#" else _scan_word(text, position)
        if scanned is None or not line.add(scanned[0], text[position : scanned[1]]):
            return None
        position = scanned[1]
    return Reading(sequence_node(line.sequence)) if line.close("") else None


class _Line:
    """The parts of a line while it is being read from left to right."""

    __slots__ = ("chain", "chain_ops", "env", "negated", "pipe", "pipe_ops", "redirects",
                 "sequence", "words")  # fmt: skip

    def __init__(self) -> None:
        self.sequence: list[tuple[Node, str]] = []
        self.chain: list[Node] = []
        self.chain_ops: list[str] = []
        self.pipe: list[Node] = []
        self.pipe_ops: list[str] = []
        self.words: list[Word] = []
        self.env: list[tuple[str, Word]] = []
        self.redirects: list[str] = []
        self.negated = False

    def add(self, word: Word, source: str) -> bool:
        """Take a word; False when it opens something only the parser can read."""
        if not self.words:
            assignment = _ASSIGNMENT.match(source)
            if assignment:
                self.env.append((assignment.group(1), read_word(source[assignment.end() :])))
                return True
            if source == "!" and not (self.env or self.pipe or self.redirects or self.negated):
                self.negated = True
                return True
            if source in _KEYWORDS or source == "!":
                return False
        self.words.append(word)
        return True

    def close(self, operator: str) -> bool:
        """End the command before `operator` ('' at the end); False where none may stand."""
        if not (self.words or self.env or self.redirects):
            if operator == "\n":
                return not self.negated
            return not (operator or self.pipe or self.chain or self.negated)
        self.pipe.append(Simple(tuple(self.words), tuple(self.env), tuple(self.redirects)))
        self.words, self.env, self.redirects = [], [], []
        if operator in ("|", "|&"):
            self.pipe_ops.append(operator)
            return True
        node = self.pipe[0]
        if self.pipe_ops:
            node = Branch("pipe", tuple(self.pipe), tuple(self.pipe_ops))
        if self.negated:
            node = Branch("not", (node,))
        self.chain.append(node)
        self.pipe, self.pipe_ops, self.negated = [], [], False
        if operator in ("&&", "||"):
            self.chain_ops.append(operator)
            return True
        if self.chain_ops:
            node = Branch("list", tuple(self.chain), tuple(self.chain_ops))
        if operator == "&":
            node = Branch("background", (node,))
        self.sequence.append((node, operator))
        self.chain, self.chain_ops = [], []
        return True


def sequence_node(parts: list[tuple[Node, str]]) -> Node | None:
    """Join the parts of a `;` list; a single part stays what it is."""
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0][0]
    return Branch("seq", tuple(part for part, _ in parts), tuple(op for _, op in parts))


def _scan_word(text: str, start: int) -> tuple[Word, int] | None:
    """Read the word at `start`; None when it holds more than quotes and plain variables."""
    position = start
    read = bare = ""
    expands = is_open = splits = False
    while match := _PIECE.match(text, position):
        kind = match.lastgroup or ""
        value: str = match.group(kind)
        if kind == "plain":
            expands = expands or (position == start and value[0] == "~")
            bare += value
        elif kind == "variable":
            expands = True
            splits = splits or read != "" or not _PLACE.match(text, position)
        elif kind == "double":
            if "$" in value and any(m.group() == "$" for m in _DOUBLE_VARIABLE.finditer(value)):
                expands = True
                is_open = is_open or (read == "" and value[0] == "$" and not _PLACE.match(value))
            value = _DOUBLE_ESCAPE.sub(_escaped, value)
        elif kind == "escaped" and value == "\n":
            value = ""
        read += value
        position = match.end()
    if position == start or (position < len(text) and text[position] in "'\"`$\\("):
        return None
    if _is_pattern(bare):
        expands = True
        is_open = is_open or text[start] == "-"
    braces = bare.partition("{")[2]
    if "," in braces or ".." in braces:
        expands = splits = True
    if expands and read[:1] == "-" and "=" not in read.split("$", 1)[0]:
        is_open = True
    return Word(read, expands, is_open or splits, splits), position


def _is_pattern(text: str) -> bool:
    """Whether a shell would look for file names that fit an unquoted text."""
    return "*" in text or "?" in text or "]" in text.partition("[")[2]


def _escaped(match: re.Match[str]) -> str:
    return "" if match.group(1) == "\n" else match.group(1)


def read_word(source: str) -> Word:
    """Read one word of source text, whatever it holds."""
    scanned = _scan_word(source, 0)
    if scanned is not None and scanned[1] == len(source):
        return scanned[0]
    if not source:
        return Word("")
    quoted = len(source) > 1 and source[0] == source[-1] == '"'
    text = source[1:-1] if quoted else source
    head = text.split("$", 1)[0].split("`", 1)[0]
    settled = quoted and head != "" and (head[0] != "-" or "=" in head)
    place = _PLACE.match(source) is not None and "`" not in source and "$(" not in source
    file = source[:2] in ("<(", ">(")
    if place or file:
        return Word(text, True)
    return Word(text, True, not settled, not quoted)


def with_extras(node: Node, extras: Simple) -> Node:
    """Return `node` with words, redirections and substitutions added to its last command."""
    if not (extras.words or extras.redirects or extras.inner):
        return node
    if isinstance(node, Simple):
        return Simple(
            node.words + extras.words,
            node.env,
            node.redirects + extras.redirects,
            node.inner + extras.inner,
        )
    return node._replace(parts=(*node.parts[:-1], with_extras(node.parts[-1], extras)))


def best_effort(text: str) -> Reading:
    """Take the first words of a text that is no shell line, up to the first operator."""
    words: list[Word] = []
    for source in text[:4096].split():
        if words and source[0] in "|&;<>()":
            break
        words.append(Word(source.strip("'\";|&") or source, True, True, True))
        if source[-1] in "|&;":
            break
    return Reading(Simple(tuple(words)) if words else None, whole=False)
