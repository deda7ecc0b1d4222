"""Whether a sed or awk program only reads.

Both languages can write files and start commands. What is not recognised as harmless is named;
the caller treats it as unknown. GNU and POSIX manuals of sed and awk are the source.
"""

from __future__ import annotations

import re

__all__ = ["awk_writes", "sed_writes"]

_AWK_CALLS = re.compile(r"\bsystem\b|@")
_AWK_PRINTS = re.compile(r"\bprintf?\b")
_SED_ADDRESS = re.compile(r"\s*(?:[0-9]+(?:~[0-9]+)?|\$|[+~][0-9]+)")
_SED_BLANK = re.compile(r"[\s;{}]*")
_SED_TEXT = re.compile(r"(?:[^\\\n]|\\[\s\S])*")
_SED_LINE = re.compile(r"[^\n]*")
_SED_LABEL = re.compile(r"[^;\n}]*")
_SED_FLAGS = re.compile(r"[gpiImM0-9]*")
_SED_SIMPLE = frozenset("=dDgGhHnNpPxlqQzF")


def awk_writes(program: str) -> str:
    """Return what in an awk program may write or run something, '' for one that only reads."""
    called = _AWK_CALLS.search(program)
    if called:
        return called.group()
    pipes = program.replace("||", "  ")
    if "getline" in program and "|" in pipes:
        return "| getline"
    printed = _AWK_PRINTS.search(pipes)
    if printed:
        # `print > file`, `print | command`; a comparison behind a print is not told apart.
        for mark in (">", "|"):
            if pipes.find(mark, printed.end()) >= 0:
                return f"print {mark}"
    return ""


def sed_writes(script: str) -> str:
    """Return what in a sed script may write or run something, '' for one that only reads."""
    position = 0
    while True:
        position = _end(_SED_BLANK, script, position)
        start = position
        position = _addresses(script, position)
        if position < 0:
            return "an address that is not understood"
        if position >= len(script):
            return "" if position == start else "an address without a command"
        command = script[position]
        position += 1
        if command in "{}":
            continue
        if command in _SED_SIMPLE:
            while position < len(script) and script[position] in " \t0123456789":
                position += 1
        elif command in "aic":
            position = _end(_SED_TEXT, script, position)
        elif command in "rRv#":
            position = _end(_SED_LINE, script, position)
        elif command in ":btT":
            position = _end(_SED_LABEL, script, position)
        elif command in "sy":
            position = _sections(script, position)
            if position < 0:
                return "a substitution that is not understood"
            position = _end(_SED_FLAGS, script, position)
            if position < len(script) and script[position] in "ew":
                return f"{command}///{script[position]}"
        else:
            return f"the command {command!r}"
        rest = script[position : position + 1]
        if rest and rest not in ";}\n \t#":
            return f"{rest!r} after a command"


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _addresses(script: str, position: int) -> int:
    """Skip `addr`, `addr,addr` and `!`; -1 where a regex has no end."""
    while position < len(script):
        char = script[position]
        if char in "/\\":
            if char == "\\":
                position += 1
            position = _section(script, position + 1, script[position : position + 1])
            if position < 0:
                return -1
            while position < len(script) and script[position] in "IM":
                position += 1
        elif char in ", \t!":
            position += 1
        else:
            match = _SED_ADDRESS.match(script, position)
            if match is None:
                return position
            position = match.end()
    return position


def _sections(script: str, position: int) -> int:
    """Skip `/pattern/replacement/` of `s` or `y`; the index behind it, -1 without an end."""
    delimiter = script[position : position + 1]
    if not delimiter or delimiter in "\n\\":
        return -1
    middle = _section(script, position + 1, delimiter)
    return -1 if middle < 0 else _section(script, middle, delimiter, pattern=False)


def _section(script: str, position: int, delimiter: str, *, pattern: bool = True) -> int:
    """Find the end of a section; -1 where it has none or a bracket expression holds one.

    Whether a delimiter inside [...] ends the section differs between seds.
    """
    if not delimiter:
        return -1
    bracket = -1
    while position < len(script):
        char = script[position]
        if char == "\\":
            position += 1
        elif char == delimiter:
            return -1 if bracket >= 0 else position + 1
        elif pattern and char == "[" and bracket < 0:
            bracket = position + (2 if script[position + 1 : position + 2] == "^" else 1)
        elif char == "]" and position > bracket >= 0 and script[position - 1] not in ":.=":
            bracket = -1
        position += 1
    return -1
