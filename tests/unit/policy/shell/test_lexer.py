"""Words after unquoting."""

from __future__ import annotations

import pytest

from cowork_jupyter.policy.shell.lexer import Quirk, whole_word

LITERAL = {
    "a": "a",
    "'a b'": "a b",
    '"a b"': "a b",
    r"a\ b": "a b",
    "a'b'\"c\"d": "abcd",
    r'"a\"b"': 'a"b',
    r'"a\nb"': r"a\nb",
    r'"\\"': "\\",
    '"a\\\nb"': "ab",
    "a\\\nb": "ab",
    "'a\\\nb'": "a\\\nb",
    r"'\n'": r"\n",
    r"$'a\tb'": "a\tb",
    r"$'\''": "'",
    r"$'\x41\102C'": "ABC",
    r"$'\u0041'": "A",
    r"$'\q'": r"\q",
    "a$": "a$",
    '"a$"': "a$",
    "{}": "{}",
    "x{a}": "x{a}",
    "'*'": "*",
    r"\*": "*",
    "'~'": "~",
    "a~": "a~",
    "[": "[",
    "''": "",
}
QUIRKS = {
    "$a": Quirk.VARIABLE,
    '"$a"': Quirk.VARIABLE,
    "$1": Quirk.VARIABLE,
    "${a}": Quirk.SUBSTITUTION,
    "$(a)": Quirk.SUBSTITUTION,
    "`a`": Quirk.SUBSTITUTION,
    "$[1]": Quirk.SUBSTITUTION,
    "$\\\nHOME": Quirk.SUBSTITUTION,
    "*": Quirk.GLOB,
    "a?": Quirk.GLOB,
    "[a]": Quirk.GLOB,
    "~": Quirk.TILDE,
    "a=~": Quirk.TILDE,
    "a:~b": Quirk.TILDE,
    "{a,b}": Quirk.BRACES,
    "{1..2}": Quirk.BRACES,
    "!a": Quirk.HISTORY,
    r"$'\0'": Quirk.ENCODING,
    r"$'\377'": Quirk.ENCODING,
    r"$'\u00e9'": Quirk.ENCODING,
    "'a": Quirk.UNREADABLE,
    "a b": Quirk.UNREADABLE,
}


@pytest.mark.parametrize(("source", "text"), LITERAL.items(), ids=LITERAL.keys())
def test_quotes_are_taken_off(source: str, text: str) -> None:
    word = whole_word(source)
    assert word.literal
    assert word.text == text


@pytest.mark.parametrize(("source", "quirk"), QUIRKS.items(), ids=QUIRKS.keys())
def test_what_the_shell_replaces_is_not_literal(source: str, quirk: Quirk) -> None:
    word = whole_word(source)
    assert quirk in word.quirks
    assert word.text == source
