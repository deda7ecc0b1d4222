"""One stream as text: what a reader would have seen, and where it stood in the stream."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.decoding import decoded
from triage.text import (
    StreamText,
    first_line,
    last_line,
    last_lines,
    printable,
    read_stream,
    safe,
    strip_escapes,
    tail_start,
)

MB = 1 << 20
PARTS = st.sampled_from(
    ["\x1b[31m", "\x1b[0m", "\x1b]0;title\x07", "\x9b1m", "\ufeff", "\r", "\r\n", "\n", "\b", "a",
     "error: no", " ", "é", "漢", "🙂", "\0", "[", "{", "\x1b", "\ud800", "\udc80"]
)  # fmt: skip
MESSY = st.lists(PARTS, max_size=25).map("".join)
SOURCES = st.one_of(
    st.text(max_size=80),
    st.text(alphabet=st.characters(codec=None, categories=["Cs", "Cc", "L", "P"]), max_size=60),
    MESSY,
    st.binary(max_size=120),
    MESSY.map(lambda text: text.encode("utf-8", "surrogatepass")),
    MESSY.map(lambda text: text.encode("utf-16-le", "surrogatepass")),
    MESSY.map(lambda text: b"\xff\xfe" + text.encode("utf-16-le", "surrogatepass")),
)


def read(source: object, head: int = MB, tail: int = MB) -> StreamText:
    return read_stream("stdout", source, head=head, tail=tail)


def shown(stream: StreamText, piece: str | bytes) -> str:
    """What a piece of the source is as raw text."""
    if isinstance(piece, str):
        return piece
    return decoded(piece, stream.encoding)[0]


@given(SOURCES)
def test_any_source_is_read_and_every_character_leads_back_to_itself(source: str | bytes) -> None:
    stream = read(source)
    assert stream.complete
    for at, char in enumerate(stream.text):
        start, end = stream.span(at, at + 1)
        assert shown(stream, source[start:end]) == char
    for at, char in enumerate(stream.raw):
        start, end = stream.raw_span(at, at + 1)
        assert shown(stream, source[start:end]) == char
    assert stream.span(0, 0)[0] <= len(source)
    assert stream.line(len(stream.text)) == stream.text.count("\n") + 1


@given(SOURCES, st.data())
def test_a_span_of_whole_lines_reads_the_same_when_read_alone(
    source: str | bytes, data: st.DataObject
) -> None:
    stream = read(source)
    starts = [0, *(at + 1 for at, char in enumerate(stream.text) if char == "\n")]
    first = data.draw(st.sampled_from(starts))
    last = data.draw(st.sampled_from([*starts, len(stream.text)]))
    start, end = stream.span(first, last)
    if last <= first:
        assert start == end
    else:
        alone = read(shown(stream, source[start:end]))
        # A mark at the start of a later line is text there, and a mark when read alone.
        assert alone.text.lstrip("\ufeff") == stream.text[first:last].lstrip("\ufeff")


@given(SOURCES)
def test_clean_text_has_no_escapes_and_no_carriage_returns(source: str | bytes) -> None:
    stream = read(source)
    assert strip_escapes(stream.text) == stream.text
    assert "\r" not in stream.text
    assert stream.had_escapes == (strip_escapes(stream.raw) != stream.raw)


@given(st.text(), st.integers(1, 40), st.integers(1, 40))
def test_a_window_never_cuts_a_character_in_two(text: str, head: int, tail: int) -> None:
    data = text.encode()
    stream = read(io.BytesIO(data), head, tail)
    assert not stream.undecodable
    assert stream.size == len(data)
    assert stream.complete == (len(data) <= head + tail)
    for at in range(len(stream.raw)):
        start, end = stream.raw_span(at, at + 1)
        if not stream.complete and data[start:end].decode() != stream.raw[at]:
            # Only the newline that stands for what was left out.
            assert stream.raw[at] == "\n"
            assert [[0, start], [end, stream.size]] == [
                stream.window["head"],
                stream.window["tail"],
            ]


def test_small_clean_text_is_taken_as_it_is() -> None:
    source = "error: no such file\n"
    stream = read(source)
    assert stream.raw is source
    assert stream.text is source
    assert stream.span(7, 9) == (7, 9)
    assert (stream.kind, stream.encoding, stream.size) == ("str", "str", 20)
    assert stream.window == {"complete": True, "size": 20, "head": [0, 20], "tail": [20, 20]}
    assert not (stream.had_escapes or stream.undecodable or stream.had_cursor_moves)


def test_nothing_is_an_empty_text() -> None:
    assert read(None).text == read("").text == read(b"").text == ""
    assert read("").span(0, 0) == (0, 0)
    assert read("").span(5, 9) == (0, 0)


def test_spans_count_bytes_where_bytes_were_given_and_code_points_where_text_was() -> None:
    text = "\x1b[31mgröße\x1b[0m: fatal"
    for source in (text, text.encode()):
        stream = read(source)
        at = stream.text.index("fatal")
        start, end = stream.span(at, at + 5)
        assert source[start:end] in ("fatal", b"fatal")
    assert read(text).span(0, 5) == (5, 10)
    assert read(text.encode()).span(0, 5) == (5, 12)


def test_a_span_leaves_out_the_escapes_around_it_and_keeps_those_inside() -> None:
    source = "\x1b[1mer\x1b[31mror\x1b[0m"
    start, end = read(source).span(0, 5)
    assert source[start:end] == "er\x1b[31mror"


def test_powershell_output_is_read_as_utf16() -> None:
    source = "At line:1 char:1\r\nZugriff verweigert\r\n".encode("utf-16")
    stream = read(source)
    assert stream.encoding == "utf-16-le"
    assert stream.text == "At line:1 char:1\nZugriff verweigert\n"
    start, end = stream.span(17, 24)
    assert source[start:end] == "Zugriff".encode("utf-16-le")


def test_bytes_of_a_code_page_are_kept_and_marked() -> None:
    source = "größe: Zugriff verweigert".encode("cp1252")
    stream = read(source)
    assert stream.undecodable
    assert stream.span(stream.text.index("Zugriff"), len(stream.text)) == (7, len(source))
    assert not read("größe").undecodable
    assert read("gr\udcf6\udcdfe").undecodable


def test_lines_are_counted_from_one_on_clean_and_on_raw_text() -> None:
    stream = read("\x1b]0;t\x07a\r\nb\r\nc")
    assert [stream.line(stream.text.index(char)) for char in "abc"] == [1, 2, 3]
    assert [stream.raw_line(stream.raw.index(char)) for char in "abc"] == [1, 2, 3]


def test_cursor_moves_are_noticed_and_colours_are_none() -> None:
    assert read("\x1b[2Adone").had_cursor_moves
    assert read("\x1b[12;40Hdone").had_cursor_moves
    assert not read("\x1b[1;31mred\x1b[0m\x1b[K").had_cursor_moves


def test_of_a_long_file_both_ends_are_read_by_whole_lines(tmp_path: Path) -> None:
    lines = [f"line {number} größe" for number in range(2_000)]
    data = "\n".join(lines).encode()
    file = tmp_path / "out.log"
    file.write_bytes(data)
    stream = read(file, 200, 300)
    head, tail = stream.window["head"], stream.window["tail"]
    assert not stream.complete
    assert (stream.size, stream.undecodable) == (len(data), False)
    assert isinstance(head, list)
    assert isinstance(tail, list)
    assert head[1] <= 200
    assert tail[0] >= len(data) - 300
    assert stream.text == f"{data[: head[1]].decode()}\n{data[tail[0] :].decode()}"
    assert all(line in lines for line in stream.text.split("\n") if line)
    at = stream.text.index("line 1999")
    start, end = stream.span(at, at + 9)
    assert data[start:end] == b"line 1999"


def test_an_escape_the_border_cuts_does_not_reach_into_the_tail() -> None:
    data = b"x" * 50 + b"\x1bPnever ended" + b"." * 500 + b"fatal: the cause \x1b[31mhere\x1b[0m"
    stream = read(io.BytesIO(data), 60, 60)
    assert stream.text.endswith("fatal: the cause here")
    start, end = stream.span(stream.text.index("fatal"), len(stream.text))
    assert data[start:end] == b"fatal: the cause \x1b[31mhere"


def test_a_window_of_utf16_starts_on_a_character() -> None:
    data = "\ufeff".encode("utf-16-le") + ("漢字" * 400).encode("utf-16-le")
    stream = read(io.BytesIO(data), 51, 51)
    assert not stream.undecodable
    assert set(stream.text) == {"漢", "字", "\n"}


@given(st.text(alphabet=st.characters(codec=None), max_size=40))
def test_printable_text_can_be_encoded_and_keeps_its_length(text: str) -> None:
    shown_text = printable(text)
    assert len(shown_text) == len(text)
    assert json.loads(json.dumps(shown_text, ensure_ascii=False).encode()) == shown_text
    assert len(safe(text).encode().decode()) == len(text)


def test_safe_text_cannot_steer_a_terminal() -> None:
    assert safe("a\x1b[2J\x07\u202eb\n\tc\x9b") == "a\ufffd[2J\ufffd\ufffdb\n\tc\ufffd"


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("", "", ""),
        (" \n\t\n", "", ""),
        ("one", "one", "one"),
        ("\n\n  one\ntwo \n \n", "  one", "two "),
        ("Username: bob\nPassword: ", "Username: bob", "Password: "),
    ],
)
def test_first_and_last_lines(text: str, first: str, last: str) -> None:
    assert (first_line(text), last_line(text)) == (first, last)


@given(st.text(alphabet="ab \n", max_size=40), st.integers(-1, 6))
def test_last_lines_are_the_end_of_the_text(text: str, count: int) -> None:
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    wanted = lines[len(lines) - min(count, len(lines)) :] if count > 0 else []
    assert last_lines(text, count) == wanted
    if wanted:
        assert text[tail_start(text, count) :].startswith("\n".join(wanted))
