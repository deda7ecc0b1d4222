"""A specifier leads where the page's import maps say, as browsers resolve it."""

from __future__ import annotations

import json

import pytest

from triage.import_maps import ImportMap

BASE = "http://h:1/app/"


def mapped(specifier: str, importer: str = BASE + "main.js", **maps: object) -> str | None:
    return ImportMap([json.dumps(maps)] if maps else [], BASE).resolve(specifier, importer)


def test_paths_and_urls_need_no_map() -> None:
    assert mapped("./a.js") == "http://h:1/app/a.js"
    assert mapped("../a.js") == "http://h:1/a.js"
    assert mapped("/a.js") == "http://h:1/a.js"
    assert mapped("https://cdn.example/a.js") == "https://cdn.example/a.js"
    assert mapped("node:fs") == "node:fs"


def test_a_bare_name_leads_nowhere_without_one() -> None:
    assert mapped("react") is None
    assert mapped("react", imports={"vue": "/vue.js"}) is None


def test_names_prefixes_and_urls_are_mapped() -> None:
    imports = {"react": "./react.js", "lib/": "/lib/", "lib/x/": "/x/", "/app/old.js": "./new.js"}
    assert mapped("react", imports=imports) == "http://h:1/app/react.js"
    assert mapped("lib/a/b.js", imports=imports) == "http://h:1/lib/a/b.js"
    assert mapped("lib/x/b.js", imports=imports) == "http://h:1/x/b.js"
    assert mapped("./old.js", imports=imports) == "http://h:1/app/new.js"


def test_scopes_come_before_the_rest_and_the_longest_first() -> None:
    maps = {
        "imports": {"a": "/a.js"},
        "scopes": {"/app/": {"a": "/scoped.js"}, "/app/deep/": {"a": "/deep.js"}},
    }
    assert mapped("a", "http://h:1/other.js", **maps) == "http://h:1/a.js"
    assert mapped("a", "http://h:1/app/m.js", **maps) == "http://h:1/scoped.js"
    assert mapped("a", "http://h:1/app/deep/m.js", **maps) == "http://h:1/deep.js"


def test_a_null_or_bare_target_blocks() -> None:
    assert mapped("a", imports={"a": None}) is None
    assert mapped("a", imports={"a": "b"}) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"imports": 3, "scopes": [1]}', "[" * 9999])
def test_what_is_no_map_is_passed_over(text: str) -> None:
    assert ImportMap([text, '{"imports":{"a":"/a.js"}}'], BASE).resolve("a", BASE) == (
        "http://h:1/a.js"
    )
