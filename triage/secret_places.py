"""Secrets by their place: what is given to a name, an option or a header that holds credentials."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from triage.credentials import (
    WORD_PATTERN,
    is_placeholder,
    is_qualified,
    is_secret,
    kind_of,
    named_credential,
)

__all__ = ["mask_arguments", "mask_places", "mask_value"]

# Patterns are kept as text here: `re` compiles the few that a text needs, and remembers them.
#
# To the quote that closes the value, in JSON inside JSON to the next backslash; without quotes to
# what can't be part of a word. No part can be read in two ways: a failed try costs its length.
# What is judged has a bound, or each name in a long text could be tried against all of its rest.
_JUDGED_CHARS = 128
_INNER_TEXT = r"""[^"'\\\r\n]"""
_DOUBLE_TEXT = r"""(?:[^"\\\r\n]|\\.)"""
_SINGLE_TEXT = r"""(?:[^'\\\r\n]|\\.)"""
_BARE_TEXT = r"""(?:\[masked:[a-z0-9-]{1,40}\]|[^\s"'`\\,;&|<>()\[\]{}])"""
_UP_TO = f"{{1,{_JUDGED_CHARS}}}+"
_VALUE = (
    rf"""(?P<value>(?(quote)(?:(?<=\\["']){_INNER_TEXT}{_UP_TO}|(?<="){_DOUBLE_TEXT}{_UP_TO}"""
    rf"""|(?<='){_SINGLE_TEXT}{_UP_TO})|{_BARE_TEXT}{_UP_TO}))"""
)
_REST = {
    '\\"': f"{_INNER_TEXT}*",
    "\\'": f"{_INNER_TEXT}*",
    '"': f"{_DOUBLE_TEXT}*",
    "'": f"{_SINGLE_TEXT}*",
    None: f"{_BARE_TEXT}*",
}
# name = value, name: value, "name": "value", env['NAME'] = 'value', Authorization: Basic value
_ASSIGNMENT = (
    rf"(?i)(?P<word>{WORD_PATTERN})"
    r"""(?:\\{0,3}+["']\]?)?+[ \t]{0,8}+(?P<sep>=>|:=|=(?!=)|:(?!:))[ \t]{0,8}+"""
    r"""(?P<quote>\\{0,3}+["'])?+"""
    r"(?:(?:basic|bearer|token|digest|negotiate|ntlm|apikey|oauth|hmac|bot)[ \t]{1,4}+)?+"
    rf"{_VALUE}"
)
# --name value, -name value
_OPTION = (
    r"(?i)(?<![\w-])--?+(?:[a-z0-9]{1,20}+[-_.]){0,4}?"
    rf"(?P<word>{WORD_PATTERN})(?P<sep>)[ \t]{{1,4}}+(?!-)(?P<quote>[\"'])?+{_VALUE}"
)
_NAME_END = r"[\w.-]*\Z"
_IN_ADDRESS = r"://[^\s/@\"']{0,200}\Z"
_ENDS_LINE = r"""["'`\\)\]},;.]{0,8}[ \t\r]{0,64}(?:\n|\Z)"""
_ENDS_ARGUMENT = r"""["']?(?:[ \t\r]{0,64}(?:\n|\Z)|[ \t]{1,64}[-|&;<>])"""

# Options whose argument is a secret with this program only; ":" takes the part after a colon.
_PROGRAM_OPTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "curl": (("-u", "-U", "--user", "--proxy-user"), ":"),
    "redis-cli": (("-a", "--pass"), ""),
    "sshpass": (("-p",), ""),
}
_SECONDS = 10.0
_compiled: dict[str, Any] = {}


def mask_places(text: str) -> str:
    """Mask the values in `text` that their names make secrets; raises TimeoutError, never yet."""
    text = _masked(text, _ASSIGNMENT)
    return _masked(text, _OPTION) if " -" in text or text.startswith("-") else text


def mask_value(name: str, value: str, *, option: bool = False) -> str | None:
    """Return `value` masked because of the `name` it is given to, None where that is no reason.

    The argument of an `option` is certain to be its value, however short.
    """
    named = named_credential(name)
    if named is None:
        return None
    word, qualified = named
    scheme, space, credentials = value.partition(" ")
    if word != "authorization" or not space:
        scheme, space, credentials = "", "", value
    if not is_secret(word, qualified or option, credentials, firm=True, quoted=True, alone=True):
        return None
    return f"{scheme}{space}[masked:{kind_of(word)}]"


def mask_arguments(argv: Sequence[str]) -> list[str | None]:
    """Return each argument masked because of those before it, None where they are no reason."""
    masked: list[str | None] = []
    programs: set[str] = set()
    before = ""
    for item in argv:
        masked.append(_masked_argument(programs, before, item))
        program = item.rpartition("/")[2]
        if program in _PROGRAM_OPTIONS or program.startswith("mysql"):
            programs.add(program)
        before = item
    return masked


def _masked_argument(programs: set[str], before: str, item: str) -> str | None:
    for program in programs:
        options, mark = _PROGRAM_OPTIONS.get(program, ((), ""))
        if before in options and not is_placeholder(item):
            head, found, _ = item.partition(mark) if mark else ("", "", item)
            if found or not mark:
                return f"{head}{found}[masked:password]"
        if program.startswith("mysql") and item.startswith("-p") and len(item) > 2:
            return item if is_placeholder(item[2:]) else "-p[masked:password]"
    if before.startswith("-") and "=" not in before and not item.startswith("-"):
        return mask_value(before.removeprefix("-"), item, option=True)
    return None


def _masked(text: str, source: str) -> str:
    pattern = _compiled.get(source)
    if pattern is None:
        import regex

        pattern = _compiled[source] = regex.compile(source)
    parts: list[str] = []
    done = at = 0
    while (match := pattern.search(text, at, timeout=_SECONDS)) is not None:
        at = match.start("value")
        if _is_placed_secret(text, match):
            parts.append(f"{text[done:at]}[masked:{kind_of(match['word'])}]")
            done = at = _end_of_value(text, match)
        # Else the value may hold a name and a value of its own.
    return "".join(parts) + text[done:] if parts else text


def _end_of_value(text: str, match: Any) -> int:
    end: int = match.end("value")
    if end - match.start("value") >= _JUDGED_CHARS:
        quote = match["quote"]
        rest = re.compile(_REST[quote and quote[-2:]]).match(text, end)
        end = end if rest is None else rest.end()
    return end


def _is_placed_secret(text: str, match: Any) -> bool:
    before = text[max(0, match.start("word") - 64) : match.start("word")]
    word = match["word"].lower()
    qualified = is_qualified(before, word)
    if qualified is None or ("://" in before and re.search(_IN_ADDRESS, before)):
        return False
    value = match["value"]
    if value.endswith(match["word"]) and value == re.findall(_NAME_END, before)[0] + match["word"]:
        return False  # an argument passed on: `connect(token=token)`
    end = match.end("value")
    quoted = match["quote"] is not None
    if match["sep"]:
        spaced = text[match.start("sep") - 1].isspace() or text[match.end("sep")].isspace()
        firm = quoted or (match["sep"] == "=" and not spaced)
        alone = re.compile(_ENDS_LINE).match(text, end) is not None
    else:
        qualified = True
        firm = alone = re.compile(_ENDS_ARGUMENT).match(text, end) is not None
    return is_secret(
        word,
        qualified,
        value,
        firm=firm,
        quoted=quoted,
        alone=alone,
        after=text[end : end + 2],
    )
