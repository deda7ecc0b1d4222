"""Record one real command, or a plan of many, as corpus cases.

One case::

    python corpus/record.py --chapter 06-usage --id git-log-badflag --tool git --row 6 \\
        --modes 14,35 --why 'git refuses a flag it does not know' -- git log --bogus

Many cases, documented by the file that made them::

    python corpus/record.py --batch corpus/plans/06-usage.yaml

The label is an argument, so it is written before anything runs; nothing here knows the
classifier. Each command runs in an empty temporary directory with a home of its own, in its own
session, under a limit. What names the recording machine (directories, home, user, host, the port
of a fixture) is replaced; nothing else of the output is touched.

A case whose stream is not plain text keeps the raw bytes beside it (``<id>.stdout.bin``) and
names them (``stdout_file``).
"""

from __future__ import annotations

import argparse
import contextlib
import getpass
import os
import pty
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from fixtures.serve import canonical_port, serve  # noqa: E402

CHAPTERS: tuple[str, ...] = (
    "00-expected-exit",
    "01-error-envelope",
    "02-masked-failure",
    "03-hang",
    "04-command-not-found",
    "05-runtime-version",
    "06-usage",
    "07-invalid-json",
    "08-crash",
    "09-polluted-json",
    "10-output-size",
    "11-rate-limit",
    "12-auth",
    "13-network",
    "14-killed",
    "15-foreign-language",
    "16-prose-exit",
    "99-clean-exit",
)
SCHEMA_LINE = "# yaml-language-server: $schema=../../rules/schema/case.schema.json\n"
LABELLED_BY = "recorder, from the seed's table before any run"

# Streams longer than this belong in chapter 10 only; elsewhere a smaller command says the same.
USUAL_BYTES = 20_000
# A stream with control characters stays in the YAML, quoted, while it is short enough to read.
QUOTED_BYTES = 600

DEMO_DIR = "/work/demo"
DEMO_HOME = "/home/dev"
DEMO_USER = "dev"
DEMO_HOST = "host"
DEMO_KERNEL = "6.1.0-18-amd64"


class RecordError(Exception):
    """A plan entry that cannot be recorded as it stands; the message names entry and key."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How to make one case: the call, its surroundings and its label."""

    id: str
    chapter: str
    tool: str
    why: str
    command: str | tuple[str, ...]  # text is a line for `interpreter`, a tuple is run directly
    verdict: str = "failure"
    row: int | None = None
    row_alt: tuple[int, ...] = ()
    modes: tuple[int, ...] = ()
    interpreter: str = "bash"
    setup: str = ""
    teardown: str = ""  # ends what the setup left running
    files: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 6.0
    stdin: str = "null"
    pty: bool = False
    merge: bool = False
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "."
    fixture: str | None = None
    kill: str = "KILL"
    exit_style: str = "python"
    exit_code: int | None = None  # what the author expects to see; another status is an error
    user: str | None = None
    version: str | None = None  # a line that prints the tool's version
    literal_row: int | None = None
    source: str = "recorded"
    labelled_by: str = LABELLED_BY


@dataclass(frozen=True, slots=True)
class Observed:
    """What one run showed: raw bytes, status in Python's style, seconds."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    duration_s: float


# --- plans -----------------------------------------------------------------------------------

_ALIASES = {"timeout": "timeout_s", "exit": "exit_style", "expect_exit": "exit_code"}


def plan_from_mapping(entry: Mapping[str, Any], where: str) -> Plan:
    """Build a `Plan` from one entry of a plan file; raises `RecordError` naming `where`."""
    data = {_ALIASES.get(key, key): value for key, value in entry.items()}
    line, argv = data.pop("shell", None), data.pop("cmd", None)
    if (line is None) == (argv is None):
        raise RecordError(f"{where}: give either `shell` (a line) or `cmd` (a list)")
    if data.pop("pipefail", False):
        if line is None:
            raise RecordError(f"{where}: `pipefail` needs `shell`")
        line = f"set -o pipefail; {line}"
    data["command"] = line if line is not None else tuple(str(word) for word in argv)
    for key in ("modes", "row_alt"):
        data[key] = tuple(data.get(key, ()))
    data["env"] = {key: str(value) for key, value in data.get("env", {}).items()}
    if data.get("row") == 0:  # the table has no row 0: it means "no failure"
        data["row"], data["verdict"] = None, data.get("verdict", "not_failure")
    try:
        plan = Plan(**data)
    except TypeError as problem:
        raise RecordError(f"{where}: {problem}") from None
    if plan.chapter not in CHAPTERS:
        raise RecordError(f"{where}: no chapter `{plan.chapter}`; there are {', '.join(CHAPTERS)}")
    if plan.verdict == "failure" and plan.row is None:
        raise RecordError(f"{where}: a failure needs `row`")
    return plan


def read_plans(path: Path) -> list[Plan]:
    """Read a plan file: a list of entries, or a mapping with `defaults` and `cases`."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    defaults: Mapping[str, Any] = {}
    if isinstance(data, Mapping):
        defaults, data = data.get("defaults", {}), data["cases"]
    return [
        plan_from_mapping({**defaults, **entry}, f"{path.name}#{entry.get('id', number)}")
        for number, entry in enumerate(data, start=1)
    ]


# --- running ---------------------------------------------------------------------------------


def _environment(base: Path, extra: Mapping[str, str]) -> dict[str, str]:
    """Return a plain environment: nothing of the recording machine but PATH and toolchains."""
    kept = ("PATH", "RUSTUP_HOME", "CARGO_HOME", "PYENV_ROOT", "JAVA_HOME", "GOCACHE")
    environment = {key: os.environ[key] for key in kept if key in os.environ}
    environment |= {
        "HOME": str(base / "home"),
        "USER": DEMO_USER,
        "LOGNAME": DEMO_USER,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "SHELL": "/bin/bash",
        "TMPDIR": str(base / "tmp"),
    }
    environment.update(extra)
    return environment


def _with_fixture(text: str, url: str, port: int) -> str:
    return text.replace("{url}", url).replace("{port}", str(port))


def _kill_group(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _drain(descriptor: int, into: list[bytes]) -> None:
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # EIO: the last writer of a pseudo-terminal is gone
            return
        if not chunk:
            return
        into.append(chunk)


@contextlib.contextmanager
def _stdin(plan: Plan, base: Path) -> Iterator[int]:
    """Yield the descriptor the command reads: null, a pipe nobody writes to, a file, a text."""
    if plan.stdin == "null":
        with Path(os.devnull).open("rb") as source:
            yield source.fileno()
    elif plan.stdin == "open":
        reader, writer = os.pipe()
        try:
            yield reader
        finally:
            os.close(reader)
            os.close(writer)
    elif plan.stdin.startswith("text:"):
        path = base / "stdin"
        path.write_text(plan.stdin.removeprefix("text:"), encoding="utf-8")
        with path.open("rb") as source:
            yield source.fileno()
    else:
        with (base / "demo" / plan.stdin).open("rb") as source:
            yield source.fileno()


def _spawn(plan: Plan, argv: Sequence[str], base: Path, env: dict[str, str]) -> Observed:
    """Run `argv` in its own session and collect both streams; merged ones end up in stdout."""
    out: list[bytes] = []
    err: list[bytes] = []
    with _stdin(plan, base) as source:
        if plan.pty:
            near, far = pty.openpty()
            ends: list[tuple[int, list[bytes]]] = [(near, out)]
            streams = (far, far, far)
        else:
            read_out, write_out = os.pipe()
            read_err, write_err = os.pipe()
            ends = [(read_out, out), (read_err, err)]
            streams = (source, write_out, write_out if plan.merge else write_err)

        def take_terminal() -> None:
            import fcntl
            import termios

            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        if plan.pty:
            import fcntl
            import struct
            import termios

            fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        start = time.monotonic()
        process = subprocess.Popen(
            argv,
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            cwd=base / "demo" / plan.cwd,
            env=env,
            start_new_session=True,
            preexec_fn=take_terminal if plan.pty else None,
            user=plan.user,
            group=plan.user,
            extra_groups=[] if plan.user else None,
        )
        for end in {far} if plan.pty else {write_out, write_err}:
            os.close(end)
        threads = [
            threading.Thread(target=_drain, args=(end, into), daemon=True) for end, into in ends
        ]
        for thread in threads:
            thread.start()
        timed_out = False
        try:
            process.wait(plan.timeout_s)
            for thread in threads:  # children in the background may still hold the streams
                thread.join(max(0.0, start + plan.timeout_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            timed_out = True
            _kill_group(process, getattr(signal, f"SIG{plan.kill}"))
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                _kill_group(process, signal.SIGKILL)
                process.wait(2)
        duration = time.monotonic() - start
        for thread in threads:
            thread.join(0.5)
        _kill_group(process, signal.SIGKILL)  # what the command left behind is ours to end
        for end, _ in ends:
            os.close(end)
    status = process.returncode
    if plan.exit_style == "shell" and status < 0:
        status = 128 - status
    return Observed(status, b"".join(out), b"".join(err), timed_out, round(duration, 3))


def _version(plan: Plan, base: Path, env: dict[str, str]) -> str:
    line = plan.version or f"{plan.tool} --version"
    try:
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=base / "home",
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
        )
    except subprocess.TimeoutExpired:
        return "unknown"
    text = (done.stdout or done.stderr).decode("utf-8", "replace").strip()
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return text.splitlines()[0][:120] if text and done.returncode == 0 else "unknown"


_VERSIONS: dict[tuple[str, str | None], str] = {}


def record(plan: Plan) -> dict[str, Any]:
    """Run the command of `plan` and return the case as the mapping that is written to YAML.

    Streams are `str` where they are clean text, else `bytes`. Raises `RecordError` where the
    preparation fails or the status is not the one the plan foresaw.
    """
    base = Path(tempfile.mkdtemp(prefix="case-"))
    try:
        for name in ("demo", "home", "tmp"):
            (base / name).mkdir()
            (base / name).chmod(0o777)
        base.chmod(0o755)
        with contextlib.ExitStack() as stack:
            url, port = "", 0
            if plan.fixture is not None:
                url, port = stack.enter_context(serve(plan.fixture))
            env = _environment(base, {k: _with_fixture(v, url, port) for k, v in plan.env.items()})
            for name, content in plan.files.items():
                path = base / "demo" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(_with_fixture(content, url, port), encoding="utf-8")
                if content.startswith("#!"):
                    path.chmod(0o755)
            if plan.setup:
                _prepare(plan, _with_fixture(plan.setup, url, port), base, env)
            if isinstance(plan.command, str):
                line = _with_fixture(plan.command, url, port)
                argv = [plan.interpreter, "-c", line]
                if plan.interpreter == "busybox":
                    argv = ["busybox", "sh", "-c", line]
            else:
                argv = [_with_fixture(word, url, port) for word in plan.command]
                line = shlex.join(argv)
            key = (plan.tool, plan.version)
            if key not in _VERSIONS:
                _VERSIONS[key] = _version(plan, base, env)
            seen = _spawn(plan, argv, base, env)
            if plan.teardown:
                _prepare(plan, _with_fixture(plan.teardown, url, port), base, env)
        if plan.exit_code is not None and plan.exit_code != seen.exit_code:
            raise RecordError(
                f"{plan.id}: exit {seen.exit_code}, the plan foresaw {plan.exit_code}\n"
                f"  stdout: {seen.stdout[-400:]!r}\n  stderr: {seen.stderr[-400:]!r}"
            )
        if seen.exit_code == 127 and plan.exit_code is None and plan.row != 4:
            raise RecordError(f"{plan.id}: exit 127 but no row 4: is the tool installed here?")
        ports = {port: canonical_port(plan.fixture)} if plan.fixture else {}
        scrub = Scrubber.of_this_machine(base, ports)
        return _case(plan, line, _VERSIONS[key], seen, scrub)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _prepare(plan: Plan, lines: str, base: Path, env: dict[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-e", "-c", lines],
        cwd=base / "demo",
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=240,
    )
    if done.returncode:
        raise RecordError(f"{plan.id}: setup exits {done.returncode}: {done.stderr[-600:]!r}")


# --- what names this machine -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scrubber:
    """Replaces what names the recording machine; order matters, longest first."""

    pairs: tuple[tuple[bytes, bytes], ...]

    @classmethod
    def of_this_machine(cls, base: Path, ports: Mapping[int, int]) -> Scrubber:
        """Collect this machine's directories, home, kernel, user and host.

        Further pairs come from the variable RECORD_REPLACE, as ``FROM=TO`` joined by colons:
        the places where tools were installed for the recording.
        """
        pairs = [(str(base / "demo"), DEMO_DIR), (str(base / "home"), DEMO_HOME)]
        pairs += [(str(base / "tmp"), "/tmp"), (str(base), "/work"), (base.name, "work")]
        for item in filter(None, os.environ.get("RECORD_REPLACE", "").split(":")):
            old, _, new = item.partition("=")
            pairs.append((old, new))
        pairs.append((str(Path.home()), DEMO_HOME))
        pairs.append((os.uname().release, DEMO_KERNEL))
        host = socket.gethostname()
        for user in (getpass.getuser(), DEMO_USER):
            pairs.append((f"{user}@{host}", f"{DEMO_USER}@{DEMO_HOST}"))
        if len(host) > 3:  # a shorter one is a word that output may hold for other reasons
            pairs.append((host, DEMO_HOST))
        pairs += [(str(real), str(written)) for real, written in ports.items()]
        return cls(tuple((old.encode(), new.encode()) for old, new in pairs))

    def bytes(self, data: bytes) -> bytes:
        """Return `data` with every name of this machine replaced."""
        for old, new in self.pairs:
            if old[:1].isdigit():  # a port: never inside a longer number
                data = re.sub(rb"(?<!\d)" + re.escape(old) + rb"(?!\d)", new, data)
            else:
                data = data.replace(old, new)
        return data

    def text(self, text: str) -> str:
        """Return `text` with every name of this machine replaced."""
        return self.bytes(text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")


# --- writing ---------------------------------------------------------------------------------

# C0 but tab and newline, DEL, C1, the Unicode line separators and the BOM: YAML would escape
# or normalise them, so they cannot stand in a block.
_NOT_PLAIN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def is_plain(text: str) -> bool:
    """Tell whether a YAML literal block holds `text` readably and byte for byte."""
    return _NOT_PLAIN.search(text) is None


def _stream(data: bytes) -> str | bytes:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    return text if is_plain(text) or len(data) <= QUOTED_BYTES else data


def _case(plan: Plan, line: str, version: str, seen: Observed, scrub: Scrubber) -> dict[str, Any]:
    capture: dict[str, Any] = {"command": scrub.text(line), "exit_code": seen.exit_code}
    if plan.pty or plan.merge:
        capture["merged"] = True
    capture["stdout"] = _stream(scrub.bytes(seen.stdout))
    capture["stderr"] = _stream(scrub.bytes(seen.stderr))
    capture["timed_out"] = seen.timed_out
    capture["duration_s"] = seen.duration_s
    if plan.interpreter not in ("bash", "sh") and isinstance(plan.command, str):
        capture["shell"] = plan.interpreter
    surroundings = {
        "stdin": "null" if plan.pty else plan.stdin,
        "pty": plan.pty,
        "env": {name: scrub.text(value) for name, value in plan.env.items()},
        "cwd": plan.cwd,
        "fixture": plan.fixture,
        "user": plan.user,
        "limit_s": plan.timeout_s if seen.timed_out else None,
    }
    usual = {"stdin": "null", "pty": False, "env": {}, "cwd": "."}
    how = {
        key: scrub.text(value) if isinstance(value, str) else value
        for key, value in surroundings.items()
        if value != usual.get(key)
    }
    return {
        "id": plan.id,
        "tool": plan.tool,
        "tool_version": scrub.text(version),
        "source": plan.source,
        "capture": capture,
        **({"how": how} if how else {}),
        "expect": expectation(plan.verdict, plan.row, plan.row_alt, plan.modes, plan.literal_row),
        "labelled_by": plan.labelled_by,
        "why": plan.why,
    }


def expectation(
    verdict: str,
    row: int | None,
    row_alt: Sequence[int],
    modes: Sequence[int],
    literal_row: int | None = None,
) -> dict[str, Any]:
    """Return the `expect` part of a case; empty lists are left out, row is null for row 0."""
    expect: dict[str, Any] = {"verdict": verdict, "row": row}
    if row_alt:
        expect["row_alt"] = list(row_alt)
    if modes:
        expect["modes"] = list(modes)
    if literal_row is not None:
        expect["literal_row"] = literal_row
    return expect


class _Dumper(yaml.SafeDumper):
    """Writes multi-line text as literal blocks and lists of numbers in one line."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _scalar(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if is_plain(text):
        return dumper.represent_scalar("tag:yaml.org,2002:str", text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')


def _sequence(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=True)


_Dumper.add_representer(str, _scalar)
_Dumper.add_representer(list, _sequence)


def _block(key: str, text: str, indent: int) -> str:
    """Return ``key: |`` with `text` below it.

    Written by hand: PyYAML gives up the block style for tabs and for spaces at line ends, which
    is what real output is full of.
    """
    pad = " " * (indent + 2)
    first = next((line for line in text.split("\n") if line), "")
    hint = "2" if first[:1] in (" ", "\t") or text.startswith("\n") else ""
    body = text.removesuffix("\n")
    chomp = "-" if body == text else "+" if body.endswith("\n") or not body else ""
    lines = "\n".join(f"{pad}{line}" if line else "" for line in body.split("\n"))
    return f"{' ' * indent}{key}: |{hint}{chomp}\n{lines}\n"


def to_yaml(case: Mapping[str, Any], indent: int = 0) -> str:
    """Return the case as YAML; bytes must have been moved to a file before."""
    parts = []
    for key, value in case.items():
        if isinstance(value, Mapping):
            parts.append(f"{' ' * indent}{key}:\n{to_yaml(value, indent + 2)}")
        elif isinstance(value, str) and "\n" in value and is_plain(value):
            parts.append(_block(key, value, indent))
        else:
            dumped = yaml.dump(
                {key: value}, Dumper=_Dumper, allow_unicode=True, width=10**6, sort_keys=False
            )
            parts.append(" " * indent + dumped)
    return "".join(parts)


def write_case(case: Mapping[str, Any], chapter: str, corpus: Path = HERE) -> Path:
    """Write `corpus/<chapter>/<id>.yaml` and its raw streams; returns the path of the YAML.

    Raises `RecordError` where the file, read back, is not the case that was given.
    """
    folder = corpus / chapter
    folder.mkdir(parents=True, exist_ok=True)
    capture: dict[str, Any] = {}
    for key, value in case["capture"].items():
        beside = folder / f"{case['id']}.{key}.bin"
        if isinstance(value, bytes):
            beside.write_bytes(value)
            capture[f"{key}_file"] = beside.name
        else:
            beside.unlink(missing_ok=True)
            capture[key] = value
    written = {**case, "capture": capture}
    text = SCHEMA_LINE + to_yaml(written)
    if yaml.safe_load(text) != written:
        raise RecordError(f"{case['id']}: YAML does not give the case back")
    path = folder / f"{case['id']}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def _summary(case: Mapping[str, Any]) -> str:
    def shown(value: str | bytes) -> str:
        text = value if isinstance(value, str) else value.decode("utf-8", "replace")
        return repr(text if len(text) <= 260 else f"{text[:130]} … {text[-130:]}")

    capture, expect = case["capture"], case["expect"]
    limit = " TIMED OUT" if capture["timed_out"] else ""
    lines = [
        f"{case['id']}  row {expect['row']} {expect['verdict']} {expect.get('modes', [])}",
        f"  $ {capture['command']}",
        f"  exit {capture['exit_code']}{limit} {capture['duration_s']}s  {case['tool_version']}",
    ]
    for stream in ("stdout", "stderr"):
        if capture[stream]:
            lines.append(f"  {stream}[{len(capture[stream])}] {shown(capture[stream])}")
            if len(capture[stream]) > USUAL_BYTES:
                lines.append(f"  !! {stream} is longer than {USUAL_BYTES}: choose a smaller call")
    return "\n".join(lines)


# --- the command line ------------------------------------------------------------------------


def _numbers(text: str) -> list[int]:
    return [int(item) for item in text.split(",") if item]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--batch", type=Path, help="a plan file under corpus/plans/")
    parser.add_argument("--only", help="regular expression: record only these ids of the plan")
    parser.add_argument("--missing", action="store_true", help="only cases not on disk yet")
    parser.add_argument("--out", type=Path, default=HERE, help="corpus directory to write to")
    parser.add_argument("--dry-run", action="store_true", help="run and show, write nothing")
    parser.add_argument("--chapter", choices=CHAPTERS)
    parser.add_argument("--id")
    parser.add_argument("--tool")
    parser.add_argument("--row", type=int, help="the seed's row; 0 for no failure")
    parser.add_argument("--row-alt", type=_numbers, default=[])
    parser.add_argument("--modes", type=_numbers, default=[])
    verdicts = ("failure", "not_failure", "ambiguous", "insufficient")
    parser.add_argument("--verdict", choices=verdicts)
    parser.add_argument("--why")
    parser.add_argument("--setup", default="", help="shell lines run first in the directory")
    parser.add_argument("--timeout", type=float, default=6.0)
    parser.add_argument("--stdin", default="null", help="null, open, text:... or a file")
    parser.add_argument("--pty", action="store_true")
    parser.add_argument("--merge", action="store_true", help="both streams into one")
    parser.add_argument("--env", action="append", default=[], metavar="K=V")
    parser.add_argument("--cwd", default=".")
    parser.add_argument("--fixture", help="see corpus/fixtures/serve.py; {url}, {port} in the call")
    parser.add_argument("--kill", default="KILL", choices=("KILL", "TERM", "INT"))
    parser.add_argument("--exit", default="python", choices=("python", "shell"))
    parser.add_argument("--expect-exit", type=int)
    parser.add_argument("--user", help="run as this user (root only)")
    parser.add_argument("--version", help="a line that prints the tool's version")
    parser.add_argument("--interpreter", default="bash", help="which shell runs --shell")
    parser.add_argument("--shell", metavar="LINE")
    parser.add_argument("--pipefail", action="store_true")
    parser.add_argument("cmd", nargs="*", metavar="CMD", help="after --")
    return parser


def _single(options: argparse.Namespace) -> Plan:
    for name in ("chapter", "id", "tool", "why"):
        if getattr(options, name) is None:
            raise RecordError(f"--{name} is missing")
    entry: dict[str, Any] = {
        name: getattr(options, name)
        for name in (
            *("chapter", "id", "tool", "why", "row", "row_alt", "modes", "setup", "timeout"),
            *("stdin", "pty", "merge", "cwd", "fixture", "kill", "exit", "expect_exit", "user"),
            *("version", "interpreter", "pipefail"),
        )
    }
    entry["env"] = dict(item.split("=", 1) for item in options.env)
    if options.verdict:
        entry["verdict"] = options.verdict
    entry |= {"shell": options.shell} if options.shell else {"cmd": options.cmd}
    return plan_from_mapping(entry, options.id)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record what the options ask for; returns 0, or 1 where a case could not be recorded."""
    options = _parser().parse_args(arguments)
    failed = 0
    try:
        plans = read_plans(options.batch) if options.batch else [_single(options)]
    except RecordError as problem:
        print(f"record: {problem}", file=sys.stderr)
        return 2
    for plan in plans:
        if options.only and not re.search(options.only, plan.id):
            continue
        if options.missing and (options.out / plan.chapter / f"{plan.id}.yaml").exists():
            continue
        try:
            case = record(plan)
            if not options.dry_run:
                write_case(case, plan.chapter, options.out)
        except (RecordError, OSError, subprocess.SubprocessError, KeyError) as problem:
            failed += 1
            print(f"record: {plan.id}: {problem}", file=sys.stderr)
            continue
        print(_summary(case), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
