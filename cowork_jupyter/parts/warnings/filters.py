"""Filters that keep all or nothing, rows that a comparison or a grouping drops for a missing value,
and means of means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ...domain.plurals import count_of
from ...effects.data_linter import Answer, TableWarning
from .analysis_context import AnalysisContext, number, part_text, warning
from .values import Condition, Value, column_of, condition_of, constant_of, table_column, texts_of

_ORDERS = ("<", "<=", ">", ">=")
_FEW_ROWS = 3
"""Up to so many rows may well all be kept."""
_FAULTS = re.compile(
    r"bad|invalid|error|outlier|neg|dup|miss|null|wrong|anomal|suspicious|faulty|broken", re.I
)


def filter_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    asked: set[tuple[int, int | None]] = set()
    for mask, table in filter(None, map(_mask_of, case.values())):
        if (id(mask), mask.line) in asked:
            continue
        asked.add((id(mask), mask.line))
        condition = condition_of(mask, table)
        if condition is None:
            yield from _by_result(case, mask, table)
            continue
        answer = case.ask_rows("filter", case.rows(table), condition)
        rows, of, line = number(answer, "rows"), case.of(table), mask.line
        if not rows:
            continue
        if not _is_guard(case, mask, condition):
            yield from _all_or_nothing(of, line, rows, number(answer, "kept"))
        for column, lost in _unasked_missing(case, answer):
            yield _dropped(of, line, column or "value", lost, rows)
    yield from _labelled(case)


def _mask_of(value: Value) -> tuple[Value, Value] | None:
    """Mask and table of everything that chooses rows: `df[mask]`, `loc`, `query`, `filter`."""
    if value.op == "method" and value.name in ("query", "filter") and value.base is not None:
        if len(value.args) > 1 and all(arg.op == "compare" for arg in value.args):
            both = Value("operator", "BitAnd", args=value.args, line=value.line)
            return both, value.base
        if len(value.args) == 1 and value.args[0].op != "list":
            return value.args[0], value.base
        return None
    if value.op != "index" or value.base is None:
        return None
    key, owner = value.args[0], value.base
    if owner.op == "attribute" and owner.name == "loc" and owner.base is not None:
        if key.op == "list" and len(key.args) == 2:
            key = key.args[0]
        owner = owner.base
    if owner.op == "attribute" and owner.name in ("iloc", "at", "iat"):
        return None
    if key.op in ("compare", "operator", "method") and not key.known:
        return key, owner
    return None


def _is_guard(case: AnalysisContext, mask: Value, condition: Condition) -> bool:
    """Whether the filter is a safeguard that is expected to keep all, or to find nothing."""
    if condition[0] == "compare" and (condition[2] == "!=" or condition[3] in (0, "")):
        if condition[2] not in ("<", "=="):
            return True
    elif condition[0] == "not":
        return True
    return any(
        _FAULTS.search(assignment.name)
        for assignment in case.program.assignments
        if assignment.value is mask or any(part is mask for part in assignment.value.parts())
    )


def _all_or_nothing(of: str, line: int | None, rows: int, kept: int) -> Iterator[TableWarning]:
    evidence = {"rows": rows, "kept": kept}
    if kept == 0:
        message = f"The filter keeps none of {count_of(rows, 'row')}."
        advice = "Check the spelling, the type and the unit of what it compares."
        yield warning(of, "filter_keeps_nothing", message, line, advice, evidence)
    elif kept == rows and rows > _FEW_ROWS:
        message = f"The filter keeps all {count_of(rows, 'row')}."
        advice = "Check what it compares, or remove it."
        yield warning(of, "filter_keeps_all", message, line, advice, evidence)


def _by_result(case: AnalysisContext, mask: Value, table: Value) -> Iterator[TableWarning]:
    """For other masks, compare the numbers of rows before and after."""
    before = case.state(table)
    results = [
        value
        for value in (assignment.value for assignment in case.program.assignments)
        if value.line is not None and (_mask_of(value) or (None, None))[0] is mask
    ]
    after = case.state(results[0]) if results else None
    if before is None or after is None or not before.rows or mask.op not in ("compare", "operator"):
        return
    if before.kind.split(".")[0] != after.kind.split(".")[0]:
        return
    yield from _all_or_nothing(case.of(table), mask.line, before.rows, after.rows)


def _dropped(of: str, line: int | None, column: str, lost: int, rows: int) -> TableWarning:
    message = f"The comparison leaves out {part_text(lost, rows, 'row')}"
    message += f" whose {column} is missing."
    advice = f"Decide what a missing {column} means: fill it, drop it, or ask for it with isna()."
    evidence = {"missing": lost, "rows": rows, "column": column}
    return warning(of, "comparison_dropped_rows", message, line, advice, evidence)


def _unasked_missing(case: AnalysisContext, answer: Answer | None) -> Iterator[tuple[str, int]]:
    """Columns with missing values, unless the code itself asks which values are missing."""
    asks = ("isna", "isnull", "notna", "notnull", "is_null", "is_not_null")
    found = (column_of(call.base) for call in case.calls() if call.name in asks)
    asked = {pair[1] for pair in found if pair is not None}
    missing = answer.get("missing") if answer else None
    for column, lost in missing.items() if isinstance(missing, dict) else ():
        if isinstance(lost, int) and column not in asked:
            yield column, lost


def _labelled(case: AnalysisContext) -> Iterator[TableWarning]:
    """Comparisons that become a column: a missing value counts as false."""
    compared: list[tuple[Value, Value]] = []
    for store in case.program.current(case.program.stores):
        if store.base is not None and store.name != "loc":
            value = store.args[1]
            while value.op == "method" and value.name == "astype" and value.base is not None:
                value = value.base
            compared.append((value, store.base))
    for call in case.calls():
        if call.name == "numpy.where" and len(call.args) == 3:
            columns = map(table_column, call.args[0].args)
            compared += [(call.args[0], column[0]) for column in columns if column]
    for mask, table in compared:
        condition = condition_of(mask, table) if mask.op == "compare" else None
        if condition is None or condition[0] != "compare" or condition[2] not in _ORDERS:
            continue
        answer = case.ask_rows("filter", case.rows(table), condition)
        for column, lost in _unasked_missing(case, answer):
            message = f"{count_of(lost, 'row')} of {number(answer, 'rows'):,} have no {column};"
            message += " the comparison counts them as false."
            advice = f"Decide what a missing {column} means before you compare it."
            of, evidence = case.of(table), {"missing": lost, "column": column}
            yield warning(of, "comparison_dropped_rows", message, mask.line, advice, evidence)


_GROUPS = {"groupby", "group_by", "pivot_table"}
_KEEPS_ROWS = {"transform", "cumsum", "cumcount", "rank", "ngroup", "shift", "ffill", "bfill"}


def group_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    for call in case.calls():
        grouped = _grouped_by(call)
        if grouped is None or _is_of_polars(case, grouped[0]):
            continue
        table, columns = grouped
        if "dropna" in call.keywords and call.keywords["dropna"].constant is False:
            continue
        answer = case.ask_rows("group", case.rows(table), columns, "")
        missing, rows = number(answer, "missing"), number(answer, "rows")
        if not missing or _keeps_rows(case, call):
            continue
        part, names = part_text(missing, rows, "row"), " and ".join(columns)
        message = f"{call.short} leaves out {part} without {names}."
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


def _is_of_polars(case: AnalysisContext, table: Value) -> bool:
    state = case.state(table)
    return state is not None and not state.kind.startswith("pandas")


def _keeps_rows(case: AnalysisContext, grouping: Value) -> bool:
    """Whether the result has a row for each row."""
    used = [call for call in case.calls() if any(link is grouping for link in call.chain())]
    return any(call.name in _KEEPS_ROWS for call in used)


def mean_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
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
            f"This is a mean of means of {count_of(number(answer, 'groups'), 'group')} with "
            f"{number(answer, 'smallest'):,} to {count_of(number(answer, 'largest'), 'row')}."
        )
        mean, means = answer.get("mean"), answer.get("mean_of_means")
        if isinstance(mean, float) and isinstance(means, float):
            message += f" It is {means:,.5g}; the mean of all rows is {mean:,.5g}."
        advice = "Take the mean of all rows, or weight the groups by their size."
        of = case.of(table)
        yield warning(of, "mean_of_means", message, call.line, advice, answer)


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
