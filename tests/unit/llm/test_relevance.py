"""What has to do with a request, and what does not."""

from __future__ import annotations

import pytest

from cowork_jupyter.llm.relevance import closest, fitness

CLEAN = "- clean_sales(path): Clean a month of sales data.\n  1. Read {path}\n  2. Drop duplicates"
TRAIN = "- train_model(path): Train a classifier.\n  1. Read {path}\n  2. Fit a forest"
TESTS = "- add_tests(module): Write tests for a module.\n  1. Read {module}\n  2. Write the tests"
ALL = [CLEAN, TRAIN, TESTS]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Please clean the sales data of May", [CLEAN]),
        ("Drop the duplicates from this month", [CLEAN]),
        ("train a classifier on sales", [TRAIN]),
        ("Write unit tests for my module", [TESTS]),
        ("Make a plan for this file and show the steps", []),
        ("Deploy the website", []),
        ("Read it", []),
        ("", []),
    ],
)
def test_only_what_is_about_the_same_is_close(request_: str, expected: list[str]) -> None:
    assert closest(ALL, request_, 3) == expected


def test_the_closest_come_first_and_only_so_many() -> None:
    texts = ["sales data", "sales data of May, cleaned", "sales data of May"]
    request = "cleaned sales data of May"
    assert closest(texts, request, 2) == [texts[1], texts[2]]


def test_none_are_chosen_of_none() -> None:
    assert closest([], "clean the sales data", 3) == []


def test_rare_words_count_more_than_common_ones() -> None:
    common, rare = fitness(["read data", "read weather"], "read data weather")
    first, second = fitness(["data", "data weather"], "data weather")
    assert common == rare
    assert first < second
