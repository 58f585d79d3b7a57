"""What was understood, in one sentence: plans show it, users edit it, `canonical` reads it back."""

from __future__ import annotations

from ..request import Aggregate, Chart, Filter, Gaps, Operator, Request
from .tokens import code_span, code_spans, join_words, quote_value

AGGREGATES: dict[Aggregate, str] = {
    "sum": "sum", "mean": "mean", "median": "median", "min": "minimum", "max": "maximum",
    "std": "standard deviation", "share": "share",
}  # fmt: skip
DRAWN: dict[Chart, str] = {
    "histogram": "histogram", "box": "box plot", "scatter": "scatter plot", "bar": "bar chart",
    "line": "line chart", "pie": "pie chart",
}  # fmt: skip
GAPS: dict[Gaps, str] = {
    "keep": "keep missing values",
    "drop": "drop rows with missing values",
    "fill": "fill in missing values",
}
OPERATORS: dict[Operator, str] = {
    "=": "is", "!=": "is not", ">": "is above", ">=": "is at least", "<": "is below",
    "<=": "is at most", "contains": "contains", "in": "is one of", "between": "is between",
    "missing": "is missing", "known": "is known",
}  # fmt: skip


def sentence(request: Request) -> str:
    """Canonical, so that `parse_sentence` restores the same request."""
    table = code_span(request.table.path)
    match request.verb:
        case "profile":
            return f"profile {table}"
        case "clean":
            return f"clean {table}: {GAPS[request.gaps]}"
        case "join":
            assert request.other is not None
            on = " = ".join(dict.fromkeys(map(code_span, request.columns)))
            return f"join {table} with {code_span(request.other.path)} on {on}"
    where = listed_filters(request)
    return f"{_core(request)}{_by(request)} in {table}{where}{_order(request)}"


def _core(request: Request) -> str:
    of = f" of {code_spans(request.columns)}" if request.columns else ""
    match request.verb:
        case "columns":
            return "columns"
        case "preview":
            rows = f"first {request.limit} rows" if request.limit else "rows"
            return f"{rows}{of}"
        case "missing":
            return f"missing values{of}"
        case "duplicates":
            return f"duplicate values{of}" if of else "duplicate rows"
        case "outliers":
            return f"outliers{of}"
        case "distribution":
            return f"{DRAWN[request.chart] if request.chart else 'distribution'}{of}"
        case "relate":
            if request.chart:
                return f"{DRAWN[request.chart]}{of}"
            between = code_spans(request.columns) if request.columns else "all numbers"
            return f"relation between {between}"
        case "model":
            target, *others = request.columns
            features = f" from {code_spans(others)}" if others else ""
            return f"baseline model for {code_span(target)}{features}"
        case "compare":
            assert request.between is not None
            first, second = map(quote_value, request.between)
            return (
                f"comparison of the {measure(request)} between {first} and {second} "
                f"of {code_span(request.time or request.groups[0])}"
            )
    chart = f"{DRAWN[request.chart]} of the " if request.chart else ""
    return f"{chart}{measure(request)}"


def measure(request: Request) -> str:
    names = code_spans(request.columns) if request.columns else "rows"
    if request.aggregate == "count":
        return f"number of {names} values" if request.columns else "number of rows"
    if request.aggregate == "distinct":
        return f"number of different {names}"
    return f"{AGGREGATES[request.aggregate]} of {names}"


def _by(request: Request) -> str:
    groups = list(map(code_span, request.groups))
    if request.verb == "compare":
        groups = groups if request.time else groups[1:]
    elif request.period:
        groups.insert(0, f"{request.period} of {code_span(request.time)}")
    return f" by {join_words(groups)}" if groups else ""


def listed_filters(request: Request) -> str:
    if not request.filters:
        return ""
    return " where " + " and ".join(_filter(row_filter, request) for row_filter in request.filters)


def _filter(row_filter: Filter, request: Request) -> str:
    words = OPERATORS[row_filter.operator]
    column = request.table.column(row_filter.column)
    if row_filter.operator == "=" and column and column.kind == "date":
        words = "is in"
    values = list(map(quote_value, row_filter.values))
    joint = " and " if row_filter.operator == "between" else ", "
    return " ".join([code_span(row_filter.column), words, joint.join(values)]).rstrip()


def _order(request: Request) -> str:
    if request.verb == "preview":
        return ""
    if request.limit:
        best = f", {'bottom' if request.ascending else 'top'} {request.limit}"
        if not request.limit_per_group:
            return best
        return f"{best} of each {request.period or code_span(request.groups[0])}"
    return ", smallest first" if request.ascending else ""
