"""What is kept of a stream: both ends, in order, and an honest account of what is missing."""

from __future__ import annotations

import os
import resource
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triage.spool import Cut, Kept, Spool


def kept_of(pieces: list[bytes], limit: int) -> tuple[bytes, Kept]:
    spool = Spool(limit)
    for piece in pieces:
        spool.write(piece)
    kept = spool.finish()
    source = kept.source
    if isinstance(source, bytes):
        return source, kept
    data = source.read()
    source.close()
    return data, kept


@settings(max_examples=150)
@given(
    pieces=st.lists(st.binary(max_size=40), max_size=30),
    limit=st.integers(min_value=0, max_value=200),
)
def test_of_ascii_and_odd_bytes_alike_only_the_middle_may_be_missing(
    pieces: list[bytes], limit: int
) -> None:
    whole = b"".join(pieces)
    data, kept = kept_of(pieces, limit)
    assert kept.size == len(whole)
    assert len(data) <= limit
    if kept.cut is None:
        assert data == whole
    else:
        assert len(data) + kept.cut.missing == len(whole)
        assert whole.startswith(data[: kept.cut.at])
        assert whole.endswith(data[kept.cut.at :])
        # At the seam at most one character on either side is given up to keep characters whole.
        assert len(data) >= min(len(whole), limit) - 6


def test_half_of_the_limit_is_head_and_half_is_tail() -> None:
    data, kept = kept_of([b"0123456789" * 10], 20)
    assert data == b"0123456789" * 2
    assert kept.cut == Cut(at=10, missing=80)


def test_a_stream_that_fits_is_kept_whole_whether_in_memory_or_on_disk() -> None:
    for size in (1000, 300_000, 1 << 20):
        piece = os.urandom(1000)
        data, kept = kept_of([piece] * (size // 1000), 1 << 20)
        assert data == piece * (size // 1000)
        assert kept.cut is None


def test_a_piece_longer_than_the_ring_leaves_its_own_end() -> None:
    whole = bytes(range(97, 123)) * 1000
    data, _ = kept_of([whole[:5], whole[5:]], 64)
    assert data == whole[:32] + whole[-32:]


def test_no_character_is_cut_in_two() -> None:
    data, kept = kept_of(["é".encode() * 100], 50)
    assert data.decode("utf-8") == "é" * (len(data) // 2)
    assert kept.cut is not None
    assert len(data) + kept.cut.missing == 200


def test_long_streams_are_not_held_in_memory() -> None:
    spool = Spool(8 << 20)
    piece = b"x" * (1 << 16)
    tracemalloc.start()
    for _ in range(1 << 10):
        spool.write(piece)
    kept = spool.finish()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept.size == 64 << 20
    assert peak < 2 << 20
    assert not isinstance(kept.source, bytes)
    kept.source.close()


def test_a_spool_leaves_no_file_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spool = Spool(1 << 20)
    spool.write(b"x" * (2 << 20))
    kept = spool.finish()
    assert list(tmp_path.iterdir()) == []
    assert not isinstance(kept.source, bytes)
    kept.source.close()


def test_a_disk_that_is_full_costs_the_rest_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    # RLIMIT_FSIZE makes the system refuse as a full disk does, with another errno.
    import signal

    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, old[1]))
    try:
        spool = Spool(8 << 20)
        for _ in range(20):
            spool.write(b"y" * 100_000)
        kept = spool.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert kept.lost == "File too large"
    assert kept.size == 2_000_000
    assert kept.cut is not None
    assert not isinstance(kept.source, bytes)
    assert kept.source.read(kept.cut.at) == b"y" * kept.cut.at
    kept.source.close()
