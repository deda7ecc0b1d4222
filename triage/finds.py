"""What a condition found: the shape of evidence before it is cut out and masked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from triage.text import StreamText

__all__ = ["NO_PATTERN", "RAW", "Found", "Node", "Test"]

# The pattern of a find that no pattern made.
NO_PATTERN = -2
# The pattern of a find whose span counts in the raw text, with its escapes.
RAW = -1

# One compiled condition: ``[word, argument, ...]``.
Node = Sequence[Any]
# One find: the stream it lies in, start and end there, and the pattern that found it.
Found = tuple["StreamText", int, int, int]
# What a condition is made into: whether it is true of signals; on true the list has grown.
Test = Callable[[Any, list[Found]], bool]
