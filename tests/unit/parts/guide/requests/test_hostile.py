"""Texts and tables that were made to hurt are read in bounded time, and never raise."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.parts.guide.notebook import notebook_intent
from cowork_jupyter.parts.guide.reading import is_question, read, sentence
from cowork_jupyter.parts.guide.tables import ColumnFacts, Table
from cowork_jupyter.parts.guide.texts import is_talk
from tests.quick import each

from .workspaces import SALES, WORKSPACES

SECONDS = 5.0
"""Much more than any of them needs, for machines that are busy."""
HOSTILE = [
    "a" * 1_000_000,
    "revenue by region " * 50_000,
    "`" * 100_000,
    '"' * 100_001,
    "and " * 100_000,
    "drop " + "x " * 100_000 + "missing",
    "\n" * 100_000,
    "1" * 100_000,
    "2024-" * 50_000,
    "mean of " + ", ".join(f"`c{n}`" for n in range(20_000)),
    "where " * 20_000 + "is " * 20_000,
    "\0" * 1_000 + "\x1b[31m revenue",
    "ﬁ" * 50_000 + "\u0301" * 50_000,
    "a/" * 100_000 + "x.csv",
    "who passed not failed no score " * 20_000,
    "please can you " * 50_000 + "rename",
    "missionsed" * 400,
    "most frequent admissions since 1999 " * 10_000,
]


@pytest.mark.parametrize("text", each(3, HOSTILE), ids=range(len(HOSTILE)))
def test_a_hostile_text_is_read_in_bounded_time(text: str) -> None:
    begin = time.thread_time()
    read(text, WORKSPACES["shop"])
    read(text[:3_900] + " in `data/sales.csv`", WORKSPACES["shop"])
    notebook_intent(text)
    is_talk(text)
    is_question(text)
    assert time.thread_time() - begin < SECONDS


def test_wide_tables_are_searched_in_bounded_time() -> None:
    names = [f"measure_{n}_of_something" for n in range(2_000)]
    wide = Table("wide.csv", ",", tuple(ColumnFacts(one, "number") for one in names), True, 1)
    begin = time.thread_time()
    found = read("mean of measure 1234 of something by flavour and colour and taste", [wide])
    assert found.requests == ()
    assert "flavour" in found.unused
    (request,) = read("mean of measure 1234 of something", [wide]).requests
    assert request.columns == ("measure_1234_of_something",)
    assert time.thread_time() - begin < SECONDS


@given(st.text(max_size=300))
def test_no_text_raises(text: str) -> None:
    for request in read(text, WORKSPACES["shop"]).requests:
        assert read(sentence(request), WORKSPACES["shop"]).requests == (request,)


WORDS = (
    "revenue by region top 3 which product sold most in march 2024 north not between and over 10"
    " why compare average share of customers per month without missing plot `price` < units vs"
    " south rows clean then first how many different last is since until show box pie 5 best"
    ' , ? ; not "north" 10 % per at most since'
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join))
def test_known_words_round_trip(text: str) -> None:
    found = read(text, [SALES])
    for request in (*found.requests, *(one for made in found.choices for one in made)):
        assert read(sentence(request), [SALES]).requests == (request,)
