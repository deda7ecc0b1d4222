"""Commands in a text: logs, traces, scripts, JSON; quoted, listed, nested, or cut anywhere.

A text is read like a shell's line, but without trust: a quote that nothing closes is a character,
and a quoted text with blanks is read as a line of its own as well.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from triage.credentials import is_placeholder
from triage.secret_commands import Call, Span, between, program_of
from triage.secret_patterns import Change, Commands

__all__ = ["find_commands"]

_MASK = "[masked:password]"
_LONGEST_QUOTED = 8192
_LONGEST_DOCUMENT = 4096
_MOST_NESTED = 4

# JSON holds quotes with a backslash, JSON in JSON with more of them.
_QUOTE = r"\\{0,7}[\"']"
_PLAIN = (
    r"(?:\[masked:[a-z0-9-]{1,40}\]|\\(?![\"'\\]|\r?\n)[^\r\n]|\\{2}|(?<=[^\s&|;])&(?=[^\s&>])"
    r"|[^\s\"'`;|&<>()\\])+"
)
_OPERATOR = r"\|\|?|&&|&>>?|[<>]&|>>|>\||<<<|<<-?|[&;<>()`]"
# The quote in front of a printed list, ``'['curl', '-u', …]'``, opens none of its words.
_SKIPPED = r"(?:[^\S\n]|\\\r?\n|[\"'](?=\[[\"']))+"
_ENDS = frozenset({"|", "||", "&", "&&", ";", "(", ")", "`"})
# What a list has between its words.
_BETWEEN = r"[\[\](){},:]+"
# What may stand in front of a program's name: prompts, assignments, programs that start others.
_BEFORE = (
    r"[+$#%>]+|[A-Za-z_]\w*=.*|sudo|env|exec|time|nohup|command|doas|nice|then|do|if|while|!|-\w+"
    r"|[Rr]unning:?|Run|[Ee]xecuting:?"
)
_WRITERS = frozenset({"echo", "printf", "print"})
_FORMAT = r"-[neEr]+|--|(?:%[sb]|\\[nr0])+"


class _Word:
    """One word: its text without quotes, and where each character of it stands."""

    __slots__ = ("opened", "pieces", "text")

    def __init__(self, source: str, pieces: list[Span], opened: list[Span]) -> None:
        self.text = "".join(source[start:end] for start, end in pieces)
        self.pieces = pieces
        # The parts in quotes, which may be a line of their own.
        self.opened = opened

    def place(self, span: Span) -> Span:
        """A span of `text` as one of the source."""
        return self._at(span[0], 0), self._at(span[1], 1)

    def _at(self, offset: int, is_end: int) -> int:
        for start, end in self.pieces:
            if offset < end - start + is_end:
                return start + offset
            offset -= end - start
        return self.pieces[-1][1]


class _Stage:
    """One stage of a line: its command, and what a shell would give it to read."""

    __slots__ = ("_tagged", "_told", "call", "document", "here", "operator", "piped", "program",
                 "tag", "words")  # fmt: skip

    def __init__(self, commands: Commands, *, piped: bool = False) -> None:
        self.call = Call(commands, sure=False)
        self.piped = piped
        self.program = ""
        self.words: list[_Word] = []
        # A redirection that waits for its word.
        self.operator = ""
        self.here: _Word | None = None
        self.tag = ""
        # What stands between a tag and the same again, where a line was made of several.
        self.document: list[_Word] | None = None
        self._tagged = 0
        self._told = False

    def take(self, word: _Word, commands: Commands) -> Span | None:
        operator, self.operator = self.operator, ""
        if operator == "<<<":
            self.here = word
        elif operator[:2] == "<<":
            self.tag = word.text
            self._tagged = len(self.words)
        if operator:
            return None
        if self.tag and word.text == self.tag:
            self.document = self.words[self._tagged :]
        self.words.append(word)
        if word.text[-1:] == ":" and self.program not in _WRITERS | commands.names:
            # What goes on behind `error:` may be a command, or a sentence about one.
            self.program, self._told = "", True
        elif not self.program and not re.fullmatch(_BEFORE, word.text):
            self.program = program_of(word.text)
            self.call.sure = self.program in commands.names and not self._told
        span = self.call.word(word.text, quoted=bool(word.opened))
        return None if span is None else word.place(span)

    def last(self) -> Iterator[Span]:
        found = self.call.last()
        if found is not None:
            yield self.words[found[0]].place(found[1])

    def written(self) -> list[_Word]:
        """What ``echo`` or ``printf`` prints."""
        names = [program_of(word.text) for word in self.words]
        start = names.index(self.program) + 1
        return [word for word in self.words[start:] if not re.fullmatch(_FORMAT, word.text)]


def find_commands(text: str, commands: Commands) -> list[Change]:
    """Return what the commands in `text` are given as secrets; linear in the text."""
    spans = set(_Reader(text, commands).spans(0, len(text), 0))
    return [(start, end, _MASK) for start, end in sorted(spans) if start < end]


class _Reader:
    """Reads one text; every character is looked at once for each level of quotes around it."""

    __slots__ = ("_commands", "_never_closed", "_text")

    def __init__(self, text: str, commands: Commands) -> None:
        self._text = text
        self._commands = commands
        # A quote, and the end of a part -> from where on nothing closes it there.
        self._never_closed: dict[tuple[str, int], int] = {}

    def spans(self, at: int, end: int, depth: int) -> Iterator[Span]:
        """The secrets between two places, which are the ends of the text or of a quoted part."""
        text = self._text
        line = [_Stage(self._commands)]
        if not depth:
            at = self._next_line(at, end)
        while at < end:
            if skipped := re.compile(_SKIPPED).match(text, at, end):
                at = skipped.end()
            elif text[at] == "\n":
                yield from _pipeline(line)
                at = yield from self._document(line, at + 1, end)
                line = [_Stage(self._commands)]
                if not depth:
                    at = self._next_line(at, end)
            elif operator := re.compile(_OPERATOR).match(text, at, end):
                at = operator.end()
                if operator[0] in _ENDS:
                    line.append(_Stage(self._commands, piped=operator[0] == "|"))
                else:
                    line[-1].operator = operator[0]
            else:
                word, at = self._word(at, end)
                if word is None or (not word.opened and re.fullmatch(_BETWEEN, word.text)):
                    continue
                span = line[-1].take(word, self._commands)
                if span is not None:
                    yield span
                elif depth < _MOST_NESTED:
                    for first, last in word.opened:
                        if re.compile(r"\s").search(text, first, last):
                            yield from self.spans(first, last, depth + 1)
        yield from _pipeline(line)

    def _next_line(self, at: int, end: int) -> int:
        """Where the next line begins that may have a command, with what goes on behind a ``\\``."""
        while at < end:
            stop = at
            while True:
                stop = self._text.find("\n", stop, end) + 1 or end
                if stop == end or not self._text.endswith(("\\\n", "\\\r\n"), at, stop):
                    break
            if self._commands.may_stand_in(self._text[at:stop].lower()):
                break
            at = stop
        return at

    def _word(self, at: int, end: int) -> tuple[_Word | None, int]:
        """The word at a place and where it ends; None where nothing but a sign stands there."""
        text = self._text
        pieces: list[Span] = []
        opened: list[Span] = []
        first = at
        while at < end:
            if quote := re.compile(_QUOTE).match(text, at, end):
                if pieces and quote[0] == "\\'" and text[at - 1] == "'":
                    # 'it'\''s'
                    pieces.append((at + 1, at + 2))
                    at += 2
                    continue
                # In the middle of a word it may be an apostrophe.
                opens = not pieces or text[first] == "-" or text[at - 1] in "=:\"'"
                close = self._closed(quote[0], quote.end(), end) if opens else -1
                if close < 0:
                    at = at if pieces else quote.end()
                    break
                opened.append((quote.end(), close))
                pieces.append(opened[-1])
                at = close + len(quote[0])
                if at < end and text[at] in ",]}":
                    break
            elif plain := re.compile(_PLAIN).match(text, at, end):
                pieces.append(plain.span())
                at = plain.end()
            else:
                at = at if pieces else at + 1
                break
        return _Word(text, pieces, opened) if pieces else None, at

    def _closed(self, quote: str, at: int, end: int) -> int:
        """Where the same quote stands again, -1 where it does not within reach."""
        if at >= self._never_closed.get((quote, end), end + 1):
            return -1
        reach = min(end, at + _LONGEST_QUOTED)
        found = re.compile(rf"(?<!\\){re.escape(quote)}").search(self._text, at, reach)
        if found is None and reach == end:
            self._never_closed[quote, end] = at
        return -1 if found is None else found.start()

    def _document(self, line: list[_Stage], at: int, end: int) -> Generator[Span, None, int]:
        """The lines of a here-document that a command of `line` reads; returns where they end."""
        readers = [stage for stage in line if stage.tag and stage.call.reads is not None]
        if not readers:
            return at
        reach = min(end, at + _LONGEST_DOCUMENT)
        tag = re.compile(rf"(?m)^[ \t]*{re.escape(readers[0].tag)}[ \t]*$")
        found = tag.search(self._text, at, reach)
        if found is None:
            return at
        for content in re.compile(r"\S[^\n]*(?<=\S)").finditer(self._text, at, found.start()):
            word = _Word(self._text, [content.span()], [])
            yield from _written([word], readers[0].call.reads or "")
        return found.end()


def _pipeline(line: list[_Stage]) -> Iterator[Span]:
    first = line[0]
    done = False
    for stage in line:
        if not stage.piped:
            first, done = stage, False
        yield from stage.last()
        mark = stage.call.reads
        if mark is None:
            continue
        if stage.here is not None:
            yield from _written([stage.here], mark)
        if stage.document:
            yield from _written(stage.document, mark)
        if stage is not first and first.program in _WRITERS and not done:
            done = True
            yield from _written(first.written(), mark)


def _written(words: list[_Word], mark: str) -> Iterator[Span]:
    for word in words:
        span = between(word.text, mark, "")
        value = "" if span is None else word.text[slice(*span)]
        if span is not None and value and not is_placeholder(value):
            yield word.place(span)
