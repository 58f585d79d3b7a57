"""Notebooks: what their cells need of each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.guide.file_names import named_paths
from cowork_jupyter.guide.notebook import (
    cells_in,
    explain_cells,
    moves,
    notebook_intent,
    order_cells,
)

from .desk import Desk


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
    assert named_paths("profile data/sales.csv", paths) == ["data/sales.csv"]
    assert named_paths("profile sales_2.csv", paths) == ["data/sales_2.csv"]
    assert named_paths("join customers with sales", paths) == ["customers.csv", "data/sales.csv"]


def test_of_files_with_one_name_the_one_that_the_text_means_is_found() -> None:
    paths = ["a/data/sales.csv", "b/data/sales.csv", "b/sales.csv", "data/sales.csv"]
    assert named_paths("clean sales.csv", paths, "b") == ["b/sales.csv"]
    assert named_paths("clean ./sales.csv", paths, "b") == ["b/sales.csv"]
    assert named_paths("clean sales", paths, "b") == ["b/sales.csv"]
    assert named_paths("clean data/sales.csv", paths, "b") == ["b/data/sales.csv"]
    assert named_paths("clean ../data/sales.csv", paths, "b") == ["data/sales.csv"]
    assert named_paths("clean `data/sales.csv`", paths) == ["data/sales.csv"]
    assert named_paths("clean a/data/sales.csv", paths, "b") == ["a/data/sales.csv"]
    assert named_paths("clean /home/ada/x/sales.csv", ["b/sales.csv"]) == ["b/sales.csv"]


def shown(*cells: tuple[str, str, str]) -> dict[str, Any]:
    rest = {"execution_count": None, "failed": False}
    told = [{"id": name, "cell_type": kind, "source": it, **rest} for name, kind, it in cells]
    return {"cells": told}


def order(*cells: tuple[str, str, str]) -> str:
    return " ".join(cell.id for cell in order_cells(cells_in(shown(*cells))))


def test_a_cell_goes_behind_what_it_needs() -> None:
    assert order(("a", "code", "print(x)"), ("b", "code", "x = 1")) == "b a"


def test_cells_in_order_stay_as_they_are() -> None:
    cells = (("a", "code", "x = 1"), ("b", "code", "x = x + 1"), ("c", "code", "print(x)"))
    assert order(*cells) == "a b c"
    assert moves(cells_in(shown(*cells))) == []


def test_imports_come_first_and_texts_stay_above_their_code() -> None:
    cells = (
        ("t", "markdown", "# Draw"),
        ("a", "code", "np.plot(data)"),
        ("b", "code", "data = np.ones(3)"),
        ("c", "code", "import numpy as np"),
    )
    assert order(*cells) == "c b t a"


def test_a_circle_keeps_its_order() -> None:
    assert order(("a", "code", "x = y"), ("b", "code", "y = x")) == "a b"


def test_what_is_no_python_stays_where_it_is() -> None:
    cells = (
        ("a", "code", "%%bash\nls x"),
        ("b", "code", "x = (1"),
        ("c", "code", "%matplotlib inline\ny = 1"),
    )
    assert order(*cells) == "a b c"


def test_what_a_magic_gives_is_a_name_like_any_other() -> None:
    cells = (("a", "code", "print(files, who)"), ("b", "code", "files = !ls\nwho = %who_ls"))
    assert order(*cells) == "b a"
    assert "no cell defines" not in explain_cells("nb.ipynb", cells_in(shown(*cells)))


def test_names_inside_functions_and_comprehensions_are_their_own() -> None:
    cells = (("a", "code", "f = lambda v: v\n[w for w in range(3)]"), ("b", "code", "v = w = 1"))
    assert order(*cells) == "a b"


def test_moves_lead_to_the_order() -> None:
    cells = cells_in(
        shown(("a", "code", "print(x)"), ("b", "code", "y = 2"), ("c", "code", "x = y"))
    )
    now = [cell.id for cell in cells]
    for cell_id, after in moves(cells):
        now.remove(cell_id)
        now.insert(now.index(after) + 1 if after else 0, cell_id)
    assert now == [cell.id for cell in order_cells(cells)] == ["b", "c", "a"]


def test_an_explanation_names_what_is_in_the_cells() -> None:
    text = explain_cells(
        "nb.ipynb",
        cells_in(
            shown(
                ("t", "markdown", "# Sales"),
                ("a", "code", "import pandas as pd\nd = pd.read_csv('sales.csv')"),
                ("b", "code", "def f(): pass\nd.plot()\nprint(missing)"),
            )
        ),
    )
    for fact in ("3 cells, 2 of them code", "Sales", "pandas", "sales.csv", "f", "`b`", "missing"):
        assert fact in text


@pytest.mark.parametrize("kind", ["explain", "order"])
def test_a_notebook_without_cells_is_said_to_have_none(kind: str, tmp_path: Path) -> None:
    empty = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "new.ipynb").write_text(json.dumps(empty))
    text = {"explain": "Explain new.ipynb", "order": "Put the cells of new.ipynb in order"}[kind]
    said = Desk(tmp_path).ask(text, notebook="new.ipynb")
    assert {"explain": "has no cells yet", "order": "already in order"}[kind] in said
