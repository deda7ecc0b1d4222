"""What stands around a value: its line's start and end, and the nearest marks."""

from __future__ import annotations

__all__ = ["begins_line", "ends_line", "is_followed", "last_before"]


def begins_line(text: str, start: int) -> int:
    """Return how many blanks stand between the line's start and `start`; -1 where more stands."""
    at = start
    while at and text[at - 1] in " \t\ufeff":
        at -= 1
    return start - at if at == 0 or text[at - 1] in "\n\r" else -1


def ends_line(text: str, end: int) -> bool:
    """Say whether only blanks stand between `end` and the end of its line."""
    length = len(text)
    while end < length and text[end] in " \t":
        end += 1
    return end == length or text[end] in "\r\n"


def last_before(text: str, position: int) -> int:
    """Return the last place before `position` that holds no white space, -1 for none."""
    at = position - 1
    while at >= 0 and text[at] in " \t\r\n":
        at -= 1
    return at


def is_followed(text: str, end: int) -> bool:
    """Say whether the next mark after `end` is one that goes on with an outer JSON value."""
    length = len(text)
    while end < length and text[end] in " \t\r\n":
        end += 1
    return end < length and text[end] in ",]}"
