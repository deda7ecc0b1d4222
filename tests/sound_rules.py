"""Rule folders of a few rows for tests, with our schemas, modes and policy around them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

RULES = Path(__file__).parent.parent / "rules"

NOTHING = '{exit_code: 0, command: ls, stdout: "a\\n"}'

# A table that lint has nothing against: each row has what the others lack.
SOUND = {
    "04-command-not-found": """\
rows:
  - id: not-found
    row: 4
    modes: [20]
    when:
      exit: 127
      stderr: 'command not found$'
    why: The shell says that there is no such program.
    match:
      - {exit_code: 127, command: jqq, stderr: 'bash: jqq: command not found'}
    no_match:
      - {exit_code: 1, command: jqq, stderr: 'bash: jqq: command not found'}
      - {exit_code: 127, command: jqq, stderr: 'something else'}
""",
    "16-prose-exit": """\
rows:
  - id: file-missing
    row: 16
    modes: [29]
    when:
      exit: nonzero
      stderr: ': No such file or directory$'
    why: A path in the call is wrong, or it ran elsewhere.
    match:
      - {exit_code: 2, command: ls x, stderr: 'ls: x: No such file or directory'}
    no_match:
      - {exit_code: 0, command: ls x, stderr: 'ls: x: No such file or directory'}
      - {exit_code: 2, command: ls x, stderr: 'ls: x: Permission denied'}
  - id: unexplained
    row: 16
    flags: [unclassified]
    when: {exit: nonzero}
    why: Every failure that no row above explains.
    match:
      - {exit_code: 1, command: tool, stderr: 'it went wrong'}
    no_match:
      - {exit_code: 0, command: tool}
""",
    "99-clean-exit": """\
rows:
  - id: clean
    verdict: not_failure
    when: {}
    why: It ended with 0 and nothing says otherwise.
    match:
      - {exit_code: 0, command: ls}
    no_match:
      - {exit_code: 1, command: ls}
""",
}


def rules_folder(
    folder: Path, chapters: Mapping[str, str] | None = None, vocabulary: str = "{}\n"
) -> Path:
    """Write a rules folder: `chapters` replace or join those of `SOUND`."""
    folder.mkdir(parents=True)
    names = ("effects.yaml", "bundle.yaml", "policy.yaml", "secrets.yaml")
    for name in ("schema", "modes", "agents", *names):
        (folder / name).symlink_to(RULES / name)
    (folder / "vocabulary.yaml").write_text(vocabulary, encoding="utf-8")
    (folder / "table").mkdir()
    for name, text in {**SOUND, **(chapters or {})}.items():
        (folder / "table" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def overlay_folder(folder: Path, chapters: Mapping[str, str]) -> Path:
    """Write an overlay's chapters."""
    (folder / "table").mkdir(parents=True)
    for name, text in chapters.items():
        (folder / "table" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def one_row(row_id: str, when: str, **others: str) -> str:
    """A chapter of one row, for planting a defect; `others` replace its other keys."""
    keys = {
        "row": "11",
        "modes": "[19]",
        "why": "A row that a test plants a defect in.",
        "match": "[{exit_code: 1, command: tool, stderr: 'planted symptom 7'}]",
        "no_match": f"[{NOTHING}]",
        **others,
    }
    lines = [f"  - id: {row_id}", f"    when: {when}"]
    lines += [f"    {key}: {value}" for key, value in keys.items()]
    return "rows:\n" + "\n".join(lines) + "\n"


def case_text(
    case_id: str,
    row: int | None,
    capture: str,
    *,
    modes: str = "[]",
    row_alt: str = "[]",
    tool: str = "tool",
    source: str = "recorded",
) -> str:
    """A corpus case as YAML; `capture` is flow style."""
    verdict = "not_failure" if row is None else "failure"
    return f"""\
id: {case_id}
tool: {tool}
source: {source}
capture: {capture}
expect:
  verdict: {verdict}
  row: {"null" if row is None else row}
  row_alt: {row_alt}
  modes: {modes}
labelled_by: the test
why: a case of a test
"""


def corpus_folder(folder: Path, cases: Mapping[str, str]) -> Path:
    """Write a corpus; keys are chapter/id."""
    for name, text in cases.items():
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


# Cases that reach every row of `SOUND`.
SOUND_CASES = {
    "04-command-not-found/jqq": case_text(
        "jqq", 4, "{exit_code: 127, command: jqq ., stderr: 'bash: jqq: command not found'}",
        modes="[20]", tool="jqq",
    ),
    "16-prose-exit/ls": case_text(
        "ls", 16, "{exit_code: 2, command: ls y, stderr: 'ls: y: No such file or directory'}",
        modes="[29, 30]", tool="ls",
    ),
    "16-prose-exit/odd": case_text(
        "odd", 16, "{exit_code: 3, command: odd, stderr: 'oh no'}", tool="odd"
    ),
    "99-clean-exit/fine": case_text(
        "fine", None, "{exit_code: 0, command: ls, stdout: 'a'}", tool="ls"
    ),
}  # fmt: skip
