"""Labelled captures: how they are read, what counts as right, and how two runs compare."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sound_rules import (
    SOUND_CASES,
    case_text,
    corpus_folder,
    one_row,
    overlay_folder,
    rules_folder,
)

from triage.bless import pins, write_pins
from triage.cache import load_table
from triage.cases import Case, load_cases, only
from triage.cli import testing
from triage.cli.app import run_app
from triage.corpus import (
    below_thresholds,
    compare,
    read_results,
    read_thresholds,
    results,
    results_text,
    run_cases,
    without_commands,
    without_tools,
)
from triage.errors import RuleError, UsageError
from triage.model import Capture
from triage.score import Report

CHECKOUT = Path(__file__).parent.parent
NOT_FOUND = Capture(exit_code=127, command="jqq .", stderr="bash: jqq: command not found")
FINE = Capture(exit_code=0, command="ls", stdout="a\n")


def case(case_id: str, row: int | None, capture: Capture, **others: Any) -> Case:
    return Case(
        **{
            "id": case_id, "place": f"{case_id}.yaml:1:1", "path": Path(f"{case_id}.yaml"),
            "chapter": "16-prose-exit", "tool": "tool", "source": "recorded", "synthetic": False,
            "capture": capture, "verdict": "not_failure" if row is None else "failure", "row": row,
            **others,
        }
    )  # fmt: skip


def run(*cases: Case) -> Report:
    return run_cases(cases, load_table())


def test_cases_are_read_with_the_bytes_beside_them(tmp_path: Path) -> None:
    text = case_text("raw", 8, "{exit_code: 1, command: tool, stderr_file: raw.stderr.bin}")
    folder = corpus_folder(tmp_path, {"08-crash/raw": text})
    (folder / "08-crash" / "raw.stderr.bin").write_bytes(b"\xff\xfe broken\n")
    found = list(load_cases(folder))
    assert [(c.id, c.chapter, c.row, c.capture.stderr) for c in found] == [
        ("raw", "08-crash", 8, b"\xff\xfe broken\n")
    ]
    assert found[0].place.endswith("raw.yaml:6:3")


def test_plans_fixtures_and_thresholds_are_no_cases(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path, {**SOUND_CASES, "plans/16-prose-exit": "- id: plan\n"})
    (folder / "thresholds.yaml").write_text("rows: 0.9\n", encoding="utf-8")
    assert {c.id for c in load_cases(folder)} == {"jqq", "ls", "odd", "fine"}


def test_every_file_that_is_no_case_is_named_at_once(tmp_path: Path) -> None:
    good = SOUND_CASES["16-prose-exit/odd"]
    cases = {
        "16-prose-exit/typo": good.replace("row_alt:", "rows_alt:"),
        "16-prose-exit/fails": good.replace("row: 16", "row: null"),
        "16-prose-exit/capture": good.replace("exit_code: 3", "exit_code: three"),
        "16-prose-exit/yaml": "id: [",
        "16-prose-exit/why": good.replace("why:", "because:"),
    }
    with pytest.raises(RuleError) as caught:
        list(load_cases(corpus_folder(tmp_path, cases)))
    told = "\n".join(map(str, caught.value.issues))
    for name in ("typo", "fails", "capture", "yaml", "why"):
        assert f"{name}.yaml:" in told
    assert "`rows_alt`" in told
    assert "got the string 'three', wanted integer or null" in told


def test_one_file_is_a_corpus_too(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path, SOUND_CASES)
    assert [c.id for c in load_cases(folder / "16-prose-exit" / "odd.yaml")] == ["odd"]
    with pytest.raises(UsageError, match="no such file"):
        list(load_cases(folder / "nowhere"))


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("jqq", {"jqq"}),
        ("prose-exit", {"ls", "odd"}),
        ("ls or jqq", {"ls", "jqq", "fine"}),
        ("ls not clean-exit", {"ls"}),
        ("16-prose and not (odd or jqq)", {"ls"}),
    ],
)
def test_words_select_cases(expression: str, wanted: set[str], tmp_path: Path) -> None:
    found = load_cases(corpus_folder(tmp_path, SOUND_CASES))
    assert {c.id for c in only(found, expression)} == wanted


@pytest.mark.parametrize("expression", ["", "and", "a or", "(a", "a)", "not"])
def test_a_broken_selection_is_refused(expression: str) -> None:
    with pytest.raises(UsageError, match="-k"):
        only([], expression)


def test_a_row_is_right_to_the_letter_or_accepted() -> None:
    exact, other, wrong = run(
        case("exact", 4, NOT_FOUND),
        case("other", 5, NOT_FOUND, row_alt=(4,)),
        case("wrong", 5, NOT_FOUND),
    ).outcomes
    assert (exact.strict, exact.accepted) == (True, True)
    assert (other.strict, other.accepted) == (False, True)
    assert (wrong.strict, wrong.accepted, wrong.wanted, wrong.got) == (False, False, 5, 4)


def test_a_mode_counts_only_where_the_label_names_some() -> None:
    best, acceptable, wrong, none = run(
        case("best", 4, NOT_FOUND, modes=(20,)),
        case("acceptable", 4, NOT_FOUND, modes=(38, 20)),
        case("wrong", 4, NOT_FOUND, modes=(38,)),
        case("none", 4, NOT_FOUND),
    ).outcomes
    assert (best.mode_accepted, best.mode_best) == (True, True)
    assert (acceptable.mode_accepted, acceptable.mode_best) == (True, False)
    assert (wrong.mode_accepted, wrong.mode_best) == (False, False)
    assert (none.mode_accepted, none.mode_best) == (None, None)


def test_alarms_and_what_is_called_fine_are_counted_apart() -> None:
    report = run(
        case("alarm", None, NOT_FOUND),
        case("either", None, NOT_FOUND, row_alt=(4,)),
        case("hidden", 2, FINE),
        case("defensible", 2, FINE, row_alt=(0,)),
    )
    assert [item.case.id for item in report.false_alarms()] == ["alarm"]
    assert [item.case.id for item in report.failures_called_fine()] == ["hidden"]
    figures = report.figures()
    assert figures["false_alarm_share"] == 0.5
    assert figures["failures_called_fine"] == 1
    assert (figures["rows"], figures["rows_strict"]) == (0.5, 0.0)
    assert set(report.confusion()) == {(0, 4, 1), (2, 0, 1)}


def test_precision_and_recall_by_row() -> None:
    by_row = run(
        case("a", 4, NOT_FOUND, modes=(20,)), case("b", 5, NOT_FOUND), case("c", None, FINE)
    ).by_row()
    assert by_row["4"] == {
        "cases": 1, "precision": 0.5, "recall": 1.0, "modes": 1.0, "modes_best": 1.0,
    }  # fmt: skip
    assert (by_row["5"]["precision"], by_row["5"]["recall"]) == (None, 0.0)
    assert by_row["0"]["recall"] == 1.0


def test_invented_captures_are_checked_and_never_counted() -> None:
    report = run(case("real", 4, NOT_FOUND), case("made", 5, NOT_FOUND, synthetic=True))
    assert [item.case.id for item in report.misses()] == ["made"]
    assert (report.figures()["cases"], report.figures()["rows"]) == (1, 1.0)
    assert report.figures()["synthetic"] == 1


def test_an_agents_stream_is_right_when_its_own_verdict_is(tmp_path: Path) -> None:
    folder = CHECKOUT / "corpus" / "agents" / "codex"
    found = list(load_cases(folder))
    assert found
    assert all(c.synthetic and c.agent for c in found)
    report = run(*found)
    assert [item.case.id for item in report.outcomes if not item.accepted] == []
    turned = replace(found[0], agent=("agent_no_output", "stream_cut"))
    assert not run(turned).outcomes[0].accepted


def test_the_catch_alls_share_is_counted() -> None:
    odd = Capture(exit_code=3, command="odd", stderr="zzz")
    assert run(case("odd", 16, odd), case("b", 4, NOT_FOUND)).figures()["unclassified_share"] == 0.5


def test_without_commands_a_command_is_never_seen() -> None:
    nothing = Capture(exit_code=1, command="grep x y")
    assert run(case("grep", None, nothing)).outcomes[0].accepted
    assert not without_commands([case("grep", None, nothing)], load_table()).outcomes[0].accepted


def test_without_a_tools_name_only_its_rows_forget_it(tmp_path: Path) -> None:
    row = one_row(
        "by-name", "{exit: 7, command: {program: [frob, grep]}}", row="13", modes="[31]",
        match="[{exit_code: 7, command: frob}]",
    )  # fmt: skip
    table = load_table(rules_folder(tmp_path / "rules", {"13-network": row}))
    cases = [
        case("frob", 13, Capture(exit_code=7, command="frob x"), tool="frob"),
        case("frob2", 16, Capture(exit_code=8, command="frob x"), tool="frob"),
        case("other", 16, Capture(exit_code=7, command="other x"), tool="other"),
    ]
    assert run_cases(cases, table).figures()["rows"] == 1.0
    found = without_tools(cases, table)
    assert found["tools"] == {"frob": {"cases": 2, "rows": 0.5}, "other": {"cases": 1, "rows": 1.0}}
    assert found["average"] == 0.75


def test_the_thresholds_of_the_corpus_are_the_ones_asked_for() -> None:
    thresholds = read_thresholds(CHECKOUT / "corpus")
    assert thresholds == {
        "rows": 0.98, "modes": 0.94, "modes_best": 0.85, "false_alarm_share": 0.01,
        "failures_called_fine": 0,
    }  # fmt: skip
    figures = {**thresholds, "rows": 0.97, "false_alarm_share": 0.02}
    missed = below_thresholds(figures, thresholds)
    assert [sentence.split()[0] for sentence in missed] == ["rows", "false_alarm_share"]


def test_an_unknown_threshold_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thresholds.yaml").write_text("row: 0.9\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"thresholds.yaml:1:\d+: no threshold"):
        read_thresholds(tmp_path)
    assert read_thresholds(tmp_path / "nowhere") == {}


def test_results_are_saved_one_case_a_line_and_compared(tmp_path: Path) -> None:
    table = load_table()
    before = run_cases([case("a", 4, FINE), case("b", 4, NOT_FOUND), case("gone", 4, FINE)], table)
    after = run_cases([case("a", 4, NOT_FOUND), case("b", 4, FINE), case("new", 4, FINE)], table)
    path = tmp_path / "before.json"
    path.write_text(results_text(results(before, table, {})), encoding="utf-8")
    saved = read_results(path)
    assert saved == json.loads(json.dumps(results(before, table, {})))
    assert sum(line.startswith('    "') for line in path.read_text("utf-8").split("\n")) >= 3
    found = compare(saved["cases"], after.per_case())
    assert [item[0] for item in found.better] == ["a"]
    assert [item[0] for item in found.worse] == ["b"]
    assert (found.only_before, found.only_after) == (("gone",), ("new",))


def test_what_is_no_result_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]", encoding="utf-8")
    with pytest.raises(UsageError, match="no saved results"):
        read_results(tmp_path / "x.json")
    with pytest.raises(UsageError, match="can't be read"):
        read_results(tmp_path / "nowhere.json")


def test_blessing_adds_the_rule_and_nothing_else(tmp_path: Path) -> None:
    table = load_table(rules_folder(tmp_path / "rules"))
    folder = corpus_folder(tmp_path / "corpus", SOUND_CASES)
    wrong = folder / "16-prose-exit" / "wrong.yaml"
    wrong.write_text(case_text("wrong", 8, "{exit_code: 1}"), encoding="utf-8")
    changes = pins(run_cases(load_cases(folder), table))
    assert {(pin.outcome.case.id, pin.after) for pin in changes} == {
        ("jqq", "not-found"), ("ls", "file-missing"), ("odd", "unexplained"), ("fine", "clean"),
    }  # fmt: skip
    assert write_pins(changes) == 4
    for name, text in SOUND_CASES.items():
        lines = (folder / f"{name}.yaml").read_text("utf-8").split("\n")
        assert [line for line in lines if not line.startswith("  rule: ")] == text.split("\n")
    again = list(load_cases(folder))
    assert {c.rule for c in again} == {"not-found", "file-missing", "unexplained", "clean", None}
    assert pins(run_cases(again, table)) == []


def test_a_pinned_case_that_another_row_takes_is_a_miss(tmp_path: Path) -> None:
    report = run(case("pinned", 4, NOT_FOUND, rule="some-other-row"))
    assert report.outcomes[0].accepted
    assert [item.case.id for item in report.misses()] == ["pinned"]


def test_the_verb_tells_how_right_the_table_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = str(rules_folder(tmp_path / "rules"))
    corpus = str(corpus_folder(tmp_path / "corpus", SOUND_CASES))
    assert run_app(["test", corpus, "--rules", rules]) == 0
    told = capsys.readouterr().out
    assert "samples        10 of 10 hold" in told
    assert "rows           100.0 %" in told
    saved = str(tmp_path / "saved.json")
    arguments = ["test", corpus, "--rules", rules, "--json", "--save", saved, "--baseline", saved]
    run_app(["test", corpus, "--rules", rules, "--save", saved])
    capsys.readouterr()
    assert run_app([*arguments, "--mutate", "--no-command", "--leave-tool-out"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["figures"]["cases"] == 4
    assert data["comparison"]["worse"] == []
    assert data["without_tool"]["average"] == 1.0
    assert data["mutation"]["mutants"] == len(data["survivors"]) + data["mutation"]["noticed"]
    assert set(read_results(Path(saved))) == {
        "rules", "figures", "without_command", "without_tool", "mutation", "cases",
    }  # fmt: skip


def test_the_verb_ends_with_1_for_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = str(rules_folder(tmp_path / "rules"))
    hidden = case_text("hidden", 2, "{exit_code: 0, command: ls}")
    corpus = corpus_folder(tmp_path / "corpus", {**SOUND_CASES, "02-masked/hidden": hidden})
    assert run_app(["test", str(corpus), "--rules", rules]) == 1
    assert "hidden: wanted row 2, got row 0 by clean" in capsys.readouterr().out
    assert run_app(["test", str(corpus), "--rules", rules, "-k", "not hidden"]) == 0
    (corpus / "thresholds.yaml").write_text("rows: 0.9\n", encoding="utf-8")
    (corpus / "02-masked" / "hidden.yaml").write_text(
        hidden.replace("row_alt: []", "row_alt: [0]"), encoding="utf-8"
    )
    assert run_app(["test", str(corpus), "--rules", rules]) == 0
    (corpus / "02-masked" / "hidden.yaml").write_text(
        hidden.replace("row: 2", "row: 3").replace("exit_code: 0", "exit_code: 1"),
        encoding="utf-8",
    )
    capsys.readouterr()
    assert run_app(["test", str(corpus), "--rules", rules]) == 1
    assert "below threshold: rows is 0.8, at least 0.9" in capsys.readouterr().out


def test_the_verb_blesses_only_when_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = str(rules_folder(tmp_path / "rules"))
    corpus = corpus_folder(tmp_path / "corpus", SOUND_CASES)
    path = corpus / "04-command-not-found" / "jqq.yaml"
    assert run_app(["test", str(corpus), "--rules", rules, "--bless"]) == 0
    assert "jqq: (not pinned) -> not-found" in capsys.readouterr().out
    assert "rule:" not in path.read_text("utf-8")
    assert run_app(["test", str(corpus), "--rules", rules, "--bless", "--yes"]) == 0
    assert "  rule: not-found\n" in path.read_text("utf-8")


def test_a_sample_that_fails_fails_the_verb(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = one_row("planted", "{exit: 3, stderr: 'planted'}")
    rules = str(rules_folder(tmp_path / "rules", {"11-rate-limit": row}))
    assert run_app(["test", str(corpus_folder(tmp_path / "c", SOUND_CASES)), "--rules", rules]) == 1
    assert "match of planted is won by unexplained" in capsys.readouterr().out


def test_our_cases_of_a_row_that_is_disabled_are_left_out(tmp_path: Path) -> None:
    rules = rules_folder(tmp_path / "rules")
    pinned = SOUND_CASES["04-command-not-found/jqq"].replace(
        "  row: 4", "  rule: not-found\n  row: 4"
    )
    cases = {**SOUND_CASES, "04-command-not-found/jqq": pinned}
    ours = corpus_folder(tmp_path / "corpus", cases)
    theirs = corpus_folder(tmp_path / "project" / "corpus", cases)
    overlay = overlay_folder(tmp_path / "project" / "rules", {"04-0-own": "disable: [not-found]\n"})
    wanted = dict.fromkeys(
        ("select", "baseline", "save", "bless", "yes", "mutate", "suggest", "no_command",
         "leave_tool_out")
    )  # fmt: skip
    data = testing.TestRun(rules, [overlay], [ours], wanted).data()
    assert (data["failed"], data["figures"]["cases"]) == (False, 3)
    assert data["disabled"] == {"rows": ["not-found"], "cases_left_out": ["jqq"]}
    # A label of the project's own is its own word on what should happen.
    data = testing.TestRun(rules, [overlay], [theirs], wanted).data()
    assert (data["failed"], data["unpinned"]) == (True, ["jqq"])


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["-k", "nosuch"], 5, "none of 4 cases"),
        (["-k", "("], 2, "is no expression"),
        (["--baseline", "nowhere.json"], 2, "can't be read"),
        (["--baseline", "{corpus}"], 2, "can't be read"),
        (["--baseline", "{corpus}/16-prose-exit/ls.yaml"], 2, "no saved results"),
        (["--save", "{corpus}"], 2, "can't be written"),
        (["--save", "nowhere/saved.json"], 2, "no folder 'nowhere'"),
        (["--suggest"], 2, "add --mutate"),
        (["--yes"], 2, "nothing to write"),
        (["/dev/null"], 2, "no such file or folder"),
    ],
)
def test_an_argument_that_is_wrong_is_told_before_anything_is_run(
    words: list[str],
    status: int,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rules = str(rules_folder(tmp_path / "rules"))
    corpus = str(corpus_folder(tmp_path / "corpus", SOUND_CASES))
    # Who gets to the table is too late.
    monkeypatch.setattr(testing, "load_table", lambda *_, **__: pytest.fail("it was run"))
    words = [word.format(corpus=corpus) for word in words]
    assert run_app(["test", corpus, "--rules", rules, *words]) == status
    assert told in capsys.readouterr().err
