"""Files as tables that SQL can name.

DuckDB reads text, JSON and Parquet by itself. Sheets, SQLite and encodings other than UTF-8 are
copied into temporary files first: DuckDB would have to download extensions for them.
"""

from __future__ import annotations

import codecs
import gzip
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .engine import duckdb
from .order import Order, Source, TextOptions
from .rows import Rows, header_of, identifier, plain_value, sheets_of, tables_of, text

_CHUNK = 1 << 20
_GLOB = re.compile(r"[*?\[]")
_LENIENT = (
    "sample_size = -1, null_padding = true, strict_mode = false, parallel = false, "
    "ignore_errors = true, store_rejects = true"
)
"""Not parallel: then DuckDB cannot pad rows in which a cell has several lines."""


@dataclass
class LoadedTable:
    name: str
    path: str
    """The path that stands for it, too; empty for further tables of a file."""
    label: str
    """The sheet or database table; empty for other files."""
    scan: str = ""
    """DuckDB's FROM clause; empty if it was not loaded."""
    source: Source | None = None


@dataclass
class Tables:
    connection: duckdb.DuckDBPyConnection
    order: Order
    folder: Path
    found: list[LoadedTable] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    copied: dict[str, str] = field(default_factory=dict)
    """Original names of the files that DuckDB reads under another name."""

    def load(self) -> None:
        """Prepare every source; read everything that may not be opened later."""
        for source in self.order["sources"]:
            if source["format"] in ("excel", "sqlite"):
                self._load_parts(source)
            else:
                stem = Path(source["path"].rstrip("/")).name.partition(".")[0]
                table = LoadedTable(self._name(stem), source["path"], "", source=source)
                self._prepare(table, source)
                self.found.append(table)

    def show(self) -> None:
        """Create a view for each name of a table; a sheet's own name has the lowest priority."""
        names = {table.label: table.scan for table in reversed(self.found)}
        for table in self.found:
            names |= {table.name: table.scan, table.path: table.scan}
        for name, scan in names.items():
            if name and scan:
                view = f"CREATE OR REPLACE VIEW {identifier(name)} AS FROM {scan}"
                self.connection.execute(view)

    def read_leniently(self) -> bool:
        """Accept any rows in text files; False if that was done already, or there are none.

        Slower: every row is scanned to determine the column types.
        """
        changed = False
        for table in self.found:
            options = table.source and table.source["options"]
            if table.source and options and not options["is_ragged"]:
                options["is_ragged"] = changed = True
                table.scan = self._scan(table.source)
        return changed

    def _name(self, wanted: str) -> str:
        plain = re.sub(r"\W+", "_", wanted).strip("_") or "t"
        plain = f"t_{plain}" if plain[0].isdigit() else plain
        taken = {table.name.lower() for table in self.found}
        names = (plain if number == 1 else f"{plain}_{number}" for number in range(1, 10_000))
        return next(name for name in names if name.lower() not in taken)

    def _prepare(self, table: LoadedTable, source: Source) -> None:
        options = source["options"]
        for file in source["files"]:
            path = file["path"]
            if options and options["encoding"]:
                file["path"] = self._as_utf8(path, options["encoding"])
            self.paths.append(file["path"])
            file["path"] = self._plain(file["path"])
            self.copied[file["path"]] = path
        if options and (assumed := "; ".join(_assumptions(options))):
            self.notes.append(f"{table.name}: {assumed}")
        table.scan = self._scan(source)

    def _scan(self, source: Source) -> str:
        files = [text(file["path"]) for file in source["files"]]
        options = source["options"]
        more = ["union_by_name = true"] if len(files) > 1 else []
        more += self._text_options(options) if options else []
        function = {"csv": "read_csv", "json": "read_json_auto", "parquet": "read_parquet"}
        given = ", ".join([f"[{', '.join(files)}]", *more])
        return f"{function[source['format']]}({given})"

    def _text_options(self, options: TextOptions) -> Iterator[str]:
        missing = self.order["missing"] if options["is_ragged"] else ["", *options["missing"]]
        yield f"nullstr = [{', '.join(map(text, missing))}]"
        if options["separator"]:
            yield f"delim = {text(options['separator'])}"
        if options["decimal_comma"]:
            yield "decimal_separator = ',', thousands = '.'"
        if options["day_first"]:
            yield "dateformat = '%d.%m.%Y'"
        if options["is_ragged"]:
            yield _LENIENT

    def _plain(self, path: str) -> str:
        """DuckDB would expand a path with a star."""
        if not _GLOB.search(path):
            return path
        link = self._new_file(Path(path).suffix)
        link.symlink_to(Path(path).absolute())
        self.paths.append(str(link))
        return str(link)

    def _as_utf8(self, path: str, encoding: str) -> str:
        copy = self._new_file(".csv")
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        opened = gzip.open if path.lower().endswith(".gz") else open
        with opened(path, "rb") as source, copy.open("w", encoding="utf-8", newline="") as target:
            while data := source.read(_CHUNK):
                target.write(decoder.decode(data))
            target.write(decoder.decode(b"", final=True))
        return str(copy)

    def _new_file(self, ending: str) -> Path:
        return self.folder / f"{len(os.listdir(self.folder))}{ending}"  # noqa: PTH208

    # --- sheets, and tables of databases

    def _load_parts(self, source: Source) -> None:
        """Load those that the question is about; the others are only named."""
        path = source["files"][0]["path"]
        parts = sheets_of(path) if source["format"] == "excel" else tables_of(path)
        log = Path(f"{path}-wal")
        if source["format"] == "sqlite" and log.exists() and log.stat().st_size:
            self.notes.append(f"changes still in {log.name} are not included")
        stem = Path(path).name.partition(".")[0]
        own_name = source["format"] == "excel" and len(parts) == 1
        for number, (label, rows) in enumerate(parts.items()):
            name = self._name(stem if own_name else label)
            table = LoadedTable(name, source["path"] if number == 0 else "", label)
            if self._is_wanted(table, number):
                table.scan = self._loaded(name, rows)
            self.found.append(table)

    def _is_wanted(self, table: LoadedTable, number: int) -> bool:
        sql = self.order["sql"].lower()
        if sql:
            names = (table.name, table.path, table.label)
            return any(name and name.lower() in sql for name in names)
        wanted = self.order["table"].lower()
        return wanted in (table.label.lower(), table.name.lower()) if wanted else number == 0

    def _loaded(self, name: str, rows: Rows) -> str:
        """Create a DuckDB table from these rows, of which the first holds the names."""
        every = iter(rows)
        header = header_of(next(every, ()))
        copy = self._new_file(".json")
        with copy.open("w", encoding="utf-8") as target:
            for row in every:
                cells = map(plain_value, [*row, *[None] * len(header)])
                target.write(json.dumps(dict(zip(header, cells, strict=False))) + "\n")
        stored = identifier(f"rows of {name}")
        columns = ", ".join(f"NULL::VARCHAR AS {identifier(name)}" for name in header)
        scan = (
            f"read_json_auto({text(str(copy))}, format = 'newline_delimited', sample_size = -1)"
            if copy.stat().st_size
            else f"(SELECT {columns or '1 AS empty'} WHERE false)"
        )
        self.connection.execute(f"CREATE TABLE {stored} AS FROM {scan}")
        copy.unlink()
        return stored


def _assumptions(options: TextOptions) -> Iterator[str]:
    """What matters to somebody who reads the same file in another way."""
    if options["encoding"]:
        yield f"read as {options['encoding']}"
    if options["separator"] not in ("", ",", "\t"):
        yield f"cells are separated by '{options['separator']}'"
    if options["decimal_comma"]:
        yield "1.234,5 is the number 1234.5"
    if options["day_first"]:
        yield "01.02.2025 is the first of February"
    if options["is_ragged"]:
        yield "rows have different numbers of cells; absent cells are missing values"
