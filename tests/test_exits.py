"""An exit status by itself: one meaning for every spelling observers use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage import exits
from triage.exits import EXIT_CLASSES, meaning

ANY_CODE = st.one_of(
    st.none(),
    st.integers(),
    st.integers(-300, 300),
    st.integers(0xC0000000, 0xFFFFFFFF),
    st.integers(-0x80000000, -1),
    st.integers(4_000, 6_000).map(lambda digits: 10**digits),
    st.integers(4_000, 6_000).map(lambda digits: -(10**digits)),
)


@given(ANY_CODE)
def test_every_status_has_a_meaning_made_of_known_words(code: int | None) -> None:
    found = meaning(code)
    assert found.code == code
    assert found.classes <= EXIT_CLASSES
    assert (found.kind == "signal") == (found.signal is not None) == ("signal" in found.classes)
    assert (found.kind == "unknown") == (code is None) == ("unknown" in found.classes)
    assert (found.kind == "success") == (code == 0) == ("zero" in found.classes)
    assert found.normal is None or 0 <= found.normal <= 255
    assert len(found.label) < 120
    assert found.label in repr(found)
    assert meaning(code) == found


@given(st.integers(2, 64))
def test_a_negative_signal_number_means_what_the_shell_status_means(number: int) -> None:
    by_python, by_shell = meaning(-number), meaning(128 + number)
    assert by_python.signal == by_shell.signal
    assert by_python.normal == by_shell.code
    assert by_python.classes == by_shell.classes | {"negative"}


@given(st.integers(0xC0000000, 0xCFFFFFFF))
def test_ntstatus_means_the_same_signed_and_unsigned(code: int) -> None:
    unsigned, signed = meaning(code), meaning(code - 2**32)
    assert unsigned.kind == signed.kind == "ntstatus"
    assert unsigned.name == signed.name
    assert signed.classes == unsigned.classes | {"negative"}
    assert signed.label == unsigned.label


@pytest.mark.parametrize(
    ("number", "name"),
    # As signal(7) numbers them for x86 and ARM; typed from there, not from our table.
    [(1, "HUP"), (2, "INT"), (3, "QUIT"), (4, "ILL"), (6, "ABRT"), (7, "BUS"), (8, "FPE"),
     (9, "KILL"), (10, "USR1"), (11, "SEGV"), (13, "PIPE"), (14, "ALRM"), (15, "TERM"),
     (17, "CHLD"), (19, "STOP"), (21, "TTIN"), (24, "XCPU"), (25, "XFSZ"), (31, "SYS"),
     (34, "RTMIN"), (35, "RTMIN+1"), (64, "RTMAX")],
)  # fmt: skip
def test_signals_have_linux_names(number: int, name: str) -> None:
    found = meaning(128 + number)
    assert (found.kind, found.signal, found.signal_number) == ("signal", name, number)


@pytest.mark.parametrize(
    ("code", "classes"),
    [
        (0, {"zero", "spec"}),
        (1, {"nonzero", "spec"}),
        (13, {"nonzero", "spec"}),
        (14, {"nonzero", "framework"}),
        (63, {"nonzero", "framework"}),
        (64, {"nonzero", "sysexits"}),
        (75, {"nonzero", "sysexits", "tempfail"}),
        (79, {"nonzero", "command_specific"}),
        (124, {"nonzero", "command_specific", "timeout"}),
        (125, {"nonzero", "command_specific", "timeout_tool"}),
        (126, {"nonzero", "shell_reserved", "not_executable"}),
        (127, {"nonzero", "shell_reserved", "not_found"}),
        (128, {"nonzero", "shell_reserved"}),
        (130, {"nonzero", "shell_reserved", "signal", "sigint", "user_interrupt"}),
        (137, {"nonzero", "shell_reserved", "signal", "sigkill", "kill_signal"}),
        (139, {"nonzero", "shell_reserved", "signal", "sigsegv", "crash_signal", "crash"}),
        (141, {"nonzero", "shell_reserved", "signal", "sigpipe"}),
        (150, {"nonzero", "shell_reserved", "signal", "sigttou", "job_signal"}),
        (153, {"nonzero", "shell_reserved", "signal", "sigxfsz", "limit_signal"}),
        (170, {"nonzero", "shell_reserved", "signal", "realtime_signal"}),
        (193, {"nonzero", "shell_reserved"}),
        (255, {"nonzero", "shell_reserved", "minus_one"}),
        (-1, {"nonzero", "shell_reserved", "minus_one", "negative"}),
        (4294967295, {"nonzero", "shell_reserved", "minus_one"}),
        (256, {"nonzero", "out_of_range"}),
        (-65, {"nonzero", "out_of_range", "negative"}),
        (9009, {"nonzero", "shell_reserved", "not_found"}),
        (0xC0000005, {"nonzero", "ntstatus", "crash"}),
        (-1073741510, {"nonzero", "negative", "ntstatus", "user_interrupt"}),
        (0xC0000135, {"nonzero", "ntstatus", "loader"}),
        (0xC0000022, {"nonzero", "ntstatus"}),
        (-2147024891, {"nonzero", "negative", "out_of_range", "hresult"}),
        (None, {"unknown"}),
    ],
)
def test_classes_of_the_statuses_that_matter(code: int | None, classes: set[str]) -> None:
    assert meaning(code).classes == classes


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (0, "SUCCESS"),
        (1, "GENERAL_ERROR"),
        (2, "ARG_ERROR"),
        (8, "AUTH_REQUIRED"),
        (10, "TIMEOUT"),
        (13, "REDIRECTED"),
        (14, None),
        (64, "EX_USAGE"),
        (69, "EX_UNAVAILABLE"),
        (75, "EX_TEMPFAIL"),
        (78, "EX_CONFIG"),
        (3221225477, "STATUS_ACCESS_VIOLATION"),
        (-1073741819, "STATUS_ACCESS_VIOLATION"),
        (0xC000013A, "STATUS_CONTROL_C_EXIT"),
        (0x80000003, "STATUS_BREAKPOINT"),
        (0xE0434352, "CLR_EXCEPTION"),
        (0xC0FFEE00, None),
    ],
)
def test_names(code: int, name: str | None) -> None:
    assert meaning(code).name == name


def test_minus_one_is_not_taken_for_a_hangup() -> None:
    assert meaning(-1).signal is None
    assert meaning(-1).normal == 255
    assert meaning(129).signal == "HUP"


def test_the_command_interpreter_of_windows_also_says_not_found() -> None:
    assert meaning(9009).normal == 127


@pytest.mark.parametrize(
    ("code", "label"),
    [
        (None, "unknown"),
        (0, "0 (SUCCESS)"),
        (137, "137 (SIGKILL)"),
        (-9, "-9 (SIGKILL)"),
        (99, "99"),
        (-1073741819, "0xC0000005 (STATUS_ACCESS_VIOLATION)"),
    ],
)
def test_labels(code: int | None, label: str) -> None:
    assert meaning(code).label == label


def test_a_number_of_five_thousand_digits_has_a_label_too() -> None:
    assert meaning(10**5000).label == "an integer of 16610 bits"


def test_a_boolean_counts_as_its_number() -> None:
    assert meaning(True) == meaning(1)


def test_each_class_is_explained_in_the_module_table() -> None:
    lines = (exits.__doc__ or "").splitlines()
    explained = {line.split()[0] for line in lines if line[:1].isalpha() and "  " in line}
    by_name = {word for word in EXIT_CLASSES if word.startswith("sig") and word != "signal"}
    assert EXIT_CLASSES - by_name <= explained
    assert "sig<name>" in explained
