"""Exit statuses that agent harnesses write into the one merged text they keep.

Only shapes that stand alone on a line count, because programs print such words too. Sources: hook
payloads and transcripts of Claude Code, Codex, Gemini CLI and OpenCode, as collected in the
project's notes; logs of GitHub Actions, Azure Pipelines, GitLab CI, CircleCI and the run window of
JetBrains in public reports.
"""

from __future__ import annotations

import re

__all__ = ["ended_by_limit", "status_and_rest", "status_in"]

_FIRST = re.compile(r"\A\s*(?:Error: )?Exit code:? (-?\d{1,10})\s*(?:\n|\Z)")
_LAST = re.compile(
    r"(?:\A|\n)(?:\d{4}-\d\d-\d\dT[\d:.]{8,20}Z )?(?:##\[error\]|Error: |ERROR: )?"
    r"(?:Exit [Cc]ode: |Exit code |\[exit code:? |\[process exited with code |"
    r"Process (?:completed|exited|finished) with (?:exit )?code |Command failed with exit code |"
    r"(?:Bash|PowerShell|Cmd\.exe) exited with code |Job failed: exit (?:code|status) |"
    r"CircleCI received exit code |Exited with code exit status |The command exited with status )"
    r"'?(-?\d{1,10})'?(?: \((?:0x[0-9A-Fa-f]{1,8}|interrupted by [^)\n]{1,40})\))?\]?\.?\s*\Z"
)
_CODEX = re.compile(
    r"\A(?:Exit code: |Process exited with code )(-?\d{1,10})\n(?:Wall time[^\n]*\n)?"
)
_LIMIT = re.compile(
    r"(?:\A|\n)\s*(?:(?:[^\w\n]{0,4}Error: (?:\w{1,20} failed: )?)?Command timed out after \d|"
    r"\[?The command has no new output after \d|"
    r"Command was automatically cancelled because it exceeded the timeout|"
    r"The command '.{0,2000}' was cancelled because it took more than \d|"
    r"Execution timed out after \d|command timed out: \d|"
    r"bash tool terminated command after exceeding timeout \d|"
    r"Command did not complete within its \d{1,6} ?(?:s|ms|m)\b|"
    r"ERROR: Job failed: execution took longer than \d|"
    r"(?:##\[error\])?The job (?:(?:running on|of) [^\n]{1,80} )?"
    r"has exceeded the maximum execution time)",
    re.DOTALL,
)


def ended_by_limit(text: str) -> bool:
    """Whether a harness wrote into the end of `text` that its own limit ended the command."""
    return _LIMIT.search(text[-4000:]) is not None


def status_in(text: str) -> tuple[int | None, str]:
    """Return the exit status a harness wrote into `text` and the text without that line.

    (None, text) where there is none; an unknown status is never 0.
    """
    status, start, end = _status_line(text)
    return status, text[:start] + text[end:]


def status_and_rest(merged: str | bytes) -> tuple[int | None, str | bytes]:
    """Return the status in `merged`, and `merged` with that line blanked: every position stays."""
    text = merged.decode("latin-1") if isinstance(merged, bytes) else merged
    status, start, end = _status_line(text)
    if start == end:
        return status, merged
    line = "".join(char if char == "\n" else " " for char in text[start:end])
    blanked = text[:start] + line + text[end:]
    return status, blanked.encode("latin-1") if isinstance(merged, bytes) else blanked


def _status_line(text: str) -> tuple[int | None, int, int]:
    for pattern in (_CODEX, _FIRST):
        match = pattern.search(text)
        if match:
            return int(match.group(1)), 0, match.end()
    tail = max(0, len(text) - 400)
    match = _LAST.search(text[tail:])
    if match:
        return int(match.group(1)), tail + match.start(), len(text)
    return None, 0, 0
