"""Patterns mean the same to ripgrep and to Python, or are refused."""

from __future__ import annotations

import re
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.tools.engine import PurePython, find_engine
from cowork_jupyter.tools.patterns import Pattern


@pytest.mark.parametrize(
    "text",
    [
        r"(?=a)", r"(?!a)", r"(?<=a)b", r"(?<!a)b", r"(a)\1", r"(?P<n>a)(?P=n)", r"(?>a)", r"a++",
        r"a\nb", "a\nb", r"(", r"[", r"*a", r"a{3,1}", r"[[:alpha:]]", r"[a&&b]", r"(?x)a", r"\Aa",
        r"\p{L}", "a\0", "a\r",
    ],
)  # fmt: skip
def test_what_is_not_common_to_both_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="pattern is not valid") as caught:
        Pattern(text)
    assert caught.value.code == "bad_pattern"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (r"foo\(", "foo(1)"),
        (r"x{2}y", "xxy"),
        (r"f'{x}'", "f'{x}'"),
        (r"{", "a{b"),
        (r"a{,2}", "a{,2}"),
        (r"\<div\>", "<div>"),
        (r"[(?=]", "a?"),
        (r"\\1", r"\1"),
        (r"(?i)ABC", "xabc"),
        (r"(?P<n>a)b", "ab"),
        (r"\bdef\b.*:$", "def x():"),
        (r"é+", "éé"),
        (r"-e", "-e"),
        (r"--help", "--help"),
        (r"\d{2,}", "x12"),
        (r"[]a]", "]"),
    ],
)
def test_common_patterns_match_in_both(text: str, line: str) -> None:
    pattern = Pattern(text)
    assert pattern.compiled().search(line)
    for engine in (find_engine(), PurePython()):
        command = engine.line_filter(pattern, 10, 0)
        done = subprocess.run(command, input=f"{line}\n".encode(), capture_output=True, check=True)
        assert done.stdout.decode() == f"1:{line}\n"


@given(st.text(max_size=20))
def test_literal_pattern_matches_itself(text: str) -> None:
    if not set(text) & set("\r\n\0"):
        assert Pattern(text, literal=True).compiled().search(f"x{text}y")


ATOMS = st.sampled_from(
    ["a", "b", "ab", "=", "\\(", "\\.", ".", "[ab]", "\\w", "(ab)", "x", " ", '"', "|", "^", "$"]
)
TIMES = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{0,1}", "*?"])
REGEXES = st.lists(st.tuples(ATOMS, TIMES).map("".join), min_size=1, max_size=6).map("".join)


@settings(max_examples=300)
@given(REGEXES, st.text('ab=(.x "', max_size=12))
def test_every_match_holds_the_sure_text(regex: str, line: str) -> None:
    try:
        pattern = Pattern(regex)
    except InvalidInput:
        return
    found = re.search(pattern.regex, line)
    if found:
        assert pattern.sure_text in found[0]


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        (r"needle_\w+", "needle_"),
        (r"^import pandas$", "import pandas"),
        (r"print\(x", "print(x"),
        (r"colou?r", "colo"),
        (r"ab+c", "ab"),
        (r"(abc)?def", "def"),
        (r"a|b", ""),
        (r'say "hello"', "hello"),
        (r".*", ""),
    ],
)
def test_sure_text_is_the_longest(text: str, sure: str) -> None:
    assert Pattern(text).sure_text == sure
