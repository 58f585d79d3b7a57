"""Dates whose day may be their month, and numbers that were read as text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from ...domain.plurals import count_of
from ...effects.data_linter import TableWarning
from ...tools.kernel.inside.columns import column_facts, text_facts
from .analysis_context import AnalysisContext, number, warning
from .values import Value, constant_of, table_column, texts_of

Facts = Mapping[str, JsonValue]
_IDENTIFIES = re.compile(
    r"(?:^|_)(?:id|key|code|nr|no|zip|plz|postal|phone|tel|sku|isbn|version|iban)"
    r"|(?:nr|nummer|number)$",
    re.IGNORECASE,
)
_CALCULATES = {
    "sum", "mean", "median", "max", "min", "std", "cumsum", "nlargest", "nsmallest", "quantile",
    "idxmax", "idxmin", "diff", "rank", "sort_values", "agg", "prod",
}  # fmt: skip
_OF_NUMBERS = {"corr", "select_dtypes"}
_READS = {"read_csv", "read_table", "read_excel"}
_MOSTLY = 0.8


def date_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    for call in case.calls():
        if call.short == "to_datetime" and call.args:
            if column := table_column(call.args[0]):
                yield from _dates(case, call, *column)
        elif call.short in ("read_csv", "read_excel", "read_table"):
            for name in texts_of(call.keyword("parse_dates")) or []:
                yield from _dates(case, call, call, name)


def _dates(case: AnalysisContext, call: Value, table: Value, column: str) -> Iterator[TableWarning]:
    first, form = call.keyword("dayfirst"), call.keyword("format") or call.keyword("date_format")
    facts = _text_facts(case, table, column)
    days = _days_after(case, table, column) if facts is None else None
    layout = form.text if form is not None else None
    if first is not None or (form is not None and layout is None):
        return
    coerced = (errors := call.keyword("errors")) is not None and errors.text == "coerce"
    if facts is not None:
        both, day, month = (number(facts, key) for key in ("ambiguous", "day_first", "month_first"))
        if both + day + month < _MOSTLY * number(facts, "of"):
            return
        mixed = layout == "mixed" or coerced
        unclear = layout is None and both and not day and not month
        swapped = (layout is None or layout == "mixed") and both and day and mixed
        wrong = layout not in (None, "mixed") and _disagrees(layout or "", day, month)
        if unclear or swapped or wrong:
            yield _swapped(case, call, table, column, both, day)
    elif layout is None and days is not None:
        rows = number(days, "rows")
        spread = number(days, "days") >= 4 and number(days, "months") >= 3
        if rows >= 8 and number(days, "last_day") <= 12 and spread:
            message = (
                f"All {count_of(rows, 'date')} of {column} fall on days 1 to 12 of a month, "
                "so day and month may be swapped."
            )
            advice = "Give format= or dayfirst=, and compare a few dates with their source."
            of = case.of(table)
            yield warning(of, "dates_ambiguous", message, call.line, advice, dict(days))


def _disagrees(layout: str, day: int, month: int) -> bool:
    day_first = layout.find("%d") < layout.find("%m")
    if layout.startswith("%Y"):
        return False
    return bool(month if day_first else day)


def _swapped(
    case: AnalysisContext, call: Value, table: Value, column: str, both: int, day: int
) -> TableWarning:
    message = f"{count_of(both, 'date')} of {column} can be read with day and month swapped."
    if day:
        message += f" {count_of(day, 'other')} can only be day first."
    advice = 'Give the format, such as format="%d/%m/%Y", or dayfirst=True.'
    evidence = {"ambiguous": both, "day_first": day, "column": column}
    return warning(case.of(table), "dates_ambiguous", message, call.line, advice, evidence)


def _text_facts(case: AnalysisContext, table: Value, column: str) -> Facts | None:
    """About the strings before they became dates: in the kernel, in the code, or in the file."""
    rows = case.rows(table)
    answer = case.ask_rows("texts", rows, [column])
    facts = dict(_by_column(answer)).get(column)
    if facts is not None:
        return facts
    for link in table.chain():
        if link.short == "DataFrame" and link.args and link.args[0].op == "dict":
            held = constant_of(link.args[0])
            values = held.get(column) if isinstance(held, dict) else None
            return text_facts(values) if isinstance(values, list) else None
        if link.short in ("read_csv", "read_table"):
            literal = link.keyword("filepath_or_buffer", 0)
            if literal is not None and literal.short == "StringIO" and literal.args:
                text = literal.args[0].text
                return column_facts(text.splitlines(), [column]).get(column) if text else None
            path = _path(case, link.keyword("filepath_or_buffer", 0))
            if path is not None:
                answer = case.ask("file", json.dumps(path), json.dumps([column]))
                return dict(_by_column(answer)).get(column)
    return None


def _days_after(case: AnalysisContext, table: Value, column: str) -> Facts | None:
    for name, value in case.program.final.items():
        if any(link is table for link in value.chain()):
            rows = case.rows(value)
            if rows is not None and rows.table == name:
                return case.ask_rows("days", rows, column)
    return None


def _path(case: AnalysisContext, value: Value | None) -> list[JsonValue] | None:
    if value is None:
        return None
    if value.text is not None:
        return [value.text]
    joined = value.op == "operator" and value.name == "Div"
    if joined or value.name in ("os.path.join", "posixpath.join"):
        parts = [_path(case, arg) for arg in value.args]
        known = [part for piece in parts if piece is not None for part in piece]
        return known if None not in parts else None
    if value.short == "Path" and len(value.args) == 1 and value.args[0].text is not None:
        return [value.args[0].text]
    name = case.locator.name(value)
    return [[name]] if name is not None else None


def number_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    """Numbers that were read as text, and text that is calculated with as if it were numbers."""
    reported: set[tuple[str, str]] = set()
    for of, about in _read_as_text(case):
        reported.add((of, str(about.evidence["column"])))
        yield of, about
    for call in case.values():
        for table, columns in _calculated(call):
            rows = case.rows(table)
            of = case.of(table)
            for column, facts in _by_column(case.ask_rows("texts", rows, columns)):
                if (of, column) not in reported and _are_numbers(column, facts):
                    reported.add((of, column))
                    yield _as_text(of, call, column, facts)


def _read_as_text(case: AnalysisContext) -> Iterator[TableWarning]:
    """Columns of a file that hold nothing but numbers, none of which pandas could parse.

    Where some values are not numbers, the user may mean to handle them next.
    """
    for name, value in case.program.final.items():
        call = next((link for link in value.chain() if link.short in _READS), None)
        if call is None or call.line is None or {"dtype", "converters"} & call.keywords.keys():
            continue
        rows = case.rows(value)
        if rows is None or rows.table != name:
            continue
        for column, facts in _by_column(case.ask_rows("texts", rows, None)):
            if facts["numbers"] == facts["of"] and _are_numbers(column, facts):
                yield _as_text(name, call, column, facts)


def _by_column(answer: Facts | None) -> Iterator[tuple[str, Facts]]:
    columns = answer.get("columns") if answer else None
    for column, facts in columns.items() if isinstance(columns, dict) else ():
        if isinstance(facts, dict):
            yield column, facts


def _calculated(call: Value) -> Iterator[tuple[Value, list[str] | None]]:
    if call.op == "compare" and call.name in ("<", "<=", ">", ">="):
        for arg, other in zip(call.args, call.args[::-1], strict=True):
            column = table_column(arg)
            if column is not None and other.text is not None:
                yield column[0], [column[1]]
    if call.op != "method" or call.base is None:
        return
    if call.name == "sort_values":
        columns = texts_of(call.keyword("by", 0))
        if columns is not None:
            yield call.base, columns
            return
    if call.name in _OF_NUMBERS or call.is_true("numeric_only"):
        yield call.base, None
    if call.name in _CALCULATES and (column := table_column(call.base)):
        grouped = next((link for link in column[0].chain() if link.name == "groupby"), None)
        table = grouped.base if grouped is not None else column[0]
        if table is not None:
            yield table, [column[1]]
    if call.name == "pivot_table" and (values := texts_of(call.keyword("values"))):
        yield call.base, values


def _are_numbers(column: str, facts: Facts) -> bool:
    of, numbers = number(facts, "of"), number(facts, "numbers")
    return of >= 3 and numbers >= _MOSTLY * of and not _IDENTIFIES.search(column)


def _as_text(of: str, call: Value, column: str, facts: Facts) -> TableWarning:
    numbers, texts = number(facts, "numbers"), number(facts, "of")
    message = f"{column} is text: {numbers:,} of {count_of(texts, 'value')} are numbers"
    others = facts.get("others")
    if isinstance(others, list) and others:
        message += f", not {', '.join(repr(other) for other in others)}"
    advice = f"Convert {column} first: pd.to_numeric, or decimal= and thousands= of read_csv."
    evidence = {**facts, "column": column}
    return warning(of, "numbers_as_text", message + ".", call.line, advice, evidence)
