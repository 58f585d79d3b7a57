"""Numbers of a report come from what cells have shown, or are not told."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from cowork_jupyter.parts.guide.request import Filter, Request
from cowork_jupyter.parts.guide.texts import OutputText, findings

from .desk import known

TABLE = known("t.csv", "day,region,price\n2024-01-01,N,1.5\n2024-02-01,S,2\n")
BY_REGION = Request("aggregate", TABLE, ("price",), groups=("region",))
BY_MONTH = Request("aggregate", TABLE, ("price",), time="day", period="month")
MEAN = Request("aggregate", TABLE, ("price",), "mean")
MISSING = Request("missing", TABLE, ("price",))
FILTERED = Request("preview", TABLE, filters=(Filter("price", ">", ("1",)),))
COMPARED = Request("compare", TABLE, ("price",), between=("2024-01", "2024-02"), time="day")

SUMS = pd.Series({"North America": 1234567.5, "S": -3.0, "W": None}, name="price")
SUMS.index.name = "region"
ZONES = pd.Series({"A": 5, "B": 4}).rename_axis("zone 2")
WIDE = pd.DataFrame({f"a_long_name_of_a_column_{n}": range(3) for n in range(9)})
SIZE = pd.Series({"rows": 60, "columns": 3, "duplicate rows": 2})
COUNTS = pd.Series({"rows after": 1200})
SCORES = pd.Series({"Ridge": 0.5}, name="accuracy")
EQUAL = pd.Series({"N": 2, "S": 2}, name="count")
CROSS = pd.DataFrame({"2023": [1, 2], "2024": [9, 3]}, index=["N", "S"])
UNREADABLE = ("", "\n", "│", "…", "a" * 5000)
WRITTEN = "columns written to x.csv"


def shown(*values: object) -> list[OutputText]:
    return [OutputText(f"{value}\n") for value in values]


@pytest.mark.parametrize(
    ("request_", "values", "said"),
    [
        (BY_REGION, [SUMS], ["highest North America: 1,234,567.50; lowest S: -3"]),
        (BY_REGION, [EQUAL], ["each of them: 2"]),
        (replace(BY_REGION, limit=2, ascending=True), [SUMS], ["lowest S: -3"]),
        (Request("aggregate", TABLE, groups=("zone 2",)), [ZONES], ["highest A: 5; lowest B: 4"]),
        (MEAN, ["nan"], ["nothing to compute: no row has a value"]),
        (MEAN, ["np.float64(1234567.0)"], ["Mean price: 1,234,567"]),
        (Request("aggregate", TABLE, ("price",), "share"), ["0.25"], ["Share of price: 25.0%"]),
        (
            COMPARED,
            [pd.Series({"2024-01": 5.0, "2024-02": 2.0}), CROSS],
            ["2024-01: 5, 2024-02: 2"],
        ),
        (Request("profile", TABLE), [SIZE, CROSS], ["60 rows, 3 columns, 2 duplicate rows"]),
        (MISSING, [pd.DataFrame({"price": range(200)})], ["200 missing values"]),
        (Request("missing", TABLE), [pd.Series([], dtype="int64")], ["no missing values"]),
        (Request("outliers", TABLE), [pd.Series({"a b": 2, "c": 0})], ["a b: 2, c: 0"]),
        (FILTERED, [pd.DataFrame({"price": [2]})], ["1 row"]),
        (Request("duplicates", TABLE), ["3", CROSS], ["3 duplicate rows"]),
        (Request("relate", TABLE), ["0.12345"], ["correlation 0.123"]),
        (Request("distribution", TABLE, ("region",)), [EQUAL], ["count: N: 2, S: 2"]),
        (Request("clean", TABLE), ["((5, 3), (4, 2))"], ["5 rows read", f"4 rows, 2 {WRITTEN}"]),
        (Request("export", TABLE), ["(1, 3)"], [f"1 row, 3 {WRITTEN}"]),
        (Request("join", TABLE, other=TABLE), [COUNTS], ["rows after: 1,200", "written to x.csv"]),
        (Request("model", TABLE), ["((9, 2), (3, 2))", SCORES], ["accuracy: Ridge: 0.5"]),
    ],
)
def test_findings_summarize_outputs(
    request_: Request, values: list[object], said: list[str]
) -> None:
    assert findings(request_, shown(*values), "x.csv") == said


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (BY_MONTH, str(pd.Series(range(100), name="price"))),
        (BY_MONTH, "2024-01   5\n20\n[… 400 characters left out …]\n.5\n2025-01   6\ndtype: int64"),
        (BY_REGION, f"t.py:1: FutureWarning: It goes in version 3.\n  f()\n{SUMS}"),
        (replace(BY_REGION, groups=("region", "product")), str(CROSS)),
        (replace(BY_REGION, columns=("price", "paid")), str(CROSS)),
        (MISSING, str(CROSS)),
        (MISSING, WIDE.to_string(line_width=80)),
        (MISSING, "   price\n0      2\n[… 9 lines of the table left out …]\n10     3"),
        (FILTERED, str(CROSS)),
        (Request("columns", TABLE), str(CROSS)),
        *((request, text) for request in (BY_REGION, COMPARED, MISSING) for text in UNREADABLE),
    ],
)
def test_cut_or_mixed_outputs_give_no_findings(request_: Request, text: str) -> None:
    assert findings(request_, [OutputText(text)]) == []


def test_text_results_are_noticed() -> None:
    texts = (str(pd.Series({"N": "1.52.5"}, name="price")), "'1.52.5'")
    assert [OutputText(text).is_text for text in (*texts, str(SUMS), "12")] == [True] * 2 + [
        False
    ] * 2
