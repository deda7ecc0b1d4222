"""The format files: valid by their schema, complete, and broken ones named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from triage.agents.effects import APPLY
from triage.agents.format_model import EFFECTS
from triage.agents.formats import load_formats
from triage.agents.gate import PROGRAMS
from triage.errors import RuleError, UsageError

RULES = Path(__file__).parent.parent / "rules"
FILES = sorted((RULES / "agents").glob("*.yaml"))

# The twelve formats of the issue, antigravity and pi included; generic is our fallback.
WANTED = {
    "aider", "antigravity", "claude-code", "clawcodex", "codex", "copilot-cli", "cursor-agent",
    "gemini-cli", "generic", "goose", "opencode", "pi", "qwen-code",
}  # fmt: skip

# The terminal reasons of seed 002, each with what it means.
SEED_REASONS = {
    "completed": ("normal", "success"),
    "tool_failure_loop": ("early_stop", "error_during_execution"),
    "empty_response": ("early_stop", "error_during_execution"),
    "blocking_limit": ("early_stop", "error_during_execution"),
    "prompt_too_long": ("early_stop", "error_during_execution"),
    "image_error": ("early_stop", "error_during_execution"),
    "max_turns": ("early_stop", "error_max_turns"),
    "hook_stopped": ("policy", "success"),
    "stop_hook_prevented": ("policy", "success"),
    "aborted_streaming": ("cancelled", "cancelled"),
    "aborted_tools": ("cancelled", "cancelled"),
    "model_error": ("error", "error"),
}


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads((RULES / "schema" / name).read_text("utf-8")))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_is_valid_and_names_its_schema(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("# yaml-language-server: $schema=../schema/agent-format.schema.json\n")
    assert list(validator("agent-format.schema.json").iter_errors(yaml.safe_load(text))) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_format_has_the_name_of_its_file(path: Path) -> None:
    data = yaml.safe_load(path.read_text("utf-8"))
    assert data.get("id", "meanings") == path.stem


def test_all_formats_of_the_issue_are_there() -> None:
    assert {item.id for item in load_formats().all} == WANTED


def test_every_reason_of_the_seed_is_accounted_for() -> None:
    reasons = load_formats().reasons
    assert len(SEED_REASONS) == 12
    found = {name: (reasons[name].kind, reasons[name].subtype) for name in SEED_REASONS}
    assert found == SEED_REASONS


def test_policy_stops_are_no_early_stops_because_only_an_operators_hook_causes_them() -> None:
    kinds = {name: meaning.kind for name, meaning in load_formats().reasons.items()}
    assert {name for name, kind in kinds.items() if kind == "policy"} == {
        "hook_stopped",
        "stop_hook_prevented",
    }


def test_the_programs_known_without_the_files_are_those_in_the_files() -> None:
    assert {p for item in load_formats().all for p in item.programs} == PROGRAMS


def test_schema_reader_and_effects_know_the_same_words() -> None:
    schema = json.loads((RULES / "schema" / "agent-format.schema.json").read_text("utf-8"))
    words = set(schema["$defs"]["rule"]["properties"])
    assert words - {"when", "id", "details", "each", "rules", "why"} == set(EFFECTS)
    assert set(APPLY) == set(EFFECTS)


def test_a_format_is_found_by_id_alias_program_and_with_its_output_mode() -> None:
    formats = load_formats()
    for name in ("claude-code", "claude", "Claude", "claude-code/stream-json", "claude:json"):
        assert formats.named(name).id == "claude-code"
    found = formats.of_program("agy")
    assert found is not None and found.id == "antigravity"
    assert formats.of_program("bash") is None


def test_an_unknown_format_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        load_formats().named("nosuch")
    assert "nosuch" in str(caught.value) and "opencode" in str(caught.value)


def test_faults_of_a_file_are_all_named_with_the_file() -> None:
    data = {
        "x": {
            "id": "x",
            "title": "X",
            "events": [{"when": {"type": {"matches": "("}}}, {"explode": True}],
            "detect": [{"rank": 3, "when": {"a": {"near": 1}}}],
        }
    }
    with pytest.raises(RuleError) as caught:
        load_formats(data)
    found = "\n".join(map(str, caught.value.issues))
    assert "rules/agents/x.yaml" in found
    assert "no effect `explode`" in found
    assert "no test `near`" in found
    assert "does not compile" in found


def test_a_format_of_ones_own_is_data() -> None:
    formats = load_formats(
        {
            "mine": {
                "id": "mine",
                "title": "Mine",
                "terminal": "always",
                "detect": [{"rank": 3, "when": {"kind": "hello"}}],
                "type": "kind",
                "events": [{"when": {"kind": "say"}, "text": "words"}, {"when": {"kind": "bye"},
                            "terminal": True}],
            }
        }
    )  # fmt: skip
    from triage.agents.stream import RunReader

    reader = RunReader("mine", formats)
    reader.feed(b'{"kind":"say","words":"hi"}\n{"kind":"bye"}\n')
    run = reader.finish(0)
    assert (run.text_count, run.terminal_seen, run.stream_cut) == (1, True, False)
