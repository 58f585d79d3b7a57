"""Expectations as Python: plain asserts for a cell, or a pandera schema. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..domain.expectations import FILE, Expectation, partner, tables_of
from .checking import expectation_text

_COMPARED = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_READERS = {
    ".csv": "pd.read_csv({})",
    ".tsv": 'pd.read_csv({}, sep="\\t")',
    ".json": "pd.read_json({})",
    ".jsonl": "pd.read_json({}, lines=True)",
    ".parquet": "pd.read_parquet({})",
    ".xlsx": "pd.read_excel({})",
}
_TYPES = {
    "int": "is_integer_dtype",
    "integer": "is_integer_dtype",
    "float": "is_float_dtype",
    "number": "is_numeric_dtype",
    "text": "is_string_dtype",
    "string": "is_string_dtype",
    "date": "is_datetime64_any_dtype",
    "datetime": "is_datetime64_any_dtype",
    "bool": "is_bool_dtype",
    "boolean": "is_bool_dtype",
}


def as_asserts(expectations: Sequence[Expectation]) -> str:
    lines = [*_imports(expectations), *_reading(expectations)]
    for expectation in expectations:
        message = f"{expectation.of.removeprefix(FILE)}: {expectation_text(expectation)}"
        lines.append(f"assert {_condition(expectation, _name(expectation.of))}, {message!r}")
    return "\n".join(lines) + "\n"


def as_pandera(expectations: Sequence[Expectation]) -> str:
    lines = [*_imports(expectations, "import pandera.pandas as pa"), *_reading(expectations)]
    for of in dict.fromkeys(expectation.of for expectation in expectations):
        lines += ["", *_schema(_name(of), [each for each in expectations if each.of == of])]
    return "\n".join(lines) + "\n"


def _schema(table: str, expectations: Sequence[Expectation]) -> list[str]:
    columns = dict.fromkeys(each.column for each in expectations if each.column)
    lines = [f"{table}_schema = pa.DataFrameSchema("]
    if columns:
        lines.append("    columns={")
        for column in columns:
            about = [each for each in expectations if each.column == column]
            lines.append(f"        {column!r}: {_pandera_column(about)},")
        lines.append("    },")
    whole = [each for each in expectations if not each.column]
    if whole:
        lines.append("    checks=[")
        for each in whole:
            test, text = _condition(each, "df"), expectation_text(each)
            lines.append(f"        pa.Check(lambda df: {test}, error={text!r}),")
        lines.append("    ],")
    return [*lines, ")", f"{table}_schema.validate({table})"]


def _pandera_column(expectations: Sequence[Expectation]) -> str:
    checks = {expectation.check for expectation in expectations}
    parts = [f"nullable={'no_missing' not in checks}"]
    if "unique" in checks:
        parts.append("unique=True")
    others = [
        f"pa.Check(lambda s: {_of_column(other, 's')}, error={expectation_text(other)!r}, "
        "ignore_na=False)"
        for other in expectations
        if other.check not in ("no_missing", "unique")
    ]
    if others:
        parts.append(f"checks=[{', '.join(others)}]")
    return f"pa.Column({', '.join(parts)})"


def _condition(expectation: Expectation, table: str) -> str:
    value, compared = expectation.value, _COMPARED[expectation.op]
    match expectation.check:
        case "rows":
            return _compared(f"len({table})", expectation)
        case "columns" if isinstance(value, list):
            names = "{" + ", ".join(map(repr, value)) + "}"
            held = f"set({table}.columns)"
            return f"{held} == {names}" if expectation.op == "=" else f"{names} <= {held}"
        case "columns":
            return f"{table}.shape[1] {compared} {value!r}"
        case "unique" if not expectation.column:
            return f"not {table}.duplicated().any()"
        case "no_missing" if not expectation.column:
            return f"{table}.notna().all(axis=None)"
    return _of_column(expectation, f"{table}[{expectation.column!r}]")


def _of_column(expectation: Expectation, column: str) -> str:
    value = expectation.value
    match expectation.check:
        case "unique":
            return f"{column}.is_unique"
        case "no_missing":
            return f"{column}.notna().all()"
        case "range" if isinstance(value, list):
            return f"{column}.dropna().between({value[0]!r}, {value[1]!r}).all()"
        case "range":
            return f"({column}.dropna() {_COMPARED[expectation.op]} {value!r}).all()"
        case "values":
            among = f"{column}.dropna().isin({value!r})"
            return f"{among}.all()" if expectation.op == "=" else f"not {among}.any()"
        case "sum":
            return _compared(f"{column}.sum()", expectation)
        case "type":
            return f"{'' if expectation.op == '=' else 'not '}{_is_of_type(column, str(value))}"
    table, other = partner(expectation)
    return f"{column}.isin({_name(table)}[{other!r}].dropna()).all()"


def _compared(number: str, expectation: Expectation) -> str:
    """Sums of floats are never compared to the last digit."""
    if expectation.op != "=":
        return f"{number} {_COMPARED[expectation.op]} {expectation.value!r}"
    if expectation.tolerance or expectation.check == "sum":
        tolerance = expectation.tolerance or 1e-9
        return f"math.isclose({number}, {expectation.value!r}, rel_tol={tolerance!r})"
    return f"{number} == {expectation.value!r}"


def _is_of_type(column: str, kind: str) -> str:
    check = _TYPES.get(kind.lower())
    return f"pd.api.types.{check}({column})" if check else f"(str({column}.dtype) == {kind!r})"


def _imports(expectations: Sequence[Expectation], more: str = "") -> list[str]:
    code = " ".join(_condition(expectation, "t") for expectation in expectations)
    lines = ["import math\n"] if "math." in code else []
    if "pd." in code or _reading(expectations):
        lines.append("import pandas as pd")
    return [*lines, *([more] if more else []), *([""] if lines or more else [])]


def _reading(expectations: Sequence[Expectation]) -> list[str]:
    tables = dict.fromkeys(table for each in expectations for table in sorted(tables_of(each)))
    return [
        f"{_name(table)} = {_reader(table.removeprefix(FILE))}"
        for table in tables
        if table.startswith(FILE)
    ]


def _reader(path: str) -> str:
    ending = "." + path.rpartition(".")[2].lower()
    return _READERS.get(ending, _READERS[".csv"]).format(repr(path))


def _name(of: str) -> str:
    if not of.startswith(FILE):
        return of
    name = re.sub(r"\W+", "_", of.rpartition("/")[2].removeprefix(FILE)).strip("_")
    return name if name.isidentifier() else f"table_{name}"
