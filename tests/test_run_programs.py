"""Real programs that wait for a person: each ends on time, in the row and mode it belongs to.

All of them run at once, so that the whole file takes as long as the slowest of them. What they
need is in packages.txt; a missing one fails here.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from programs.census import alive_with

from triage.outcome import Outcome
from triage.run import arun
from triage.run_options import Options

PROGRAMS = Path(__file__).parent / "programs"
LIMIT_S = 5.0
# A person's settings would change what the programs do.
UNSET = ("PAGER", "GIT_PAGER", "LESS", "EDITOR", "VISUAL", "CI", "NO_COLOR", "DISPLAY",
         "WAYLAND_DISPLAY", "DEBIAN_FRONTEND", "GIT_SEQUENCE_EDITOR")  # fmt: skip


@dataclass(frozen=True)
class Program:
    """A call, and what is to be said of its first start; `again`: it gets the bundled retry."""

    argv: list[str]
    row: int | None = 3
    mode: int | None = 10
    verdict: str = "failure"
    again: bool = False
    hangs: bool = True
    shown: bytes = b""
    options: Options = field(default_factory=lambda: Options())


def repository(folder: Path) -> str:
    """A git repository with enough commits for a page, and something to commit."""
    script = (
        "git init -q -b main && git config user.email dev@demo.example && git config user.name Dev"
        ' && for n in $(seq 40); do git commit -q --allow-empty -m "commit number $n"; done'
        " && echo new >file && git add file"
    )
    folder.mkdir()
    subprocess.run(["sh", "-c", script], cwd=folder, check=True)
    return str(folder)


def apt_options(folder: Path) -> list[str]:
    """Options under which apt-get knows two packages, and can reach nothing of this machine."""
    repo = folder / "repo"
    for name in ("repo", "state/lists/partial", "cache/archives/partial", "etc/preferences.d"):
        (folder / name).mkdir(parents=True)
    stanza = (
        "Package: {0}\nVersion: 1.0\nArchitecture: all\nMaintainer: Dev <dev@demo.example>\n"
        "Filename: ./{0}.deb\nSize: 1000\nSHA256: {1}\n{2}Description: a demonstration\n\n"
    )
    (repo / "Packages").write_text(
        stanza.format("demo-tool", "0" * 64, "Depends: demo-library\n")
        + stanza.format("demo-library", "0" * 64, "")
    )
    (folder / "state" / "status").touch()
    (folder / "etc" / "sources.list").write_text(f"deb [trusted=yes] file:{repo} ./\n")
    settings = {
        "Dir::State": folder / "state",
        "Dir::State::status": folder / "state" / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc": folder / "etc",
        "Dir::Log": folder,
        "Dir::Bin::dpkg": "/bin/false",
        "Debug::NoLocking": "1",
    }
    options = [f"-o{name}={value}" for name, value in settings.items()]
    subprocess.run(["apt-get", *options, "update"], check=True, capture_output=True)
    return options


def programs(folder: Path, silent_port: int, open_stdins: list[int]) -> dict[str, Program]:
    """Every program of the issue. `silent_port` accepts and says nothing; stdins stay open."""
    (folder / "notes.txt").write_text("a line of notes\n" * 200)
    (folder / "package").mkdir()
    here: Options = {"cwd": str(folder)}
    typed: Options = {"pty": True, "cwd": str(folder)}
    # One each: node makes its stdin non-blocking, for all that share it.
    first, second, third = open_stdins
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    sudo = [*(as_nobody if os.geteuid() == 0 else []), "sudo", "-k", "true"]
    apt = ["apt-get", *apt_options(folder / "apt"), "install", "demo-tool"]
    python = sys.executable
    return {
        "git log": Program(
            ["git", "log"],
            again=True,
            shown=b"commit number 1\n",
            options={"pty": True, "cwd": repository(folder / "log")},
        ),
        "less": Program(
            ["less", "notes.txt"], again=True, shown=b"a line of notes\n" * 200, options=typed
        ),
        "git commit": Program(
            ["git", "commit"], mode=62, options={"pty": True, "cwd": repository(folder / "commit")}
        ),
        "git commit without a terminal": Program(
            ["git", "commit"], mode=62, options={"cwd": repository(folder / "dumb")}
        ),
        "git rebase -i": Program(
            ["git", "rebase", "--autostash", "-i", "HEAD~3"],
            mode=62,
            options={"pty": True, "cwd": repository(folder / "rebase")},
        ),
        "vim": Program(["vim", "notes.txt"], mode=62, options=typed),
        "nano": Program(["nano", "notes.txt"], mode=62, options=typed),
        "python": Program(["python3"], mode=37, options=typed),
        "node": Program(["node"], mode=37, options=typed),
        "sqlite3": Program(["sqlite3"], mode=37, options=typed),
        "python with an open stdin": Program(["python3"], mode=37, options={"stdin": first}),
        "node with an open stdin": Program(["node"], mode=37, options={"stdin": second}),
        "sqlite3 with an open stdin": Program(["sqlite3"], mode=37, options={"stdin": third}),
        "cat": Program(["cat"], mode=50, again=True, options=typed),
        "ssh": Program(["ssh", "-p", str(silent_port), "127.0.0.1", "true"], mode=11),
        "sudo": Program(sudo, options=typed),
        "passwd": Program(["passwd"], options=typed),
        "apt-get install": Program(apt, options=typed),
        "a question on /dev/tty": Program([python, str(PROGRAMS / "opens_tty.py")], options=typed),
        "a question on /dev/tty without one": Program(
            [python, str(PROGRAMS / "opens_tty.py")], hangs=False, options=here
        ),
        "a window without a display": Program(["xmessage", "hello"], mode=64, hangs=False),
        "npm init": Program(
            ["npm", "init"], options={"pty": True, "cwd": f"{folder}/package", "timeout_s": 10.0}
        ),
        "a login in a browser": Program([python, str(PROGRAMS / "browser_login.py")], mode=45),
        "a server": Program(
            [python, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"],
            row=None,
            mode=None,
            verdict="not_failure",
            options=here,
        ),
    }


NAMES = [
    "git log", "less", "git commit", "git commit without a terminal", "git rebase -i", "vim",
    "nano", "python", "node", "sqlite3", "python with an open stdin", "node with an open stdin",
    "sqlite3 with an open stdin", "cat", "ssh", "sudo", "passwd", "apt-get install",
    "a question on /dev/tty", "a question on /dev/tty without one", "a window without a display",
    "npm init", "a login in a browser", "a server",
]  # fmt: skip

Ended = tuple[dict[str, tuple[Program, Outcome]], str]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    """Run all programs at once; give each with its outcome, and the token all of them carried."""
    folder = tmp_path_factory.mktemp("programs")
    token = f"programs-{time.time_ns()}"
    env: dict[str, str | None] = dict.fromkeys(UNSET)
    env |= {"TERM": "xterm", "HOME": str(folder), "GIT_EDITOR": "vim", "TRIAGE_TEST_TOKEN": token}
    env |= {"npm_config_update_notifier": "false", "GIT_CONFIG_NOSYSTEM": "1"}
    pipes = [os.pipe() for _ in range(3)]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        every = programs(folder, silent.getsockname()[1], [ends[0] for ends in pipes])

        async def one(program: Program) -> Outcome:
            options: Any = {"timeout_s": LIMIT_S, **program.options}
            return await arun(program.argv, grace_s=1.0, env=env, **options)

        async def all_of_them() -> list[Outcome]:
            return await asyncio.gather(*map(one, every.values()))

        outcomes = asyncio.run(all_of_them())
    for fd in (fd for ends in pipes for fd in ends):
        os.close(fd)
    yield dict(zip(every, zip(every.values(), outcomes, strict=True), strict=True)), token


def test_every_program_of_the_list_ran(ended: Ended) -> None:
    found, _ = ended
    assert list(found) != []
    assert set(found) == set(NAMES)
    for program, outcome in found.values():
        assert shutil.which(program.argv[0]) is not None
        assert outcome.attempts[0].ended_by != "not started"


@pytest.mark.parametrize("name", NAMES)
def test_it_ends_in_its_row_and_its_mode(name: str, ended: Ended) -> None:
    program, outcome = ended[0][name]
    first = outcome.attempts[0]
    verdict = first.verdict
    assert (verdict.verdict, verdict.row, verdict.mode) == (
        program.verdict,
        program.row,
        program.mode,
    )
    assert (first.ended_by, first.capture.timed_out) == (
        ("limit", True) if program.hangs else ("itself", False)
    )
    assert len(outcome.attempts) == (2 if program.again else 1)


@pytest.mark.parametrize("name", ["git log", "less", "cat"])
def test_what_only_reads_ends_in_time_inside_the_bundle_with_its_output(
    name: str, ended: Ended
) -> None:
    program, outcome = ended[0][name]
    assert outcome.effect == "read_only"
    second = outcome.attempts[1]
    assert (second.how, second.ended_by, second.capture.exit_code) == ("bundle", "itself", 0)
    assert program.shown in second.capture.stdout
    assert outcome.verdict.verdict == "not_failure"
    assert outcome.exit_status == 0


def test_a_server_is_told_to_start_in_the_background(ended: Ended) -> None:
    _, outcome = ended[0]["a server"]
    assert outcome.verdict.rule == "server-listening"
    assert "timed_out" in outcome.verdict.flags
    assert outcome.verdict.action.kind == "start_in_background"


def test_nothing_of_them_is_alive(ended: Ended) -> None:
    assert alive_with(ended[1]) == []
