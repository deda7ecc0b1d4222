"""Samples for what nobody notices: each does notice it, and lands in its row and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from sound_rules import SOUND_CASES, corpus_folder, rules_folder

from triage.cache import load_table
from triage.cases import load_cases
from triage.lint import lint_table
from triage.mutate import mutate
from triage.pattern import compile_pattern
from triage.pattern_text import example_texts
from triage.rulebook import Rulebook, load_rulebook
from triage.sample_writer import flow_line, write_samples
from triage.suggest import suggest
from triage.witness import Gathered, gather

CHAPTER = """\
rows:
  - id: many-parts
    row: 11
    modes: [19]
    when:
      exit: [nonzero, unknown]
      any:
        - stderr: '\\bslow down, (?:friend|you)\\b'
        - stdout: '^\\d{3} too many'
          command: {program: [tool, other], flags: [-x, --long]}
        - json: {code: TOO_MANY}
      not:
        - stderr: '^never mind$'
        - timing: {timed_out: true}
    why: A row with parts that its one sample does not need.
    match:
      - {exit_code: 1, command: tool,
         stderr: 'slow down, friend'}
    no_match:
      - {exit_code: 1, command: tool, stderr: 'hurry up'}

  - id: behind-it
    row: 11
    modes: [31]
    when: {exit: nonzero, stderr: 'down and out'}
    why: A row that stands behind another and is not kept apart.
    match: [{exit_code: 1, command: tool, stderr: 'down and out'}]
    no_match: [{exit_code: 0, command: tool, stderr: 'down and out'}]
"""


def gathered_from(root: Path, corpus: Path) -> tuple[Rulebook, Gathered]:
    rulebook = load_rulebook(root)
    return rulebook, gather(load_table(root), rulebook, load_cases(corpus))


def test_what_nobody_noticed_is_noticed_once_the_samples_are_written(tmp_path: Path) -> None:
    root = rules_folder(tmp_path / "rules", {"11-rate-limit": CHAPTER})
    corpus = corpus_folder(tmp_path / "corpus", SOUND_CASES)
    rulebook, gathered = gathered_from(root, corpus)
    before = mutate(rulebook, gathered)
    mine = [m for m in before.survivors if m.target in ("many-parts", "behind-it")]
    assert len(mine) >= 10
    found = list(suggest(rulebook, gathered, mine))
    noticed = [mutant for item in found for mutant in item.notices]
    assert len(noticed) == len({id(mutant) for mutant in noticed})
    missed = [mutant.what for mutant in mine if mutant not in noticed]
    # Nothing is printed by the sample's branch that the row below could take too.
    assert missed == []
    # The second row's lists are in flow style, and are left alone.
    files = {row.id: Path(row.source.name) for row in rulebook.rows}
    written = [item for item in found if item.rule == "many-parts"]
    assert write_samples(found, files) == len(written)
    after = mutate(*gathered_from(root, corpus))
    assert {m.what for m in after.survivors if m.target == "many-parts"} == set()
    assert after.score > before.score
    codes = {f.code for f in lint_table(root, (), corpus) if f.severity == "error"}
    assert codes == set()


def test_written_samples_leave_the_rest_of_the_file_alone(tmp_path: Path) -> None:
    root = rules_folder(tmp_path / "rules", {"11-rate-limit": CHAPTER})
    rulebook, gathered = gathered_from(root, corpus_folder(tmp_path / "c", SOUND_CASES))
    mine = [m for m in mutate(rulebook, gathered).survivors if m.target == "many-parts"]
    found = list(suggest(rulebook, gathered, mine))
    path = root / "table" / "11-rate-limit.yaml"
    write_samples(found, {"many-parts": path})
    lines = path.read_text("utf-8").split("\n")
    added = [line for line in lines if "# notices: " in line]
    assert len(added) == len(found)
    assert "\n".join(line for line in lines if line not in added) == CHAPTER
    row = yaml.safe_load("\n".join(lines))["rows"][0]
    assert len(row["match"]) + len(row["no_match"]) == 2 + len(found)
    assert all(re.match(r"      - \{exit_code: ", line) for line in added)


def test_a_sample_is_one_line_whatever_it_holds(tmp_path: Path) -> None:
    root = rules_folder(tmp_path / "rules", {"11-rate-limit": CHAPTER})
    rulebook, gathered = gathered_from(root, corpus_folder(tmp_path / "c", SOUND_CASES))
    for item in suggest(rulebook, gathered, mutate(rulebook, gathered).survivors):
        line = flow_line(item)
        assert "\n" not in line
        assert yaml.safe_load(line)[0] == dict(item.sample)


def test_what_was_really_printed_comes_before_what_is_made_up(tmp_path: Path) -> None:
    printed = """\
  - id: never-minded
    row: 11
    modes: [53]
    when: {exit: 7, stderr: '^never mind$'}
    why: A row whose sample prints what the first row must not see.
    match:
      - {exit_code: 7, command: tool, stderr: "tool: it is late\\nnever mind\\nbye"}
    no_match: [{exit_code: 0, command: tool}]
"""
    root = rules_folder(tmp_path / "rules", {"11-rate-limit": CHAPTER + printed})
    rulebook, gathered = gathered_from(root, corpus_folder(tmp_path / "c", SOUND_CASES))
    mine = [m for m in mutate(rulebook, gathered).survivors if m.target == "many-parts"]
    found = next(
        item
        for item in suggest(rulebook, gathered, mine)
        if any("never mind" in mutant.what for mutant in item.notices)
    )
    # The own sample, with the one line of the other that the condition finds.
    assert found.sample["stderr"] == "slow down, friend\nnever mind"
    assert found.sample["command"] == "tool"


@pytest.mark.parametrize(
    "pattern",
    [
        r"\bslow down, (?:friend|you)\b",
        r"^\d{3} too many$",
        r"(?-i:Killed)(?: \(core dumped\))?",
        r"[^\s:]{2,}: not found",
        r"^(?!never)[a-z]+ mind",
        r"\S+@\S+\.(?:com|org)",
        r"[\x1b]\[\?25l",
        r"größe \w+",
    ],
)
def test_a_pattern_finds_its_own_examples(pattern: str) -> None:
    texts = example_texts(pattern)
    assert texts
    assert all(compile_pattern(pattern).search(text) for text in texts)
    assert len(set(texts)) == len(texts) <= 3


@settings(max_examples=80)
@given(st.lists(st.text("abcdef xyz019.-", min_size=1, max_size=8), min_size=1, max_size=4))
def test_a_choice_of_words_has_an_example_for_some(words: list[str]) -> None:
    pattern = "(?:" + "|".join(map(re.escape, words)) + ")"
    if any(word.strip() for word in words[:3]):
        assert any(word in text for text in example_texts(pattern) for word in words)
