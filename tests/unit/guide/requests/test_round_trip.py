"""A sentence of a plan is read back as the request that it states, whatever is in its names."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.guide.request import Aggregate, Filter, Period, Request
from cowork_jupyter.guide.tables import ColumnFacts, Table
from cowork_jupyter.guide.understanding import sentence, understand
from cowork_jupyter.guide.understanding.understand import step_title

from .workspaces import SALES

text = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=12
).map(lambda value: " ".join(value.split()))
name = text.filter(bool) | st.sampled_from(
    ["a`b", "``", "in", "where `x`", 'say "hi"', "top 5", "a, b", "by month of", "`", "sum of"]
)
span = st.sampled_from(["2024", "2023-Q4", "2024-03", "2024-03-05"])


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = draw(st.lists(name, min_size=3, max_size=6, unique=True))
    columns = [
        ColumnFacts(names[0], "date"),
        ColumnFacts(names[1], "number"),
        *(ColumnFacts(one, "text") for one in names[2:]),
    ]
    path = draw(name.map(lambda one: f"{one}.csv"))
    return Table(path, ",", tuple(columns), has_header=True, first_line=1)


@st.composite
def filters(draw: st.DrawFn, table: Table) -> Filter:
    column = draw(st.sampled_from(table.names[1:]))
    values = st.lists(text.filter(bool), min_size=1, max_size=3)
    match draw(st.sampled_from(["one", "in", "between", "none", "date"])):
        case "one":
            operator: Any = draw(st.sampled_from(["=", "!=", ">", ">=", "<", "<=", "contains"]))
            return Filter(column, operator, (draw(text.filter(bool)),))
        case "in":
            return Filter(column, "in", tuple(draw(values)))
        case "between":
            return Filter(column, "between", (draw(text.filter(bool)), draw(text.filter(bool))))
        case "none":
            return Filter(column, draw(st.sampled_from(["missing", "known"])))
    return Filter(table.names[0], "=", (draw(span),))


@st.composite
def requests(draw: st.DrawFn) -> Request:
    table = draw(tables())
    columns = tuple(draw(st.lists(st.sampled_from(table.names), max_size=3, unique=True)))
    groups = tuple(draw(st.lists(st.sampled_from(table.names), max_size=2, unique=True)))
    kept = tuple(draw(st.lists(filters(table), max_size=2)))
    dates = [one.column for one in kept if one.column == table.names[0]]
    fields: dict[str, Any] = {"filters": kept, "time": dates[0] if dates else ""}
    verb = draw(st.sampled_from(["aggregate", "compare", "look", "draw", "whole"]))
    if verb == "whole":
        gaps: Any = draw(st.sampled_from(["keep", "drop", "fill"]))
        return draw(
            st.sampled_from(
                [
                    Request("profile", table),
                    Request("clean", table, gaps=gaps),
                    Request("join", table, (table.names[0], table.names[1]), other=table),
                ]
            )
        )
    if verb == "look":
        kind: Any = draw(
            st.sampled_from(["columns", "preview", "missing", "duplicates", "outliers"])
        )
        shown = () if kind == "columns" else columns
        limit = draw(st.integers(0, 50)) if kind == "preview" else 0
        return Request(kind, table, shown, limit=limit, **fields)
    if verb == "draw":
        chosen = columns or (table.names[1],)
        chart: Any = draw(st.sampled_from(["histogram", "box", None, "scatter"]))
        kind = "relate" if chart == "scatter" else "distribution"
        return Request(kind, table, chosen, chart=chart, groups=groups, **fields)
    aggregate = draw(st.sampled_from(get_args(Aggregate)))
    measured = columns if columns or aggregate in ("count", "share") else (table.names[1],)
    fields |= {"columns": measured, "aggregate": aggregate}
    if verb == "compare":
        first = draw(span)
        fields |= {"time": table.names[0], "between": (first, first)}
        shape = {4: "year", 7: "month", 10: "day"}[len(first)]
        period: Any = "quarter" if "Q" in first else shape
        return Request("compare", table, groups=groups, period=period, **fields)
    period = draw(st.none() | st.sampled_from(get_args(Period)))
    time = {"time": table.names[0]} if period else {}
    limit = draw(st.integers(0, 20))
    return Request(
        "aggregate",
        table,
        groups=groups,
        period=period,
        limit=limit,
        limit_per_group=bool(limit and (groups or period)) and draw(st.booleans()),
        ascending=draw(st.booleans()),
        chart=draw(st.sampled_from(["bar", "line", "pie", None])),
        **(fields | time),
    )


@given(requests())
def test_a_sentence_is_read_back_as_the_request_it_states(request: Request) -> None:
    tables = [request.table]
    assert understand(sentence(request), tables).requests == (request,)
    assert understand(step_title(request), tables).requests == (request,)


def test_two_values_of_a_group_are_compared_too() -> None:
    request = Request(
        "compare", SALES, ("units",), groups=("region", "product"), between=("north", "south")
    )
    words = sentence(request)
    assert "between north and south of `region` by `product`" in words
    assert understand(words, [SALES]).requests == (request,)


@pytest.mark.parametrize(
    ("edited", "meant"),
    [
        ("Median of `price` by `region` in `data/sales.csv`", "median of `price` by `region`"),
        ("Mean of price by region in data/sales.csv", "mean of `price` by `region`"),
        ("Bar chart of the sum of `units` by `product`", "bar chart of the sum of `units` by"),
        ("Sum of `units` in `data/sales.csv` where region is south", "where `region` is south"),
    ],
)
def test_a_sentence_that_the_user_has_edited_means_what_it_says(edited: str, meant: str) -> None:
    (request,) = understand(edited, [SALES]).requests
    assert meant in sentence(request)


def test_an_edited_name_that_is_not_there_is_not_replaced_by_another() -> None:
    found = understand("Mean of `profit` by `region` in `data/sales.csv`", [SALES])
    assert found.requests == ()
    assert "profit" in found.unclear
    assert [one.columns for one in found.alternatives]
