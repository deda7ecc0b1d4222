"""What a pattern needs before it can match: never more than it really needs."""

from __future__ import annotations

import re
from typing import Any

import pytest
import re2
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from triage.literals import BEYOND_ASCII, lowered_text
from triage.match import window_of
from triage.pattern import alternatives, compile_pattern, needs
from triage.table import Table

WINDOWS = ("all", "head", "tail", "first_line", "last_line")


def re2_of(pattern: str | None) -> Any:
    if pattern is None:
        return None
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def lacks(source: str, text: str) -> list[str]:
    """What `needs` asks for and `text` does not have."""
    wanted = needs(source)
    lowered = lowered_text(text)
    missing = [repr(c) for c in wanted.clauses if not any(word in lowered for word in c)]
    wide = re2_of(wanted.re2)
    seen = "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    if wide is not None and wide.search(seen) is None:
        missing.append(wanted.re2 or "")
    return missing


@pytest.mark.parametrize(
    ("pattern", "clauses"),
    [
        ("Permission denied", [("permission denied",)]),
        (r"\bfatal: (?:no|bad) object\b", [("fatal: ",), (" object",)]),
        ("(?:ECONN(?:REFUSED|RESET)|ENOTFOUND)", [("econnrefused", "econnreset", "enotfound")]),
        (r"error(?:s?): +\d+", [("error",)]),
        ("(?-i:Killed)", [("killed",)]),
        ("(?:abc)?def", [("def",)]),
        ("(?:abc|)", []),
        (r"\d+%", [("%",)]),
        (r"\d+ ?a", []),
        ("x(?=yz)", [("yz",)]),
        ("x(?!yz)", []),
        ("[а-яё]{3}", [(BEYOND_ASCII,)]),
        ("[а-яa]", []),
        ("(?:fatal|error): [Α-Ω]", [("error", "fatal"), (BEYOND_ASCII,)]),
        ("[Ee][Rr]ror", [("error",)]),
    ],
)
def test_clauses_are_the_literals_a_pattern_can_not_do_without(
    pattern: str, clauses: list[tuple[str, ...]]
) -> None:
    found = needs(pattern).clauses
    # A clause that a sharper one implies is left out.
    for clause in clauses:
        assert any(all(any(lit in text for lit in clause) for text in one) for one in found), found
    if not clauses:
        assert needs(pattern).clauses == ()


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        # The classes of POSIX and the fuzzy matches of `regex` are no text for `re`.
        ("[[:digit:]]abc", "7abc"),
        ("(?:abcd){e<=1}", "abd"),
        (r"(?<word>ab)\g<word>", "abab"),
        (r"(ab)\1", "abab"),
        (r"\p{Lu}bc", "Abc"),
        # A dot that is a newline too, classes that are Unicode again.
        ("(?s:a.b)", "a\nb"),
        ("(?s)a.+b", "a\n\nb"),
        (r"(?u:\wx)", "éx"),
        # Ends of a window and of the text.
        (r"\Aabc\Z", "abc"),
        (r"abc$", "abc\n"),
        (r"^\s*$", "\n\n"),
        # Letters whose case changes their length or depends on their neighbours.
        ("İx", "İx"),
        ("ΑΣ", "ΑΣ"),
        ("straße", "STRAße"),
        (r"[^k]elvin", "\u212aelvin"),
        (r"[^\S\n]+x", "\tx"),
        (r"[\s\S]{3}end", "a\nbend"),
        ("a{3,70}b", "aaaab"),
        ("(?>ab|a)c", "abc"),
        ("a++b", "aab"),
        ("\ud800x", "\ud800x"),
    ],
)
def test_odd_constructs_never_ask_for_too_much(pattern: str, text: str) -> None:
    assert compile_pattern(pattern).search(text)
    assert lacks(pattern, text) == []


def test_what_re2_can_not_express_is_left_to_the_pattern() -> None:
    assert needs(r"(a+)b\1").re2 is None
    assert needs(r"(?<=x)y").re2 is not None
    assert all(needs(source).re2 is None for source in ("[[:alpha:]]", "(?:x){e}", r"\p{L}"))


# Few letters, so that texts match often: cases, folds, words and what stands between words.
ALPHABET = "aAbBkKsSσΣςİıßẞéÉſ\u212a019_ \t\n\r\x0b-.:[]{}()|\\\u00a0\u0085\ud800\U0001f600"
CLASS_PARTS = st.one_of(
    st.sampled_from(["a-k", "0-9", r"\d", r"\w", r"\s", r"\S", r"\W", r"\D", "é-ſ", r"\]"]),
    st.sampled_from("akKsSéİσ_.: \n").map(re.escape),
)
REPEATS = [("", 1), ("", 1), ("?", 0), ("*", 2), ("+", 2), ("*?", 0), ("{2}", 2), ("{1,3}", 3),
           ("{0,9}", 7), ("?+", 1), ("*+", 1), ("++", 3)]  # fmt: skip
GROUPS = ["(?:{})", "({})", "(?i:{})", "(?-i:{})", "(?s:{})", "(?>{})", "(?={})", "(?!{})"]

# A pattern, and a text that it matches more often than not.
Sample = tuple[str, str]


@st.composite
def atoms(draw: st.DrawFn) -> Sample:
    kind = draw(st.integers(0, 5))
    if kind < 3:
        char = draw(st.sampled_from(ALPHABET))
        return re.escape(char), draw(st.sampled_from([char, char.swapcase(), char.lower()]))
    if kind == 3:
        parts = draw(st.lists(CLASS_PARTS, min_size=1, max_size=3))
        source = f"[{draw(st.sampled_from(['', '^']))}{''.join(parts)}]"
        return source, draw(st.sampled_from(ALPHABET))
    if kind == 4:
        return draw(st.sampled_from([(".", "a"), (r"\d", "0"), (r"\w", "K"), (r"\s", "\x0b"),
                                     (r"\S", "é"), (".", "\n")]))  # fmt: skip
    return draw(st.sampled_from([r"\b", r"\B", "^", "$", r"\A", r"\Z"])), ""


def compounds(inner: st.SearchStrategy[Sample]) -> st.SearchStrategy[Sample]:
    @st.composite
    def build(draw: st.DrawFn) -> Sample:
        parts = draw(st.lists(inner, min_size=1, max_size=4))
        kind = draw(st.integers(0, 3))
        if kind == 0:
            return "".join(source for source, _ in parts), "".join(text for _, text in parts)
        if kind == 1:
            # A bar stands at the top as well as in a group.
            form = draw(st.sampled_from(["{}", *GROUPS]))
            return form.format("|".join(source for source, _ in parts)), parts[-1][1]
        source, text = parts[0]
        if kind == 2:
            return draw(st.sampled_from(GROUPS)).format(source), text
        many, times = draw(st.sampled_from(REPEATS))
        return f"(?:{source}){many}", text * times

    return build()


SAMPLE = st.recursive(atoms(), compounds, max_leaves=9)
AROUND = st.one_of(st.just(""), st.text(ALPHABET, max_size=4))


def compiled(source: str) -> Any:
    import regex

    try:
        return compile_pattern(source)
    except regex.error:
        # Two repeats in a row, for one: the generator does not know all that is no pattern.
        return None


@settings(max_examples=1500)
@given(
    sample=SAMPLE,
    fenced=st.booleans(),
    before=AROUND,
    after=AROUND,
    window=st.sampled_from(WINDOWS),
)
def test_a_text_that_matches_has_all_that_is_needed(
    sample: Sample, fenced: bool, before: str, after: str, window: str
) -> None:
    source, text = sample
    if fenced:
        # Between two words nothing else of the text can stand in for what was drawn.
        source, text = f"zq(?:{source})qz", f"zq{text}qz"
    text = before + text + after
    pattern = compiled(source)
    assume(pattern is not None)
    begin, end = window_of(window, text)
    # What stands `after` another find begins anywhere.
    for start in {begin, min(begin + len(before), end)}:
        if pattern.search(text, start, end, timeout=1) is not None:
            assert lacks(source, text) == []


@settings(max_examples=1500)
@given(sample=SAMPLE, before=AROUND, after=AROUND)
def test_alternatives_find_what_the_whole_pattern_finds(
    sample: Sample, before: str, after: str
) -> None:
    source, text = sample[0], before + sample[1] + after
    pattern = compiled(source)
    assume(pattern is not None)
    parts = [compiled(part) for part in alternatives(source)]
    assert None not in parts
    whole = pattern.search(text, timeout=1) is not None
    assert any(part.search(text, timeout=1) is not None for part in parts) is whole


def test_the_generated_texts_match_often_enough_to_prove_something() -> None:
    matched: list[bool] = []

    @settings(max_examples=300, database=None)
    @given(sample=SAMPLE)
    def count(sample: Sample) -> None:
        pattern = compiled(sample[0])
        matched.append(pattern is not None and pattern.search(sample[1]) is not None)

    count()
    assert sum(matched) / len(matched) > 0.5


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("a|b", ["a", "b"]),
        ("a(?:b|c)|[|]d|e\\|f", ["a(?:b|c)", "[|]d", "e\\|f"]),
        ("[]|]x|y", ["[]|]x", "y"]),
        ("[^]|]x|y", ["[^]|]x", "y"]),
        ("a||b", ["a||b"]),
        ("a|", ["a|"]),
        ("(?s)a.b|c.d", ["(?s)a.b|c.d"]),
        (r"(a)|(b)\2", [r"(a)|(b)\2"]),
        ("(?P<x>a)|(?P=x)b", ["(?P<x>a)|(?P=x)b"]),
    ],
)
def test_a_pattern_is_split_at_its_outermost_bars(source: str, parts: list[str]) -> None:
    assert alternatives(source) == parts


@settings(max_examples=400)
@given(data=st.data())
def test_every_pattern_of_the_table_needs_no_more_than_it_says(
    table: Table, data: st.DataObject
) -> None:
    sources = table.section("hot")["patterns"]
    source = sources[data.draw(st.integers(0, len(sources) - 1))]
    try:
        made = re.compile(source, re.ASCII | re.IGNORECASE | re.MULTILINE)
    except re.error:
        return
    text = data.draw(st.from_regex(made))
    around = data.draw(st.sampled_from(["", "\n", " ", "é", "x ", "\u212a\n"]))
    for shown in (text, text.swapcase(), f"{around}{text}{around}"):
        if compile_pattern(source).search(shown, timeout=2) is not None:
            assert lacks(source, shown) == []


def test_every_pattern_of_the_table_matches_what_needs_says(table: Table) -> None:
    hot = table.section("hot")
    for pid, source in enumerate(hot["patterns"]):
        wanted = needs(source)
        assert [list(clause) for clause in wanted.clauses] == hot["clauses"][pid]
        # What RE2 is said to express it takes.
        assert wanted.re2 is None or re2_of(wanted.re2) is not None
