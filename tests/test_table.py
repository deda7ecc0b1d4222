"""The table in memory, and what a project's and a user's own rules may do to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_rules import add_overlay, row, write_rules

from triage.cache import load_table
from triage.engine import classify
from triage.errors import RuleError
from triage.model import Capture
from triage.overlays import find_overlays, project_folders
from triage.table import VERSION, Table

FAILED = Capture(exit_code=1, stderr="boom: pear\n", command="tool x")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return write_rules(
        tmp_path / "rules",
        {
            "10-fruit": [row("pear", {"stderr": {"set": "fruit"}}, row=6, modes=[1, 14])],
            "20-rest": [row("failed", {"exit": "nonzero"}), row("fine", {})],
        },
        sets={"fruit": {"about": "Fruit for this test alone.", "patterns": ["apple", "pear"]}},
        vocabulary={"loud": {"why": "A predicate for this test alone.", "when": {"stderr": "!"}}},
    )


def load(rules: Path, *overlays: Path) -> Table:
    return load_table(rules, overlays=overlays, cache=False)


def test_rows_stand_in_the_order_of_chapters(rules: Path) -> None:
    table = load(rules)
    assert [(item.number, item.chapter, item.id) for item in table] == [
        (0, "10-fruit", "pear"),
        (1, "20-rest", "failed"),
        (2, "20-rest", "fine"),
    ]
    assert len(table) == 3
    assert table.last_resort.id == "fine"
    first = table.row(0)
    assert (first.row, first.modes, first.verdict, first.flags) == (6, (1, 14), "failure", ())
    assert first is table.row(0)
    with pytest.raises(AttributeError):
        first.modes = ()  # type: ignore[misc]


def test_a_table_knows_its_modes_policy_bundles_and_effects(rules: Path) -> None:
    table = load(rules)
    assert table.mode(10).slug == "interactivity"
    assert table.mode(10) is table.mode(10)
    assert table.policy is table.policy
    assert all(budget >= 1 for budget in table.policy.budgets.values())
    assert "seed" in table.bundles["flavours"]
    assert table.effects is table.effects
    assert list(table.predicate_names) == ["loud"]


def test_info_is_what_a_verdict_says_of_its_table(rules: Path, tmp_path: Path) -> None:
    mine = add_overlay(tmp_path / "mine", {"10-fruit": [row("plum", {"stderr": "plum"})]})
    plain, more = load(rules), load(rules, mine)
    assert plain.info() == {"hash": plain.hash, "version": VERSION, "rows": 3, "overlays": []}
    assert more.info() == {
        "hash": more.hash,
        "version": VERSION,
        "rows": 4,
        "overlays": [str(mine)],
    }
    assert plain.hash != more.hash
    assert classify(FAILED, more).table == more.info()


def test_a_copy_with_another_prefilter_is_the_same_table(rules: Path) -> None:
    table = load(rules)
    copy = table.with_prefilter("off")
    assert copy.info() == table.info()
    assert classify(FAILED, copy).to_dict() == classify(FAILED, table).to_dict()


# Overlays


def test_chapters_of_an_overlay_sort_among_ours(rules: Path, tmp_path: Path) -> None:
    mine = add_overlay(
        tmp_path / "mine",
        {
            "05-early": [row("early", {"exit": 77})],
            "10-fruit": [row("plum", {"stderr": "plum"})],
            "15-between": [row("between", {"exit": 78})],
            "99-late": [row("late", {"exit": 79})],
        },
    )
    assert [item.id for item in load(rules, mine)] == [
        "early", "pear", "plum", "between", "failed", "fine", "late",
    ]  # fmt: skip


def test_a_row_of_an_overlay_wins_where_it_stands(rules: Path, tmp_path: Path) -> None:
    before = add_overlay(tmp_path / "a", {"05-mine": [row("mine", {"stderr": "^boom"})]})
    behind = add_overlay(tmp_path / "b", {"30-mine": [row("mine", {"stderr": "^boom"})]})
    assert classify(FAILED, load(rules, before)).rule == "mine"
    verdict = classify(FAILED, load(rules, behind))
    assert verdict.rule == "pear"
    assert "mine" in [item["rule"] for item in verdict.also]


def test_an_overlay_takes_rows_out(rules: Path, tmp_path: Path) -> None:
    mine = add_overlay(tmp_path / "mine", {"50-mine": {"disable": ["pear"], "rows": []}})
    table = load(rules, mine)
    assert [item.id for item in table] == ["failed", "fine"]
    assert classify(FAILED, table).rule == "failed"
    assert classify(FAILED, load(rules)).rule == "pear"


def test_an_overlay_may_put_a_row_in_the_place_of_one_it_takes_out(
    rules: Path, tmp_path: Path
) -> None:
    better: dict[str, Any] = {"disable": ["pear"], "rows": [row("my-pear", {"stderr": "pear"})]}
    table = load(rules, add_overlay(tmp_path / "mine", {"10-fruit": better}))
    assert [item.id for item in table] == ["my-pear", "failed", "fine"]


def test_a_set_of_an_overlay_adds_to_ours(rules: Path, tmp_path: Path) -> None:
    plum = {"about": "More fruit for this test alone.", "patterns": ["plum"]}
    mine = add_overlay(tmp_path / "mine", {}, sets={"fruit": plum})
    capture = Capture(exit_code=1, stderr="a plum")
    assert classify(capture, load(rules)).rule == "failed"
    assert classify(capture, load(rules, mine)).rule == "pear"


def test_an_overlay_may_use_our_predicates_and_bring_its_own(rules: Path, tmp_path: Path) -> None:
    mine = add_overlay(
        tmp_path / "mine",
        {"05-mine": [row("mine", {"is": ["loud", "late"]})]},
        vocabulary={"late": {"why": "Another one for this test alone.", "when": {"exit": 9}}},
    )
    table = load(rules, mine)
    assert classify(Capture(exit_code=9, stderr="no!"), table).rule == "mine"
    assert classify(Capture(exit_code=9, stderr="no"), table).rule == "failed"


def test_of_two_overlays_the_later_stands_behind_and_both_are_named(
    rules: Path, tmp_path: Path
) -> None:
    user = add_overlay(tmp_path / "user", {"05-mine": [row("of-the-user", {"exit": 1})]})
    project = add_overlay(tmp_path / "project", {"05-mine": [row("of-the-project", {"exit": 1})]})
    table = load(rules, user, project)
    assert [item.id for item in table][:2] == ["of-the-user", "of-the-project"]
    assert table.info()["overlays"] == [str(user), str(project)]


@pytest.mark.parametrize(
    ("chapter", "what", "line"),
    [
        ([row("pear", {"exit": 1})], "row `pear` twice", "2:7"),
        ([row("x", {"is": "nowhere"})], "no predicate `nowhere`", "4:9"),
        ({"disable": ["plum"], "rows": []}, "no row `plum` to disable", "2:3"),
    ],
)  # fmt: skip
def test_a_conflict_is_an_error_that_names_the_overlay(
    rules: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    chapter: Any,
    what: str,
    line: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = add_overlay(tmp_path / "mine", {"05-mine": chapter})
    with pytest.raises(RuleError) as raised:
        load(rules, mine)
    (issue,) = raised.value.issues
    assert what in issue.what
    assert issue.where == f"mine/table/05-mine.yaml:{line}"


def test_a_folder_without_chapters_changes_nothing_but_the_list(
    rules: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    table = load(rules, tmp_path / "empty")
    assert [item.id for item in table] == [item.id for item in load(rules)]
    assert table.info()["overlays"] == [str(tmp_path / "empty")]


# Where overlays are found


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "project" / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project" / "deep" / "er")
    return tmp_path


def test_no_overlay_where_there_is_none(places: Path) -> None:
    assert find_overlays() == ()


def test_the_user_s_overlay_comes_before_the_nearest_project_s(places: Path) -> None:
    user = places / "config" / "triage" / "rules"
    outer = places / ".triage" / "rules"
    inner = places / "project" / ".triage" / "rules"
    for folder in (user, outer):
        folder.mkdir(parents=True)
    assert find_overlays() == (str(user), str(outer))
    inner.mkdir(parents=True)
    assert find_overlays() == (str(user), str(inner))


def test_a_project_s_corpus_is_found_as_its_rules_are(places: Path) -> None:
    outer, inner = places / ".triage", places / "project" / ".triage"
    assert project_folders() == (None, None)
    (outer / "corpus").mkdir(parents=True)
    assert project_folders() == (None, str(outer / "corpus"))
    (outer / "rules").mkdir()
    assert project_folders() == (str(outer / "rules"), str(outer / "corpus"))
    # The cases above are about other rules than these.
    (inner / "rules").mkdir(parents=True)
    assert project_folders() == (str(inner / "rules"), None)
    (inner / "corpus").mkdir()
    assert project_folders() == (str(inner / "rules"), str(inner / "corpus"))


def test_without_a_configuration_folder_the_home_s_is_used(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = places / "home" / ".config" / "triage" / "rules"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(places / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert find_overlays() == (str(home),)
    # A relative path names no place.
    monkeypatch.setenv("XDG_CONFIG_HOME", "config")
    assert find_overlays() == (str(home),)
    monkeypatch.delenv("HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    assert find_overlays() == ()


def test_a_folder_that_is_gone_has_no_overlay(places: Path) -> None:
    gone = places / "gone"
    gone.mkdir()
    import os

    os.chdir(gone)
    gone.rmdir()
    assert find_overlays() == ()


def test_one_folder_is_found_once(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shared = places / "project" / ".triage" / "rules"
    shared.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(places / "nowhere"))
    assert find_overlays() == (str(shared),)


def test_rules_without_a_policy_of_their_own_go_by_ours(tmp_path: Path) -> None:
    folder = write_rules(tmp_path / "rules", {"16-prose-exit": [row("all", {"exit": "nonzero"})]})
    (folder / "policy.yaml").unlink()
    (folder / "bundle.yaml").unlink()
    verdict = classify(Capture(exit_code=1, command="ls"), load_table(folder, cache=False))
    assert verdict.rule == "all"
