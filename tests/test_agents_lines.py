"""The same lines however the bytes arrive, in bounded memory."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from triage.agents import lines
from triage.agents.lines import Line, LineFeed


def cut(*pieces: bytes) -> list[Line]:
    feed = LineFeed()
    found = [line for piece in pieces for line in feed.feed(piece)]
    return [*found, *feed.finish()]


def facts(found: list[Line]) -> list[tuple[int, int, int, bytes, bool, bool]]:
    return [(x.number, x.start, x.end, x.data, x.complete, x.ended) for x in found]


def test_lines_have_numbers_and_byte_offsets() -> None:
    assert facts(cut(b"ab\n\ncd")) == [
        (1, 0, 2, b"ab", True, True),
        (2, 3, 3, b"", True, True),
        (3, 4, 6, b"cd", True, False),
    ]


def test_a_utf8_mark_is_dropped_and_counted() -> None:
    assert facts(cut(b"\xef\xbb\xbfa\n"))[0][:4] == (1, 3, 4, b"a")


def test_utf16_of_a_powershell_redirect_is_read() -> None:
    for name in ("utf-16-le", "utf-16-be"):
        mark = "\ufeff".encode(name)
        assert [x.data for x in cut(mark + "é\n{}".encode(name))] == ["é".encode(), b"{}"]


def test_only_a_line_feed_ends_a_line() -> None:
    text = '{"a":"\u2028\u2029\x85\x0b"}\r\n'.encode()
    assert [x.data for x in cut(text)] == [text[:-1]]


def test_a_line_over_the_cap_keeps_its_head_only() -> None:
    feed = LineFeed()
    found = []
    for _ in range(lines.LINE_CAP // (1 << 20) + 2):
        found += feed.feed(b"x" * (1 << 20))
        assert len(feed._held) <= lines.LINE_CAP
    found += feed.feed(b"\nnext\n")
    assert [(x.complete, len(x.data)) for x in found] == [(False, lines.HEAD_CAP), (True, 4)]
    assert found[0].end == found[1].start - 1


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=6))
def test_cutting_the_bytes_elsewhere_gives_the_same_lines(data: bytes, places: list[int]) -> None:
    cuts = [0, *sorted(min(place, len(data)) for place in places), len(data)]
    pieces = [data[a:b] for a, b in pairwise(cuts)]
    assert facts(cut(*pieces)) == facts(cut(data))
    assert facts(cut(*(data[i : i + 1] for i in range(len(data))))) == facts(cut(data))
