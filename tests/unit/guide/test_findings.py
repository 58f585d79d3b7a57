"""Numbers of a report come from what cells have shown, or are not told."""

from __future__ import annotations

import os

import pandas as pd
import polars as pl
import pytest

from cowork_jupyter.guide.findings import OutputText, as_text, findings, ranges
from cowork_jupyter.guide.request import Request
from cowork_jupyter.guide.tables import table_of

_TABLE = table_of("t.csv", "day,region,price\n2024-01-01,N,1.5\n2024-02-01,S,2\n")
assert _TABLE
TABLE = _TABLE
BY_REGION = Request("aggregate", TABLE, ("price",), groups=("region",))
BY_MONTH = Request("aggregate", TABLE, ("price",), time="day", period="month")


def shown(*values: object) -> list[OutputText]:
    return [OutputText(f"{value}\n[ran cell x in 0.1 s]") for value in values]


SUMS = pd.Series({"North America": 1234567.5, "S": -3.0}, name="price")
SUMS.index.name = "region"


def test_the_highest_and_the_lowest_group() -> None:
    assert findings(BY_REGION, shown(SUMS)) == ["highest North America: 1,234,567.50; lowest S: -3"]
    table = pl.DataFrame({"region": ["N", "S"], "price": [10.5, 3.0]})
    assert findings(BY_REGION, shown(table)) == ["highest N: 10.50; lowest S: 3"]


def test_of_a_long_series_only_what_can_be_seen_is_told() -> None:
    months = pd.Series(range(100), index=pd.period_range("2020-01", periods=100, freq="M"))
    assert findings(BY_MONTH, shown(months)) == []
    (first, second) = findings(BY_MONTH, shown(months[:5]))
    assert first == "months from 2020-01 to 2020-05"
    assert second == "highest 2020-05: 4; lowest 2020-01: 0"


def test_groups_that_are_alike_have_no_highest() -> None:
    alike = pd.Series({"N": 2, "S": 2}, name="count")
    assert findings(BY_REGION, shown(alike)) == ["each of them: 2"]


def test_what_changed_most_is_named_with_its_column() -> None:
    sides = pd.Series({"2024-01": 5.0, "2024-02": 2.0})
    change = pd.DataFrame(
        {"2024-01": [4, 1], "2024-02": [1, 1], "change": [-3, 0]},
        index=pd.Index(["New York", "S"], name="region"),
    )
    change.columns.name = "period"
    request = Request("compare", TABLE, ("price",), between=("2024-01", "2024-02"), time="day")
    assert findings(request, shown(sides, change)) == [
        "2024-01: 5; 2024-02: 2",
        "changed most of region: New York (-3)",
    ]


def test_boxes_by_group_have_no_most_frequent_value() -> None:
    request = Request("distribution", TABLE, ("price",), groups=("region",), chart="box")
    table = pd.DataFrame({"region": ["N", "S"], "price": [1.0, 2.0]})
    assert findings(request, shown(table.groupby("region")["price"].describe())) == []


def test_rows_are_counted_also_where_a_tool_has_cut_the_table() -> None:
    lines = str(pd.DataFrame({"price": range(30)})).splitlines()
    cut = [*lines[:8], "[… 19 lines of the table left out …]", *lines[-4:]]
    request = Request("missing", TABLE, ("price",))
    assert findings(request, [OutputText("\n".join(cut))]) == ["30 missing values"]
    assert findings(request, shown(pd.DataFrame({"price": []}))) == ["no missing values"]


def test_one_number() -> None:
    none = Request("aggregate", TABLE, ("price",), "mean")
    assert findings(none, [OutputText("nan")]) == ["nothing to compute: no row has a value"]
    whole = Request("aggregate", TABLE, ("price",), "mean")
    assert findings(whole, [OutputText("np.float64(3.5)")]) == ["Mean price: 3.5"]
    share = Request("aggregate", TABLE, ("price",), "share")
    assert findings(share, [OutputText("0.25")]) == ["Share of price: 25.0%"]


def test_a_profile_names_what_is_missing() -> None:
    size = pd.Series({"rows": 60, "columns": 3, "duplicate rows": 2, "missing values": 5})
    overview = pd.DataFrame(
        {"type": ["str", "float64"], "missing": [0, 5], "distinct": [3, 40]},
        index=["region", "unit price"],
    )
    assert findings(Request("profile", TABLE), shown(size, overview)) == [
        "60 rows, 3 columns, 2 duplicate rows",
        "missing values: unit price 5",
    ]


def test_a_profile_in_polars_claims_what_it_shows() -> None:
    size = pl.DataFrame({"rows": 60, "columns": 3, "duplicate rows": 2, "missing values": 5})
    overview = pl.DataFrame({"a": [1, None]}).describe()
    assert findings(Request("profile", TABLE), shown(size.unpivot(), overview)) == [
        "60 rows, 3 columns, 2 duplicate rows",
        "missing values: 5",
    ]


def test_outliers_are_counted_or_there_are_none() -> None:
    request = Request("outliers", TABLE, ("price",))
    none = shown(pd.DataFrame({"price": []}))
    assert findings(request, none)[0].startswith("no rows beyond 1.5 interquartile ranges")
    two = shown(pd.DataFrame({"price": [100, 200], "region": ["N", "S"]}))
    assert findings(request, two)[0].startswith("2 rows beyond 1.5")
    many = shown(pd.DataFrame({"price": range(200)}))
    assert findings(request, many)[0].startswith("200 rows beyond 1.5")


def test_texts_where_numbers_should_be_are_noticed() -> None:
    assert OutputText(str(pd.Series({"N": "1.52.5"}, name="price"))).is_text
    assert OutputText("'1.52.5'").is_text
    assert not OutputText(str(SUMS)).is_text
    assert not OutputText("12").is_text


@pytest.mark.parametrize(
    "text", ["", "\n", "│", "Empty DataFrame", "…", "a" * 5000, "[ran cell x in 1 s] No output."]
)
def test_what_cannot_be_read_claims_nothing(text: str) -> None:
    for verb in ("aggregate", "compare", "profile", "columns", "relate", "clean", "join", "model"):
        for line in findings(Request(verb, TABLE, ("price",)), [OutputText(text)] * 2):
            assert "1" not in line, os.linesep.join([verb, line])


def test_of_a_table_that_is_cut_the_inspector_tells_the_extremes() -> None:
    looked = (
        "monthly: pandas.DataFrame · 30×2\ncolumns:\n"
        "  'N'  float64  nulls 0  min 1.5, mean 2.16667, max 3\n"
        "  'S'  float64  nulls 0  min 4, mean 5, max 1.5e+03\nfirst rows:\n  1.5 | 4.0"
    )
    assert ranges(OutputText(looked)) == ["highest value of S: 1,500; lowest of N: 1.5"]
    assert ranges(OutputText("monthly: int · 3")) == []


def test_numbers_read_well() -> None:
    assert [as_text(n) for n in (3.0, 1234567.0, 0.123456, 12.345, -0.5)] == [
        "3", "1,234,567", "0.1235", "12.35", "-0.5",
    ]  # fmt: skip
