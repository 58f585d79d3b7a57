"""A copy that is changed instead of the table, and results that are discarded."""

from __future__ import annotations

from collections.abc import Iterator

from ...domain.effects import TableState
from ...domain.plurals import count_of
from ...effects.data_linter import TableWarning
from .analysis_context import AnalysisContext, warning
from .program import DataFlow
from .values import Value, column_of, table_column, texts_of

_CLEANS = {
    "dropna", "drop_duplicates", "fillna", "replace", "astype", "drop", "drop_nulls", "fill_null",
    "fill_nan",
}  # fmt: skip
"""Methods whose result is not worth displaying."""
_GIVES_NEW = _CLEANS | {
    "rename", "sort_values", "sort_index", "reset_index", "set_index", "assign", "with_columns",
    "ffill", "bfill", "clip", "query", "explode", "reindex", "round", "where", "mask", "unique",
    "merge", "append", "interpolate", "shift", "sort",
}  # fmt: skip
_CHOOSES = {"query", "head", "tail", "filter", "dropna", "copy", "sort_values", "reset_index"}
_FUNCTIONS = {"pandas.to_datetime", "pandas.to_numeric", "pandas.concat", "pandas.merge"}
_OF_MISSING = {"dropna", "fillna", "drop_nulls", "fill_null", "ffill", "bfill"}
_OF_TEXT = {"strip", "lower", "upper", "title", "replace", "zfill", "lstrip", "rstrip"}


def copy_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    for store in case.program.current(case.program.stores):
        yield from _chained(case, store)
        yield from _row_of_loop(case, store)
    for call in case.calls():
        if call.is_true("inplace"):
            yield from _in_place_on_copy(case, call)
    for value in case.program.current(case.program.discarded):
        if value.op == "call" and value.name in _FUNCTIONS:
            message = f"The result of {value.short} is not kept, so it changes nothing."
            yield warning("", "result_thrown_away", message, value.line, "Assign it to a name.")
        yield from _thrown_away(case, value, _GIVES_NEW)
    for value, line in _shown_and_used(case):
        yield from _thrown_away(case, value, _CLEANS, line)


def _is_frame(case: AnalysisContext, value: Value | None) -> bool:
    if value is None:
        return False
    rows = case.rows(value)
    name = rows.table if rows is not None else None
    state = case.run.before.get(name or "") or case.run.after.get(name or "")
    if state is not None:
        return state.kind.startswith("pandas")
    made = [link for link in value.chain() if link.op == "call"]
    return bool(made) and made[-1].name.startswith("pandas.")


def _chained(case: AnalysisContext, store: Value) -> Iterator[TableWarning]:
    """`df[mask]["x"] = 1`: what is between the first brackets is a copy."""
    copy = store.base
    if copy is not None and copy.op == "attribute" and copy.name in ("loc", "iloc", "at", "iat"):
        copy = copy.base
    if copy is None or copy.line is None or _is_bound(case.program, copy):
        return
    if copy.op != "index" and not (copy.op == "method" and copy.name in _CHOOSES):
        return
    table = copy.base
    if table is not None and table.op == "attribute" and table.name in ("loc", "iloc"):
        table = table.base
    if not _is_frame(case, table):
        return
    if column_of(copy) is not None and not _is_new_pandas(case):
        return
    of = case.of(table)
    message = f"The assignment changes a copy; {of or 'the table'} stays as it is."
    state = case.run.after.get(of)
    if state is not None:
        message = f"The assignment changes a copy; the {count_of(state.rows, 'row')} of {of} stay."
    advice = "Assign in one step: df.loc[rows, column] = value."
    evidence = {"rows": state.rows} if state else {}
    yield warning(of, "copy_changed", message, store.line, advice, evidence)


def _is_bound(program: DataFlow, value: Value) -> bool:
    """Whether it is bound to a name: then it is a table of its own."""
    return any(assignment.value is value for assignment in program.assignments)


def _is_new_pandas(case: AnalysisContext) -> bool:
    """Since version 3, a column that was taken out is always a copy."""
    answer = case.ask("version", "pandas")
    version = str(answer.get("version")) if answer else ""
    return version.split(".")[0].isdigit() and int(version.split(".")[0]) >= 3


def _row_of_loop(case: AnalysisContext, store: Value) -> Iterator[TableWarning]:
    row = store.base
    if row is None or row.op != "item" or row.base is None or row.base.op != "loop":
        return
    source = row.base.base
    if source is None or source.name != "iterrows" or row.name != "1":
        return
    written = [*case.program.calls, *case.program.stores]
    kept = [
        value for value in written
        if value is not store and any(part is row or part is store for part in _given(value))
    ]  # fmt: skip
    if kept:
        return
    of = case.of(source.base)
    state = case.run.before.get(of) or case.run.after.get(of)
    rows = f" of {count_of(state.rows, 'row')}" if state else ""
    message = f"The loop changes copies{rows}; {of or 'the table'} stays as it is."
    advice = "Assign to the column as a whole, or to df.loc[index, column]."
    evidence = {"rows": state.rows} if state else {}
    yield warning(of, "copy_changed", message, store.line, advice, evidence)


def _given(value: Value) -> tuple[Value, ...]:
    args = value.args[1:] if value.op == "set" else value.args
    return (*args, *value.keywords.values())


def _in_place_on_copy(case: AnalysisContext, call: Value) -> Iterator[TableWarning]:
    copy = call.base
    if copy is None or copy.op not in ("index", "attribute", "method") or copy.line is None:
        return
    if _is_bound(case.program, copy):
        return
    column = column_of(copy)
    if column is not None and (not _is_new_pandas(case) or not _is_frame(case, column[0])):
        return
    owner = next((link for link in copy.chain() if case.locator.name(link)), None)
    if not _is_frame(case, owner):
        return
    of = case.of(owner)
    state = case.run.after.get(of)
    field = state.field(column[1]) if state and column else None
    missing = field.missing if field is not None else None
    rest = f" with {count_of(missing, 'missing value')}" if missing else ""
    message = f"{call.name}(inplace=True) changes a copy; {of or 'the table'} stays as it is{rest}."
    advice = "Assign the result: df[column] = df[column]." + call.name + "(…)."
    evidence = {"missing": missing} if missing else {}
    yield warning(of, "copy_changed", message, call.line, advice, evidence)


def _shown_and_used(case: AnalysisContext) -> Iterator[tuple[Value, int]]:
    """What an earlier cell only displayed, if this is the first cell since that uses its table."""
    *earlier, current = case.program.cells
    for place, cell in enumerate(earlier):
        preview = cell.last
        if preview is None or preview.op != "method" or preview.base is None:
            continue
        table = (table_column(preview.base) or (preview.base, ""))[0]
        if any(id(table) in later.read for later in earlier[place + 1 :]):
            continue
        lines = (call.line for call in case.calls() if call.is_made_of(table))
        line = next(lines, None) if id(table) in current.read else None
        if line is not None:
            yield preview, line


def _thrown_away(
    case: AnalysisContext, value: Value, methods: set[str], line: int | None = None
) -> Iterator[TableWarning]:
    if value.op != "method" or value.is_true("inplace") or value.base is None:
        return
    owner = value.base
    of_text = owner.op == "attribute" and owner.name == "str" and value.name in _OF_TEXT
    if (line is not None) if of_text else value.name not in methods:
        return
    table = owner.base if of_text else owner
    column = column_of(table)
    named = column[0] if column is not None else table
    of = (case.locator.name(named) or "") if named is not None else ""
    state = case.run.after.get(of)
    if state is None or not state.kind.endswith(("DataFrame", "Series")):
        return
    if not _would_change(state, value, column[1] if column else None):
        return
    where = " above" if line is not None else ""
    still = _still(state, value)
    message = f"The result of {value.name}{where} is not kept; {of} still has {still}."
    target = f'{of}["{column[1]}"]' if column else of
    advice = f"Assign it: {target} = {target}.{value.name}(…)."
    evidence = {"rows": state.rows, "columns": state.columns}
    yield warning(of, "result_thrown_away", message, line or value.line, advice, evidence)


def _would_change(state: TableState, value: Value, column: str | None) -> bool:
    fields = [field for field in state.fields if column is None or field.name == column]
    if value.name in _OF_MISSING:
        subset = texts_of(value.keyword("subset"))
        wanted = [field for field in fields if subset is None or field.name in subset]
        return any(field.missing for field in wanted)
    if value.name in ("drop_duplicates", "unique") and not value.args and not value.keywords:
        return state.duplicates != 0
    return True


def _still(state: TableState, value: Value) -> str:
    if value.name in _OF_MISSING:
        return count_of(sum(field.missing for field in state.fields), "missing value")
    if value.name == "drop_duplicates" and state.duplicates:
        return count_of(state.duplicates, "repeated row")
    return f"{count_of(state.rows, 'row')} and {count_of(state.columns, 'column')}"
