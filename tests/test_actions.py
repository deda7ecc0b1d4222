"""What to do next: executable, one argument per value, and never a second start of what mutates."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from triage.action_kinds import KINDS
from triage.actions import ACTION_KINDS, build, check_action, collect_untrusted
from triage.bundle import bundle, load_bundles
from triage.call import Call, call_of
from triage.model import Action, Effect, Retry, Untrusted
from triage.placeholders import misplaced
from triage.policy import load_policy

RULES = Path(__file__).parent.parent / "rules"
POLICY = load_policy(str(RULES))
BUNDLES = load_bundles(str(RULES))
ACTION_SCHEMA = json.loads((RULES / "schema" / "action.schema.json").read_text("utf-8"))

ONCE = Retry(True, 1, 1.0, "one more start")
AFTER_FIX = Retry(False, 1, None, "reissue once after the fix")
SPENT = Retry(False, 0, None, "the second failure alike is deterministic")
SHOW_ARGS = "import json, sys; sys.stdout.write(json.dumps([ascii(a) for a in sys.argv[1:]]))"
GIT_LOG = call_of("git log")


def built(
    kind: str | None,
    command: Call = GIT_LOG,
    *,
    effect: Effect = "read_only",
    retry: Retry = ONCE,
    captured: Mapping[str, str] | None = None,
    weak: dict[str, Any] | None = None,
    error: object = None,
    **do: Any,
) -> Action:
    block = {} if kind is None else {"kind": kind, "text": "Do this next.", **do}
    return build(
        block,
        command=command,
        captured=captured or {},
        effect=effect,
        retry=retry,
        policy=POLICY,
        bundles=BUNDLES,
        envelope_error=error,
        **(weak or {}),
    )


def parses(line: str) -> bool:
    done = subprocess.run(["sh", "-n", "-c", line], capture_output=True, timeout=30, check=False)
    return done.returncode == 0


# --- each kind ------------------------------------------------------------------------------------


def test_a_hang_of_a_read_only_call_is_the_same_argv_in_the_bundle() -> None:
    action = built("rerun_with_bundle")
    assert action.argv == ("git", "log")
    assert action.env["GIT_PAGER"] == "cat" and action.env["GIT_EDITOR"] == "true"
    assert (action.stdin, action.timeout_s) == ("null", 60.0)
    assert action.shell == bundle(["git", "log"], data=BUNDLES).posix


def test_a_line_of_shell_reruns_as_one_argument_of_its_shell() -> None:
    action = built("rerun_with_bundle", call_of("cd a && git log"))
    assert action.argv == ("bash", "-c", "cd a && git log")


def test_a_rate_limit_waits_what_the_policy_weighed() -> None:
    action = built("wait_then_retry", retry=Retry(True, 2, 60.0, ""), wait_s="{retry_after_s|5}")
    assert (action.argv, action.wait_s) == (("git", "log"), 60.0)
    assert action.shell == "git log </dev/null"


def test_a_foreign_language_reruns_in_english() -> None:
    action = built("rerun_with_env")
    assert action.env == {"LC_ALL": "C", "LANG": "C", "LANGUAGE": "C"}
    assert action.shell == "LC_ALL=C LANG=C LANGUAGE=C git log </dev/null"
    assert built("rerun_with_env", env={"NO_COLOR": "1"}).env == {"NO_COLOR": "1"}


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("git chekout main", ("git", "chekout", "--help")),
        ("gh pr list --bogus", ("gh", "pr", "list", "--help")),
        ("kubectl get pods/x", ("kubectl", "get", "--help")),
        ("yarn deploy --x", ("yarn", "--help")),
        ("bash deploy", ("bash", "--help")),
        ("python3 app.py", ("python3", "--help")),
        ("tar -xzq f.tgz", ("tar", "--help")),
        ("./deploy.sh --x", None),
    ],
)
def test_help_is_asked_of_the_subcommand_and_runs_nothing(
    command: str, argv: tuple[str, ...] | None
) -> None:
    # `yarn deploy --help` and `./deploy.sh --help` would deploy.
    action = built("fix_arguments", call_of(command), effect="unknown", retry=AFTER_FIX)
    assert action.argv == argv
    if argv is not None:
        assert (action.env["PAGER"], action.stdin, action.timeout_s) == ("cat", "null", 30.0)


def test_a_missing_program_is_looked_up_before_anything_is_installed() -> None:
    action = built("install", call_of("jqq ."), effect="unknown", retry=AFTER_FIX)
    assert action.argv == ("sh", "-c", 'command -v -- "$1"', "sh", "jqq")
    inner = built("install", call_of("make"), captured={"missing": "sh"}, effect="unknown")
    assert inner.shell is not None
    done = subprocess.run(inner.shell, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("sh")


@pytest.mark.parametrize(
    ("captured", "target"),
    [
        ({"url": "https://user:pw@api.example.com:8443/v1?token=x#y"}, "https://api.example.com:8443/"),
        ({"host": "db.local", "port": "5432"}, "https://db.local:5432/"),
        ({"host": "[::1]"}, "https://[::1]/"),
        ({"url": "file:///etc/passwd"}, None),
        ({"host": "-K/etc/passwd"}, None),
        ({"host": "a b"}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_the_network_is_tested_at_the_named_host_and_at_nothing_else_of_the_text(
    captured: dict[str, str], target: str | None
) -> None:
    argv = built("check_network", captured=captured, effect="unknown").argv
    assert argv is not None
    assert argv[-1] == target if target else argv[:2] == ("sh", "-c")


def test_other_kinds_run_what_they_say() -> None:
    assert built("check_version", call_of("node x")).argv == ("node", "--version")
    assert built("free_space", captured={"path": "/var"}).argv == ("df", "-h", "--", "/var")
    assert built("set_pipefail", call_of("a | b")).argv == ("bash", "-o", "pipefail", "-c", "a | b")
    assert built("poll", retry=SPENT).wait_s == 30.0


@pytest.mark.parametrize("kind", ["bound_output", "redirect_to_file", "recapture", "set_pipefail"])
def test_a_rerun_through_a_script_passes_every_word(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    call = call_of([sys.executable, "-c", SHOW_ARGS, "a b", "$X", "'"])
    action = built(kind, call)
    assert action.argv is not None and action.shell is not None
    done = subprocess.run(action.shell, shell=True, capture_output=True, text=True, check=True)
    expected = json.dumps(["'a b'", "'$X'", '"\'"'])
    if kind == "redirect_to_file":
        size, name = done.stdout.split()
        assert (int(size), Path(name).read_text()) == (len(expected), expected)
    elif kind == "recapture":
        folder = Path(done.stdout.strip().rpartition(" ")[2])
        assert done.stdout.startswith("exit 0,")
        assert (folder / "stdout").read_text() == expected
    else:
        assert done.stdout == expected


@pytest.mark.parametrize("kind", ["redirect_to_file", "recapture", "set_pipefail"])
def test_a_rerun_through_a_script_keeps_the_status(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    action = built(
        kind, call_of("(exit 9) | cat" if kind == "set_pipefail" else ["sh", "-c", "exit 9"])
    )
    assert action.shell is not None
    assert (
        subprocess.run(action.shell, shell=True, capture_output=True, check=False).returncode == 9
    )


# --- what mutates, or may, is not run again ---------------------------------------------------


@pytest.mark.parametrize("effect", ["mutating", "unknown"])
@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.again == "verify"])
def test_a_rerun_of_what_may_mutate_becomes_a_look_at_the_state(kind: str, effect: Effect) -> None:
    action = built(kind, call_of("git push origin x"), effect=effect)
    assert (action.kind, action.argv, action.shell) == ("verify_state", None, None)
    assert "Do not run `git push origin x` again" in action.text
    assert action.text.endswith("Do this next.")


def test_a_lock_is_looked_at_not_removed() -> None:
    action = built("wait_for_lock", effect="unknown", captured={"lock": "-x/index.lock"})
    assert action.argv == ("ls", "-l", "--", "-x/index.lock")


def test_a_row_cannot_bring_the_call_back_through_its_own_argv() -> None:
    for argv in (["{argv}", "--limit", "5"], ["bash", "-c", "{command}"], ["{program}", "apply"]):
        assert built("inspect_state", effect="unknown", argv=argv).argv is None
    asks = built("inspect_state", effect="unknown", argv=["{program}", "doctor"], safe=True)
    assert asks.argv == ("git", "doctor")
    # A value that was not captured leaves the kind's own argv, which is the call.
    assert built("poll", effect="unknown", argv=["gh", "run", "view", "{id}"]).argv is None


def test_a_server_starts_again_in_the_background_unless_said_to_mutate() -> None:
    server = call_of("npm run dev")
    assert built("start_in_background", server, effect="unknown", retry=SPENT).argv is not None
    assert built("start_in_background", server, effect="mutating", retry=SPENT).argv is None


@pytest.mark.parametrize("kind", ACTION_KINDS)
@pytest.mark.parametrize("command", ["deploytool push prod-1", "x && deploytool push prod-1 | cat"])
def test_no_argv_holds_the_operands_of_what_may_mutate(kind: str, command: str) -> None:
    for effect in ("mutating", "unknown") if kind != "start_in_background" else ("mutating",):
        for retry in (ONCE, AFTER_FIX, SPENT):
            action = built(kind, call_of(command), effect=effect, retry=retry)
            assert "prod-1" not in " ".join(action.argv or ())


@pytest.mark.parametrize("by", ["path", "list"])
def test_a_real_mutating_child_is_not_started_by_any_action(by: str, tmp_path: Path) -> None:
    script, log = tmp_path / "deploy", tmp_path / "log"
    script.write_text(f"#!/bin/sh\necho ran >>{shlex.quote(str(log))}\n")
    script.chmod(0o755)
    call = call_of(f"{script} now" if by == "path" else [str(script), "now"])
    ran = 0
    for kind in ACTION_KINDS:
        for retry in (ONCE, AFTER_FIX, SPENT):
            shell = built(kind, call, effect="mutating", retry=retry).shell
            if shell is not None:
                subprocess.run(shell, shell=True, capture_output=True, timeout=60, check=False)
                ran += 1
    assert ran > 0
    assert not log.exists()


def test_what_has_no_starts_left_is_handed_on() -> None:
    action = built("rerun_with_bundle", retry=SPENT)
    assert (action.kind, action.argv) == ("escalate", None)
    assert action.text.startswith("The second failure alike is deterministic.")
    # A changed call may be tried where the unchanged one may not.
    assert built("redirect_to_file", retry=AFTER_FIX).argv is not None


def test_a_row_without_an_action_takes_the_default_policy() -> None:
    assert built(None).argv == ("git", "log")
    assert built(None, retry=SPENT).kind == "escalate"
    assert built(None, effect="unknown").kind == "escalate"


# --- weak callers -----------------------------------------------------------------------------


def test_above_the_callers_tier_the_modes_fallback_is_the_action() -> None:
    weak = {"mode_tier": "C", "allowed_tier": "B", "mode_fallback": "Run tool --help."}
    action = built("rerun", weak=weak)
    assert (action.kind, action.text, action.argv) == ("fallback", "Run tool --help.", None)
    assert built("rerun", weak={**weak, "allowed_tier": "C"}).kind == "rerun"
    assert built("rerun", weak={**weak, "mode_tier": "B"}).kind == "rerun"
    cautious = built("rerun", effect="unknown", weak=weak)
    assert cautious.text.startswith("Run tool --help.") and "first check" in cautious.text


def test_without_a_fallback_a_weak_caller_gets_one_safe_step_or_hands_it_on() -> None:
    weak = {"mode_tier": "B", "allowed_tier": "A"}
    assert built("check_network", weak=weak).argv == ("git", "log")
    assert built("check_network", weak=weak, effect="unknown").kind == "escalate"
    assert built("check_network", weak=weak, retry=AFTER_FIX).kind == "escalate"


# --- captured text ----------------------------------------------------------------------------

arguments = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
nasty = st.sampled_from(
    ["-rf", "--", "-", "$(touch x)", "`id`", "a'b", 'a"b', "a\nb", "*", "~", "'; rm -rf ~; '",
     "\ud800", "a\0b", "", "\x1b[31m", "{argv}", "{x}", "é", "-rf /"]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(value=arguments | nasty)
def test_a_captured_value_arrives_as_one_argument_or_not_at_all(value: str) -> None:
    show = [sys.executable, "-c", SHOW_ARGS]
    for argv, wanted in (
        ([*show, "--", "{x}"], ["--", value]),
        ([*show, "--key={x}", "{x|1}/y"], [f"--key={value}", f"{value}/y"]),
        ([*show, "{log_file}"], [f"./{value}" if value.startswith("-") else value]),
    ):
        action = built("inspect_state", captured={"x": value, "log_file": value}, argv=argv)
        if action.argv is None:
            assert value == "" or "\0" in value or "\ud800" in value or value.startswith("-")
            continue
        assert action.argv[3:] == tuple(wanted) or value == ""
        assert action.shell is not None
        done = subprocess.run(["sh", "-c", action.shell], capture_output=True, check=True)
        assert json.loads(done.stdout) == [ascii(word) for word in action.argv[3:]]


def test_what_looks_like_an_option_is_guarded_or_refused() -> None:
    given_ = {"branch": "-rf", "path": "-rf"}
    assert built("inspect_state", captured=given_, argv=["ls", "{branch}"]).argv is None
    assert built("inspect_state", captured=given_, argv=["ls", "--", "{branch}"]).argv == (
        "ls", "--", "-rf",
    )  # fmt: skip
    assert built("inspect_state", captured=given_, argv=["ls", "{path}"]).argv == ("ls", "./-rf")


@pytest.mark.parametrize(
    "argv",
    [
        ["{x}", "--version"],
        ["sh", "-c", "echo {x}"],
        ["python3", "-c", "{x}"],
        ["node", "--eval={x}"],
        ["perl", "-e{x}"],
        ["ssh", "host", "{x}"],
        ["env", "{x}"],
        ["npx", "{x}"],
        ["timeout", "5", "/usr/bin/env", "{x}"],
        ["git", "-c", "{x}", "log"],
    ],
)
def test_captured_text_is_never_a_program_or_a_script(argv: list[str]) -> None:
    assert misplaced(argv)
    assert built("inspect_state", captured={"x": "id"}, argv=argv).argv is None
    found = check_action({"kind": "inspect_state", "text": "", "argv": argv}, None, frozenset("x"))
    assert [path for path, _, _ in found] == [("do", "argv")]


@settings(max_examples=400, deadline=None)
@given(
    kind=st.sampled_from(list(ACTION_KINDS)),
    effect=st.sampled_from(["read_only", "mutating", "unknown"]),
    retry=st.sampled_from([ONCE, AFTER_FIX, SPENT]),
    command=arguments | nasty | st.lists(arguments | nasty, max_size=4),
    value=arguments | nasty,
)
def test_every_action_is_one_valid_line_that_says_what_its_argv_says(
    kind: str, effect: Effect, retry: Retry, command: Any, value: str
) -> None:
    names = ("url", "host", "port", "path", "file", "lock", "missing", "retry_after_s")
    call = call_of(command)
    action = built(kind, call, effect=effect, retry=retry, captured=dict.fromkeys(names, value))
    assert action.kind in ACTION_KINDS
    if action.argv is None:
        assert (action.shell, action.stdin, dict(action.env)) == (None, None, {})
        return
    assert action.shell is not None and parses(action.shell)
    # argv stands in the line word for word, between what goes before and the redirection.
    spelled = shlex.split(action.shell)
    assert spelled[-1] == "</dev/null"
    assert tuple(spelled[-1 - len(action.argv) : -1]) == action.argv


def test_text_for_the_reader_is_one_clean_short_line() -> None:
    action = built("read_error", captured={"x": "a\x1b[31m\nb\0" + "c" * 500}, text="See {x}, {y}.")
    assert action.text.startswith("See a [31m b c")
    assert action.text.endswith("…, <y>.")
    assert len(action.text) < 230


def test_a_placeholder_takes_its_default_and_other_braces_stay() -> None:
    action = built("bound_output", argv=["{argv}", "-n", "{n|50}", "{a: .b}"])
    assert action.argv == ("git", "log", "-n", "50", "{a: .b}")


# --- what the output asks for -----------------------------------------------------------------


def test_commands_from_the_output_are_shown_and_never_in_an_argv() -> None:
    error = {
        "code": "TOKEN_EXPIRED",
        "command": "tool list",
        "fix_command": "rm -rf ~",
        "redirect": {"command": "tool v2 list", "permanent": True},
        "details": [{"reauth_command": ["tool", "auth login"]}],
        "cta": {"commands": ["one", "two"]},
    }
    action = built("run_remediation", error=error, retry=AFTER_FIX)
    assert action.argv is None
    assert set(action.untrusted) == {
        Untrusted("error.fix_command", "rm -rf ~"),
        Untrusted("error.redirect.command", "tool v2 list"),
        Untrusted("error.details[0].reauth_command", "tool 'auth login'"),
        Untrusted("error.cta.commands[0]", "one"),
        Untrusted("error.cta.commands[1]", "two"),
    }
    for kind in ACTION_KINDS:
        assert "rm -rf ~" not in (built(kind, error=error).argv or ())


def test_a_flood_of_suggestions_is_bounded() -> None:
    wide = {"suggestions": ["x" * 10_000] * 10_000}
    found = collect_untrusted(wide, POLICY.untrusted_fields)
    assert len(found) == 20 and len(found[0].command) == 4000
    deep: Any = "x"
    for _ in range(50_000):
        deep = {"fix_command": deep}
    assert collect_untrusted(deep, POLICY.untrusted_fields) == ()


error_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["fix_command", "hint", "x"]), inner)
    ),
    max_leaves=8,
)


@given(error=error_values)
def test_any_error_value_is_searched(error: object) -> None:
    for item in collect_untrusted(error, POLICY.untrusted_fields):
        assert item.field.startswith("error")
        assert "fix_command" in item.field or "hint" in item.field
        assert item.command


# --- the data ---------------------------------------------------------------------------------


def test_the_schema_lists_our_kinds() -> None:
    Draft202012Validator.check_schema(ACTION_SCHEMA)
    assert ACTION_SCHEMA["$defs"]["do"]["properties"]["kind"]["enum"] == list(ACTION_KINDS)


@pytest.mark.parametrize(
    ("block", "good"),
    [
        ({"do": {"kind": "rerun", "text": "Run it again."}}, True),
        (
            {"do": {"kind": "rerun", "text": "Run it again.", "wait_s": "{n|5}", "stdin": None}},
            True,
        ),
        ({"do": {"kind": "dance", "text": "Run it again."}}, False),
        ({"do": {"kind": "rerun"}}, False),
        ({"do": {"kind": "rerun", "text": "Run it again.", "wait_s": "soon"}}, False),
        ({"retry": {"when": "after_wait", "wait_s": 5, "max": 2}}, True),
        ({"retry": {"when": "sometimes"}}, False),
        ({"retry": {"max": 2}}, False),
    ],
)
def test_the_schema_says_what_a_row_may_write(block: dict[str, Any], good: bool) -> None:
    assert Draft202012Validator(ACTION_SCHEMA).is_valid(block) is good


def test_lint_finds_what_the_schema_cannot_say() -> None:
    def places(do: dict[str, Any], retry: Any = None, captures: str = "") -> list[tuple[str, ...]]:
        found = check_action({"kind": "rerun", **do}, retry, frozenset(captures.split()))
        return [path for path, _, _ in found]

    assert places({"text": "See {x} and {program}."}, captures="x") == []
    assert places({"text": "See {x}."}) == [("do", "text")]
    assert places({"argv": ["ls", "{x}"], "wait_s": "{y}"}) == [("do", "argv"), ("do", "wait_s")]
    assert places({}, captures="argv") == [("capture", "argv")]
    assert places({"env": {"A": "{x}"}}, captures="x") == [("do", "env", "A")]
    assert places({"safe": True}) == [("do", "safe")]
    assert places({}, {"when": "never"}) == [("retry", "when")]
