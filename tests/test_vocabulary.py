"""docs/vocabulary.md: every word is on the page, and its example means what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_rules import RULES, row

from triage.cache import load_table
from triage.engine import signals_for
from triage.exits import EXIT_CLASSES
from triage.match import WORDS
from triage.samples import row_samples
from triage.table import Table

PAGE = (RULES.parent / "docs" / "vocabulary.md").read_text("utf-8")
CHAPTER = json.loads((RULES / "schema" / "chapter.schema.json").read_text("utf-8"))["$defs"]
WHEN = CHAPTER["when"]["properties"]
HEADINGS = re.findall(r"^### (\S+)$", PAGE, re.MULTILINE)
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def section(word: str) -> str:
    return PAGE.split(f"\n### {word}\n")[1].split("\n#")[0]


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """All examples of the page as the rows of one table that has our sets and predicates."""
    folder = tmp_path_factory.mktemp("page")
    for path in RULES.iterdir():
        if path.name != "table":
            (folder / path.name).symlink_to(path)
    rows = [row(f"example-{n}", **yaml.safe_load(text)) for n, text in enumerate(EXAMPLES)]
    (folder / "table").mkdir()
    (folder / "table" / "10-page.yaml").write_text(yaml.safe_dump({"rows": rows}), "utf-8")
    return load_table(folder, cache=False)


def test_every_word_has_its_section_and_no_other_has() -> None:
    assert sorted(HEADINGS) == sorted(WHEN)
    # What the compiler turns into other words is the only difference.
    assert set(WORDS) - set(HEADINGS) == set()
    assert set(HEADINGS) - set(WORDS) == {"stdout", "stderr", "error", "prompt", "http"}


@pytest.mark.parametrize("word", HEADINGS)
def test_a_section_has_one_example_that_uses_its_word(word: str) -> None:
    (example,) = re.findall(r"^```yaml\n(.*?)^```$", section(word), re.MULTILINE | re.DOTALL)
    assert word in yaml.safe_load(example)["when"]


@pytest.mark.parametrize("word", [word for word in WHEN if "properties" in WHEN[word]])
def test_every_key_of_a_word_is_in_its_section(word: str) -> None:
    told = set(re.findall(r"`(\w+)`", section(word)))
    assert set(WHEN[word]["properties"]) <= told


def test_streams_windows_and_tests_are_on_the_page() -> None:
    told = set(re.findall(r"`(\w+)`", PAGE))
    assert set(CHAPTER["stream"]["enum"]) <= told
    assert set(CHAPTER["window"]["enum"]) <= told
    assert set(CHAPTER["test"]["oneOf"][2]["properties"]) <= told
    assert set(CHAPTER["kind"]["enum"]) <= told
    assert set(CHAPTER["text"]["oneOf"][1]["properties"]) <= told


def test_the_flags_the_page_names_are_those_of_the_patterns() -> None:
    import regex

    from triage.pattern import FLAG_NAMES, compile_pattern

    compiled = compile_pattern("x").flags
    assert all(compiled & getattr(regex, name) for name in FLAG_NAMES)
    assert all(name in PAGE for name in FLAG_NAMES)


def test_exit_classes_the_page_names_exist() -> None:
    told = set(re.findall(r"`([a-z_]+)`", section("exit"))) - {"null", "triage"}
    assert told <= EXIT_CLASSES
    assert len(told) >= 12


def test_prompt_kinds_on_the_page_are_all_there_are() -> None:
    kinds: set[str] = set()
    for path in sorted((RULES / "sets").glob("*.yaml")):
        kinds |= set(yaml.safe_load(path.read_text("utf-8")).get("prompts", {}))
    assert set(re.findall(r"`([a-z_]+)`", section("prompt"))) - {"prompts"} == kinds


def test_agent_facts_on_the_page_exist(table: Table) -> None:
    from triage.agents.formats import load_formats
    from triage.agents.stream import RunReader

    run = RunReader(load_formats().named("codex"), load_formats()).finish(0)
    told = set(re.findall(r"`([a-z_]+)`", section("agent"))) - {"facts"}
    assert told <= set(run.facts())


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_holds_for_its_captures_and_not_for_the_others(
    examples: Table, number: int
) -> None:
    written: dict[str, Any] = yaml.safe_load(EXAMPLES[number])
    found = examples.row(number)
    for kind, capture in row_samples(written, f"example {number}"):
        signals = signals_for(capture, examples)
        holds = examples.matcher.holds(found.when, signals, [])
        assert holds is (kind == "match"), (kind, capture)


def test_the_page_stays_a_page() -> None:
    assert len(PAGE.splitlines()) < 500
    assert not [line for line in PAGE.splitlines() if len(line) > 120]
    assert Path(RULES.parent / "triage" / "exits.py").exists()
