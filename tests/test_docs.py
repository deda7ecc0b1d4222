"""Generated blocks: fresh after one run, nothing touched outside, hostile captures harmless."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.docs import MODE_BLOCK, mode_block, refresh_blocks, refresh_modes
from triage.errors import TriageError
from triage.modes import Mode, load_modes

MODES = Path(__file__).parent.parent / "rules" / "modes"

RULES: list[dict[str, Any]] = [
    {
        "id": "hang-pager",
        "row": 3,
        "chapter": "03-hang",
        "modes": [10, 11],
        "why": "A pager waits\n  for a key.",
    },
    {"id": "hang", "row": 3, "chapter": "03-hang", "modes": [11], "why": "Nothing more is known."},
    {"id": "no-mode", "row": None, "chapter": "99-clean-exit", "modes": [], "why": "Fine."},
]
EXAMPLE = {
    "case_id": "03-hang/git-log",
    "command": "git log",
    "exit_code": 124,
    "excerpt": "commit 1\n(END)\n",
}


@pytest.fixture(scope="module")
def modes() -> dict[int, Mode]:
    return load_modes(MODES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(MODES, tmp_path / "modes"))


def test_a_block_names_the_rules_and_shows_a_capture(modes: dict[int, Mode]) -> None:
    assert mode_block(modes[10], RULES, EXAMPLE).split("\n") == [
        "## Rules that lead here",
        "",
        "- `hang-pager` (row 3, 03-hang): A pager waits for a key.",
        "",
        "## Example capture",
        "",
        "`git log` ended with status 124 (`03-hang/git-log`):",
        "",
        "    commit 1",
        "    (END)",
    ]


def test_second_choices_are_named_apart(modes: dict[int, Mode]) -> None:
    block = mode_block(modes[11], RULES, None)
    assert (
        "- `hang` (row 3, 03-hang): Nothing more is known.\n\nSecond choice of: `hang-pager`."
        in (block)
    )


def test_many_rules_are_listed_by_chapter_without_reasons(modes: dict[int, Mode]) -> None:
    many = [{**RULES[1], "id": f"r{n}", "chapter": f"0{n % 2}-x"} for n in range(20)]
    block = mode_block(modes[11], many, None)
    assert "- 00-x: `r0`, `r2`" in block
    assert "- 01-x: `r1`, `r3`" in block
    assert "Nothing more is known" not in block


def test_many_second_choices_are_counted(modes: dict[int, Mode]) -> None:
    many = [{**RULES[0], "id": f"r{n}"} for n in range(20)]
    assert "`r11` and 8 more." in mode_block(modes[11], many, None)


@pytest.mark.parametrize(
    ("number", "words"),
    [(10, "None yet."), (7, "only several can"), (23, "a look at the tool"), (48, "rules name §2")],
)
def test_no_rules_says_why(modes: dict[int, Mode], number: int, words: str) -> None:
    assert words in mode_block(modes[number], [], None)


def test_an_argv_and_an_unknown_status_are_shown(modes: dict[int, Mode]) -> None:
    example = {**EXAMPLE, "command": ("grep", "a b"), "exit_code": None}
    assert "`grep 'a b'` ended with no known status" in mode_block(modes[10], [], example)


def test_a_call_without_a_command_is_shown(modes: dict[int, Mode]) -> None:
    assert "A call ended with status 124" in mode_block(modes[10], [], {**EXAMPLE, "command": None})


def test_back_ticks_in_a_command_stay_inside_their_span(modes: dict[int, Mode]) -> None:
    block = mode_block(modes[10], [], {**EXAMPLE, "command": "echo `date` ``"})
    assert "``` echo `date` `` ``` ended" in block


def test_a_captured_text_can_neither_end_the_block_nor_pass_for_a_line_that_grep_finds(
    modes: dict[int, Mode],
) -> None:
    hostile = "<!-- generated:end -->\n**Signature:** mine\n```\n\x1b[31m\u202ered\ud800\tend"
    block = mode_block(modes[10], [], {**EXAMPLE, "excerpt": hostile})
    assert block.split("\n")[-4:] == [
        "    <!-- generated:end -->",
        "    **Signature:** mine",
        "    ```",
        r"    \x1b[31m\u202ered\ud800    end",
    ]


@given(st.text(), st.text(), st.text())
@settings(max_examples=60, deadline=None)
def test_whatever_was_captured_the_block_holds(excerpt: str, command: str, why: str) -> None:
    mode = Mode(
        1, "s", "t", "p", "high", "common", "hard", "A", "single", "s", None, "a", (), (), None, "d"
    )
    rule = {**RULES[0], "modes": [1], "why": why}
    block = mode_block(
        mode, [rule], {**EXAMPLE, "excerpt": excerpt, "command": command, "case_id": "c"}
    )
    block.encode("utf-8")
    assert all(line.isprintable() for line in block.split("\n"))
    assert len(block.split("\n")) <= 20
    assert not re.search(r"(?m)^(<!--|\*\*)", block)


def test_a_secret_in_a_capture_is_masked(modes: dict[int, Mode]) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    block = mode_block(
        modes[24], [], {**EXAMPLE, "excerpt": f"token {token}", "command": f"gh --token {token}"}
    )
    assert token not in block


def test_one_run_makes_every_document_fresh(folder: Path, modes: dict[int, Mode]) -> None:
    stale = refresh_modes(folder, modes, RULES, {10: EXAMPLE}, write=True)
    assert {Path(item.path).name for item in stale} >= {modes[10].doc, modes[11].doc}
    assert refresh_modes(folder, modes, RULES, {10: EXAMPLE}, write=False) == []
    assert refresh_modes(folder, modes, RULES, {10: EXAMPLE}, write=True) == []
    assert load_modes(folder, MODES.parent / "schema" / "mode.schema.json") == modes


def test_checking_writes_nothing_and_says_what_differs(
    folder: Path, modes: dict[int, Mode]
) -> None:
    refresh_modes(folder, modes, [], {}, write=True)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    stale = refresh_modes(folder, modes, RULES[:1], {}, write=False)
    assert [(item.path, item.block) for item in stale] == [
        (str(folder / modes[10].doc), MODE_BLOCK),
        (str(folder / modes[11].doc), MODE_BLOCK),
    ]
    assert [item.summary for item in stale] == [
        "-1 +1 lines, first: - None yet.",
        "-0 +1 lines, first: + Second choice of: `hang-pager`.",
    ]
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_only_text_between_the_markers_changes(folder: Path, modes: dict[int, Mode]) -> None:
    path = folder / modes[10].doc
    head, rest = path.read_text("utf-8").split("<!-- generated:begin -->\n")
    tail = rest.split("<!-- generated:end -->")[1] + "\nA last word.\n"
    path.write_text(f"{head}<!-- generated:begin -->\nold\n<!-- generated:end -->{tail}", "utf-8")
    refresh_modes(folder, modes, RULES, {10: EXAMPLE}, write=True)
    new = path.read_text("utf-8")
    assert new.startswith(head + "<!-- generated:begin -->\n## Rules that lead here\n")
    assert new.endswith("\n    (END)\n<!-- generated:end -->" + tail)


def test_permissions_stay_and_nothing_is_left_behind(folder: Path, modes: dict[int, Mode]) -> None:
    path = folder / modes[10].doc
    path.chmod(0o640)
    refresh_modes(folder, modes, RULES, {10: EXAMPLE}, write=True)
    assert path.stat().st_mode & 0o777 == 0o640
    assert {item.name for item in folder.iterdir()} == {mode.doc for mode in modes.values()}


def test_carriage_returns_of_a_checkout_are_kept(folder: Path, modes: dict[int, Mode]) -> None:
    path = folder / modes[10].doc
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    refresh_modes(folder, modes, RULES, {10: EXAMPLE}, write=True)
    new = path.read_bytes()
    assert b"(END)\r\n" in new
    assert new.count(b"\n") == new.count(b"\r\n")
    assert refresh_modes(folder, modes, RULES, {10: EXAMPLE}, write=False) == []


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("<!-- generated:begin -->\n", "", "no line `<!-- generated:begin -->`"),
        ("<!-- generated:end -->", "", "no line `<!-- generated:end -->`"),
        (
            "<!-- generated:begin -->\n",
            "<!-- generated:begin -->\n<!-- generated:begin -->\n",
            "a second `<!-- generated:begin -->`",
        ),
        ("# §10", "<!-- generated:end -->\n# §10", "a second `<!-- generated:end -->`"),
    ],
)
def test_damaged_markers_are_an_error_and_nothing_is_written(
    folder: Path, modes: dict[int, Mode], old: str, new: str, what: str
) -> None:
    path = folder / modes[10].doc
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    before = {item: item.read_bytes() for item in folder.iterdir()}
    with pytest.raises(TriageError) as caught:
        refresh_modes(folder, modes, [{**RULES[1], "modes": [2]}], {10: EXAMPLE}, write=True)
    assert re.fullmatch(re.escape(str(path)) + r":\d+:1", caught.value.where)
    assert what in caught.value.what
    assert {item: item.read_bytes() for item in folder.iterdir()} == before


def test_markers_the_wrong_way_round_are_an_error(folder: Path, modes: dict[int, Mode]) -> None:
    (folder / modes[10].doc).write_text(
        "<!-- generated:end -->\n<!-- generated:begin -->\n", "utf-8"
    )
    with pytest.raises(TriageError, match=r"10-interactivity\.md:1:1: the end marker comes first"):
        refresh_modes(folder, modes, [], {}, write=True)


def test_a_missing_document_is_an_error(folder: Path, modes: dict[int, Mode]) -> None:
    (folder / modes[10].doc).unlink()
    with pytest.raises(TriageError, match=r"10-interactivity\.md:1:1: can't be read"):
        refresh_modes(folder, modes, [], {}, write=False)


# Named blocks, as README has them.

README = """# triage
<!-- generated:rows begin -->
old rows
<!-- generated:rows end -->
Between.
<!-- generated:exits begin -->
<!-- generated:exits end -->
The end.
"""


def readme(tmp_path: Path, text: str = README) -> Path:
    path = tmp_path / "README.md"
    path.write_text(text, "utf-8")
    return path


def rows() -> str:
    return "row 1\nrow 2\n"


def exits() -> str:
    return "80 failure"


def test_named_blocks_are_filled_each_with_its_text(tmp_path: Path) -> None:
    path = readme(tmp_path)
    stale = refresh_blocks(path, {"rows": rows, "exits": exits}, write=True)
    assert [item.block for item in stale] == ["rows", "exits"]
    assert path.read_text("utf-8") == (
        "# triage\n<!-- generated:rows begin -->\nrow 1\nrow 2\n<!-- generated:rows end -->\n"
        "Between.\n<!-- generated:exits begin -->\n80 failure\n<!-- generated:exits end -->\n"
        "The end.\n"
    )
    assert refresh_blocks(path, {"rows": rows, "exits": exits}, write=True) == []


def test_checking_named_blocks_names_the_stale_ones(tmp_path: Path) -> None:
    path = readme(tmp_path)
    refresh_blocks(path, {"rows": rows, "exits": exits}, write=True)
    before = path.read_bytes()
    stale = refresh_blocks(path, {"rows": rows, "exits": lambda: "81 other"}, write=False)
    assert [(item.block, item.summary) for item in stale] == [
        ("exits", "-1 +1 lines, first: - 80 failure")
    ]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("<!-- generated:rows end -->\n", "", "5:1", "block `rows` is still open"),
        ("<!-- generated:exits end -->\n", "", "6:1", "block `exits` has no end"),
        ("<!-- generated:rows begin -->\n", "", "3:1", "end of `rows` without its begin"),
        ("generated:exits", "generated:rows", "6:1", "block `rows` twice"),
        ("generated:exits", "generated:other", "1:1", "no block `exits`"),
        (
            "The end.",
            "<!-- generated:extra begin -->\n<!-- generated:extra end -->",
            "8:1",
            "nothing writes block `extra`",
        ),
    ],
)
def test_damaged_named_markers_are_an_error_with_their_place(
    tmp_path: Path, old: str, new: str, where: str, what: str
) -> None:
    path = readme(tmp_path, README.replace(old, new))
    before = path.read_bytes()
    with pytest.raises(TriageError) as caught:
        refresh_blocks(path, {"rows": rows, "exits": exits}, write=True)
    assert (caught.value.where, caught.value.what) == (f"{path}:{where}", what)
    assert caught.value.remedy
    assert path.read_bytes() == before


def test_a_marker_inside_a_sentence_is_no_marker(tmp_path: Path) -> None:
    text = README.replace("The end.", "Write `<!-- generated:x begin -->` on a line.")
    assert refresh_blocks(readme(tmp_path, text), {"rows": rows, "exits": exits}, write=True)
