"""`classify` of files goes without typer; it must say what the typer application says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triage.cli.app import run_app
from triage.cli.verdicts import classify_files

ONE = '{"exit_code": 127, "stderr": "bash: jqq: command not found", "command": "jqq ."}\n'
BAD = '{"exit_code": "no"}\n'


@pytest.mark.parametrize(
    ("text", "status"),
    [(ONE, 0), (ONE + ONE, 0), (BAD, 2), (ONE + BAD + ONE, 3), ("{", 2), ("", 2), (None, 2)],
    ids=["one", "two", "bad", "bad among good", "cut", "empty", "missing"],
)
@pytest.mark.parametrize("machine", [True, False], ids=["json", "human"])
def test_both_ways_say_the_same(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str | None,
    status: int,
    machine: bool,
) -> None:
    name = tmp_path / "captures.ndjson"
    if text is not None:
        name.write_text(text)
    quick = (classify_files([str(name)], json=machine), *capsys.readouterr())
    whole = (run_app(["classify", *["--json"] * machine, str(name)]), *capsys.readouterr())
    assert quick == whole
    assert quick[0] == status


def test_one_capture_comes_in_an_envelope(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, audit = tmp_path / "capture.json", tmp_path / "audit.jsonl"
    name.write_text(ONE)
    monkeypatch.setenv("TRIAGE_AUDIT", str(audit))
    assert classify_files([str(name)], json=True) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["ok"], said["data"]["row"]) == (True, 4)
    assert json.loads(audit.read_text())["event"] == "call.failed"
