"""Every kind of action, what it means, and what it runs where a row names no argv of its own.

The list is closed: rules/schema/action.schema.json holds the same names (a test compares them).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from triage.call import Call
from triage.frozen import frozen
from triage.render import is_argument

__all__ = ["ACTION_KINDS", "KINDS", "ActionKind", "Asked", "default_argv", "subcommand_of"]

# What becomes of a kind that starts the captured call again, when that call may change something:
# "verify": the action turns into verify_state; "drop": the kind stays, without an argv.
Again = Literal["", "verify", "drop"]


@frozen()
class ActionKind:
    """`again` is non-empty where the kind starts the captured call once more."""

    meaning: str
    again: Again = ""


KINDS: Mapping[str, ActionKind] = {
    "none": ActionKind("nothing to do"),
    "use_payload": ActionKind("take the payload; the call need not run again"),
    "read_error": ActionKind("read the named lines: they say what went wrong"),
    "read_report": ActionKind("read the tool's report and mend what it names"),
    "rerun": ActionKind("run the same call once more", "verify"),
    "rerun_with_bundle": ActionKind("run it once more inside the non-interactive bundle", "verify"),
    "rerun_with_env": ActionKind("run it once more with these variables", "verify"),
    "wait_then_retry": ActionKind("wait, then run the same call again", "verify"),
    "wait_for_lock": ActionKind("wait until the lock is free, then run it again", "verify"),
    "bound_output": ActionKind("run it again and keep a bounded part of its output", "verify"),
    "redirect_to_file": ActionKind("run it again with stdout in a file, not a pipe", "verify"),
    "set_pipefail": ActionKind("run the line again so that no stage hides a status", "verify"),
    "run_stages_apart": ActionKind("run the stages of the line one by one"),
    "recapture": ActionKind("capture the call again, status and streams whole", "drop"),
    "poll": ActionKind("ask again later: what was asked for is not there yet", "drop"),
    "start_in_background": ActionKind("start it in the background, then check readiness", "drop"),
    "fix_arguments": ActionKind("read the help, correct the arguments, reissue once"),
    "fix_input": ActionKind("correct the input, reissue once"),
    "install": ActionKind("find the program on PATH; only then install it"),
    "run_remediation": ActionKind("look at the fix the output proposes; running it is a choice"),
    "reauthenticate": ActionKind("renew the credentials, reissue once"),
    "request_access": ActionKind("ask for the right that is missing; no retry"),
    "check_version": ActionKind("compare the version with what is required"),
    "check_network": ActionKind("test the connection outside the tool"),
    "free_space": ActionKind("make room, then decide on the call"),
    "inspect_state": ActionKind("look at what the call left behind before anything else"),
    "verify_state": ActionKind("check what the call committed; resume, don't repeat"),
    "fallback": ActionKind("the mode's fallback: the workaround is beyond this caller"),
    "escalate": ActionKind("stop and hand on command, status, streams and timing"),
}

ACTION_KINDS: Mapping[str, str] = {name: kind.meaning for name, kind in KINDS.items()}

_HELP_WORDS = frozenset({"--help", "-h", "help", "--version", "-V", "-version", "version"})


@frozen()
class Asked:
    """What a default argv is made of: the call, the row's captured values, the policy's `help`."""

    call: Call
    captured: Mapping[str, str]
    help: Mapping[str, Any]
    read_only: bool


def default_argv(kind: str, asked: Asked) -> tuple[str, ...] | None:
    """Return what an action of `kind` runs by itself; None where it is something to read or do."""
    make = _DEFAULTS.get(kind)
    return None if make is None else make(asked)


def asks_for_help(argv: tuple[str, ...] | list[str]) -> bool:
    """Whether an argv only asks a program about itself."""
    return not _HELP_WORDS.isdisjoint(argv[1:])


def subcommand_of(call: Call, help: Mapping[str, Any]) -> tuple[str, ...]:
    """The leading words that name a subcommand.

    None for shells, interpreters and task runners: what follows their name is run, and
    ``yarn deploy --help`` deploys.
    """
    if call.program is None or call.program in help["runners"] or call.by_path:
        return ()
    found: list[str] = []
    for word in call.words[: help["depth"].get(call.program, 1)]:
        name = word.replace("-", "")
        if not (word[:1].isalpha() and name.isalnum() and name.isascii() and name.islower()):
            break
        found.append(word)
    return tuple(found)


def _again(asked: Asked) -> tuple[str, ...] | None:
    return asked.call.argv


def _through(script: str, *, name: str = "sh") -> Callable[[Asked], tuple[str, ...] | None]:
    """The captured call as the arguments of a constant script."""

    def make(asked: Asked) -> tuple[str, ...] | None:
        return None if asked.call.argv is None else ("sh", "-c", script, name, *asked.call.argv)

    return make


def _help(asked: Asked) -> tuple[str, ...] | None:
    start = _program(asked)
    return None if start is None else (start, *subcommand_of(asked.call, asked.help), "--help")


def _version(asked: Asked) -> tuple[str, ...] | None:
    start = _program(asked)
    return None if start is None else (start, "--version")


def _program(asked: Asked) -> str | None:
    """The program, where it may be asked about itself.

    A script named by its path may pass over ``--help`` and do its work again.
    """
    call = asked.call
    start = call.start if call.by_path else call.program
    if not start or start.startswith("-") or not is_argument(start):
        return None
    return start if asked.read_only or not call.by_path else None


def _on_path(asked: Asked) -> tuple[str, ...] | None:
    name = _captured(asked, "missing", "tool", "name") or asked.call.program
    if not name or name.startswith("-") or not is_argument(name):
        return None
    return ("sh", "-c", 'command -v -- "$1"', "sh", name)


def _reach(asked: Asked) -> tuple[str, ...] | None:
    url = _captured(asked, "url") or ""
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "https", _captured(asked, "host") or ""
        port = _captured(asked, "port")
        rest += f":{port}" if rest and port else ""
    # Only scheme, host and port are used: no path, no query, no user name of a stranger's choice.
    host = rest.partition("/")[0].partition("?")[0].partition("#")[0].rpartition("@")[2].lower()
    allowed = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-:[]")
    if scheme not in ("http", "https") or not host[:1].strip("-.:") or not allowed.issuperset(host):
        return ("sh", "-c", 'env | grep -i "_proxy=" || echo "no proxy variable is set"')
    return ("curl", "-gsSI", "--max-time", "10", "--url", f"{scheme}://{host[:260]}/")


def _space(asked: Asked) -> tuple[str, ...] | None:
    path = _captured(asked, "path", "dir", "file")
    return ("df", "-h", "--", path) if path else ("df", "-h", ".")


def _json_file(asked: Asked) -> tuple[str, ...] | None:
    path = _captured(asked, "file", "path")
    if not path:
        return None
    return ("python3", "-m", "json.tool", f"./{path}" if path.startswith("-") else path)


def _pipefail(asked: Asked) -> tuple[str, ...] | None:
    text = asked.call.text
    if asked.call.argv is None or not text.strip():
        return None
    return ("bash", "-o", "pipefail", "-c", text)


def _captured(asked: Asked, *names: str) -> str | None:
    for name in names:
        value = asked.captured.get(name)
        if value and len(value) <= 4096 and is_argument(value):
            return value
    return None


_DEFAULTS: Mapping[str, Callable[[Asked], tuple[str, ...] | None]] = {
    "rerun": _again,
    "rerun_with_bundle": _again,
    "rerun_with_env": _again,
    "wait_then_retry": _again,
    "wait_for_lock": _again,
    "poll": _again,
    "bound_output": _through('"$@" | head -c 65536'),
    # A new file each time: a name of ours could be one of theirs.
    "redirect_to_file": _through('f=$(mktemp) && { "$@" >"$f"; s=$?; wc -c "$f"; exit "$s"; }'),
    "recapture": _through(
        'd=$(mktemp -d) && { "$@" >"$d/stdout" 2>"$d/stderr"; s=$?; '
        'echo "exit $s, streams in $d"; exit "$s"; }'
    ),
    "start_in_background": _through(
        'f=$(mktemp) && { nohup "$@" >"$f" 2>&1 </dev/null & echo "pid $!, output in $f"; }'
    ),
    "set_pipefail": _pipefail,
    "fix_arguments": _help,
    "fix_input": _json_file,
    "install": _on_path,
    "check_version": _version,
    "check_network": _reach,
    "free_space": _space,
}
