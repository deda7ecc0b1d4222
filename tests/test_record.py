"""The recorder writes what it saw, hides the machine it ran on, and the corpus keeps its rules."""

from __future__ import annotations

import collections
import importlib.util
import json
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "corpus"


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


record = _load("record", CORPUS / "record.py")
import_jsonl = _load("import_jsonl", CORPUS / "import_jsonl.py")
serve = sys.modules["fixtures.serve"]
scrub = sys.modules["recorder.scrub"]
recorder_case = sys.modules["recorder.case"]

LABEL: dict[str, Any] = {
    "id": "demo",
    "chapter": "16-prose-exit",
    "tool": "sh",
    "version": "echo 1.0",
    "row": 16,
    "why": "a demonstration",
}


def run(**keys: Any) -> dict[str, Any]:
    case: dict[str, Any] = record.record(record.plan_from_mapping({**LABEL, **keys}, "demo"))
    return case


# --- one command ------------------------------------------------------------------------------


def test_status_and_both_streams_are_kept_apart() -> None:
    case = run(shell="echo out; echo err >&2; exit 3")
    assert case["capture"]["exit_code"] == 3
    assert case["capture"]["stdout"] == "out\n"
    assert case["capture"]["stderr"] == "err\n"
    assert case["capture"]["timed_out"] is False
    assert case["expect"] == {"verdict": "failure", "row": 16}
    assert case["tool_version"] == "1.0"


def test_a_command_list_is_run_without_a_shell_and_quoted_when_written() -> None:
    case = run(cmd=["printf", "%s", "a b; c"])
    assert case["capture"]["stdout"] == "a b; c"
    assert case["capture"]["command"] == "printf %s 'a b; c'"


def test_merged_streams_end_up_in_stdout_with_the_flag() -> None:
    case = run(shell="echo out; echo err >&2", merge=True)
    assert case["capture"]["merged"] is True
    assert case["capture"]["stdout"] == "out\nerr\n"


def test_the_limit_kills_the_whole_group_and_says_so() -> None:
    case = run(shell="echo waiting; sleep 60 & sleep 60", timeout=0.5, stdin="open")
    assert case["capture"]["timed_out"] is True
    assert case["capture"]["exit_code"] == -9
    assert case["capture"]["stdout"] == "waiting\n"
    assert case["how"] == {"stdin": "open", "limit_s": 0.5}


def test_a_killed_call_may_be_written_in_the_shells_style() -> None:
    case = run(shell="sleep 60", timeout=0.4, exit="shell", kill="TERM")
    assert case["capture"]["exit_code"] == 143


def test_a_terminal_is_a_terminal() -> None:
    case = run(shell="test -t 0 && test -t 1 && stty size </dev/tty", pty=True)
    assert case["capture"]["stdout"] == "24 80\r\n"
    assert case["capture"]["merged"] is True


def test_without_a_terminal_there_is_none_to_open() -> None:
    assert run(shell=": </dev/tty")["capture"]["exit_code"] != 0


def test_stdin_can_be_a_text_or_a_file() -> None:
    assert run(shell="cat", stdin="text:hello")["capture"]["stdout"] == "hello"
    case = run(shell="cat", stdin="in.txt", files={"in.txt": "from a file\n"})
    assert case["capture"]["stdout"] == "from a file\n"


def test_files_setup_and_teardown_surround_the_call() -> None:
    case = run(
        shell="./go.sh && cat made",
        files={"go.sh": "#!/bin/sh\necho ran\n"},
        setup="echo made > made",
        teardown="test -f made",
    )
    assert case["capture"]["stdout"] == "ran\nmade\n"


def test_a_setup_that_fails_stops_the_recording() -> None:
    with pytest.raises(record.RecordError, match="setup exits 1"):
        run(shell="true", setup="false")


def test_a_status_the_plan_did_not_foresee_is_an_error() -> None:
    with pytest.raises(record.RecordError, match="exit 4, the plan foresaw 1"):
        run(shell="exit 4", expect_exit=1)


def test_a_tool_that_is_not_installed_is_not_recorded_by_mistake() -> None:
    with pytest.raises(record.RecordError, match="is the tool installed here"):
        run(shell="no-such-tool-here --help")
    assert run(shell="no-such-tool-here", row=4)["capture"]["exit_code"] == 127


def test_pipefail_is_part_of_the_recorded_line() -> None:
    case = run(shell="false | true", pipefail=True)
    assert case["capture"]["command"] == "set -o pipefail; false | true"
    assert case["capture"]["exit_code"] == 1


def test_row_zero_means_no_failure() -> None:
    case = run(shell="grep -q x /dev/null", row=0)
    assert case["expect"] == {"verdict": "not_failure", "row": None}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({}, "either `shell`"),
        ({"shell": "a", "cmd": ["a"]}, "either `shell`"),
        ({"cmd": ["a"], "pipefail": True}, "`pipefail` needs `shell`"),
        ({"shell": "a", "chapter": "17-none"}, "no chapter `17-none`"),
        ({"shell": "a", "row": None}, "a failure needs `row`"),
        ({"shell": "a", "colour": 1}, "colour"),
    ],
)
def test_a_bad_entry_is_named_with_its_place(keys: Mapping[str, Any], message: str) -> None:
    with pytest.raises(record.RecordError, match=re.escape(message)) as caught:
        record.plan_from_mapping({**LABEL, **keys}, "plan.yaml#7")
    assert str(caught.value).startswith("plan.yaml#7")


# --- what names the machine -------------------------------------------------------------------


def test_directories_of_the_machine_are_replaced() -> None:
    case = run(shell='echo "$PWD $HOME" "$TMPDIR"; echo "$PWD/x" >&2')
    assert case["capture"]["stdout"] == "/work/demo /home/dev /tmp\n"
    assert case["capture"]["stderr"] == "/work/demo/x\n"


def test_the_port_of_a_fixture_becomes_its_usual_one() -> None:
    case = run(shell="echo {url}/x", fixture="http404")
    assert case["capture"]["command"] == "echo http://127.0.0.1:18404/x"
    assert case["capture"]["stdout"] == "http://127.0.0.1:18404/x\n"
    assert case["how"]["fixture"] == "http404"


def test_a_port_inside_a_longer_number_is_left_alone() -> None:
    scrubber = scrub.Scrubber(((b"34567", b"18404"),))
    assert scrubber.text("port 34567, id 1345678") == "port 18404, id 1345678"


def test_further_places_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECORD_REPLACE", "/opt/here=/usr/local")
    scrubber = scrub.Scrubber.of_this_machine(Path("/nowhere"), {})
    assert scrubber.text("/opt/here/bin/tool") == "/usr/local/bin/tool"


# --- what is written --------------------------------------------------------------------------

TEXTS = st.text(
    st.one_of(st.sampled_from(" \t\n#:-'\"|é世🚀"), st.characters(exclude_categories=["Cs"])),
    max_size=60,
)


@given(TEXTS, TEXTS)
@settings(max_examples=300, deadline=None)
def test_yaml_gives_every_text_back(stdout: str, why: str) -> None:
    case = {"id": "a", "capture": {"stdout": stdout, "exit_code": None}, "why": why}
    assert yaml.safe_load(recorder_case.to_yaml(case)) == case


def test_plain_text_is_readable_where_it_stands() -> None:
    text = recorder_case.to_yaml({"capture": {"stdout": "  one \n\ttwo\n\n"}})
    assert text == "capture:\n  stdout: |2+\n      one \n    \ttwo\n\n"


def test_bytes_lie_beside_the_case(tmp_path: Path) -> None:
    case = run(shell=r"printf 'caf\351\n'")
    assert case["capture"]["stdout"] == b"caf\xe9\n"
    path = record.write_case(case, "16-prose-exit", tmp_path)
    written = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert written["capture"]["stdout_file"] == "demo.stdout.bin"
    assert (path.parent / "demo.stdout.bin").read_bytes() == b"caf\xe9\n"


def test_raw_bytes_go_away_when_the_new_recording_is_text(tmp_path: Path) -> None:
    record.write_case(run(shell=r"printf 'caf\351\n'"), "16-prose-exit", tmp_path)
    record.write_case(run(shell="echo cafe"), "16-prose-exit", tmp_path)
    assert [path.name for path in (tmp_path / "16-prose-exit").iterdir()] == ["demo.yaml"]


def test_short_escapes_stay_in_the_case_and_long_ones_do_not() -> None:
    assert run(shell=r"printf '\033[31mred'")["capture"]["stdout"] == "\x1b[31mred"
    long = run(shell=r"printf '\033[31m%01000d' 7")["capture"]["stdout"]
    assert isinstance(long, bytes)


def test_a_batch_writes_its_cases_and_counts_its_failures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "defaults: {chapter: 16-prose-exit, tool: sh, version: echo 1, row: 16, why: w}\n"
        "cases:\n"
        "- {id: good, shell: exit 1, expect_exit: 1}\n"
        "- {id: bad, shell: exit 1, expect_exit: 2}\n",
        encoding="utf-8",
    )
    assert record.main(["--batch", str(plan), "--out", str(tmp_path)]) == 1
    shown = capsys.readouterr()
    assert "good  row 16 failure" in shown.out
    assert "bad: exit 1, the plan foresaw 2" in shown.err
    assert [path.name for path in (tmp_path / "16-prose-exit").iterdir()] == ["good.yaml"]
    assert record.main(["--batch", str(plan), "--out", str(tmp_path), "--only", "good"]) == 0


def test_one_case_from_options(tmp_path: Path) -> None:
    label = ["--chapter", "06-usage", "--id", "sh-x", "--tool", "sh", "--version", "echo 1"]
    label += ["--row", "6", "--modes", "14,35", "--why", "w", "--out", str(tmp_path)]
    status = record.main([*label, "--", "sh", "-c", "exit 2"])
    assert status == 0
    written = yaml.safe_load((tmp_path / "06-usage/sh-x.yaml").read_text(encoding="utf-8"))
    assert written["expect"] == {"verdict": "failure", "row": 6, "modes": [14, 35]}
    assert record.main(["--chapter", "06-usage", "--id", "x", "--", "true"]) == 2


# --- fixtures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["http401", "http403rate", "http429", "http503", "http404html"])
def test_an_http_fixture_answers_its_status_and_headers(name: str) -> None:
    reply = serve.HTTP[name]
    with serve.serve(name) as (url, _), pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(url, timeout=5)
    with caught.value as error:
        assert error.code == reply.status
        assert error.read().decode() == reply.body
        assert {key: error.headers[key] for key in reply.headers} == dict(reply.headers)


def test_a_refused_port_refuses_and_a_closed_connection_closes() -> None:
    for name, reason in (("refused", ConnectionRefusedError), ("close", Exception)):
        with serve.serve(name) as (url, _), pytest.raises((urllib.error.URLError, OSError)) as e:
            urllib.request.urlopen(url, timeout=5)
        assert isinstance(getattr(e.value, "reason", e.value), reason)


def test_an_unknown_fixture_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match="http429"), serve.serve("http999"):
        pass


def test_usual_ports_have_five_digits() -> None:
    assert {len(str(serve.canonical_port(name))) for name in serve.FIXTURES} == {5}


# --- the importer -----------------------------------------------------------------------------


def _line(**expected: Any) -> dict[str, Any]:
    return {
        "id": "r",
        "command": "x",
        "exit_code": 1,
        "timed_out": False,
        "duration_s": 0.1,
        "stdout": "",
        "stderr": "x: no\n",
        "tool": "x",
        "tool_version": "x 1",
        "merged": False,
        "expected": {"modes": [], "why": "w", **expected},
    }


def test_row_zero_is_filed_by_its_status() -> None:
    assert import_jsonl.chapter_of(0, 1) == "00-expected-exit"
    assert import_jsonl.chapter_of(0, 0) == "99-clean-exit"
    assert import_jsonl.chapter_of(12, 1) == "12-auth"


def test_labels_are_carried_over_as_they_stand() -> None:
    line = _line(row=6, modes=[14], literal_row=16, row_alt=[3])
    chapter, case = import_jsonl.case_from_line(line)
    assert chapter == "06-usage"
    assert case["expect"] == {
        "verdict": "failure",
        "row": 6,
        "row_alt": [3],
        "modes": [14],
        "literal_row": 16,
    }
    assert case["source"] == "imported"
    _, none = import_jsonl.case_from_line(_line(row=0))
    assert none["expect"] == {"verdict": "not_failure", "row": None}


# --- the corpus itself ------------------------------------------------------------------------

CASES = {
    path: yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    for path in sorted(CORPUS.glob("[0-9]*/*.yaml"))
}


# What tells one capture from another; the limit is a part of it.
DISTINCT = ("command", "shell", "exit_code", "timed_out", "merged", "stdout", "stderr")


def _row(path: Path, case: Mapping[str, Any]) -> object:
    """Cases without a row are counted by their chapter: told by status, or a clean exit."""
    return case["expect"]["row"] or path.parent.name


def test_every_case_fits_the_schema_and_is_named_after_its_file() -> None:
    schema = json.loads((ROOT / "rules/schema/case.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    wrong = [
        f"{path.parent.name}/{path.name}: {error.json_path}: {error.message}"
        for path, case in CASES.items()
        for error in validator.iter_errors(case)
    ]
    assert wrong == []
    assert [str(path) for path, case in CASES.items() if case["id"] != path.stem] == []
    assert {path.parent.name for path in CASES} <= set(record.CHAPTERS)


def test_ids_are_unique_and_streams_named_by_a_case_exist() -> None:
    ids = collections.Counter(case["id"] for case in CASES.values())
    assert [name for name, count in ids.items() if count > 1] == []
    named = {
        path.parent / value
        for path, case in CASES.items()
        for key, value in case["capture"].items()
        if key.endswith("_file")
    }
    assert named == set(CORPUS.glob("[0-9]*/*.bin"))


def test_a_case_of_row_n_lies_in_chapter_n() -> None:
    rows = {path: case["expect"]["row"] for path, case in CASES.items()}
    astray = [
        str(path)
        for path, row in rows.items()
        if row and not path.parent.name.startswith(f"{row:02d}-")
    ]
    assert astray == []


def test_no_tool_crowds_a_row() -> None:
    counts = collections.Counter((case["tool"], _row(path, case)) for path, case in CASES.items())
    assert {key: count for key, count in counts.items() if count > 8} == {}


def test_no_two_cases_are_the_same_after_digits_are_taken_out() -> None:
    def shape(path: Path, case: Mapping[str, Any]) -> tuple[str, ...]:
        capture = dict(case["capture"])
        for name in ("stdout", "stderr"):
            beside = capture.pop(f"{name}_file", None)
            if beside is not None:
                capture[name] = (path.parent / beside).read_bytes().decode("utf-8", "replace")
        parts = (str(capture.get(key, "")) for key in DISTINCT)
        return (case["tool"], *(re.sub(r"\d+", "0", part) for part in parts))

    seen: dict[tuple[str, ...], Path] = {}
    twins = []
    for path, case in CASES.items():
        first = seen.setdefault(shape(path, case), path)
        if first is not path:
            twins.append((first.name, path.name))
    assert twins == []


def test_the_recording_machine_is_not_named() -> None:
    leaks = re.compile(rb"/tmp/case-|/root/\.|-fc-v\d")
    files = [*CASES, *CORPUS.glob("[0-9]*/*.bin")]
    assert [str(path) for path in files if leaks.search(path.read_bytes())] == []


def test_every_recorded_case_says_what_its_plan_says() -> None:
    planned = {
        plan.id: (
            plan.chapter,
            plan.why,
            recorder_case.expectation(
                plan.verdict, plan.row, plan.row_alt, plan.modes, plan.literal_row
            ),
        )
        for path in sorted(CORPUS.glob("plans/*.yaml"))
        for plan in record.read_plans(path)
    }
    recorded = {
        case["id"]: (path.parent.name, case["why"], case["expect"])
        for path, case in CASES.items()
        if case["source"] == "recorded"
    }
    assert [name for name, said in recorded.items() if planned.get(name) != said] == []
    assert [name for name in planned if name not in recorded] == []
