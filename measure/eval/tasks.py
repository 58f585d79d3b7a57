"""What is to be done rather than answered; whether it was is seen in files and variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import nbformat
import pandas as pd

from .skill_tasks import SKILL_TASKS
from .tables import Tables
from .task import Check, Task, wrote

NOTEBOOK = "question.ipynb"


def write_notebook(folder: Path, sources: Iterable[str] = ()) -> nbformat.NotebookNode:
    """A notebook with these cells."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]  # type: ignore[no-untyped-call]
    notebook: nbformat.NotebookNode
    notebook = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    nbformat.write(notebook, folder / NOTEBOOK)  # type: ignore[no-untyped-call]
    return notebook


def _probed(name: str, expected: Callable[[Tables], str]) -> Check:
    return lambda folder, tables: (folder / name).read_text() == expected(tables)


def _has_cell(kind: str, text: str) -> Check:
    def check(folder: Path, _tables: Tables) -> bool:
        cells = nbformat.read(folder / NOTEBOOK, as_version=4).cells  # type: ignore[no-untyped-call]
        others = [cell for cell in cells if "cowork_jupyter" not in cell.source]
        return any(cell.cell_type == kind and text in cell.source for cell in others)

    return check


def _monthly(tables: Tables) -> pd.DataFrame:
    sales = tables["sales.csv"]
    months = sales.groupby(sales["date"].dt.month)["units"].sum()
    return months.rename_axis("month").reset_index()


def _features(tables: Tables) -> pd.DataFrame:
    houses = tables["houses.csv"]
    return houses.assign(price_per_area=houses["price"] / houses["area"])


def _filled(tables: Tables) -> pd.DataFrame:
    sales = tables["sales.csv"]
    return sales.assign(revenue=sales["revenue"].fillna(sales["units"] * sales["price"]))


def _totals(tables: Tables) -> str:
    totals = tables["sales.csv"].groupby("region")["units"].sum()
    return str(sorted((str(region), int(units)) for region, units in totals.items()))


def _joined(tables: Tables) -> pd.DataFrame:
    return tables["orders.csv"].merge(tables["customers.csv"], on="customer_id")


TASKS: tuple[Task, ...] = (
    Task("write-unique", ("students.csv",),
         "Write students_clean.csv: students.csv without its duplicate rows.",
         wrote("students_clean.csv", lambda t: t["students.csv"].drop_duplicates())),
    Task("write-monthly", ("sales.csv",),
         "Write monthly.csv with the columns month (1 to 12) and units (the total of that month), "
         "from sales.csv.", wrote("monthly.csv", _monthly)),
    Task("write-features", ("houses.csv",),
         "Add a column price_per_area (price / area) to the table in houses.csv and save it as "
         "houses_features.csv.", wrote("houses_features.csv", _features)),
    Task("write-filled", ("sales.csv",),
         "Fill missing revenue in sales.csv with units times price and save the table as "
         "sales_filled.csv.", wrote("sales_filled.csv", _filled)),
    Task("write-plain", ("bestellungen.csv",),
         "Save bestellungen.csv as orders_plain.csv: separated by commas, with decimal points and "
         "dates as YYYY-MM-DD.",
         wrote("orders_plain.csv", lambda t: t["bestellungen.csv"])),
    Task("write-joined", ("orders.csv", "customers.csv"),
         "Join orders.csv with customers.csv on customer_id, keeping only orders whose customer "
         "is known, and save it as joined.csv.", wrote("joined.csv", _joined)),
    Task("keep-table", ("sales.csv",),
         "Load sales.csv into a DataFrame called sales, with the date as datetime64.",
         _probed("probe.txt", lambda t: f"{len(t['sales.csv'])} True"),
         "open('probe.txt', 'w').write("
         "f\"{len(sales)} {str(sales['date'].dtype).startswith('datetime64')}\")"),
    Task("keep-totals", ("sales.csv",),
         "Make a Series called totals with the total of units for each region in sales.csv.",
         _probed("probe.txt", _totals),
         "open('probe.txt', 'w').write("
         "str(sorted((str(k), int(v)) for k, v in totals.items())))"),
    Task("add-code-cell", ("sales.csv",),
         f"Add a code cell at the end of {NOTEBOOK} that loads sales.csv with pandas.",
         _has_cell("code", "sales.csv")),
    Task("add-text-cell", (),
         f"Add a Markdown cell with the heading Results at the end of {NOTEBOOK}.",
         _has_cell("markdown", "Results")),
    *SKILL_TASKS,
)  # fmt: skip
