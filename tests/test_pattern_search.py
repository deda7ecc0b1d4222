"""Two engines, one meaning: `re` for short texts, `regex` with its clock for everything else."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.model import Capture
from triage.pattern import compile_pattern
from triage.pattern_search import Patterns, quick_sign
from triage.regex_cost import quick_chars
from triage.regex_shape import BEGIN, EDGE, HELD, branches, overlap, parsed, stays_on_a_line
from triage.rulebook import load_rulebook
from triage.signals import Signals
from triage.table import Table

FLAGS = re.ASCII | re.IGNORECASE | re.MULTILINE


def signals() -> Signals:
    return Signals(Capture(exit_code=1))


def patterns(source: str, size: int) -> Patterns:
    return Patterns([source], quick_sign(size))


def finds(matches: Iterator[Any]) -> list[tuple[tuple[int, int], tuple[Any, ...]]]:
    return [(match.span(), match.groups()) for match in matches]


SIGNS = re.compile(r"\\[a-zA-Z]|[\\^$()?:|*+\[\]]")
ODD = ["\n", "\r\n", " ", ": ", "42", "\x0b\x0c\x1c\x85", "éſK", "ERROR", "\u00a0"]


def texts(sources: list[str]) -> st.SearchStrategy[str]:
    """Texts that meet the table's patterns: what those are written of, and what engines may
    take for different things."""
    piece = st.one_of(
        st.sampled_from(sources).map(lambda source: SIGNS.sub(" ", source)),
        st.sampled_from(ODD),
        st.text(max_size=5),
    )
    return st.lists(piece, max_size=6).map("".join)


@settings(max_examples=150)
@given(data=st.data(), start=st.integers(0, 400), end=st.integers(0, 400))
def test_both_engines_find_the_same(
    table: Table, data: st.DataObject, start: int, end: int
) -> None:
    sources = list(table.section("hot")["patterns"])
    text = data.draw(texts(sources))
    for source in data.draw(st.lists(st.sampled_from(sources), min_size=20, max_size=20)):
        if quick_chars(source):
            ours, theirs = re.compile(source, FLAGS), compile_pattern(source)
            assert finds(ours.finditer(text, start, end)) == finds(
                theirs.finditer(text, start, end)
            ), source


@settings(max_examples=150)
@given(
    data=st.data(),
    cut=st.integers(0, 40),
    times=st.integers(1, 12),
    longest=st.sampled_from([1, 9**9]),
)
def test_a_search_by_lines_finds_the_same(
    table: Table, data: st.DataObject, cut: int, times: int, longest: int
) -> None:
    hot = table.section("hot")
    sources, clauses, lines = list(hot["patterns"]), list(hot["clauses"]), hot["lines"]
    picked = data.draw(st.lists(st.sampled_from(range(len(sources))), min_size=9, max_size=9))
    parts = st.one_of(
        texts([sources[pid] for pid in picked]),
        # What a picked pattern needs, so that there is something to find.
        st.sampled_from([lit for pid in picked for some in clauses[pid] for lit in some] or ["x"]),
        st.sampled_from(["\n", "\n\n", "İ", " "]),
    )
    text = (data.draw(st.lists(parts, max_size=12).map("".join)) + "\n") * times
    seen = Signals(Capture(exit_code=1, stderr=text))
    text = seen.stderr.text
    by_lines = Patterns(sources, hot["quick"], clauses, lines)
    with pytest.MonkeyPatch.context() as patch:
        # Of a longer text that is not ASCII only an outline is kept.
        patch.setattr("triage.literals._SCANNED", longest)
        for whole in (Patterns(sources, hot["quick"]), Patterns(sources)):
            for pid in picked:
                asked = pid, text, cut, max(cut, len(text) - cut)
                assert by_lines.search(*asked, seen) == whole.search(*asked, seen), sources[pid]
                assert by_lines.find_all(*asked, 400, seen) == whole.find_all(*asked, 400, seen)
                assert by_lines.groups(*asked, seen) == whole.groups(*asked, seen)


@pytest.mark.parametrize(
    ("source", "stays"),
    [
        (r"^error: [^\n]{0,80}$", True),
        (r"\bfoo\b.*(?!bar)(?<=o)", True),
        (r"(?:a|b[c-e])+\d\w", True),
        (r"a\sb", False),
        (r"a[^b]c", False),
        (r"a\Wb", False),
        (r"a(?=\s|$)", False),
        (r"a(?!\nb)", False),
        (r"a\Z", False),
        (r"\Aa", False),
        (r"(?s:a.b)", False),
        (r"(?s)a.b", False),
        (r"(?-m:a$)", False),
        (r"(a)\1", False),
        (r"\p{L}", False),
        ("a\nb", False),
    ],
)
def test_what_can_go_over_the_end_of_a_line_is_searched_whole(source: str, stays: bool) -> None:
    assert stays_on_a_line(source) is stays


def test_many_lines_with_the_literal_end_in_one_search_of_the_rest() -> None:
    source = r"^error: \d+$"
    found = Patterns([source], quick_sign(quick_chars(source)), [[["error: "]]], "1")
    seen = Signals(Capture(exit_code=1, stderr="error: x\n" * 500 + "error: 7\nerror: 8"))
    text = seen.stderr.text
    assert found.search(0, text, 0, len(text), seen) == (4500, 4508)
    assert found.find_all(0, text, 0, len(text), 9, seen) == [(4500, 4508), (4509, 4517)]
    assert found.search(0, text, 4501, len(text), seen) == (4509, 4517)


@pytest.mark.parametrize("size", [0, 64])
def test_spans_and_groups_are_those_of_either_engine(size: int) -> None:
    found = patterns(r"(\d+) apples|an? (pear)", size)
    text = "12 apples, a pear, 7 apples"
    assert found.search(0, text, 0, len(text), signals()) == (0, 9)
    assert found.search(0, text, 1, 10, signals()) == (1, 9)
    assert found.search(0, text, 3, 10, signals()) is None
    assert found.find_all(0, text, 0, len(text), 9, signals()) == [(0, 9), (11, 17), (19, 27)]
    assert found.find_all(0, text, 0, len(text), 2, signals()) == [(0, 9), (11, 17)]
    assert found.groups(0, text, 0, len(text), signals()) == "7"


def test_a_text_too_long_for_its_pattern_gets_the_engine_with_a_clock() -> None:
    found = patterns("x+y", 64)
    short, long = "x" * 64, "x" * 65
    assert found.search(0, short, 0, 64, signals()) is None
    assert not found._compiled
    assert found.search(0, long, 0, 65, signals()) is None
    assert list(found._compiled) == [0]


def test_without_a_sign_the_clock_is_always_watched() -> None:
    found = Patterns(["x"])
    assert found.search(0, "x", 0, 1, signals()) == (0, 1)
    assert list(found._compiled) == [0]


@pytest.mark.parametrize(
    ("source", "size"),
    [
        ("permission denied", 4096),
        (r"\b(?:not|no) (?:found|such)\b", 4096),
        (r"^\S+:\d+: ", 4096),
        (r"[^\n]{0,80}: not found", 4096),
        (r"\w+\s+\w+\s+x", 4096),
        (r"^\w*\w*x", 4096),
        (r"(?:, \d+ (?:failed|passed))*x", 4096),
        (r"x(?=[\s\S]*y)", 4096),
        # Three repeats that could share one text, from any place of it.
        (r"\S+:\S+:\S+x", 64),
        (r"\w*\w*\w*x", 64),
        # Rounds that could end anywhere, or be either of two.
        (r"(?:\w+ ?)+x", 0),
        (r"(?:\w+ ?){0,6}x", 0),
        (r"(?:\w+:\w+)+x", 0),
        (r"(?:ab|ab)*c", 0),
        (r"(?:a?a?)*b", 0),
        (r"\p{L}", 0),
        ("(", 0),
    ],
)
def test_the_shape_says_up_to_which_size_a_search_is_short(source: str, size: int) -> None:
    assert quick_chars(source) == size


def test_nearly_all_of_the_table_is_quick(table: Table) -> None:
    sources = table.section("hot")["patterns"]
    assert sum(quick_chars(source) >= 2048 for source in sources) / len(sources) > 0.95


def test_each_size_has_its_sign() -> None:
    assert [quick_sign(size) for size in (0, 64, 128, 4096)] == ["0", "1", "2", "7"]


def test_an_ordinary_short_failure_is_judged_without_importing_regex(table: Table) -> None:
    # `table` is asked for so that a compiled one is in the cache.
    code = (
        "import sys; from triage import Capture, classify;"
        "verdict = classify(Capture(exit_code=127, stderr='bash: jqq: command not found'));"
        "print(verdict.rule, 'regex' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "command-not-found False\n"


class Interrupted:
    """A compiled pattern whose first searches lose their time to others."""

    def __init__(self, source: str, times: int) -> None:
        self.compiled = compile_pattern(source)
        self.times = times

    def search(self, text: str, start: int, end: int, timeout: float) -> Any:
        return next(self.finditer(text, start, end, timeout), None)

    def finditer(self, text: str, start: int, end: int, timeout: float) -> Iterator[Any]:
        for number, match in enumerate(self.compiled.finditer(text, start, end)):
            if number and self.times:
                break
            yield match
        if self.times:
            self.times -= 1
            raise TimeoutError


@pytest.mark.parametrize("lines", ["0", "1"])
def test_time_that_went_to_others_is_given_again(lines: str) -> None:
    text = "a 1\n" * 90 + "b 22\n" * 9
    for times, found_at_last in ((3, True), (99, False)):
        seen = Signals(Capture(exit_code=1, stderr=text))
        found = Patterns([r"^b (\d+)$"], "0", [[["b "]]], lines)

        def again(times: int = times, found: Patterns = found) -> None:
            found._compiled[0] = Interrupted(found.sources[0], times)

        asked = 0, seen.stderr.text, 0, len(text)
        again()
        assert len(found.find_all(*asked, 50, seen)) == (9 if found_at_last else 1)
        again()
        assert found.groups(*asked, seen) == "22"
        assert bool(seen.warnings) is not found_at_last


def test_a_search_by_lines_is_given_its_time_again() -> None:
    text = "a 1\n" * 90 + "b 22\n" * 3

    class Late(Interrupted):
        def finditer(self, text: str, start: int, end: int, timeout: float) -> Iterator[Any]:
            if self.times:
                self.times -= 1
                raise TimeoutError
            return iter(self.compiled.finditer(text, start, end))

    for lines in ("0", "1"):
        seen = Signals(Capture(exit_code=1, stderr=text))
        found = Patterns([r"^b \d+$"], "0", [[["b "]]], lines)
        found._compiled[0] = Late(found.sources[0], 3)
        assert found.search(0, seen.stderr.text, 0, len(text), seen) == (360, 364)
        assert not seen.warnings


def test_no_gap_is_open_behind_words_that_may_come_again(root: Path) -> None:
    # Each time the words come, the whole rest of a long line would be read for what follows.
    for use in load_rulebook(root / "rules").patterns():
        tree = None if use.role == "value" else parsed(use.pattern)
        # Few programs switch to a screen of their own, and what they show there has no bound.
        if tree is None or use.pattern.startswith(r"\x1b"):
            continue
        for branch in branches(tree):
            if not branch or branch[0] in (BEGIN, HELD):
                continue
            for index, piece in enumerate(branch[:-1]):
                before = [p for p in branch[:index] if p.least and p.chars - EDGE.chars]
                again = before and all(overlap(p.chars, piece.chars) for p in before)
                assert not (piece.gap and piece.most > 10_000 and again), use.where
