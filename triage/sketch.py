"""Captures made up to satisfy a condition: what a sample could look like that nobody has recorded.

A sketch is a guess, and everything made from it is checked against the matcher; so it need not be
right, only often right enough. Texts come from patterns, command lines from their tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from triage.logic import statuses
from triage.match import Matcher
from triage.pattern_text import example_texts

__all__ = ["NEAR_JSON", "Sketch", "merged", "sample_of", "sketches"]

# A whole value, one beside text, scalars, one inside a line, one cut off, several, none.
NEAR_JSON = (
    '{"a": 1}',
    'a new version is there\n{"a": 1}',
    '{"a": 1}\nall done',
    '"only a text"',
    "a line\n17",
    'log: {"a": 1} was sent',
    'a line\n{"a": [1, {"b": 2}',
    '{"a": 1}\n{"a": 2}',
    "no value here",
)

Sketch = Mapping[str, Any]

_MOST = 24
_LARGEST = 200_000


def sketches(node: Sequence[Any], matcher: Matcher, depth: int = 0) -> list[Sketch]:
    """Return guesses at captures that satisfy a condition, none where there is no idea."""
    word = node[0]
    if depth > 20:
        return [{}]
    if word == "all":
        made: list[Sketch] = [{}]
        for part in node[1]:
            parts = sketches(part, matcher, depth + 1)
            made = list(islice(_products(made, parts), _MOST)) or made
        return made
    if word == "any":
        several = [sketches(part, matcher, depth + 1) for part in node[1]]
        each = max(1, _MOST // max(1, len(several)))
        return [sketch for group in several for sketch in group[:each]][: _MOST * 2]
    if word == "is":
        return sketches(matcher.predicates[node[1]], matcher, depth + 1)
    return list(islice(_WORDS.get(word, _unknown)(node, matcher), _MOST))


def _products(left: Sequence[Sketch], right: Sequence[Sketch]) -> Iterator[Sketch]:
    for one in left:
        for other in right:
            both = merged(one, other)
            if both is not None:
                yield both


def merged(one: Sketch, other: Sketch) -> Sketch | None:
    """Both sketches in one capture, None where they contradict each other."""
    both = dict(one)
    for key, value in other.items():
        if key not in both or both[key] == value:
            both[key] = value
        elif key in ("stdout", "stderr"):
            both[key] = both[key].rstrip("\n") + "\n" + value
        elif key == "json" and isinstance(value, dict) and isinstance(both[key], dict):
            both[key] = _deep(both[key], value)
        else:
            return None
    return both


def _deep(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return {
            key: _deep(one[key], other[key]) if key in one and key in other else
            one.get(key, other.get(key))
            for key in {**one, **other}
        }  # fmt: skip
    return other


def sample_of(sketch: Sketch) -> dict[str, Any]:
    """Return a sketch as the data of a row's sample."""
    data = {"exit_code": 1, "command": "tool run", **sketch}
    if data["command"] is None:
        del data["command"]
    value = data.pop("json", None)
    if value is not None:
        text = json.dumps(value)
        data["stdout"] = f"{data['stdout']}\n{text}" if "stdout" in data else text
    return data


def _unknown(node: Sequence[Any], matcher: Matcher) -> Iterator[Sketch]:
    yield {}


def _exit(node: Sequence[Any], matcher: Matcher) -> Iterator[Sketch]:
    for item in node[1]:
        codes = statuses([item])
        small = sorted(code for code in codes if code is not None and 0 <= code < 256)
        rest = [code for code in codes if code is not None and not 0 <= code < 256]
        for code in [*small[:1], *(sorted(rest)[:1] if not small else ())]:
            yield {"exit_code": code}
        if None in codes and not small:
            yield {"exit_code": None}


def _looked_for(node: Sequence[Any], matcher: Matcher) -> Iterator[Sketch]:
    _, stream, _, pids, after, least = node
    ahead = example_texts(matcher.sources[after])[:1] if after is not None else [""]
    for pid in pids[:_MOST]:
        for text in example_texts(matcher.sources[pid]):
            whole = "\n".join([*filter(None, ahead), *[text] * least])
            yield {"stdout" if stream == "stdout" else "stderr": whole}


def _raw(node: Sequence[Any], matcher: Matcher) -> Iterator[Sketch]:
    for pid in node[2]:
        for text in example_texts(matcher.sources[pid]):
            yield {"stderr" if node[1] == "stderr" else "stdout": text}


def _language(node: Sequence[Any], matcher: Matcher) -> Iterator[Sketch]:
    for child in node[2][:6]:
        yield from _looked_for(child, matcher)


def _paths(node: Sequence[Any], matcher: Matcher) -> Iterator[Sketch]:
    value: dict[str, Any] = {"ok": False} if node[0] == "envelope" else {}
    for path, tests in node[1]:
        steps = path.split(".")
        inner = value
        for step in steps[:-1]:
            if not isinstance(inner.get(step), dict):
                inner[step] = {}
            inner = inner[step]
        filled = _value(tests, matcher)
        if filled is not None:
            inner[steps[-1]] = filled
    yield {"json": value}
    # What stands in the condition, and what is near it: the other truth, one path less.
    if node[0] == "envelope" and isinstance(value.get("ok"), bool):
        yield {"json": {**value, "ok": not value["ok"]}}
    for path, _ in node[1]:
        first = path.split(".")[0]
        if first in value and len(value) > 1:
            yield {"json": {key: item for key, item in value.items() if key != first}}


def _value(tests: Sequence[Any], matcher: Matcher) -> Any:
    for kind, wanted in tests:
        if kind == "in":
            return wanted[0]
        if kind == "matches":
            return next(iter(example_texts(matcher.sources[wanted])), "x")
        if kind in ("min", "max"):
            return wanted
        if kind == "kind":
            return {"string": "x", "number": 1, "object": {}, "array": [1], "boolean": True}.get(
                wanted[0]
            )
        if kind == "contains":
            return [wanted]
        if kind == "present":
            return "x" if wanted else None
    return None


def _extraction(node: Sequence[Any], matcher: Matcher) -> Iterator[Sketch]:
    for text in NEAR_JSON:
        yield {"stdout": text}


def _fields(node: Sequence[Any], matcher: Matcher) -> Iterator[Sketch]:
    made: dict[str, Any] = {}
    for name, tests in node[1]:
        wanted = _value(tests, matcher)
        if name == "hang":
            made["timed_out"] = wanted
        elif name == "merged" and wanted:
            made["merged"] = True
        elif name == "command":
            made["command"] = "tool run" if wanted else None
        elif name == "truncated" and wanted:
            made["truncated"] = [{"stream": "stdout", "at": 100}]
        elif name in ("repeats", "undecodable", "escapes"):
            continue
        elif wanted is not None:
            made[name] = wanted
    yield made


def _size(node: Sequence[Any], matcher: Matcher) -> Iterator[Sketch]:
    for name, tests in node[1]:
        count = next((wanted for kind, wanted in tests if kind == "min"), 0)
        if name != "stderr" and 0 < count <= _LARGEST:
            yield {"stdout_repeat": {"text": "0123456789\n", "times": int(count) // 11 + 1}}
            return
    yield {}


def _cut(node: Sequence[Any], matcher: Matcher) -> Iterator[Sketch]:
    yield {"stdout": '{"items": [1, 2,'} if node[1] else {}


def _command(node: Sequence[Any], matcher: Matcher) -> Iterator[Sketch]:
    line = dict(map(tuple, node[1]))
    stage = dict(map(tuple, node[2]))
    whole = example_texts(matcher.sources[line["line"]]) if "line" in line else [""]
    arguments = example_texts(matcher.sources[stage["args"]]) if "args" in stage else [""]
    programs = stage.get("program", ["tool"])
    for program in programs[:4]:
        for words in stage.get("subcommand", [[]])[:4]:
            for flag in [*stage.get("flags", ())[:3], *([] if "flags" in stage else [""])]:
                for extra in (*arguments, *(text for text in whole if text)):
                    parts = [program, *words, flag, *stage.get("flags_all", ()), extra.strip()]
                    text = " ".join(part for part in parts if part)
                    yield {"command": _shaped(text, line)}
    for text in whole:
        if text.strip():
            yield {"command": text.strip()}


def _shaped(text: str, line: Mapping[str, Any]) -> str:
    if line.get("json_wanted"):
        text += " --json"
    shape = set(line.get("shape", ()))
    if "pipeline" in shape:
        return f"{text} | cat"
    if "and" in shape:
        return f"cd x && {text}"
    if "semicolon" in shape:
        return f"{text}; echo done"
    if line.get("masks_status"):
        return f"{text} || true"
    return text


_WORDS: Mapping[str, Any] = {
    "exit": _exit,
    "text": _looked_for,
    "raw": _raw,
    "language": _language,
    "envelope": _paths,
    "json": _paths,
    "extraction": _extraction,
    "timing": _fields,
    "observed": _fields,
    "size": _size,
    "mid_structure": _cut,
    "command": _command,
}
