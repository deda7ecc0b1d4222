"""Both ends of a stream are read, never more than asked for, whatever holds the bytes."""

from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.errors import CaptureError
from triage.windows import Window, read_window


class Pipe(io.RawIOBase):
    """A stream that can't seek and gives a few bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        self.rest = data
        self.step = step

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        size = min(self.step, size if size >= 0 else self.step)
        part, self.rest = self.rest[:size], self.rest[size:]
        return part


def expected(data: bytes, head: int, tail: int) -> Window:
    if len(data) <= head + tail:
        return Window(data, None, len(data))
    return Window(data[:head], data[len(data) - tail :], len(data))


@given(st.binary(max_size=80), st.integers(0, 30), st.integers(0, 30), st.integers(1, 7))
def test_a_file_and_a_pipe_give_the_same_window(
    data: bytes, head: int, tail: int, step: int
) -> None:
    wanted = expected(data, head, tail)
    assert read_window("stdout", io.BytesIO(data), head, tail) == wanted
    assert read_window("stdout", Pipe(data, step), head, tail) == wanted


def test_a_path_is_read_at_both_ends(tmp_path: Path) -> None:
    file = tmp_path / "out.log"
    file.write_bytes(b"first" + b"." * 5_000 + b"last!")
    assert read_window("stdout", file, 5, 5) == Window(b"first", b"last!", 5_010)


def test_no_more_is_read_than_the_window_and_the_file_stands_where_it_stood() -> None:
    class Counting(io.BytesIO):
        given = 0

        def read(self, size: int | None = -1, /) -> bytes:
            part = super().read(size)
            self.given += len(part)
            return part

    file = Counting(b"skipped" + b"x" * 1_000_000)
    file.seek(7)
    window = read_window("stdout", file, 100, 200)
    assert (len(window.head), len(window.tail or b""), window.size) == (100, 200, 1_000_000)
    assert file.given == 300
    assert file.tell() == 7


def test_a_long_pipe_is_held_only_in_part() -> None:
    class Endless(io.RawIOBase):
        left = 64 << 20

        def read(self, size: int = -1) -> bytes:
            size = min(size, self.left)
            self.left -= size
            return b"\0" * size

    import tracemalloc

    tracemalloc.start()
    window = read_window("stdout", Endless(), 1 << 20, 1 << 20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert window.size == 64 << 20
    assert peak < 10 << 20


def test_a_named_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_bytes, args=(b"a" * 1_000 + b"z" * 10,))
    writer.start()
    window = read_window("stderr", fifo, 100, 10)
    writer.join()
    assert (window.tail, window.size) == (b"z" * 10, 1_010)


def test_a_file_that_claims_to_be_empty_is_read_all_the_same(tmp_path: Path) -> None:
    class Claims(io.BytesIO):
        def seek(self, offset: int, whence: int = 0, /) -> int:
            return 0 if whence == os.SEEK_END else super().seek(offset, whence)

    assert read_window("stdout", Claims(b"cpu 1 2 3\n"), 100, 100).head == b"cpu 1 2 3\n"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (Path("/nonexistent/out.log"), "stdout: can't be read: .*out.log"),
        (Path("nul\0byte"), "stdout: can't be read"),
        (io.StringIO("text"), "stdout: the file gives text; open it in binary mode"),
        (42, "stdout: got int; give text, bytes"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_stream_and_the_remedy(
    source: object, says: str
) -> None:
    with pytest.raises(CaptureError, match=says):
        read_window("stdout", source, 10, 10)


def test_a_directory_and_a_closed_file_are_errors_of_the_capture(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="stderr: can't be read"):
        read_window("stderr", tmp_path, 10, 10)
    closed = io.BytesIO(b"x")
    closed.close()
    with pytest.raises(CaptureError, match=r"stderr: can't be read: .*closed"):
        read_window("stderr", closed, 10, 10)
