"""Columns that became missing, another type, or times without their zone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...domain.effects import FieldState, TableState
from ...domain.plurals import count_of
from ...effects.data_linter import TableWarning
from .analysis_context import AnalysisContext, number, share, warning
from .values import Value, column_of, own_expression, table_column

_CONVERTS = {
    "astype", "map", "apply", "strftime", "cut", "qcut", "to_datetime", "to_numeric", "to_period",
    "factorize", "Categorical", "where", "select", "format", "to_string", "applymap", "isoformat",
    "transform", "cast", "to_timestamp", "join", "agg", "dt", "str", "cat", "date",
}  # fmt: skip
_IDENTIFIES = re.compile(r"(?:^|_)(?:id|key|code|nr|no|number|zip|plz|year|sku)s?$", re.IGNORECASE)
_KEEP_TYPE = "Keep missing values missing, or convert the column on purpose."
_LOST = 0.2
"""From this share of values on, a conversion that gives up on them deserves a look."""


def type_warnings(case: AnalysisContext) -> Iterator[TableWarning]:
    yield from _zone_by_code(case)
    yield from _mixed(case)
    for name, after in case.run.after.items():
        value = case.program.final.get(name)
        if name in case.run.before and name not in case.run.replaced:
            continue
        if after.sampled or not after.rows or value is None or value.line is None:
            continue
        before = case.run.before.get(name) or _made_from(case, value)
        for field in after.fields:
            stored = _stored(value, field.name)
            prior = before.field(field.name) if before is not None else None
            line = (stored.line if stored is not None else None) or value.line
            yield from _missing(name, field, after, before, prior, stored, line)
            if before is not None and prior is not None:
                yield from _type(name, field, prior, stored, line)
                yield from _zone(name, field, prior, stored, line)


def _made_from(case: AnalysisContext, value: Value) -> TableState | None:
    for link in value.chain():
        name = case.locator.name(link)
        if name is not None and name in case.run.before and link.line is None:
            return case.run.before[name]
        if link.name == "pandas.concat" and link.args and link.args[0].args:
            return _made_from(case, link.args[0].args[0])
    return None


def _stored(value: Value, column: str) -> Value | None:
    for link in value.chain():
        if link.line is None:
            return None
        if link.op == "set" and link.name != "list":
            key = link.args[0]
            named = key.text or (key.args[-1].text if key.op == "list" and key.args else None)
            if named == column:
                return link.args[1]
        if link.name in ("assign", "with_columns") and column in link.keywords:
            return link.keywords[column]
    return None


def _missing(
    name: str,
    field: FieldState,
    after: TableState,
    before: TableState | None,
    prior: FieldState | None,
    stored: Value | None,
    line: int | None,
) -> Iterator[TableWarning]:
    if stored is not None and (stored.known or stored.short in ("nan", "NaT", "NA")):
        return
    evidence = {"missing": field.missing, "rows": after.rows, "column": field.name}
    if field.missing == after.rows:
        was_there = prior is not None and before is not None and prior.missing < before.rows
        if was_there or (stored is not None and prior is None):
            message = f"All {count_of(after.rows, 'value')} of {field.name} are missing now."
            advice = "Check the keys, the format or the index that its values were found by."
            yield warning(name, "column_all_missing", message, line, advice, evidence)
        return
    if stored is None or before is None or before.rows != after.rows:
        return
    lost = field.missing - _missing_before(stored, before, prior)
    gives_up = _gives_up(stored)
    if lost > 0 and (gives_up == "map" or (gives_up and lost >= _LOST * after.rows)):
        message = f"{count_of(lost, 'value')} of {field.name} ({share(lost, after.rows)})"
        message += " became missing."
        advice = "Look at the values that were not understood before you go on."
        evidence["lost"] = lost
        yield warning(name, "values_became_missing", message, line, advice, evidence)


def _missing_before(stored: Value, before: TableState, prior: FieldState | None) -> int:
    for part in own_expression(stored):
        column = column_of(part)
        field = before.field(column[1]) if column is not None else None
        if field is not None:
            return field.missing
    return prior.missing if prior is not None else 0


def _gives_up(stored: Value) -> str:
    for link in stored.chain():
        if link.name in ("fillna", "fill_null"):
            return ""
        errors = link.keyword("errors")
        if link.short in ("to_numeric", "to_datetime") and errors and errors.text == "coerce":
            return "coerce"
        if link.op == "method" and link.name == "map" and link.args:
            return "map" if link.args[0].op in ("dict", "global", "method", "index") else ""
    return ""


def _kind(type_name: str) -> str:
    lower = type_name.lower()
    for kind, starts in {
        "bool": ("bool",), "int": ("int", "uint"), "float": ("float", "double", "decimal"),
        "time": ("datetime", "timestamp"), "text": ("str", "object", "large_string", "utf8"),
    }.items():  # fmt: skip
        if lower.startswith(starts):
            return kind
    return ""


def _type(
    name: str, field: FieldState, prior: FieldState, stored: Value | None, line: int | None
) -> Iterator[TableWarning]:
    was, now = _kind(prior.type), _kind(field.type)
    if not was or not now or was == now or (field.missing and now == "float" and was != "int"):
        return
    meant = stored is not None and any(part.short in _CONVERTS for part in own_expression(stored))
    to_text = now == "text" and was in ("int", "float", "time", "bool")
    key_lost = was == "int" and now == "float" and field.missing > prior.missing
    if meant or not (to_text or (key_lost and _IDENTIFIES.search(field.name))):
        return
    message = f"{field.name} was {prior.type} and is {field.type} now."
    if key_lost:
        message = f"{message[:-1]}, for {count_of(field.missing, 'missing value')}."
    advice = _KEEP_TYPE
    evidence = {"column": field.name, "was": prior.type, "is": field.type, "missing": field.missing}
    yield warning(name, "column_changed_type", message, line, advice, evidence)


def _zone(
    name: str, field: FieldState, prior: FieldState, stored: Value | None, line: int | None
) -> Iterator[TableWarning]:
    if not prior.zone or field.zone or _kind(field.type) != "time":
        return
    if stored is not None and any(link.name == "tz_convert" for link in stored.chain()):
        return
    message = f"{field.name} lost its time zone ({prior.zone})."
    advice = f"Convert it with tz_convert first, or keep {prior.zone}."
    evidence = {"column": field.name, "zone": prior.zone}
    yield warning(name, "column_lost_time_zone", message, line, advice, evidence)


def _zone_by_code(case: AnalysisContext) -> Iterator[TableWarning]:
    """Times in an index, which is no column, and in tables that did not exist before."""
    for call in case.calls():
        given = call.args[0] if call.args else call.keywords.get("tz")
        if call.name != "tz_localize" or call.base is None or given is None:
            continue
        owner = call.base.base if call.base.name in ("index", "dt") else call.base
        converted = any(link.name == "tz_convert" for link in call.base.chain())
        if given.constant is not None or owner is None or converted:
            continue
        if column := table_column(owner):
            of, what = case.of(column[0]), column[1]
            zone = None if of in case.run.before else _zone_in_code(*column)
        else:
            rows = case.rows(owner)
            answer = case.ask_rows("zone", rows)
            zone, what = str(answer.get("zone") or "") if answer else None, "The index"
            of = rows.table if rows is not None else ""
        if zone:
            message = f"{what} lost its time zone ({zone})."
            advice = f"Convert it with tz_convert first, or keep {zone}."
            evidence = {"zone": zone}
            yield warning(of, "column_lost_time_zone", message, call.line, advice, evidence)


def _zone_in_code(table: Value, column: str) -> str | None:
    stored = _stored(table, column)
    made = stored or next((link for link in table.chain() if link.op == "call"), None)
    for ancestor in made.ancestry() if made is not None else ():
        zone = ancestor.keywords.get("tz") or ancestor.keyword("tz", 0)
        if ancestor.name in ("tz_localize", "tz_convert") or ancestor.short == "date_range":
            found = ancestor.keywords.get("tz") if ancestor.short == "date_range" else zone
            if found is not None and found.text:
                return found.text
        if ancestor.is_true("utc"):
            return "UTC"
    return None


def _mixed(case: AnalysisContext) -> Iterator[TableWarning]:
    """Numeric columns whose missing values were filled with text."""
    for store in case.program.current(case.program.stores):
        column, value = store.args[0].text, store.args[1]
        fills = value.op == "method" and value.name in ("fillna", "replace", "where", "mask")
        texts = [arg for arg in value.args if arg.text is not None]
        if column is None or not fills or not texts:
            continue
        rows = case.rows(store)
        answer = case.ask_rows("kinds", rows, column)
        numbers, words = (number(answer, key) for key in ("numbers", "texts"))
        if rows is not None and numbers and words:
            message = (
                f"{column} holds {count_of(numbers, 'number')} and {count_of(words, 'text')} now."
            )
            code, advice = "column_changed_type", _KEEP_TYPE
            yield warning(rows.table, code, message, store.line, advice, answer)
