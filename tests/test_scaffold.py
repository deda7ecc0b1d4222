"""From a capture to a redacted case and a row that takes it, without touching anything else."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from sound_rules import SOUND, overlay_folder, rules_folder

from triage.cache import load_table
from triage.capture_data import capture_from_mapping
from triage.cases import load_cases
from triage.cli.app import run_app
from triage.compile import validator
from triage.engine import classify
from triage.errors import UsageError
from triage.last_run import last_run_file, recall, remember
from triage.model import Capture
from triage.samples import row_samples
from triage.scaffold import Label, case_of, case_text, tool_of, write_case
from triage.scaffold_row import add_row, row_skeleton

ROOT = Path(__file__).parent.parent
TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
DENIED = Capture(
    exit_code=1,
    command=f"frob push --token {TOKEN}",
    stderr=f"frob: error 17: server said no to '{TOKEN}'\n",
    duration_s=1.5,
)


def label(**others: Any) -> Label:
    fields = {
        "case_id": "frob-denied", "chapter": "12-auth", "tool": "frob", "modes": (24,),
        "why": "the server says no to the token itself",
    }  # fmt: skip
    return Label(**{**fields, **others})


def test_a_case_holds_the_capture_and_the_label_and_no_secret(tmp_path: Path) -> None:
    path = write_case(tmp_path, "12-auth", case_of(DENIED, label()))
    text = path.read_text("utf-8")
    assert path == tmp_path / "12-auth" / "frob-denied.yaml"
    assert TOKEN not in text
    case = next(load_cases(tmp_path))
    assert (case.id, case.tool, case.verdict, case.row, case.modes) == (
        "frob-denied", "frob", "failure", 12, (24,),
    )  # fmt: skip
    assert case.capture.exit_code == 1
    assert case.capture.duration_s == 1.5
    assert "server said no to" in case.capture.stderr
    assert list(validator(ROOT / "rules", "case").iter_errors(yaml.safe_load(text))) == []


def test_the_masked_case_gets_the_verdict_of_the_capture(tmp_path: Path) -> None:
    write_case(tmp_path, "12-auth", case_of(DENIED, label()))
    masked = next(load_cases(tmp_path)).capture
    table = load_table()
    assert classify(masked, table).rule == classify(DENIED, table).rule


def test_the_machine_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/alice")
    monkeypatch.setattr("socket.gethostname", lambda: "wotan")
    here = Path.cwd()
    said = f"{here}/x.py: no\n/home/alice/.frobrc: no\n/home/alicette: no\nwotan: no\nwotanic\n"
    case = case_of(Capture(exit_code=1, stderr=said), label())
    assert case["capture"]["stderr"] == (
        "/work/demo/x.py: no\n/home/dev/.frobrc: no\n/home/alicette: no\nhost: no\nwotanic\n"
    )


def test_bytes_that_are_no_text_stay_beside_the_case(tmp_path: Path) -> None:
    raw = b"\xff\xfe\x00 broken"
    capture = Capture(exit_code=1, command="frob", stdout=raw)
    path = write_case(tmp_path, "08-crash", case_of(capture, label(chapter="08-crash")))
    assert (path.parent / "frob-denied.stdout.bin").read_bytes() == raw
    assert next(load_cases(tmp_path)).capture.stdout == raw


def test_both_streams_in_one_are_said_to_be(tmp_path: Path) -> None:
    capture = Capture(exit_code=None, merged="a\nb\n", timed_out=True)
    write_case(tmp_path, "03-hang", case_of(capture, label(chapter="03-hang")))
    case = next(load_cases(tmp_path))
    assert case.capture == capture


def test_a_chapter_of_no_failure_expects_none() -> None:
    case = case_of(Capture(exit_code=1, command="frob"), label(chapter="00-expected-exit"))
    assert (case["expect"]["verdict"], case["expect"]["row"]) == ("not_failure", None)
    unsure = case_of(Capture(exit_code=1), label(verdict="ambiguous"))
    assert (unsure["expect"]["verdict"], unsure["expect"]["row"]) == ("ambiguous", None)


@pytest.mark.parametrize(
    "wrong", [{"chapter": "auth"}, {"case_id": "No Id"}, {"case_id": "../x"}, {"why": " "}]
)
def test_a_label_that_no_case_may_hold_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="--"):
        case_of(DENIED, label(**wrong))


def test_a_schema_is_named_where_there_is_one(tmp_path: Path) -> None:
    """A checkout has them beside its corpus; a project has none, and no editor would find any."""
    skeleton = row_skeleton("frob-says-no", case_of(DENIED, label()), "16-prose-exit")
    for own, lines in (("checkout", 1), ("project", 0)):
        rules = tmp_path / own / "rules"
        (rules / "table").mkdir(parents=True)
        if lines:
            (rules / "schema").symlink_to(ROOT / "rules" / "schema")
        case = write_case(tmp_path / own / "corpus", "12-auth", case_of(DENIED, label()))
        line = add_row(rules / "table" / "16-0-own.yaml", skeleton, create=True)
        for path in (case, rules / "table" / "16-0-own.yaml"):
            text = path.read_text("utf-8")
            found = re.findall(r"^# yaml-language-server: \$schema=(.+)\n", text)
            assert [(path.parent / name).is_file() for name in found] == [True] * lines
        assert text.split("\n")[line - 1] == "  - id: frob-says-no"


def test_an_existing_case_is_never_written_over(tmp_path: Path) -> None:
    path = write_case(tmp_path, "12-auth", case_of(DENIED, label()))
    before = path.read_bytes()
    with pytest.raises(UsageError, match="there is such a case"):
        write_case(tmp_path, "12-auth", case_of(Capture(exit_code=9), label()))
    assert path.read_bytes() == before


@settings(max_examples=120)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_read_back_as_it_was_written(out: str, err: str) -> None:
    case = {**case_of(DENIED, label()), "capture": {"exit_code": 1, "stdout": out, "stderr": err}}
    try:
        text = case_text(case)
    except UsageError:
        # YAML has no form for a lone surrogate.
        assert any("\ud800" <= char <= "\udfff" for char in out + err)
        return
    assert yaml.safe_load(text)["capture"] == case["capture"]


@pytest.mark.parametrize(
    ("command", "tool"),
    [("cd x && sudo npm install", "npm"), (("git", "push"), "git"), (None, None)],
)
def test_the_tool_is_the_program_that_owns_the_status(command: Any, tool: str | None) -> None:
    assert tool_of(Capture(exit_code=1, command=command)) == tool


CAPTURES = [
    {"exit_code": 1, "command": "frob", "stderr": "frob: error 17: can't read '/etc/x': no\n"},
    {"exit_code": 3, "command": "frob", "stdout": "(a) failed [b] {c} $d ^e *f+ \\g | h?\n"},
    {"exit_code": 1, "command": "frob", "stderr": 'it\'s "odd"\ttoo: 12 of 13 failed\nbye\n'},
    {"exit_code": None, "command": "frob", "merged": "cannot go on\n"},
    {"exit_code": 0, "command": "frob", "stdout": "could not load plugin x\n"},
    {"exit_code": 9, "command": "frob"},
]


@pytest.mark.parametrize("data", CAPTURES)
def test_a_skeleton_takes_its_case_in_a_table_that_loads(
    data: dict[str, Any], tmp_path: Path
) -> None:
    capture = capture_from_mapping(data)
    case = case_of(capture, label())
    rules = rules_folder(tmp_path / "rules", {"12-auth": "rows: []\n"})
    chapter = rules / "table" / "12-auth.yaml"
    chapter.unlink()
    add_row(chapter, row_skeleton("frob-says-no", case, "12-auth"), create=True)
    verdict = classify(capture, load_table(rules))
    assert (verdict.rule, verdict.row) == ("frob-says-no", 12)
    row = yaml.safe_load(chapter.read_text("utf-8"))["rows"][0]
    assert classify(capture_from_mapping(row["match"][0]), load_table(rules)).rule == row["id"]
    assert classify(capture_from_mapping(row["no_match"][0]), load_table(rules)).rule != row["id"]


def test_a_row_is_put_before_the_chapters_last_and_nothing_else_changes(tmp_path: Path) -> None:
    path = tmp_path / "16-prose-exit.yaml"
    text = "# a comment\n" + SOUND["16-prose-exit"].replace("  - id: unex", "\n  - id: unex")
    path.write_text(text, encoding="utf-8")
    skeleton = row_skeleton("frob-says-no", case_of(DENIED, label()), "16-prose-exit")
    line = add_row(path, skeleton)
    changed = path.read_text("utf-8")
    assert changed.split("\n")[line - 1] == "  - id: frob-says-no"
    assert changed.replace(skeleton + "\n", "") == text
    ids = [row["id"] for row in yaml.safe_load(changed)["rows"]]
    assert ids == ["file-missing", "frob-says-no", "unexplained"]
    with pytest.raises(UsageError, match="there is a row"):
        add_row(path, skeleton)
    with pytest.raises(UsageError, match="no chapter '17-none'"):
        add_row(tmp_path / "17-none.yaml", skeleton)


@pytest.mark.parametrize("none", ["", "rows: []\n", "rows: []  # none yet"])
def test_a_chapter_that_only_disables_gets_its_first_row(none: str, tmp_path: Path) -> None:
    path = tmp_path / "16-0-own.yaml"
    path.write_text("disable: [unexplained]\n" + none, encoding="utf-8")
    skeleton = row_skeleton("frob-says-no", case_of(DENIED, label()), "16-prose-exit")
    line = add_row(path, skeleton)
    changed = path.read_text("utf-8")
    assert changed == f"disable: [unexplained]\nrows:\n{skeleton}"
    assert changed.split("\n")[line - 1] == "  - id: frob-says-no"


def test_the_last_run_is_kept_for_its_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(UsageError, match="no run is remembered"):
        recall()
    assert remember(Capture(exit_code=3, command="frob", stdout=b"a\n"))
    assert recall() == {"exit_code": 3, "command": "frob", "stdout": "a\n"}
    for raw in (
        Capture(exit_code=None, stderr=b"\xff", truncated=({"stream": "stderr", "bytes": 9},)),
        Capture(exit_code=1, merged=b"\xff\n", command=("frob", "x"), limit_s=2.0),
    ):
        assert remember(raw)
        assert capture_from_mapping(recall()) == raw
    path = Path(last_run_file() or "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with path.open("rb+") as spooled:
        spooled.seek(2)
        assert remember(Capture(exit_code=4, stderr=spooled))
        assert spooled.tell() == 2
    assert remember(Capture(exit_code=0, stdout="x" * (5 << 20)))
    # One that is too large leaves none: an earlier run's would be taken for it.
    assert not remember(Capture(exit_code=0, stdout="x" * (17 << 20)))
    assert [p.name for p in path.parent.iterdir()] == []
    path.write_text("{", encoding="utf-8")
    with pytest.raises(UsageError, match="can't be read"):
        recall()


def test_the_verb_writes_case_and_row_of_the_last_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = rules_folder(tmp_path / "rules")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    remember(Capture(exit_code=5, command="frob go", stderr="frob: no slot free in pool 7\n"))
    (tmp_path / "corpus").mkdir()
    arguments = [
        "new", "--last-run", "--chapter", "16-prose-exit", "--id", "frob-pool",
        "--row-id", "no-slot-free", "--why", "frob says that its pool has no slot free",
        "--modes", "§19, 31", "--corpus", str(tmp_path / "corpus"), "--rules", str(rules), "--json",
    ]  # fmt: skip
    assert run_app(arguments) == 0
    written = json.loads(capsys.readouterr().out)["data"]
    assert written["case"].endswith("16-prose-exit/frob-pool.yaml")
    path, line = written["row"].rsplit(":", 1)
    assert "no-slot-free" in Path(path).read_text("utf-8").split("\n")[int(line) - 1]
    assert run_app(["test", str(tmp_path / "corpus"), "--rules", str(rules)]) == 0
    assert run_app(arguments) == 2
    assert "there is such a case" in capsys.readouterr().err
    other = ["other" if word == "frob-pool" else word for word in arguments]
    assert run_app(other) == 2
    assert "there is a row" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "corpus").rglob("*.yaml")] == ["frob-pool.yaml"]


def test_outside_a_checkout_case_and_row_are_the_projects_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus").mkdir()
    (tmp_path / "capture.json").write_text(
        '{"exit_code": 6, "command": "frob go", "stderr": "frob: pool 7 is drained\\n"}', "utf-8"
    )
    arguments = ["new", "--from", "capture.json", "--chapter", "16-prose-exit", "--id", "frob-pool"]
    row = ["--row-id", "pool-drained", "--why", "frob says that its pool is drained"]
    assert run_app([*arguments, *row]) == 0
    assert (tmp_path / ".triage/corpus/16-prose-exit/frob-pool.yaml").is_file()
    assert (tmp_path / ".triage/rules/table/16-0-own.yaml").is_file()
    assert not list((tmp_path / "corpus").iterdir())
    capsys.readouterr()
    assert run_app(["classify", "capture.json", "--line"]) == 0
    assert "rule=pool-drained" in capsys.readouterr().out
    run_app(["test", "-k", "frob-pool"])
    assert "rows           100.0 %" in capsys.readouterr().out
    # Below the top folder both are found, and another row joins them there.
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    again = {"capture.json": "../capture.json", "frob-pool": "pool-2", "pool-drained": "pool-two"}
    assert run_app([again.get(word, word) for word in [*arguments, *row]]) == 0
    assert not list((tmp_path / "deep").iterdir())
    capsys.readouterr()
    run_app(["test", "-k", "frob-pool or pool-2"])
    assert "cases          2 of 1 tools" in capsys.readouterr().out


def test_a_row_that_the_table_has_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("capture.json").write_text('{"exit_code": 6, "command": "frob go"}', "utf-8")
    assert run_app([
        "new", "--from", "capture.json", "--chapter", "16-prose-exit", "--row-id", "unclassified",
        "--why", "frob has nothing to say about its pool",
    ]) == 2  # fmt: skip
    assert "there is a row `unclassified`" in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*.*")] == ["capture.json"]


def test_the_rows_that_contributing_teaches_hold(tmp_path: Path) -> None:
    """They load beside ours and win what their samples say."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    blocks = re.findall(r"(?ms)^```yaml\n(.*?)^```", text)
    chapters = {
        "16-0-own": next(block for block in blocks if block.startswith("about:")),
        "16-1-own": "rows:\n" + next(block for block in blocks if block.startswith("  - id:")),
    }
    overlay = overlay_folder(tmp_path / "rules", chapters)
    table = load_table(ROOT / "rules", overlays=[overlay])
    rows = [row for text in chapters.values() for row in yaml.safe_load(text)["rows"]]
    assert [row["id"] for row in rows] == ["board-leased", "target-frozen"]
    for row in rows:
        for kind, capture in row_samples(row, row["id"]):
            assert (classify(capture, table).rule == row["id"]) is (kind == "match")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--modes", "99"], "no failure mode"),
        (["--from", "nowhere.json"], "can't be read"),
        (["--chapter", "auth"], "is no chapter"),
        (["--chapter", "99-nope"], "there is no chapter '99-nope'; write one of 00-agent-run, "),
        (["--last-run"], "--from --last-run: two captures"),
        (["--corpus", "/dev/null"], "/dev/null: no folder that can be written"),
    ],
)
def test_the_verb_refuses_what_it_cannot_write(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capture = tmp_path / "capture.json"
    capture.write_text('{"exit_code": 1, "command": "frob"}', encoding="utf-8")
    arguments = ["new", "--from", str(capture), "--chapter", "12-auth", "--why", "because it does"]
    assert run_app([*arguments, "--corpus", str(tmp_path), *words]) == 2
    assert told in capsys.readouterr().err
    assert not list(tmp_path.glob("*/*.yaml"))


@pytest.mark.parametrize("said", ["a\0b \ud800 c\n", "gr\udcf6 c\n"])
def test_a_stream_that_is_no_text_is_kept_as_bytes(said: str) -> None:
    label = Label(case_id="q", chapter="16-prose-exit", tool="x", why="it says nothing readable")
    case = case_of(Capture(exit_code=2, command="x", stderr=said), label)
    assert isinstance(case["capture"]["stderr"], bytes)
