"""Of all messages that fit a line the heaviest is put into English, and then what is around it."""

from __future__ import annotations

from pathlib import Path

from catalogue_files import INVENTED, write_catalogue

from triage.catalogue_match import Candidate, candidates, into_english, score
from triage.english import pieces, wholes
from triage.mo_catalogue import read_catalogue


def found_in(root: Path, line: str) -> list[Candidate]:
    """The candidates of the invented language's catalogues for one line."""
    found: list[Candidate] = []
    for domain, messages in INVENTED.items():
        catalogue = read_catalogue(str(write_catalogue(root, "qx", domain, messages)))
        assert catalogue is not None
        found += candidates(catalogue, pieces(line, every=True), wholes(line), domain)
    return found


def in_english(root: Path, line: str) -> str | None:
    match = into_english(line, found_in(root, line))
    return None if match is None else match.english


def test_messages_inside_one_line_are_all_put_into_english(tmp_path: Path) -> None:
    line = "ls: nepova atlunt 'mia dosiero': Nulum velka ost dirgano"
    assert in_english(tmp_path, line) == (
        "ls: cannot access 'mia dosiero': No such file or directory"
    )


def test_the_heaviest_message_is_the_one_that_is_named(tmp_path: Path) -> None:
    line = "ls: nepova atlunt 'x': Nulum velka ost dirgano"
    match = into_english(line, found_in(tmp_path, line))
    assert match is not None
    assert (match.candidate.domain, match.candidate.msgid) == ("libc", "No such file or directory")
    assert line[match.fit.start : match.fit.end] == "Nulum velka ost dirgano"


def test_the_shortest_of_the_originals_with_one_translation_is_taken(tmp_path: Path) -> None:
    assert in_english(tmp_path, "rm: nepova elprenol 'x': Vetika refuzla") == (
        "rm: cannot remove 'x': Permission denied"
    )


def test_a_help_text_is_no_error(tmp_path: Path) -> None:
    line = "Montrol sciadon pri VELKAJ (la nuna dirgano se nenio alia)."
    found = found_in(tmp_path, line)
    assert [item.is_error for item in found if "List information" in item.msgid] == [False] * len(
        found
    )
    assert score((line, item) for item in found) == 0


def test_the_score_takes_one_message_of_each_line(tmp_path: Path) -> None:
    lines = ["rm: nepova elprenol 'x': Vetika refuzla", "ls: y: Nulum velka ost dirgano"]
    alone = [score((line, item) for item in found_in(tmp_path, line)) for line in lines]
    together = [(line, item) for line in lines for item in found_in(tmp_path, line)]
    assert score(together + together) == sum(alone) > 0


def test_of_a_message_of_lines_that_differ_only_the_first_is_paired(tmp_path: Path) -> None:
    path = write_catalogue(
        tmp_path,
        "qx",
        "git",
        {"cannot pull now.\nPlease stop.": "nepova treni nunla.\nBonvol halti.\nAjan."},
    )
    catalogue = read_catalogue(str(path))
    assert catalogue is not None
    assert [item.msgid for item in candidates(catalogue, ["nepova treni nunla"], [], "git")] == [
        "cannot pull now."
    ]
    assert list(candidates(catalogue, ["Bonvol halti"], [], "git")) == []


def test_nothing_known_is_nothing(tmp_path: Path) -> None:
    assert in_english(tmp_path, "ls: cannot access 'x': No such file or directory") is None
    assert into_english("anything", []) is None
