"""What was understood, in one sentence: plans show it, users edit it, and it is read back."""

from __future__ import annotations

import re

from ..request import Aggregate, Chart, CleaningAction, Filter, Operator, Request
from .tokens import code_span, code_spans, join_words, quote_value

_AGGREGATES: dict[Aggregate, str] = {
    "sum": "sum", "mean": "mean", "median": "median", "min": "minimum", "max": "maximum",
    "std": "standard deviation", "share": "share",
}  # fmt: skip
_DRAWN: dict[Chart, str] = {
    "histogram": "histogram", "box": "box plot", "scatter": "scatter plot", "bar": "bar chart",
    "line": "line chart", "pie": "pie chart",
}  # fmt: skip
_OPERATORS: dict[Operator, str] = {
    "=": "is", "!=": "is not", ">": "is above", ">=": "is at least", "<": "is below",
    "<=": "is at most", "contains": "contains", "in": "is one of", "between": "is between",
    "missing": "is missing", "known": "is known",
}  # fmt: skip


def sentence(request: Request) -> str:
    """`read` restores the same request from it."""
    table, where = code_span(request.table.path), _listed_filters(request)
    match request.verb:
        case "profile":
            return f"profile {table}"
        case "clean":
            actions = "; ".join(map(_action, request.actions))
            return f"clean {table}: {actions}" if actions else f"clean {table}"
        case "join":
            assert request.other is not None
            on = " = ".join(dict.fromkeys(map(code_span, request.columns)))
            every = ", keeping every match" if request.keeps_matches else ""
            return f"join {table} with {code_span(request.other.path)} on {on}{every}"
        case "export":
            return f"save rows of {table} as {code_span(request.named_output)}{where}"
    dates = f", dates {request.date_order} first" if request.date_order else ""
    return f"{_core(request)}{_by(request)} in {table}{where}{_order(request)}{dates}"


def _core(request: Request) -> str:
    of = f" of {code_spans(request.columns)}" if request.columns else ""
    match request.verb:
        case "columns":
            return "columns"
        case "preview":
            if request.order_by:
                end = "lowest" if request.ascending else "highest"
                rows = "the row" if request.limit == 1 else f"{request.limit} rows"
                return f"{rows} with the {end} {code_span(request.order_by)}"
            if request.limit:
                return f"first {request.limit} rows"
            return "rows" if request.filters else "show the rows"
        case "missing":
            return f"missing values{of}"
        case "duplicates":
            return f"duplicate values{of}" if of else "duplicate rows"
        case "outliers":
            return f"outliers{of}"
        case "distribution":
            return f"{_DRAWN[request.chart] if request.chart else 'summary'}{of}"
        case "relate":
            if request.chart:
                return f"{_DRAWN[request.chart]}{of}"
            return f"relation between {code_spans(request.columns)}" if of else "correlations"
        case "model":
            target, *others = request.columns
            features = f" from {code_spans(others)}" if others else ""
            return f"baseline model for {code_span(target)}{features}"
        case "compare":
            assert request.between is not None
            first, second = map(str if request.time else quote_value, request.between)
            return (
                f"comparison of the {_measure(request)} between {first} and {second} "
                f"of {code_span(request.time or request.groups[0])}"
            )
    chart = f"{_DRAWN[request.chart]} of the " if request.chart else ""
    return f"{chart}{_measure(request)}"


def _measure(request: Request) -> str:
    names = code_spans(request.columns) if request.columns else "rows"
    if request.aggregate == "count":
        return "number of rows"
    if request.aggregate == "share" and request.columns:
        return f"share of the sum of {names}"
    if request.aggregate == "distinct":
        return f"number of different {names}"
    return f"{_AGGREGATES[request.aggregate]} of {names}"


def _by(request: Request) -> str:
    groups = list(map(code_span, request.groups))
    if request.verb == "compare":
        groups = groups if request.time else groups[1:]
    elif request.period:
        groups.insert(0, f"{request.period} of {code_span(request.time)}")
    return f" by {join_words(groups)}" if groups else ""


def _listed_filters(request: Request) -> str:
    if not request.filters:
        return ""
    return " where " + " and ".join(_filter(row_filter, request) for row_filter in request.filters)


def _filter(row_filter: Filter, request: Request) -> str:
    words = _OPERATORS[row_filter.operator]
    column = request.table.column(row_filter.column)
    if row_filter.operator == "=" and column and column.kind == "date":
        words = "is in"
    is_plain = column is not None and column.kind in ("date", "number")
    values = [value if is_plain else quote_value(value) for value in row_filter.values]
    joint = " and " if row_filter.operator == "between" else ", "
    return " ".join([code_span(row_filter.column), words, joint.join(values)]).rstrip()


def _action(action: CleaningAction) -> str:
    columns = code_spans(action.columns) if action.columns else ""
    match action.kind:
        case "drop duplicates":
            return f"remove duplicate rows by {columns}" if columns else "remove duplicate rows"
        case "drop empty":
            return "remove empty rows and columns"
        case "drop missing":
            either = [code_span(name) for name in action.columns] or ["values"]
            return f"remove rows with missing {join_words(either, 'or')}"
        case "fill":
            return f"fill missing {columns} with {_filling(action)}"
        case "trim":
            return f"trim spaces in {columns}"
        case "unify":
            return f"unify the spelling of {columns}"


def _filling(action: CleaningAction) -> str:
    if action.fill:
        return action.fill if action.fill == "zero" else f"the {action.fill} value"
    is_number = re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", action.value) is not None
    return action.value if is_number else quote_value(action.value)


def _order(request: Request) -> str:
    if request.verb == "preview":
        return ""
    if request.limit:
        best = f", {'bottom' if request.ascending else 'top'} {request.limit}"
        if not request.limit_per_group:
            return best
        return f"{best} of each {request.period or code_span(request.groups[0])}"
    return ", smallest first" if request.ascending else ""


def step_title(request: Request) -> str:
    words = sentence(request)
    return words[:1].upper() + words[1:]
