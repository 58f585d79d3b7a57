"""Expectations as Python: plain asserts for a cell, or a pandera schema. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..domain.expectation_rules import FILE, partner, tables_of
from ..domain.expectations import Expectation
from .checking import in_words

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
    """Code for a cell that fails where one of them is broken; it needs only pandas."""
    lines = [*_imports(expectations), *_reading(expectations)]
    for one in expectations:
        said = f"{one.of.removeprefix(FILE)}: {in_words(one)}"
        lines.append(f"assert {_condition(one, _name(one.of))}, {said!r}")
    return "\n".join(lines) + "\n"


def as_pandera(expectations: Sequence[Expectation]) -> str:
    """The source of a schema for each table, and code that validates the tables."""
    lines = [*_imports(expectations, "import pandera.pandas as pa"), *_reading(expectations)]
    for of in dict.fromkeys(one.of for one in expectations):
        lines += ["", *_schema(_name(of), [one for one in expectations if one.of == of])]
    return "\n".join(lines) + "\n"


def _schema(table: str, expectations: Sequence[Expectation]) -> list[str]:
    columns = dict.fromkeys(one.column for one in expectations if one.column)
    lines = [f"{table}_schema = pa.DataFrameSchema("]
    if columns:
        lines.append("    columns={")
        for column in columns:
            about = [one for one in expectations if one.column == column]
            lines.append(f"        {column!r}: {_pandera_column(about)},")
        lines.append("    },")
    whole = [one for one in expectations if not one.column]
    if whole:
        lines.append("    checks=[")
        lines += [
            f"        pa.Check(lambda df: {_condition(one, 'df')}, error={in_words(one)!r}),"
            for one in whole
        ]
        lines.append("    ],")
    return [*lines, ")", f"{table}_schema.validate({table})"]


def _pandera_column(expectations: Sequence[Expectation]) -> str:
    checks = {one.check for one in expectations}
    parts = [f"nullable={'no_missing' not in checks}"]
    if "unique" in checks:
        parts.append("unique=True")
    others = [one for one in expectations if one.check not in ("no_missing", "unique")]
    if others:
        each = [
            f"pa.Check(lambda s: {_of_column(one, 's')}, error={in_words(one)!r}, ignore_na=False)"
            for one in others
        ]
        parts.append(f"checks=[{', '.join(each)}]")
    return f"pa.Column({', '.join(parts)})"


def _condition(one: Expectation, table: str) -> str:
    """What must be true, as an expression of pandas."""
    value, compared = one.value, _COMPARED[one.op]
    match one.check:
        case "rows":
            return _compared(f"len({table})", one)
        case "columns" if isinstance(value, list):
            names = "{" + ", ".join(map(repr, value)) + "}"
            held = f"set({table}.columns)"
            return f"{held} == {names}" if one.op == "=" else f"{names} <= {held}"
        case "columns":
            return f"{table}.shape[1] {compared} {value!r}"
        case "unique" if not one.column:
            return f"not {table}.duplicated().any()"
        case "no_missing" if not one.column:
            return f"{table}.notna().all(axis=None)"
    return _of_column(one, f"{table}[{one.column!r}]")


def _of_column(one: Expectation, column: str) -> str:
    value = one.value
    match one.check:
        case "unique":
            return f"{column}.is_unique"
        case "no_missing":
            return f"{column}.notna().all()"
        case "range" if isinstance(value, list):
            return f"{column}.dropna().between({value[0]!r}, {value[1]!r}).all()"
        case "range":
            return f"({column}.dropna() {_COMPARED[one.op]} {value!r}).all()"
        case "values":
            among = f"{column}.dropna().isin({value!r})"
            return f"{among}.all()" if one.op == "=" else f"not {among}.any()"
        case "sum":
            return _compared(f"{column}.sum()", one)
        case "type":
            return f"{'' if one.op == '=' else 'not '}{_is_of_type(column, str(value))}"
    table, other = partner(one)
    return f"{column}.isin({_name(table)}[{other!r}].dropna()).all()"


def _compared(number: str, one: Expectation) -> str:
    """Sums of floats are never compared to the last digit."""
    if one.op != "=":
        return f"{number} {_COMPARED[one.op]} {one.value!r}"
    if one.tolerance or one.check == "sum":
        return f"math.isclose({number}, {one.value!r}, rel_tol={one.tolerance or 1e-9!r})"
    return f"{number} == {one.value!r}"


def _is_of_type(column: str, kind: str) -> str:
    known = _TYPES.get(kind.lower())
    return f"pd.api.types.{known}({column})" if known else f"(str({column}.dtype) == {kind!r})"


def _imports(expectations: Sequence[Expectation], more: str = "") -> list[str]:
    code = " ".join(_condition(one, "t") for one in expectations)
    files = any(table.startswith(FILE) for one in expectations for table in tables_of(one))
    lines = ["import math\n"] if "math." in code else []
    if files or "pd." in code:
        lines.append("import pandas as pd")
    return [*lines, *([more] if more else []), *([""] if lines or more else [])]


def _reading(expectations: Sequence[Expectation]) -> list[str]:
    tables = dict.fromkeys(table for one in expectations for table in sorted(tables_of(one)))
    files = [table for table in tables if table.startswith(FILE)]
    return [f"{_name(file)} = {_reader(file.removeprefix(FILE))}" for file in files]


def _reader(path: str) -> str:
    ending = "." + path.rpartition(".")[2].lower()
    return _READERS.get(ending, _READERS[".csv"]).format(repr(path))


def _name(of: str) -> str:
    """A variable for a table; a file's is made of its name."""
    if not of.startswith(FILE):
        return of
    name = re.sub(r"\W+", "_", of.rpartition("/")[2].removeprefix(FILE)).strip("_")
    return name if name.isidentifier() else f"table_{name}"
