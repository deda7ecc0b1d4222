"""The way out: every byte in order, and never stuck on a reader that does not read."""

from __future__ import annotations

import io
import os
import socket
import threading
from pathlib import Path

import pytest

from triage.errors import UsageError
from triage.passthrough import Sink, sinks_for


def test_a_file_takes_everything_at_once(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb", buffering=0) as file:
        sink = Sink(file.fileno())
        sink.offer(b"a" * 3_000_000)
        sink.offer(b"b")
        assert not sink.waiting
    assert (tmp_path / "out").read_bytes() == b"a" * 3_000_000 + b"b"


def test_a_full_pipe_makes_bytes_wait_and_a_reader_gets_them_all_in_order() -> None:
    read_end, write_end = os.pipe()
    sink = Sink(write_end)
    sent = os.urandom(1 << 20)
    for start in range(0, len(sent), 65536):
        sink.offer(sent[start : start + 65536])
    assert sink.waiting
    got = bytearray()
    while len(got) < len(sent):
        got += os.read(read_end, 10_000)
        sink.flush()
    assert bytes(got) == sent
    assert not sink.waiting
    os.close(read_end)
    os.close(write_end)


def test_the_pipe_of_others_stays_a_blocking_one() -> None:
    read_end, write_end = os.pipe()
    Sink(write_end).offer(b"x")
    assert os.get_blocking(write_end)
    os.close(read_end)
    os.close(write_end)


def test_a_reader_that_has_gone_is_noticed_and_nothing_raises() -> None:
    read_end, write_end = os.pipe()
    sink = Sink(write_end)
    os.close(read_end)
    sink.offer(b"x")
    sink.offer(b"y")
    assert sink.broken == "Broken pipe"
    assert not sink.waiting
    os.close(write_end)


def test_a_socket_that_nobody_reads_does_not_block() -> None:
    ours, theirs = socket.socketpair()
    sink = Sink(ours.fileno())
    for _ in range(200):
        sink.offer(b"z" * 65536)
    assert sink.waiting
    ours.close()
    theirs.close()


def test_what_a_reader_misses_is_the_end_never_the_middle() -> None:
    read_end, write_end = os.pipe()
    sink = Sink(write_end)
    numbers = b"".join(b"%08d" % number for number in range(1 << 20))
    for start in range(0, len(numbers), 65536):
        sink.offer(numbers[start : start + 65536])
    assert sink.dropped > 0
    got = bytearray()

    def read() -> None:
        while data := os.read(read_end, 65536):
            got.extend(data)

    reader = threading.Thread(target=read)
    reader.start()
    while sink.waiting:
        sink.flush()
    os.close(write_end)
    reader.join()
    os.close(read_end)
    assert numbers.startswith(bytes(got))
    assert len(got) + sink.dropped == len(numbers)


def test_a_writer_gets_the_pieces_as_they_come() -> None:
    out, err = io.BytesIO(), io.BytesIO()
    first, second = sinks_for((out, err))
    first.offer(b"one")
    second.offer(b"two")
    first.offer(b"three")
    assert (out.getvalue(), err.getvalue()) == (b"onethree", b"two")


def test_no_passthrough_takes_bytes_nowhere() -> None:
    for sink in sinks_for(False):
        sink.offer(b"x" * 100)
        assert not sink.waiting


def test_a_descriptor_that_is_not_open_is_refused_before_anything_starts() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    os.close(write_end)
    with pytest.raises(UsageError, match="is not open"):
        sinks_for((write_end, None))
