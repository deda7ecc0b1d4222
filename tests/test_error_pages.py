"""rules/preview.yaml holds to its schema, its patterns are cheap, and what they say is told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triage.compile import validator
from triage.error_pages import message_in, preview_rules
from triage.page import Page, Script
from triage.yaml_source import load_yaml


@pytest.fixture(scope="module")
def data(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = load_yaml("preview", (root / "rules/preview.yaml").read_text()).data
    return loaded


def patterns(value: object, key: str = "") -> list[str]:
    if isinstance(value, dict):
        return [found for name, part in value.items() for found in patterns(part, name)]
    if isinstance(value, list):
        return [found for part in value for found in patterns(part, key)]
    named = ("urls", "inline", "scripts", "text", "unless", "pattern", "draws", "messages")
    return [str(value)] if key in named else []


def test_the_data_holds_to_its_published_schema(root: Path, data: dict[str, Any]) -> None:
    assert list(validator(root / "rules", "preview").iter_errors(data)) == []


def test_each_rule_has_its_own_id(data: dict[str, Any]) -> None:
    ids = [item["id"] for item in data["error_pages"] + data["broken_scripts"]]
    assert len(ids) == len(set(ids))


UNITS = ["<", "throw new Error(", '"err":{', '{"props":', "const error = {", "\\n", " ", "a", '"',
         "Object(function webpackMissingModule() {", ':E{\\"digest\\":\\"', "new WebSocket(", "\\",
         '"page":"/_error"', "document", "Html Webpack Plugin:", "location "]  # fmt: skip


def test_no_pattern_is_slow_on_any_repetition(data: dict[str, Any]) -> None:
    # A pattern that tries again from each place would take minutes: the run is the assertion.
    found = patterns(data)
    assert len(found) > 15
    for pattern in found:
        compiled = re.compile(pattern, re.M | re.S)
        for unit in UNITS:
            compiled.search(unit * (100_000 // len(unit)))


def test_dev_clients_are_told_from_the_pages_own_scripts() -> None:
    rules = preview_rules()
    for path in ("/@vite/client", "/@react-refresh", "/node_modules/vite/dist/client/env.mjs",
                 "/browser-sync/browser-sync-client.js?v=2", "/livereload.js?snipver=1",
                 "/_next/static/chunks/webpack.js?v=1", "/sockjs-node/info"):  # fmt: skip
        assert rules.is_dev_client(path), path
    for path in ("/src/main.js", "/main.js", "/assets/index-a1.js", "/vite/client.js",
                 "/_next/static/chunks/main-app.js", "/js/reload.js"):  # fmt: skip
        assert not rules.is_dev_client(path), path
    assert rules.is_dev_snippet("new WebSocket('ws://x').onmessage = () => location.reload()")
    assert not rules.is_dev_snippet("const chat = new WebSocket('ws://x/chat')")


def test_a_script_that_touches_the_document_may_fill_a_page() -> None:
    rules = preview_rules()
    for source in ("document.body.append(x)", "document['body']", "window.location = '/a'",
                   "location.replace('/a')"):  # fmt: skip
        assert rules.draws(source), source
    for source in ("console.log('a')", "window.dataLayer = []", "const documents = 1"):
        assert not rules.draws(source), source


def test_a_sign_in_an_inline_script_or_in_data_counts() -> None:
    rules = preview_rules()
    overlay = Page(scripts=(Script("document.body.append(new ErrorOverlay(e))", True),))
    shown = rules.error_page(overlay, "")
    assert shown is not None
    assert (shown.rule, shown.tool) == ("vite-overlay", "Vite")
    assert rules.error_page(Page(), "new ErrorOverlay(e)") is None


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('throw new Error("Module build failed: x");', "Module build failed: x"),
        ('eval("{throw new SyntaxError(\\"Module parse failed: y (1:2)\\\\nFile was");',
         "Module parse failed: y (1:2)"),
        ('\nObject(function webpackMissingModule() { var e = '
         'new Error("Cannot find module \'./z\'");',
         "Cannot find module './z'"),
        ('eval("{r();\\nObject(function webpackMissingModule() { const e = '
         'new Error(\\"Cannot find module \'q\'\\");', "Cannot find module 'q'"),
    ],
)  # fmt: skip
def test_broken_bundles_say_what_is_broken(source: str, message: str) -> None:
    broken = preview_rules().broken_script(source)
    assert broken is not None
    assert broken.message == message


def test_an_optional_module_does_not_break_a_bundle() -> None:
    source = 'try{r(Object(function webpackMissingModule() { var e = new Error("Cannot find'
    assert (
        preview_rules().broken_script(source + " module 'x'\"); throw e; }()))}catch(e){}") is None
    )
    assert preview_rules().broken_script('console.log("Module build failed")') is None


def test_messages_are_short_and_printable() -> None:
    assert message_in(json.dumps({"message": "\x1b[31mred\x1b[0m\x07 " + "x" * 999})).startswith(
        "red"
    )
    assert len(message_in("x" * 9999)) == 400
    assert message_in("") == message_in(" \n ") == ""
    assert message_in('{"message": 3}') == '{"message": 3}'


@given(st.text(max_size=200), st.sampled_from(["", "{", '{"message":', "const error = {", "<p>"]))
def test_any_body_gives_a_line_at_most(text: str, start: str) -> None:
    message = message_in(start + text)
    assert len(message) <= 400
    assert message.isprintable()
