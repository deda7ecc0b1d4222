"""The usual words of `classify` go without typer; it must say what the typer application says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from triage.cli.app import run_app
from triage.cli.flags import read_words
from triage.cli.verdicts import classify_words

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
    words = [*["--json"] * machine, str(name)]
    quick = (classify_words(words), *capsys.readouterr())
    whole = (run_app(["classify", *words]), *capsys.readouterr())
    assert quick == whole
    assert quick[0] == status


def test_one_capture_comes_in_an_envelope(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, audit = tmp_path / "capture.json", tmp_path / "audit.jsonl"
    name.write_text(ONE)
    monkeypatch.setenv("TRIAGE_AUDIT", str(audit))
    assert classify_words(["--json", str(name)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["ok"], said["data"]["row"]) == (True, 4)
    assert json.loads(audit.read_text())["event"] == "call.failed"


FLAGS = ["--exit", "127", "--command", "jqq ."]


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ([*FLAGS, "--stderr", "ERR", "--json"], 0),
        ([*FLAGS, "--stderr=ERR", "--line", "--exit-code"], 80),
        ([*FLAGS, "--stdout", "ERR", "--tier", "b", "--duration", "1.5", "--limit=2"], 0),
        (["--exit", "-9", "--merged", "ERR", "--json"], 0),
        (["--merged", "ERR", "--line"], 0),
        (["--timed-out", "--silent", "3", "--effect", "read_only", "--line"], 0),
        (["--exit", "1", "--json", "--line"], 2),
        (["--exit", "one"], 2),
        (["--line", "--", "CAPTURE"], 0),
        (["CAPTURE", "--", "--line"], 2),
        (["--exit=-9", "--duration", "-1", "--line"], 0),
        (["--exit", "1", "ERR"], 2),
        (["--command", "ls", "--json"], 2),
        (["--exit", "1", "--stderr", "none.txt", "--json"], 2),
        (["--exit", "1", "--tier", "X"], 2),
        (["--exit", "1", "--effect", "some"], 2),
        (["--exit", "1", "--rules", "none"], 2),
    ],
)
def test_flags_mean_the_same_both_ways(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    status: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ERR").write_text("bash: jqq: command not found\n")
    Path("CAPTURE").write_text('{"exit_code": 127, "command": "jqq ."}\n')
    quick = (classify_words(words), *capsys.readouterr())
    whole = (run_app(["classify", *words]), *capsys.readouterr())
    assert quick == whole
    assert quick[0] == status


@pytest.mark.parametrize(
    "words",
    [["--help"], ["--exits", "1"], ["--exit"], ["--duration", "long"], ["--json=yes"],
     ["--stderr", "--", "x"], ["-x"], ["--stderr", "--json"]],
)  # fmt: skip
def test_other_words_are_left_to_typer(words: list[str]) -> None:
    assert read_words(words) is None
    assert classify_words(words) is None


def test_repeats_are_known_only_where_they_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    name = tmp_path / "capture.json"
    name.write_text(ONE)

    def flags(*words: str) -> list[str]:
        assert classify_words(["--json", *words, str(name)]) == 0
        found: list[str] = json.loads(capsys.readouterr().out)["data"]["flags"]
        return found

    # Same capture, same table, same verdict: without the option nothing is read or kept.
    assert flags() == flags() == []
    assert list(tmp_path.iterdir()) == [name]
    assert (flags("--state"), flags("--state")) == ([], ["repeated"])
    assert flags() == []


def test_what_run_remembers_classify_knows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from triage.cli.command_run import Asked, perform

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert perform(Asked(command=["no-such-program", "x y"])) == 127
    seen = {"exit_code": 127, "command": "no-such-program 'x y'"}
    name = tmp_path / "capture.json"
    name.write_text(json.dumps({**seen, "stderr": "triage: no-such-program: command not found"}))
    capsys.readouterr()
    assert classify_words(["--state", "--json", str(name)]) == 0
    found = json.loads(capsys.readouterr().out)["data"]
    assert (found["flags"], found["action"]["kind"]) == (["repeated"], "escalate")
    assert found["retry"]["may"] is False
