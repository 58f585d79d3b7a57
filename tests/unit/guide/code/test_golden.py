"""Every kind of request, carried out with the real libraries and checked against plain Python."""

from __future__ import annotations

import csv
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.guide.code import Style, cells_for
from cowork_jupyter.guide.code.cells import Frames
from cowork_jupyter.guide.request import Aggregate, Filter, Request
from cowork_jupyter.guide.tables import Table

from .notebook import EVERYTHING, Notebook, results, written

REGIONS = ("North", "South", "West")
ROWS = [
    {
        "date": f"2024-{1 + n % 4:02d}-{1 + n % 28:02d}",
        "region": REGIONS[n % 3],
        "product": ("tea", "coffee")[n % 2],
        "units": str(n % 11),
        "revenue": "" if n % 17 == 5 else f"{(n * 7) % 50 + 0.5}",
    }
    for n in range(120)
]
ROWS[100]["revenue"] = "900.5"
ROWS.append(dict(ROWS[3]))
LIBRARIES: tuple[Frames, ...] = ("pandas", "polars")
Make = Callable[..., Request]


@pytest.fixture(params=LIBRARIES)
def style(request: pytest.FixtureRequest) -> Style:
    return Style(frames=request.param, packages=EVERYTHING)


@pytest.fixture
def sales(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.chdir(tmp_path)
    lines = [",".join(ROWS[0]), *(",".join(row.values()) for row in ROWS)]
    return written(tmp_path / "sales.csv", "\n".join(lines) + "\n")


@pytest.fixture
def make(sales: Table) -> Make:
    return lambda verb, **fields: Request(verb, sales, **fields)


def known(rows: list[dict[str, str]], column: str = "revenue") -> list[float]:
    return [float(row[column]) for row in rows if row[column]]


def by(column: str, rows: list[dict[str, str]] = ROWS) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        found[row[column]] += known([row])
    return found


def as_dict(value: Any) -> dict[str, float]:
    """A series of pandas or a table of polars, in its order."""
    pairs = value.items() if hasattr(value, "items") else value.rows()
    return {str(row[0])[:10]: float(row[-1]) for row in pairs}


HOW: dict[Aggregate, Callable[[list[float]], float]] = {
    "sum": sum,
    "mean": statistics.fmean,
    "median": statistics.median,
    "min": min,
    "max": max,
    "std": statistics.stdev,
    "count": len,
    "distinct": lambda values: len(set(values)),
}


@pytest.mark.parametrize("how", HOW)
def test_a_measure_of_all_rows_and_of_groups(make: Make, style: Style, how: Aggregate) -> None:
    (whole,) = results(make("aggregate", columns=("revenue",), aggregate=how), style)
    assert float(whole) == pytest.approx(HOW[how](known(ROWS)))
    request = make("aggregate", columns=("revenue",), aggregate=how, groups=("region",))
    (groups,) = results(request, style)
    expected = {region: HOW[how](values) for region, values in by("region").items()}
    found = as_dict(groups)
    assert found == pytest.approx(expected)
    assert list(found.values()) == sorted(found.values(), reverse=True), "the largest first"


def test_rows_are_counted(make: Make, style: Style) -> None:
    assert results(make("aggregate", aggregate="count"), style) == [121]
    (groups,) = results(make("aggregate", aggregate="count", groups=("region",)), style)
    assert as_dict(groups) == Counter(row["region"] for row in ROWS)


def test_shares_add_up(make: Make, style: Style) -> None:
    request = make("aggregate", columns=("units",), aggregate="share", groups=("region",))
    (groups,) = results(request, style)
    total = sum(known(ROWS, "units"))
    for region, share in as_dict(groups).items():
        mine = known([row for row in ROWS if row["region"] == region], "units")
        assert share == pytest.approx(sum(mine) / total)


@pytest.mark.parametrize("limit", [0, 100])
def test_shares_of_two_groups_are_those_within_the_first(
    make: Make, style: Style, limit: int
) -> None:
    groups = ("region", "product")
    request = make("aggregate", aggregate="share", groups=groups, limit=limit)
    (shares,) = results(request, style)
    if style.frames == "polars":
        found = {row[:2]: row[2] for row in shares.rows()}
    else:
        found = dict((shares.stack() if shares.ndim == 2 else shares).items())
    counts = Counter((row["region"], row["product"]) for row in ROWS)
    totals = Counter(row["region"] for row in ROWS)
    wanted = {pair: count / totals[pair[0]] for pair, count in counts.items()}
    assert found == pytest.approx(wanted)


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("columns", [("revenue",), ("revenue", "units")])
def test_the_best_of_each_group(
    make: Make, style: Style, columns: tuple[str, ...], ascending: bool
) -> None:
    fields = {"limit": 2, "limit_per_group": True, "ascending": ascending}
    request = make("aggregate", columns=columns, groups=("region", "date"), **fields)
    (best,) = results(request, style)
    rows = best.rows() if style.frames == "polars" else best.reset_index().values.tolist()
    totals: dict[tuple[str, str], float] = defaultdict(float)
    for row in ROWS:
        totals[row["region"], row["date"]] += float(row["revenue"] or 0)
    for region in REGIONS:
        mine = [total for (name, _day), total in totals.items() if name == region]
        ranked = sorted(mine, reverse=not ascending)
        assert [row[2] for row in rows if row[0] == region] == pytest.approx(ranked[:2])
    assert len(rows) == 2 * len(REGIONS)


@pytest.mark.parametrize("ascending", [False, True])
def test_only_the_first_groups_if_so_many_are_wanted(
    make: Make, style: Style, ascending: bool
) -> None:
    wanted = {"columns": ("revenue",), "groups": ("region",), "limit": 2, "ascending": ascending}
    (groups,) = results(make("aggregate", **wanted), style)
    sums = {region: sum(values) for region, values in by("region").items()}
    ordered = sorted(sums, key=lambda region: sums[region], reverse=not ascending)
    assert list(as_dict(groups)) == ordered[:2]


def test_two_groups(make: Make, style: Style) -> None:
    request = make("aggregate", columns=("revenue",), groups=("region", "product"))
    (table,) = results(request, style)
    rows = [row for row in ROWS if (row["region"], row["product"]) == ("North", "tea")]
    if style.frames == "pandas":
        found = table.loc["North", "tea"]
    else:
        found = {row[:2]: row[2] for row in table.rows()}["North", "tea"]
    assert found == pytest.approx(sum(known(rows)))


def test_months(make: Make, style: Style) -> None:
    wanted = {"columns": ("revenue",), "time": "date", "period": "month", "chart": "line"}
    (months, *_) = results(make("aggregate", **wanted), style)
    expected: dict[str, float] = defaultdict(float)
    for row in ROWS:
        expected[row["date"][:7]] += sum(known([row]))
    found = {label[:7]: value for label, value in as_dict(months).items()}
    assert found == pytest.approx(dict(expected))
    assert list(found) == sorted(found)


def test_hours(style: Style, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    log = written(
        tmp_path / "log.csv",
        "at,n\n2024-01-01 08:15:00,1\n2024-01-02 08:30:00,2\n2024-01-02 17:00:00,4\n",
    )
    (hours,) = results(Request("aggregate", log, ("n",), time="at", period="hour"), style)
    assert as_dict(hours) == {"8": 3, "17": 4}


@pytest.mark.parametrize("period", ["day", "week", "quarter", "year", "weekday"])
def test_other_periods_add_up(make: Make, style: Style, period: str) -> None:
    request = make("aggregate", columns=("revenue",), time="date", period=period, chart="bar")
    (found, *_) = results(request, style)
    assert sum(as_dict(found).values()) == pytest.approx(sum(known(ROWS)))


FILTERS: list[tuple[Filter, Callable[[dict[str, str]], bool]]] = [
    (Filter("region", "=", ("North",)), lambda row: row["region"] == "North"),
    (Filter("region", "!=", ("North",)), lambda row: row["region"] != "North"),
    (Filter("region", "!=", ("North", "West")), lambda row: row["region"] == "South"),
    (Filter("region", "in", ("North", "West")), lambda row: row["region"] != "South"),
    (Filter("product", "contains", ("OFF",)), lambda row: row["product"] == "coffee"),
    (Filter("units", ">", ("7",)), lambda row: int(row["units"]) > 7),
    (Filter("units", "<=", ("2.5",)), lambda row: int(row["units"]) <= 2),
    (Filter("units", "between", ("3", "5")), lambda row: 3 <= int(row["units"]) <= 5),
    (Filter("revenue", "missing"), lambda row: not row["revenue"]),
    (Filter("revenue", "known"), lambda row: bool(row["revenue"])),
    (Filter("date", "=", ("2024-03",)), lambda row: row["date"][:7] == "2024-03"),
    (Filter("date", "=", ("2024",)), lambda _row: True),
    (Filter("date", "=", ("2024-01-05",)), lambda row: row["date"] == "2024-01-05"),
    (Filter("date", "=", ("2024-Q1",)), lambda row: row["date"][:7] <= "2024-03"),
    (Filter("date", ">=", ("2024-03",)), lambda row: row["date"][:7] >= "2024-03"),
    (Filter("date", "<", ("2024-03-10",)), lambda row: row["date"] < "2024-03-10"),
    (
        Filter("date", "between", ("2024-02", "2024-03")),
        lambda row: "2024-02" <= row["date"][:7] <= "2024-03",
    ),
    (Filter("date", "in", ("2024-02", "2024-04")), lambda row: row["date"][:7][-1] in "24"),
]


@pytest.mark.parametrize(("one", "keeps"), FILTERS, ids=[str(one)[:60] for one, _ in FILTERS])
def test_filters_keep_the_rows_that_are_meant(
    make: Make, style: Style, one: Filter, keeps: Callable[[dict[str, str]], bool]
) -> None:
    (count,) = results(make("aggregate", aggregate="count", filters=(one,)), style)
    assert count == sum(map(keeps, ROWS))
    both = (one, Filter("units", "<", ("9",)))
    (rows,) = results(make("preview", filters=both), style)
    assert len(rows) == sum(keeps(row) and int(row["units"]) < 9 for row in ROWS)


def test_a_comparison_says_what_changed_most(make: Make, style: Style) -> None:
    months = ("2024-02", "2024-03")
    (sides, by_region, by_product) = results(
        make("compare", columns=("revenue",), time="date", between=months), style
    )
    sums = {m: sum(known([r for r in ROWS if r["date"][:7] == m])) for m in months}
    assert as_dict(sides) == pytest.approx(sums)
    change = {}
    for region in REGIONS:
        rows = [row for row in ROWS if row["region"] == region]
        each = [sum(known([r for r in rows if r["date"][:7] == m])) for m in months]
        change[region] = each[1] - each[0]
    most = max(change, key=lambda region: abs(change[region]))
    if style.frames == "pandas":
        assert by_region.index[0] == most
        assert by_region["change"].to_dict() == pytest.approx(change)
        assert list(by_product.columns) == [*months, "change"]
    else:
        assert by_region["region"][0] == most
        assert dict(by_region.select("region", "change").rows()) == pytest.approx(change)


def test_two_groups_are_compared(make: Make, style: Style) -> None:
    request = make("compare", columns=("units",), groups=("region",), between=("West", "South"))
    (sides, *_) = results(request, style)
    wanted = {one: sum(known([r for r in ROWS if r["region"] == one], "units"))
              for one in ("West", "South")}  # fmt: skip
    assert as_dict(sides) == wanted


@pytest.mark.parametrize(
    ("text", "between", "wanted"),
    [
        ("r,v\nnorth,1\nNorth ,2\nsouth,4\nwest,8\n", ("north", "south"), {"North": 3, "South": 4}),
        ("r,v\nUS,1\nus,2\nde,4\n", ("us", "de"), {"US": 3, "DE": 4}),
    ],
    ids=["names", "codes"],
)
def test_values_in_mixed_case_are_compared_as_one(
    style: Style,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    between: tuple[str, str],
    wanted: dict[str, float],
) -> None:
    monkeypatch.chdir(tmp_path)
    table = written(tmp_path / "t.csv", text)
    (sides, *_) = results(Request("compare", table, ("v",), groups=("r",), between=between), style)
    assert as_dict(sides) == wanted


def test_outliers_are_those_of_box_plots(make: Make, style: Style) -> None:
    (rows,) = results(make("outliers", columns=("revenue",)), style)
    assert [float(value) for value in rows["revenue"]] == [900.5]
    (counts,) = results(make("outliers"), style)
    assert as_dict(counts) == {"revenue": 1, "units": 0}


def test_gaps_and_duplicates_are_counted(make: Make, style: Style) -> None:
    gaps = sum(not row["revenue"] for row in ROWS)
    (missing,) = results(make("missing"), style)
    assert as_dict(missing)["revenue"] == gaps
    (rows,) = results(make("missing", columns=("revenue",)), style)
    assert len(rows) == gaps
    count, both = results(make("duplicates"), style)
    assert (int(count), len(both)) == (1, 2)
    count, _rows = results(make("duplicates", columns=("region",)), style)
    assert count == 121 - 3


def test_a_profile_and_the_columns(make: Make, style: Style) -> None:
    size, overview = results(make("profile"), style)
    gaps = sum(not row["revenue"] for row in ROWS)
    names = ("rows", "columns", "duplicate rows", "missing values")
    assert list(size.to_dict().items() if style.frames == "pandas" else size.rows()) == list(
        zip(names, [121, 5, 1, gaps], strict=True)
    )
    if style.frames == "pandas":
        assert overview.loc["revenue", "missing"] == gaps
        assert overview.loc["region", "distinct"] == 3
        assert list(overview.index) == list(ROWS[0])
    (columns,) = results(make("columns"), style)
    named = columns.index if style.frames == "pandas" else columns["column"]
    assert list(named) == list(ROWS[0])


def test_the_first_rows(make: Make, style: Style) -> None:
    (rows,) = results(make("preview", limit=4), style)
    assert list(rows["region"]) == [row["region"] for row in ROWS[:4]]
    (rows,) = results(make("preview", columns=("units", "region")), style)
    assert (list(rows.columns), len(rows)) == (["units", "region"], 10)


def test_spread_and_relation(make: Make, style: Style) -> None:
    facts, *_chart = results(make("distribution", columns=("units",)), style)
    facts = as_dict(facts)
    assert facts["mean"] == pytest.approx(statistics.fmean(known(ROWS, "units")))
    counts, *_chart = results(make("distribution", columns=("product",)), style)
    assert as_dict(counts) == Counter(row["product"] for row in ROWS)
    found, *_chart = results(make("relate", columns=("units", "revenue")), style)
    pairs = [row for row in ROWS if row["revenue"]]
    expected = statistics.correlation(known(pairs, "units"), known(pairs))
    assert found == pytest.approx(expected)
    assert len(results(make("relate"), style)) == 1


@pytest.mark.parametrize("gaps", ["keep", "drop", "fill"])
def test_cleaning_ends_in_a_table_and_a_file(
    make: Make, style: Style, gaps: str, tmp_path: Path
) -> None:
    request = make("clean", gaps=gaps)
    original = (tmp_path / "sales.csv").read_bytes()
    (shapes,) = results(request, style)
    rows = 120 if gaps != "drop" else 120 - sum(not row["revenue"] for row in ROWS)
    assert shapes == ((121, 5), (rows, 5))
    cleaned = list(csv.DictReader((tmp_path / request.output_file).read_text().splitlines()))
    assert len(cleaned) == rows
    assert all(row["revenue"] for row in cleaned) == (gaps != "keep")
    assert {row["units"] for row in cleaned} == {str(n) for n in range(11)}, "whole numbers"
    assert (tmp_path / "sales.csv").read_bytes() == original


def test_a_join_counts_those_without_a_match(make: Make, style: Style, tmp_path: Path) -> None:
    other = written(tmp_path / "people.csv", "region,boss\nNorth,Ann\nSouth,Bob\n")
    alone = sum(row["region"] == "West" for row in ROWS)
    request = make("join", columns=("region", "region"), other=other)
    found, shape = results(request, style)
    assert (found["left_only"] if style.frames == "pandas" else found) == alone
    assert shape == (121, 6)
    joined = list(csv.DictReader((tmp_path / "sales_people.csv").read_text().splitlines()))
    assert Counter(row["boss"] for row in joined)[""] == alone


def test_a_join_refuses_keys_that_repeat(make: Make, style: Style, tmp_path: Path) -> None:
    other = written(tmp_path / "people.csv", "region,boss\nNorth,Ann\nNorth,Bob\n")
    request = make("join", columns=("region", "region"), other=other)
    with pytest.raises(Exception, match=r"m:1|many-to-one"):
        Notebook().run(cells_for(request, style))


@pytest.mark.parametrize("target", ["units", "region"])
@pytest.mark.parametrize("packages", [EVERYTHING, frozenset({"pandas"})])
def test_a_model_is_scored_against_a_constant_guess(
    make: Make, target: str, packages: frozenset[str]
) -> None:
    sizes, scores = results(make("model", columns=(target,)), Style(packages=packages))
    assert [shape[0] for shape in sizes] == [90, 31] or [shape[0] for shape in sizes] == [91, 30]
    assert scores.name == ("mean absolute error" if target == "units" else "accuracy")
    assert len(scores) == 2
