"""The forms of rules/effects.yaml: subcommand paths, options and operands that must hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from triage.frozen import frozen
from triage.model import Effect
from triage.wrappers import LONG_SINGLE_DASH

__all__ = ["Arguments", "Form", "Positional", "Program", "glob"]

Test = Callable[[str], bool]
Flags = tuple[str, ...]
Allowed = Mapping[str, Test]
_NOT = frozenset(["false", "no", "none", "0", "off", "never"])


def glob(alternatives: str) -> Test:
    """Compile `a|b-*|*c`: plain words into a set, the rest into patterns."""
    parts = alternatives.split("|") if alternatives else []
    plain = frozenset(part for part in parts if not any(mark in part for mark in "*?["))
    patterns = tuple(part for part in parts if part not in plain)

    def test(text: str) -> bool:
        if text in plain or not patterns:
            return text in plain
        from fnmatch import fnmatchcase

        return any(fnmatchcase(text, pattern) for pattern in patterns)

    return test


@frozen()
class Positional:
    """A word that is no option: `sure` where no unknown option in front may have taken it."""

    text: str
    at: int
    sure: bool


class Arguments:
    """The words behind a program, looked at for options and positionals.

    `hidden` are indices of words that may turn out to be options, `splitting` of those that may
    turn into several words. `values` are options that take the next word, `known` all options
    that are what they seem; any other long option may be the abbreviation of a longer one.
    """

    __slots__ = ("clusters", "hidden", "known", "more", "program", "splitting", "valued", "words")

    def __init__(
        self,
        words: tuple[str, ...],
        hidden: frozenset[int],
        splitting: frozenset[int],
        program: str = "",
        *,
        known: frozenset[str] = frozenset(),
        values: frozenset[str] = frozenset(),
    ) -> None:
        self.words = words
        self.hidden = hidden
        self.splitting = splitting
        self.program = program
        self.known = known
        self.valued = values
        self.clusters = program not in LONG_SINGLE_DASH
        self.more = False

    def with_more(self) -> Arguments:
        """Return the same arguments with unknown ones behind them, as xargs adds."""
        self.more = True
        return self

    def values(self, flag: str) -> list[str]:
        """Return the value of each occurrence of `flag`: joined to it, or the next word."""
        return [value for value, _ in self._occurrences(flag)]

    def given(self, flag: str) -> bool:
        """Whether `flag` stands among the words and is not switched off (`--x=false`)."""
        found = self._occurrences(flag, exact=True)
        return bool(found) and not any(joined and value in _NOT for value, joined in found)

    def wants(self, need: str) -> bool:
        """Whether FLAG is given, or FLAG=VALUE with that value each time."""
        flag, equals, value = need.partition("=")
        if not equals:
            return self.given(flag)
        values = [text for text, _ in self._occurrences(flag, exact=True)]
        return bool(values) and all(found == value for found in values)

    def any_of(self, flags: Flags, allow: Allowed) -> str:
        """Return the first of `flags` that is given with a value not allowed, or ''."""
        for flag in flags:
            values = self.values(flag)
            if values and not (flag in allow and all(allow[flag](value) for value in values)):
                return flag
        return ""

    def only(self, allowed: frozenset[str]) -> bool:
        """Whether no option but the allowed ones is given."""
        for word in self.words:
            if word[:1] != "-" or word in ("-", "--"):
                continue
            name = word.partition("=")[0]
            if name in allowed:
                continue
            if word.startswith("--") or not self.clusters:
                return False
            for letter in word[1:]:
                if "-" + letter not in allowed:
                    return False
                if "-" + letter in self.valued:
                    break
        return True

    def positionals(self, more_values: frozenset[str] = frozenset()) -> list[Positional]:
        """Return the words that are neither options nor values of known options."""
        valued = self.valued | more_values
        found: list[Positional] = []
        sure, literal, skip = True, False, False
        for index, word in enumerate(self.words):
            if skip:
                skip = False
                sure = sure and index not in self.splitting
            elif literal or word[:1] != "-" or word == "-":
                found.append(Positional(word, index, sure and index not in self.hidden))
                sure = sure and index not in self.hidden
            elif word == "--":
                literal = True
            else:
                name, equals, _ = word.partition("=")
                last = "-" + word[-1]
                if name in valued:
                    skip = not equals
                elif self.clusters and name[:2] != "--" and last in valued and len(word) > 2:
                    skip = True
                elif not (name in self.known or (self.clusters and word[:2] in valued)):
                    sure = False
        return found

    def hidden_words(self, more_values: frozenset[str]) -> bool:
        """Whether a word may be an option in disguise; a value of a known option is none."""
        if self.more or self.splitting:
            return True
        valued = self.valued | more_values
        return any(index == 0 or self.words[index - 1] not in valued for index in self.hidden)

    def _occurrences(self, flag: str, *, exact: bool = False) -> list[tuple[str, bool]]:
        """Find a flag with its values; unless `exact`, whatever might be read as it."""
        found: list[tuple[str, bool]] = []
        bare = flag.lstrip("-")
        for index, word in enumerate(self.words):
            if word[:1] != "-" or len(word) < 2:
                continue
            name, equals, joined = word.partition("=")
            following = self.words[index + 1] if index + 1 < len(self.words) else ""
            if len(bare) > 1 or not self.clusters:
                given = name.lstrip("-")
                abbreviated = (
                    flag.startswith("--")
                    and name.startswith("--")
                    and given != ""
                    and bare.startswith(given)
                    and name not in self.known
                )
                loose = not exact or not self.clusters
                if name == flag or (loose and (given == bare or abbreviated)):
                    found.append((joined, True) if equals else (following, False))
                elif not self.clusters or name.startswith("--") or flag.startswith("--"):
                    continue
                elif word.startswith(flag):
                    # `-sf` of zip, `-Qi` of pacman: a cluster that is listed as one word.
                    found.append((word[len(flag) :], True))
                continue
            if word.startswith("--"):
                continue
            for position in range(1, len(word)):
                if word[position] == bare:
                    rest = word[position + 1 :]
                    found.append((rest.removeprefix("="), True) if rest else (following, False))
                    break
                if "-" + word[position] in self.valued:
                    break
        return found


@frozen()
class Form:
    """One form of a program: where its path and conditions hold, it has `effect`.

    `paths` are alternatives, each a test per word. `unknown` and `mutating` are options that
    change the effect, `allow` the values with which they don't.
    """

    paths: tuple[tuple[Test, ...], ...]
    effect: Effect
    values: frozenset[str]
    needs: Flags
    only: frozenset[str] | None
    operands: int | None
    operand: Test | None
    not_operand: Test | None
    unknown: Flags
    mutating: Flags
    allow: Allowed
    script: str
    runs: Flags
    assigns: bool

    @classmethod
    def from_data(cls, data: str | Mapping[str, Any], allow: Mapping[str, Any]) -> Form:
        """Compile one entry of `forms`; a plain string is the path of a read-only form."""
        entry: Mapping[str, Any] = {"path": data} if isinstance(data, str) else data
        verbs = entry.get("verbs", "")
        sources = entry["path"] if isinstance(entry["path"], list) else [entry["path"]]
        paths = tuple(
            tuple(glob(verbs if word == "&" else word) for word in source.split())
            for source in sources
        )
        return cls(
            paths,
            entry.get("effect", "read_only"),
            frozenset(entry.get("values", ())),
            tuple(entry.get("needs", ())),
            frozenset(entry["only"]) if "only" in entry else None,
            entry.get("operands"),
            _any(entry.get("operand")),
            _any(entry.get("not_operand")),
            tuple(entry.get("unknown", ())),
            tuple(entry.get("mutating", ())),
            {flag: glob("|".join(v)) for flag, v in {**allow, **entry.get("allow", {})}.items()},
            entry.get("script", ""),
            tuple(entry.get("runs", ())),
            bool(entry.get("assigns", False)),
        )

    @property
    def restricted(self) -> bool:
        """Whether the effect depends on options or operands."""
        return bool(
            self.needs or self.unknown or self.mutating or self.script or self.runs or self.assigns
        ) or not (
            self.only is None
            and self.operands is None
            and self.operand is None
            and self.not_operand is None
        )

    def match(self, arguments: Arguments) -> tuple[str, ...] | None:
        """Return the words of the path where this form is the one, else None."""
        found = arguments.positionals(self.values)
        for path in self.paths:
            head = found[: len(path)]
            if len(head) < len(path) or not all(
                test(word.text) for test, word in zip(path, head, strict=True)
            ):
                continue
            if self.effect == "read_only" and not all(word.sure for word in head):
                continue
            if self._holds(arguments, found[len(path) :], head):
                return tuple(word.text for word in head)
        return None

    def _holds(
        self, arguments: Arguments, rest: Iterable[Positional], head: list[Positional]
    ) -> bool:
        operands = [word.text for word in rest]
        if self.operands is not None and len(operands) > self.operands:
            return False
        if self.operand is not None and not all(map(self.operand, operands)):
            return False
        if self.not_operand is not None:
            taken = {word.at for word in head}
            words = (w for i, w in enumerate(arguments.words) if i not in taken)
            if any(self.not_operand(word) for word in words):
                return False
        if self.only is not None and not arguments.only(self.only):
            return False
        return not self.needs or any(map(arguments.wants, self.needs))


def _any(patterns: list[str] | None) -> Test | None:
    return None if patterns is None else glob("|".join(patterns))


@frozen()
class Program:
    """A program with forms; `options` and `values` may stand in front of its subcommand."""

    forms: tuple[Form, ...]
    options: frozenset[str]
    values: frozenset[str]
    unknown: Flags
    mutating: Flags
    allow: Allowed

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Program:
        """Compile one entry of `programs`."""
        allow = data.get("allow", {})
        return cls(
            tuple(Form.from_data(form, allow) for form in data.get("forms", ())),
            frozenset(data.get("options", ())),
            frozenset(data.get("values", ())),
            tuple(data.get("unknown", ())),
            tuple(data.get("mutating", ())),
            {flag: glob("|".join(values)) for flag, values in allow.items()},
        )

    @property
    def restricted(self) -> bool:
        """Whether an option changes the effect of every form."""
        return bool(self.unknown or self.mutating)
