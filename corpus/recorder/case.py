"""A case as YAML that a person can read and that gives every byte back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from recorder.plan import RecordError

__all__ = ["QUOTED_BYTES", "expectation", "is_plain", "stream", "to_yaml", "write_case"]

SCHEMA_LINE = "# yaml-language-server: $schema=../../rules/schema/case.schema.json\n"

# A stream with control characters stays in the YAML, quoted, while it is short enough to read.
QUOTED_BYTES = 600


# C0 but tab and newline, DEL, C1, the Unicode line separators and the BOM: YAML would escape
# or normalise them, so they cannot stand in a block.
_NOT_PLAIN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def is_plain(text: str) -> bool:
    """Tell whether a YAML literal block holds `text` readably and byte for byte."""
    return _NOT_PLAIN.search(text) is None


def stream(data: bytes) -> str | bytes:
    """Return `data` as text where the YAML can hold it readably, else as it is."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    return text if is_plain(text) or len(data) <= QUOTED_BYTES else data


def expectation(
    verdict: str,
    row: int | None,
    row_alt: Sequence[int],
    modes: Sequence[int],
    literal_row: int | None = None,
) -> dict[str, Any]:
    """Return the `expect` part of a case; empty lists are left out, row is null for row 0."""
    expect: dict[str, Any] = {"verdict": verdict, "row": row}
    if row_alt:
        expect["row_alt"] = list(row_alt)
    if modes:
        expect["modes"] = list(modes)
    if literal_row is not None:
        expect["literal_row"] = literal_row
    return expect


class _Dumper(yaml.SafeDumper):
    """Writes multi-line text as literal blocks and lists of numbers in one line."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _scalar(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    if is_plain(text):
        return dumper.represent_scalar("tag:yaml.org,2002:str", text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')


def _sequence(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=True)


_Dumper.add_representer(str, _scalar)
_Dumper.add_representer(list, _sequence)


def _block(key: str, text: str, indent: int) -> str:
    """Return ``key: |`` with `text` below it.

    Written by hand: PyYAML gives up the block style for tabs and for spaces at line ends, which
    is what real output is full of.
    """
    pad = " " * (indent + 2)
    first = next((line for line in text.split("\n") if line), "")
    hint = "2" if first[:1] in (" ", "\t") or text.startswith("\n") else ""
    body = text.removesuffix("\n")
    chomp = "-" if body == text else "+" if body.endswith("\n") or not body else ""
    lines = "\n".join(f"{pad}{line}" if line else "" for line in body.split("\n"))
    return f"{' ' * indent}{key}: |{hint}{chomp}\n{lines}\n"


def to_yaml(case: Mapping[str, Any], indent: int = 0) -> str:
    """Return the case as YAML; bytes must have been moved to a file before."""
    parts = []
    for key, value in case.items():
        if isinstance(value, Mapping):
            parts.append(f"{' ' * indent}{key}:\n{to_yaml(value, indent + 2)}")
        elif isinstance(value, str) and "\n" in value and is_plain(value):
            parts.append(_block(key, value, indent))
        else:
            dumped = yaml.dump(
                {key: value}, Dumper=_Dumper, allow_unicode=True, width=10**6, sort_keys=False
            )
            parts.append(" " * indent + dumped)
    return "".join(parts)


def write_case(case: Mapping[str, Any], chapter: str, corpus: Path) -> Path:
    """Write `corpus/<chapter>/<id>.yaml` and its raw streams; returns the path of the YAML.

    Raises `RecordError` where the file, read back, is not the case that was given.
    """
    folder = corpus / chapter
    folder.mkdir(parents=True, exist_ok=True)
    capture: dict[str, Any] = {}
    for key, value in case["capture"].items():
        beside = folder / f"{case['id']}.{key}.bin"
        if isinstance(value, bytes):
            beside.write_bytes(value)
            capture[f"{key}_file"] = beside.name
        else:
            beside.unlink(missing_ok=True)
            capture[key] = value
    written = {**case, "capture": capture}
    text = SCHEMA_LINE + to_yaml(written)
    if yaml.safe_load(text) != written:
        raise RecordError(f"{case['id']}: YAML does not give the case back")
    path = folder / f"{case['id']}.yaml"
    path.write_text(text, encoding="utf-8")
    return path
