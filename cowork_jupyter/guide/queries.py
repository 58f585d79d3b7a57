"""Requests as SELECTs of DuckDB, for answers that need no code in the notebook."""

from __future__ import annotations

from dataclasses import dataclass

from .request import Aggregate, Filter, Period, Request
from .tables import ColumnFacts, Table
from .understanding.names import yes_and_no
from .understanding.periods import period_of

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


def as_number(column: ColumnFacts) -> str:
    """Unparsable values become NULL."""
    name = identifier(column.name)
    text = f"CAST({name} AS VARCHAR)"
    if column.thousands:
        text = f"replace({text}, {literal(column.thousands)}, '')"
    if column.decimal != ".":
        text = f"replace({text}, {literal(column.decimal)}, '.')"
    read = f"TRY_CAST({text} AS DOUBLE)"
    return f"CASE WHEN typeof({name}) = 'VARCHAR' THEN {read} ELSE TRY_CAST({name} AS DOUBLE) END"


def as_timestamp(column: ColumnFacts) -> str:
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


def group_key(column: ColumnFacts) -> str:
    """Values that differ only in whitespace and case are one group."""
    text = as_text(column)
    return f"lower({text})" if column.untidy else text


def as_period(column: ColumnFacts, period: Period) -> str:
    return _PERIODS[period].format(f"({as_timestamp(column)})")


_AGGREGATES: dict[Aggregate, str] = {
    "sum": "sum({0})", "mean": "avg({0})", "median": "median({0})", "min": "min({0})",
    "max": "max({0})", "std": "stddev_samp({0})",
}  # fmt: skip
_MAX_COLUMNS = 60
_MAX_PARTS = 4  # columns searched for the largest changes


@dataclass(frozen=True)
class Select:
    sql: str
    is_single: bool = False  # one row with one value
    unit: str = ""


def select_for(request: Request, limit: int) -> Select | None:
    """None if SQL cannot answer it."""
    table, rows = request.table, _rows(request)
    if not table.has_header or table.renamed or table.first_line > 1:
        return None  # DuckDB sees other column names
    match request.verb:
        case "aggregate":
            return _aggregate(request, limit)
        case "preview":
            names = [identifier(column) for column in request.columns or table.names[:_MAX_COLUMNS]]
            count = min(request.limit or 10, limit)
            return Select(f"SELECT {', '.join(names)} FROM {rows} LIMIT {count}")
        case "missing":
            return _missing(request)
        case "duplicates":
            what = ", ".join(map(identifier, request.columns)) or "*"
            different = f"(SELECT count(*) FROM (SELECT DISTINCT {what} FROM {rows}))"
            return Select(f"SELECT count(*) - {different} AS value FROM {rows}", is_single=True)
        case "outliers":
            return _each_number(request, _OUTLIERS)
        case "distribution" if not request.groups:
            return _each_number(request, _SPREAD)
        case "relate" if len(request.columns) == 2:
            return _relation(request)
    return None


def comparison(request: Request) -> tuple[str, str]:
    """Two queries: both totals, and the groups that changed most (may be empty)."""
    assert request.between is not None
    rows = _rows(request)
    first, second = (_side(request, side) for side in request.between)
    sides = f"{_value(request, first)} AS a, {_value(request, second)} AS b"
    parts = [
        f"SELECT {literal(column.name)} AS name, {_label(column)} AS part, {sides} FROM {rows} "
        f"GROUP BY {group_key(column)}"
        for column in _parts(request)
    ]
    if not parts:
        return f"SELECT {sides} FROM {rows}", ""
    change = "coalesce(b, 0) - coalesce(a, 0)"
    changes = (
        f"SELECT name, part, a, b, {change} AS change FROM ({' UNION ALL '.join(parts)}) "
        f"ORDER BY abs({change}) DESC NULLS LAST LIMIT 6"
    )
    return f"SELECT {sides} FROM {rows}", changes


def _parts(request: Request) -> list[ColumnFacts]:
    taken = {*request.groups[:1]} if not request.time else set()
    wanted = [column for column in map(request.table.column, request.groups) if column]
    others = wanted if request.time and wanted else request.table.categories
    return [other for other in others if other.name not in taken][:_MAX_PARTS]


def _side(request: Request, side: str) -> str:
    if request.time:
        return _within(_column(request.table, request.time), side)
    column = _column(request.table, request.groups[0])
    return f"{group_key(column)} = {_grouped(column, side)}"


def _aggregate(request: Request, limit: int) -> Select:
    table, rows = request.table, _rows(request)
    labels, keys = [], []
    if request.period:
        key = as_period(_column(table, request.time), request.period)
        labels.append(f"{key} AS {identifier(request.period)}")
        keys.append(key)
    for column in (_column(table, name) for name in request.groups):
        labels.append(f"{_label(column)} AS {identifier(column.name)}")
        keys.append(group_key(column))
    value, unit = _value(request), ""
    if request.aggregate == "share":
        within = f"sum({value}) OVER (PARTITION BY {keys[0]})" if len(keys) > 1 else ""
        value = f"100.0 * {value} / nullif({within or f'(SELECT {value} FROM {rows})'}, 0)"
        unit = " %"
    if not keys:
        return Select(f"SELECT {value} AS value FROM {rows}", is_single=True, unit=unit)
    direction = "ASC" if request.ascending else "DESC"
    order, count = [f"value {direction} NULLS LAST", keys[0]], request.limit or limit + 1
    best = ""
    if request.limit_per_group:
        ranked = ", ".join([f"{value} {direction} NULLS LAST", *keys[1:]])
        rank = f"row_number() OVER (PARTITION BY {keys[0]} ORDER BY {ranked})"
        best, count = f"QUALIFY {rank} <= {request.limit} ", limit + 1
        order = [keys[0], order[0], *keys[1:]]
    elif request.period and not request.limit:
        order = keys
    return Select(
        f"SELECT {', '.join(labels)}, {value} AS value FROM {rows} GROUP BY {', '.join(keys)} "
        f"{best}ORDER BY {', '.join(order)} LIMIT {min(count, limit + 1)}",
        unit=unit,
    )


def _value(request: Request, when: str = "") -> str:
    only = f" FILTER (WHERE {when})" if when else ""
    if not request.columns:
        return f"count(*){only}"
    column = _column(request.table, request.columns[0])
    if request.aggregate == "count":
        return f"count({_present(column)}){only}"
    if request.aggregate == "distinct":
        return f"count(DISTINCT {group_key(column)}){only}"
    if request.aggregate in ("min", "max") and column.kind == "date":
        return f"CAST({request.aggregate}({as_timestamp(column)}){only} AS VARCHAR)"
    form = _AGGREGATES.get(request.aggregate, "sum({0})")
    return f"{form.format(as_number(column))}{only}"


def _missing(request: Request) -> Select:
    names = request.columns or tuple(request.table.names[:_MAX_COLUMNS])
    parts = [
        f'SELECT {literal(name)} AS "column", '
        f"count(*) - count({_present(_column(request.table, name))}) AS missing, "
        f'count(*) AS "rows" FROM {_rows(request)}'
        for name in names
    ]
    union = " UNION ALL ".join(parts)
    return Select(f"SELECT * FROM ({union}) WHERE missing > 0 ORDER BY missing DESC")


_OUTLIERS = (
    'SELECT {name} AS "column", count(*) FILTER (WHERE x < q1 - 1.5 * (q3 - q1) OR '
    "x > q3 + 1.5 * (q3 - q1)) AS outliers, min(x) AS lowest, max(x) AS highest, "
    'any_value(q1 - 1.5 * (q3 - q1)) AS "usual from", any_value(q3 + 1.5 * (q3 - q1)) AS "to" '
    "FROM (SELECT {x} AS x FROM {rows}), (SELECT quantile_cont({x}, 0.25) AS q1, "
    "quantile_cont({x}, 0.75) AS q3 FROM {rows})"
)
_SPREAD = (
    'SELECT {name} AS "column", count(x) AS "values", min(x) AS lowest, '
    'quantile_cont(x, 0.25) AS "25 %", median(x) AS median, avg(x) AS mean, '
    'quantile_cont(x, 0.75) AS "75 %", max(x) AS highest FROM (SELECT {x} AS x FROM {rows})'
)


def _each_number(request: Request, form: str) -> Select | None:
    numbers = request.table.names_of("number")
    names = [column for column in request.columns if column in numbers] or (
        numbers[:_MAX_COLUMNS] if not request.columns else []
    )
    rows = _rows(request)
    parts = [
        form.format(name=literal(name), x=as_number(_column(request.table, name)), rows=rows)
        for name in names
    ]
    return Select(" UNION ALL ".join(parts)) if parts else None


def _relation(request: Request) -> Select | None:
    a, b = (_column(request.table, name) for name in request.columns)
    if {a.kind, b.kind} != {"number"}:
        return None
    pair = f"corr({as_number(a)}, {as_number(b)}) AS correlation"
    counted = f'count(CASE WHEN {as_number(a)} IS NOT NULL THEN {as_number(b)} END) AS "rows"'
    return Select(f"SELECT {pair}, {counted} FROM {_rows(request)}")


def _rows(request: Request) -> str:
    path = literal(request.table.path)
    if not request.filters:
        return path
    conditions = " AND ".join(_condition(each, request.table) for each in request.filters)
    return f"(SELECT * FROM {path} WHERE {conditions})"


def _condition(row_filter: Filter, table: Table) -> str:
    column = _column(table, row_filter.column)
    present = _present(column)
    if row_filter.operator == "missing":
        return f"{present} IS NULL"
    if row_filter.operator == "known":
        return f"{present} IS NOT NULL"
    if column.kind == "date":
        return _time_condition(column, row_filter)
    if row_filter.operator == "contains":
        return f"contains(lower({present}), {literal(row_filter.values[0].lower())})"
    if column.kind == "number":
        values = [f"CAST({literal(value)} AS DOUBLE)" for value in row_filter.values]
        text = as_number(column)
    else:
        values = [_grouped(column, value) for value in row_filter.values]
        text = group_key(column)
    if row_filter.operator == "in":
        return f"{text} IN ({', '.join(values)})"
    if row_filter.operator == "between":
        return f"{text} BETWEEN {values[0]} AND {values[1]}"
    operator = "IS DISTINCT FROM" if row_filter.operator == "!=" else row_filter.operator
    return f"{text} {operator} {values[0]}"


def _time_condition(column: ColumnFacts, row_filter: Filter) -> str:
    def end(value: str) -> str:
        period = period_of(value) or "day"
        return as_period(column, period)

    match row_filter.operator:
        case "between":
            low, high = row_filter.values
            return f"({end(low)} >= {literal(low)} AND {end(high)} <= {literal(high)})"
        case "in":
            return "(" + " OR ".join(_within(column, value) for value in row_filter.values) + ")"
        case "!=":
            return f"NOT coalesce({_within(column, row_filter.values[0])}, false)"
        case ">" | ">=" | "<" | "<=":
            first = row_filter.values[0]
            return f"{end(first)} {row_filter.operator} {literal(first)}"
    return _within(column, row_filter.values[0])


def _within(column: ColumnFacts, value: str) -> str:
    return f"{as_period(column, period_of(value) or 'day')} = {literal(value)}"


def _present(column: ColumnFacts) -> str:
    return f"nullif(trim(CAST({identifier(column.name)} AS VARCHAR)), '')"


def _grouped(column: ColumnFacts, value: str) -> str:
    return literal(" ".join(value.split()).lower() if column.untidy else value.strip())


def _label(column: ColumnFacts) -> str:
    return f"mode({as_text(column)})"


def _column(table: Table, name: str) -> ColumnFacts:
    return table.column(name) or ColumnFacts(name, "text")
