"""Broken rule files: one error that names every fault by file, line and column, and no table."""

# One fault a line reads as a table.
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_rules import RULES, add_overlay, row, write_rules

from triage.cache import load_table
from triage.errors import RuleError

WHY = "Written for a test, which says what it is for."

# A chapter as a person would write it; the faults below are put into it at known lines.
CHAPTER = """\
rows:
  - id: first
    row: 3
    modes: [10, 11]
    when:
      exit: 1
      stderr: '^boom'
    do: {kind: rerun, text: Run it again.}
    why: A row of a test that stands first in it.
    match:
      - {exit_code: 1, stderr: boom}
    no_match:
      - {exit_code: 0}
  - id: second
    when: {exit: [2, sigkill]}
    why: A row of a test that stands second in it.
    match: [{exit_code: 2}]
    no_match: [{exit_code: 0}]
"""

Load = Callable[..., RuleError]


@pytest.fixture
def fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Load rules that are broken somewhere and return the one error this must raise."""
    monkeypatch.chdir(tmp_path)

    def load(chapters: Any = CHAPTER, overlays: Any = (), **more: Any) -> RuleError:
        if not isinstance(chapters, dict):
            chapters = {"10-test": chapters}
        root = write_rules(tmp_path / "rules", chapters, **more)
        with pytest.raises(RuleError) as raised:
            load_table(root, overlays=overlays, cache=False)
        return raised.value

    return load


def test_each_missing_key_is_named_once(fault: Load, tmp_path: Path) -> None:
    overlay = tmp_path / "own"
    overlay.mkdir()
    (overlay / "policy.yaml").write_text("about: x\n", encoding="utf-8")
    issues = [str(issue) for issue in fault(overlays=[str(overlay)]).issues]
    missing = [issue for issue in issues if "is missing" in issue]
    assert len(missing) > 2
    assert len(set(missing)) == len(missing)


def test_the_chapter_without_a_fault_loads(tmp_path: Path) -> None:
    table = load_table(write_rules(tmp_path / "rules", {"10-test": CHAPTER}), cache=False)
    assert [item.id for item in table] == ["first", "second"]
    assert table.row(0).modes == (10, 11)


@pytest.mark.parametrize(
    ("before", "after", "place", "what", "remedy"),
    [
        # no YAML at all, or not what a chapter is
        ("  - id: second", "  - id: [second", "15:9", "not YAML", "correct it"),
        ("id: first", "id: first\n    id: other", "3:5", "key `id` twice", "keep one"),
        ("rows:", "rows: &a [*a]\nother:", "1:7", "nested too deeply", "flatten"),
        ("id: first", "id: !!python/name:os.system x", "2:9", "bad value", "quote the value"),
        (CHAPTER, "", "1:1", "null is no mapping", "rules/schema/chapter.schema.json"),
        (CHAPTER, "- a\n", "1:1", "a list is no mapping", "chapter.schema.json"),
        (CHAPTER, "about: nothing\n", "1:1", "key `rows` is missing", "add it"),
        ("rows:", "about: x\nrowz: []\nrows:", "2:1", "unknown key `rowz`", "known here are: about"),
        # a row's own keys
        ("    row: 3", "    severity: high", "3:5", "unknown key `severity`", "known here are: agent"),
        ("    row: 3", "    row: three", "3:10", "'three' is no whole number", "chapter.schema.json"),
        ("    row: 3", "    row: 17", "3:10", "17 is above 16", "schema.json"),
        ("id: first", "id: First Row", "2:9", "does not match", "chapter.schema.json"),
        ("id: second", "id: first", "14:9", "row `first` twice", "the other is rules/table/10-test.yaml:2:9"),
        ("[10, 11]", "[10, 78]", "4:17", "78 is above 77", "schema.json"),
        ("[10, 11]", "[10, 36]", "4:17", "§36 was merged into §10", "a live §"),
        ("    why: A row of a test that stands first in it.\n", "", "2:5", "key `why` is missing", "add it"),
        ("    match: [{exit_code: 2}]\n", "", "14:5", "key `match` is missing", "add it"),
        ("    match: [{exit_code: 2}]", "    match: []", "17:12", "an empty list says nothing", "schema.json"),
        ("match: [{exit_code: 2}]", "match: [{exit: 2}]", "17:13", "key `exit_code` is missing", "add it"),
        ("why: A row of a test that stands first in it.", "why: short", "9:10", "'short' is too short", "characters or more"),
        ("kind: rerun,", "kind: restart,", "8:16", "'restart' is none of 'none', ", "action.schema.json"),
        ("text: Run it again.", "txt: Run it again.", "8:23", "unknown key `txt`", "known here are: argv"),
        ("    do: {", "    retry: {when: sometimes}\n    do: {", "8:19", "'sometimes' is none of", "action.schema.json"),
        # conditions
        ("      exit: 1", "      exits: 1", "6:7", "unknown key `exits`", "agent, all, any, command"),
        ("      exit: 1", "      exit: 1.5", "6:13", "1.5 is no", "chapter.schema.json"),
        ("[2, sigkill]", "[2, '9-1']", "15:18", "`9-1` holds nothing", "write 1-9"),
        ("[2, sigkill]", "[2, sigkil]", "15:18", "`sigkil` is no exit status", "a range such as 129-143"),
        ("stderr: '^boom'", "stderr: 5", "7:15", "5 is no mapping, list or text", "schema.json"),
        ("stderr: '^boom'", "stderr: {pattern: x, set: y}", "7:15", "several forms at once", "keep one"),
        ("stderr: '^boom'", "stderr: {pattern: x, at: tail}", "7:28", "unknown key `at`", "window"),
        ("stderr: '^boom'", "stderr: {pattern: x, window: end}", "7:36", "'end' is none of 'all'", "schema.json"),
        ("stderr: '^boom'", "stderr: '(boom'", "7:15", "'(boom' does not compile: missing )", "correct the pattern"),
        ("stderr: '^boom'", "stderr: [ok, 'a{2,1}']", "7:20", "does not compile", "correct the pattern"),
        ("stderr: '^boom'", "not: [{exit: 2}, {stderr: '*'}]", "7:33", "does not compile", "correct"),
        ("stderr: '^boom'", "stderr: {set: nowhere}", "7:15", "no set of patterns `nowhere`", "known are:"),
        ("stderr: '^boom'", "command: {program: {set: nobody}}", "7:16", "no set of names `nobody`", "known are:"),
        ("stderr: '^boom'", "prompt: oracle", "7:15", "no prompt kind `oracle`", "known are:"),
        ("stderr: '^boom'", "language: [xx]", "7:17", "no language `xx`", "known are:"),
        ("stderr: '^boom'", "is: unheard_of", "7:11", "no predicate `unheard_of`", "known are: none"),
        ("stderr: '^boom'", "http: 42", "7:13", "42 is", "schema.json"),
        ("stderr: '^boom'", "json: {}", "7:13", "an empty mapping says nothing", "schema.json"),
        ("stderr: '^boom'", "any: []", "7:12", "an empty list says nothing", "schema.json"),
        ("    row: 3", "    capture: {a: '(x', b: 'y'}", "3:18", "'(x' does not compile", "correct"),
        ("    row: 3", "    capture: {'a-b': 'y'}", "3:15", "does not match", "schema.json"),
        ("    row: 3", "    modes_by: {exit: {'4': [99]}}", "3:29", "99 is above 77", "schema.json"),
    ],
)  # fmt: skip
def test_a_fault_is_named_where_it_stands(
    fault: Load, before: str, after: str, place: str, what: str, remedy: str
) -> None:
    assert CHAPTER.count(before) >= 1
    error = fault(CHAPTER.replace(before, after, 1))
    assert error.where == f"rules/table/10-test.yaml:{place}", str(error)
    assert what in error.what
    assert remedy in error.remedy
    assert str(error).startswith(f"{error.where}: {error.what}; ")


@pytest.mark.parametrize(
    ("sets", "place", "what"),
    [
        ("about: Patterns for this test alone.\npatterns: [fine, '(']\n", "2:18", "does not compile"),
        ("about: Patterns for this test alone.\nprompts: {pager: [{raw: '['}]}\n", "2:25", "does not compile"),
        ("about: Patterns for this test alone.\nlanguages: {de: ['+']}\n", "2:18", "does not compile"),
        ("about: Patterns for this test alone.\nnames: [a, a]\n", "2:8", "an entry stands there twice"),
        ("names: [a]\n", "1:1", "key `about` is missing"),
        ("about: Patterns for this test alone.\nname: [a]\n", "2:1", "unknown key `name`"),
    ],
)  # fmt: skip
def test_a_set_is_checked_whether_a_row_uses_it_or_not(
    fault: Load, sets: str, place: str, what: str
) -> None:
    error = fault(sets={"odd": sets})
    assert error.where == f"rules/sets/odd.yaml:{place}"
    assert what in error.what


def test_a_context_of_a_status_is_checked_with_a_status_in_it(fault: Load) -> None:
    text = "about: Contexts for this test alone.\npatterns:\n  - 'HTTP {status}'\n  - '({status}'\n"
    error = fault(sets={"http": text})
    assert error.where == "rules/sets/http.yaml:4:5"


def test_predicates_in_a_circle(fault: Load) -> None:
    vocabulary = {
        "one": {"why": WHY, "when": {"is": "two"}},
        "two": {"why": WHY, "when": {"any": [{"exit": 3}, {"not": {"is": "three"}}]}},
        "three": {"why": WHY, "when": {"all": [{"is": "one"}]}},
        "apart": {"why": WHY, "when": {"is": "apart"}},
    }
    error = fault([row("only", {"is": "one"})], vocabulary=vocabulary)
    assert error.where.startswith("rules/vocabulary.yaml:")
    told = [issue.what for issue in error.issues]
    assert told == [
        "predicates in a circle: one -> two -> three -> one",
        "predicates in a circle: apart -> apart",
    ]


def test_a_predicate_of_an_overlay_may_not_take_a_name_of_ours(fault: Load, tmp_path: Path) -> None:
    vocabulary = {"loud": {"why": WHY, "when": {"stderr": "!"}}}
    overlay = add_overlay(tmp_path / "mine", {}, vocabulary=vocabulary)
    error = fault(overlays=[overlay], vocabulary=vocabulary)
    assert error.where == "mine/vocabulary.yaml:1:1"
    assert error.what == "predicate `loud` twice"


def test_several_faults_in_several_files_are_all_told(fault: Load) -> None:
    error = fault(
        {
            "10-one": [row("twin", {"stderr": "("}), row("other", {"exit": "nope"})],
            "20-two": [row("twin", {"is": "nothing"}), row("last", {"stderr": {"set": "none"}})],
        },
        sets={"bad": {"about": "Patterns for this test alone.", "patterns": [")"]}},
    )
    assert sorted(issue.where.split(":")[0] for issue in error.issues) == [
        "rules/sets/bad.yaml", "rules/table/10-one.yaml", "rules/table/10-one.yaml",
        "rules/table/20-two.yaml", "rules/table/20-two.yaml",
    ]  # fmt: skip
    assert f"and {len(error.issues) - 1} more" in str(error)
    assert all(issue.what and issue.remedy for issue in error.issues)


def test_files_that_are_no_yaml_are_all_told_before_anything_else(fault: Load) -> None:
    error = fault({"10-one": "rows: [", "20-two": "rows: {a: 1, a: 2}", "30-three": CHAPTER})
    assert [issue.where.split(":")[0] for issue in error.issues] == [
        "rules/table/10-one.yaml",
        "rules/table/20-two.yaml",
    ]


def test_a_table_without_rows(fault: Load) -> None:
    error = fault([])
    assert error.what == "a table without rows"


def test_a_folder_without_a_table(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"no table/\*\.yaml here; name a folder laid out like"):
        load_table(tmp_path, cache=False)


def test_a_file_that_is_no_utf8(fault: Load, tmp_path: Path) -> None:
    path = tmp_path / "rules" / "table" / "05-latin.yaml"
    path.parent.mkdir(parents=True)
    path.write_bytes("about: gr\n# größe\nrows: []\n".encode("latin-1"))
    error = fault()
    assert error.where == f"{path}:2:1"
    assert error.what == "not UTF-8"


def test_a_disabled_row_must_exist(fault: Load, tmp_path: Path) -> None:
    overlay = add_overlay(
        tmp_path / "mine", {"50-mine": {"disable": ["first", "gone"], "rows": []}}
    )
    error = fault(overlays=[overlay])
    assert error.what == "no row `gone` to disable"
    assert error.where == "mine/table/50-mine.yaml:3:3"


def test_nothing_is_cached_of_rules_that_are_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    broken = CHAPTER.replace("'^boom'", "'('")
    root = write_rules(tmp_path / "rules", {"10-test": broken})
    for _ in range(2):
        with pytest.raises(RuleError):
            load_table(root)
    assert not (tmp_path / "cache").exists()
    (root / "table" / "10-test.yaml").write_text(CHAPTER)
    assert len(load_table(root)) == 2


def test_one_bad_row_among_all_of_ours_stops_the_whole_table(tmp_path: Path) -> None:
    overlay = add_overlay(tmp_path / "mine", {"50-mine": [row("mine", {"stderr": "(?P<x"})]})
    with pytest.raises(RuleError, match="does not compile"):
        load_table(RULES, overlays=[overlay], cache=False)
