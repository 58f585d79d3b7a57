"""New cells follow the notebook: its libraries, its names, the tables it has read."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.code import Style, TableVariable
from cowork_jupyter.guide.notebook import cells_in
from cowork_jupyter.guide.notebook_style import style_of

PACKAGES = frozenset({"pandas", "polars", "matplotlib", "seaborn", "plotly"})


def style(variables: str, *sources: str, folder: str = ".") -> Style:
    cells = [
        {
            "id": f"c{number}",
            "cell_type": "code",
            "source": source,
            "failed": False,
            "execution_count": None,
        }
        for number, source in enumerate(sources)
    ]
    kinds = dict(one.split(":") for one in variables.split())
    return style_of(cells_in({"cells": cells}), kinds, PACKAGES, folder)


def test_an_empty_notebook_is_written_with_pandas_and_matplotlib() -> None:
    found = style("")
    assert (found.frames, found.charts) == ("pandas", "matplotlib")
    assert not found.loaded_tables
    assert not found.used_names


@pytest.mark.parametrize(
    ("source", "frames", "charts"),
    [
        ("import polars as pl\npl.read_csv('a.csv')", "polars", "matplotlib"),
        ("import pandas as pd\nimport polars as pl\npd.a\npd.b\npl.c", "pandas", "matplotlib"),
        ("import plotly.express as px\npx.bar(x)", "pandas", "plotly"),
        ("import seaborn as sns\nimport matplotlib.pyplot as plt\nsns.barplot(x)\nplt.show()",
         "pandas", "seaborn"),
        ("import matplotlib.pyplot as plt\nplt.plot(x)", "pandas", "matplotlib"),
    ],
)  # fmt: skip
def test_libraries_are_those_of_the_notebook(source: str, frames: str, charts: str) -> None:
    found = style("", source)
    assert (found.frames, found.charts) == (frames, charts)


def test_an_import_counts_once_the_kernel_has_it() -> None:
    source = "import pandas as pd\nimport polars"
    assert style("pd:module", source).modules == {"pandas": "pd"}
    assert style("", source).modules == {}
    assert style("pd:module").modules == {"pandas": "pd"}, "also where cells are not kept"


READ = 'import pandas as pd\ndf = pd.read_csv("data/sales.csv", parse_dates=["date"])'
FRAME = "pd:module df:pandas.DataFrame"


def test_a_table_that_was_read_is_known_by_its_name() -> None:
    expected = {"data/sales.csv": TableVariable("df", frozenset({"date"}))}
    assert style(FRAME, READ).loaded_tables == expected
    assert style(FRAME, READ, 'df["total"] = df["a"] * 2').loaded_tables == expected
    moved = style(FRAME, READ.replace("data/", "../data/"), folder="work").loaded_tables
    assert moved == expected, "as the notebook's folder sees it"
    tidied = style(FRAME, READ, 'df["region"] = df["region"].str.strip()').loaded_tables
    assert tidied["data/sales.csv"].tidied == {"region"}


@pytest.mark.parametrize(
    ("variables", "sources"),
    [
        ("pd:module", [READ]),
        ("pd:module df:pandas.Series", [READ]),
        ("pd:module df:polars.DataFrame", [READ]),
        (FRAME, [READ, "df = df[df.units > 3]"]),
        (FRAME, [READ.replace(")", ", nrows=10)")]),
        (FRAME, [READ.replace(")", ', index_col="date")')]),
        (FRAME, ["df = pd.read_csv(path)"]),
        (FRAME, ["df = pd.read_csv('data/sales.csv').dropna()"]),
    ],
)
def test_what_may_be_something_else_by_now_is_read_anew(variables: str, sources: list[str]) -> None:
    assert not style(variables, *sources).loaded_tables


def test_a_table_that_was_written_is_not_read_again() -> None:
    cells = ["out = df.copy()\nout['d'] = pd.to_datetime(out['d'])", "out.to_csv('out.csv')"]
    variables = "out:pandas.DataFrame"
    assert style(variables, *cells).loaded_tables == {
        "out.csv": TableVariable("out", frozenset({"d"}))
    }
    assert not style(variables, *cells, "out = out.head()").loaded_tables


def test_names_in_cells_and_in_the_kernel_are_taken() -> None:
    found = style("hidden:int ax:Axes", "sales = 1", "ax = sales.plot()")
    assert found.used_names == {"hidden", "sales"}, "nobody needs `ax` any more"
    assert "ax" in style("ax:Axes", "ax = sales.plot()", "ax.set_title('mine')").used_names


def test_other_languages_and_broken_cells_tell_nothing() -> None:
    assert style("", "%%sh\nls", "def (", "!pip install x").used_names == frozenset()
