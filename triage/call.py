"""The captured command as something that can be started again, or asked about.

A line that needs no shell becomes its words, so that the same argv can run without one; any other
line stays whole and goes to the shell it was written for. Expansion is never done here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from triage.frozen import frozen
from triage.render import is_argument, posix_quote

if TYPE_CHECKING:
    from triage.command import Stage

__all__ = ["Call", "call_of"]

# Of lines up to this many characters the words are remembered.
_REMEMBERED = 2_000
_LONGEST_LINE = 100_000  # one argument holds 131,072 bytes on Linux

# Unquoted, these make a line more than a list of words; `=` matters in the first word only.
_SHELL = frozenset("$`*?[]{}()<>|&;#!\n\r")
_INSIDE_DOUBLE = frozenset("$`!")

# Words that only a shell can run; as a program they don't exist or do something else.
_SHELL_WORD_LIST = (
    ". : alias bg bind break builtin case cd command continue declare dirs disown do done elif "
    "else enable esac eval exec exit export fc fg fi for function getopts hash help history if "
    "in jobs let local logout mapfile popd pushd read readonly return select set shift shopt "
    "source suspend then time times trap type typeset ulimit umask unalias unset until wait "
    "while"
)
_SHELL_WORDS = frozenset(_SHELL_WORD_LIST.split())

_SHELLS = {
    **{name: (name, "-c") for name in ("bash", "dash", "ksh", "sh", "zsh")},
    "fish": ("fish", "--no-config", "-c"),
    "powershell": ("powershell", "-NoProfile", "-Command"),
    "pwsh": ("pwsh", "-NoProfile", "-Command"),
    "cmd": ("cmd", "/d", "/c"),
}


@frozen()
class Call:
    """`text`: the line; `argv`: what starts it again, None where nothing can.

    `program` is the name of the program that owns the status, `start` how it was called (a path,
    perhaps), `words` its subcommands and operands in order.
    """

    text: str
    argv: tuple[str, ...] | None
    program: str | None
    start: str | None
    words: tuple[str, ...]

    @property
    def by_path(self) -> bool:
        """Whether the program was named by a path: a script of the project, say."""
        return self.start is not None and ("/" in self.start or "\\" in self.start)


def call_of(
    command: str | Sequence[str] | None, *, stage: Stage | None = None, shell: str | None = None
) -> Call:
    """Build a `Call` from a captured command: a line of shell text or a list of words.

    `stage` is the owning stage where it is known. `shell` is the captured shell (name or path),
    bash where None or unknown. Total: any text; what no system could start has `argv` None.
    """
    if command is None:
        return Call("", None, None, None, ())
    words: tuple[str, ...] | None
    argv: tuple[str, ...] | None
    if isinstance(command, str):
        text = command
        start = _shell_of(shell)
        # Other shells read backslashes and quotes otherwise: their lines stay whole.
        words = None
        if start[1] == "-c":
            words = (_remembered if len(command) <= _REMEMBERED else _plain_words)(command)
        argv = words if words is not None else (*start, command)
        if not command.strip():
            argv = None
    else:
        words = argv = tuple(command) or None
        text = " ".join(posix_quote(word) for word in command)
    if argv is not None and not (argv[0] and all(is_argument(word) for word in argv)):
        argv = None
    if stage is not None:
        return Call(text, argv, stage.program or None, stage.raw_program or None, stage.words)
    if not words:
        return Call(text, argv, None, None, ())
    name = words[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    rest = tuple(word for word in words[1:] if not word.startswith("-"))
    return Call(text, argv, name or None, words[0], rest)


def _shell_of(shell: str | None) -> tuple[str, ...]:
    name = (shell or "").replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    return _SHELLS.get(name, ("bash", "-c"))


def _plain_words(text: str) -> tuple[str, ...] | None:
    """The words of a line that any shell would run as just these words, else None."""
    if len(text) > _LONGEST_LINE:
        return None
    words: list[str] = []
    word: list[str] | None = None
    position, end = 0, len(text)
    while position < end:
        char = text[position]
        position += 1
        if char in " \t":
            if word is not None:
                words.append("".join(word))
                word = None
            continue
        if char in _SHELL or (char == "~" and not word) or (char == "=" and not words):
            return None
        if word is None:
            word = []
        if char == "'":
            close = text.find("'", position)
            if close < 0:
                return None
            word.append(text[position:close])
            position = close + 1
        elif char == '"':
            close = text.find('"', position)
            inside = text[position:close]
            if close < 0 or "\\" in inside or not _INSIDE_DOUBLE.isdisjoint(inside):
                return None
            word.append(inside)
            position = close + 1
        elif char == "\\":
            if position == end or text[position] == "\n":
                return None
            word.append(text[position])
            position += 1
        else:
            word.append(char)
    if word is not None:
        words.append("".join(word))
    if not words or words[0] in _SHELL_WORDS:
        return None
    return tuple(words)


_remembered = lru_cache(maxsize=512)(_plain_words)
