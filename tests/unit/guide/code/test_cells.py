"""What cells look like: short, in the notebook's style, with names that are free."""

from __future__ import annotations

import ast
import random
from pathlib import Path
from typing import Any

import pandas
import pytest

from cowork_jupyter.guide.code import Style, TableVariable, cells_for, script_code
from cowork_jupyter.guide.code.cells import Charts, Frames
from cowork_jupyter.guide.request import Filter, Request
from cowork_jupyter.guide.tables import ColumnFacts, Table, table_of

from ..desk import Desk
from .notebook import EVERYTHING, Notebook, results, written

_SALES = table_of(
    "data/sales.csv",
    "date,region,product,units,revenue\n"
    + "".join(
        f"2024-{1 + n % 9:02d}-01,{'NSW'[n % 3]},{['tea', 'coffee'][n % 2]},{n},{n}.5\n"
        for n in range(40)
    ),
)
_PEOPLE = table_of("people.csv", "region,boss\nN,Ann\n")
assert _SALES
assert _PEOPLE
SALES, PEOPLE = _SALES, _PEOPLE
BY_REGION = Request("aggregate", SALES, ("revenue",), groups=("region",), chart="bar")
REQUESTS = [
    Request("profile", SALES),
    Request("columns", SALES),
    Request("preview", SALES, limit=5),
    BY_REGION,
    Request("aggregate", SALES, ("revenue",), "share", groups=("region",), chart="pie"),
    Request("aggregate", SALES, ("units",), "mean", ("region",), "date", "month", chart="line"),
    Request("aggregate", SALES, ("units",), groups=("region", "product"), chart="bar"),
    Request("aggregate", SALES, (), "count", ("region",), filters=(Filter("units", ">", ("3",)),)),
    Request("compare", SALES, ("revenue",), time="date", between=("2024-02", "2024-03")),
    Request("distribution", SALES, ("revenue", "region")),
    Request("distribution", SALES, ("revenue",), groups=("region",), chart="box"),
    Request("relate", SALES, ("units", "revenue"), chart="scatter"),
    Request("relate", SALES, ("region", "revenue")),
    Request("relate", SALES, ("region", "product")),
    Request("outliers", SALES, ("revenue",)),
    Request("missing", SALES),
    Request("duplicates", SALES),
    Request("clean", SALES, gaps="fill"),
    Request("join", SALES, ("region", "region"), other=PEOPLE),
    Request("model", SALES, ("revenue",)),
    Request("model", SALES, ("region",)),
]
LIBRARIES: tuple[Frames, ...] = ("pandas", "polars")
CHARTS: tuple[Charts, ...] = ("matplotlib", "seaborn", "plotly")
STYLES = [Style(f, c, packages=EVERYTHING) for f in LIBRARIES for c in CHARTS]


def sources(request: Request, style: Style | None = None) -> list[str]:
    return [cell.source for cell in cells_for(request, style or Style(packages=EVERYTHING))]


@pytest.mark.parametrize("style", STYLES, ids=lambda style: f"{style.frames}-{style.charts}")
@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: one.verb)
def test_cells_are_short_and_import_once(request_: Request, style: Style) -> None:
    cells = sources(request_, style)
    seen: set[str] = set()
    for source in cells:
        ast.parse(source)
        lines = source.splitlines()
        assert len(lines) <= 13, source
        assert max(map(len, lines)) <= 100, source
        assert "def " not in source
        assert "print(" not in source
        imports = {line for line in lines if line.startswith(("import ", "from "))}
        assert not imports & seen
        seen |= imports
    assert sum(len(source.splitlines()) for source in cells) / len(cells) <= 8
    assert cells[0].splitlines()[-1].startswith(("sales = ", "sales[", ")"))


@pytest.mark.parametrize("style", STYLES, ids=lambda style: f"{style.frames}-{style.charts}")
@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: one.verb)
def test_no_name_of_the_users_is_taken(request_: Request, style: Style) -> None:
    first = {name for cell in cells_for(request_, style) for name in _stored(cell.source)}
    assert first
    taken = Style(style.frames, style.charts, EVERYTHING, used_names=frozenset(first))
    second = {name for cell in cells_for(request_, taken) for name in _stored(cell.source)}
    assert not first & second
    assert all(name.isidentifier() for name in second)


def _stored(source: str) -> set[str]:
    tree = ast.parse(source)
    inside = {
        name.id
        for node in ast.walk(tree)
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
        if isinstance(name, ast.Name)
    }
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } - inside


def test_a_bar_chart_is_what_one_would_write() -> None:
    assert sources(BY_REGION) == [
        'import pandas as pd\n\nsales = pd.read_csv("data/sales.csv", parse_dates=["date"])',
        'by_region = sales.groupby("region")["revenue"].sum().sort_values(ascending=False)\n'
        "by_region",
        "ax = by_region.sort_values().plot.barh(\n"
        '    title="Total revenue by region", xlabel="revenue", ylabel=""\n'
        ")\n"
        'ax.xaxis.set_major_formatter("{x:,.10g}")',
    ]


def test_what_is_loaded_and_imported_is_used() -> None:
    style = Style(
        packages=EVERYTHING,
        modules={"pandas": "pandas"},
        used_names=frozenset({"df", "by_region"}),
        loaded_tables={SALES.path: TableVariable("df")},
    )
    months = Request("aggregate", SALES, ("units",), time="date", period="month")
    (source,) = sources(months, style)
    assert source.startswith(
        'monthly = df.groupby(pandas.to_datetime(df["date"]).dt.to_period("M"))["units"].sum()'
    )
    first, *_ = sources(BY_REGION, style)
    assert first.startswith('revenue_by_region = df.groupby("region")')


@pytest.mark.parametrize(("charts", "drawn"), [("plotly", "px.bar("), ("seaborn", "sns.barplot(")])
@pytest.mark.parametrize("frames", LIBRARIES)
def test_charts_are_drawn_with_what_the_notebook_draws_with(
    frames: Frames, charts: Charts, drawn: str
) -> None:
    chart = sources(BY_REGION, Style(frames, charts, EVERYTHING))[-1]
    assert drawn in chart
    assert "Total revenue by region" in chart


def test_a_chart_that_nobody_would_see_goes_into_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = written(tmp_path / "t.csv", "g,v\na,1\nb,2\n")
    request = Request("aggregate", table, ("v",), groups=("g",), chart="bar")
    results(request, Style(packages=EVERYTHING, saves_charts=True))
    assert [path.name for path in tmp_path.glob("*.png")] == ["t_total_v_by_g.png"]


def read(tmp_path: Path, text: str, style: Style) -> Any:
    table = written(tmp_path / "t.csv", text)
    notebook = Notebook()
    notebook.run(cells_for(Request("columns", table), style)[:1])
    return notebook.names["t"]


@pytest.mark.parametrize("frames", LIBRARIES)
def test_files_are_read_with_the_options_they_need(
    frames: Frames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    style = Style(frames, packages=EVERYTHING)
    frame = read(tmp_path, "day;v\n13.02.2024;1,5\n14.02.2024;2,5\n", style)
    assert [str(one)[:10] for one in frame["day"]] == ["2024-02-13", "2024-02-14"]
    assert list(frame["v"]) == [1.5, 2.5]
    frame = read(tmp_path, "zip,v\n01234,?\n00999,2\n", style)
    assert list(frame["zip"]) == ["01234", "00999"]
    assert frame["v"].to_list()[1] == 2
    frame = read(tmp_path, "r,v\n North,1\nnorth ,2\nSouth,3\n", style)
    assert sorted(set(frame["r"])) == ["North", "South"], "spaces and case are tidied, visibly"


@pytest.mark.parametrize("frames", LIBRARIES)
@pytest.mark.parametrize("ending", ["parquet", "json", "jsonl"])
def test_other_formats_are_read(
    ending: str, frames: Frames, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pandas.DataFrame({"day": ["2024-01-05", "2024-02-05"], "v": [1, 2]})
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        frame["day"] = pandas.to_datetime(frame["day"])
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=ending == "jsonl")
    columns = (ColumnFacts("day", "date", "%Y-%m-%d"), ColumnFacts("v", "number"))
    table = Table(path.name, "", columns, has_header=True, first_line=1)
    request = Request("aggregate", table, ("v",), time="day", period="month")
    (months,) = results(request, Style(frames, packages=EVERYTHING))
    values = months.to_list() if frames == "pandas" else months["v"].to_list()
    assert values == [1, 2]


def test_excel_is_read() -> None:
    table = Table("a b.xlsx", "", SALES.columns, has_header=True, first_line=1)
    assert 'a_b = pd.read_excel("a b.xlsx")' in sources(Request("columns", table))[0]


HOSTILE = [
    "it's\nimport os\n",
    "'); import os #",
    '"); import os #',
    "\\",
    "a\\'",
    '"""',
    "{x}",
    "\u2028import os",
    "class",
    "%run",
    "`b`",
    "1",
    "☃",
    "--",
]


@pytest.mark.parametrize("frames", LIBRARIES)
@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_values_get_into_code_as_literals_only(name: str, frames: Frames) -> None:
    columns = (
        ColumnFacts(name, "text", distinct=2, padded=True),
        ColumnFacts(f"{name}2", "number", distinct=9, missing_sign=name),
        ColumnFacts(f"{name}3", "date", date_format="%d.%m.%Y" + name),
    )
    table = Table(f"{name}.csv", name, columns, has_header=True, first_line=1, renamed=True)
    text, number, date = table.names
    filters = (Filter(text, "=", (name,)), Filter(date, "=", (name,)))
    requests = [
        Request("profile", table),
        Request("preview", table, (text,), filters=filters),
        Request("aggregate", table, (number,), groups=(text,), chart="bar", filters=filters),
        Request("aggregate", table, (number,), groups=(text,), time=date, period="month"),
        Request("compare", table, (number,), groups=(text,), between=(name, name)),
        Request("outliers", table, (number,)),
        Request("clean", table, gaps="fill"),
        Request("join", table, (text, text), other=table),
        Request("model", table, (number,)),
    ]
    style = Style(frames, packages=EVERYTHING, saves_charts=True)
    for request in requests:
        for cell in cells_for(request, style):
            tree = ast.parse(cell.source)
            imported = {n.names[0].name for n in ast.walk(tree) if isinstance(n, ast.Import)}
            assert imported <= {"pandas", "polars", "matplotlib.pyplot"}, cell.source
            assert not any(line.startswith("%") for line in cell.source.splitlines())
        ast.parse(script_code(cells_for(request, style), style))


def test_random_bytes_are_read_or_refused_but_never_break_anything(tmp_path: Path) -> None:
    chance = random.Random(5)
    signs = [*"ab1,;\t|\"'\n\r #.:-", "é", "\u2028", "2024-01-01", "NA", "`", "\\", "{x}"]
    for number in range(60):
        text = "".join(chance.choice(signs) for _ in range(chance.randrange(300)))
        (tmp_path / "t.csv").write_bytes(
            text.encode("cp1252" if number % 3 else "utf-8", "replace")
        )
        said = Desk(tmp_path).ask("profile t.csv", answers=["skip"])
        assert "SyntaxError" not in said
        assert "Done" in said or "not a table" in said or "The code failed" in said, (text, said)
        for made in tmp_path.glob("*.py"):
            made.unlink()
