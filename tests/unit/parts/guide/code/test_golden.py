"""Every kind of request, carried out on a few rows whose results are reckoned by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from cowork_jupyter.parts.guide.code import Choices, Style, cells_for, features
from cowork_jupyter.parts.guide.request import CleaningAction, Filter, Request
from cowork_jupyter.parts.guide.tables import ColumnFacts, Table

from ..desk import known
from .notebook import Notebook, results, written

SALES = """day,region,product,units,price
2024-01-05,north,tea,1,10
2024-01-20,South,tea,2,
2024-02-05,North ,coffee,3,30
2024-02-06,South,tea,4,20
2024-03-05,West,coffee,5,40
2024-03-05,West,coffee,5,40
2024-04-01,West,coffee,5,900
"""
TABLE = known("sales.csv", SALES)
PRICE, REGION, BOTH = ("price",), ("region",), ("region", "product")
UNITS = ("units",)
BY_DAY: dict[str, Any] = {"columns": PRICE, "time": "day"}
BY_REGION: dict[str, Any] = {"columns": PRICE, "groups": REGION}
SHARE: dict[str, Any] = {"aggregate": "share"}
BEST_OF_EACH: dict[str, Any] = {"limit": 1, "limit_per_group": True}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written("sales.csv", SALES)


CASES: list[tuple[str, dict[str, Any], Any]] = [
    ("aggregate", {"columns": PRICE}, 1040),
    ("aggregate", {"columns": REGION, "aggregate": "distinct"}, 3),
    ("aggregate", {"aggregate": "count"}, 7),
    ("aggregate", BY_REGION, {"West": 980, "North": 40, "South": 20}),
    ("aggregate", BY_REGION | {"limit": 2, "ascending": True}, {"South": 20, "North": 40}),
    ("aggregate", SHARE | {"groups": ("product",)}, {"coffee": 4 / 7, "tea": 3 / 7}),
    ("aggregate", BY_REGION | SHARE, {"West": 49 / 52, "North": 2 / 52, "South": 1 / 52}),
    ("aggregate", {"columns": UNITS, "groups": BOTH}, {"coffee": [3, 0, 15], "tea": [1, 6, 0]}),
    ("aggregate", {"columns": PRICE, "groups": ("product", "day")} | BEST_OF_EACH, [900, 20]),
    ("aggregate", BY_DAY | {"period": "month", "chart": "line"}, [10, 50, 80, 900]),
    ("aggregate", BY_DAY | {"period": "quarter", "chart": "bar"}, [140, 900]),
    ("aggregate", BY_DAY | {"period": "weekday", "chart": "bar"}, [930, 100, None, None, 10, 0]),
    ("compare", BY_DAY | {"between": ("2024-01", "2024-03")}, [10, 80, 70]),
    ("compare", BY_REGION | {"between": ("north", "south")}, [40, 20, -20]),
    ("compare", BY_REGION | {"groups": UNITS, "between": ("5", "4")}, [980, 20, -960]),
    ("outliers", {"columns": PRICE}, {"price": [900]}),
    ("outliers", {}, {"price": 1, "units": 0}),
    ("missing", {}, {"price": 1}),
    ("missing", {"columns": PRICE}, {"units": [2]}),
    ("duplicates", {}, 1),
    ("profile", {}, [7, 5, 1, 1]),
    ("preview", {"limit": 2}, {"units": [1, 2]}),
    ("preview", {"limit": 2, "order_by": "price"}, {"price": [900, 40]}),
    ("distribution", {"columns": PRICE, "groups": REGION, "chart": "box"}, {"count": [2, 1, 3]}),
    ("distribution", {"columns": PRICE}, [6, 1040 / 6]),
    ("relate", {"columns": ("units", "units"), "chart": "scatter"}, 1),
    ("relate", {}, {"units": [1, 0.3832]}),
]


@pytest.mark.parametrize(("verb", "fields", "wanted"), CASES)
def test_requests_are_answered(verb: Any, fields: dict[str, Any], wanted: Any) -> None:
    shown = results(Request(verb, TABLE, **fields))[0]
    if isinstance(wanted, dict) and isinstance(shown, pd.DataFrame):
        shown = {name: shown[name].to_list() for name in wanted}
        assert shown == {name: pytest.approx(values, rel=1e-3) for name, values in wanted.items()}
    elif isinstance(wanted, dict):
        assert shown.to_dict() == pytest.approx(wanted)
        assert list(shown.index) == list(wanted), "in their order"
    elif isinstance(wanted, list):
        values = [None if pd.isna(value) else value for value in shown]
        assert values[: len(wanted)] == pytest.approx(wanted)
    else:
        assert shown == pytest.approx(wanted)


FILTERS: list[tuple[Filter, list[int]]] = [
    (Filter("region", "=", ("North",)), [1, 3]),
    (Filter("region", "!=", ("north", "West")), [2, 4]),
    (Filter("region", "in", ("South", "West")), [2, 4, 5, 5, 5]),
    (Filter("product", "contains", ("EA",)), [1, 2, 4]),
    (Filter("units", "between", ("2", "4")), [2, 3, 4]),
    (Filter("price", "missing"), [2]),
    (Filter("price", "known"), [1, 3, 4, 5, 5, 5]),
    (Filter("day", "=", ("2024-02",)), [3, 4]),
    (Filter("day", "=", ("2024-Q1",)), [1, 2, 3, 4, 5, 5]),
    (Filter("day", "<", ("2024-02-05",)), [1, 2]),
    (Filter("day", "in", ("2024-01", "2024-04")), [1, 2, 5]),
    (Filter("day", "between", ("2024-02", "2024-03-04")), [3, 4]),
    (Filter("day", "in", ("2024-01", "2024-04-01")), [1, 2, 5]),
]


@pytest.mark.parametrize(("one", "units"), FILTERS)
def test_filters_keep_matching_rows(one: Filter, units: list[int]) -> None:
    (rows,) = results(Request("preview", TABLE, filters=(one,)))
    assert list(rows["units"]) == units
    assert set(rows["region"]) <= {"north", "North ", "South", "West"}, "shown as they are"
    both = (one, Filter("units", ">", ("2",)))
    assert results(Request("aggregate", TABLE, aggregate="count", filters=both)) == [
        sum(unit > 2 for unit in units)
    ]


MESSY = """id,name,town,age,joined
1, Ann,rome,30,2024-01-02
2,Bob ,Rome,,
2,Bob ,Rome,,
3,,rome,40,
"""
NAMES = [" Ann", "Bob ", "Bob "]
CLEANED: list[tuple[CleaningAction, str, list[Any]]] = [
    (CleaningAction("drop duplicates"), "id", [1, 2, 3]),
    (CleaningAction("drop duplicates", ("town",)), "id", [1, 2]),
    (CleaningAction("drop empty"), "id", [1, 2, 2, 3]),
    (CleaningAction("drop missing", ("age",)), "id", [1, 3]),
    (CleaningAction("drop missing"), "id", [1]),
    (CleaningAction("fill", ("age",), "median"), "age", [30, 35, 35, 40]),
    (CleaningAction("fill", ("age",), "previous"), "age", [30, 30, 30, 40]),
    (CleaningAction("fill", ("age",), value="7"), "age", [30, 7, 7, 40]),
    (CleaningAction("fill", ("name",), "most frequent"), "name", [*NAMES, "Bob "]),
    (CleaningAction("fill", ("name",), value="it's"), "name", [*NAMES, "it's"]),
    (CleaningAction("fill", ("joined",), value="2024-01-02"), "joined", ["2024-01-02"] * 4),
    (CleaningAction("trim", ("name",)), "name", ["Ann", "Bob", "Bob", None]),
    (CleaningAction("unify", ("town",)), "town", ["Rome"] * 4),
]


@pytest.mark.parametrize(("action", "changed", "values"), CLEANED)
def test_cleaning_changes_only_what_was_asked(
    action: CleaningAction, changed: str, values: list[Any]
) -> None:
    request = Request("clean", written("crew.csv", MESSY), actions=(action,))
    shapes, *_rest = results(request)
    before, after = pd.read_csv("crew.csv"), pd.read_csv("crew_clean.csv")
    assert shapes == (before.shape, after.shape)
    assert Path("crew.csv").read_text() == MESSY
    assert list(after[changed].astype(object).where(after[changed].notna(), None)) == values
    if len(after) == len(before):
        others = before.columns.drop(changed)
        pd.testing.assert_frame_equal(after[others], before[others], check_dtype=False)


def test_cleaning_shows_what_has_changed() -> None:
    actions = (CleaningAction("fill", ("age",), "mean"), CleaningAction("unify", ("town",)))
    table = written("t_clean.csv", MESSY)
    request = Request("clean", table, actions=actions)
    _shapes, gaps, texts = results(request)
    assert gaps.loc["age"].to_list() == [2, 0]
    assert texts.loc["town"].to_list() == [2, 1]
    assert request.output_file == "t_clean_2.csv", "not `t_clean_clean`"


PEOPLE = "region,boss\nSouth,Ann\nWest,Bob\n"


def test_join_validates_keys_unless_decided_otherwise() -> None:
    other = written("people.csv", PEOPLE)
    (counts,) = results(Request("join", TABLE, ("region", "region"), other=other))
    assert list(counts) == [7, 7, 2]
    assert pd.read_csv("sales_people.csv")["boss"].isna().sum() == 2
    twice = written("twice.csv", f"{PEOPLE}West,Eve\n")
    request = Request("join", TABLE, ("region", "region"), other=twice)
    with pytest.raises(ValueError, match="many-to-one"):
        Notebook().run(cells_for(request, Style()))
    (counts,) = Notebook().run(cells_for(request, Style(), Choices(repeated_keys=True)))
    assert list(counts) == [7, 10, 2]
    with pytest.raises(ValueError, match="merge on"):
        results(Request("join", TABLE, ("units", "region"), other=other))


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet", "out.json"])
def test_rows_are_exported(name: str) -> None:
    west = (Filter("region", "=", ("West",)),)
    assert results(Request("export", TABLE, filters=west, named_output=name)) == [(3, 5)]
    readers = {"csv": pd.read_csv, "tsv": pd.read_table, "json": pd.read_json}
    assert list(readers.get(name[4:], pd.read_parquet)(name)["price"]) == [40, 40, 900]


@pytest.mark.parametrize("target", ["n", "region"])
def test_a_model_is_scored_against_a_constant_guess(target: str) -> None:
    rows = "".join(f"{n},{n % 7},{'NSW'[n % 3]}\n" for n in range(40))
    table = written("t.csv", f"id,n,region\n{rows}")
    sizes, scores = results(Request("model", table, (target,)))
    assert sizes == ((30, 3 if target == "n" else 1), (10, 3 if target == "n" else 1))
    assert scores.name == ("mean absolute error" if target == "n" else "accuracy")
    assert len(scores) == 2


def test_ids_are_no_features() -> None:
    lines = "".join(f"{n},{n},{n}X,{n % 2}{n},p{n % 2},{n * 2},{n % 5}\n" for n in range(9))
    table = written("t.csv", f"id,customerId,name,zip,plan,paid,price\n{lines}")
    assert features(Request("model", table, ("price",))) == ["plan", "paid"]


_FRAME: dict[str, Any] = {"columns": ("v",)}
_TIDY = (CleaningAction("fill", ("v",), "zero"), CleaningAction("unify", ("r",)))


@pytest.mark.parametrize(
    ("verb", "fields", "wanted"),
    [
        ("aggregate", _FRAME | {"time": "day", "period": "month"}, [1, 6]),
        ("aggregate", _FRAME | {"groups": ("r",)}, [7]),
        ("distribution", _FRAME | {"groups": ("r",), "chart": "box"}, None),
        ("clean", {"actions": _TIDY}, None),
        ("export", {"named_output": "out.csv"}, None),
        ("join", {"columns": ("v", "v")}, None),
    ],
)
def test_kernel_tables_stay_unchanged(verb: Any, fields: Any, wanted: Any) -> None:
    frame = pd.DataFrame({"day": pd.to_datetime(["2024-01-05", "2024-02-05"]), "r": ["a ", "A"]})
    frame = pd.concat([frame, frame]).assign(v=[1, 2, None, 4])
    text = ColumnFacts("r", "text", distinct=2, values=("a", "A"), padded=True)
    columns = (ColumnFacts("day", "date", "%Y-%m-%d"), text, ColumnFacts("v", "number"))
    table = Table("df", "", columns, has_header=True, first_line=1, is_variable=True)
    request = Request(verb, table, other=table if verb == "join" else None, **fields)
    before, style = frame.copy(), Style(used_names=frozenset({"df"}))
    cells = cells_for(request, style, Choices(repeated_keys=True))
    shown = Notebook(df=frame).run(cells)
    assert "read_csv" not in cells[0].source
    assert wanted is None or list(shown[0]) == wanted
    pd.testing.assert_frame_equal(frame, before)
