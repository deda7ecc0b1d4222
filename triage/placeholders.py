"""`{name}` and `{name|default}` in a row's action: what a capture showed, as one argument or not.

Values pulled out of captured text are a stranger's words. In an argv they fill exactly one
element; where they could become an option, a program or a script they are refused, and the action
falls back to what its kind does without them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from triage.call import Call
from triage.frozen import frozen
from triage.render import is_argument

__all__ = ["BUILTIN_NAMES", "Values", "fill_number", "misplaced", "names_in", "shown"]

BUILTIN_NAMES = frozenset({"program", "subcommand", "command", "argv"})

# Patterns are kept as text: `re` compiles those that an action needs.
#
# Anything else in braces is literal: jq programs and format strings keep theirs.
_PLACEHOLDER = r"\{([a-z][a-z0-9_]*)(?:\|([^{}]*))?\}"

# The element after one of these is a program text for some interpreter.
_SCRIPT_FLAG = (
    r"-[A-Za-z]*[ceE]|--(?:eval|exec|execute|command|print)|-[Cc]ommand|-i[c]|/[cCkK]|eval|-exec"
)
_SCRIPT_JOINED = r"-[A-Za-z]+=?\{|--(?:eval|exec|execute|command|print)="
# Programs that run their operands: here, or in another shell.
_RUNNERS = frozenset(
    {
        *("ssh", "eval", "exec", "xargs", "parallel", "watch", "entr", "env", "sudo", "doas", "su"),
        *("timeout", "nohup", "nice", "setsid", "stdbuf", "command", "time", "busybox"),
        *("npx", "bunx", "uvx", "pipx", "source"),
    }
)

_PATH_NAMES = r"(?:.*_)?(?:path|file|dir|lock)"
_LONGEST_ARGUMENT = 4096
_LONGEST_SHOWN = 200
_LONGEST_MASKED = 8192


def names_in(template: str) -> list[str]:
    """The placeholder names in `template`, in order."""
    if "{" not in template:
        return []
    return [match.group(1) for match in re.finditer(_PLACEHOLDER, template)]


@frozen()
class Values:
    """What placeholders stand for: the captured call, and what the row's `capture:` pulled out."""

    call: Call
    captured: Mapping[str, str]
    subcommand: tuple[str, ...] = ()

    def argv(self, template: Sequence[str]) -> tuple[str, ...] | None:
        """Fill an argv; None where a value is missing or may not stand where it would.

        ``{argv}`` alone becomes all words of the captured call, ``{subcommand}`` alone all of its
        subcommand's. A captured value that begins with ``-`` becomes ``./-…`` under a name that
        says path, file, dir or lock, is taken after a literal ``--``, and is refused otherwise.
        """
        if misplaced(template):
            return None
        filled: list[str] = []
        guarded = False
        for item in template:
            if item == "{argv}":
                if self.call.argv is None:
                    return None
                filled.extend(self.call.argv)
                continue
            if item == "{subcommand}":
                filled.extend(self.subcommand)
                continue
            value = self._element(item)
            if value is None:
                return None
            first = re.match(_PLACEHOLDER, item)
            if first is not None and value.startswith("-") and not guarded:
                if not re.fullmatch(_PATH_NAMES, first.group(1)):
                    return None
                value = "./" + value
            guarded = guarded or item == "--"
            filled.append(value)
        return tuple(filled) if filled and filled[0] else None

    def text(self, template: str) -> str:
        """Fill a sentence: values on one line, without control characters, shortened."""

        def replaced(match: re.Match[str]) -> str:
            name, default = match.groups()
            value = self.call.program if name == "program" else self._value(name)
            return shown(value or default or "") or f"<{name}>"

        return re.sub(_PLACEHOLDER, replaced, template) if "{" in template else template

    def _element(self, item: str) -> str | None:
        parts: list[str] = []
        position = 0
        for match in re.finditer(_PLACEHOLDER, item):
            name, default = match.groups()
            value = self._value(name) or default
            if not value or not is_argument(value):
                return None
            if name not in BUILTIN_NAMES and len(value) > _LONGEST_ARGUMENT:
                return None
            parts += [item[position : match.start()], value]
            position = match.end()
        return "".join(parts) + item[position:]

    def _value(self, name: str) -> str | None:
        if name == "program":
            return self.call.start or self.call.program
        if name == "subcommand":
            return " ".join(self.subcommand)
        if name in BUILTIN_NAMES:
            return self.call.text
        return self.captured.get(name)


def fill_number(value: object, captured: Mapping[str, str]) -> float | None:
    """Seconds from a number or from ``{name|default}``; None where neither is a number."""
    if isinstance(value, (int, float)):
        return float(value)
    match = re.fullmatch(_PLACEHOLDER, value) if isinstance(value, str) else None
    if match is None:
        return None
    for text in (captured.get(match.group(1)), match.group(2)):
        if text is not None and re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,6})?", text):
            return float(text)
    return None


def shown(value: str) -> str:
    """`value` as it may stand in a sentence."""
    if len(value) > _LONGEST_SHOWN or not value.isprintable():
        from triage.redact import mask

        # What is cut, or loses its lines, must lose its secrets first.
        value = mask(value[:_LONGEST_MASKED])
    clean = "".join(char if char.isprintable() else " " for char in value[: _LONGEST_SHOWN * 4])
    clean = " ".join(clean.split())
    return clean if len(clean) <= _LONGEST_SHOWN else clean[: _LONGEST_SHOWN - 1] + "…"


def misplaced(template: Sequence[str]) -> str | None:
    """Say which element holds a captured value where none may stand; None where all is well.

    Not as the program, not as a script (after ``-c`` and the like), not joined to a one-letter
    option, not as an operand of a program that runs its operands (ssh, env, xargs, npx).
    """
    for index, item in enumerate(template):
        if BUILTIN_NAMES.issuperset(names_in(item)):
            continue
        if index == 0:
            return f"{item!r} would let captured text choose the program"
        before = template[index - 1]
        if re.fullmatch(_SCRIPT_FLAG, before) or re.match(_SCRIPT_JOINED, item):
            return f"{item!r} would let captured text become a script"
        if any(word.rpartition("/")[2] in _RUNNERS for word in template[:index]):
            return f"{item!r} would hand captured text to a program that runs it"
    return None
