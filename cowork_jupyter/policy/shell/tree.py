"""The wide parser: finds every command with tree-sitter-bash, in any construct."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from .lexer import NotPlain, Phrase, Redirect, Word, split, whole_word
from .model import names

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_KNOWN = names(
    """program list pipeline command command_name word string string_content raw_string number
    ansi_c_string concatenation redirected_statement file_redirect file_descriptor comment
    herestring_redirect heredoc_redirect heredoc_start heredoc_body heredoc_content heredoc_end
    subshell compound_statement if_statement elif_clause else_clause while_statement do_group
    negated_command test_command simple_expansion variable_name special_variable_name
    unary_expression binary_expression test_operator"""
)
"""Harmless constructs. Their words are checked separately."""

_CONSTRUCT_DOUBTS = {
    "command_substitution": "It substitutes the output of another command.",
    "process_substitution": "It passes another command's output as a file.",
    "expansion": "It uses an expansion (${…}), which can do more than insert a value.",
    "arithmetic_expansion": "It uses arithmetic, which can run commands.",
    "variable_assignment": "It sets a variable, which can change what commands do.",
    "variable_assignments": "It sets variables, which can change what commands do.",
    "declaration_command": "It declares a variable, which can change what commands do.",
    "unset_command": "It removes a variable or a function.",
    "function_definition": "It defines a function, which can replace a program.",
    "for_statement": "It repeats commands with changing arguments.",
    "c_style_for_statement": "It repeats commands with computed arguments.",
    "case_statement": "It chooses between commands with a pattern.",
    "brace_expression": "The shell expands one word to several ({…}).",
    "translated_string": "It contains text that the shell would translate.",
}
_LEAVES = names(
    "word raw_string number string_content variable_name ansi_c_string comment ; && || |"
)
"""Known leaves; skipping them makes the walk three times as fast."""
_REDIRECTS = ("file_redirect", "herestring_redirect", "heredoc_redirect")
MISREAD = "The line is not valid shell syntax."


@dataclass(slots=True)
class TreeCommands:
    phrases: list[Phrase] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


_WIDE = re.compile(r"[^\x00-\x7f]")


def _parse(text: str) -> Node:
    """Parse the line with all non-ASCII letters replaced.

    Some of them crashed the process in the grammar (0.25.1), for unknown reasons. To the shell they
    are parts of words like any letter, and offsets in the tree stay offsets in the text.
    """
    return _parser().parse(_WIDE.sub("x", text).encode()).root_node


def can_be_read(text: str) -> bool:
    return not _parse(text).has_error


def find_commands(text: str) -> TreeCommands:
    """Without recursion, because the nesting depth is up to the writer."""
    root = _parse(text)
    commands = TreeCommands()
    if root.has_error:
        commands.doubts.append(MISREAD)
    phrases = dict[int, Phrase]()
    waiting: list[tuple[Node, Node | None]] = [(root, None)]
    while waiting:
        node, parent = waiting.pop()
        children = node.children
        commands.doubts.extend(_doubts(node, children))
        if phrase := _phrase(node, children, text):
            phrases[node.id] = phrase
            commands.phrases.append(phrase)
        if node.type in _REDIRECTS:
            redirect, more = _redirect(node, children, text)
            commands.redirects.append(redirect)
            owner = phrases.get(_last_command(parent).id) if parent and more else None
            if owner is not None:
                owner.words.extend(more)
            elif more:
                commands.doubts.append(MISREAD)
        waiting.extend((child, node) for child in reversed(children) if child.type not in _LEAVES)
    return commands


def _doubts(node: Node, children: list[Node]) -> Iterator[str]:
    kind = node.type
    if kind == "heredoc_body":
        if any(child.type != "heredoc_content" for child in children):
            yield "The shell expands parts of a here-document."
    elif children and children[0].type == "((":
        yield _CONSTRUCT_DOUBTS["arithmetic_expansion"]
    elif kind == "test_command" and children[0].type != "[":
        yield "It tests with [[ … ]], which can run arithmetic."
    elif node.is_named and kind not in _KNOWN and kind != "ERROR":
        unknown = f"It uses shell syntax ({kind}) that Cowork does not check."
        yield _CONSTRUCT_DOUBTS.get(kind, unknown)


def _last_command(node: Node) -> Node:
    """The command that a redirection behind `node`'s body belongs to."""
    while node.type in ("redirected_statement", "pipeline", "list", "negated_command"):
        body = node.child_by_field_name("body") or (node.named_children or [node])[-1]
        if body.id == node.id:
            break
        node = body
    return node


def _source(node: Node, text: str) -> str:
    return text[node.start_byte : node.end_byte]


def _phrase(node: Node, children: list[Node], text: str) -> Phrase | None:
    """The words of a command; the shell's own declarations and `[ … ]` are commands as well."""
    if node.type == "command":
        phrase = Phrase(text=_source(node, text))
        for number, child in enumerate(children):
            if child.type == "variable_assignment":
                phrase.assignments.append(whole_word(_source(child, text)))
            elif node.field_name_for_child(number) in ("name", "argument"):
                phrase.words.append(whole_word(_source(child, text)))
        return phrase
    if node.type in ("declaration_command", "unset_command", "test_command"):
        try:
            phrases = split(_source(node, text))
        except NotPlain as stop:
            phrases = [*stop.phrases, stop.unfinished]
        if phrases:
            phrases[0].text = _source(node, text)
            return phrases[0]
    return None


def _redirect(node: Node, children: list[Node], text: str) -> tuple[Redirect, list[Word]]:
    """A redirection, and words of the command that this grammar takes for further targets."""
    operator = next((child.type for child in children if child.type[:1] in "<>&"), "")
    if operator.endswith("&-"):
        return Redirect(operator[:-1], whole_word("-")), []
    if node.type == "heredoc_redirect":
        targets = [child for child in children if child.type == "heredoc_start"]
        targets += node.children_by_field_name("argument")
    else:
        targets = [child for child in children if child.type not in ("file_descriptor", operator)]
    words = [whole_word(_source(child, text)) for child in targets]
    if not words:
        return Redirect(operator, whole_word(" ")), []
    return Redirect(operator, words[0]), words[1:]
