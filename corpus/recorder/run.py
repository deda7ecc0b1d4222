"""Run one command under observation: own session, a limit, the stdin the plan asks for."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fixtures.serve import serve

from recorder.plan import Plan, RecordError
from recorder.scrub import DEMO_USER

__all__ = ["Observed", "observe"]


@dataclass(frozen=True, slots=True)
class Observed:
    """What one run showed: raw bytes, the status in the plan's style, seconds."""

    line: str
    version: str
    port: int  # of the fixture, 0 without one
    exit_code: int | None
    stdout: bytes
    stderr: bytes
    timed_out: bool
    duration_s: float


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


def _spawn(plan: Plan, argv: Sequence[str], base: Path, env: dict[str, str]) -> dict[str, Any]:
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
    return {
        "exit_code": status,
        "stdout": b"".join(out),
        "stderr": b"".join(err),
        "timed_out": timed_out,
        "duration_s": round(duration, 3),
    }


# One question per tool: a batch holds many cases of the same one.
_VERSIONS: dict[tuple[str, str | None], str] = {}


def _version(plan: Plan, base: Path, env: dict[str, str]) -> str:
    key = (plan.tool, plan.version)
    if key not in _VERSIONS:
        _VERSIONS[key] = _asked_version(plan.version or f"{plan.tool} --version", base, env)
    return _VERSIONS[key]


def _asked_version(line: str, base: Path, env: dict[str, str]) -> str:
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


def observe(plan: Plan, base: Path) -> Observed:
    """Prepare `base` as the plan says, run its command there and return what was seen.

    Raises `RecordError` where the preparation fails or the status is not the one foreseen.
    """
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
        if plan.teardown:
            stack.callback(_prepare, plan, _with_fixture(plan.teardown, url, port), base, env)
        if plan.setup:
            _prepare(plan, _with_fixture(plan.setup, url, port), base, env)
        line, argv = _command(plan, url, port)
        version = _version(plan, base, env)
        ended = _spawn(plan, argv, base, env)
    seen = Observed(line=line, version=version, port=port, **ended)
    if plan.exit_code is not None and plan.exit_code != seen.exit_code:
        raise RecordError(
            f"{plan.id}: exit {seen.exit_code}, the plan foresaw {plan.exit_code}\n"
            f"  stdout: {seen.stdout[-400:]!r}\n  stderr: {seen.stderr[-400:]!r}"
        )
    if seen.exit_code == 127 and plan.exit_code is None and plan.row != 4:
        raise RecordError(f"{plan.id}: exit 127 but no row 4: is the tool installed here?")
    return seen


def _command(plan: Plan, url: str, port: int) -> tuple[str, list[str]]:
    """Return the line as it is written down, and the argv that is started."""
    if isinstance(plan.command, str):
        line = _with_fixture(plan.command, url, port)
        shell = ["busybox", "sh"] if plan.interpreter == "busybox" else [plan.interpreter]
        return line, [*shell, "-c", line]
    argv = [_with_fixture(word, url, port) for word in plan.command]
    return shlex.join(argv), argv


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
