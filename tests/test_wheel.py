"""A wheel, installed outside the checkout, is all that a user needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from small_rules import add_overlay, row

from triage.cache import PACKAGED

ROOT = Path(__file__).parent.parent
MISSING = {"exit_code": 127, "stderr": "bash: jqq: command not found\n", "command": "jqq ."}


def pip(*words: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *words],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    pip("wheel", "-q", "--no-build-isolation", "--no-deps", "-w", str(folder), str(ROOT))
    (found,) = folder.glob("cli_triage-*.whl")
    return found


class Installed:
    """The wheel in an environment of its own, away from the checkout."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        python = folder / "venv" / "bin" / "python"
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")], check=True
        )
        # The dependencies are those of the tests; a path file of theirs is not followed again.
        (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
        beside = Path(pytest.__file__).parent.parent
        (site / "beside.pth").write_text(f"{beside}\n")
        pip("--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel))
        self.site = site
        self.script = folder / "venv" / "bin" / "triage"
        self.python = python

    def run(self, *words: str, cwd: Path, stdin: Any = None) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        return subprocess.run(
            [str(self.script), *words], cwd=cwd, env=env, timeout=120, capture_output=True,
            text=True, input="" if stdin is None else json.dumps(stdin),
        )  # fmt: skip


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"), wheel)


def test_the_wheel_holds_the_package_the_rules_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"triage"}
    packed = {name.removeprefix("triage/rules/") for name in names if "/rules/" in name}
    ours = {
        str(path.relative_to(ROOT / "rules"))
        for path in (ROOT / "rules").rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }
    assert packed == ours | {PACKAGED}
    assert "triage/py.typed" in names
    assert "triage/build_hook.py" not in names


def test_building_leaves_the_checkout_as_it_was(wheel: Path) -> None:
    assert not (ROOT / "rules" / PACKAGED).exists()
    assert not (ROOT / "triage" / "rules").exists()


def test_it_is_imported_from_where_it_was_installed(installed: Installed, tmp_path: Path) -> None:
    where = subprocess.run(
        [str(installed.python), "-c", "import triage; print(triage.__file__)"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(where.stdout.strip()).parent == installed.site / "triage"


def test_it_classifies_from_any_directory_without_compiling(
    installed: Installed, tmp_path: Path
) -> None:
    got = installed.run(cwd=tmp_path, stdin=MISSING)
    verdict = json.loads(got.stdout)
    assert (got.returncode, got.stderr) == (0, "")
    assert (verdict["row"], verdict["mode"]) == (4, 20)
    assert verdict["table"]["overlays"] == []
    # Nothing but the stamp is kept: the table came compiled with the wheel.
    kept = [path.name.split("-")[0] for path in (installed.home / ".cache/triage").iterdir()]
    assert kept == ["stamp"]


def test_it_gives_the_verdict_of_the_checkout(installed: Installed, tmp_path: Path) -> None:
    theirs = json.loads(installed.run(cwd=tmp_path, stdin=MISSING).stdout)
    here = subprocess.run(
        [sys.executable, "-m", "triage"], cwd=tmp_path, capture_output=True, text=True, check=True,
        input=json.dumps(MISSING), env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert json.loads(here.stdout) == theirs


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("classify", "--exit", "127", "--command", "jqq .", "--line"), "failure row=4 mode=20"),
        (("rules", "command-not-found"), "- id: command-not-found"),
        (("rules", "--schema"), '"title": "One chapter'),
        (("show", "20"), "**Signature:**"),
        (("bundle", "--", "git", "log"), "GIT_PAGER=cat"),
        (("--version",), "triage 0."),
    ],
)
def test_its_verbs_find_the_rules(
    installed: Installed, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    got = installed.run(*words, cwd=tmp_path)
    assert (got.returncode, got.stderr) == (0, "")
    assert said in got.stdout


def test_an_overlay_adds_a_row_and_takes_one_out(installed: Installed, tmp_path: Path) -> None:
    mine = row("mine", {"stderr": "^bash: jqq"}, row=4, modes=[20])
    folder = add_overlay(
        tmp_path / ".triage" / "rules",
        {"05-mine": {"disable": ["command-not-found"], "rows": [mine]}},
    )
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    verdict = json.loads(installed.run(cwd=deep, stdin=MISSING).stdout)
    assert verdict["table"]["overlays"] == [str(folder)]
    assert verdict["table"]["rows"] == len(
        json.loads(installed.run("rules", "--json", cwd=deep).stdout)["data"]
    )
    rules = [verdict["rule"], *(item["rule"] for item in verdict["also"])]
    assert "mine" in rules
    assert "command-not-found" not in rules
