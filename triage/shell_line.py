"""The shape of a shell line: words, redirections, and how its commands hang together.

Lines made of words, quotes, redirections and `| && || ; &` are read here. Whatever else a line
holds (substitutions, groups, keywords, here-documents, comments) is the business of
`triage.shell_tree`, which costs an import of tree-sitter.
"""

from __future__ import annotations

import re
from typing import Literal

from triage.frozen import frozen, replaced
from triage.shell_words import Word, read_word, scan_word

__all__ = [
    "MAX_LINE",
    "MAX_OPERATORS",
    "Branch",
    "Kind",
    "Node",
    "Reading",
    "Simple",
    "best_effort",
    "join",
    "read_line",
    "sequence_node",
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


@frozen()
class Simple:
    """A simple command; `inner` holds the lines of its substitutions."""

    words: tuple[Word, ...] = ()
    env: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[str, ...] = ()
    inner: tuple[Node, ...] = ()


@frozen()
class Branch:
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


@frozen()
class Reading:
    """What a line says: `root` None for an empty line.

    `doubts` are reasons why the line may run more than it shows; `heredoc` says that one was
    seen; `whole` is False where the text could not be read to its end as a shell line.
    """

    root: Node | None
    whole: bool = True
    heredoc: bool = False
    doubts: tuple[str, ...] = ()


# Patterns are kept as text: `re` compiles them for the first line that is more than plain words.
_BLANK = r"(?:[ \t\r\f\v]|\\\r?\n)+"
_CONTROL = r"\|\||\|&|\||&&|;|\n|&(?!>)"
_REDIRECT = r"(?:[0-9]+)?(?:>>|>&|>\||<&|<>|<(?!<)|>)(?!\()|&>>?"
_ASSIGNMENT = r"([A-Za-z_][A-Za-z0-9_]*)\+?="
# Of these and blanks a line is words and nothing else.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,- ")
_KEYWORDS = frozenset(
    ["if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac",
     "select", "function", "coproc", "{", "}", "[[", "]]", "in"]
)  # fmt: skip


def read_line(text: str) -> Reading | None:
    """Read a line without compound commands or substitutions; None when it needs the parser."""
    if _PLAIN.issuperset(text):
        words = text.split()
        if not words or words[0] in _KEYWORDS:
            return None if words else Reading(None)
        return Reading(Simple(tuple(Word(word) for word in words)))
    line = _Line()
    blanks, controls, redirects = map(re.compile, (_BLANK, _CONTROL, _REDIRECT))
    position, size = 0, len(text)
    while position < size:
        blank = blanks.match(text, position)
        if blank:
            position = blank.end()
            continue
        control = controls.match(text, position)
        if control:
            if not line.close(control.group()):
                return None
            position = control.end()
            continue
        redirect = redirects.match(text, position)
        if redirect:
            gap = blanks.match(text, redirect.end())
            target = scan_word(text, gap.end() if gap else redirect.end())
            if target is None:
                return None
            line.redirects.append(redirect.group() + target[0].text)
            position = target[1]
            continue
        scanned = None if text[position] == "#" else scan_word(text, position)
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
            assignment = re.match(_ASSIGNMENT, source)
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
    return replaced(node, parts=(*node.parts[:-1], with_extras(node.parts[-1], extras)))


def join(tokens: list[Node | str]) -> Node:
    """Join commands and operators as a shell does: pipes first, then `&&` and `||` in order."""
    chain: list[Node] = []
    chain_operators: list[str] = []
    pipe: list[Node] = []
    pipe_operators: list[str] = []
    negated = False
    for token in (*tokens, ""):
        if not isinstance(token, str):
            pipe.append(token)
        elif token == "!":
            negated = not negated
        elif token in ("|", "|&"):
            pipe_operators.append(token)
        else:
            node = pipe[0] if pipe else Simple()
            if len(pipe) > 1:
                node = Branch("pipe", tuple(pipe), tuple(pipe_operators))
            chain.append(Branch("not", (node,)) if negated else node)
            chain_operators.append(token)
            pipe, pipe_operators, negated = [], [], False
    if len(chain) == 1:
        return chain[0]
    return Branch("list", tuple(chain), tuple(chain_operators[:-1]))


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
