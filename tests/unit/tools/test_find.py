"""What a pattern says of its matches before anything is searched."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.tools.find import Pattern


@pytest.mark.parametrize("text", ["a\nb", "a\0", "a\r"])
def test_what_no_line_can_hold_is_refused(text: str) -> None:
    for literal in (True, False):
        with pytest.raises(InvalidInput, match="pattern is not valid") as caught:
            Pattern(text, literal=literal)
        assert caught.value.code == "bad_pattern"


ATOMS = st.sampled_from(
    ["a", "b", "ab", "=", "\\(", "\\.", ".", "[ab]", "\\w", "(ab)", "x", " ", '"', "|", "^", "$"]
)
TIMES = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{0,1}", "*?"])
REGEXES = st.lists(st.tuples(ATOMS, TIMES).map("".join), min_size=1, max_size=6).map("".join)


@settings(max_examples=3 * settings().max_examples)
@given(REGEXES, st.text('ab=(.x "', max_size=12))
def test_every_match_holds_the_sure_text(regex: str, line: str) -> None:
    try:
        found = re.search(regex, line)
    except re.error:
        return
    if found:
        assert Pattern(regex).sure_text in found[0]


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
        (r"\x41bc", ""),
        (r"\p{Letter}", ""),
        (r"[[:alpha:]]bc", ""),
        (r"\<abc", ""),
    ],
)
def test_sure_text_is_the_longest(text: str, sure: str) -> None:
    assert Pattern(text).sure_text == sure
