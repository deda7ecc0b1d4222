"""Does the table cry wolf? Classify a thousand successful commands made on the spot.

    python benchmarks/false_alarms.py [--limit N] [--no-command] [--save FILE]

Successful output full of frightening words: manuals and help texts of errors and signals, source
code that handles failures, logs, package lists, histories, reports of tests that pass. Each
command runs in an empty folder with stdin closed, in its own session, for a few seconds at most;
what ends with a status other than 0 is left out. Every alarm is printed for a person to look at.
Ends with 1 when there are more than five.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from triage.cache import load_table  # noqa: E402
from triage.engine import classify  # noqa: E402
from triage.model import Capture, Verdict  # noqa: E402

__all__ = ["captures", "commands", "main", "run"]

Argv = tuple[str, ...]

MOST_ALARMS = 5
TIMEOUT_S = 8
LARGEST = 2 << 20
# Programs that may not take --help for an answer, or act on the machine when they are started.
_LEFT_ALONE = re.compile(
    r"(?i)^(?:reboot|halt|poweroff|shutdown|init|telinit|runlevel|kexec|systemd.*|udev.*|mkfs.*|"
    r"fsck.*|e2fsck|mkswap|swap.*|dd|wipefs|blkdiscard|fdisk|sfdisk|cfdisk|parted|mount|umount|"
    r"kill.*|pkill|skill|su|sudo|login|sulogin|passwd|chpasswd|newusers|user.*|group.*|adduser|"
    r"deluser|addgroup|delgroup|vi.*|ex|nano|emacs.*|pico|ed|less|more|top|htop|watch|screen|tmux|"
    r"x|xterm|startx|agetty|getty|ssh.*|telnet|ftp|nc.*|yes|tail.*|sleep|wall|write|mesg|"
    r"dpkg-reconfigure|unattended-upgrade.*|apt-daily.*|update-.*|newaliases|invoke-rc|service|"
    r"run-parts|savelog|ldconfig|.*d|.*server.*|.*daemon.*|.*agent.*|.*cluster.*)$"
)
_SUBJECTS = (
    "bash", "curl", "errno", "git", "git-log", "git-push", "grep", "kill", "make", "perlerr",
    "signal", "ssh", "ssh_config", "strerror", "sysexits", "tar", "timeout", "wget", "xargs",
)  # fmt: skip
_WORDS = ("error", "failed", "denied", "timeout", "limit", "token", "killed", "unauthorized")
_TEST_FILE = """\
import unittest


class ErrorHandling(unittest.TestCase):
    def test_permission_denied_is_reported(self):
        self.assertRaises(PermissionError, self.fail_with, PermissionError("Permission denied"))

    def test_timeout_error_is_retried(self):
        self.assertRaises(TimeoutError, self.fail_with, TimeoutError("timed out"))

    def test_rate_limit_429_waits(self):
        self.assertEqual(429, 429)

    def test_panic_fatal_error(self):
        self.assertTrue("fatal error: panic")

    def fail_with(self, error):
        raise error
"""
_LOG = """\
2024-05-01T10:00:00Z INFO  starting worker pid=4031
2024-05-01T10:00:01Z ERROR [db] connection refused by 10.0.0.7:5432, retrying in 429ms
2024-05-01T10:00:02Z WARN  request 403 for /admin denied, user is not logged in
2024-05-01T10:00:03Z ERROR rate limit exceeded for tenant 17, queued
Traceback (most recent call last):
  File "worker.py", line 401, in handle
    raise TimeoutError("timed out")
TimeoutError: timed out
2024-05-01T10:00:04Z INFO  recovered, 500 jobs done
"""


def commands(work: Path) -> Iterator[Argv]:
    """Yield commands that should end with 0, kinds mixed, the same order on the same machine."""
    (work / "test_errors.py").write_text(_TEST_FILE, encoding="utf-8")
    (work / "app.log").write_text(_LOG * 20, encoding="utf-8")
    kinds = [
        _own(work), _sources(), _pydoc(), _help_of_programs(), _manuals(), _packages(), _history(),
        _tool_help(), _system(),
    ]  # fmt: skip
    for group in zip_longest(*kinds):
        yield from (argv for argv in group if argv is not None)


def _own(work: Path) -> Iterator[Argv]:
    yield (sys.executable, "-m", "unittest", "-v", "test_errors")
    yield (sys.executable, "-m", "unittest", "test_errors")
    log = str(work / "app.log")
    for program in ("cat", "tail", "head", "sort", "less", "nl", "tac"):
        yield (program, log)
    for word in _WORDS:
        yield ("grep", "-in", word, log)
        yield ("awk", f"/{word}/", log)
        yield ("sed", "-n", f"/{word}/p", log)


def _sources() -> Iterator[Argv]:
    """Source code that handles failures: the standard library, headers, our own."""
    library = Path(os.__file__).parent
    found = sorted(library.glob("*.py")) + sorted(library.glob("*/*.py"))
    found += sorted((ROOT / "triage").glob("*.py")) + sorted(Path("/usr/include").glob("*.h"))
    found += sorted((ROOT / "rules" / "modes").glob("*.md"))
    for path in _spread([path for path in found if path.stat().st_size < 200_000], 420):
        yield ("cat", str(path))
    for word in _WORDS:
        yield ("grep", "-rn", word, str(library / "asyncio"))
        yield ("grep", "-rlw", word, str(library / "json"), str(library / "http"))


def _pydoc() -> Iterator[Argv]:
    names = sorted(name for name in sys.stdlib_module_names if not name.startswith("_"))
    skipped = {"antigravity", "this", "idlelib", "turtledemo"}
    for name in names:
        if name not in skipped:
            yield (sys.executable, "-m", "pydoc", name)


def _help_of_programs() -> Iterator[Argv]:
    seen: set[str] = set()
    programs = []
    for folder in os.get_exec_path():
        for path in sorted(Path(folder).glob("*")) if Path(folder).is_dir() else ():
            plain = path.name not in seen and not _LEFT_ALONE.match(path.name)
            if plain and path.is_file() and os.access(path, os.X_OK):
                seen.add(path.name)
                programs.append(path.name)
    for name in _spread(sorted(programs), 520):
        yield (name, "--help")


def _manuals() -> Iterator[Argv]:
    if shutil.which("man"):
        pages = sorted({path.name.split(".")[0] for path in Path("/usr/share/man").glob("man*/*")})
        for name in [*_SUBJECTS, *_spread(pages, 200)]:
            yield ("man", "-P", "cat", name)
    if shutil.which("apropos"):
        for word in _WORDS:
            yield ("apropos", word)
    for name in ("perldiag", "perlfunc", "perlvar", "perlport") if shutil.which("perldoc") else ():
        yield ("perldoc", "-T", name)


def _packages() -> Iterator[Argv]:
    if shutil.which("dpkg-query"):
        listed = subprocess.run(
            ["dpkg-query", "-W", "-f", "${Package}\\n"], capture_output=True, text=True, check=False
        ).stdout.split()
        for name in _spread(listed, 80):
            yield ("dpkg", "-L", name)
            yield ("dpkg", "-s", name)
        yield ("dpkg", "-l")
    yield (sys.executable, "-m", "pip", "list")
    yield (sys.executable, "-m", "pip", "freeze")
    for argv in (("npm", "ls", "-g"), ("gem", "list"), ("cargo", "--list"), ("go", "env")):
        if shutil.which(argv[0]):
            yield argv


def _history() -> Iterator[Argv]:
    if shutil.which("git") and (ROOT / ".git").exists():
        for count in range(40):
            yield ("git", "-C", str(ROOT), "log", "-p", "-n", "1", f"--skip={count}")
            yield ("git", "-C", str(ROOT), "log", "--stat", "-n", "3", f"--skip={count * 3}")
        for word in _WORDS:
            yield ("git", "-C", str(ROOT), "grep", "-n", word)
            yield ("git", "-C", str(ROOT), "log", "--oneline", "-i", f"--grep={word}")


def _tool_help() -> Iterator[Argv]:
    """Help texts by subcommand of the tools at hand, and a shell's own."""
    topics = {
        ("git",): ("add", "bisect", "clone", "commit", "fetch", "merge", "push", "rebase", "stash"),
        ("go", "help"): ("build", "test", "mod", "vet", "environment", "buildconstraint"),
        ("go", "doc"): ("errors", "net/http", "syscall", "context", "os", "net", "io/fs"),
        ("cargo",): ("build", "test", "publish", "login", "yank", "owner"),
        ("npm",): ("install", "login", "publish", "audit", "token"),
        ("docker",): ("run", "login", "kill", "logs"),
        ("kubectl",): ("get", "auth", "logs", "delete"),
    }
    for head, names in topics.items():
        if shutil.which(head[0]):
            for name in names:
                short = () if len(head) > 1 else ("-h",)
                yield (*head, name, *short)
    for argv in (("curl", "--help", "all"), ("curl", "--manual"), ("openssl", "list", "-commands")):
        if shutil.which(argv[0]):
            yield argv
    for name in ("kill", "trap", "ulimit", "wait", "exit", "read", "test", "type", "set", "exec"):
        yield ("bash", "-c", f"help {name}")
    yield ("bash", "-c", "kill -l; trap -l")


def _system() -> Iterator[Argv]:
    """What systems print of themselves, and lists that hold every error there is."""
    yield (sys.executable, "-c", "import os; [print(n, os.strerror(n)) for n in range(1, 134)]")
    yield (sys.executable, "-c", "import http; [print(s.value, s.phrase) for s in http.HTTPStatus]")
    yield (
        sys.executable,
        "-c",
        "import signal; [print(s, signal.strsignal(s)) for s in signal.Signals]",
    )
    yield ("ls", "-lR", "/etc")
    yield ("env",)
    yield ("ps", "aux")
    yield ("df", "-h")
    yield ("find", str(ROOT / "corpus"), "-name", "*.yaml")
    for path in _spread(sorted(Path("/var/log").glob("*")), 12):
        if path.is_file():
            yield ("cat", str(path))
    for path in _spread(sorted(Path("/etc").glob("*.conf")), 25):
        yield ("cat", str(path))
    for path in _spread(sorted(Path("/usr/share/doc").glob("*/*")), 60):
        if path.is_file() and path.suffix != ".gz":
            yield ("cat", str(path))
        elif path.suffix == ".gz":
            yield ("zcat", str(path))


def _spread(items: Sequence[object], most: int) -> list:  # type: ignore[type-arg]
    """At most so many of them, from all parts of the list."""
    step = max(1, -(-len(items) // most))
    return list(items[::step])


def run(argv: Argv, work: Path) -> Capture | None:
    """Run one command; None where it did not end with 0, or printed nothing or too much."""
    env = {
        "PATH": os.environ.get("PATH", ""), "HOME": str(work), "LC_ALL": "C.UTF-8", "TERM": "dumb",
        "PAGER": "cat", "MANPAGER": "cat", "GIT_PAGER": "cat", "NO_COLOR": "1", "DISPLAY": "",
    }  # fmt: skip
    if "PYENV_ROOT" in os.environ:
        env["PYENV_ROOT"] = os.environ["PYENV_ROOT"]
    try:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            cwd=work, env=env, start_new_session=True,
        )  # fmt: skip
    except OSError:
        return None
    try:
        out, err = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    if process.returncode != 0 or not (out or err) or len(out) + len(err) > LARGEST:
        return None
    return Capture(exit_code=0, command=shlex.join(argv), stdout=out, stderr=err)


def captures(work: Path, limit: int, workers: int = 4) -> Iterator[Capture]:
    """Yield up to `limit` captures of commands that succeeded, in a fixed order."""
    made = 0
    with ThreadPoolExecutor(workers) as pool:
        for batch in _batches(commands(work), 32):
            for capture in pool.map(lambda argv: run(argv, work), batch):
                if capture is not None and made < limit:
                    made += 1
                    yield capture
            if made >= limit:
                return


def _batches(items: Iterable[Argv], size: int) -> Iterator[list[Argv]]:
    batch: list[Argv] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _show(number: int, capture: Capture, verdict: Verdict) -> None:
    mode = f" §{verdict.mode}" if verdict.mode else ""
    print(f"\n{number}. {capture.command}\n   {verdict.verdict} by {verdict.rule}"
          f" (row {verdict.row}{mode})")  # fmt: skip
    for item in verdict.evidence[:3]:
        print(f"   {item.stream}:{item.line}: {' '.join(item.text.split())[:160]}")


def _data(capture: Capture) -> dict[str, object]:
    return {
        "exit_code": 0,
        "command": capture.command,
        "stdout": capture.stdout.decode("utf-8", "replace"),
        "stderr": capture.stderr.decode("utf-8", "replace"),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the captures, classify them, print each alarm and how many there were."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--limit", type=int, default=1500, help="at most so many captures")
    parser.add_argument("--no-command", action="store_true", help="classify without the command")
    parser.add_argument("--save", type=Path, help="write the alarms as JSON lines")
    options = parser.parse_args(arguments)
    table = load_table()
    count, alarms = 0, []
    with tempfile.TemporaryDirectory(prefix="alarms-") as folder:
        for capture in captures(Path(folder), options.limit):
            count += 1
            command = None if options.no_command else capture.command
            seen = Capture(
                exit_code=0, command=command, stdout=capture.stdout, stderr=capture.stderr
            )
            verdict = classify(seen, table)
            if verdict.verdict != "not_failure":
                alarms.append(capture)
                _show(len(alarms), capture, verdict)
    if options.save is not None:
        lines = [json.dumps(_data(capture), ensure_ascii=False) for capture in alarms]
        options.save.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    print(f"\n{len(alarms)} alarms on {count} captures of commands that succeeded")
    return 1 if len(alarms) > MOST_ALARMS else 0


if __name__ == "__main__":
    sys.exit(main())
