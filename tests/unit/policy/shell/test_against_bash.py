"""The analysis against the real bash, on lines that nobody thought of."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cowork_jupyter.policy.shell import Analysis, analyse
from cowork_jupyter.policy.shell.tree import can_be_read

from .bash import accepts, seen_by_bash

pytestmark = pytest.mark.process

thorough = settings(max_examples=3 * settings().max_examples, deadline=None, database=None)
slow = settings(max_examples=80, deadline=None, database=None)

SIGNS = "show \\'\"$#~{},;&|<>()!=`-ab1:.+@%^]/\n\t"
soup = st.text(st.sampled_from(SIGNS), max_size=30)
globs = st.text(st.sampled_from(SIGNS + "*?["), max_size=30)
CONSTRUCTS = r"""
if then else fi while until do done for in case esac { } ( ) (( )) [[ ]] [ ] ! ; ;; & && | || |& >
>> < <> >| &> >& <& 2>&1 << <<- <<< <( >( $( $(( ${ ` ' " \ $' $" $x $? a=b a+=b a[1]=b function
time coproc select eval rm ls echo show x # ~ * {a,b} {1..2} !! EOF 'EOF'
"""
STRANGE = ["\n", " ", "\t", "\\\n", "\r", "\0", "\u2028", "\u202e", "\ud800"]
constructs = st.lists(st.sampled_from([*CONSTRUCTS.split(), *STRANGE]), max_size=25).map(" ".join)

bare = st.text(st.sampled_from("abs1_./=:,@%+-^]}{#~!"), min_size=1, max_size=5)
printable = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=5)
piece = st.one_of(
    bare,
    st.characters(min_codepoint=32, max_codepoint=126).map(lambda sign: "\\" + sign),
    printable.map(shlex.quote),
    printable.map(lambda text: "'" + text.replace("'", "") + "'"),
    st.text(st.sampled_from("ab \\;|&'()<>#~*{},!\n\t"), max_size=6).map(
        lambda text: '"' + text.replace("\\", "\\\\") + '"'
    ),
    st.lists(st.sampled_from(["\\$", "\\`", '\\"', "\\\\", "\\a", "a", "'", "$ ", "#"])).map(
        lambda parts: '"' + "".join(parts) + '"'
    ),
    st.lists(
        st.sampled_from(["a", " ", "\\n", "\\t", "\\\\", "\\'", "\\x41", "\\101", "\\u0042", '"'])
    ).map(lambda parts: "$'" + "".join(parts) + "'"),
)
word = st.lists(piece, min_size=1, max_size=3).map("".join)
redirect = st.sampled_from(["2>&1", "> out", ">>out", "2>/dev/null", "<<< 'a b'", "&> out", ">|o"])
name = st.sampled_from(["show", 'sh""ow', "\\show", "'show'", "$'sh\\x6fw'", '"show"'])
command = st.tuples(name, st.lists(st.one_of(word, word, redirect), max_size=5)).map(
    lambda parts: " ".join([parts[0], *parts[1]])
)
glue = st.sampled_from(["; ", " && ", " | ", "\n", " & ", " # x\n", ";\n\n", " \\\n && "])
line = st.lists(st.tuples(command, glue), min_size=1, max_size=4).map(
    lambda parts: "".join(text for pair in parts for text in pair)[: -len(parts[-1][1])]
)


def only_shows(analysis: Analysis) -> bool:
    return analysis.plain and all(command.words[0] == "show" for command in analysis.commands)


@thorough
@given(st.one_of(st.text(), soup, globs, constructs))
def test_any_text_is_analysed_and_unparsable_is_not_plain(text: str) -> None:
    analysis = analyse(text)
    if not can_be_read(text):
        assert not analysis.plain


@slow
@given(st.one_of(soup, globs, constructs, line))
def test_bash_can_read_what_is_plain(text: str) -> None:
    assume(analyse(text).plain)
    assert accepts(text)


@thorough
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), min_size=1))
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    commands = analyse(shlex.join(["show", *words])).commands
    assert commands[0].words == ("show", *words)


@slow
@given(line)
def test_words_of_written_lines_are_what_bash_sees(text: str) -> None:
    analysis = analyse(text)
    assume(only_shows(analysis))
    assert sorted(seen_by_bash(text)) == sorted(command.words for command in analysis.commands)


@slow
@given(soup.map("show ".__add__))
def test_words_of_any_plain_line_are_what_bash_sees(text: str) -> None:
    """With `||`, `!`, redirections and jobs in subshells not all runs, or not in time."""
    analysis = analyse(text)
    assume(only_shows(analysis))
    found = [command.words for command in analysis.commands]
    ran = seen_by_bash(text)
    assert set(ran) <= set(found)
    if "||" not in text and not set("!<>(") & set(text):
        assert sorted(ran) == sorted(found)


@pytest.mark.parametrize(
    "text",
    [
        "show a > out b",
        "show a 2>out b",
        "show a2>out b",
        "show 2 >out b",
        "show <<'E' a\nx\nE\nshow b",
        "show <<-E\n\tx\n\tE\nshow b",
        "show '<<E'\nshow b",
        "show a#b # show c",
        "show a \\\n b",
        "show a;# c\nshow b",
        "show a >& out b",
        "show {} {a} a{b",
        "show a=b a=c",
        "{ show a; show b; } > out",
        "(show a) ; ( show b )",
        "if show a; then show b; fi",
        'show $ a$ "$" "a$"',
        "show if then",
        "show a&show b",
        "show ]",
    ],
)
def test_lines_on_which_parsers_stumble(text: str) -> None:
    analysis = analyse(text)
    assert only_shows(analysis)
    assert sorted(seen_by_bash(text)) == sorted(command.words for command in analysis.commands)
