"""Texts and tables that were made to hurt are read in bounded time, and never raise."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.guide.notebook import notebook_intent
from cowork_jupyter.guide.smalltalk import topic_of
from cowork_jupyter.guide.tables import ColumnFacts, Table, table_of
from cowork_jupyter.guide.understanding import sentence, understand
from cowork_jupyter.guide.understanding.language import is_question, language_of
from tests.quick import each

from .workspaces import SALES, WORKSPACES

SECONDS = 5.0
"""Much more than any of them needs, for machines that are busy."""
HOSTILE = [
    "a" * 1_000_000,
    "revenue by region " * 50_000,
    "`" * 100_000,
    "``" * 50_000 + "x",
    '"' * 100_001,
    "and " * 100_000,
    "drop " + "x " * 100_000 + "missing",
    "order " * 50_000,
    "\n" * 100_000,
    "1" * 100_000,
    "1,1," * 50_000,
    "2024-" * 50_000,
    "umsatz" * 20_000,
    "mean of " + ", ".join(f"`c{n}`" for n in range(20_000)),
    "where " * 20_000 + "is " * 20_000,
    "\0" * 1_000 + "\x1b[31m revenue",
    "ﬁ" * 50_000 + "\u0301" * 50_000,
    "a/" * 100_000 + "x.csv",
    "-." * 100_000,
    "who passed not failed no score " * 20_000,
    "summer winter " * 50_000,
    "please can you " * 50_000 + "rename",
    "change " + "a " * 100_000,
    "drop " * 50_000 + "column",
    "oldest 90s worst " * 20_000,
    "more than 60 minutes " * 20_000,
    "missionsed" * 400,
    "most frequent admissions since 1999 " * 10_000,
]


@pytest.mark.parametrize("text", each(3, HOSTILE), ids=range(len(HOSTILE)))
def test_a_hostile_text_is_read_in_bounded_time(text: str) -> None:
    begin = time.thread_time()
    understand(text, WORKSPACES["shop"])
    understand(text + " in `data/sales.csv`", WORKSPACES["shop"])
    notebook_intent(text)
    topic_of(text)
    is_question(text)
    language_of(text)
    assert time.thread_time() - begin < SECONDS


def test_two_thousand_columns_are_looked_through_in_bounded_time() -> None:
    names = [f"measure_{n}_of_something" for n in range(2_000)]
    wide = Table("wide.csv", ",", tuple(ColumnFacts(one, "number") for one in names), True, 1)
    begin = time.thread_time()
    found = understand("mean of measure 1234 of something by flavour and colour and taste", [wide])
    assert found.requests == ()
    assert "flavour" in found.unclear
    (request,) = understand("mean of measure 1234 of something", [wide]).requests
    assert request.columns == ("measure_1234_of_something",)
    assert time.thread_time() - begin < SECONDS


def test_names_and_values_with_code_in_them_stay_names_and_values() -> None:
    odd = table_of(
        "o'dd.csv",
        'a\'); print(\'hi,`b`,"c ""d"""\n1,x; DROP TABLE t,2\n3,y\'--,4\n5,x; DROP TABLE t,6\n',
    )
    assert odd
    (request,) = understand("mean of `a'); print('hi` by `` `b` ``", [odd]).requests
    assert (request.columns, request.groups) == (("a'); print('hi",), ("`b`",))
    assert understand(sentence(request), [odd]).requests == (request,)


@given(st.text(max_size=300))
def test_no_text_raises(text: str) -> None:
    for request in understand(text, WORKSPACES["shop"]).requests:
        assert understand(sentence(request), WORKSPACES["shop"]).requests == (request,)


WORDS = (
    "revenue by region top 3 which product sold most in march 2024 north not between and over 10"
    " why compare average share of customers per month without missing plot `price` < units vs"
    " south rows clean then first how many different last is since until show box pie 5 best"
    " , ? ; Umsatz nach pro wie viele"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join))
def test_whatever_is_understood_of_known_words_can_be_said_and_read_back(text: str) -> None:
    found = understand(text, [SALES])
    for request in (*found.requests, *found.alternatives):
        assert understand(sentence(request), [SALES]).requests == (request,)
