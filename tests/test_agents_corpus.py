"""Every labelled stream, judged by its name and by its content, and through `classify`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from triage.agents.cases import AgentCase, load_cases
from triage.agents.formats import load_formats
from triage.cache import load_table
from triage.engine import classify
from triage.judge import judge_run
from triage.model import Capture

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "corpus" / "agents"
CASES = load_cases(FOLDER)
TABLE = load_table()

# How a run of each CLI is started, for the cases that only the command can tell.
COMMANDS = {
    "aider": "aider --message x",
    "antigravity": "agy -p x",
    "claude-code": "claude -p x",
    "clawcodex": "clawcodex -p x",
    "codex": "codex exec --json x",
    "copilot-cli": "copilot -p x",
    "cursor-agent": "cursor-agent -p x",
    "gemini-cli": "gemini -p x",
    "goose": "goose run -t x",
    "opencode": "opencode run x",
    "pi": "pi -p x",
    "qwen-code": "qwen -p x",
}


def label(case: AgentCase) -> tuple[str, str, bool]:
    return case.verdict, case.subtype, case.early_stop


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_stream_is_judged_as_labelled(case: AgentCase) -> None:
    found = judge_run(
        case.stdout,
        exit_code=case.exit_code,
        stderr=case.stderr,
        timed_out=case.timed_out,
        format=case.cli,
        table=TABLE,
    )
    assert (found.verdict, found.subtype, found.early_stop) == label(case), found.line()
    assert set(case.flags) <= set(found.flags)
    assert {name: found.run.usage.get(name) for name in case.usage} == dict(case.usage)
    assert found.is_error is (case.subtype not in ("success", "cancelled"))


# A text is nobody's: whose banner it is must be said.
NEEDS_ITS_NAME = {"aider/banner_only"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_stream_without_its_name_gets_the_same_verdict(case: AgentCase) -> None:
    found = judge_run(
        case.stdout,
        exit_code=case.exit_code,
        stderr=case.stderr,
        timed_out=case.timed_out,
        table=TABLE,
    )
    same = (found.verdict, found.subtype, found.early_stop) == label(case)
    assert same is (case.id not in NEEDS_ITS_NAME), found.line()


@pytest.mark.parametrize("case", [c for c in CASES if c.cli != "generic"], ids=lambda case: case.id)
def test_classify_reaches_the_same_verdict_through_the_same_row(case: AgentCase) -> None:
    judged = judge_run(
        case.stdout,
        exit_code=case.exit_code,
        stderr=case.stderr,
        timed_out=case.timed_out,
        format=case.cli,
        table=TABLE,
    )
    verdict = classify(
        Capture(
            exit_code=case.exit_code,
            command=COMMANDS[case.cli],
            stdout=case.stdout,
            stderr=case.stderr,
            timed_out=case.timed_out,
        ),
        TABLE,
    )
    assert verdict.agent is not None
    assert verdict.agent["verdict"] == judged.verdict == case.verdict
    assert verdict.agent["subtype"] == judged.subtype
    if judged.rule is not None:
        assert verdict.rule == judged.rule
    if case.verdict == "ok":
        assert verdict.verdict == "not_failure"
    else:
        assert verdict.verdict == "failure"
    if case.verdict in ("agent_error", "agent_no_output") and case.exit_code == 0:
        assert verdict.row == 2


def test_every_format_has_cases_good_and_bad() -> None:
    for item in load_formats().all:
        verdicts = {case.verdict for case in CASES if case.cli == item.id}
        assert len(verdicts) >= 2, item.id


def test_the_files_are_valid_by_their_schema() -> None:
    schema = json.loads((ROOT / "rules" / "schema" / "agent-case.schema.json").read_text("utf-8"))
    check = Draft202012Validator(schema)
    for path in sorted(FOLDER.glob("*/*.yaml")):
        data = yaml.safe_load(path.read_text("utf-8"))
        assert list(check.iter_errors(data)) == [], path
        assert data["cli"] == path.parent.name


def test_all_streams_are_marked_as_typed_after_documentation() -> None:
    assert all(case.synthetic for case in CASES)
