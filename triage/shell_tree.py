"""Shell lines with groups, keywords, substitutions or here-documents, read by tree-sitter.

The grammar tolerates errors; this module does not pretend: what it can't place, and what the
grammar is known to miss (a backquote inside `${x:-...}` or inside a here-document), makes the
reading `whole=False` or adds a doubt.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from triage.shell_leaves import (
    comment_doubts,
    count,
    crosses_lines,
    lost_words,
    substitutions,
    text_of,
)
from triage.shell_line import Branch, Node, Reading, Simple, join, sequence_node, with_extras
from triage.shell_words import Word, read_word

if TYPE_CHECKING:
    from tree_sitter import Node as Syntax
    from tree_sitter import Parser

__all__ = ["MAX_DEPTH", "parse_line"]

# Deeper nesting than a person writes; Python's own stack is far from its limit here.
MAX_DEPTH = 60

_TESTS = frozenset(["test_command", "compound_statement"])
_REDIRECTS = frozenset(["file_redirect", "herestring_redirect", "heredoc_redirect"])
_DECLARATIONS = frozenset(["declaration_command", "unset_command"])
_LOOPS = frozenset(["while_statement", "for_statement", "c_style_for_statement"])
_STEERS = re.compile(r"PATH|ENV|PAGER|PRELOAD|COMMAND|EDITOR|^PS4$")
_COMMANDS = frozenset(["command", "declaration_command", "unset_command", "test_command"])
_OPERATORS = frozenset(["&&", "||", "|", "|&"])
_SEPARATORS = frozenset([";", "&", "\n", ";;", ";&", ";;&"])


class _TooDeepError(Exception):
    """Nesting beyond MAX_DEPTH."""


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse_line(text: str) -> Reading:
    """Read any shell line; the result is `whole` only where nothing was left unread."""
    # Lone surrogates have no UTF-8 form; one replacement character each keeps every offset.
    source = text.encode("utf-8", "replace")
    tree = _parser().parse(source)
    reader = _Reader(source)
    if tree.root_node.has_error:
        reader.whole = False
    try:
        root = sequence_node(reader.statements(tree.root_node.children, 0))
    except _TooDeepError:
        return Reading(None, whole=False)
    if reader.commands != count(tree.root_node, _COMMANDS):
        reader.whole = False
    return Reading(root, reader.whole, reader.heredoc, tuple(dict.fromkeys(reader.doubts)))


class _Reader:
    """Turns syntax nodes into `Simple` and `Branch` nodes, noting what it could not read."""

    __slots__ = ("commands", "doubts", "heredoc", "source", "whole")

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.whole = True
        self.heredoc = False
        self.commands = 0
        self.doubts: list[str] = []

    def text(self, node: Syntax) -> str:
        return text_of(self.source, node)

    def statements(self, children: list[Syntax], depth: int) -> list[tuple[Node, str]]:
        if depth > MAX_DEPTH:
            raise _TooDeepError
        parts: list[tuple[Node, str]] = []
        last_row = -1
        for child in children:
            kind = child.type
            if kind == "comment":
                self.doubts.extend(comment_doubts(self.source, child))
            elif kind in _SEPARATORS:
                if parts:
                    node, _ = parts[-1]
                    if kind == "&":
                        node = Branch("background", (node,))
                    parts[-1] = (node, kind if kind in (";", "&") else ";")
            elif kind == "ERROR":
                self.whole = False
                parts.extend(self.statements(child.children, depth + 1))
            elif child.is_named:
                read = self.statement(child, depth)
                if parts and not parts[-1][1]:
                    parts[-1] = (parts[-1][0], "\n" if child.start_point[0] > last_row else ";")
                parts.append((read, ""))
                last_row = child.end_point[0]
        return parts

    def group(self, children: list[Syntax], depth: int) -> Node:
        return sequence_node(self.statements(children, depth + 1)) or Simple()

    def statement(self, node: Syntax, depth: int) -> Node:
        """Read commands joined by pipes, `&&` and `||`.

        The grammar nests them in ways a shell doesn't (`a && b > f | c` redirects and pipes the
        list), so they are taken apart into commands and operators and joined anew.
        """
        tokens: list[Node | str] = []
        pending: list[Syntax | Simple | str] = [node]
        while pending:
            item = pending.pop()
            if isinstance(item, str):
                tokens.append(item)
            elif isinstance(item, Simple):
                last = tokens.pop()
                tokens.append(last if isinstance(last, str) else with_extras(last, item))
            elif item.type in ("list", "pipeline"):
                pending.extend(reversed(item.children))
            elif item.type in _OPERATORS:
                tokens.append(item.type)
            elif item.type == "negated_command":
                tokens.append("!")
                pending.extend(reversed(item.children[1:]))
            elif item.type == "redirected_statement":
                pending.extend(reversed(self.redirected(item, tokens, depth)))
            elif item.type == "comment":
                self.doubts.extend(comment_doubts(self.source, item))
            elif item.is_named and item.type != "ERROR":
                tokens.append(self.single(item, depth))
            else:
                self.whole = False
        return join(tokens)

    def redirected(
        self, node: Syntax, tokens: list[Node | str], depth: int
    ) -> list[Syntax | Simple | str]:
        """Take a redirected command apart: the command, its redirections, what follows them."""
        self.whole = self.whole and not crosses_lines(self.source, node)
        body = node.child_by_field_name("body")
        items: list[Syntax | Simple | str] = [Simple(lost_words(self.source, node))]
        if body is not None:
            items.insert(0, body)
        else:
            tokens.append(Simple())
        for child in node.children:
            if body is None or child != body:
                items.append(self.extended(Simple(), child, depth))
            if child.type != "heredoc_redirect":
                continue
            # `cat <<E | b && c`: the grammar keeps the rest of the line in the redirection.
            for kid in child.children:
                if kid.type == "pipeline":
                    items.extend(kid.children)
                elif kid.type in _OPERATORS or not (
                    kid.type in _REDIRECTS or kid.type.startswith("heredoc") or not kid.is_named
                ):
                    items.append(kid)
        return items

    def extended(self, extras: Simple, node: Syntax, depth: int) -> Simple:
        """Add a redirection to what is known of a command; anything else was not understood."""
        more = self.redirect(node, depth)
        if more is None:
            self.whole = self.whole and node.type == "comment"
            return extras
        result = with_extras(extras, more)
        return result if isinstance(result, Simple) else extras

    def single(self, node: Syntax, depth: int) -> Node:
        """Read one command, simple or compound."""
        if depth > MAX_DEPTH:
            raise _TooDeepError
        kind = node.type
        if kind == "command" or kind in _DECLARATIONS or kind.startswith("variable_assignment"):
            return self.command(node, depth)
        if kind == "subshell":
            return Branch("subshell", (self.group(node.children[1:-1], depth),))
        if kind in _TESTS:
            if node.children and node.children[0].type == "{":
                return Branch("group", (self.group(node.children[1:-1], depth),))
            return self.test(node, depth)
        if kind == "if_statement":
            return self.conditional(node, depth)
        if kind in _LOOPS:
            return self.loop(node, depth)
        if kind == "case_statement":
            return self.case(node, depth)
        if kind == "function_definition":
            body = node.child_by_field_name("body")
            result: Node = Branch("function", (self.group([body] if body else [], depth),))
            for child in node.children:
                result = with_extras(result, self.redirect(child, depth) or Simple())
            return result
        if kind == "do_group":
            return self.group(node.children[1:-1], depth)
        extras = self.redirect(node, depth)
        if extras is not None:
            return extras
        self.whole = False
        return Simple(inner=self.inner([node], depth))

    def redirect(self, node: Syntax, depth: int) -> Simple | None:
        """Read a redirection, with the words and substitutions the grammar puts into it."""
        if node.type not in _REDIRECTS:
            return None
        if node.type == "heredoc_redirect":
            return self.heredoc_redirect(node, depth)
        self.whole = self.whole and not crosses_lines(self.source, node)
        operator, target = "", ""
        words: list[Word] = []
        for child in node.children:
            text = self.text(child)
            if not child.is_named or child.type == "file_descriptor":
                operator += text
            elif not target:
                target = read_word(text).text or " "
            else:
                # `a 2>&1 -x "$(y)"`: what follows the target are words of the command.
                words.append(read_word(text))
        return Simple(tuple(words), (), (operator + target,), self.inner([node], depth))

    def heredoc_redirect(self, node: Syntax, depth: int) -> Simple:
        self.heredoc = True
        start = next((kid for kid in node.children if kid.type == "heredoc_start"), None)
        end = next((kid for kid in node.children if kid.type == "heredoc_end"), None)
        if start is None or end is None or not self.alone(end):
            self.whole = False
        name = self.text(start) if start else ""
        result = Simple(redirects=(self.text(node.children[0]) + name,))
        for child in node.children:
            if child.type == "heredoc_body":
                if name[:1] not in ("'", '"', "\\"):
                    more = self.inner([child], depth)
                    result = Simple(result.words, (), result.redirects, result.inner + more)
            elif child.type in _REDIRECTS:
                result = self.extended(result, child, depth)
            elif child.type == "ERROR":
                self.whole = False
        return result

    def alone(self, end: Syntax) -> bool:
        """Whether a delimiter has its line for itself, as a shell wants it."""
        before = self.source[: end.start_byte].rpartition(b"\n")[2]
        after = self.source[end.end_byte :].partition(b"\n")[0]
        return self.text(end) != "" and not (before.strip(b"\t") or after.rstrip(b"\r"))

    def command(self, node: Syntax, depth: int) -> Simple:
        self.commands += node.type in _COMMANDS
        self.whole = self.whole and not crosses_lines(self.source, node)
        words: list[Word] = []
        env: list[tuple[str, Word]] = []
        extras = Simple()
        arguments: list[Syntax] = []
        begun = ended = -1
        declares = node.type in _DECLARATIONS
        children = [node] if node.type == "variable_assignment" else node.children
        for child in children:
            kind = child.type
            if kind in _REDIRECTS:
                extras = self.extended(extras, child, depth)
                continue
            if kind == "variable_assignment" and not declares and not words:
                name, _, value = self.text(child).partition("=")
                env.append((name.rstrip("+").partition("[")[0], read_word(value)))
            elif kind == "comment":
                self.doubts.extend(comment_doubts(self.source, child))
                continue
            else:
                if kind == "ERROR":
                    self.whole = False
                # Nodes without a space between them are one word (`}\\n` is two nodes).
                start = begun if words and child.start_byte == ended else child.start_byte
                if start == begun and words:
                    words.pop()
                begun, ended = start, child.end_byte
                source = self.source[begun:ended].decode("utf-8", "replace")
                words.append(read_word(source))
            arguments.append(child)
        return Simple(
            (*words, *extras.words, *lost_words(self.source, node)),
            tuple(env),
            extras.redirects,
            self.inner(arguments, depth) + extras.inner,
        )

    def test(self, node: Syntax, depth: int) -> Simple:
        """Read `[ ... ]`, `[[ ... ]]` or `(( ... ))` as a command of that name."""
        self.commands += node.type in _COMMANDS
        words = tuple(Word(part, "$" in part) for part in self.text(node).split())
        opening = node.children[0].type if node.children else ""
        if words and words[0].text != opening:
            words = (Word(opening), *words)
        return Simple(words, inner=self.inner(node.children, depth))

    def conditional(self, node: Syntax, depth: int) -> Node:
        conditions: list[Node] = []
        bodies: list[Node] = []
        has_else = False
        clauses = [node, *(kid for kid in node.children if kid.type.endswith("_clause"))]
        for clause in clauses:
            kids = [kid for kid in clause.children[1:] if not kid.type.endswith("_clause")]
            kids = [kid for kid in kids if kid.type != "fi"]
            then = next((i for i, kid in enumerate(kids) if kid.type == "then"), -1)
            has_else = has_else or clause.type == "else_clause"
            if then >= 0:
                conditions.append(self.group(kids[:then], depth))
            bodies.append(self.group(kids[then + 1 :], depth))
        parts = (*conditions, *bodies)
        return Branch("if", parts, conditions=len(conditions), exhaustive=has_else)

    def loop(self, node: Syntax, depth: int) -> Node:
        body = node.child_by_field_name("body")
        kids = [kid for kid in node.children if body is None or kid != body]
        block: Node = self.group([body] if body else [], depth)
        for kid in kids:
            if kid.type == "variable_name" and _STEERS.search(self.text(kid)):
                self.doubts.append("a loop changes a variable that steers other programs")
        if node.type == "while_statement":
            return Branch("loop", (self.group(kids[1:], depth), block), conditions=1)
        return Branch("loop", (block,), inner=self.inner(kids, depth))

    def case(self, node: Syntax, depth: int) -> Node:
        bodies: list[Node] = []
        loose: list[Syntax] = []
        for child in node.children:
            if child.type != "case_item":
                loose.append(child)
                continue
            cut = next((i for i, kid in enumerate(child.children) if kid.type == ")"), -1)
            loose.extend(child.children[: cut + 1])
            bodies.append(self.group(child.children[cut + 1 :], depth))
        return Branch("case", tuple(bodies) or (Simple(),), inner=self.inner(loose, depth))

    def inner(self, nodes: list[Syntax], depth: int) -> tuple[Node, ...]:
        """Read the lines of the outermost substitutions below `nodes`."""
        found, doubts = substitutions(self.source, nodes)
        self.doubts.extend(doubts)
        return tuple(self.group(node.children, depth) for node in found)
