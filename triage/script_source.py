"""What a script's source tells without running it: its static imports, and whether it is empty.

No JavaScript parser, on purpose: statements that import stand at the top level of a module, so it
is enough to pass over strings, templates, comments, regular expressions and braces. Where the
source is not understood reading stops; what was found before stays. Linear in the source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Import", "imports_of", "is_empty"]

_MOST_CHARS = 512 << 10
_SPACE = re.compile(r"(?:[\s\ufeff]++|//[^\n\r\u2028\u2029]*+)++")
_STRING = re.compile(
    r"""'[^'\\\n]*+(?:\\[\s\S][^'\\\n]*+)*+'|"[^"\\\n]*+(?:\\[\s\S][^"\\\n]*+)*+\""""
)
_REGEX = re.compile(r"/(?![*/])(?:[^\\/\[\n]++|\\.|\[(?:[^\]\\\n]++|\\.)*+\])++/[a-z]*+")
_MARK = re.compile(
    r"""["'`/(){}\[\]]|(?<![\w$.#\u0080-\uffff])(?:import|export)(?![\w$\u0080-\uffff])"""
)
_TEMPLATE = re.compile(r"(?:[^`\\$]++|\\[\s\S]|\$(?!\{))*+")
_CLAUSE = re.compile(r"[\w$,*{}\u0080-\uffff]++")
_DIRECTIVE = re.compile(r"""(?:"use [a-z ]{1,20}"|'use [a-z ]{1,20}')[ \t]*;?""")
_NOTHING_EXPORTED = re.compile(r"export\s*\{\s*\}\s*;?")
# After these a slash begins a regular expression although a word stands before it.
_OPERATOR_WORDS = frozenset(
    (
        "return", "typeof", "instanceof", "in", "of", "new", "delete", "void", "throw", "case",
        "do", "else", "await", "yield",
    )
)  # fmt: skip
_BLOCK_HEADS = frozenset(("if", "while", "for", "with"))


@dataclass(frozen=True, slots=True)
class Import:
    """One static import; `type` is that of its attributes (``json``, ``css``), None for code."""

    specifier: str
    type: str | None = None


def is_empty(source: str) -> bool:
    """Whether the script has no code: blanks, comments, a directive, ``export {}``, else nothing.

    An import is code: what it brings may do something.
    """
    at = 0
    while True:
        at = _after_space(source, at)
        if at >= len(source):
            return True
        if source.startswith(";", at):
            at += 1
            continue
        passed = _DIRECTIVE.match(source, at) or _NOTHING_EXPORTED.match(source, at)
        if passed is None:
            # A comment that never ends is no code either: the browser refuses the whole script.
            return source.startswith("/*", at) and source.find("*/", at + 2) < 0
        at = passed.end()


def imports_of(source: str) -> tuple[Import, ...]:
    """Return the static imports (and ``export … from``) of a module, in order, each once."""
    source = source[:_MOST_CHARS]
    found: dict[Import, None] = {}
    # For each open bracket what stood before it: "`" for the brace of a template, "if" for the
    # parenthesis of a statement, else the bracket itself.
    opened: list[str] = []
    before = ""
    at = 0
    while match := _MARK.search(source, at):
        at = match.start()
        sign = match[0]
        if sign in "\"'":
            string = _STRING.match(source, at)
            if string is None:
                break
            at, before = string.end(), "value"
        elif sign == "`":
            end = _after_template(source, at + 1, opened)
            if end is None:
                break
            at, before = end, "value"
        elif sign == "/":
            end = _after_slash(source, at, before)
            if end is None:
                break
            at = end
        elif sign in "({[":
            opened.append(_opening(source, at, sign))
            at, before = at + 1, sign
        elif sign in ")}]":
            opener = opened.pop() if opened else sign
            at += 1
            if opener == "`":
                end = _after_template(source, at, opened)
                if end is None:
                    break
                at, before = end, "value"
            else:
                before = "head" if opener == "if" else sign
        else:
            end = _statement(source, at, sign, found) if not opened else at + len(sign)
            if end is None:
                break
            at, before = end, "word"
    return tuple(found)


def _after_space(source: str, at: int) -> int:
    while True:
        space = _SPACE.match(source, at)
        if space is not None:
            at = space.end()
        if not source.startswith("/*", at):
            return at
        end = source.find("*/", at + 2)
        if end < 0:
            return at
        at = end + 2


def _after_template(source: str, at: int, opened: list[str]) -> int | None:
    """Pass over template text; a ``${`` is opened, a closing backtick ends it."""
    text = _TEMPLATE.match(source, at)
    at = at if text is None else text.end()
    if source.startswith("${", at):
        opened.append("`")
        return at + 2
    return at + 1 if source.startswith("`", at) else None


def _after_slash(source: str, at: int, before: str) -> int | None:
    """Pass over a comment, a regular expression or a division sign."""
    if source.startswith("//", at):
        space = _SPACE.match(source, at)
        return at + 2 if space is None else space.end()
    if source.startswith("/*", at):
        end = source.find("*/", at + 2)
        return None if end < 0 else end + 2
    last, word = _word_before(source, at)
    # Behind a brace almost always a block has ended; an object is seldom divided.
    divides = (last == ")" and before != "head") or last in ("]", '"', "'", "`")
    if divides or (word and word not in _OPERATOR_WORDS):
        return at + 1
    regex = _REGEX.match(source, at)
    # Going on behind a slash that is neither would read the same line again and again.
    return None if regex is None else regex.end()


def _opening(source: str, at: int, sign: str) -> str:
    if sign != "(":
        return sign
    return "if" if _word_before(source, at)[1] in _BLOCK_HEADS else sign


def _word_before(source: str, at: int) -> tuple[str, str]:
    """The last character before `at` that is no blank, and the word that it ends."""
    end = at
    while end and at - end < 200 and source[end - 1].isspace():
        end -= 1
    start = end
    while start and end - start < 12 and (source[start - 1].isalnum() or source[start - 1] in "_$"):
        start -= 1
    return source[max(0, end - 1) : end], source[start:end]


def _statement(source: str, at: int, word: str, found: dict[Import, None]) -> int | None:
    """Read an import or export at the top level; None where it is not understood."""
    at = _after_space(source, at + len(word))
    if word == "import" and source[at : at + 1] in ("(", "."):
        return at
    if word == "export" and source[at : at + 1] not in ("*", "{"):
        return at
    while True:
        at = _after_space(source, at)
        string = _STRING.match(source, at)
        if string is not None:
            break
        clause = _CLAUSE.match(source, at)
        if clause is None:
            # `export {a, b};` ends here without a source.
            return at if word == "export" else None
        if word == "export" and clause[0].startswith(("const", "function", "class", "let", "var")):
            return at
        at = clause.end()
    kind, at = _attributes(source, string.end())
    found[Import(_unescaped(string[0][1:-1]), kind)] = None
    return at


_ATTRIBUTES = re.compile(
    r"""(?:with|assert)\s{0,9}\{\s{0,9}["']?type["']?\s{0,9}:\s{0,9}["']([a-z]{1,20})["']\s{0,9},?\s{0,9}\}"""
)


def _attributes(source: str, at: int) -> tuple[str | None, int]:
    match = _ATTRIBUTES.match(source, _after_space(source, at))
    return (None, at) if match is None else (match[1], match.end())


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_escaped_char, text) if "\\" in text else text


_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|([\s\S]))")
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}


def _escaped_char(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is None:
        return _CONTROLS.get(match[4], match[4])
    number = int(code, 16)
    # A lone surrogate names no file.
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
