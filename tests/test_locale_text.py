"""A message in a language that no rule names is recognised by the machine's catalogues alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from catalogue_files import INVENTED, write_catalogue, write_invented
from hypothesis import given
from hypothesis import strategies as st

import triage.locale_text as locale_text
from triage.engine import classify
from triage.locale_text import Original, find_original, to_english
from triage.model import Capture
from triage.table import Table

LS = "ls: nepova atlunt 'mia dosiero': Nulum velka ost dirgano\n"
LS_ENGLISH = "ls: cannot access 'mia dosiero': No such file or directory\n"


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    return write_invented(tmp_path_factory.mktemp("locale"))


def test_the_invented_language_is_in_no_rule(root: Path) -> None:
    rules = "\n".join(path.read_text() for path in (root / "rules").rglob("*.yaml"))
    words = {
        word for texts in INVENTED.values() for text in texts.values() for word in text.split()
    }
    long = [word for word in words if len(word) > 5 and word.isalpha()]
    assert len(set(long)) > 15
    assert [word for word in long if word in rules] == []


def test_a_message_is_recognised_with_its_original(roots: tuple[str, ...]) -> None:
    found = find_original(LS, roots=roots)
    start = LS.index("Nulum")
    assert found == Original(
        language="qx",
        domain="libc",
        msgid="No such file or directory",
        start=start,
        end=start + len("Nulum velka ost dirgano"),
        english_text=LS_ENGLISH.rstrip(),
    )
    assert to_english(LS, roots=roots) == LS_ENGLISH


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("cat: d: Estu dirgo\n", "cat: d: Is a directory\n"),
        ("bash: vico 7: jqq: ordono netrovla\n", "bash: line 7: jqq: command not found\n"),
        (
            "E: Pakedo nenia-paketo ne povas estu trovla\n",
            "E: Unable to locate package nenia-paketo\n",
        ),
        ("cp: 'b' kaj 'a' estu sama velkado\n", "cp: 'a' and 'b' are the same file\n"),
        ("cp: -r mankla; d estu lasita forta\n", "cp: -r not specified; omitting directory d\n"),
        (
            "pereiga: nenia gitejo (nek iu ajn el la supraj dirganoj): .git\n",
            "fatal: not a git repository (or any of the parent directories): .git\n",
        ),
        (
            "sort: ho ve\nProvla «sort --help» por plu da sciado.",
            "sort: ho ve\nTry 'sort --help' for more information.",
        ),
    ],
)
def test_lines_are_put_back_into_english(roots: tuple[str, ...], text: str, english: str) -> None:
    assert to_english(text, roots=roots) == english


def test_the_row_of_the_original_is_named_beside_row_15(
    roots: tuple[str, ...], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("find_original", "to_english"):
        monkeypatch.setattr(locale_text, name, partial(getattr(locale_text, name), roots=roots))
    verdict = classify(Capture(exit_code=2, command="ls 'mia dosiero'", stderr=LS), table)
    assert (verdict.row, verdict.mode, verdict.rule) == (15, 57, "foreign-language")
    assert verdict.evidence[0].text == LS.rstrip()
    english = classify(Capture(exit_code=2, command="ls 'mia dosiero'", stderr=LS_ENGLISH), table)
    assert verdict.also[0]["in_english"] and verdict.also[0]["rule"] == english.rule
    assert verdict.action.env == {"LC_ALL": "C", "LANG": "C", "LANGUAGE": "C"}


def test_without_catalogues_nothing_is_known(tmp_path: Path) -> None:
    assert find_original(LS, roots=(str(tmp_path), str(tmp_path / "nowhere"))) is None
    assert to_english(LS, roots=()) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        LS_ENGLISH,
        "cat: größe.txt: No such file or directory\n",
        "Prosperla nun\n",
        "Montrol sciadon pri VELKAJ (la nuna dirgano se nenio alia).\n",
        "ls: ĉio bone farita hodiaŭ: ja\n",
    ],
)
def test_english_help_and_good_news_are_no_foreign_errors(
    roots: tuple[str, ...], text: str
) -> None:
    assert find_original(text, roots=roots) is None


def test_no_catalogue_is_read_for_plainly_english_text(
    roots: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> None:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr(locale_text, "read_catalogue", refuse)
    monkeypatch.setattr(locale_text, "list_catalogues", refuse)
    for text in (LS_ENGLISH, "make: *** [Makefile:2: all] Error 1\n" * 9, "ok\n" * 99 + "failed\n"):
        assert find_original(text, roots=roots) is None


def test_a_mixed_line_is_known_only_to_who_knows_that_it_is_foreign(
    roots: tuple[str, ...],
) -> None:
    text = "failed to run git: pereiga: nenia gitejo (nek iu ajn el la supraj dirganoj): .git\n"
    assert find_original(text, roots=roots) is None
    assert to_english(text, roots=roots) == (
        "failed to run git: fatal: not a git repository (or any of the parent directories): .git\n"
    )


def test_only_the_last_lines_count_and_places_are_of_the_whole_text(
    roots: tuple[str, ...],
) -> None:
    before = "0123456789abcdef\n" * 3000
    found = find_original(before + LS, roots=roots)
    assert found is not None
    assert (before + LS)[found.start : found.end] == "Nulum velka ost dirgano"
    assert to_english(before + LS, roots=roots) == before + LS_ENGLISH
    assert find_original(LS + before, roots=roots) is None


def test_bytes_of_an_older_code_page_are_read_with_the_language(tmp_path: Path) -> None:
    write_catalogue(tmp_path, "ru", "libc", {"No such file or directory": "Нет такого файла"})
    write_catalogue(tmp_path, "ru", "coreutils", {"cannot stat %s": "не удалось узнать о %s"})
    line = "cp: не удалось узнать о 'net.txt': Нет такого файла"
    for code_page in ("koi8-r", "cp1251", "iso8859-5"):
        text = "ok\n" + line.encode(code_page).decode("utf-8", "surrogateescape") + "\n"
        found = find_original(text, roots=(str(tmp_path),))
        assert found is not None
        assert (found.language, found.domain) == ("ru", "coreutils")
        assert text[found.start : found.end] == text.split("\n")[1]
        assert found.english_text == "cp: cannot stat 'net.txt': No such file or directory"
        assert to_english(text, roots=(str(tmp_path),)) == f"ok\n{found.english_text}\n"


def test_of_languages_that_say_the_same_the_shorter_code_is_named(tmp_path: Path) -> None:
    for language in ("qxx", "qy_AA", "qy"):
        write_catalogue(tmp_path, language, "libc", INVENTED["libc"])
    found = find_original("cat: x: Vetika refuzla\n", roots=(str(tmp_path),))
    assert found is not None and found.language == "qy"


def test_damaged_catalogues_are_passed_over(tmp_path: Path) -> None:
    roots = write_invented(tmp_path)
    for domain in ("make", "tar", "grep"):
        write_catalogue(tmp_path, "qx", domain, INVENTED["libc"]).write_bytes(b"\xde\x12\x04\x95..")
    (tmp_path / "aa" / "LC_MESSAGES" / "libc.mo").mkdir(parents=True)
    assert to_english(LS, roots=roots) == LS_ENGLISH


@given(text=st.text(max_size=300))
def test_any_text_is_safe(roots: tuple[str, ...], text: str) -> None:
    found = find_original(text, roots=roots)
    if found is not None:
        assert 0 <= found.start < found.end <= len(text)
    english = to_english(text, roots=roots)
    assert english is None or english.count("\n") == text.count("\n")


@given(
    value=st.text("abcdefghijklmnopqrstuvwxyz0123456789._-/ ", min_size=1, max_size=30),
    message=st.sampled_from(["cannot access %s", "cannot stat %s", "cannot remove %s"]),
    error=st.sampled_from(["No such file or directory", "Permission denied", "Is a directory"]),
)
def test_any_value_survives_the_way_back(
    roots: tuple[str, ...], value: str, message: str, error: str
) -> None:
    def line(texts: tuple[str, str]) -> str:
        return f"tool: {texts[0]}: {texts[1]}\n" % f"'{value}'"

    foreign = line((INVENTED["coreutils"][message], INVENTED["libc"][error]))
    assert to_english(foreign, roots=roots) == line((message, error))
