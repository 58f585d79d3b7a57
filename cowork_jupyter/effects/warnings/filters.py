"""Filters that keep all or nothing, and rows that a comparison drops for a missing value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .case import Case, Found, counted, number, share, warning
from .conditions import Condition, column_of, condition_of
from .values import Value

_ORDERS = ("<", "<=", ">", ">=")
_FEW_ROWS = 3
"""Up to so many rows may well all be kept."""
_FAULTS = re.compile(
    r"bad|invalid|error|outlier|neg|dup|miss|null|wrong|anomal|suspicious|faulty|broken", re.I
)


def filter_warnings(case: Case) -> Iterator[Found]:
    asked: set[tuple[int, int | None]] = set()
    for mask, table in _masks(case):
        if (id(mask), mask.line) in asked:
            continue
        asked.add((id(mask), mask.line))
        condition = condition_of(mask, table)
        if condition is None:
            yield from _by_result(case, mask, table)
            continue
        rows = case.rows(table)
        answer = case.ask_rows("filter", rows, condition)
        if answer is None or not number(answer, "rows"):
            continue
        of, line = case.of(table), mask.line
        if not _is_guard(case, mask, condition):
            yield from _all_or_nothing(of, line, number(answer, "rows"), number(answer, "kept"))
        missing = answer.get("missing")
        for column, lost in missing.items() if isinstance(missing, dict) else ():
            if isinstance(lost, int) and not _is_asked(case, column):
                yield _dropped(of, line, column or "value", lost, number(answer, "rows"))
    yield from _labelled(case)


def _masks(case: Case) -> Iterator[tuple[Value, Value]]:
    """Everything that chooses rows: `df[mask]`, `loc`, `query`, `filter`."""
    yield from filter(None, map(_mask_of, case.values()))


def _mask_of(value: Value) -> tuple[Value, Value] | None:
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


def _is_guard(case: Case, mask: Value, condition: Condition) -> bool:
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


def _all_or_nothing(of: str, line: int | None, rows: int, kept: int) -> Iterator[Found]:
    evidence = {"rows": rows, "kept": kept}
    if kept == 0:
        message = f"The filter keeps none of {counted(rows, 'row')}."
        advice = "Check the spelling, the type and the unit of what it compares."
        yield warning(of, "filter_keeps_nothing", message, line, advice, evidence)
    elif kept == rows and rows > _FEW_ROWS:
        message = f"The filter keeps all {counted(rows, 'row')}."
        advice = "Check what it compares, or remove it."
        yield warning(of, "filter_keeps_all", message, line, advice, evidence)


def _by_result(case: Case, mask: Value, table: Value) -> Iterator[Found]:
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


def _dropped(of: str, line: int | None, column: str, lost: int, rows: int) -> Found:
    message = (
        f"The comparison leaves out {counted(lost, 'row')} of {rows:,} ({share(lost, rows)}) "
        f"whose {column} is missing."
    )
    advice = f"Decide what a missing {column} means: fill it, drop it, or ask for it with isna()."
    evidence = {"missing": lost, "rows": rows, "column": column}
    return warning(of, "comparison_dropped_rows", message, line, advice, evidence)


def _is_asked(case: Case, column: str) -> bool:
    asks = ("isna", "isnull", "notna", "notnull", "is_null", "is_not_null")
    found = (column_of(call.base) for call in case.calls() if call.name in asks)
    return any(pair is not None and pair[1] == column for pair in found)


def _labelled(case: Case) -> Iterator[Found]:
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
            compared += [(call.args[0], column[0]) for column in _compared_tables(call.args[0])]
    for mask, table in compared:
        condition = condition_of(mask, table) if mask.op == "compare" else None
        if condition is None or condition[0] != "compare" or condition[2] not in _ORDERS:
            continue
        answer = case.ask_rows("filter", case.rows(table), condition)
        missing = answer.get("missing") if answer else None
        for column, lost in missing.items() if isinstance(missing, dict) else ():
            if isinstance(lost, int) and not _is_asked(case, column):
                message = (
                    f"{counted(lost, 'row')} of {number(answer or {}, 'rows'):,} have no {column}; "
                    "the comparison counts them as false."
                )
                advice = f"Decide what a missing {column} means before you compare it."
                evidence = {"missing": lost, "column": column}
                yield warning(
                    case.of(table), "comparison_dropped_rows", message, mask.line, advice,
                    evidence,
                )  # fmt: skip


def _compared_tables(mask: Value) -> list[tuple[Value, str]]:
    found = [column_of(arg) for arg in mask.args]
    return [(pair[0], pair[1]) for pair in found if pair is not None and pair[0] is not None]
