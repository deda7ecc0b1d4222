"""Generated parts of the documents: what stands between two markers, and nothing else.

A mode's document gets the rules that lead to it and one capture that shows it; other documents
get named blocks. Check mode writes nothing and says which blocks are stale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triage.errors import TriageError

if TYPE_CHECKING:
    from pathlib import Path

    from triage.modes import Mode

__all__ = ["MODE_BLOCK", "Stale", "mode_block", "refresh_blocks", "refresh_modes"]

# The name shown for the one block of a mode's document, whose markers carry no name.
MODE_BLOCK = "generated"

# A document is read in a minute: beyond these the block names rules without their reasons.
_REASONS_SHOWN = 8
_ALSO_SHOWN = 12
_REASON_WIDTH = 150
_COMMAND_WIDTH = 110
_EXCERPT_LINES = 8
_EXCERPT_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Stale:
    """One block whose text is not what it would be now; `summary` shows the first difference."""

    path: str
    block: str
    summary: str


def refresh_modes(
    directory: Path,
    modes: Mapping[int, Mode],
    rules: Sequence[Mapping[str, Any]],
    examples: Mapping[int, Mapping[str, Any]],
    *,
    write: bool,
) -> list[Stale]:
    """Bring the generated block of each mode's document up to date; returns those that weren't.

    `rules` are rows of the table as ``{id, row, chapter, modes, why}``, in the table's order;
    `examples` maps §N to ``{case_id, command, exit_code, excerpt}``. Raises `TriageError` with
    file:line:column when markers are missing or doubled; then nothing was written.
    """
    new_blocks = {
        str(directory / mode.doc): {MODE_BLOCK: mode_block(mode, rules, examples.get(number))}
        for number, mode in modes.items()
    }
    pending = [_planned(path, blocks, _mode_markers) for path, blocks in new_blocks.items()]
    return _finish(pending, write=write)


def refresh_blocks(
    path: Path, texts: Mapping[str, Callable[[], str]], *, write: bool
) -> list[Stale]:
    """Bring the named blocks of one document up to date; returns those that weren't.

    A block NAME stands between ``<!-- generated:NAME begin -->`` and the same with ``end``, each
    alone on its line; `texts` gives a function for each NAME. Raises `TriageError` with
    file:line:column for a name without a function, a function without a block, or a marker
    without its partner; then nothing was written.
    """
    blocks = {name: text().rstrip("\n") for name, text in texts.items()}
    return _finish([_planned(str(path), blocks, _named_markers)], write=write)


def mode_block(
    mode: Mode, rules: Sequence[Mapping[str, Any]], example: Mapping[str, Any] | None
) -> str:
    """The generated Markdown of one mode's document, without the markers."""
    first = [rule for rule in rules if rule["modes"] and rule["modes"][0] == mode.id]
    later = [rule for rule in rules if mode.id in tuple(rule["modes"])[1:]]
    lines = ["## Rules that lead here", "", *_rule_lines(mode, first)]
    if later:
        more = f" and {len(later) - _ALSO_SHOWN} more" if len(later) > _ALSO_SHOWN else ""
        shown = ", ".join(f"`{rule['id']}`" for rule in later[:_ALSO_SHOWN])
        lines += ["", f"Second choice of: {shown}{more}."]
    lines += ["", "## Example capture", "", *_example_lines(mode, example)]
    return "\n".join(lines)


def _rule_lines(mode: Mode, rules: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rules:
        return [_NO_RULE[mode.observable].format(mode.merged_into)]
    if len(rules) <= _REASONS_SHOWN:
        return [
            f"- `{rule['id']}` ({_position(rule)}): {_clip(_plain(rule['why']), _REASON_WIDTH)}"
            for rule in rules
        ]
    chapters: dict[str, list[str]] = {}
    for rule in rules:
        chapters.setdefault(rule["chapter"], []).append(f"`{rule['id']}`")
    return [f"- {chapter}: {', '.join(names)}" for chapter, names in chapters.items()]


_NO_RULE = {
    "single": "None yet.",
    "repeated": "None: one capture can't show this mode, only several can.",
    "inspection": "None: no capture shows this mode, only a look at the tool does.",
    "merged": "None: rules name §{}, where this number was merged.",
}


def _position(rule: Mapping[str, Any]) -> str:
    row = rule["row"]
    return rule["chapter"] if row is None else f"row {row}, {rule['chapter']}"


def _example_lines(mode: Mode, example: Mapping[str, Any] | None) -> list[str]:
    if example is None:
        where = "see the live document" if mode.observable == "merged" else "the corpus has none"
        return [f"None: {where}."]
    from triage.redact import mask

    command = example["command"]
    if not isinstance(command, str):
        import shlex

        command = shlex.join(command or ())
    status = example["exit_code"]
    ended = "no known status" if status is None else f"status {status}"
    excerpt = mask(example["excerpt"]).strip("\n").split("\n")
    # Indented text can neither close a fence, nor end the block, nor look like a line that grep
    # finds: the excerpt is whatever a tool once printed.
    shown = [f"    {_clip(_visible(line), _EXCERPT_WIDTH)}".rstrip() for line in excerpt]
    if len(shown) > _EXCERPT_LINES:
        shown = [*shown[: _EXCERPT_LINES - 1], "    …"]
    call = _code(_clip(_plain(mask(command)), _COMMAND_WIDTH)) if command else "A call"
    return [f"{call} ended with {ended} (`{example['case_id']}`):", "", *shown]


def _plain(text: str) -> str:
    """One line of printable text."""
    return _visible(" ".join(text.split()))


def _clip(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"


def _visible(line: str) -> str:
    if line.isprintable():
        return line
    # Control characters, lone surrogates and direction marks would change how the page reads.
    return "".join(c if c.isprintable() else "    " if c == "\t" else ascii(c)[1:-1] for c in line)


def _code(text: str) -> str:
    """A Markdown code span; its fence is longer than any run of back-ticks inside."""
    import re

    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    if not longest:
        return f"`{text}`"
    fence = "`" * (longest + 1)
    return f"{fence} {text} {fence}"


# A marker finder returns, for each block's name, the lines of its begin and end markers.
_Markers = Callable[[str, Sequence[str]], dict[str, tuple[int, int]]]
_Planned = tuple[str, str, list[Stale]]


def _planned(path: str, blocks: Mapping[str, str], markers: _Markers) -> _Planned:
    """The document's new text, and which of its blocks changed."""
    from pathlib import Path

    try:
        text = Path(path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TriageError(f"{path}:1:1", f"can't be read: {error}", "restore the file") from None
    lines = text.split("\n")
    found = markers(path, lines)
    for name in blocks.keys() - found.keys():
        raise TriageError(
            f"{path}:1:1", f"no block `{name}`", f"add the markers of `{name}`, each on a line"
        )
    for name in found.keys() - blocks.keys():
        raise TriageError(
            f"{path}:{found[name][0] + 1}:1", f"nothing writes block `{name}`", "remove the markers"
        )
    stale = []
    for name, (begin, end) in sorted(found.items(), key=lambda item: -item[1][0]):
        # A checkout may have carriage returns at its line ends; ours then get one as well.
        tail = "\r" if lines[begin].endswith("\r") else ""
        new = [line + tail for line in blocks[name].split("\n")]
        old = lines[begin + 1 : end]
        if old != new:
            stale.append(Stale(path, name, _difference(old, new)))
            lines[begin + 1 : end] = new
    return path, "\n".join(lines), stale[::-1]


def _mode_markers(path: str, lines: Sequence[str]) -> dict[str, tuple[int, int]]:
    begin = _only(path, lines, "<!-- generated:begin -->")
    end = _only(path, lines, "<!-- generated:end -->")
    if end < begin:
        raise TriageError(f"{path}:{end + 1}:1", "the end marker comes first", "swap the markers")
    return {MODE_BLOCK: (begin, end)}


def _only(path: str, lines: Sequence[str], marker: str) -> int:
    places = [number for number, line in enumerate(lines) if line.rstrip() == marker]
    if not places:
        raise TriageError(f"{path}:{len(lines)}:1", f"no line `{marker}`", "add it")
    if len(places) > 1:
        raise TriageError(f"{path}:{places[1] + 1}:1", f"a second `{marker}`", "keep one")
    return places[0]


def _named_markers(path: str, lines: Sequence[str]) -> dict[str, tuple[int, int]]:
    import re

    marker = re.compile(r"<!-- generated:([a-z0-9-]+) (begin|end) -->\s*")
    found: dict[str, tuple[int, int]] = {}
    opened: tuple[str, int] | None = None
    for number, line in enumerate(lines):
        match = marker.fullmatch(line)
        if match is None:
            continue
        name, side, where = match[1], match[2], f"{path}:{number + 1}:1"
        if side == "begin":
            if opened:
                raise TriageError(where, f"block `{opened[0]}` is still open", "end it first")
            if name in found:
                raise TriageError(where, f"block `{name}` twice", "keep one")
            opened = (name, number)
        elif opened is None or opened[0] != name:
            raise TriageError(where, f"end of `{name}` without its begin", "add the begin marker")
        else:
            found[name] = (opened[1], number)
            opened = None
    if opened:
        where = f"{path}:{opened[1] + 1}:1"
        raise TriageError(where, f"block `{opened[0]}` has no end", "add the end marker")
    return found


def _difference(old: Sequence[str], new: Sequence[str]) -> str:
    import difflib

    changed = [
        line.rstrip("\r")
        for line in difflib.ndiff(old, new)
        if line.startswith(("- ", "+ ")) and line[2:].strip()
    ]
    gone = sum(line[0] == "-" for line in changed)
    first = _clip(changed[0], _EXCERPT_WIDTH) if changed else "blank lines only"
    return f"-{gone} +{len(changed) - gone} lines, first: {first}"


def _finish(pending: Sequence[_Planned], *, write: bool) -> list[Stale]:
    stale: list[Stale] = []
    for path, text, changed in pending:
        stale.extend(changed)
        if changed and write:
            _replace(path, text)
    return stale


def _replace(path: str, text: str) -> None:
    """Write beside the file and rename, so that no reader ever sees half a document."""
    import os
    import tempfile
    from pathlib import Path

    target = Path(path).resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(text.encode("utf-8"))
        fresh.chmod(target.stat().st_mode & 0o777)
        fresh.replace(target)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise TriageError(f"{path}:1:1", f"can't be written: {error}", "make it writable") from None
