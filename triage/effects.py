"""Whether a command line only reads, decided by rules/effects.yaml.

A line is read-only when every command in it, nested ones too, matches a read-only form and
nothing around it (redirections, environment, wrappers, values only a shell knows) can turn it
into something else. It is mutating when one command is. Everything else is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from triage.command import CommandLine, Stage, parse_command
from triage.effect_forms import Arguments, Form, Program, glob
from triage.errors import LocatedIssue, RuleError
from triage.frozen import frozen
from triage.model import Effect

__all__ = ["EffectResult", "Rules", "effect_of"]

_INNER = 4
# A longer line is no form anybody knows; the limits keep the work small.
_MOST_STAGES = 400
_MOST_WORDS = 2_000
_LONGEST_REMEMBERED = 4096
_MOST_REMEMBERED = 256


@frozen()
class EffectResult:
    """An effect, the reason for it, and the stage that decided (None: the line or the caller)."""

    effect: Effect
    why: str
    stage: Stage | None = None


class Rules:
    """The forms of rules/effects.yaml; an entry is compiled when its program is first met.

    `from_data` takes the parsed file (plain dicts and lists). Raises `RuleError` where the data
    is no effects file at all; the details are the schema's business.
    """

    __slots__ = ("_but", "_compiled", "_data", "_entries", "_harmful", "_known", "remembered")

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._entries: dict[str, Any] = {}
        self._compiled: dict[str, Program] = {}
        for effect in ("read_only", "mutating"):
            self._entries.update(dict.fromkeys(data.get(effect, ()), effect))
        for name, entry in data.get("programs", {}).items():
            self._entries.update(dict.fromkeys((name, *entry.get("also", ())), entry))
        self._known = frozenset(data.get("version_of", ()))
        environment = data.get("environment", {})
        self._harmful = glob("|".join(environment.get("harmful", ())))
        self._but = glob("|".join(environment.get("but", ())))
        # Lines judged lately, by text and argv: a call that fails is made again.
        self.remembered: dict[tuple[str, tuple[str, ...]], EffectResult] = {}

    @classmethod
    def from_data(cls, data: object) -> Rules:
        """Build the rules from parsed YAML or JSON; raises `RuleError`."""
        if not isinstance(data, Mapping) or not isinstance(data.get("programs"), Mapping):
            issue = LocatedIssue("effects.yaml:1:1", "no mapping with `programs`", "see its schema")
            raise RuleError([issue])
        return cls(data)

    def program(self, name: str) -> Program | str | None:
        """Return the entry of a program: its forms, or one effect for whatever it is given."""
        entry = self._entries.get(name)
        if entry is None or isinstance(entry, str):
            return entry
        if name not in self._compiled:
            self._compiled[name] = Program.from_data(entry)
        return self._compiled[name]

    def tells_version(self, stage: Stage) -> bool:
        """Whether a stage is `PROGRAM --version` and nothing else."""
        if len(stage.argv) != 2 or stage.expanded:
            return False
        option = stage.argv[1]
        if option in self._data.get("informational", ()):
            return stage.program in self._entries or stage.program in self._known
        return stage.program in self._data.get("version_options", {}).get(option, ())

    def steers(self, name: str, value: str) -> bool:
        """Whether an environment variable can make a reading program run or write something."""
        pagers = self._data.get("environment", {}).get("pagers", {})
        if name in pagers.get("names", ()):
            return value not in pagers.get("values", ())
        return self._harmful(name) and not self._but(name)

    def around(self, stage: Stage) -> str:
        """Return what around a command keeps it from being called read-only, '' for nothing."""
        for name, value in stage.env.items():
            if self.steers(name, value):
                return f"the variable {name} can change what the command does"
        wrappers = self._data.get("wrappers", {})
        for name in stage.wrappers:
            if name not in wrappers:
                return f"`{name}` around it is not known to be harmless"
            options = Arguments(stage.before, frozenset(), frozenset())
            if any(options.given(flag) for flag in wrappers[name]):
                return f"an option of `{name}` may write or run something"
        for name in stage.runners:
            if name not in self._data.get("runners", ()):
                return f"`{name}` may install or change something first"
        for written in stage.redirects:
            target = _written_to(written)
            if target and target not in self._data.get("sinks", ()):
                return f"the output goes to {target}"
        folder = stage.raw_program.replace("\\", "/").rpartition("/")
        if folder[1] and folder[0] not in self._data.get("folders", ()):
            return f"`{stage.raw_program}` is named by a path"
        return ""


_builtin: Rules | None = None


def effect_of(
    line: CommandLine | None, declared: Effect | None = None, rules: Rules | None = None
) -> EffectResult:
    """Return the effect of a command line; what the caller declared stands above the rules.

    `rules` None takes the built-in table's. Raises `RuleError` only where those can't be loaded.
    """
    if declared is not None:
        return EffectResult(declared, "declared by the caller")
    if line is None or not (line.stages or line.nested):
        return EffectResult("unknown", "no command is known")
    rules = rules if rules is not None else _load_builtin()
    key = (line.text, line.argv)
    known = rules.remembered.get(key)
    if known is None:
        known = _of_line(line, rules, 0)
        if len(line.text) <= _LONGEST_REMEMBERED:
            if len(rules.remembered) >= _MOST_REMEMBERED:
                rules.remembered.clear()
            rules.remembered[key] = known
    return known


def _load_builtin() -> Rules:
    global _builtin
    if _builtin is None:
        from triage.cache import load_table

        _builtin = Rules.from_data(load_table().section("effects"))
    return _builtin


def _of_line(line: CommandLine, rules: Rules, depth: int) -> EffectResult:
    stages = (*line.stages, *line.nested)
    results = [_of_stage(stage, rules, depth) for stage in stages[:_MOST_STAGES]]
    for result in results:
        if result.effect == "mutating":
            return result
    if len(stages) > _MOST_STAGES:
        return EffectResult("unknown", "the line holds too many commands")
    if not line.parsed:
        return EffectResult("unknown", "the line could not be read to its end")
    if line.doubts:
        return EffectResult("unknown", line.doubts[0])
    for result in results:
        if result.effect == "unknown":
            return result
    return results[-1]


def _of_stage(stage: Stage, rules: Rules, depth: int) -> EffectResult:
    judged = _of_program(stage, rules, depth)
    if judged.effect == "read_only":
        reason = rules.around(stage)
        if reason:
            return EffectResult("unknown", reason, stage)
    return EffectResult(judged.effect, judged.why, stage)


@frozen()
class _Judgement:
    effect: Effect
    why: str


def _of_program(stage: Stage, rules: Rules, depth: int) -> _Judgement:
    if not stage.argv:
        return _Judgement("read_only", "only sets variables of the shell")
    name = stage.program
    if 0 in stage.expanded or 0 in _replaced(stage):
        return _Judgement("unknown", "which program runs is known only when it runs")
    if rules.tells_version(stage):
        return _Judgement("read_only", f"`{name}` only tells about itself")
    entry = rules.program(name)
    if entry is None:
        return _Judgement("unknown", f"`{name}` is not among the known programs")
    if isinstance(entry, str):
        if entry == "mutating":
            return _Judgement("mutating", f"`{name}` changes something")
        return _Judgement("read_only", f"`{name}` only reads")
    if len(stage.argv) > _MOST_WORDS:
        return _Judgement("unknown", f"`{name}` is given too many words")
    return _of_forms(stage, entry, rules, depth)


def _replaced(stage: Stage) -> frozenset[int]:
    """Indices of the words in which xargs puts what it reads (`xargs -I{} cmd {}`)."""
    if "xargs" not in stage.wrappers:
        return frozenset()
    options = Arguments(stage.before, frozenset(), frozenset())
    marks = [value for flag in ("-I", "--replace") for value in options.values(flag)]
    if options.given("-i") or options.given("--replace"):
        marks.append("{}")
    return frozenset(
        index
        for index, word in enumerate(stage.argv)
        if any(mark in word for mark in marks if mark)
    )


def _of_forms(stage: Stage, program: Program, rules: Rules, depth: int) -> _Judgement:
    replaced = _replaced(stage)
    splitting = stage.splitting | replaced
    hidden = stage.open_words | replaced
    arguments = Arguments(
        stage.argv[1:],
        frozenset(index - 1 for index in hidden),
        frozenset(index - 1 for index in splitting),
        stage.program,
        known=program.values | program.options,
        values=program.values,
    )
    if "xargs" in stage.wrappers:
        arguments = arguments.with_more()
    if arguments.any_of(program.mutating, program.allow):
        return _Judgement("mutating", f"an option of `{stage.program}` changes something")
    for form in program.forms:
        path = form.match(arguments)
        if path is None:
            continue
        shown = " ".join((stage.program, *path))
        if form.effect == "mutating":
            return _Judgement("mutating", f"`{shown}` changes something")
        if form.effect == "unknown":
            return _Judgement("unknown", f"`{shown}` may change something")
        if arguments.any_of(form.mutating, form.allow):
            return _Judgement("mutating", f"an option of `{shown}` changes something")
        reason = _doubt(stage, program, form, arguments, rules, depth)
        if reason is not None:
            return _Judgement(reason.effect, f"`{shown}`: {reason.why}")
        return _Judgement("read_only", f"`{shown}` only reads")
    return _Judgement("unknown", f"no known form of `{stage.program}` matches")


def _doubt(
    stage: Stage,
    program: Program,
    form: Form,
    arguments: Arguments,
    rules: Rules,
    depth: int,
) -> _Judgement | None:
    """Return what keeps a matching form from being read-only."""
    flag = arguments.any_of(form.unknown, form.allow) or arguments.any_of(
        program.unknown, program.allow
    )
    if flag:
        return _Judgement("unknown", f"{flag} may write or run something")
    if (form.restricted or program.restricted) and arguments.hidden_words(form.values):
        return _Judgement("unknown", "an option may hide in a word only the shell knows")
    if form.assigns:
        for word in stage.argv[1:]:
            name, _, value = word.partition("=")
            if rules.steers(name.rstrip("+"), value):
                return _Judgement("unknown", f"the variable {name} can change what follows")
    if form.script:
        return _script(stage, form, arguments)
    for inner in _started(arguments, form.runs):
        if not inner or depth >= _INNER:
            return _Judgement("unknown", "what it starts is not known")
        result = _of_line(parse_command(inner), rules, depth + 1)
        if result.effect != "read_only":
            return _Judgement(result.effect, f"it starts a command: {result.why}")
    return None


def _script(stage: Stage, form: Form, arguments: Arguments) -> _Judgement | None:
    from triage.script_effects import awk_writes, sed_writes

    scripts: list[str] = []
    if form.script == "sed":
        scripts = [*arguments.values("-e"), *arguments.values("--expression")]
    if not scripts:
        scripts = [word.text for word in arguments.positionals(form.values)[:1]]
    dynamic = {stage.argv[index] for index in stage.expanded}
    if not scripts or not dynamic.isdisjoint(scripts):
        return _Judgement("unknown", "its program is known only when it runs")
    writes = sed_writes if form.script == "sed" else awk_writes
    reasons = [reason for reason in map(writes, scripts) if reason]
    return _Judgement("unknown", f"its program may write: {reasons[0]}") if reasons else None


def _started(arguments: Arguments, flags: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the commands that `find -exec COMMAND ;` starts."""
    words = arguments.words
    for position, word in enumerate(words):
        if word in flags:
            inner: list[str] = []
            for following in words[position + 1 :]:
                if following in (";", "+"):
                    break
                inner.append(following)
            yield tuple(inner)


def _written_to(redirect: str) -> str:
    """Return the file a redirection writes to, '' for one that only reads or copies."""
    rest = redirect.lstrip("0123456789")
    operator = rest[: len(rest) - len(rest.lstrip("<>&|"))]
    target = rest[len(operator) :].strip()
    if ">" not in operator:
        return ""
    if operator == ">&" and (target == "-" or target.rstrip("-").isdigit()):
        return ""
    return target or "a file"
