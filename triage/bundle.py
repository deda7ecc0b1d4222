"""The non-interactive bundle: one command, kept from waiting for a person.

What is set is data, ``rules/bundle.yaml``; this module lays it around a command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from triage.errors import LocatedIssue, RuleError, UsageError
from triage.frozen import frozen
from triage.render import posix_line, powershell_line

__all__ = ["Bundle", "bundle", "check_bundles", "load_bundles"]

_LONGEST_S = 1e7  # about four months; past that a limit is a slip of the pen

_builtin: dict[str, Mapping[str, Any]] = {}


@frozen()
class Bundle:
    """A command with the bundle around it, three times: as data, for sh, for PowerShell.

    `argv`, `env` (added to the caller's), `stdin` ("null": closed), `timeout_s` and `new_session`
    are what subprocess needs. `posix` and `powershell` are one line each, and say the same.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    stdin: str
    timeout_s: float
    new_session: bool
    flavour: str
    posix: str
    powershell: str


def bundle(
    command: Sequence[str] | str,
    *,
    flavour: str | None = None,
    timeout_s: float | None = None,
    data: Mapping[str, Any] | None = None,
) -> Bundle:
    """Lay the bundle around `command`: a sequence is its words, a str a line for ``bash -c``.

    `flavour` is "extended" (default) or "seed"; `timeout_s` is in seconds, 60 where None. `data`
    is the parsed ``rules/bundle.yaml``; None reads the built-in one. Raises `UsageError` for an
    empty command, a NUL in it, an unknown flavour or a limit that is no positive number.
    Source: the seed's non-interactive bundle.
    """
    rules = _built_in() if data is None else data
    chosen = rules["default"] if flavour is None else flavour
    flavours = rules["flavours"]
    if chosen not in flavours:
        raise UsageError(
            "flavour", f"there is no bundle {chosen!r}", f"use one of {', '.join(flavours)}"
        )
    limit = rules["timeout_s"] if timeout_s is None else timeout_s
    if not 0 < limit <= _LONGEST_S:
        raise UsageError("timeout", f"{limit!r} is no time limit", "give seconds above 0")
    if isinstance(command, str):
        if not command.strip():
            raise UsageError("command", "the line is empty", "give the command to run")
        argv: tuple[str, ...] = ("bash", "-c", command)
    else:
        argv = tuple(command)
    env = _environment(chosen, flavours)
    stdin: str = rules["stdin"]
    new_session: bool = flavours[chosen]["new_session"]
    return Bundle(
        argv=argv,
        env=env,
        stdin=stdin,
        timeout_s=float(limit),
        new_session=new_session,
        flavour=chosen,
        posix=posix_line(argv, env=env, stdin=stdin, timeout_s=limit, new_session=new_session),
        powershell=powershell_line(argv, env=env, stdin=stdin, timeout_s=limit),
    )


def load_bundles(rules: str | None = None) -> Mapping[str, Any]:
    """Read ``bundle.yaml`` of the folder `rules` (None: the built-in rules) without the table.

    Raises `RuleError` with file:line:column for a file that is missing, no YAML, or unsound.
    """
    import os.path

    from triage.yaml_source import load_yaml

    if rules is None:
        from triage.rules_folder import builtin_rules

        rules = builtin_rules()
    path = os.path.join(rules, "bundle.yaml")  # noqa: PTH118 (pathlib costs 3 ms of start-up)
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            source = load_yaml(path, file.read())
    except (OSError, UnicodeDecodeError) as error:
        raise RuleError(
            [LocatedIssue(f"{path}:1:1", f"can't be read: {error}", "make it readable UTF-8")]
        ) from None
    data: Mapping[str, Any] = source.data
    issues = [
        LocatedIssue(source.where(*place), what, remedy)
        for place, what, remedy in check_bundles(data)
    ]
    if issues:
        raise RuleError(issues)
    return data


def check_bundles(data: Mapping[str, Any]) -> list[tuple[tuple[str, ...], str, str]]:
    """What a schema can't say of ``bundle.yaml``, as (path in the data, what, remedy)."""
    flavours = data["flavours"]
    found: list[tuple[tuple[str, ...], str, str]] = []
    if data["default"] not in flavours:
        found.append((("default",), "no such flavour", f"name one of {', '.join(flavours)}"))
    for name in flavours:
        try:
            env = _environment(name, flavours)
        except UsageError as error:
            found.append((("flavours", name), error.what, error.remedy))
            continue
        # git refuses to start any editor on a dumb terminal, and fails, when none is set.
        if env.get("TERM") == "dumb" and not (env.get("EDITOR") or env.get("GIT_EDITOR")):
            found.append(
                (("flavours", name), "TERM=dumb without an editor", "set EDITOR or GIT_EDITOR")
            )
    return found


def _environment(name: str, flavours: Mapping[str, Any]) -> dict[str, str]:
    """The variables of flavour `name`, its parents' first, in their order."""
    chain: list[str] = []
    step: str | None = name
    while step is not None:
        if step in chain or step not in flavours:
            raise UsageError(
                f"flavour {name}", f"`extends: {step}` leads nowhere", "extend an earlier flavour"
            )
        chain.append(step)
        step = flavours[step].get("extends")
    env: dict[str, str] = {}
    for flavour in reversed(chain):
        for item in flavours[flavour]["env"]:
            env[item["name"]] = item["value"]
    return env


def _built_in() -> Mapping[str, Any]:
    # Two threads may both read the file; they get the same data.
    if "data" not in _builtin:
        _builtin["data"] = load_bundles()
    return _builtin["data"]
