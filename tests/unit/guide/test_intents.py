"""What texts ask for."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.intents import columns_in, intents_in, named_in


@pytest.mark.parametrize(
    ("text", "intents"),
    [
        ("Profile sales.csv", ["profile"]),
        ("profile the table and plot revenue over time", ["profile", "plot"]),
        ("How many missing values are there?", ["profile"]),
        ("clean it, remove duplicates", ["clean"]),
        ("join orders with customers", ["join"]),
        ("predict price", ["model"]),
        ("Explain this notebook", ["explain"]),
        ("What does analysis.ipynb do? explain", ["explain"]),
        ("put the cells in order", ["order"]),
        ("sort the cells of nb.ipynb", ["order"]),
        ("read `clean_model.csv`", []),
        ("show clean.csv", []),
        ("write me a poem", []),
        ("", []),
    ],
)
def test_words_tell_what_is_wanted(text: str, intents: list[str]) -> None:
    assert intents_in(text) == intents


def test_names_of_columns_ask_for_nothing() -> None:
    assert intents_in("plot the model year", ["model year"]) == ["plot"]


def test_files_are_found_by_path_name_or_stem() -> None:
    paths = ["data/sales.csv", "data/sales_2.csv", "customers.csv"]
    assert named_in("profile data/sales.csv", paths) == ["data/sales.csv"]
    assert named_in("profile sales_2.csv", paths) == ["data/sales_2.csv"]
    assert named_in("join customers with sales", paths) == ["customers.csv", "data/sales.csv"]


def test_of_files_with_one_name_the_one_that_the_text_means_is_found() -> None:
    paths = ["a/data/sales.csv", "b/data/sales.csv", "b/sales.csv", "data/sales.csv"]
    assert named_in("clean sales.csv", paths, "b") == ["b/sales.csv"]
    assert named_in("clean ./sales.csv", paths, "b") == ["b/sales.csv"]
    assert named_in("clean sales", paths, "b") == ["b/sales.csv"]
    assert named_in("clean data/sales.csv", paths, "b") == ["b/data/sales.csv"]
    assert named_in("clean ../data/sales.csv", paths, "b") == ["data/sales.csv"]
    assert named_in("clean `data/sales.csv`", paths) == ["data/sales.csv"]
    assert named_in("clean a/data/sales.csv", paths, "b") == ["a/data/sales.csv"]
    assert named_in("clean /home/ada/x/sales.csv", ["b/sales.csv"]) == ["b/sales.csv"]


def test_columns_are_found_between_backticks_or_as_words() -> None:
    names = ["unit_price", "price", "Town"]
    assert columns_in("the mean of `price` by `Town`", names) == ["price", "Town"]
    assert columns_in("plot unit price by town", names) == ["unit_price", "Town"]
