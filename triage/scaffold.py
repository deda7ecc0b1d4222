"""From a capture to a corpus case (`triage new`).

What is written is redacted: secrets are masked, the machine's names replaced. The label is the
caller's; nothing here asks the classifier what it thinks, or the case would prove nothing.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triage.capture_data import CAPTURE_KEYS
from triage.command import parse_command
from triage.errors import UsageError
from triage.model import Capture
from triage.redact import mask
from triage.yaml_source import load_yaml

__all__ = [
    "ID",
    "Label",
    "case_of",
    "case_text",
    "free_path",
    "schema_line",
    "tool_of",
    "write_case",
]

_STREAMS = ("stdout", "stderr")
_CASE_SCHEMA = "../../rules/schema/case.schema.json"
ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_CHAPTER = re.compile(r"([0-9]{2})-[a-z0-9-]+")
# A case is read by people; what is longer belongs into a smaller call.
_LONGEST_STREAM = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What the caller says of a capture: where it belongs and which observable decides."""

    case_id: str
    chapter: str
    tool: str
    why: str
    verdict: str | None = None
    modes: tuple[int, ...] = ()
    labelled_by: str = "the person who captured it, before any run"

    @property
    def row(self) -> int | None:
        """The seed's row of the chapter, None for chapters of results that are no failure."""
        number = int(self.chapter[:2])
        failed = self.verdict in (None, "failure")
        return number if failed and 1 <= number <= 16 else None

    def checked(self) -> Label:
        """Return the label; raises `UsageError` for what no case may hold."""
        if not _CHAPTER.fullmatch(self.chapter):
            what = f"{self.chapter!r} is no chapter"
            remedy = "write one as `triage rules` has them, such as 11-rate-limit"
            raise UsageError("--chapter", what, remedy)
        if not ID.fullmatch(self.case_id):
            raise UsageError("--id", f"{self.case_id!r} is no id", "write words-joined-by-dashes")
        if not self.why.strip():
            raise UsageError("--why", "a label needs its reason", "say which observable decides")
        return self


def tool_of(capture: Capture) -> str | None:
    """The program whose call this is, None where the command doesn't say."""
    if capture.command is None:
        return None
    line = parse_command(capture.command)
    owners = line.owners(capture.exit_code, capture.pipestatus)
    return owners[-1].program if owners else None


def case_of(capture: Capture, label: Label) -> dict[str, Any]:
    """Return the redacted case as data; streams that are no text are bytes."""
    label = label.checked()
    verdict = label.verdict or ("not_failure" if label.row is None else "failure")
    return {
        "id": label.case_id,
        "tool": label.tool,
        "source": "recorded",
        "capture": _redacted(capture),
        "expect": {
            "verdict": verdict,
            "row": label.row,
            **({"modes": list(label.modes)} if label.modes else {}),
        },
        "labelled_by": label.labelled_by,
        "why": label.why.strip(),
    }


def _redacted(capture: Capture) -> dict[str, Any]:
    """The observables of a capture, masked; what a case has no key for is left out."""
    usual = Capture(exit_code=0)
    data: dict[str, Any] = {}
    for key in CAPTURE_KEYS:
        if key in ("id", "previous") or key.endswith("_b64"):
            continue
        value = getattr(capture, key)
        if key not in ("exit_code", *_STREAMS) and value == getattr(usual, key):
            continue
        data[key] = _plain(key, value)
    if "merged" in data:
        # Both streams in one text are a stdout that says so.
        data["stdout"], data["merged"] = data["merged"], True
        data.pop("stderr")
    return data


def _plain(key: str, value: Any) -> Any:
    if key in (*_STREAMS, "merged"):
        return _stream(key, value)
    if isinstance(value, str):
        return _anonymous(value)
    if isinstance(value, tuple):
        return [_anonymous(item) if isinstance(item, str) else item for item in value]
    return value


def _stream(key: str, source: Any) -> str | bytes:
    if isinstance(source, os.PathLike):
        source = Path(source).read_bytes()
    elif not isinstance(source, (str, bytes)):
        source = source.read()
    if len(source) > _LONGEST_STREAM:
        what = f"{len(source)} characters are more than a case holds"
        raise UsageError(key, what, "capture a smaller call that fails the same way")
    if isinstance(source, bytes):
        source = source.decode("utf-8", "surrogateescape")
    text = _anonymous(source)
    for errors in ("strict", "surrogateescape"):
        try:
            data = text.encode("utf-8", errors)
        except UnicodeEncodeError:
            continue
        return text if errors == "strict" else data
    # No bytes stand for a lone surrogate; these come nearest and are no text either.
    return text.encode("utf-8", "surrogatepass")


def _anonymous(text: str) -> str:
    """`text` without secrets and without the names of this machine."""
    text = mask(text)
    for name, other in _names():
        # Not inside a longer name: /home/al is no part of /home/alice.
        text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", other, text)
    return text


def _names() -> list[tuple[str, str]]:
    home, folder, host = str(Path("~").expanduser()), str(Path.cwd()), socket.gethostname()
    user = os.environ.get("USER") or os.environ.get("USERNAME") or ""
    pairs = [(folder, "/work/demo") if folder != home else (home, "/home/dev"), (home, "/home/dev")]
    if user:
        pairs.append((f"{user}@{host}", "dev@host"))
    pairs.append((host, "host"))
    # A short one is a word that output may hold for other reasons.
    usable = {name: other for name, other in pairs if len(name) > 3}
    return sorted(usable.items(), key=lambda pair: -len(pair[0]))


def free_path(corpus: Path, chapter: str, case_id: str) -> Path:
    """Return the file of a new case; raises `UsageError` where there is one or none can be."""
    path = corpus / chapter / f"{case_id}.yaml"
    if path.exists():
        raise UsageError(str(path), "there is such a case", "give another --id")
    there = next(folder for folder in path.parents if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(str(corpus), "no folder that can be written", "name another --corpus")
    return path


def write_case(corpus: Path, chapter: str, case: Mapping[str, Any]) -> Path:
    """Write ``corpus/<chapter>/<id>.yaml`` and its raw streams; returns the path.

    Raises `UsageError` where the case is there already, or would not read back as it was given.
    """
    path = free_path(corpus, chapter, case["id"])
    folder = path.parent
    folder.mkdir(parents=True, exist_ok=True)
    capture = dict(case["capture"])
    for key in _STREAMS:
        if isinstance(capture.get(key), bytes):
            beside = folder / f"{case['id']}.{key}.bin"
            beside.write_bytes(capture[key])
            capture = {
                (f"{key}_file" if name == key else name): (beside.name if name == key else value)
                for name, value in capture.items()
            }
    text = case_text({**case, "capture": capture})
    path.write_text(schema_line(folder, _CASE_SCHEMA) + text, encoding="utf-8")
    return path


def schema_line(folder: Path, schema: str) -> str:
    """The line that tells an editor the schema of a file in `folder`; none where it isn't there."""
    there = (folder / schema).is_file()
    return f"# yaml-language-server: $schema={schema}\n" if there else ""


def case_text(case: Mapping[str, Any]) -> str:
    """Return a case as YAML: texts of several lines as blocks, short lists on one line."""
    text = _yaml(case)
    if load_yaml(str(case["id"]), text).data != case:
        raise UsageError(str(case["id"]), "YAML can't hold this text", "give the stream as bytes")
    return text


def _yaml(data: Any) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def scalar(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        block = "\n" in text and all(c.isprintable() or c == "\n" for c in text)
        plain = block and not any(line != line.rstrip() for line in text.split("\n"))
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if plain else None)

    def sequence(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.SequenceNode:
        short = all(not isinstance(item, (dict, list)) for item in items)
        return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=short)

    Dumper.add_representer(str, scalar)
    Dumper.add_representer(list, sequence)
    written: str = yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=4096)
    return written
