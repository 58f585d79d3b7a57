"""What texts want of notebooks, and which files they name."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.file_names import named_in
from cowork_jupyter.guide.intents import notebook_intent


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Explain this notebook", "explain"),
        ("What does analysis.ipynb do? explain", "explain"),
        ("erkläre das Notebook", "explain"),
        ("put the cells in order", "order"),
        ("sort the cells of nb.ipynb", "order"),
        ("Profile sales.csv", None),
        ("read `order the cells.csv`", None),
        ("write me a poem", None),
        ("", None),
    ],
)
def test_words_tell_what_is_wanted_of_a_notebook(text: str, intent: str | None) -> None:
    assert notebook_intent(text) == intent


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
