"""Secrets by the command they are given to: ``curl -u bob:X``, ``vault login X``.

Which programs take a secret where is data, rules/secrets.yaml. Here is what becomes of the words of
one command; `triage.secret_lines` finds commands in a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from triage.credentials import is_placeholder, is_saying, looks_random, named_credential

if TYPE_CHECKING:
    from triage.secret_patterns import Commands

__all__ = ["Call", "Form", "Span", "between", "program_of"]

# From and to in a word, of what is to be masked.
Span = tuple[int, int]

_EXPANSION = r"\$[({].*|\$\w*|`.*"


class Form:
    """One command form of the data."""

    __slots__ = ("argument", "attached", "bounds", "cluster", "named", "options", "pairs", "stdin",
                 "then")  # fmt: skip

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.then: tuple[str, ...] = tuple(data.get("then", ()))
        # Option -> the mark in its argument behind which the secret begins.
        self.options: dict[str, str] = dict.fromkeys(data.get("secret", ()), "")
        for mark, options in data.get("after", {}).items():
            self.options.update(dict.fromkeys(options, mark))
        self.attached: tuple[str, ...] = tuple(data.get("attached", ()))
        self.cluster: str = data.get("flags", "")
        self.argument: Any = data.get("argument")
        self.bounds: tuple[str, str] = (data.get("from", ""), data.get("until", ""))
        self.named: bool = data.get("named", False)
        self.pairs: bool = data.get("pairs", False)
        self.stdin: Any = data.get("stdin")

    def option(self, word: str) -> tuple[int, str] | None:
        """Where in `word` the argument of a secret option begins (-1: it is the next word), and
        the mark in it; None where `word` is no such option."""
        if word in self.options:
            return -1, self.options[word]
        for option in self.attached:
            if word.startswith(option) and len(word) > len(option):
                return len(option), ""
        if word[:1] not in ("-", "/"):
            return None
        for option, mark in self.options.items():
            if len(option) == 2 and option[0] == "-":
                at = -1 if word[1:2] == "-" else word.find(option[1], 1)
                if at < 1 or not all(char in self.cluster for char in word[1:at]):
                    continue
                if at + 1 == len(word):
                    return -1, mark
                return at + 1 + (word[at + 1] == "="), mark
            if word.startswith(option) and word[len(option)] in "=:":
                return len(option) + 1, mark
        return None


class Call:
    """The words of one command, taken in one after the other.

    `sure` says that this is a command and no prose about one.
    """

    __slots__ = (
        "_arguments",
        "_commands",
        "_expected",
        "_forms",
        "_last",
        "_word",
        "reads",
        "sure",
    )

    def __init__(self, commands: Commands, *, sure: bool) -> None:
        self._commands = commands
        self.sure = sure
        # Form -> how many words of its `then` were seen.
        self._forms: dict[Form, int] = {}
        self._arguments: dict[Form, int] = {}
        # What makes the next word a secret: the mark in it.
        self._expected: str | None = None
        # The number of the word, and the span in it, that is a secret if no word follows.
        self._last: dict[Form, tuple[int, Span]] = {}
        self._word = -1
        # The mark behind which stdin is secret, None where it is not.
        self.reads: str | None = None

    def word(self, word: str, *, quoted: bool = False) -> Span | None:
        """Take in the next word; return what of it is a secret."""
        self._word += 1
        expected, self._expected = self._expected, None
        if expected is not None and (quoted or not re.match(r"--?[A-Za-z]", word)):
            return _given(word, 0, expected, quoted or self.sure)
        span = self._in_forms(word, quoted)
        for form in self._commands.forms(program_of(word)):
            self._forms.setdefault(form, 0)
            if form.stdin == "always" and not form.then:
                self.reads = form.bounds[0]
        return span

    def last(self) -> tuple[int, Span] | None:
        """The number of a word, and the span in it, that turns out to be a secret at the end."""
        found = [item for item in self._last.values() if item[0] == self._word]
        return found[0] if found else None

    def _in_forms(self, word: str, quoted: bool) -> Span | None:
        bare = word.rstrip(",")
        for form, seen in self._forms.items():
            if seen < len(form.then):
                if fnmatchcase(bare, form.then[seen]):
                    self._forms[form] = seen + 1
                    if form.stdin == "always" and seen + 1 == len(form.then):
                        self.reads = form.bounds[0]
                continue
            if isinstance(form.stdin, list) and bare in form.stdin:
                self.reads = form.bounds[0]
            found = form.option(bare)
            if found is not None:
                at, mark = found
                if at < 0:
                    self._expected = mark
                    return None
                span = _given(word, at, mark, True)
                if span is not None:
                    return span
            span = self._argument(form, word, quoted)
            if span is not None:
                return span
        return None

    def _argument(self, form: Form, word: str, quoted: bool) -> Span | None:
        if form.named and _is_name(word):
            self._expected = ""
            return None
        if form.pairs and "=" in word and word[0] != "-":
            return _given(word, 0, "=", True)
        if form.argument is None or (word[:1] == "-" and not quoted):
            return None
        number = self._arguments[form] = self._arguments.get(form, 0) + 1
        if form.argument not in (number, "last"):
            return None
        span = between(word, *form.bounds)
        if span is None or not _may_be(word[slice(*span)], quoted):
            return None
        random = looks_random(word[slice(*span)], 6)
        if form.argument == "last" or not random:
            if random or self.sure:
                self._last[form] = (self._word, span)
            return None
        return span


def program_of(word: str) -> str:
    """The name a form may know a program by: ``/usr/bin/Curl`` is ``curl``."""
    if "://" in word:
        return ""
    return re.split(r"[/\\]", word.strip("[](){},"))[-1].lower()


def _is_name(word: str) -> bool:
    return word[:1] != "-" and "=" not in word and named_credential(word) is not None


def _given(word: str, at: int, mark: str, quoted: bool) -> Span | None:
    """The span of a secret in what an option was given, which begins at `at`."""
    span = between(word[at:], mark, "")
    if span is None:
        return None
    value = word[at + span[0] :]
    if mark == ":" and word[at : at + span[0] - 1].isdigit() and value.isdigit():
        return None  # user and group by number
    return (at + span[0], len(word)) if _may_be(value, quoted) else None


def between(word: str, after: str, until: str) -> Span | None:
    """The span in `word` after one mark and before another; None where the first is missing."""
    start = word.find(after)
    if start < 0:
        return None
    start += len(after)
    end = word.find(until, start) if until else len(word)
    return start, len(word) if end < 0 else end


def _may_be(value: str, quoted: bool) -> bool:
    if not value or value == "-" or is_placeholder(value):
        return False
    if re.fullmatch(_EXPANSION, value):
        return False
    return quoted or not is_saying(value)
