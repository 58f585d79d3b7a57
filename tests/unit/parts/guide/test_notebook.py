"""Notebooks: what their cells need of each other, and the style that new cells follow."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.parts.guide.code import Style, TableVariable
from cowork_jupyter.parts.guide.notebook import (
    GuideCell,
    cells_in,
    code_cell,
    explain_cells,
    files_in_code,
    moves,
    notebook_intent,
    order_cells,
    style_of,
    works_with_polars,
)

from .desk import Desk, write_notebook


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Explain this notebook", "explain"),
        ("What does analysis.ipynb do? explain", "explain"),
        ("erkläre das Notebook", "explain"),
        ("put the cells in order", "order"),
        ("Profile sales.csv", None),
        ("read `order the cells.csv`", None),
    ],
)
def test_notebook_intent_is_recognized(text: str, intent: str | None) -> None:
    assert notebook_intent(text) == intent


def cells(*sources: str) -> list[GuideCell]:
    """Named a, b and so on; those that begin with `#` are texts."""
    facts = [
        {"id": name, "cell_type": "markdown" if source[:1] == "#" else "code", "source": source}
        for name, source in zip("abcdef", sources, strict=False)
    ]
    return cells_in({"cells": [{**fact, "failed": fact["source"] == "1 / 0"} for fact in facts]})


@pytest.mark.parametrize(
    ("sources", "order"),
    [
        (["print(x)", "x = 1"], "b a"),
        (["x = y", "x = x + 1", "y = 1"], "c a b"),
        (["# Draw", "np.plot(data)", "data = np.ones(3)", "import numpy as np"], "d c a b"),
        (["x = y", "y = x"], "a b"),
        (["import a", "b = a.b", "nonlocal c"], "a b c"),
        (["%%bash\nls x", "x = (1", "%matplotlib inline\ny = 1", "# The end"], "a b c d"),
        (["f = lambda v: v\n[w for w in range(3)]", "v = w = 1"], "a b"),
        (["def f():\n    y = 1\n    return y", "y = 1"], "a b"),
        (["for i in z: pass", "z = [1]"], "b a"),
    ],
)
def test_cells_are_sorted_by_dependency(sources: list[str], order: str) -> None:
    found = cells(*sources)
    assert " ".join(cell.id for cell in order_cells(found)) == order
    assert (not moves(found)) == (order == " ".join("abcd"[: len(sources)]))


def test_explanation_names_headings_packages_and_files() -> None:
    reading = "import pandas as pd\nfrom math import pi\nd = pd.read_csv('sales.csv')"
    said = explain_cells("nb.ipynb", cells("# Sales", reading, "1 / 0"))
    for fact in ("3 cells, 2 of", ": Sales", ": math, pandas", ": sales.csv", "with an error: `c`"):
        assert fact in said
    assert "use names defined further down" in explain_cells("n", cells("print(x)", "x = 1"))


def test_empty_notebook_is_explained(tmp_path: Path) -> None:
    write_notebook(tmp_path / "new.ipynb")
    assert "no cells yet" in Desk(tmp_path).ask("Explain new.ipynb")
    assert "already in order" in Desk(tmp_path).ask("Put the cells of new.ipynb in order")


def test_long_notebook_is_read_whole(tmp_path: Path) -> None:
    write_notebook(tmp_path / "long.ipynb", "print(x)", *["pass"] * 128, "x = 1")
    desk = Desk(tmp_path)
    assert "`long.ipynb` has 130 cells" in desk.ask("Explain long.ipynb")
    (step,) = desk.plan("Put the cells of long.ipynb in order")["steps"]
    assert "move 129 (" in step["action"]


def style(variables: str, *sources: str, folder: str = ".") -> Style:
    kinds = dict(each.split(":") for each in variables.split())
    return style_of(list(map(code_cell, sources)), kinds, Style(folder=folder))


def test_polars_notebooks_are_recognized() -> None:
    assert works_with_polars([code_cell("import polars as pl\npl.read_csv('a.csv')")])
    for source in ("", "import pandas as pd\nimport polars as pl\npd.a\npd.b\npl.c"):
        assert not works_with_polars([code_cell(source)])


def test_imports_count_once_run() -> None:
    assert style("pandas:module", "import pandas").pandas == "pandas"
    assert style("", "import pandas as pd").pandas == ""
    assert style("pd:module").pandas == "pd", "also where cells are not kept"
    assert "pd" in style("pd:int", "pd = 3").used_names


READ = 'import pandas as pd\ndf = pd.read_csv("data/sales.csv", parse_dates=["date"])'
FRAME = "pd:module df:pandas.DataFrame"
WRITE = 'df.convert_dtypes().to_csv(\n    "o.csv"\n)'
SALES = {"data/sales.csv": TableVariable("df", frozenset({"date"}))}


@pytest.mark.parametrize(
    ("variables", "sources", "loaded"),
    [
        (FRAME, [READ], SALES),
        (FRAME, [READ, 'df["total"] = df["a"] * 2'], SALES),
        (FRAME, ["df = df.copy()", WRITE], {"o.csv": TableVariable("df")}),
        (FRAME, [WRITE.replace('csv"', 'csv", mode="x"'), "df = df.head()"], {}),
        ("pd:module", [READ], {}),
        ("pd:module df:polars.DataFrame", [READ], {}),
        (FRAME, [READ, "df = df[df.units > 3]"], {}),
        (FRAME, [READ, 'df.drop(columns=["a"], inplace=True)'], {}),
        (FRAME, [READ.replace(")", ", nrows=10)")], {}),
        (FRAME, ["df = pd.read_csv('data/sales.csv').dropna()"], {}),
    ],
)
def test_unchanged_loaded_tables_are_known(
    variables: str, sources: list[str], loaded: dict[str, TableVariable]
) -> None:
    assert style(variables, *sources).loaded_tables == loaded


def test_paths_resolve_from_the_notebook_folder() -> None:
    moved = READ.replace("data/", "../data/")
    assert style(FRAME, moved, folder="work").loaded_tables == SALES
    code = [moved, "df.to_csv('out.csv')\nopen('../n.txt')", "pd.read_csv('out.csv')"]
    assert files_in_code(code, "work") == (["data/sales.csv", "n.txt"], frozenset({"work/out.csv"}))


def test_names_in_cells_and_in_the_kernel_are_taken() -> None:
    found = style("hidden:int ax:Axes", "sales = 1", "ax = sales.plot()")
    assert found.used_names == {"hidden", "sales"}, "nobody needs `ax` any more"
    assert "ax" in style("ax:Axes", "ax = sales.plot()", "ax.set_title('mine')").used_names
