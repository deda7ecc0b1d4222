"""Catalogues are searched backwards, from the translation; a damaged one is none at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from catalogue_files import INVENTED, catalogue_bytes, write_catalogue
from hypothesis import given
from hypothesis import strategies as st

from triage.mo_catalogue import Catalogue, Message, list_catalogues, read_catalogue

MESSAGES = INVENTED["coreutils"]


def read(path: Path) -> Catalogue:
    catalogue = read_catalogue(str(path))
    assert catalogue is not None
    return catalogue


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_translation_leads_back_to_its_original(tmp_path: Path, order: str) -> None:
    catalogue = read(write_catalogue(tmp_path, "qx", "coreutils", MESSAGES, order=order))
    assert list(catalogue.whole("nepova atlunt %s")) == [
        Message("cannot access %s", "nepova atlunt %s")
    ]
    assert list(catalogue.containing("skrudi", 9)) == [
        Message("cannot stat %s", "nepova skrudi %s")
    ]


def test_originals_with_one_translation_are_all_found(tmp_path: Path) -> None:
    catalogue = read(write_catalogue(tmp_path, "qx", "coreutils", MESSAGES))
    found = {message.original for message in catalogue.whole("nepova elprenol %s")}
    assert found == {"cannot remove %s", "cannot unlink %s"}
    assert len(list(catalogue.containing("nepova", 2))) == 2


def test_a_part_is_no_whole_message_and_an_original_no_translation(tmp_path: Path) -> None:
    catalogue = read(write_catalogue(tmp_path, "qx", "coreutils", MESSAGES))
    assert list(catalogue.whole("nepova atlunt")) == []
    assert list(catalogue.whole("cannot access %s")) == []
    assert list(catalogue.containing("cannot access", 9)) == []
    assert list(catalogue.containing("", 9)) == []


def test_a_message_counts_once_however_often_it_says_the_same(tmp_path: Path) -> None:
    path = write_catalogue(tmp_path, "qx", "x", {"a or a": "velka ost velka", "b": "velka"})
    assert [m.original for m in read(path).containing("velka", 9)] == ["a or a", "b"]


def test_plural_forms_and_contexts_are_taken_apart(tmp_path: Path) -> None:
    path = write_catalogue(
        tmp_path,
        "qx",
        "x",
        {"%d file lost\0%d files lost": ["%d velkado", "%d velkadoj"], "menu\x04Open": "Malfermla"},
    )
    catalogue = read(path)
    assert list(catalogue.whole("%d velkado")) == [Message("%d file lost", "%d velkado")]
    assert list(catalogue.whole("%d velkadoj")) == [Message("%d files lost", "%d velkadoj")]
    assert list(catalogue.whole("Malfermla")) == [Message("Open", "Malfermla")]


def test_the_header_names_the_encoding_of_the_file(tmp_path: Path) -> None:
    path = write_catalogue(
        tmp_path, "cs", "x", {"Permission denied": "Přístup odepřen"}, charset="ISO-8859-2"
    )
    assert list(read(path).whole("Přístup odepřen")) == [
        Message("Permission denied", "Přístup odepřen")
    ]
    assert list(read(path).whole("見つかりません")) == []


def test_an_unknown_encoding_is_taken_for_utf_8(tmp_path: Path) -> None:
    data = catalogue_bytes({"Permission denied": "Přístup odepřen"})
    path = tmp_path / "x.mo"
    path.write_bytes(data.replace(b"charset=UTF-8", b"charset=KLING"))
    assert [m.original for m in read(path).whole("Přístup odepřen")] == ["Permission denied"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xde\x12\x04\x95",
        b"no catalogue at all, but long enough to be one",
        catalogue_bytes(MESSAGES)[:40],
        catalogue_bytes(MESSAGES).replace(b"\xde\x12\x04\x95", b"\xde\x12\x04\x96", 1),
        b"\xde\x12\x04\x95" + b"\xff" * 60,
    ],
)
def test_what_is_no_sound_catalogue_is_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.mo"
    path.write_bytes(data)
    assert read_catalogue(str(path)) is None


def test_what_is_no_file_is_no_catalogue(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mo")
    (tmp_path / "folder.mo").mkdir()
    for name in ("pipe.mo", "folder.mo", "nowhere.mo"):
        assert read_catalogue(str(tmp_path / name)) is None


@given(
    places=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), max_size=12),
    cut=st.integers(0, 2000),
)
def test_damage_anywhere_never_raises(
    tmp_path_factory: pytest.TempPathFactory, places: list[tuple[int, int]], cut: int
) -> None:
    data = bytearray(catalogue_bytes(MESSAGES))
    for place, byte in places:
        data[place % len(data)] = byte
    path = tmp_path_factory.mktemp("damaged") / "x.mo"
    path.write_bytes(data[: len(data) - cut % 7 * 40])
    catalogue = read_catalogue(str(path))
    if catalogue is not None:
        for piece in ("nepova", "nepova atlunt %s", "%s"):
            for message in [*catalogue.whole(piece), *catalogue.containing(piece, 50)]:
                assert piece in message.translation


def test_the_listing_knows_domains_without_versions_and_leaves_english_out(tmp_path: Path) -> None:
    for language, domain in [("qx", "gcc-12"), ("qx", "libapt-pkg6.0"), ("en_GB", "gcc-12")]:
        write_catalogue(tmp_path, language, domain, MESSAGES)
    write_catalogue(tmp_path, "qx", "libpq5-15", MESSAGES)
    (tmp_path / "qx" / "LC_MESSAGES" / "notes.txt").write_text("no catalogue")
    listed = list_catalogues((str(tmp_path / "nowhere"), str(tmp_path)))
    assert [(item.language, item.domain) for item in listed] == [
        ("qx", "gcc"),
        ("qx", "libapt-pkg"),
        ("qx", "libpq"),
    ]
    assert all(Path(item.path).is_file() for item in listed)
