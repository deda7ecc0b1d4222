"""What an exit status says by itself, before anything is known about the command.

Every status, in any of the spellings observers use, becomes one `ExitMeaning`: the plain
0..255 status, 128+n, Python's negative signal numbers, Windows NTSTATUS values (unsigned or as
signed 32-bit numbers), 9009 of cmd.exe, None where nobody knows. Signals have
Linux numbers wherever this runs, so one capture gets one answer on every machine.

Classes, as rules name them (``exit: {class: ...}``):

=================  ====================================================================
class              holds for
=================  ====================================================================
zero               0
nonzero            every known status but 0
unknown            None: the observer has no status
negative           the number is below 0, whatever it stands for
spec               0..13, the constants of the exit-code table (`name` has the constant)
framework          14..63, reserved there for frameworks: read the text, assume nothing
sysexits           64..78, sysexits.h (`name` has EX_...)
tempfail           75, the one sysexit that says "try later"
command_specific   79..125, each tool's own
shell_reserved     126..255, and whatever stands for one of these
timeout            124, the `timeout` tool ended the command
timeout_tool       125, `timeout`, `docker run`, `chroot` and the like failed themselves
not_executable     126, found but could not be run
not_found          127, and 9009 from cmd.exe
minus_one          255 and -1 (also as 4294967295): `exit(-1)`, ssh's own failure, or an
                   observer that had no status; -1 is not read as SIGHUP
signal             129..192 or -2..-64: ended by a signal, if the tool keeps the convention
crash_signal       ILL TRAP ABRT BUS FPE SEGV SYS: the program broke
kill_signal        HUP KILL TERM: ended from outside
user_interrupt     INT QUIT, and Windows' Ctrl-C statuses
sigpipe            PIPE: the reader went away; often harmless
limit_signal       XCPU XFSZ: a resource limit
job_signal         STOP TSTP TTIN TTOU: stopped, or reached for a terminal it does not own
realtime_signal    34..64: hardly ever a signal in practice
sig<name>          each signal by its own name: sigkill, sigterm, sigalrm ...
ntstatus           a Windows NTSTATUS (`name` where it is a common one)
crash              crash_signal, or an NTSTATUS that says the program broke
loader             an NTSTATUS of the loader: a DLL or entry point is missing, nothing ran
hresult            0x8.......: a Windows HRESULT, not an NTSTATUS we know
out_of_range       outside 0..255 and nothing above: to be treated like 1
=================  ====================================================================

Sources: facts/exit_codes.yaml (spec constants, ranges), signal(7), sysexits.h, ntstatus.h.
"""

from __future__ import annotations

from typing import Literal

from triage.frozen import frozen

__all__ = ["EXIT_CLASSES", "ExitKind", "ExitMeaning", "meaning"]

ExitKind = Literal["success", "unknown", "status", "signal", "ntstatus", "out_of_range"]

_SPEC_NAMES = (
    "SUCCESS",
    "GENERAL_ERROR",
    "ARG_ERROR",
    "PARTIAL_FAILURE",
    "PRECONDITION",
    "NOT_FOUND",
    "CONFLICT",
    "PERMISSION_DENIED",
    "AUTH_REQUIRED",
    "PAYMENT_REQUIRED",
    "TIMEOUT",
    "RATE_LIMITED",
    "UNAVAILABLE",
    "REDIRECTED",
)

_SYSEXITS_NAMES = (
    "EX_USAGE",
    "EX_DATAERR",
    "EX_NOINPUT",
    "EX_NOUSER",
    "EX_NOHOST",
    "EX_UNAVAILABLE",
    "EX_SOFTWARE",
    "EX_OSERR",
    "EX_OSFILE",
    "EX_CANTCREAT",
    "EX_IOERR",
    "EX_TEMPFAIL",
    "EX_PROTOCOL",
    "EX_NOPERM",
    "EX_CONFIG",
)

# Linux numbers 1..31 (x86, arm); the signal module would answer differently on macOS.
_SIGNAL_NAMES = (
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE",
    "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT",
    "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU",
    "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
)  # fmt: skip

_SIGNAL_GROUPS = {
    "crash_signal": ("ILL", "TRAP", "ABRT", "BUS", "FPE", "SEGV", "SYS"),
    "crash": ("ILL", "TRAP", "ABRT", "BUS", "FPE", "SEGV", "SYS"),
    "kill_signal": ("HUP", "KILL", "TERM"),
    "user_interrupt": ("INT", "QUIT"),
    "limit_signal": ("XCPU", "XFSZ"),
    "job_signal": ("STOP", "TSTP", "TTIN", "TTOU"),
}

_SINGLE_STATUS = {
    75: ("tempfail",),
    124: ("timeout",),
    125: ("timeout_tool",),
    126: ("not_executable",),
    127: ("not_found",),
    255: ("minus_one",),
}

# The statuses Windows programs really end with: name and what kind of end it is.
_NTSTATUS = {
    0x40000015: ("STATUS_FATAL_APP_EXIT", "crash"),
    0x40010004: ("DBG_TERMINATE_PROCESS", ""),
    0x40010005: ("DBG_CONTROL_C", "user_interrupt"),
    0x80000001: ("STATUS_GUARD_PAGE_VIOLATION", "crash"),
    0x80000002: ("STATUS_DATATYPE_MISALIGNMENT", "crash"),
    0x80000003: ("STATUS_BREAKPOINT", "crash"),
    0x80000004: ("STATUS_SINGLE_STEP", "crash"),
    0xC0000005: ("STATUS_ACCESS_VIOLATION", "crash"),
    0xC0000006: ("STATUS_IN_PAGE_ERROR", "crash"),
    0xC0000008: ("STATUS_INVALID_HANDLE", "crash"),
    0xC000000D: ("STATUS_INVALID_PARAMETER", ""),
    0xC0000017: ("STATUS_NO_MEMORY", ""),
    0xC000001D: ("STATUS_ILLEGAL_INSTRUCTION", "crash"),
    0xC0000022: ("STATUS_ACCESS_DENIED", ""),
    0xC0000025: ("STATUS_NONCONTINUABLE_EXCEPTION", "crash"),
    0xC000007B: ("STATUS_INVALID_IMAGE_FORMAT", "loader"),
    0xC000008C: ("STATUS_ARRAY_BOUNDS_EXCEEDED", "crash"),
    0xC000008E: ("STATUS_FLOAT_DIVIDE_BY_ZERO", "crash"),
    0xC0000094: ("STATUS_INTEGER_DIVIDE_BY_ZERO", "crash"),
    0xC0000095: ("STATUS_INTEGER_OVERFLOW", "crash"),
    0xC0000096: ("STATUS_PRIVILEGED_INSTRUCTION", "crash"),
    0xC000009A: ("STATUS_INSUFFICIENT_RESOURCES", ""),
    0xC00000FD: ("STATUS_STACK_OVERFLOW", "crash"),
    0xC000012D: ("STATUS_COMMITMENT_LIMIT", ""),
    0xC0000135: ("STATUS_DLL_NOT_FOUND", "loader"),
    0xC0000138: ("STATUS_ORDINAL_NOT_FOUND", "loader"),
    0xC0000139: ("STATUS_ENTRYPOINT_NOT_FOUND", "loader"),
    0xC000013A: ("STATUS_CONTROL_C_EXIT", "user_interrupt"),
    0xC0000142: ("STATUS_DLL_INIT_FAILED", "loader"),
    0xC0000194: ("STATUS_POSSIBLE_DEADLOCK", "crash"),
    0xC000026B: ("STATUS_DLL_INIT_FAILED_LOGOFF", "loader"),
    0xC0000374: ("STATUS_HEAP_CORRUPTION", "crash"),
    0xC0000409: ("STATUS_STACK_BUFFER_OVERRUN", "crash"),
    0xC000041D: ("STATUS_FATAL_USER_CALLBACK_EXCEPTION", "crash"),
    0xC0000420: ("STATUS_ASSERTION_FAILURE", "crash"),
    0xC0000428: ("STATUS_INVALID_IMAGE_HASH", "loader"),
    0xE0434352: ("CLR_EXCEPTION", "crash"),  # an unhandled .NET exception
    0xE06D7363: ("CPP_EXCEPTION", "crash"),  # an unhandled C++ exception (MSVC)
}

EXIT_CLASSES: frozenset[str] = frozenset(
    {
        "zero",
        "nonzero",
        "unknown",
        "negative",
        "spec",
        "framework",
        "sysexits",
        "tempfail",
        "command_specific",
        "shell_reserved",
        "timeout",
        "timeout_tool",
        "not_executable",
        "not_found",
        "minus_one",
        "signal",
        "realtime_signal",
        "ntstatus",
        "loader",
        "hresult",
        "out_of_range",
        *_SIGNAL_GROUPS,
        *("sig" + name.lower() for name in _SIGNAL_NAMES),
    }
)


@frozen()
class ExitMeaning:
    """One exit status with what is generally known about it.

    `code` is the number as captured. `normal` is the 0..255 status a POSIX shell would show for
    the same end, None where there is none (-9 gives 137, 9009 gives 127). `signal` is a name
    without SIG. `name` is a spec constant, a sysexits name or an NTSTATUS name.
    """

    code: int | None
    normal: int | None
    kind: ExitKind
    signal: str | None
    signal_number: int | None
    name: str | None
    classes: frozenset[str]

    @property
    def label(self) -> str:
        """The status for a reader: ``137 (SIGKILL)``, ``0xC0000005 (STATUS_...)``, ``unknown``."""
        if self.code is None:
            return "unknown"
        # Python refuses to print an integer of more than 4,300 digits.
        if self.code.bit_length() > 128:
            return f"an integer of {self.code.bit_length()} bits"
        shown = f"0x{self.code & 0xFFFFFFFF:08X}" if self.kind == "ntstatus" else str(self.code)
        detail = f"SIG{self.signal}" if self.signal is not None else self.name
        return f"{shown} ({detail})" if detail else shown

    def __repr__(self) -> str:
        return f"<ExitMeaning {self.label}: {self.kind}>"


def meaning(code: int | None) -> ExitMeaning:
    """Return what `code` says by itself; total for None and every integer."""
    if code is None:
        return _UNKNOWN
    code = int(code)
    if not -0x80000000 <= code <= 0xFFFFFFFF:
        return _foreign(code)
    found = _cache.get(code)
    if found is None:
        found = _meaning(code)
        if -256 < code < 256:
            _cache[code] = found
    return found


def _meaning(code: int) -> ExitMeaning:
    if 0 <= code <= 255:
        return _plain(code, code)
    if code in (-1, 0xFFFFFFFF):
        return _plain(code, 255)
    if -64 <= code <= -2:
        return _plain(code, 128 - code)
    if code == 9009:
        return _plain(code, 127)
    word = code & 0xFFFFFFFF
    name, sort = _NTSTATUS.get(word, (None, ""))
    if name is None and not 0xC0000000 <= word <= 0xCFFFFFFF:
        return _foreign(code, "hresult" if 0x80000000 <= word <= 0x8FFFFFFF else "")
    return ExitMeaning(
        code=code,
        normal=None,
        kind="ntstatus",
        signal=None,
        signal_number=None,
        name=name,
        classes=_classes(code, "ntstatus", sort),
    )


def _plain(code: int, status: int) -> ExitMeaning:
    """Read `status` (0..255), which `code` stands for."""
    kind: ExitKind = "status" if status else "success"
    signal: str | None = None
    number: int | None = None
    name: str | None = None
    words: list[str] = list(_SINGLE_STATUS.get(status, ()))
    if status <= 13:
        words.append("spec")
        name = _SPEC_NAMES[status]
    elif status <= 63:
        words.append("framework")
    elif status <= 78:
        words.append("sysexits")
        name = _SYSEXITS_NAMES[status - 64]
    elif status <= 125:
        words.append("command_specific")
    else:
        words.append("shell_reserved")
        if 129 <= status <= 192:
            kind = "signal"
            number = status - 128
            signal = _signal_name(number)
            words.append("signal")
            words.append("sig" + signal.lower() if number <= 31 else "realtime_signal")
            words.extend(group for group, names in _SIGNAL_GROUPS.items() if signal in names)
    return ExitMeaning(
        code=code,
        normal=status,
        kind=kind,
        signal=signal,
        signal_number=number,
        name=name,
        classes=_classes(code, *words),
    )


def _signal_name(number: int) -> str:
    if number <= 31:
        return _SIGNAL_NAMES[number - 1]
    if number < 34:
        return str(number)  # the C library keeps 32 and 33 for itself; they have no name
    base, offset = ("RTMIN+", number - 34) if number < 50 else ("RTMAX-", 64 - number)
    return f"{base}{offset}" if offset else base[:-1]


def _foreign(code: int, word: str = "") -> ExitMeaning:
    return ExitMeaning(
        code=code,
        normal=None,
        kind="out_of_range",
        signal=None,
        signal_number=None,
        name=None,
        classes=_classes(code, "out_of_range", word),
    )


def _classes(code: int, *words: str) -> frozenset[str]:
    found = {word for word in words if word}
    found.add("nonzero" if code else "zero")
    if code < 0:
        found.add("negative")
    return frozenset(found)


_UNKNOWN = ExitMeaning(
    code=None,
    normal=None,
    kind="unknown",
    signal=None,
    signal_number=None,
    name=None,
    classes=frozenset({"unknown"}),
)
_cache: dict[int, ExitMeaning] = {}
