"""The words of a shell line: quotes removed, and marked where only a shell knows their value."""

from __future__ import annotations

import re

from triage.frozen import frozen

__all__ = ["Word", "read_word", "scan_word"]

# Patterns are kept as text: most lines are plain words, and need none of them (see `read_line`).
#
# The alternatives begin with different characters, so there is one way to read a text.
_PIECE = r"""(?xa)
      (?P<plain>[^\s'"\\|&;<>()`$]+)
    | '(?P<raw>[^']*)'
    | "(?P<double>(?:[^"\\$`]|\\[\s\S]|\$(?![({\[]))*)"
    | \\(?P<escaped>[\s\S])
    | (?P<literal>\\\Z|\$(?![A-Za-z0-9_?\#@*!${(\['"-]))
    | (?P<variable>\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9?\#@*$!-]))
    """
_DOUBLE_ESCAPE = r'\\(["\\$`]|\n)'
_DOUBLE_VARIABLE = r"\\[\s\S]|\$(?=[A-Za-z_0-9?#@*$!-])"
# A directory by convention: never an option, never several words worth a thought.
_PLACE = r'(?a)"?\$\{?(?:HOME|PWD|OLDPWD|TMPDIR|HOSTNAME|USER|LOGNAME)\b'


@frozen()
class Word:
    """One word of a command.

    `text` has its quotes removed; expansions stand in it as written. `expands` says that only a
    shell knows the value, `open` that it may turn out to be an option (`"$X"`), `splits` that it
    may turn into other words (`$X`, `-{a,b}`); a word that splits is open.
    """

    text: str
    expands: bool = False
    open: bool = False
    splits: bool = False


def scan_word(text: str, start: int) -> tuple[Word, int] | None:
    """Read the word at `start`; None when it holds more than quotes and plain variables."""
    position = start
    read = bare = ""
    expands = is_open = splits = False
    piece = re.compile(_PIECE)
    while match := piece.match(text, position):
        kind = match.lastgroup or ""
        value: str = match.group(kind)
        if kind == "plain":
            expands = expands or (position == start and value[0] == "~")
            bare += value
        elif kind == "variable":
            expands = True
            splits = splits or read != "" or not re.compile(_PLACE).match(text, position)
        elif kind == "double":
            if "$" in value and "$" in re.findall(_DOUBLE_VARIABLE, value):
                expands = True
                at_start = read == "" and value[0] == "$"
                is_open = is_open or (at_start and not re.match(_PLACE, value))
            value = re.sub(_DOUBLE_ESCAPE, _escaped, value)
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
    scanned = scan_word(source, 0)
    if scanned is not None and scanned[1] == len(source):
        return scanned[0]
    if not source:
        return Word("")
    quoted = len(source) > 1 and source[0] == source[-1] == '"'
    text = source[1:-1] if quoted else source
    head = text.split("$", 1)[0].split("`", 1)[0]
    settled = quoted and head != "" and (head[0] != "-" or "=" in head)
    place = re.match(_PLACE, source) is not None and "`" not in source and "$(" not in source
    file = source[:2] in ("<(", ">(")
    if place or file:
        return Word(text, True)
    return Word(text, True, not settled, not quoted)
