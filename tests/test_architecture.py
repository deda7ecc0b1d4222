"""Where a module stands, what it may import and when: checked on the source, not on good will."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import triage
from triage.cases import load_cases
from triage.engine import classify
from triage.table import Table

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "triage"

# From the bottom to the top; a module imports from its own layer and from those below.
LAYERS: dict[str, str] = {
    "facts": "errors frozen fresh_stack finds finding model capture_data exits yaml_source "
    "schema_words rules_folder overlays compiled",
    "text": "escapes decoding windows redraw stamps text_piece text harness_text literals",
    "JSON in text": "json_grammar json_place json_build json_walk json_run json_scan json_cut "
    "json_end json_search envelope",
    "patterns": "pattern_literals pattern_re2 pattern regex_shape regex_cost pattern_text "
    "line_search pattern_search",
    "commands": "program_path wrappers shell_words shell_leaves shell_line shell_tree status_owner "
    "stage stages command script_source",
    "languages": "mo_catalogue message_format catalogue_match english locale_text",
    "secrets": "credentials secret_commands secret_patterns secret_lines secret_places "
    "secret_splits secret_shapes redact",
    "agent streams": "agents agents.*",
    "effects": "script_effects effect_forms effects",
    "signals": "signals",
    "conditions": "value_tests complaints fact_words command_words match index row_gates "
    "prefilter",
    "what to do": "modes waits policy call render bundle placeholders action_kinds actions",
    "table": "conditions rule_sources compile table cache",
    "verdict": "evidence engine explain judge listing samples border intake",
    "runs": "spool streams process interrupts offspring passthrough watch run_options repeats "
    "again outcome attempt last_run shell_init escalation run drop_in",
    "corpus and lint": "cases corpus bless score documents docs logic rulebook witness mutants "
    "mutate lint lint_* sketch printed_lines suggest scaffold scaffold_row sample_writer",
    "pages and audit": "page page_* asset_rules error_pages import_maps origins probe probe_* "
    "audit audit_*",
    "surface": "build_hook cli cli.* __main__ triage",
}
# Front doors: they load what stands above them, inside a function, and only when it is asked for.
FRONT_DOORS = {
    ("effects", "cache"): "who names no rules means those of the built-in table",
    ("redact", "cache"): "who loaded no patterns means those of the built-in table",
    ("agents.gate", "agents.capture"): "a cheap look decides whether the reader is loaded at all",
    ("probe", "probe_run"): "the result's shape is known without the HTTP client",
}
# The flow from a capture to its verdict, kept small enough to be read in one go.
CORE = {
    "model", "capture_data", "signals", "value_tests", "fact_words", "command_words", "match",
    "pattern", "pattern_search", "line_search", "pattern_literals", "index", "prefilter",
    "row_gates",
    "literals", "conditions", "rule_sources", "compile", "compiled", "table", "cache", "engine",
    "evidence", "explain", "overlays", "envelope", "policy", "actions",
}  # fmt: skip
CORE_LINES = 320
MOST_LINES = 400

HEAVY = {
    "jsonschema", "rich", "typer", "click", "tree_sitter", "tree_sitter_bash", "yaml", "httpx",
    "psutil", "detect_secrets", "selectolax", "regex", "re2",
}  # fmt: skip


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "triage"


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}


def layer_of(name: str) -> int:
    found = [
        number
        for number, patterns in enumerate(LAYERS.values())
        if any(fnmatchcase(name, pattern) for pattern in patterns.split())
    ]
    assert found, f"say in LAYERS of {Path(__file__).name} where triage/{name} stands"
    return found[0]


def typing_only(tree: ast.Module) -> set[int]:
    """What stands under `if TYPE_CHECKING:` is not imported at run time."""
    blocks = [
        n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)
    ]
    return {id(node) for block in blocks for part in block.body for node in ast.walk(part)}


def imported(name: str) -> Iterator[tuple[str, bool]]:
    """The modules of ours that a module imports, and whether at its top."""
    tree = TREES[name]
    skipped, top = typing_only(tree), {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for full in names:
            if full.split(".")[0] == "triage":
                short = full.removeprefix("triage.")
                found = short if short in MODULES else short.rpartition(".")[0] or "triage"
                if found != name:
                    yield found, id(node) in top


EDGES = {name: set(imported(name)) for name in MODULES}


# Direction


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_nothing_from_above_it(name: str) -> None:
    here = layer_of(name)
    layers = list(LAYERS)
    for other, at_top in EDGES[name]:
        if (name, other) in FRONT_DOORS:
            assert not at_top, f"{name} may import {other} only where it needs it"
            continue
        above = layer_of(other)
        assert above <= here, f"{name} ({layers[here]}) imports {other} ({layers[above]})"


def test_no_module_imports_itself_in_a_circle() -> None:
    done: set[str] = set()

    def walk(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join([*way[way.index(name) :], name])
        if name in done:
            return
        for other, _ in sorted(EDGES[name]):
            if (name, other) not in FRONT_DOORS:
                walk(other, (*way, name))
        done.add(name)

    for name in MODULES:
        walk(name, ())
    assert done == set(MODULES)


def test_every_layer_and_front_door_is_in_use() -> None:
    assert {layer_of(name) for name in MODULES} == set(range(len(LAYERS)))
    listed = {p for patterns in LAYERS.values() for p in patterns.split() if "*" not in p}
    assert listed - set(MODULES) == set(), "modules that are gone"
    assert all(other in {o for o, _ in EDGES[name]} for name, other in FRONT_DOORS)


# Shape


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_is_and_what_it_offers(name: str) -> None:
    tree = TREES[name]
    assert (ast.get_docstring(tree) or "").strip(), "a module begins with a sentence on itself"
    body = tree.body[1:]
    future = body[0]
    assert isinstance(future, ast.ImportFrom)
    assert future.module == "__future__"
    assert [alias.name for alias in future.names] == ["annotations"]
    assert [offered(node) for node in body if offered(node) is not None], "no __all__"


def offered(node: ast.stmt) -> list[str] | None:
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    if not (isinstance(target, ast.Name) and target.id == "__all__"):
        return None
    value = getattr(node, "value", None)
    assert value is not None
    names: list[str] = ast.literal_eval(value)
    assert names == sorted(set(names), key=lambda n: (not n.isupper(), not n[:1].isupper(), n))
    return names


def test_no_module_is_named_after_nothing() -> None:
    refused = re.compile(r"(?:^|_)(?:utils?|helpers?|managers?|base|common|misc|stuff)(?:_|$)")
    assert [name for name in MODULES if any(refused.search(part) for part in name.split("."))] == []


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_short_enough_to_be_read(name: str) -> None:
    lines = len(MODULES[name].read_text("utf-8").splitlines())
    assert lines <= (CORE_LINES if name in CORE else MOST_LINES), "split it by what it is about"


def test_the_core_is_there() -> None:
    assert set(MODULES) >= CORE


# What costs a start-up


@pytest.mark.parametrize("name", [name for name in MODULES if not name.startswith("cli")])
def test_what_is_dear_is_imported_where_it_is_needed(name: str) -> None:
    tree = TREES[name]
    skipped = typing_only(tree)
    for node in tree.body:
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert HEAVY.isdisjoint(full.split(".")[0] for full in names), f"line {node.lineno}"


# A child that notes every file it opens, but for what the import system reads.
WATCHED = """
import json, sys
opened = []
def note(event, args):
    if event == "open" and not str(args[0]).endswith((".py", ".pyc", ".so", ".pth", ".zip")):
        opened.append(str(args[0]))
    elif event.split(".")[0] in ("socket", "subprocess") or event in ("os.mkdir", "os.remove"):
        opened.append(event)
sys.addaudithook(note)
{body}
print(json.dumps([sorted(name.split(".")[0] for name in sys.modules), opened]))
"""


def watched(body: str, **env: str) -> tuple[set[str], list[str]]:
    run = subprocess.run(
        [sys.executable, "-c", WATCHED.replace("{body}", body)],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )  # fmt: skip
    modules, opened = json.loads(run.stdout.splitlines()[-1])
    return set(modules), opened


def test_importing_triage_opens_no_file_and_loads_nothing_dear() -> None:
    modules, opened = watched("import triage")
    assert (modules & HEAVY, opened) == (set(), [])


def test_importing_all_that_triage_offers_opens_no_file() -> None:
    modules, opened = watched("import triage\nfor name in triage.__all__: getattr(triage, name)")
    assert (modules & HEAVY, opened) == (set(), [])


@pytest.mark.parametrize("name", [n for n in MODULES if n not in ("__main__", "build_hook")])
def test_importing_a_module_is_quiet(name: str) -> None:
    # Each in turn in one process each would cost minutes: one that imports them all is below.
    assert not [
        node
        for node in TREES[name].body
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ], "a call at the top of a module"


def test_importing_every_module_opens_no_file() -> None:
    names = [n for n in MODULES if n not in ("__main__", "build_hook", "triage")]
    body = "from importlib import import_module\n" + "\n".join(
        f"import_module('triage.{name}')" for name in names
    )
    _, opened = watched(body)
    assert opened == []


def test_a_verdict_from_a_warm_cache_loads_nothing_dear(table: Table) -> None:
    # The table is compiled and cached by now.
    body = (
        "import io\nfrom triage.cli.machine import serve\n"
        'capture = b\'{"exit_code": 127, "stderr": "bash: jqq: command not found"}\'\n'
        "assert serve(io.BytesIO(capture), io.BytesIO(), io.StringIO()) == 0"
    )
    watched(body)
    modules, _ = watched(body)
    assert modules & HEAVY - {"regex"} == set()


# What the package offers


def test_the_surface_is_small_and_all_of_it_is_there() -> None:
    assert len(triage.__all__) == len(set(triage.__all__)) <= 15
    documented = set(re.findall(r"`(\w+)\([\w=, ]*\)`", (ROOT / "README.md").read_text("utf-8")))
    assert {"run", "extract", "judge_run"} <= documented <= set(triage.__all__)
    for name in triage.__all__:
        assert getattr(triage, name).__name__ == name
    assert (PACKAGE / "py.typed").exists()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = triage.nothing


def test_errors_of_ours_are_caught_by_name_below_the_command_line() -> None:
    for name, tree in TREES.items():
        for node in ast.walk(tree):
            # The two ends of a process: nobody is above them to be told.
            if not isinstance(node, ast.ExceptHandler) or name in ("cli.app", "cli.command_run"):
                continue
            caught = ast.dump(node.type) if node.type else "everything"
            broad = node.type is None or "'Exception'" in caught or "'BaseException'" in caught
            reraised = bool(node.body) and isinstance(node.body[-1], ast.Raise)
            assert not broad or reraised, f"{name}:{node.lineno} catches {caught}"


def test_nothing_names_the_machine_it_was_written_on() -> None:
    refused = re.compile(
        r"/work/(?:shared|main)\b|/root/\.(?:pyenv|cache|local)|/tmp/(?:venv|spec)\b"
    )
    for folder in ("triage", "rules", "docs", "benchmarks", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".yaml", ".md", ".json", ".sh") and path != Path(__file__):
                found = refused.search(path.read_text("utf-8"))
                assert found is None, f"{path}: {found}"


# Threads


def test_threads_share_a_table_and_agree(table: Table) -> None:
    captures = [case.capture for case in load_cases(ROOT / "corpus")][::40]
    fresh = table.with_prefilter("auto")
    expected = [classify(capture, table).to_dict() for capture in captures]

    def all_of_them(number: int) -> bool:
        # Each thread begins elsewhere, so that all meet what is not derived yet.
        at = number * len(captures) // 8
        return all(
            classify(captures[i % len(captures)], fresh).to_dict() == expected[i % len(captures)]
            for i in range(at, at + len(captures))
        )

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(all_of_them, range(8)))
