"""The command line from the outside: formats, statuses, errors, the machine path."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from jsonschema import Draft202012Validator
from small_rules import RULES, add_overlay, row

from triage.__main__ import main
from triage.cli.app import VERBS
from triage.cli.status import MEANINGS, ExitStatus

MISSING = {"exit_code": 127, "stderr": "bash: jqq: command not found\n", "command": "jqq ."}
FOUND_NOTHING = {"exit_code": 1, "command": "grep -q x a.txt"}
EITHER = {"exit_code": 1, "command": "node -e 'process.exit(1)' && rg x"}
NOTHING_KNOWN: dict[str, Any] = {"exit_code": None}
ANSI = re.compile(r"\x1b\[")


class Result(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What the one envelope on stdout carries."""
        envelope = json.loads(self.out)
        assert set(envelope) == {"ok", "data", "error", "warnings", "meta"}
        assert envelope["ok"] is True
        assert envelope["error"] is None
        return envelope["data"]

    @property
    def error(self) -> Any:
        """The one error that stands on stdout as an envelope and on stderr as one message."""
        envelope = json.loads(self.out)
        assert (envelope["ok"], envelope["data"]) == (False, None)
        assert self.err.startswith("triage: ")
        assert envelope["error"]["where"] in self.err
        return envelope["error"]

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Cli = Callable[..., Result]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Call the entry point as a shell would, with what stands on stdin."""
    for name in ("TRIAGE_AUDIT", "TRIAGE_FORMAT", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*words: str, stdin: bytes | str = b"") -> Result:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "argv", ["triage", *words])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        status = main()
        shown = capsys.readouterr()
        return Result(int(status), shown.out, shown.err)

    return call


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    return Draft202012Validator(
        json.loads((RULES / "schema" / "verdict.schema.json").read_text("utf-8"))
    )


def ndjson(*captures: Any) -> str:
    return "".join((c if isinstance(c, str) else json.dumps(c)) + "\n" for c in captures)


# classify: one capture by flags


def test_flags_make_one_capture(cli: Cli, tmp_path: Path, schema: Draft202012Validator) -> None:
    stderr = tmp_path / "err.txt"
    stderr.write_bytes(b"bash: jqq: command not found\n")
    got = cli("classify", "--exit", "127", "--stderr", str(stderr), "--command", "jqq .", "--json")
    assert (got.status, got.err) == (0, "")
    schema.validate(got.data)
    assert (got.data["row"], got.data["mode"], got.data["rule"]) == (4, 20, "command-not-found")
    # The file is bytes: spans count in them.
    (found,) = got.data["evidence"]
    assert stderr.read_bytes()[found["start"] : found["end"]].decode() == found["text"]


@pytest.mark.parametrize(
    ("words", "flag"),
    [
        (("--exit", "null", "--timed-out"), "timed_out"),
        (("--timed-out",), "timed_out"),
        (("--exit", "137", "--duration", "60", "--limit", "60"), "timed_out"),
        (("--exit", "0", "--command", "make || true"), "masks_status"),
    ],
)
def test_each_flag_reaches_the_verdict(cli: Cli, words: tuple[str, ...], flag: str) -> None:
    assert flag in cli("classify", *words, "--json").data["flags"]


@pytest.mark.parametrize(
    ("given", "row_"), [("-9", 14), ("0x89", 14), ("0xC0000005", 14), ("127", 4), ("null", None)]
)
def test_exit_statuses_in_every_spelling(cli: Cli, given: str, row_: int | None) -> None:
    data = cli("classify", "--exit", given, "--json").data
    assert data["verdict"] == ("insufficient" if given == "null" else "failure")
    assert row_ is None or data["row"] == row_


@pytest.mark.parametrize("given", ["007", "0xff", "-0x5", "9" * 60])
def test_any_plain_number_is_a_status(cli: Cli, given: str) -> None:
    assert cli("classify", f"--exit={given}", "--json").data["verdict"] == "failure"


@pytest.mark.parametrize(
    "given",
    ["١٢٧", "１", "²", "1_0", "+5", " 5", "5\n", "0b11", "0o17", "1e3", "", "-", "--5", "0x", "5-"],
)
def test_what_is_only_a_number_for_python_is_no_status(cli: Cli, given: str) -> None:
    got = cli("classify", f"--exit={given}")
    assert got.status == ExitStatus.USAGE
    assert "is no exit status" in got.err


def test_stdin_is_one_stream_only(cli: Cli) -> None:
    got = cli("classify", "--exit", "1", "--stdout", "-", "--stderr", "-", stdin=b"x")
    assert got.status == 2
    assert got.err.startswith("triage: --stderr: stdin is read twice; name a file")


@pytest.mark.parametrize("number", ["²", "１", "9" * 5000, "00"])
def test_what_only_looks_like_a_number_is_not_found(cli: Cli, number: str) -> None:
    for verb in ("show", "rules"):
        got = cli(verb, number)
        assert (got.status, "bug" in got.err) == (5, False)


def test_stdin_may_be_one_of_the_streams(cli: Cli) -> None:
    words = ("classify", "--exit", "1", "--command", "git pull", "--json")
    text = "fatal: could not resolve host: example.invalid\n"
    assert cli(*words, "--stderr", "-", stdin=text).data["row"] == 13
    assert cli(*words, stdin=text).data["row"] != 13


def test_a_merged_text_brings_its_status(cli: Cli, tmp_path: Path) -> None:
    merged = tmp_path / "log.txt"
    merged.write_text("Exit code 127\nbash: line 1: jqq: command not found\n")
    data = cli("classify", "--merged", str(merged), "--command", "jqq .", "--json").data
    assert data["row"] == 4
    assert list(data["window"]) == ["merged"]


def test_the_effect_told_allows_what_an_unknown_one_does_not(cli: Cli) -> None:
    words = ("classify", "--timed-out", "--command", "frobnicate x", "--json")
    assert cli(*words, "--effect", "read_only").data["retry"]["may"] is True
    assert cli(*words).data["retry"]["may"] is False


def test_a_weak_caller_gets_the_fallback(cli: Cli, tmp_path: Path) -> None:
    stderr = tmp_path / "err.txt"
    stderr.write_text("gh: API rate limit exceeded (HTTP 429)\n")
    words = (
        "classify",
        "--exit",
        "1",
        "--stderr",
        str(stderr),
        "--command",
        "gh pr list",
        "--json",
    )
    strong, weak = cli(*words, "--tier", "c").data, cli(*words, "--tier", "A").data
    assert strong["action"]["kind"] == "wait_then_retry"
    assert weak["action"]["kind"] == "fallback"
    assert weak["action"]["text"] == weak["fallback"]


# classify: formats


def test_the_line_format_is_frozen(cli: Cli) -> None:
    got = cli("classify", "--line", stdin=ndjson(MISSING, FOUND_NOTHING, EITHER, NOTHING_KNOWN))
    shape = re.compile(
        r"(failure|not_failure|ambiguous|insufficient) row=(\d+|-) mode=(\d+|-) rule=[a-z0-9-]+ "
        r"tier=([ABC]|-) retry=\d+ wait=(-|\d+(\.\d+)?) action=[a-z_]+ next=\S.*"
    )
    lines = got.out.splitlines()
    assert len(lines) == 4
    assert [line for line in lines if not shape.fullmatch(line)] == []
    assert lines[0].startswith(
        "failure row=4 mode=20 rule=command-not-found tier=B retry=0 wait=- action=install next="
    )
    assert lines[1].startswith("not_failure row=- mode=- ")
    assert lines[2].startswith("ambiguous row=- ")
    assert lines[3].startswith("insufficient row=- ")


def test_the_human_format_is_plain_text_when_piped(cli: Cli) -> None:
    got = cli("classify", stdin=ndjson(MISSING))
    assert (got.status, got.err) == (0, "")
    assert got.out.startswith("FAILED")
    assert "row 4, §20" in got.out
    assert "bash: jqq: command not found" in got.out
    assert not ANSI.search(got.out)


def test_one_capture_is_an_envelope_and_a_stream_is_bare_verdicts(
    cli: Cli, schema: Draft202012Validator
) -> None:
    assert cli("classify", "--json", stdin=ndjson(MISSING)).data["row"] == 4
    got = cli("classify", "--json", stdin=ndjson(MISSING, {**FOUND_NOTHING, "id": "two"}))
    for verdict in got.lines:
        schema.validate(verdict)
    assert [(v["id"], v["verdict"]) for v in got.lines] == [
        (None, "failure"),
        ("two", "not_failure"),
    ]


@pytest.mark.parametrize("indent", [None, 2])
def test_one_object_a_list_and_lines_are_all_captures(cli: Cli, indent: int | None) -> None:
    one = json.dumps(MISSING, indent=indent)
    many = json.dumps([MISSING, FOUND_NOTHING], indent=indent)
    assert cli("classify", "--json", stdin=one).data["row"] == 4
    assert [v["verdict"] for v in cli("classify", "--json", stdin=many).lines] == [
        "failure",
        "not_failure",
    ]
    assert cli("classify", "--json", stdin=b"\xef\xbb\xbf" + one.encode()).data["row"] == 4


def test_files_are_read_in_order_and_dash_is_stdin(cli: Cli, tmp_path: Path) -> None:
    first, last = tmp_path / "a.json", tmp_path / "b.ndjson"
    first.write_text(json.dumps({**MISSING, "id": "a"}, indent=1))
    last.write_text(ndjson({**MISSING, "id": "c"}, {**MISSING, "id": "d"}))
    got = cli(
        "classify", "--json", str(first), "-", str(last), stdin=ndjson({**MISSING, "id": "b"})
    )
    assert [verdict["id"] for verdict in got.lines] == ["a", "b", "c", "d"]


def test_json_may_be_asked_for_by_the_environment(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIAGE_FORMAT", "json")
    assert cli("classify", stdin=ndjson(MISSING)).data["row"] == 4
    assert cli("show", "10").data["mode"] == 10
    # A format asked for in words outranks it.
    assert cli("classify", "--line", stdin=ndjson(MISSING, "{")).out.startswith("failure row=4 ")
    assert cli("run", "--line", "--no-state", "--", "true").out == ""


def test_odd_captures_are_printed_as_json_all_the_same(
    cli: Cli, schema: Draft202012Validator
) -> None:
    token = "ghp_" + "a1B2" * 9
    odd = [
        {"exit_code": 10**30, "stderr": "\ud800\x00é"},
        {"exit_code": 1, "stdout": "[" * 900 + "1" + "]" * 900},
        {"exit_code": 1, "stderr": f"Authorization: Bearer {token}\nHTTP 401: Bad credentials"},
        {"exit_code": 0, "stdout": '{"a": NaN, "b": 1e999}'},
    ]
    got = cli("classify", "--json", stdin=ndjson(*odd))
    assert got.status == 0
    for verdict in got.lines:
        schema.validate({**verdict, "payload": None})
    assert token not in got.out


# classify: statuses


@pytest.mark.parametrize(
    ("captures", "status"),
    [
        ((MISSING,), 80),
        ((FOUND_NOTHING,), 0),
        ((EITHER,), 81),
        ((NOTHING_KNOWN,), 82),
        ((FOUND_NOTHING, MISSING), 80),
        ((NOTHING_KNOWN, MISSING, EITHER), 82),
        ((MISSING, "no JSON", FOUND_NOTHING), 3),
        (("no JSON", MISSING), 3),
        (("{", "[1]", '{"exit_code": "one"}'), 2),
    ],
)
def test_exit_code_tells_the_verdict(cli: Cli, captures: tuple[Any, ...], status: int) -> None:
    assert cli("classify", "--exit-code", "--json", stdin=ndjson(*captures)).status == status
    without = cli("classify", "--json", stdin=ndjson(*captures)).status
    assert without == (status if status in (2, 3) else 0)
    assert cli(stdin=ndjson(*captures)).status == without


@pytest.mark.parametrize("words", [(), ("classify", "--json")])
def test_a_bad_line_is_reported_with_its_number_and_stops_nothing(
    cli: Cli, schema: Draft202012Validator, words: tuple[str, ...]
) -> None:
    bad = ['{"exit_code": 1', '{"exit_code": "one"}', "[1]", '{"stderr": "x"}']
    got = cli(*words, stdin=ndjson({**MISSING, "id": "1"}, *bad, "", {**MISSING, "id": "7"}))
    assert got.status == ExitStatus.PARTIAL
    first, *errors, last = got.lines
    assert (first["id"], last["id"]) == ("1", "7")
    schema.validate(first)
    assert [error["error"]["where"] for error in errors] == [f"stdin:{n}" for n in (2, 3, 4, 5)]
    assert {error["error"]["code"] for error in errors} == {"CAPTURE_INVALID"}
    assert "key `exit_code`: got the string 'one', wanted integer or null" in got.err
    assert len(got.err.splitlines()) == 4


@pytest.mark.parametrize("form", [(), ("--line",)], ids=["human", "line"])
def test_what_people_read_has_no_json_for_a_bad_line(cli: Cli, form: tuple[str, ...]) -> None:
    got = cli("classify", *form, stdin=ndjson(MISSING, "no JSON", MISSING))
    assert got.status == ExitStatus.PARTIAL
    assert "{" not in got.out and got.out.count("command-not-found") == 2
    assert got.err.startswith("triage: stdin:2: not JSON: ")


@pytest.mark.parametrize("verb", [("classify", "--exit", "1"), ("run",)])
def test_two_formats_at_once_are_refused(cli: Cli, tmp_path: Path, verb: tuple[str, ...]) -> None:
    made = tmp_path / "made"
    words = ("--", "touch", str(made)) if verb == ("run",) else ()
    got = cli(*verb, "--json", "--line", *words)
    assert (got.status, got.error["code"]) == (ExitStatus.USAGE, "ARG_ERROR")
    assert got.err == "triage: --json --line: two formats at once; ask for one of them\n"
    assert not made.exists()


def test_an_unknown_key_is_a_warning(cli: Cli) -> None:
    got = cli("classify", "--json", stdin=ndjson({**MISSING, "exitcode": 1}))
    assert got.status == 0
    assert json.loads(got.out)["warnings"] == ["stdin:1: unknown key `exitcode` ignored"]
    assert got.data["warnings"] == ["stdin:1: unknown key `exitcode` ignored"]


# Refusals


@pytest.mark.parametrize(
    ("words", "where", "what"),
    [
        (("classify", "--bogus"), "arguments", "--bogus"),
        (("classify", "--exit", "one"), "--exit", "'one' is no exit status"),
        (("classify", "--stderr", "-"), "--exit", "a capture needs its exit status"),
        (("classify", "--exit", "1", "--stderr", "/nowhere/x"), "--stderr", "no file '/nowhere/x'"),
        (("classify", "--exit", "1", "--stdout", "/"), "--stdout", "no file '/'"),
        (("classify", "--exit", "1", "--effect", "good"), "--effect", "'good' is no effect"),
        (("classify", "--exit", "1", "--tier", "D"), "--tier", "'D' is no tier"),
        (("classify", "--exit", "1", "--duration", "long"), "arguments", "--duration"),
        (("classify", "--exit", "1", "--rules", "/nowhere"), "--rules", "no folder '/nowhere'"),
        (("classify", "--exit", "1", "x.json"), "x.json", "both flags and files"),
        (("classify", "/nowhere.json"), "/nowhere.json", "can't be read"),
        (("classify",), "stdin", "no capture here"),
        (("explain", "--exit", "x"), "--exit", "'x' is no exit status"),
        (("extract", "/nowhere"), "FILE", "no file '/nowhere'"),
        (("bundle",), "arguments", "CMD"),
        (("bogus",), "arguments", "bogus"),
        (("--bogus",), "arguments", "--bogus"),
    ],
)
@pytest.mark.parametrize("json_wanted", [True, False])
def test_what_is_refused_is_one_error_and_status_2(
    cli: Cli, words: tuple[str, ...], where: str, what: str, json_wanted: bool
) -> None:
    got = cli(*words, *(("--json",) if json_wanted else ()))
    assert got.status == ExitStatus.USAGE
    assert len(got.err.splitlines()) == 1
    assert got.err.startswith(f"triage: {where}: ")
    assert what in got.err
    if json_wanted:
        assert got.error["where"] == where
        assert got.error["suggestion"]
    else:
        assert got.out == ""


@pytest.mark.parametrize(
    "words", [("show", "99"), ("show", "x"), ("rules", "no-such-row"), ("rules", "17")]
)
def test_what_is_not_there_is_status_5(cli: Cli, words: tuple[str, ...]) -> None:
    got = cli(*words, "--json")
    assert got.status == ExitStatus.NOT_FOUND
    assert got.error["code"] == "NOT_FOUND"


@pytest.mark.parametrize("words", [(), ("classify", "--json"), ("rules", "--json")])
def test_broken_rules_are_status_4_and_nothing_but_the_error(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    rows = [row("mine", {"stderr": "("}), row("other", {"is": "nothing"})]
    add_overlay(tmp_path / ".triage" / "rules", {"05-mine": rows})
    monkeypatch.chdir(tmp_path)
    got = cli(*words, stdin=ndjson(MISSING, MISSING))
    assert got.status == ExitStatus.RULES
    assert got.error["code"] == "RULES_INVALID"
    assert got.error["where"] == ".triage/rules/table/05-mine.yaml:4:13"
    assert len(got.error["issues"]) == 2


def test_broken_rules_named_by_an_option_print_nothing_on_stdout(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "10-x.yaml").write_text("rows: [")
    got = cli("classify", "--exit", "1", "--rules", str(tmp_path))
    assert (got.status, got.out) == (ExitStatus.RULES, "")
    assert "10-x.yaml:2:1: " in got.err
    assert "not YAML" in got.err


# The machine path


def process(*words: str, stdin: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "triage", *words],
        input=stdin, capture_output=True, text=True, timeout=120, **options,
    )  # fmt: skip


def test_bare_triage_on_a_pipe_prints_a_bare_verdict_a_line(schema: Draft202012Validator) -> None:
    captures = [{**MISSING, "id": "a"}, {**FOUND_NOTHING, "id": "b"}, {**EITHER, "id": "c"}]
    got = process(stdin=ndjson(*captures))
    verdicts = [json.loads(line) for line in got.stdout.splitlines()]
    assert [v["id"] for v in verdicts] == ["a", "b", "c"]
    for verdict in verdicts:
        schema.validate(verdict)
    assert (got.returncode, got.stderr) == (0, "")


def test_bare_triage_takes_one_object_over_many_lines(cli: Cli) -> None:
    (verdict,) = cli(stdin=json.dumps(MISSING, indent=2)).lines
    assert verdict["row"] == 4


@pytest.mark.parametrize("text", ["", "\n\n", "no JSON at all", "{", '{"exit_code": ', "null", "7"])
def test_bare_triage_says_what_it_can_not_read(cli: Cli, text: str) -> None:
    got = cli(stdin=text)
    assert got.status == ExitStatus.USAGE == cli("classify", stdin=text).status
    assert got.error["code"] == "CAPTURE_INVALID"


def test_an_overlay_says_so_in_the_verdict(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = add_overlay(
        tmp_path / ".triage" / "rules",
        {
            "05-mine": {
                "disable": ["command-not-found"],
                "rows": [row("mine", {"stderr": "^bash: "})],
            }
        },
    )
    monkeypatch.chdir(tmp_path)
    (verdict,) = cli(stdin=ndjson(MISSING)).lines
    assert verdict["rule"] == "mine"
    assert verdict["table"]["overlays"] == [str(folder)]
    assert "command-not-found" not in [item["rule"] for item in verdict["also"]]
    assert cli("classify", "--rules", str(RULES), "--json", "-", stdin=ndjson(MISSING)).data[
        "rule"
    ] == ("command-not-found")


@pytest.mark.parametrize("words", [(), ("classify", "--json"), ("rules",), ("show", "10")])
def test_a_reader_that_goes_away_is_no_error(words: tuple[str, ...]) -> None:
    out, into = os.pipe()
    os.close(out)
    with subprocess.Popen(
        [sys.executable, "-m", "triage", *words],
        stdin=subprocess.PIPE, stdout=into, stderr=subprocess.PIPE,
    ) as child:  # fmt: skip
        os.close(into)
        _, err = child.communicate(ndjson(*[MISSING] * 40).encode(), timeout=120)
    assert (child.returncode, err) == (0, b"")


# On a terminal


def on_a_terminal(*words: str, **env: str) -> tuple[int, str]:
    """Run with stdin and stdout on a terminal of its own."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "triage", *words],
        stdin=follower, stdout=follower, stderr=follower,
        env={**os.environ, "TERM": "xterm", **env},
    ) as child:  # fmt: skip
        os.close(follower)
        shown = b""
        while select.select([leader], [], [], 60)[0]:
            try:
                part = os.read(leader, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
        status = child.wait(60)
    os.close(leader)
    return status, shown.decode()


def test_colours_on_a_terminal_and_none_with_no_color() -> None:
    words = ("classify", "--exit", "127", "--command", "jqq .")
    status, shown = on_a_terminal(*words)
    assert (status, bool(ANSI.search(shown))) == (0, True)
    status, shown = on_a_terminal(*words, NO_COLOR="1")
    assert (status, ANSI.findall(shown)) == (0, [])
    assert "FAILED" in shown


def test_bare_triage_on_a_terminal_prints_help_and_waits_for_nothing() -> None:
    status, shown = on_a_terminal(COLUMNS="100")
    assert "Usage: triage" in shown
    assert status in (0, 2)


# The other verbs


def test_explain_says_what_failed_in_each_row_above_the_winner(cli: Cli) -> None:
    got = cli("explain", "--json", stdin=ndjson(MISSING))
    steps = got.data["rows"]
    assert got.data["verdict"]["rule"] == steps[-1]["rule"] == "command-not-found"
    assert steps[-1] == {**steps[-1], "matched": True, "because": "every condition holds"}
    assert not any(step["matched"] for step in steps[:-1])
    shown = cli("explain", stdin=ndjson(MISSING)).out.splitlines()
    assert shown[0] == "FAILED  command not found"
    assert shown[1].strip() == "where  row 4, §20, rule command-not-found"
    every = cli("explain", "--all", stdin=ndjson(MISSING)).out.splitlines()
    assert len(every) == 3 + len(steps) - 1 > len(shown)
    assert "   4  not-found-inside             ruled out by exit status 127" in every
    # Words for people: no list or mapping as Python writes it.
    assert not any(mark in line for line in every for mark in ("[[", "{'", "True"))


def test_extract_prints_the_payload_or_ends_with_1(cli: Cli, tmp_path: Path) -> None:
    polluted = 'A new version is out\n\x1b[1m{"items": ["é"]}\x1b[0m\n'
    got = cli("extract", stdin=polluted)
    assert (got.status, json.loads(got.out)) == (0, {"items": ["é"]})
    path = tmp_path / "out.txt"
    path.write_text(polluted)
    data = cli("extract", str(path), "--json").data
    assert data["payload"] == {"items": ["é"]}
    assert (data["found"], data["before"], data["fragment"]) == (True, True, False)
    start, end = data["span"]
    assert json.loads(path.read_bytes()[start:end]) == {"items": ["é"]}
    nothing = cli("extract", stdin="no JSON here")
    assert (nothing.status, nothing.out) == (1, "")


def test_bundle_wraps_a_command_and_runs_nothing(cli: Cli, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    got = cli("bundle", "--json", "--", "touch", str(mark))
    assert got.data["argv"][-2:] == ["touch", str(mark)]
    assert got.data["env"]["GIT_TERMINAL_PROMPT"] == "0"
    assert got.data["stdin"] == "null"
    assert not mark.exists()
    seed = cli("bundle", "--seed", "--timeout", "5", "--", "git", "log").out
    assert "PAGER=cat" in seed
    assert "</dev/null" in seed
    assert "timeout" in seed
    assert cli("bundle", "--powershell", "--", "git", "log").out != seed


@pytest.mark.parametrize("form", [[], ["--json"], ["--powershell"], ["--seed"]])
@pytest.mark.parametrize(
    "command",
    [
        ["curl", "-H", "Authorization: Bearer ghp_" + "a1B2c3D4e5F6" * 3, "https://x.example/"],
        ["curl", "https://dev:hunter2-tall@x.example/"],
        ["mysql", "-phunter2-tall", "-u", "root"],
    ],
)
def test_bundle_prints_no_secret(cli: Cli, command: list[str], form: list[str]) -> None:
    got = cli("bundle", *form, "--", *command)
    assert "hunter2" not in got.out
    assert "a1B2c3" not in got.out
    assert command[0] in got.out
    assert "put it back" in got.err
    assert cli("bundle", *form, "--", "git", "log").err == ""


def test_rules_lists_the_table_one_row_and_the_schema(cli: Cli, table: Any) -> None:
    listed = cli("rules", "--json").data
    assert [item["id"] for item in listed] == [item.id for item in table]
    assert len(cli("rules").out.splitlines()) == len(table)
    written = cli("rules", "command-not-found").out
    assert "- id: command-not-found" in written
    assert written.count("- id: ") == 1
    assert {item["row"] for item in cli("rules", "3", "--json").data} == {3}
    assert json.loads(cli("rules", "--schema").out)["title"].startswith("One chapter")


@pytest.mark.parametrize("mode", ["10", "§10", "010"])
def test_show_prints_a_mode_s_document(cli: Cli, mode: str) -> None:
    got = cli("show", mode)
    assert got.status == 0
    assert "**Signature:**" in got.out
    assert got.out.strip() == (RULES / "modes" / "10-interactivity.md").read_text("utf-8").strip()
    assert cli("show", mode, "--json").data["file"] == "rules/modes/10-interactivity.md"


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_s_help_has_an_example_of_it(cli: Cli, verb: str) -> None:
    got = cli(verb, "--help")
    assert (got.status, got.err) == (0, "")
    assert f"Usage: triage {verb}" in got.out
    (example,) = re.findall(r"^  Example: (.+(?:\n  \S.*)*)", got.out, re.MULTILINE)
    assert re.search(rf"\btriage {verb}\b", example)
    assert not ANSI.search(got.out)


@pytest.mark.parametrize(
    "words", [("run", "--timeout"), ("new", "--chapter"), ("explain", "--exit")]
)
def test_a_value_that_is_missing_leads_to_the_verb_s_own_help(
    cli: Cli, words: tuple[str, ...]
) -> None:
    got = cli(*words)
    assert got.status == ExitStatus.USAGE
    assert got.err.rstrip().endswith(f"see triage {words[0]} --help")


@pytest.mark.parametrize("shell", ["complete_bash", "complete_nosuch"])
@pytest.mark.parametrize("env", [{}, {"COMP_WORDS": "triage cl", "COMP_CWORD": "x"}])
def test_completion_without_a_line_is_no_bug(shell: str, env: dict[str, str]) -> None:
    done = process(env={**os.environ, "_TRIAGE_COMPLETE": shell, **env})
    assert done.returncode == ExitStatus.USAGE
    assert "bug" not in done.stderr
    asked = {"COMP_WORDS": "triage cl", "COMP_CWORD": "1", "_TRIAGE_COMPLETE": "complete_bash"}
    assert process(env={**os.environ, **asked}).stdout == "classify\n"


def test_help_has_every_verb_and_every_status(cli: Cli) -> None:
    got = cli("--help")
    assert got.status == 0
    assert all(re.search(rf"^  {verb} ", got.out, re.MULTILINE) for verb in VERBS)
    for status, meaning in MEANINGS.items():
        assert f"{int(status):>3}  {meaning}" in got.out
    assert set(MEANINGS) == set(ExitStatus)


def test_our_statuses_stay_clear_of_the_spec_s_and_the_shell_s() -> None:
    # 10 to 12 mean something else in the spec, from 124 on they are the shell's (ruling 36).
    assert all(int(s) < 10 or 80 <= int(s) <= 99 for s in ExitStatus)
    assert len({int(status) for status in ExitStatus}) == len(ExitStatus)


def test_version(cli: Cli) -> None:
    assert re.fullmatch(r"triage \d+\.\d+\.\d+\S*\n", cli("--version").out)
