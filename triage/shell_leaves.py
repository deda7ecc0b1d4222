"""What stands below the commands of a syntax tree: substitutions, comments, and lost text.

tree-sitter-bash has gaps: a backquote inside `${x:-...}` or in a here-document is plain text to
it, and the `-` of `python - <<EOF` belongs to no node. A reader that must not miss a command
looks into these.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from triage.shell_words import Word, read_word

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax

__all__ = ["comment_doubts", "count", "crosses_lines", "lost_words", "substitutions", "text_of"]

_SUBSTITUTIONS = frozenset(["command_substitution", "process_substitution"])
_LITERAL = frozenset(["raw_string", "ansi_c_string"])
_HIDDEN = "a substitution stands where the parser sees only text"
_PROMPT = "an expansion like ${x@P} may run what the variable holds"
_COMMENT = "a comment holds shell operators; not every shell has comments"


def text_of(source: bytes, node: Syntax) -> str:
    """Return the source text of a node."""
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def substitutions(source: bytes, nodes: list[Syntax]) -> tuple[list[Syntax], list[str]]:
    """Find the outermost substitutions below `nodes`, and doubts about the rest of the text."""
    found: list[Syntax] = []
    doubts: list[str] = []
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        kind = node.type
        children = node.children
        if kind in _SUBSTITUTIONS:
            found.append(node)
        elif kind == "comment":
            doubts += comment_doubts(source, node)
        elif children:
            if kind == "expansion" and any(child.type == "@" for child in children):
                doubts.append(_PROMPT)
            at = node.start_byte
            for child in children:
                if _runs(source[at : child.start_byte]):
                    doubts.append(_HIDDEN)
                at = child.end_byte
            stack.extend(reversed(children))
        elif (
            node.is_named
            and kind not in _LITERAL
            and _runs(source[node.start_byte : node.end_byte])
        ):
            doubts.append(_HIDDEN)
    return found, doubts


def comment_doubts(source: bytes, node: Syntax) -> list[str]:
    """Doubt a comment with operators: zsh at a prompt, PowerShell and cmd read on."""
    text = text_of(source, node)
    return [_COMMENT] if any(mark in text for mark in "|&;<>`$(") else []


def lost_words(source: bytes, node: Syntax) -> tuple[Word, ...]:
    """Return the words that stand between the children of a node and belong to none."""
    found: list[Word] = []
    at = node.start_byte
    for child in node.children:
        gap = source[at : child.start_byte].replace(b"\\\n", b" ").replace(b"\\\r\n", b" ")
        found.extend(read_word(part.decode("utf-8", "replace")) for part in gap.split())
        at = child.end_byte
    return tuple(found)


def crosses_lines(source: bytes, node: Syntax) -> bool:
    """Whether a command goes on behind a line end: the grammar overlooks some after a pipeline."""
    children = node.children
    for before, after in pairwise(children):
        gap = source[before.end_byte : after.start_byte]
        if b"\n" in gap.replace(b"\\\n", b"").replace(b"\\\r\n", b""):
            return True
    return False


def _runs(text: bytes) -> bool:
    """Whether a shell would run a part of this text: an unescaped backquote or `$(`."""
    for mark in (b"`", b"$("):
        at = text.find(mark)
        while at >= 0:
            if text[at - 1 : at] != b"\\":
                return True
            at = text.find(mark, at + 1)
    return False


def count(root: Syntax, kinds: frozenset[str]) -> int:
    """Count the nodes of these kinds in a syntax tree, wherever they stand."""
    found = 0
    stack = [root]
    while stack:
        node = stack.pop()
        found += node.type in kinds
        stack.extend(node.children)
    return found
