"""The pieces of JSON's grammar as patterns, for the modules that read text that is not all JSON.

Strings only: a process that never meets such a text should not pay for compiling them.
Groups repeat greedily, not possessively: CPython before 3.11.5 loses its place when the body of
a possessive group fails half-way (gh-106052). Single classes are safe.
"""

from __future__ import annotations

__all__ = ["CHARS", "CUT_SCALAR", "RAN_OUT", "SCALAR", "START", "WS"]

WS = r"[ \t\n\r]*+"
CHARS = r'[^"\\\x00-\x1f]*+'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?"
_LITERAL = r"(?:true|false|null|NaN|-?Infinity)"
SCALAR = rf'(?:"{CHARS}"|{_NUMBER}|{_LITERAL})'

# An opening bracket that may begin a value: not `[INFO]`, `[2026-11-30`, `[12:00:01]`, `{name}`.
START = (
    rf'(?:\{{(?={WS}(?:\}}|"{CHARS}(?:\\|"{WS}:)))'
    rf'|\[(?={WS}(?:[]\[{{]|"{CHARS}(?:\\|"{WS}[,\]])|(?:{_NUMBER}|{_LITERAL}){WS}[,\]])))'
)

# The text ends here, and up to there it could still have become an item of a container.
CUT_SCALAR = (
    rf'(?:"{CHARS}(?:"{WS})?|-|{_NUMBER}(?:\.|[eE][-+]?)?{WS}|{_LITERAL}{WS}'
    r"|t|tr|tru|f|fa|fal|fals|n|nu|nul|Na?|-?I(?:n(?:f(?:i(?:n(?:it?)?)?)?)?)?)?"
)
RAN_OUT = rf'{WS}(?:"{CHARS}"{WS}(?::{WS})?)?{CUT_SCALAR}\Z'
