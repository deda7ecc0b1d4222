"""English is told from its words, so that the machine's catalogues are seldom read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.cases import load_cases
from triage.english import has_english, pieces, plainly_english, suspect_lines, wholes
from triage.text import read_stream


@pytest.mark.parametrize(
    "text",
    [
        "ls: cannot access 'x': No such file or directory",
        "cat: größe.txt: Permission denied",
        "npm error Missing script",
        "Try again later",
    ],
)
def test_a_word_of_english_alone_settles_it(text: str) -> None:
    assert has_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "cat: ontbreekt.txt: Bestand of map bestaat niet",
        "bash: ./x: Permiso denegado",
        "find: ./the/with: Datei oder Verzeichnis nicht gefunden",
        "from: --with=that",
        "",
    ],
)
def test_programs_paths_and_options_are_no_words(text: str) -> None:
    assert not has_english(text)


def test_plainly_english_is_blank_or_ascii_with_english_at_its_end() -> None:
    assert plainly_english(" \n") and plainly_english("ok\n" * 9000 + "x: Permission denied\n")
    assert not plainly_english("x: Permission denied\n" + "ok\n" * 9000)
    assert not plainly_english("x: Permiso denegado\n")
    assert not plainly_english("größe.txt: Permission denied\n")


def test_pieces_are_what_stands_between_values_and_punctuation() -> None:
    line = "ls: Zugriff auf 'berichte/2024' nicht möglich: Datei oder Verzeichnis nicht gefunden"
    assert pieces(line) == (
        "Verzeichnis nicht gefunden",
        "Datei oder Verzeichnis",
        "nicht möglich",
    )


def test_a_value_without_quotes_may_stand_in_a_long_run() -> None:
    assert "paquete nada disponible" in pieces("E: no se pudo hallar el paquete nada disponible")


def test_text_without_spaces_is_cut_by_characters() -> None:
    assert pieces("A.java:1: Stringをintに変換できません:") == ("に変換できません",)
    assert pieces("E: 无法定位软件包 meiyou") == ("无法定位软件包",)


@pytest.mark.parametrize("line", ["/usr/lib/größe/x.so", "x = größe", "a b", "gcc -o x x.c"])
def test_paths_names_and_short_words_are_no_pieces(line: str) -> None:
    assert pieces(line) == ()


def test_whole_messages_stand_between_colons() -> None:
    assert wholes("bash: 1. sor: cd: f: Nem könyvtár.") == ["1. sor", "Nem könyvtár"]
    assert wholes("cat：x：没有那个文件或目录。") == ["没有那个文件或目录"]


def test_the_last_lines_are_looked_at_with_their_places() -> None:
    text = "first line with words\n\n" + "ok 1\n" * 70 + "tar: Böyle bir dosya yok\nend"
    (line,) = suspect_lines(text)
    assert text[line.start : line.end] == line.text == "tar: Böyle bir dosya yok"
    assert line.letters and not line.no_utf8


def test_of_text_known_to_be_foreign_short_pieces_count_unless_they_are_english() -> None:
    text = "make: *** Keine Regel, um „x“ zu holen, ach.\nls: no, it cannot, no\n"
    assert suspect_lines(text) == []
    (line,) = suspect_lines(text, every=True)
    assert line.pieces == ("Keine Regel", "zu holen")


def test_bytes_that_are_no_utf_8_are_suspect_before_their_code_page_is_known() -> None:
    text = "cp: Нет файла: да".encode("koi8-r").decode("utf-8", "surrogateescape")
    (line,) = suspect_lines(text)
    assert line.no_utf8 and line.pieces == ()


def test_lines_too_long_to_be_a_message_are_passed_over() -> None:
    assert suspect_lines("größe und " * 200) == []


@given(st.text(max_size=400))
def test_any_text_is_safe_and_its_lines_lie_in_it(text: str) -> None:
    has_english(text)
    for line in suspect_lines(text):
        assert text[line.start : line.end] == line.text
        assert "\n" not in line.text
        assert all(piece in line.text for piece in line.pieces)


def test_of_the_english_corpus_hardly_any_text_needs_a_look(root: Path) -> None:
    looked, seen = [], 0
    for case in load_cases(root / "corpus"):
        if case.row == 15 or case.agent is not None or case.capture.merged is not None:
            continue
        for name in ("stdout", "stderr"):
            source = getattr(case.capture, name)
            text = read_stream(name, source, head=1 << 20, tail=1 << 20).text[-(16 << 10) :]
            seen += bool(text)
            if not has_english(text) and suspect_lines(text):
                looked.append(case.id)
    assert seen > 1000
    assert len(looked) / seen < 0.04, looked
