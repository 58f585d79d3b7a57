"""What cells look like: short, in the notebook's style, with names that are free."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from cowork_jupyter.parts.guide.code import Choices, Style, TableVariable, cells_for, script_code
from cowork_jupyter.parts.guide.request import CleaningAction, Filter, Request
from cowork_jupyter.parts.guide.tables import ColumnFacts, Table

from ..desk import known
from .notebook import Notebook, results, written

_ROWS = [f"2024-{1 + n % 9:02d}-01,{'NSW'[n % 3]},{'tc'[n % 2]},{n},{n}.5" for n in range(40)]
_TEXT = "\n".join(["date,region,product,units,revenue", *_ROWS])
SALES = known("data/sales.csv", _TEXT, lines=len(_ROWS) + 1)
PEOPLE = known("people.csv", "region,boss\nN,Ann\n")
BY_REGION = Request("aggregate", SALES, ("revenue",), groups=("region",), chart="bar")
FILL = (CleaningAction("drop empty"), CleaningAction("fill", ("revenue", "units"), "median"))
MANY = (Filter("units", ">", ("3",)), Filter("product", "=", ("tea",)))
REQUESTS = [
    Request("profile", SALES),
    Request("preview", SALES, order_by="units", filters=MANY),
    BY_REGION,
    Request("aggregate", SALES, ("revenue",), "share", groups=("region",), chart="pie"),
    Request("aggregate", SALES, ("units",), "mean", ("region",), "date", "month", chart="line"),
    Request("compare", SALES, ("revenue",), time="date", between=("2024-02", "2024-03")),
    Request("distribution", SALES, ("revenue", "region")),
    Request("relate", SALES, ("units", "revenue"), chart="scatter"),
    Request("outliers", SALES, ("revenue",)),
    Request("clean", SALES, actions=FILL),
    Request("join", SALES, ("region", "region"), other=PEOPLE),
    Request("model", SALES, ("revenue",)),
    Request("export", SALES, filters=MANY, named_output="few.xlsx"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sources(request: Request, style: Style | None = None) -> list[str]:
    return [cell.source for cell in cells_for(request, style or Style())]


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: one.verb)
def test_cells_are_short_and_shadow_no_names(request_: Request) -> None:
    cells = sources(request_)
    seen: set[str] = set()
    for source in cells:
        lines = source.splitlines()
        assert len(lines) <= 14, source
        assert max(map(len, lines)) <= 100, source
        assert "print(" not in source
        imports = {line for line in lines if line.startswith(("import ", "from "))}
        assert not imports & seen
        seen |= imports
    assert cells[0] == (
        'import pandas as pd\n\nsales = pd.read_csv("data/sales.csv", parse_dates=["date"])'
    )
    first = {name for cell in cells for name in _stored(cell)}
    taken = Style(used_names=frozenset(first))
    assert not first & {name for cell in sources(request_, taken) for name in _stored(cell)}


def _stored(source: str) -> set[str]:
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
    return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}


def test_generated_code_is_idiomatic() -> None:
    computing, drawing = sources(BY_REGION)[1:]
    assert computing == (
        'by_region = sales.groupby("region")["revenue"].sum().sort_values(ascending=False)\n'
        "by_region"
    )
    assert drawing.startswith("ax = by_region.sort_values().plot.barh(\n    title=")
    cleaning, _gaps, saving = sources(Request("clean", SALES, actions=FILL))[1:]
    assert cleaning.splitlines()[:3] == [
        "sales_clean = sales.copy()",
        'sales_clean = sales_clean.dropna(how="all").dropna(axis="columns", how="all")',
        'sales_clean["revenue"] = sales_clean["revenue"].fillna(sales_clean["revenue"].median())',
    ]
    assert saving == 'sales_clean.convert_dtypes().to_csv("data/sales_clean.csv", index=False)'


def test_loaded_tables_and_imports_are_reused() -> None:
    used, loaded = frozenset({"df", "by_region"}), {SALES.path: TableVariable("df")}
    style = Style(pandas="pandas", used_names=used, loaded_tables=loaded)
    months = Request("aggregate", SALES, ("units",), time="date", period="month")
    (source,) = sources(months, style)
    assert source.startswith(
        'monthly = df.groupby(pandas.to_datetime(df["date"]).dt.to_period("M"))["units"].sum()'
    )
    assert sources(BY_REGION, style)[0].startswith('revenue_by_region = df.groupby("region")')
    loading = sources(Request("columns", replace(SALES, path="pd.csv")))[0]
    assert "pd_table = pd.read_csv(" in loading


def read(table: Table, choices: Choices | None = None) -> Any:
    notebook = Notebook()
    notebook.run(cells_for(Request("columns", table), Style(), choices)[:1])
    return notebook.names["t"]


def test_files_are_read_with_the_options_they_need() -> None:
    frame = read(written("t.csv", "day;v\n13.02.2024;1,5\n14.02.2024;2,5\n"))
    assert [str(one)[:10] for one in frame["day"]] == ["2024-02-13", "2024-02-14"]
    assert list(frame["v"]) == [1.5, 2.5]
    frame = read(written("t.csv", "zip,r,v\n01234, North,?\n00999,north ,2\n"))
    assert list(frame["zip"]) == ["01234", "00999"]
    assert list(frame["r"]) == [" North", "north "], "reading changes nothing"
    assert frame["v"].to_list()[1] == 2


def test_coercion_is_commented() -> None:
    table = written("t.csv", "day,v\n2024-01-01,1\n2024-01-02,2\n")
    written("t.csv", "day,v\nsoon,1\n2024-01-02,two\n")
    assert read(table, Choices(coerce=True)).isna().sum().to_list() == [1, 1]
    columns = Request("columns", table)
    assert "missing" not in sources(columns)[0]
    assert "they count as missing" in cells_for(columns, Style(), Choices(coerce=True))[0].source


@pytest.mark.parametrize("ending", ["parquet", "json", "jsonl"])
def test_other_formats_are_read(ending: str) -> None:
    frame = pd.DataFrame({"day": ["2024-01-05"], "v": [1]})
    if ending == "parquet":
        frame.assign(day=pd.to_datetime(frame["day"])).to_parquet("t.parquet")
    else:
        frame.to_json(f"t.{ending}", orient="records", lines=ending == "jsonl")
    columns = (ColumnFacts("day", "date", "%Y-%m-%d"), ColumnFacts("v", "number"))
    table = Table(f"t.{ending}", "", columns, has_header=True, first_line=1)
    (months,) = results(Request("aggregate", table, ("v",), time="day", period="month"))
    assert months.to_list() == [1]


HOSTILE = [
    "it's\nimport os\n", "'); import os #", '"); import os #', "\\", "a\\'", '"""', "{x}", "{}",
    "\u2028import os", "class", "%run", "`b`", "1", "☃", "--",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_values_are_literals_in_code(name: str) -> None:
    columns = (
        ColumnFacts(name, "text", distinct=2, padded=True),
        ColumnFacts(f"{name}2", "number", distinct=9, missing_sign=name),
        ColumnFacts(f"{name}3", "date", date_format="%d.%m.%Y" + name),
    )
    table = Table(f"{name}.csv", name, columns, has_header=True, first_line=1, renamed=True)
    text, number, date = table.names
    filters = (Filter(text, "=", (name,)), Filter(date, "=", (name,)))
    actions = [CleaningAction("fill", (each,), value=name) for each in table.names]
    requests = [
        Request("profile", table),
        Request("preview", table, (text,), filters=filters, order_by=number),
        Request("aggregate", table, (number,), groups=(text,), chart="bar", filters=filters),
        Request("aggregate", table, (number,), groups=(text,), time=date, period="month"),
        Request("compare", table, (number,), groups=(text,), between=(name, name)),
        Request("outliers", table, (number,)),
        Request("clean", table, actions=(*actions, CleaningAction("unify", (text,)))),
        Request("join", table, (text, text), other=table),
        Request("model", table, (number,)),
        Request("export", table, named_output=f"{name}.json"),
    ]
    style = Style(saves_charts=True)
    for request in requests:
        for source in sources(request, style):
            nodes = ast.walk(ast.parse(source))
            assert {n.names[0].name for n in nodes if isinstance(n, ast.Import)} <= {"pandas"}
            assert not any(line.startswith("%") for line in source.splitlines())
        ast.parse(script_code(cells_for(request, style)))
