"""Secrets by their place: what is given to a name, an option or a header that holds credentials."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from triage.credentials import (
    FOREIGN_WORDS,
    WORD_PATTERN,
    WORDS,
    is_qualified,
    is_secret,
    kind_of,
    looks_random,
    named_credential,
)
from triage.secret_commands import Call
from triage.secret_patterns import SECONDS, Change, Commands

__all__ = ["PLACES", "find_places", "mask_arguments", "mask_value"]

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
    r"""(?:\\{0,3}+["']\]?)?+[ \t]{0,8}+(?P<sep>=>|:=|=(?!=)|:(?!:)|[\uff1a\uff1d])[ \t]{0,8}+"""
    r"""(?P<quote>\\{0,3}+["'])?+"""
    r"(?:(?:basic|bearer|token|digest|negotiate|ntlm|apikey|oauth|hmac|bot)[ \t]{1,4}+)?+"
    rf"{_VALUE}"
)
# --name value, -name value
_OPTION = (
    r"(?i)(?<![\w-])--?+(?:[a-z0-9]{1,20}+[-_.]){0,4}?"
    rf"(?P<word>{WORD_PATTERN})(?P<sep>)[ \t]{{1,4}}+(?!-)(?P<quote>[\"'])?+{_VALUE}"
)
_NAMED = r"--?[A-Za-z][\w.-]{0,80}|[A-Za-z_]\w{0,80}"
_OF_OPTION = r"(?:^|[\s\"'(\[])--?[\w.-]{0,40}\Z"
_NAME_END = r"[\w.-]*\Z"
_IN_ADDRESS = r"://[^\s/@\"']{0,200}\Z"
_ENDS_LINE = r"""["'`\\)\]},;.]{0,8}[ \t\r]{0,64}(?:\n|\Z)"""
_ENDS_ARGUMENT = r"""["']?(?:[ \t\r]{0,64}(?:\n|\Z)|[ \t]{1,64}[-|&;<>])"""

# name: and the value alone on the next line; JSON writes the line's end in two characters
_LINE_END = r"(?:\r?\n|(?:\\r)?\\n)"
_NEXT_LINE = (
    rf"(?i)(?P<word>{WORD_PATTERN})(?:[\"'])?[ \t]{{0,8}}+(?:[:=\uff1a]|is:?)[ \t]{{0,8}}+"
    rf"{_LINE_END}(?:[ \t]{{0,80}}+{_LINE_END})?+(?P<indent>[ \t]{{0,80}}+)(?P<quote>[\"'])?+"
    rf"(?P<value>[^\s\"'\\]{{4,256}}+)[\"']?[ \t]{{0,80}}+(?={_LINE_END}|[\"']|\Z)"
)
# Up to here `re` does, whose import is paid already; the patterns' cost is bounded by their shape.
_SHORT = 4096
# Of these `re` says that they are white space and `regex` that they are not.
_SEPARATORS = "[\x1c-\x1f]"


def find_places(text: str, kind: str) -> Iterator[Change]:
    """Yield the values in `text` that their names make secrets; raises TimeoutError, never yet.

    `kind` is one of `PLACES`, to be applied in that order.
    """
    if kind == "options" and " -" not in text and not text.startswith("-"):
        return
    source, judge = _KINDS[kind]
    search = _search_for(source, text)
    for start, stop in _regions(text):
        at = start
        while at <= stop and (match := search(text, at, stop)) is not None:
            at = match.start("value")
            if judge(text, match):
                end = _end_of_value(text, match)
                yield at, end, f"[masked:{kind_of(match['word'])}]"
                at = end
            # Else the value may hold a name and a value of its own.


def _regions(text: str) -> list[tuple[int, int]]:
    """The lines of a long text that have a word of a name, each with the two behind it."""
    lowered = text.lower()
    if len(text) <= _SHORT or len(lowered) != len(text):
        return [(0, len(text))]
    starts: set[int] = set()
    for word in (*WORDS, *FOREIGN_WORDS):
        at = lowered.find(word)
        while at >= 0:
            starts.add(lowered.rfind("\n", 0, at) + 1)
            at = lowered.find("\n", at)
            at = -1 if at < 0 else lowered.find(word, at)
    regions: list[tuple[int, int]] = []
    for start in sorted(starts):
        stop = start
        for _ in range(3):
            end = text.find("\n", stop)
            stop = len(text) if end < 0 else end + 1
        if regions and start <= regions[-1][1]:
            regions[-1] = (regions[-1][0], max(stop, regions[-1][1]))
        else:
            regions.append((start, stop))
    return regions


def _search_for(source: str, text: str) -> Callable[[str, int, int], Any]:
    if len(text) <= _SHORT and re.search(_SEPARATORS, text) is None:
        return re.compile(source).search
    import regex

    return partial(regex.compile(source).search, timeout=SECONDS)


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
    if not is_secret(
        word,
        qualified or option,
        credentials,
        firm=True,
        quoted=True,
        alone=True,
        certain=option,
    ):
        return None
    return f"{scheme}{space}[masked:{kind_of(word)}]"


def mask_arguments(argv: Sequence[str], commands: Commands) -> list[str | None]:
    """Return each argument masked because of those around it, None where they are no reason."""
    masked: list[str | None] = []
    call = Call(commands, sure=True)
    before = ""
    for item in argv:
        span = call.word(item)
        masked.append(
            _by_name(before, item)
            if span is None
            else f"{item[: span[0]]}[masked:password]{item[span[1] :]}"
        )
        before = item
    last = call.last()
    if last is not None:
        number, (start, end) = last
        masked[number] = f"{argv[number][:start]}[masked:password]{argv[number][end:]}"
    return masked


def _by_name(before: str, item: str) -> str | None:
    name, sign, value = item.partition("=")
    if sign and re.fullmatch(_NAMED, name):
        made = mask_value(name.lstrip("-"), value, option=True)
        return None if made is None else f"{name}={made}"
    if before.startswith("-") and "=" not in before and not item.startswith("-"):
        return mask_value(before.removeprefix("-"), item, option=True)
    return None


def _end_of_value(text: str, match: Any) -> int:
    end: int = match.end("value")
    if end - match.start("value") >= _JUDGED_CHARS:
        quote = match["quote"]
        rest = re.compile(_REST[quote and quote[-2:]]).match(text, end)
        end = end if rest is None else rest.end()
    return end


def _is_alone_on_next_line(text: str, match: Any) -> bool:
    word, value = match["word"].lower(), match["value"]
    before = text[max(0, match.start("word") - 64) : match.start("word")]
    if is_qualified(before, word) is None or value[-1] in ":{[(" or value[0] in "-[{(<|>":
        return False
    if not is_secret(word, True, value, firm=False, quoted=False, alone=True):
        return False
    return looks_random(value, 6) or bool(match["indent"] and not value.isalpha())


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
    # `--name 'some words'`, `--name='some words'`
    certain = quoted and (not match["sep"] or re.search(_OF_OPTION, before) is not None)
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
        certain=certain,
    )


# In this order: a name in front of an option's is part of it.
PLACES = ("assignments", "next_lines", "options")
_KINDS: dict[str, tuple[str, Callable[[str, Any], bool]]] = {
    "assignments": (_ASSIGNMENT, _is_placed_secret),
    "next_lines": (_NEXT_LINE, _is_alone_on_next_line),
    "options": (_OPTION, _is_placed_secret),
}
