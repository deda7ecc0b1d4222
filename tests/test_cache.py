"""The compiled table on disk: used when it is surely right, else passed over without a word."""

from __future__ import annotations

import ast
import json
import os
import pickle
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_rules import RULES, row, write_rules

import triage.cache
from triage.cache import PACKAGED, load_table, write_packaged
from triage.compile import SECTIONS
from triage.compiled import FORMAT, pack, unpack
from triage.engine import classify
from triage.model import Capture
from triage.table import Table

ROWS = [
    row("boom", {"exit": 1, "stderr": "boom"}, modes=[10], capture={"what": r"boom (\w+)"}),
    row("rest", {"exit": "nonzero"}),
]
CAPTURES = (
    Capture(exit_code=1, stderr="x\nboom there\n", command="git log"),
    Capture(exit_code=3, stdout="é"),
)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    return write_rules(tmp_path / "rules", {"10-test": ROWS})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of its own, empty at first."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder / "triage"


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often rule files were read, and how often a table was compiled."""
    calls = {"read": 0, "compiled": 0}

    def count(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*args: Any) -> Any:
            calls[name] += 1
            return function(*args)

        return counting

    monkeypatch.setattr(triage.cache, "_text", count("read", triage.cache._text))
    monkeypatch.setattr(triage.cache, "_compile", count("compiled", triage.cache._compile))
    return calls


def whole(table: Table) -> dict[str, Any]:
    """Everything a table is, as plain data, and what it says of two captures."""
    sections: dict[str, Any] = json.loads(
        json.dumps({name: table.section(name) for name in SECTIONS}, default=plain)
    )
    verdicts = [classify(capture, table).to_dict() for capture in CAPTURES]
    return {**sections, "hash": table.hash, "verdicts": json.loads(json.dumps(verdicts))}


def plain(value: Any) -> Any:
    return dict(value) if hasattr(value, "keys") else list(value)


def cached(home: Path) -> Path:
    (path,) = home.glob("table-*.jsonl")
    return path


def test_a_table_comes_back_as_it_was_compiled(rules: Path, home: Path) -> None:
    compiled = load_table(rules)
    assert cached(home).name == f"table-{compiled.hash}.jsonl"
    assert whole(load_table(rules)) == whole(compiled)
    assert whole(load_table(rules, cache=False)) == whole(compiled)


def test_a_fresh_stamp_saves_reading_the_rules(
    rules: Path, home: Path, counted: dict[str, int]
) -> None:
    load_table(rules)
    assert counted["compiled"] == 1
    reads = counted["read"]
    load_table(rules)
    assert counted == {"read": reads, "compiled": 1}


def test_touched_files_are_known_by_their_content(
    rules: Path, home: Path, counted: dict[str, int]
) -> None:
    first = load_table(rules)
    chapter = rules / "table" / "10-test.yaml"
    os.utime(chapter, ns=(1, 1))
    again = load_table(rules)
    assert (again.hash, counted["compiled"]) == (first.hash, 1)
    reads = counted["read"]
    load_table(rules)
    assert counted["read"] == reads, "the new times were noted"


def test_changed_files_are_compiled_anew(rules: Path, home: Path, counted: dict[str, int]) -> None:
    first = load_table(rules)
    chapter = rules / "table" / "10-test.yaml"
    # The same number of bytes: the time alone tells.
    chapter.write_text(chapter.read_text().replace("boom", "bang"))
    os.utime(chapter, ns=(5, 5))
    second = load_table(rules)
    assert counted["compiled"] == 2
    assert second.hash != first.hash
    assert [item.id for item in second] == ["bang", "rest"]


def test_an_added_or_removed_file_is_noticed(rules: Path, home: Path) -> None:
    first = load_table(rules)
    extra = rules / "table" / "20-more.yaml"
    shutil.copy(rules / "table" / "10-test.yaml", extra)
    extra.write_text(extra.read_text().replace("boom", "bang").replace("rest", "last"))
    assert len(load_table(rules)) == 4
    extra.unlink()
    assert load_table(rules).hash == first.hash


def test_the_hash_is_of_the_content_wherever_it_lies(rules: Path, home: Path) -> None:
    elsewhere = Path(shutil.copytree(rules, rules.parent / "elsewhere" / "x", symlinks=True))
    assert load_table(elsewhere).hash == load_table(rules).hash


def test_one_folder_with_and_without_overlays_has_two_tables(rules: Path, home: Path) -> None:
    overlay = rules.parent / "mine"
    write_rules(overlay, {"05-mine": [row("mine", {"exit": 9})]}, bare=True)
    for _ in range(2):
        assert len(load_table(rules)) == 2
        assert len(load_table(rules, overlays=[overlay])) == 3


# What is not to be trusted


def broken_forms(good: bytes) -> dict[str, bytes]:
    header, _, body = good.partition(b"\n")
    words = header.split(b" ")
    renamed = b" ".join([*words[:3], words[3].replace(b"hot", b"hat"), *words[4:]])
    other = good.replace(b"boom", b"doom")
    return {
        "empty": b"",
        "cut in the header": good[:20],
        "cut in the body": good[:-10],
        "longer": good + b"x",
        "another format": good.replace(FORMAT.encode(), b"triage-table-0", 1),
        "another hash": good.replace(words[1], b"0" * 32, 1),
        "another content under an old checksum": other,
        "a part renamed": renamed + b"\n" + body,
        "no text": os.urandom(2000),
        "a pickle": pickle.dumps({"hot": {}}),
        "JSON of something else": b'{"hot": {"rows": []}}\n',
        "header alone": header + b"\n",
    }


@pytest.mark.parametrize("form", broken_forms(f"{FORMAT} a b hot 2\n{{}}".encode()))
def test_a_cache_that_is_not_ours_is_passed_over(
    rules: Path, home: Path, counted: dict[str, int], capfd: pytest.CaptureFixture[str], form: str
) -> None:
    expected = whole(load_table(rules))
    path = cached(home)
    path.write_bytes(broken_forms(path.read_bytes())[form])
    assert whole(load_table(rules)) == expected
    assert counted["compiled"] == 2
    # It is written anew, and used from then on.
    assert whole(load_table(rules)) == expected
    assert counted["compiled"] == 2
    assert capfd.readouterr() == ("", "")


DATA = {
    "hot": {"patterns": ["a", "b|c"], "rows": [{"id": "é"}], "index": {}},
    "modes": [],
    "cold": 1,
}
PACKED = pack(DATA, "d" * 32)


@settings(max_examples=300)
@given(
    at=st.integers(0, len(PACKED) - 1),
    change=st.binary(max_size=6),
    drop=st.integers(0, 6),
)
def test_no_damage_is_taken_for_a_table(at: int, change: bytes, drop: int) -> None:
    damaged = PACKED[:at] + change + PACKED[at + drop :]
    parts = unpack(damaged, "d" * 32)
    assert (parts is None) is (damaged != PACKED)


def test_what_is_packed_comes_back(tmp_path: Path) -> None:
    parts = unpack(PACKED, "d" * 32)
    assert parts is not None
    assert {name: plain(part) if name == "hot" else part for name, part in parts.items()} == DATA
    assert unpack(PACKED, "e" * 32) is None
    # A checksum is no secret: what is well formed is read, but only ever as JSON.
    body = b"__import__('os').system('true')"
    names = f"cold {len(body)}"
    checksum = f"{zlib.crc32(body, zlib.crc32(names.encode())):08x}"
    forged = unpack(f"{FORMAT} {'d' * 32} {checksum} {names}\n".encode() + body, "d" * 32)
    assert forged is not None
    with pytest.raises(json.JSONDecodeError):
        forged["cold"]


@pytest.mark.parametrize("name", ["stamp", "table"])
def test_a_folder_in_the_place_of_a_file_is_passed_over(rules: Path, home: Path, name: str) -> None:
    expected = whole(load_table(rules))
    (path,) = home.glob(f"{name}-*")
    path.unlink()
    path.mkdir()
    assert whole(load_table(rules)) == expected


@pytest.mark.parametrize(
    "text", [b"", b"\xff\xfe", b"triage-table-1 x\n[]", b"one line", b"a b\nc"]
)
def test_a_stamp_that_is_not_ours_is_passed_over(rules: Path, home: Path, text: bytes) -> None:
    expected = load_table(rules).hash
    (stamp,) = home.glob("stamp-*")
    stamp.write_bytes(text)
    assert load_table(rules).hash == expected


def test_a_cache_folder_that_can_not_be_written_is_no_error(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    expected = whole(load_table(rules, cache=False))
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert whole(load_table(rules)) == expected
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    assert whole(load_table(rules)) == expected
    # A relative folder would be another one in every directory.
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.chdir(tmp_path)
    assert whole(load_table(rules)) == expected
    assert not (tmp_path / "cache").exists()
    assert capfd.readouterr() == ("", "")


def test_a_full_disk_leaves_nothing_behind(
    rules: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert len(load_table(rules)) == 2
    assert list(home.iterdir()) == []


def test_many_threads_may_load_at_once(rules: Path, home: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        tables = list(pool.map(load_table, [rules] * 16))
    assert len({table.hash for table in tables}) == 1
    assert len(cached(home).read_bytes()) == len(pack_of(rules))
    with ThreadPoolExecutor(8) as pool:
        builtin = list(pool.map(lambda _: load_table(), range(16)))
    assert all(table is builtin[0] for table in builtin)


def pack_of(rules: Path) -> bytes:
    return Path(write_packaged(str(rules))).read_bytes()


# In the package


def test_the_packaged_table_serves_a_user_without_a_cache(
    rules: Path, home: Path, counted: dict[str, int]
) -> None:
    assert write_packaged(str(rules)) == str(rules / PACKAGED)
    counted["compiled"] = 0
    packaged = load_table(rules)
    assert counted["compiled"] == 0
    assert whole(packaged) == whole(load_table(rules, cache=False))
    # The stamp is all that has to be kept, and spares reading the rules the next time.
    assert [path.name.split("-")[0] for path in home.iterdir()] == ["stamp"]
    counted.update(read=0, compiled=0)
    load_table(rules)
    assert counted == {"read": 0, "compiled": 0}


def test_a_packaged_table_that_is_stale_is_passed_over(
    rules: Path, home: Path, counted: dict[str, int]
) -> None:
    write_packaged(str(rules))
    chapter = rules / "table" / "10-test.yaml"
    chapter.write_text(chapter.read_text().replace("id: boom", "id: bang"))
    counted["compiled"] = 0
    assert [item.id for item in load_table(rules)] == ["bang", "rest"]
    assert counted["compiled"] == 1


def test_the_packaged_table_is_the_same_wherever_it_is_built(tmp_path: Path) -> None:
    # Sets have another order in every process; what is built from one source must not.
    copy = Path(shutil.copytree(RULES, tmp_path / "copy"))
    built = []
    for seed in ("1", "2"):
        code = f"from triage.cache import write_packaged; write_packaged({str(copy)!r})"
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(RULES.parent)}
        subprocess.run([sys.executable, "-c", code], check=True, env=env)
        built.append((copy / PACKAGED).read_bytes())
    assert built[0] == built[1]


# Formats


def test_the_format_has_a_new_name_whenever_its_parts_have() -> None:
    # A table cached by an older version must not be read by a newer one that wants more of it:
    # whoever changes the list below changes the name as well.
    parts = [f"hot/{key}" for key in load_table(RULES).section("hot")]
    assert (FORMAT, sorted({*parts, *SECTIONS} - {"hot"})) == (
        "triage-table-8",
        ["agents", "cold", "effects", "hot/bare", "hot/clauses", "hot/filed", "hot/gates",
         "hot/grams", "hot/index", "hot/lines", "hot/patterns", "hot/predicate_names",
         "hot/predicates", "hot/quick", "hot/rows", "hot/rows_of", "hot/scanned", "hot/short",
         "modes", "policy", "secrets"],
    )  # fmt: skip


def test_nothing_of_ours_executes_what_it_reads() -> None:
    refused = {"pickle", "marshal", "shelve", "dill"}
    for path in sorted((RULES.parent / "triage").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                assert refused.isdisjoint(alias.name for alias in node.names), path
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in refused, path
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("eval", "exec", "compile"), f"{path}:{node.lineno}"
