"""A sentence of a plan is read back as the request that it states, whatever is in its names."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.parts.guide.reading import read, sentence, step_title
from cowork_jupyter.parts.guide.request import Aggregate, CleaningAction, Filter, Operator, Request
from cowork_jupyter.parts.guide.tables import ColumnFacts, Table

from .workspaces import SALES

text = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=12
).map(lambda value: " ".join(value.split()))
name = text.filter(bool) | st.sampled_from(
    ["a`b", "``", "in", "where `x`", 'say "hi"', "top 5", "a, b", "by month of", "`", "sum of"]
)
span = st.sampled_from(["2024", "2023-Q4", "2024-03", "2024-03-05"])
AGGREGATES: list[Aggregate] = ["sum", "mean", "median", "min", "max", "std", "share", "count"]
BEYOND: list[Operator] = [">", ">=", "<", "<="]
PERIODS = ["day", "week", "month", "quarter", "year", "weekday", "hour"]


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = draw(st.lists(name, min_size=5, max_size=6, unique_by=str.casefold))
    kinds: list[Any] = ["date", "number", "number", *["text"] * 3]
    columns = [ColumnFacts(one, kind) for one, kind in zip(names, kinds, strict=False)]
    path = draw(name.map(lambda one: f"{one}.csv"))
    return Table(path, ",", tuple(columns), has_header=True, first_line=1)


@st.composite
def filters(draw: st.DrawFn, table: Table) -> Filter:
    date, number, texts = table.names[0], table.names[1], table.names[3:]
    column, one, two = draw(st.sampled_from(texts)), draw(name), draw(text.filter(bool))
    low, high = (str(draw(st.integers(0, 10_000))) for _ in range(2))
    day, beyond = draw(span), draw(st.sampled_from(BEYOND))
    made = [
        Filter(column, "=", (one,)),
        Filter(column, "!=", (two,)),
        Filter(column, "contains", (two,)),
        Filter(column, "in", tuple(dict.fromkeys([one, two, "other", "last"]))),
        Filter(column, "missing"),
        Filter(column, "known"),
        Filter(number, "between", (low, high)),
        Filter(number, beyond, (low,)),
        Filter(date, beyond, (day,)),
        Filter(date, "=", (day,)),
    ]
    return draw(st.sampled_from(made))


@st.composite
def requests(draw: st.DrawFn) -> Request:
    table = draw(tables())
    date, first, second, *texts = table.names
    kept = tuple(draw(st.lists(filters(table), max_size=2, unique=True)))
    timed = any(one.column == date for one in kept)
    fields: dict[str, Any] = {"filters": kept, "time": date if timed else ""}
    groups = tuple(draw(st.lists(st.sampled_from(texts), max_size=2, unique=True)))
    columns = tuple(draw(st.lists(st.sampled_from(table.names), max_size=3, unique=True)))
    wanted = tuple(draw(st.lists(actions(table), min_size=1, max_size=4)))
    chart: Any = draw(st.sampled_from(["histogram", "box"]))
    ranked: dict[str, Any] = {"limit": draw(st.integers(1, 20)), "ascending": draw(st.booleans())}
    made = [
        Request("missing", table, columns, **fields),
        Request("duplicates", table, columns, **fields),
        Request("distribution", table, (first,), groups=groups[:1], chart=chart, **fields),
        Request("clean", table, actions=wanted),
        Request("preview", table, order_by=first, **ranked, **fields),
        Request("profile", table),
        Request("columns", table),
        Request("outliers", table, (first,), **fields),
        Request("relate", table, (first, second), **fields),
        Request("model", table, (first, *groups)),
        Request("export", table, named_output="kept rows.csv", **fields),
        draw(compared(table, groups)),
        *[draw(aggregated(table, groups, fields))] * 8,
    ]
    return draw(st.sampled_from(made))


@st.composite
def compared(draw: st.DrawFn, table: Table, groups: tuple[str, ...]) -> Request:
    date, first, *_ = table.names
    side = draw(span)
    shape = {4: "year", 7: "month", 10: "day"}[len(side)]
    period: Any = "quarter" if "Q" in side else shape
    return Request("compare", table, (first,), "sum", groups, date, period, between=(side, side))


@st.composite
def aggregated(
    draw: st.DrawFn, table: Table, groups: tuple[str, ...], fields: dict[str, Any]
) -> Request:
    period = draw(st.none() | st.sampled_from(PERIODS))
    is_grouped = bool(groups or period)
    is_one = len(groups) + bool(period) == 1
    aggregate = draw(st.sampled_from([one for one in AGGREGATES if is_one or one != "share"]))
    columns = () if aggregate == "count" else (table.names[1],)
    if not is_grouped:
        return Request("aggregate", table, columns, aggregate, **fields)
    limit = draw(st.integers(0, 20)) if aggregate != "share" else 0
    more = fields | {"time": table.names[0] if period else fields["time"], "period": period}
    more |= {"limit": limit, "ascending": bool(limit) and draw(st.booleans())}
    chart: Any = draw(st.sampled_from(["bar", "line", "pie", None]))
    return Request("aggregate", table, columns, aggregate, groups, chart=chart, **more)


@st.composite
def actions(draw: st.DrawFn, table: Table) -> CleaningAction:
    number, word = (table.names[1],), (table.names[3],)
    made = [
        CleaningAction("drop duplicates"),
        CleaningAction("drop duplicates", word),
        CleaningAction("drop empty"),
        CleaningAction("drop missing"),
        CleaningAction("drop missing", (*number, *word)),
        CleaningAction("fill", number, "median"),
        CleaningAction("fill", number, "zero"),
        CleaningAction("fill", word, "most frequent"),
        CleaningAction("fill", number, value="12.5"),
        CleaningAction("fill", word, value="not known"),
        CleaningAction("trim", word),
        CleaningAction("unify", word),
    ]
    return draw(st.sampled_from(made))


@given(requests())
def test_sentence_round_trips(request: Request) -> None:
    for words in (sentence(request), step_title(request)):
        assert read(words, [request.table]).requests == (request,), words


def test_join_sentence_round_trips() -> None:
    left = Table("a.csv", ",", (ColumnFacts("on", "text"), ColumnFacts("x`y", "text")), True, 1)
    right = Table("b.csv", ",", (ColumnFacts("on", "text"), ColumnFacts("=", "text")), True, 1)
    for keys in (("on", "on"), ("x`y", "=")):
        for keeps in (False, True):
            request = Request("join", left, keys, other=right, keeps_matches=keeps)
            found = read(sentence(request), [left, right])
            assert found.join
            assert found.join.request == request


def test_comparison_of_values_round_trips() -> None:
    groups = ("region", "product")
    request = Request("compare", SALES, ("units",), groups=groups, between=("north", "south"))
    assert read(sentence(request), [SALES]).requests == (request,)


def test_unknown_edited_column_is_not_replaced() -> None:
    found = read("Mean of `profit` by `region` in `data/sales.csv`", [SALES])
    assert [one.columns for each in found.nearest for one in each]
