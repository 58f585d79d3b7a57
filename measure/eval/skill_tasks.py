"""Tasks in which the usual mistake is easily made, one or two for each skill that ships.

A skill stays only if it helps here.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd

from .tables import Tables
from .task import Task, wrote

_FEW_CELLS = """totals = sales.groupby("region")["units"].sum()

import pandas as pd

sales = pd.read_csv("sales.csv")"""

_CELLS = """by_region = sales.groupby("region")["units"].sum()

import pandas as pd
import numpy as np

sales = pd.read_csv("sales.csv")

from pathlib import Path
by_region.to_csv(Path("by_region.csv"))"""


def _discounted(tables: Tables) -> pd.DataFrame:
    newest = (
        tables["discounts.csv"]
        .sort_values("valid_from")
        .drop_duplicates("customer_id", keep="last")
    )
    return tables["orders.csv"].merge(newest[["customer_id", "percent"]], how="left")


def _without_customer(tables: Tables) -> pd.DataFrame:
    orders = tables["orders.csv"]
    return orders[~orders["customer_id"].isin(tables["customers.csv"]["customer_id"])]


def _daily(tables: Tables) -> pd.DataFrame:
    readings = tables["readings.csv"]
    days = readings.groupby(readings["time"].str[:10])["temperature"].agg(["mean", "size"])
    return pd.DataFrame({"day": days.index, "mean": days["mean"], "missing": 24 - days["size"]})


def _weekly(tables: Tables) -> pd.DataFrame:
    units = tables["sales.csv"].set_index("date")["units"]
    weeks = units.resample("W-MON", label="left", closed="left").sum()
    return weeks.rename_axis("week").reset_index()


def _folds(tables: Tables) -> pd.DataFrame:
    """Five parts in the order of the table: a plain least-squares fit on the other four."""
    houses = tables["houses.csv"]
    known = np.column_stack([np.ones(len(houses)), houses[["area", "rooms", "age"]]])
    price, rows = houses["price"].to_numpy(), []
    for fold, part in enumerate(np.array_split(np.arange(len(houses)), 5), 1):
        rest = np.setdiff1d(np.arange(len(houses)), part)
        fit = np.linalg.lstsq(known[rest], price[rest], rcond=None)[0]
        errors = np.abs(price[part] - known[part] @ fit).mean()
        baseline = np.abs(price[part] - np.median(price[rest])).mean()
        rows.append({"fold": fold, "mae": errors, "baseline": baseline})
    return pd.DataFrame(rows)


def _weights(tables: Tables) -> pd.DataFrame:
    patients = tables["patients.csv"]
    return patients.assign(weight=patients["weight"].where(patients["weight"].between(30, 250)))


def _members(folder: Path, _tables: Tables) -> bool:
    found = pd.read_csv(folder / "members_clean.csv", dtype=str, keep_default_na=False)
    rows = {row.id: (row.city, row.fee and float(row.fee)) for row in found.itertuples()}
    return len(found) == len(rows) and rows == {
        "007": ("Berlin", 12.5),
        "010": ("Bonn", ""),
        "042": ("Berlin", 1200.0),
        "100": ("Bonn", 9.0),
        "101": ("", ""),
    }


def _drawn(folder: Path, tables: Tables) -> bool:
    totals = tables["sales.csv"].groupby("region")["units"].sum().sort_values().tolist()
    seen = json.loads((folder / "probe.txt").read_text())
    is_sorted = seen["widths"] in (totals, totals[::-1])
    is_labelled = "units" in seen["label"].lower() and bool(seen["title"])
    return is_sorted and is_labelled and (folder / "units.png").stat().st_size > 1000


def _tidy(folder: Path, _tables: Tables) -> bool:
    notebook = nbformat.read(folder / "tidy.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    first, *others = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    has_heading = any(cell.source.startswith("#") for cell in notebook.cells[:1])
    rest = "\n".join(others)
    places = [rest.index(part) for part in ("read_csv", "groupby", "to_csv")]
    return (
        has_heading
        and all(map(_is_import, ast.parse(first).body))
        and not any(map(_is_import, ast.parse(rest).body))
        and "numpy" not in first
        and places == sorted(places)
    )


def _ordered(folder: Path, _tables: Tables) -> bool:
    notebook = nbformat.read(folder / "totals.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    heading, *cells = notebook.cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    places = [code.index(part) for part in ("import pandas", "read_csv", "groupby")]
    return heading.cell_type == "markdown" and places == sorted(places)


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


_SEE_BARS = (
    "import json\nax = fig.axes[0]\nopen('probe.txt', 'w').write(json.dumps({"
    "'widths': [round(bar.get_width()) for bar in ax.patches], 'label': ax.get_xlabel(), "
    "'title': ax.get_title() or ax.get_title(loc='left')}))"
)

SKILL_TASKS: tuple[Task, ...] = (
    Task("skill-joins-newest", ("orders.csv", "discounts.csv"),
         "Write discounted.csv: every order of orders.csv with the column percent from "
         "discounts.csv. Where a customer has several discounts the newest (valid_from) counts; "
         "without one percent stays empty.", wrote("discounted.csv", _discounted),
         skill="joins"),
    Task("skill-joins-unknown", ("orders.csv", "customers.csv"),
         "Write unknown.csv with the orders of orders.csv whose customer is not in customers.csv.",
         wrote("unknown.csv", _without_customer),
         skill="joins"),
    Task("skill-time-series-gaps", ("readings.csv",),
         "readings.csv should have one reading for each hour. Write daily.csv with the columns day "
         "(YYYY-MM-DD), mean (the mean temperature) and missing (how many hours of that day have "
         "no reading).", wrote("daily.csv", _daily),
         skill="time-series"),
    Task("skill-time-series-weeks", ("sales.csv",),
         "Write weekly.csv with the columns week (the Monday on which it begins, YYYY-MM-DD) and "
         "units (the total of that week) from sales.csv. Weeks without sales between the first and "
         "the last have 0.", wrote("weekly.csv", _weekly),
         skill="time-series"),
    Task("skill-model-evaluation-folds", ("houses.csv",),
         "How well do area, rooms and age predict price in houses.csv by linear regression? "
         "Cross-validate with 5 folds in the order of the table, not shuffled. Write scores.csv "
         "with the columns fold (1 to 5), mae (mean absolute error on that fold) and baseline (the "
         "same for predicting the median price of the other folds).",
         wrote("scores.csv", _folds),
         skill="model-evaluation"),
    Task("skill-data-cleaning-weights", ("patients.csv",),
         "Nobody weighs less than 30 or more than 250 kg. Write patients_clean.csv: patients.csv "
         "with such weights emptied and nothing else changed.",
         wrote("patients_clean.csv", _weights),
         skill="data-cleaning"),
    Task("skill-data-cleaning-members", ("members.csv",),
         "Clean members.csv and write members_clean.csv with the columns id, city and fee: ids as "
         "they are written, cities spelled Berlin or Bonn, fees as plain numbers (12.5), unknown "
         "values empty, and one row for each id; of several the last one counts.", _members,
         skill="data-cleaning"),
    Task("skill-plotting-bars", ("sales.csv",),
         "Draw the total units of each region in sales.csv as horizontal bars, sorted by size, "
         "with a title and a label on the x axis. Save it as units.png and keep the figure in the "
         "variable fig.", _drawn, _SEE_BARS,
         skill="plotting"),
    Task("skill-notebook-tidy-up-heading", ("sales.csv",),
         "Write totals.ipynb from the following cells: a heading first, then the cells in an order "
         f"that runs from top to bottom.\n\n{_FEW_CELLS}", _ordered,
         skill="notebook-tidy-up"),
    Task("skill-notebook-tidy-up-order", ("sales.csv",),
         "Write tidy.ipynb from the following cells: a heading first, then one cell with the "
         "imports that are needed and no others, then the rest in an order that runs from top to "
         f"bottom.\n\n{_CELLS}", _tidy,
         skill="notebook-tidy-up"),
)  # fmt: skip
