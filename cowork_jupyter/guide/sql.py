"""Pieces of SQL as DuckDB reads it: names, texts, and columns as numbers, moments and groups."""

from __future__ import annotations

from .columns import ColumnFacts
from .request import Period
from .understanding.names import yes_and_no

_PERIODS: dict[Period, str] = {
    "day": "strftime({0}, '%Y-%m-%d')",
    "week": "strftime(date_trunc('week', {0}), '%Y-%m-%d')",
    "month": "strftime({0}, '%Y-%m')",
    "quarter": "(strftime({0}, '%Y') || '-Q' || quarter({0}))",
    "year": "strftime({0}, '%Y')",
    "weekday": "(isodow({0}) || ' ' || dayname({0}))",
    "hour": "strftime({0}, '%H')",
}


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def number(column: ColumnFacts) -> str:
    """Unparsable values become NULL."""
    name = identifier(column.name)
    text = f"CAST({name} AS VARCHAR)"
    if column.thousands:
        text = f"replace({text}, {literal(column.thousands)}, '')"
    if column.decimal != ".":
        text = f"replace({text}, {literal(column.decimal)}, '.')"
    read = f"TRY_CAST({text} AS DOUBLE)"
    return f"CASE WHEN typeof({name}) = 'VARCHAR' THEN {read} ELSE TRY_CAST({name} AS DOUBLE) END"


def moment(column: ColumnFacts) -> str:
    name = identifier(column.name)
    read = f"TRY_CAST({name} AS TIMESTAMP)"
    if not column.date_format:
        return read
    form = literal(column.date_format)
    return f"coalesce({read}, try_strptime(CAST({name} AS VARCHAR), {form}))"


def as_text(column: ColumnFacts) -> str:
    """The spelling of the file: DuckDB reads yes and no as booleans."""
    name = identifier(column.name)
    text = f"trim(CAST({name} AS VARCHAR))"
    yes, no = yes_and_no(column)
    if not (yes and no) or column.kind != "text":
        return text
    written = f"CASE {text} WHEN 'true' THEN {literal(yes)} WHEN 'false' THEN {literal(no)} END"
    return f"CASE WHEN typeof({name}) = 'BOOLEAN' THEN {written} ELSE {text} END"


def group(column: ColumnFacts) -> str:
    """Values that differ only in whitespace and case are one group."""
    text = as_text(column)
    return f"lower({text})" if column.untidy else text


def span(column: ColumnFacts, period: Period) -> str:
    return _PERIODS[period].format(f"({moment(column)})")
