"""Columns and rows of data files, where they are cheap to know."""

from __future__ import annotations

import csv
import io
from importlib import import_module

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_MAX_COLUMNS = 200


def is_table(path: str) -> bool:
    """Whether the name is that of a table we can look into."""
    return path.lower().endswith((*_SEPARATORS, ".parquet"))


def table_facts(path: str, content: bytes) -> tuple[list[str] | None, int | None]:
    """The names of the columns and the number of rows, or None where that is not known."""
    if path.lower().endswith(".parquet"):
        return _parquet(content)
    separator = _SEPARATORS[path.lower()[-4:]]
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig", "replace")), delimiter=separator)
    try:
        columns = next(lines, None)
        rows = sum(1 for line in lines if line)
    except csv.Error:  # a field beyond all measure
        return None, None
    return (columns[:_MAX_COLUMNS], rows) if columns is not None else (None, None)


def _parquet(content: bytes) -> tuple[list[str] | None, int | None]:
    """Only if the user has the library anyway; the footer says it all."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        return None, None
    try:
        footer = parquet.ParquetFile(io.BytesIO(content))
        return list(footer.schema_arrow.names)[:_MAX_COLUMNS], int(footer.metadata.num_rows)
    except Exception:  # whatever is wrong with the file, the rest of the diff can be shown
        return None, None
