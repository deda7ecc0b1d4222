"""The lint finds each defect that is planted in a sound table, and nothing in the sound one."""

from __future__ import annotations

from pathlib import Path

import pytest
from sound_rules import (
    NOTHING,
    SOUND,
    SOUND_CASES,
    case_text,
    corpus_folder,
    one_row,
    overlay_folder,
    rules_folder,
)

from triage.finding import CODES, Finding
from triage.lint import counts, lint_table
from triage.lint_regex import regex_faults

# What is found only where a corpus is to have a case for each row.
CASES_OF = ("no-case", "unneeded")
MATCH = "[{exit_code: 1, command: tool, stderr: 'planted symptom 7'}]"


def codes(findings: list[Finding]) -> set[str]:
    # A small table leaves most modes unreached, and says so.
    return {f.code for f in findings if f.severity != "note"} - {"mode-unreached"}


def planted(tmp_path: Path, text: str, *, corpus: bool = False) -> list[Finding]:
    """The findings of a sound table with one more chapter, rate limits, planted in it."""
    root = rules_folder(tmp_path / "rules", {"11-rate-limit": text})
    cases = corpus_folder(tmp_path / "corpus", SOUND_CASES) if corpus else None
    return lint_table(root, (), cases)


def test_nothing_is_found_in_a_sound_table(tmp_path: Path) -> None:
    root = rules_folder(tmp_path / "rules")
    corpus = corpus_folder(tmp_path / "corpus", SOUND_CASES)
    assert codes(lint_table(root, (), corpus)) == set()


PLANTED = {
    "schema": one_row("planted", "{exit: nonzero, stdrr: 'planted symptom'}"),
    "duplicate": one_row("planted", "{exit: nonzero, stderr: 'planted symptom'}")
    + one_row("again", "{stderr: 'planted symptom', exit: nonzero}").removeprefix("rows:\n"),
    "conflict": one_row("planted", "{exit: nonzero, stderr: 'planted symptom'}")
    + one_row(
        "again", "{stderr: 'planted symptom', exit: nonzero}", modes="[53]"
    ).removeprefix("rows:\n"),
    "shadowed": one_row("planted", "{exit: 1-9, stderr: 'planted symptom'}")
    + one_row(
        "again", "{exit: [3, 5], stderr: ['planted symptom'], command: {program: tool}}"
    ).removeprefix("rows:\n"),
    "impossible": one_row("planted", "{all: [{exit: zero}, {exit: 1-9}]}"),
    "sample": one_row("planted", "{exit: nonzero, stderr: 'another symptom'}"),
    "action": one_row(
        "planted", "{exit: nonzero, stderr: 'planted symptom'}",
        do="{kind: wait_for_lock, text: 'wait for {holder}'}",
    ),
    "regex-nested": one_row(
        "planted", r"{exit: nonzero, stderr: '^planted (?:\w+[ ]?)*symptom(?: \d)?$'}"
    ),
    "regex-gaps": one_row("planted", "{exit: nonzero, stderr: '^planted.*sym.*m'}"),
    "regex-bounds": one_row(
        "planted", r"{exit: nonzero, stderr: '^planted[^\n]{0,400}sym[^\n]{0,400}m'}"
    ),
    "regex-start": one_row("planted", r"{exit: nonzero, stderr: '\S+ symptom'}"),
    "bare-number": one_row(
        "planted", r"{exit: nonzero, stderr: '\b403\b|planted symptom'}"
    ),
    "bare-word": one_row(
        "planted", r"{exit: nonzero, stderr: '\bdenied\b|planted symptom'}"
    ),
    "waiver": one_row(
        "planted", "{exit: nonzero, stderr: 'planted symptom'}",
        waive="{bare-word: 'there was a bare word here once'}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", list(PLANTED))
def test_a_planted_defect_is_found(code: str, tmp_path: Path) -> None:
    findings = planted(tmp_path, PLANTED[code])
    assert code in codes(findings)
    found = next(f for f in findings if f.code == code)
    assert found.fails
    assert "11-rate-limit.yaml:" in found.where
    assert found.what
    assert found.remedy
    # Only what was planted, and what follows from it.
    assert {f.rule for f in findings if f.fails and f.code != "mode-unreached"} <= {
        "planted", "again", "11-rate-limit.yaml",
    }  # fmt: skip


def test_a_mode_that_is_a_stub_is_refused(tmp_path: Path) -> None:
    text = one_row("planted", "{exit: nonzero, stderr: 'planted symptom'}", modes="[36]")
    assert [(f.code, "§10" in f.what) for f in planted(tmp_path, text)] == [("schema", True)]


def test_a_row_that_no_case_reaches_is_found(tmp_path: Path) -> None:
    text = one_row("planted", "{exit: nonzero, stderr: 'planted symptom'}")
    findings = planted(tmp_path, text, corpus=True)
    assert [f.rule for f in findings if f.code == "no-case"] == ["planted"]


def test_a_condition_that_no_case_needs_is_found(tmp_path: Path) -> None:
    text = one_row(
        "planted",
        "{exit: nonzero, stderr: 'planted symptom', not: {stderr: 'but it is all right'}}",
    )
    findings = planted(tmp_path, text, corpus=True)
    needless = [f for f in findings if f.code == "unneeded" and f.rule == "planted"]
    assert any("drop not" in f.what for f in needless)
    assert not any("drop stderr: planted symptom" in f.what for f in needless)


def test_a_row_that_always_comes_second_is_found_by_its_witnesses(tmp_path: Path) -> None:
    first = one_row("wide", "{exit: nonzero, stderr: 'symptom'}")
    second = one_row("planted", "{exit: nonzero, stderr: 'planted sym'}", modes="[53]")
    findings = planted(tmp_path, first + second.removeprefix("rows:\n"))
    found = [f for f in findings if f.code == "shadowed"]
    assert [f.rule for f in found] == ["planted"]
    assert "`wide`" in found[0].what


def test_a_bad_sample_is_a_finding_and_no_exception(tmp_path: Path) -> None:
    text = one_row(
        "planted", "{exit: nonzero, stderr: 'planted symptom'}",
        match="[{exit_code: 1, stderr: 7}]",
    )  # fmt: skip
    findings = planted(tmp_path, text)
    assert [f.code for f in findings] == ["sample"]
    assert "stderr" in findings[0].what


def test_a_bad_case_is_a_finding_and_no_exception(tmp_path: Path) -> None:
    cases = {**SOUND_CASES, "16-prose-exit/bad": case_text("bad", 16, "{stdout: x}")}
    root = rules_folder(tmp_path / "rules")
    findings = lint_table(root, (), corpus_folder(tmp_path / "corpus", cases))
    found = next(f for f in findings if f.code == "case")
    assert "exit_code" in found.what
    assert "bad.yaml:" in found.where


def test_a_waived_finding_does_not_fail(tmp_path: Path) -> None:
    reason = "only this tool prints the word"
    text = one_row(
        "planted", r"{exit: nonzero, stderr: '\bdenied\b|planted symptom'}",
        waive=f"{{bare-word: '{reason}'}}",
    )  # fmt: skip
    findings = planted(tmp_path, text)
    waived = [f for f in findings if f.waived]
    assert [(f.code, f.waived) for f in waived] == [("bare-word", reason)]
    assert codes([f for f in findings if f.fails]) == set()
    assert counts(findings)["waived"] == 1


def test_a_waiver_of_no_known_code_is_found(tmp_path: Path) -> None:
    text = one_row(
        "planted", "{exit: nonzero, stderr: 'planted symptom'}",
        waive="{ugly: 'this is just how it is here'}",
    )  # fmt: skip
    found = [f for f in planted(tmp_path, text) if f.code == "waiver"]
    assert "ugly" in found[0].what


def test_an_overlay_may_take_our_sample_but_not_lose_its_own(tmp_path: Path) -> None:
    root = rules_folder(tmp_path / "rules")
    overlay = tmp_path / "overlay"
    (overlay / "table").mkdir(parents=True)
    row = one_row(
        "ours", "{exit: 127, command: {program: jqq}}", row="4", modes="[20]",
        match="[{exit_code: 127, command: jqq}]", no_match=f"[{NOTHING}]",
    )  # fmt: skip
    (overlay / "table" / "03-ours.yaml").write_text(row, encoding="utf-8")
    assert "sample" not in codes(lint_table(root, (overlay,)))
    wrong = row.replace("command: jqq}]", "command: jq}]")
    (overlay / "table" / "03-ours.yaml").write_text(wrong, encoding="utf-8")
    assert "sample" in codes(lint_table(root, (overlay,)))


# A row that only `not-found` above it keeps from its no_match sample.
NEIGHBOUR = one_row(
    "neighbour", "{exit: 127}", row="4", modes="[20]", match="[{exit_code: 127, command: jqq}]",
    no_match="[{exit_code: 127, command: jqq, stderr: 'bash: jqq: command not found'}]",
)  # fmt: skip


def test_a_disabled_row_fails_no_sample_of_its_neighbours(tmp_path: Path) -> None:
    root = rules_folder(tmp_path / "rules", {"05-neighbour": NEIGHBOUR})
    assert codes(lint_table(root)) == set()
    overlay = overlay_folder(tmp_path / "o" / "rules", {"00-own": "disable: [not-found]\n"})
    findings = lint_table(root, (overlay,))
    assert codes(findings) == set()
    assert [f.rule for f in findings if f.code == "disabled"] == ["not-found"]
    # A sample that fails for another reason still does.
    wrong = NEIGHBOUR.replace("match: [{exit_code: 127", "match: [{exit_code: 126")
    (root / "table" / "05-neighbour.yaml").write_text(wrong, encoding="utf-8")
    assert codes(lint_table(root, (overlay,))) == {"sample"}


def test_what_an_overlay_takes_over_is_not_shadowed(tmp_path: Path) -> None:
    root = rules_folder(tmp_path / "rules")
    same = one_row(
        "own", "{exit: 127, stderr: 'command not found$'}", row="4", modes="[20]",
        match="[{exit_code: 127, command: jqq, stderr: 'bash: jqq: command not found'}]",
    )  # fmt: skip
    overlay = overlay_folder(tmp_path / "overlay", {"00-own": same})
    assert codes(lint_table(root, (overlay,))) == set()


def test_a_corpus_is_asked_for_the_rows_beside_it_alone(tmp_path: Path) -> None:
    root = rules_folder(tmp_path / "rules")
    own = one_row(
        "own", "{exit: 3, stderr: 'planted symptom'}",
        match="[{exit_code: 3, command: tool, stderr: 'planted symptom 7'}]",
    )  # fmt: skip
    overlay = overlay_folder(tmp_path / "project" / "rules", {"11-own": own})
    stranger = case_text("odd", 16, "{exit_code: 5, command: odd}", tool="odd")
    corpus = corpus_folder(tmp_path / "project" / "corpus", {"16-prose-exit/odd": stranger})
    bare = [f.rule for f in lint_table(root, (overlay,), corpus) if f.code in CASES_OF]
    assert set(bare) == {"own"}
    ours = corpus_folder(tmp_path / "corpus", SOUND_CASES)
    assert not [f for f in lint_table(root, (overlay,), ours) if f.code in CASES_OF]


def test_a_row_behind_a_later_overlap_is_a_note(tmp_path: Path) -> None:
    corpus = corpus_folder(tmp_path / "corpus", SOUND_CASES)
    findings = lint_table(rules_folder(tmp_path / "rules"), (), corpus)
    overlap = next(f for f in findings if f.code == "overlap" and f.rule == "file-missing")
    assert overlap.severity == "note"
    assert "`unexplained`" in overlap.what


def test_each_finding_has_a_known_code_and_a_place(tmp_path: Path) -> None:
    findings = lint_table(rules_folder(tmp_path / "rules"), (), None)
    assert findings
    for finding in findings:
        assert CODES[finding.code][0] == finding.severity
        assert finding.where.rsplit(":", 2)[1].isdigit()
        assert str(finding).startswith(finding.where)
        assert finding.to_dict()["rule"] == finding.rule


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        (r"^(?:\w+)+x", "regex-nested"),
        (r"^(?:\w+ ?)*$", "regex-nested"),
        (r"^(?:[A-Z ]*[^\n]*\n?){2,}", "regex-nested"),
        (r"^([a-z]+|[a-z0-9]*)*x", "regex-nested"),
        (r"^a.*b.*c", "regex-gaps"),
        (r"^a[^\n]{0,300}b[^\n]{0,300}", "regex-bounds"),
        (r"\S+: not found", "regex-start"),
        (r"\b[\w.-]+: x", "regex-start"),
        (r"^\s*at ", "regex-start"),
    ],
)
def test_a_costly_pattern_is_seen(pattern: str, code: str) -> None:
    assert code in [fault[0] for fault in regex_faults(pattern)]


@pytest.mark.parametrize(
    "pattern",
    [
        r"^(?:\w+ )*x",
        r"^(?:[A-Z]\w+\.)*x",
        r"^(?:(?:\d+,)+ )*x",
        r"foo.{0,80}bar",
        r'"[^"]*": "[^"]*"',
        r"^[^\n]*\n[^\n]*x",
        r"\b\w+ failed",
        r"^[ \t]*at ",
        r"(?<=x)\S+",
        r"^(?:❯ [^\n]*\n){2,}",
        r"^(?>\w+)+x",
    ],
)
def test_an_ordinary_pattern_is_left_alone(pattern: str) -> None:
    assert regex_faults(pattern) == []


def test_no_row_of_the_sound_table_is_there_for_nothing() -> None:
    assert sum(text.count("- id:") for text in SOUND.values()) == 4
