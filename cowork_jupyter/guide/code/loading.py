"""Code that reads a table once, with just those options that its file needs."""

from __future__ import annotations

from ..tables import ColumnFacts, Table
from .cells import CellBuilder, TableVariable, call, literal

_NEXT = ",\n    "
_ISO = ("%Y-%m-%d", "%Y-%m-%dT", "%Y-%m-%d ")


def engine_for(table: Table) -> str:
    """The optional dependency that pandas needs for this file; empty if none."""
    if table.path.lower().endswith((".xlsx", ".xlsm")):
        return "openpyxl"
    return "pyarrow" if table.format == "parquet" else ""


def load_table(builder: CellBuilder, table: Table) -> TableVariable:
    """The variable that holds the table; adds a cell that reads it if there is none."""
    if table.path not in builder.tables:
        stem = table.stem.lower()
        name = builder.name(stem, f"{stem}_table")
        if builder.style.frames == "polars":
            lines = _with_polars(builder, table, name)
        else:
            lines = _with_pandas(builder, table, name)
        builder.add(*lines)
        dates = frozenset(table.names_of("date"))
        builder.tables[table.path] = TableVariable(name, dates, frozenset(table.names))
    return builder.tables[table.path]


def _with_pandas(builder: CellBuilder, table: Table, name: str) -> list[str]:
    pd = builder.module("pandas")
    path = literal(builder.style.path(table.path))
    texts = table.of_kind("date")
    match table.format:
        case "text":
            reading = call(f"{name} = {pd}.read_csv(", [path, *_csv_options(builder, table)])
            texts = texts if builder.choices.coerce else []
        case "excel" | "parquet" as kind:
            reading = f"{name} = {pd}.read_{kind}({path})"
            texts = texts if builder.choices.coerce else []
        case "json":
            reading = f"{name} = {pd}.read_json({path})"
        case "json lines":
            reading = f"{name} = {pd}.read_json({path}, lines=True)"
    lines = [reading]
    if builder.choices.coerce:
        numbers = table.of_kind("number")
        lines += ["# Some values are not numbers or dates: they count as missing."]
        form = f'{pd}.to_numeric({{}}, errors="coerce")'
        lines += [_assigned(name, column, form) for column in numbers]
    wrong = ', errors="coerce"' if builder.choices.coerce else ""
    for column in texts:
        lines.append(_assigned(name, column, f"{pd}.to_datetime({{}}{_form(column)}{wrong})"))
    lines += [_assigned(name, column, f"{{}}{tidying_code(column)}") for column in table.columns
              if tidying_code(column)]  # fmt: skip
    return lines


def _assigned(name: str, column: ColumnFacts, code: str) -> str:
    place = f"{name}[{literal(column.name)}]"
    before, _, after = code.partition("{}")
    return f"{place} = {before}{place}{after}"


def tidying_code(column: ColumnFacts) -> str:
    """Code that unifies values differing only in whitespace or case."""
    if column.kind != "text":
        return ""
    case = column.wanted_case
    return ".str.strip()" * column.padded + (f".str.{case}()" if case else "")


def _form(column: ColumnFacts) -> str:
    """Omitted for formats that pandas infers."""
    return "" if column.date_format.startswith(_ISO) else f", format={literal(column.date_format)}"


def _csv_options(builder: CellBuilder, table: Table) -> list[str]:
    given: dict[str, str] = {}
    if table.separator != ",":
        given["sep"] = literal(table.separator)
    if table.encoding != "utf-8-sig":
        given["encoding"] = literal(table.encoding)
    before = table.first_line - table.header_lines if table.has_header else table.first_line
    if not table.has_header or table.renamed:
        # A header's line breaks are one row to pandas, so it reads the header and drops it.
        given |= {"header": "0" if table.has_header else "None", "names": literal(table.names)}
    if before:
        given["skiprows"] = str(before)
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
    if table.uneven or builder.choices.cut_lines:
        cut = f"lambda fields: fields[:{len(table.names)}]"
        given |= {"index_col": "False", "engine": '"python"', "on_bad_lines": cut}
    return [f"{name}={value}" for name, value in given.items()]


def _date_options(table: Table) -> dict[str, str]:
    dates = table.of_kind("date")
    if not dates:
        return {}
    odd = {column.name: column.date_format for column in dates if _form(column)}
    formats: object = next(iter(odd.values())) if len(dates) == len(odd) == 1 else odd
    given = {"parse_dates": literal([column.name for column in dates])}
    return given | ({"date_format": literal(formats)} if odd else {})


def _with_polars(builder: CellBuilder, table: Table, name: str) -> list[str]:
    pl = builder.module("polars")
    path = literal(builder.style.path(table.path))
    texts = table.of_kind("date")
    match table.format:
        case "text":
            reading = call(f"{name} = {pl}.read_csv(", [path, *_polars_csv(builder, table)])
            texts = [column for column in texts if _form(column)]
        case "excel":
            reading, texts = f'{name} = {pl}.read_excel({path}, engine="openpyxl")', []
        case "parquet":
            reading, texts = f"{name} = {pl}.read_parquet({path})", []
        case "json":
            reading = f"{name} = {pl}.read_json({path})"
        case "json lines":
            reading = f"{name} = {pl}.read_ndjson({path})"
    changes = [
        f"{pl}.col({literal(column.name)})"
        f".str.to_datetime({literal(column.date_format)}, strict=False)"
        for column in texts
    ]
    if builder.choices.coerce:
        numbers = table.of_kind("number")
        changes += [
            f"{pl}.col({literal(column.name)}).cast({pl}.Float64, strict=False)"
            for column in numbers
        ]
    changes += [
        f"{pl}.col({literal(column.name)})"
        + ".str.strip_chars()" * column.padded
        + (f".str.to_{column.wanted_case}case()" if column.wanted_case else "")
        for column in table.columns
        if tidying_code(column)
    ]
    return [f"{reading}.with_columns(\n    {_NEXT.join(changes)},\n)" if changes else reading]


def _polars_csv(builder: CellBuilder, table: Table) -> list[str]:
    given: dict[str, str] = {}
    if table.separator != ",":
        given["separator"] = literal(table.separator)
    if table.encoding != "utf-8-sig":
        given["encoding"] = literal(table.encoding)
    elif builder.choices.replace_bytes:
        given["encoding"] = '"utf8-lossy"'
    before = table.first_line - table.header_lines if table.has_header else table.first_line
    if not table.has_header:
        given["has_header"] = "False"
    if not table.has_header or table.renamed:
        given["new_columns"] = literal(table.names)
    if before:
        given["skip_rows"] = str(before)
    if any(number.decimal == "," for number in table.of_kind("number")):
        given["decimal_comma"] = "True"
    signs = sorted({column.missing_sign for column in table.columns if column.missing_sign})
    if signs:
        given["null_values"] = literal(signs)
    codes = [column.name for column in table.columns if column.is_code]
    if codes:
        pl = builder.module("polars")
        inside = ", ".join(f"{literal(name)}: {pl}.String" for name in codes)
        given["schema_overrides"] = f"{{{inside}}}"
    if any(not _form(column) for column in table.of_kind("date")):
        given["try_parse_dates"] = "True"
    if builder.choices.coerce:
        given["infer_schema_length"] = "None"
    if table.uneven or builder.choices.cut_lines:
        given["truncate_ragged_lines"] = "True"
    return [f"{name}={value}" for name, value in given.items()]
