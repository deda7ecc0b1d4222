"""What a stage of a line says of itself while another stage owns the status."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triage.command import CommandLine, Stage

__all__ = ["stage_complains"]

# A line longer than this is no message, and so many messages say what the first ones say.
_LINE_CHARS = 400
_LINES = 200
_COMMAND_CHARS = 8000
# What programs tell under their own name although nothing failed.
_HARMLESS = re.compile(
    r"\b(?:warn(?:ing)?|notice|note|info|debug|hint|deprecat\w+|remov(?:ing|ed) leading|nothing to|"
    r"entering directory|leaving directory|up to date|skipp(?:ing|ed)|ignor(?:ing|ed)|using|done|"
    r"finished|complete[d]?|ok|success\w*|start(?:ing|ed)|load(?:ing|ed)|writ(?:ing|ten)|"
    r"read(?:ing)?|listening|creat(?:ing|ed)|updat(?:ing|ed)|install(?:ing|ed)|will|compressed|"
    r"trailing garbage|version|usage|kept|replaced|retry(?:ing)?|summary|total|present|"
    r"no changes|conflicts|backing off)\b",
    re.IGNORECASE | re.ASCII,
)

# A script in the line, known by its suffix; its folder is not its name.
_SCRIPT = re.compile(
    r"([\w-]{3,40})\.(?:sh|bash|py|js|mjs|cjs|ts|rb|pl|php|lua)(?![\w./])", re.ASCII
)


def stage_complains(
    line: CommandLine | None, owners: Sequence[Stage], stderr: str, stdout: str
) -> bool:
    """Whether a stage whose status is hidden prints a message under its own name.

    The message stands on stderr as ``program: words``, or under the name of a script of the line
    without its suffix (``backup: …`` of ``./backup.sh``); on stdout it counts where the line sends
    stderr there (``2>&1``) and the stage that owns the status only passes on what it reads.
    """
    if line is None or not line.parsed:
        return False
    own = {stage.program for stage in owners}
    hidden = {stage.program for stage in line.stages} - own
    scripts = frozenset(_SCRIPT.findall(line.text[:_COMMAND_CHARS]))
    texts = [stderr, stdout] if "2>&1" in line.text or "|&" in line.text else [stderr]
    return any(_speaks(hidden, scripts, text) for text in texts)


def _names(name: str, programs: set[str], scripts: frozenset[str]) -> bool:
    # With a subcommand it is `gm convert: …` or `git-secret: …`; a script may name what it works
    # on as well, `sync b: the batch was rejected`. Three words are a sentence.
    first, _, more = name.rpartition("/")[2].partition(" ")
    if " " in more:
        return False
    return first in programs or first.partition("-")[0] in programs or first in scripts


def _speaks(programs: set[str], scripts: frozenset[str], text: str) -> bool:
    for said in text.split("\n", _LINES)[:_LINES]:
        name, colon, words = said[:_LINE_CHARS].partition(": ")
        if (
            colon
            and _names(name, programs, scripts)
            and words.strip()
            and _HARMLESS.search(f"{name.partition(' ')[2]} {words}") is None
        ):
            return True
    return False
