"""The shapes are plain data, and the maintained patterns of detect-secrets are among them."""

from __future__ import annotations

import json
from pathlib import Path

import regex
import yaml
from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.ip_public import IPPublicDetector
from detect_secrets.plugins.slack import SlackDetector

from triage.secret_shapes import collect

DATA = yaml.safe_load((Path(__file__).parent.parent / "rules/secrets.yaml").read_text("utf-8"))
KEYS = {"kind", "pattern", "flags", "group", "literals", "run", "digit", "base64_of", "token"}


def test_each_shape_is_complete_json_data_with_a_pattern_that_compiles() -> None:
    shapes = collect(DATA)
    assert json.loads(json.dumps(shapes)) == shapes
    for shape in shapes:
        assert set(shape) == KEYS
        compiled = regex.compile(f"(?{shape['flags']}){shape['pattern']}")
        assert 0 <= shape["group"] <= compiled.groups
        assert compiled.fullmatch("") is None
        assert all(
            literal and literal == literal.lower()
            for clause in shape["literals"]
            for literal in clause
        )


def test_patterns_of_detect_secrets_are_taken_over() -> None:
    sources = [shape["pattern"] for shape in collect(DATA)]
    for detector in (AWSKeyDetector, GitHubTokenDetector, SlackDetector):
        assert issubclass(detector, RegexBasedDetector)
        for compiled in detector.denylist:
            assert any(compiled.pattern in source for source in sources)


def test_addresses_are_evidence_and_stay() -> None:
    sources = [shape["pattern"] for shape in collect(DATA)]
    assert not any(IPPublicDetector.denylist[0].pattern in source for source in sources)


def test_what_can_be_skipped_is_skipped_by_a_literal_or_a_run() -> None:
    # A shape without either is tried on every text.
    assert [
        shape["kind"] for shape in collect(DATA) if not (shape["literals"] or shape["run"])
    ] == []


def test_collecting_twice_gives_the_same() -> None:
    assert collect(DATA) == collect(DATA)
