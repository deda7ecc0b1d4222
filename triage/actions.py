"""A row's `do:` block and a capture -> the next step, as data that can be executed.

Two laws hold for every action: a call that changes something, or may, is not
run again by any argv built here; and a captured value is one argument or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from triage.action_kinds import (
    ACTION_KINDS,
    KINDS,
    Asked,
    asks_for_help,
    default_argv,
    subcommand_of,
)
from triage.bundle import bundle
from triage.call import Call
from triage.model import Action, Effect, Retry, Tier, Untrusted
from triage.placeholders import BUILTIN_NAMES, Values, fill_number, misplaced, names_in, shown
from triage.policy import Policy
from triage.render import posix_line, posix_quote

__all__ = ["ACTION_KINDS", "build", "check_action", "collect_untrusted"]

_ENGLISH = {"LC_ALL": "C", "LANG": "C", "LANGUAGE": "C"}
_WAITING = frozenset({"rerun", "wait_then_retry", "wait_for_lock", "poll"})
_HAND_ON = "Stop and hand on the command, its exit status, both streams and the timing."
_MOST_UNTRUSTED = 20
_MOST_NODES = 2000


def build(
    do: Mapping[str, Any],
    *,
    command: Call,
    captured: Mapping[str, str],
    effect: Effect,
    retry: Retry,
    policy: Policy,
    bundles: Mapping[str, Any],
    mode_fallback: str | None = None,
    mode_tier: Tier | None = None,
    allowed_tier: Tier | None = None,
    envelope_error: object = None,
) -> Action:
    """Build the next step from a row's ``do:`` block; an empty block takes the default policy.

    `captured` holds what the row's ``capture:`` pulled out of the output, `retry` what
    `triage.policy.decide` said, `bundles` the parsed ``bundle.yaml``. A mode whose tier is above
    `allowed_tier` gives its fallback instead, or one safe step. `shell` of the
    answer is argv, env, stdin and limit as one sh line; the wait stays in `wait_s`. Total: any
    captured text, any `envelope_error`.
    """
    untrusted = collect_untrusted(envelope_error, policy.untrusted_fields)
    read_only = effect == "read_only"
    asked = Asked(command, captured, policy.help, read_only)
    values = Values(command, captured, subcommand_of(command, policy.help))
    kind = do.get("kind") or _default_kind(read_only, retry)
    text = values.text(
        do.get("text") or f"{ACTION_KINDS[kind][0].upper()}{ACTION_KINDS[kind][1:]}."
    )
    again = _starts_again(kind, do)
    if mode_tier is not None and allowed_tier is not None and mode_tier > allowed_tier:
        if mode_fallback:
            caution = " (Not known to be read-only: first check what it already did.)"
            return Action(
                "fallback", mode_fallback + (caution if again and not read_only else ""),
                untrusted=untrusted,
            )  # fmt: skip
        do, kind = {}, _default_kind(read_only, retry)
        again = KINDS[kind].again
        text = "Run the same call once more." if again else _HAND_ON
    if again == "verify" and not read_only:
        return _verify(effect, command, kind, asked, text, untrusted)
    if again == "verify" and not retry.may and retry.attempts_left == 0:
        return Action("escalate", f"{_sentence(retry.why)} {_HAND_ON}", untrusted=untrusted)
    wait_s = _wait(kind, do, captured, retry, policy)
    argv = None if _held_back(kind, again, effect, retry) else _argv(kind, do, asked, values)
    if argv is None:
        return Action(kind, text, wait_s=wait_s, untrusted=untrusted)
    env, stdin, timeout_s, in_bundle = _around(kind, do, captured, argv, policy, bundles)
    return Action(
        kind,
        text,
        argv=argv,
        env=env,
        stdin=stdin,
        timeout_s=timeout_s,
        wait_s=wait_s,
        shell=posix_line(argv, env=env, stdin=stdin, timeout_s=timeout_s, new_session=in_bundle),
        untrusted=untrusted,
    )


def collect_untrusted(error: object, fields: frozenset[str]) -> tuple[Untrusted, ...]:
    """Every command that an envelope's ``error`` asks for, with its dotted path; at most twenty.

    `fields` are names, or ``parent.name``, as policy.yaml lists them. A list of words under a
    name in the singular is one command.
    """
    found: list[Untrusted] = []
    todo: list[tuple[str, tuple[str, ...], object]] = [("error", ("error",), error)]
    seen = 0
    while todo and len(found) < _MOST_UNTRUSTED and seen < _MOST_NODES:
        path, names, node = todo.pop()
        seen += 1
        asks = names[-1] in fields or ".".join(names[-2:]) in fields
        if isinstance(node, str):
            if asks and node.strip():
                found.append(Untrusted(path, node[:4000]))
        elif isinstance(node, Mapping):
            todo += [
                (f"{path}.{shown(str(key))}", (*names[-1:], str(key)), value)
                for key, value in reversed(list(node.items())[:100])
            ]
        elif isinstance(node, (list, tuple)):
            words = [word for word in node[:100] if isinstance(word, str)]
            if asks and not names[-1].endswith("s") and len(words) == len(node) > 0:
                found.append(Untrusted(path, " ".join(posix_quote(word) for word in words)[:4000]))
                continue
            todo += [
                (f"{path}[{index}]", names, node[index])
                for index in reversed(range(min(len(node), 100)))
            ]
    return tuple(found)


def check_action(
    do: Mapping[str, Any] | None, retry: Mapping[str, Any] | None, captures: frozenset[str]
) -> list[tuple[tuple[str, ...], str, str]]:
    """What the schema can't say of a row's `do` and `retry`, as (path, what, remedy).

    `captures` are the names of the row's ``capture:`` block.
    """
    block = do or {}
    argv = block.get("argv", ())
    named = [("argv", name) for item in argv for name in names_in(item)]
    for key in ("text", "wait_s", "timeout_s"):
        named += [(key, name) for name in names_in(str(block.get(key, "")))]
    found: list[tuple[tuple[str, ...], str, str]] = [
        (("do", key), f"{{{name}}} is never captured", "add it to `capture:`")
        for key, name in named
        if name not in captures and name not in BUILTIN_NAMES
    ]
    found += [
        (("capture", name), f"`{name}` has a meaning of its own", "name it otherwise")
        for name in sorted(captures & BUILTIN_NAMES)
    ]
    for name, value in block.get("env", {}).items():
        if names_in(value):
            found.append(
                (("do", "env", name), "a variable can't hold a captured value", "write it")
            )
    wrong = misplaced(argv)
    if wrong:
        found.append((("do", "argv"), wrong, "give it an element of its own, as an operand"))
    again = _starts_again(block["kind"], block) if block.get("kind") in KINDS else ""
    if again and block.get("safe"):
        found.append((("do", "safe"), "it starts the captured call again", "drop `safe`"))
    if again == "verify" and retry is not None and retry["when"] == "never":
        found.append(
            (("retry", "when"), "`never`, but the action runs the call again", "use after_fix")
        )
    return found


def _starts_again(kind: str, do: Mapping[str, Any]) -> str:
    """Whether the action runs the captured call: by its kind, or by what its argv says."""
    own = KINDS[kind].again
    argv = do.get("argv")
    if argv is None:
        return own
    if any("argv" in names or "command" in names for names in map(names_in, argv)):
        return own or "verify"
    if "program" in names_in(argv[0]):
        return "" if do.get("safe") or asks_for_help(argv) else own or "verify"
    # An argv of constants and captured operands runs something else.
    return ""


def _default_kind(read_only: bool, retry: Retry) -> str:
    """The default policy in one step: once more where that is safe and allowed, else hand it on."""
    return "rerun" if read_only and retry.may else "escalate"


def _held_back(kind: str, again: str, effect: Effect, retry: Retry) -> bool:
    """Whether a kind that stays as it is may not start the call by itself."""
    if again != "drop":
        return False
    if kind == "start_in_background":
        # It had reached readiness when the limit ended it: starting it once more is all there is
        # to do with a server, and nobody lists servers as read-only.
        return effect == "mutating"
    return effect != "read_only" or (kind == "recapture" and not retry.may)


def _verify(
    effect: Effect,
    command: Call,
    kind: str,
    asked: Asked,
    then: str,
    untrusted: tuple[Untrusted, ...],
) -> Action:
    call = f"`{shown(command.text)}`" if command.text.strip() else "the call"
    reason = "it changes things" if effect == "mutating" else "it may have changed something"
    text = (
        f"Do not run {call} again: {reason}. Check what it committed and resume from there. "
        f"Only if nothing was done: {then}"
    )
    lock = asked.captured.get("lock") or asked.captured.get("path")
    if kind == "wait_for_lock" and lock:
        argv = Values(command, {"lock": lock}).argv(("ls", "-l", "--", "{lock}"))
        if argv is not None:
            shell = posix_line(argv, stdin="null", timeout_s=10)
            return Action(
                "verify_state", text, argv, stdin="null", timeout_s=10.0, shell=shell,
                untrusted=untrusted,
            )  # fmt: skip
    return Action("verify_state", text, untrusted=untrusted)


def _argv(kind: str, do: Mapping[str, Any], asked: Asked, values: Values) -> tuple[str, ...] | None:
    template = do.get("argv")
    if template is not None:
        about_itself = "program" in names_in(template[0])
        if about_itself and asked.call.by_path and not asked.read_only:
            # A script may pass over --help and do its work again.
            return None
        filled = values.argv(template)
        if filled is not None or (KINDS[kind].again and not asked.read_only):
            # What the kind does by itself would start the call, which nobody has allowed here.
            return filled
    return default_argv(kind, asked)


def _around(
    kind: str,
    do: Mapping[str, Any],
    captured: Mapping[str, str],
    argv: tuple[str, ...],
    policy: Policy,
    bundles: Mapping[str, Any],
) -> tuple[dict[str, str], str, float | None, bool]:
    """Environment, stdin, limit, and whether the bundle's new session is wanted."""
    env: dict[str, str] = {}
    stdin = "null"
    timeout_s = fill_number(do.get("timeout_s"), captured)
    in_bundle = kind == "rerun_with_bundle" or bool(do.get("bundle"))
    new_session = False
    if in_bundle:
        laid = bundle(argv, timeout_s=timeout_s or None, data=bundles)
        env.update(laid.env)
        stdin, timeout_s, new_session = laid.stdin, laid.timeout_s, laid.new_session
    elif kind in ("fix_arguments", "check_version") and "env" not in do:
        env.update(policy.help["env"])
        timeout_s = timeout_s or float(policy.help["timeout_s"])
    elif kind == "rerun_with_env" and "env" not in do:
        env.update(_ENGLISH)
    env.update(do.get("env", {}))
    if "stdin" in do:
        stdin = do["stdin"] or "null"
    return env, stdin, timeout_s or None, new_session


def _wait(
    kind: str, do: Mapping[str, Any], captured: Mapping[str, str], retry: Retry, policy: Policy
) -> float | None:
    given = fill_number(do.get("wait_s"), captured)
    if kind not in _WAITING:
        return given
    # The policy has weighed every hint, the row's among them; what it says is said once.
    if retry.wait_s is not None:
        return retry.wait_s
    return given if given is not None or kind != "poll" else float(policy.waits["poll_s"])


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
