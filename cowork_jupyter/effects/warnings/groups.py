"""Groups: rows that are in none of them, and means of their means."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .case import Case, Found, counted, number, share, warning
from .conditions import column_of
from .values import Value, constant_of, texts_of

_GROUPS = {"groupby", "group_by", "pivot_table"}
_KEEPS_ROWS = {"transform", "cumsum", "cumcount", "rank", "ngroup", "shift", "ffill", "bfill"}


def group_warnings(case: Case) -> Iterator[Found]:
    for call in case.calls():
        grouped = _grouped_by(call)
        if grouped is None or _is_of_polars(case, grouped[0]):
            continue
        table, columns = grouped
        if "dropna" in call.keywords and call.keywords["dropna"].constant is False:
            continue
        answer = case.ask_rows("group", case.rows(table), columns, "")
        missing = number(answer, "missing") if answer else 0
        if answer is None or not missing or _keeps_rows(case, call):
            continue
        rows, names = number(answer, "rows"), " and ".join(columns)
        message = (
            f"{call.short} leaves out {counted(missing, 'row')} of {rows:,} "
            f"({share(missing, rows)}) without {names}."
        )
        advice = "Add dropna=False to keep them as a group of their own, or drop them on purpose."
        evidence = {"missing": missing, "rows": rows, "columns": list(columns)}
        of = case.of(table)
        yield warning(of, "group_dropped_rows", message, call.line, advice, evidence)


def _grouped_by(call: Value) -> tuple[Value, list[str]] | None:
    if call.op == "method" and call.base is not None and call.name == "groupby":
        columns = _columns(call.keyword("by", 0))
        return (call.base, columns) if columns else None
    if call.short == "pivot_table":
        table = call.base if call.op == "method" else call.args[0] if call.args else None
        both = [
            *(_columns(call.keyword("index")) or []),
            *(_columns(call.keyword("columns")) or []),
        ]
        return (table, both) if table is not None and both else None
    if call.name == "pandas.crosstab" and len(call.args) >= 2:
        first, second = column_of(call.args[0]), column_of(call.args[1])
        if first and second and first[0] is not None and first[0] is second[0]:
            return first[0], [first[1], second[1]]
    return None


def _columns(value: Value | None) -> list[str] | None:
    found = texts_of(value)
    if found is None and value is not None:
        column = column_of(value)
        return [column[1]] if column else None
    return found


def _is_of_polars(case: Case, table: Value) -> bool:
    state = case.state(table)
    return state is not None and not state.kind.startswith("pandas")


def _keeps_rows(case: Case, grouping: Value) -> bool:
    """Whether the result has a row for each row."""
    used = [call for call in case.calls() if any(link is grouping for link in call.chain())]
    return any(call.name in _KEEPS_ROWS for call in used)


def mean_warnings(case: Case) -> Iterator[Found]:
    for call in case.calls():
        outer = _averaged(call)
        if outer is None:
            continue
        inner = next((link for link in outer.chain() if _is_group_mean(link)), None)
        grouping = next((link for link in outer.chain() if link.short in _GROUPS), None)
        if inner is None or grouping is None or call is inner:
            continue
        between = [link.name for link in outer.chain() if link.op == "method"]
        if any(name in ("sum", "size", "count", "nunique") for name in between):
            continue
        if grouping.short == "pivot_table":
            table, columns = _grouped_by(grouping) or (None, None)
            values = texts_of(grouping.keyword("values"))
            measured = values[0] if values else None
        else:
            table, columns = grouping.base, _columns(grouping.keyword("by", 0))
            measured = _measured(call, grouping)
        if columns is None or table is None:
            continue
        rows = case.rows(table)
        answer = case.ask_rows("group", rows, columns, measured or "")
        if answer is None or number(answer, "smallest") == number(answer, "largest"):
            continue
        message = (
            f"This is a mean of means of {counted(number(answer, 'groups'), 'group')} with "
            f"{number(answer, 'smallest'):,} to {counted(number(answer, 'largest'), 'row')}."
        )
        mean, means = answer.get("mean"), answer.get("mean_of_means")
        if isinstance(mean, float) and isinstance(means, float):
            message += f" It is {means:,.5g}; the mean of all rows is {mean:,.5g}."
        advice = "Take the mean of all rows, or weight the groups by their size."
        of = case.of(table)
        yield warning(of, "mean_of_means", message, call.line, advice, dict(answer))


def _averaged(call: Value) -> Value | None:
    if call.op == "method" and call.name == "mean":
        return call.base
    if call.op == "method" and call.name in ("agg", "aggregate") and call.args:
        return call.base if constant_of(call.args[0]) == "mean" else None
    if call.name in ("numpy.mean", "numpy.average", "statistics.mean") and call.args:
        return call.args[0] if "weights" not in call.keywords else None
    return None


def _is_group_mean(value: Value) -> bool:
    if value.short == "pivot_table":
        return "aggfunc" not in value.keywords or constant_of(value.keywords["aggfunc"]) == "mean"
    if value.op != "method":
        return False
    grouped = any(link.name in ("groupby", "group_by") for link in value.chain())
    if value.name == "mean":
        return grouped
    if value.name in ("agg", "aggregate"):
        return grouped and '"mean"' in json.dumps(_texts_in(value))
    return False


def _texts_in(value: Value) -> list[str]:
    inner = [*value.args, *value.keywords.values()]
    return [
        found for inner_value in inner for part in inner_value.ancestry()
        if (found := part.text or (part.name if part.op == "method" else None))
    ]  # fmt: skip


def _measured(call: Value, grouping: Value) -> str | None:
    """The column whose mean it is, if it is named between the grouping and the mean."""
    outer = _averaged(call)
    for value in outer.chain() if outer is not None else ():
        if value is grouping:
            break
        if value.op == "index" and value.args[0].text:
            return value.args[0].text
        if value.op == "index" and (names := texts_of(value.args[0])) and len(names) == 1:
            return names[0]
        if value.op == "attribute" and column_of(value):
            return value.name
    return None
