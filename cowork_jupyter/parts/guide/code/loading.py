"""Code that reads a table once, with just those options that its file needs."""

from __future__ import annotations

from ..tables import FORMATS, ColumnFacts, Table
from .cells import CellBuilder, TableVariable, call, literal

_ISO = ("%Y-%m-%d", "%Y-%m-%dT", "%Y-%m-%d ")


def engine_for(path: str) -> str:
    """The optional dependency that pandas needs for this file; empty if none."""
    path = path.lower()
    if path.endswith((".xlsx", ".xlsm")):
        return "openpyxl"
    return "pyarrow" if FORMATS.get(path[path.rfind(".") :]) == "parquet" else ""


def load_table(builder: CellBuilder, table: Table) -> TableVariable:
    """The variable that holds the table; adds a cell that reads it if there is none."""
    dates = frozenset(column.name for column in _dated(table))
    if table.is_variable:
        return TableVariable(table.path, dates)
    if table.path not in builder.tables:
        stem = table.stem.lower()
        name = builder.name(stem, f"{stem}_table")
        builder.add(*_reading(builder, table, name))
        builder.tables[table.path] = TableVariable(name, dates)
    return builder.tables[table.path]


def _reading(builder: CellBuilder, table: Table, name: str) -> list[str]:
    pd, coerce = builder.pandas, builder.choices.coerce
    path = literal(builder.style.path(table.path))
    converted: list[ColumnFacts] = []
    match table.format:
        case "text":
            options = [path, *_csv_options(builder, table)]
            reading = call(f"{name} = {pd}.read_csv(", options)
        case "excel":
            reading = call(f"{name} = {pd}.read_excel(", [path, *_as_options(_head(table))])
        case "parquet":
            reading = f"{name} = {pd}.read_parquet({path})"
        case "json" | "json lines" as kind:
            rows = ", lines=True" if kind == "json lines" else ""
            reading = f"{name} = {pd}.read_json({path}{rows})"
            converted = _dated(table)
    lines = [reading]
    if coerce:
        lines.append("# Some values are not numbers or dates: they count as missing.")
        converted = [*table.of_kind("number"), *_dated(table)]
    for column in converted:
        place = f"{name}[{literal(column.name)}]"
        function = "to_numeric" if column.kind == "number" else "to_datetime"
        form = f"format={literal(column.date_format)}" if column.kind == "date" else ""
        wrong = 'errors="coerce"' if coerce else ""
        lines.append(call(f"{place} = {pd}.{function}(", [place, form, wrong]))
    return lines


def _head(table: Table) -> dict[str, str]:
    """Where the columns are named, and how, if not in the first line as they are."""
    given: dict[str, str] = {}
    if not table.has_header or table.renamed:
        # A header's line breaks are one row to pandas, so it reads the header and drops it.
        given |= {"header": "0" if table.has_header else "None", "names": literal(table.names)}
    if table.lines_above:
        given["skiprows"] = str(table.lines_above)
    return given


def _as_options(given: dict[str, str]) -> list[str]:
    return [f"{name}={value}" for name, value in given.items()]


def tidying_code(column: ColumnFacts) -> str:
    """Code that unifies values differing only in whitespace or case."""
    if column.kind != "text" or column.is_boolean:
        return ""
    case, first = column.wanted_case, {each: column.same(each)[0] for each in column.untidy}
    others = {each: usual for each, usual in first.items() if each != usual}
    unified = f".str.{case}()" if case else f".replace({literal(others)})" if others else ""
    return ".str.strip()" * column.padded + unified


def _csv_options(builder: CellBuilder, table: Table) -> list[str]:
    given: dict[str, str] = {}
    if table.separator != ",":
        given["sep"] = literal(table.separator)
    if table.encoding != "utf-8-sig":
        given["encoding"] = literal(table.encoding)
    given |= _head(table)
    numbers = table.of_kind("number")
    if any(number.decimal == "," for number in numbers):
        given["decimal"] = '","'
    thousands = next((number.thousands for number in numbers if number.thousands), "")
    if thousands:
        given["thousands"] = literal(thousands)
    signs = sorted({column.missing_sign for column in table.columns if column.missing_sign})
    if signs:
        given["na_values"] = literal(signs)
    codes = {column.name: "str" for column in table.columns if column.is_code}
    if codes:
        given["dtype"] = literal(codes)
    given |= _date_options(table) if not builder.choices.coerce else {}
    if builder.choices.replace_bytes:
        given["encoding_errors"] = '"replace"'
    if table.uneven:
        cut = f"lambda fields: fields[:{len(table.names)}]"
        given |= {"index_col": "False", "engine": '"python"', "on_bad_lines": cut}
    return _as_options(given)


def _dated(table: Table) -> list[ColumnFacts]:
    """Without those that could be read in two ways: they stay as they are in the file."""
    return [column for column in table.of_kind("date") if not column.swapped]


def _date_options(table: Table) -> dict[str, str]:
    dates = _dated(table)
    if not dates:
        return {}
    # Those that pandas infers need not be given.
    odd = {
        column.name: column.date_format
        for column in dates
        if not column.date_format.startswith(_ISO)
    }
    formats: object = next(iter(odd.values())) if len(dates) == len(odd) == 1 else odd
    given = {"parse_dates": literal([column.name for column in dates])}
    return given | ({"date_format": literal(formats)} if odd else {})
