"""Resolves and inspects the files that a call about tables names."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import PurePosixPath

from ...domain.errors import CoworkError, InvalidInput, NotFound
from ...tools.documents import not_found_error
from ...tools.table_facts import table_facts
from ...workspace import Glob, IgnoreRules, PathHandle, Workspace, kind_of, visible_files
from .confined.order import File, Format, Source, TextOptions

MAX_FILES = 1000
_MAX_LOOKED_AT = 20_000
_LARGE = 1_000_000_000
_HEAD, _HEAD_OF_MANY = 512 * 1024, 64 * 1024
_GLOB = re.compile(r"[*?\[{]")
_FORMATS: dict[str, Format] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "csv"),
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "excel"),
    **dict.fromkeys((".db", ".sqlite", ".sqlite3"), "sqlite"),
}  # fmt: skip
_UNKNOWN = TextOptions(
    separator="", encoding="", decimal_comma=False, day_first=False, is_ragged=False, missing=[]
)


def are_large(workspace: Workspace, paths: Iterable[str]) -> bool:
    return any(_is_large(workspace, path) for path in paths)


def _is_large(workspace: Workspace, path: str) -> bool:
    try:
        with workspace.locate(path) as place:
            facts = place.stat()
    except CoworkError:  # does not exist, as for a pattern
        return bool(_GLOB.search(path))
    return kind_of(facts.st_mode) == "folder" or facts.st_size >= _LARGE


def find_source(workspace: Workspace, path: str) -> Source:
    """Resolve a path to a file, or to the files of one format in a folder or pattern.

    Unreadable files are refused if named, and skipped otherwise.
    """
    with workspace.locate(path) as place:
        if not place.exists() and _GLOB.search(path):
            return _many_files(workspace, path, *_split_pattern(path))
        if not place.exists():
            raise not_found_error(workspace, place.path)
        if kind_of(place.stat().st_mode) == "folder":
            return _many_files(workspace, path, place.path, None)
        return _one_file(path, place)


def _one_file(path: str, place: PathHandle, head: int = _HEAD) -> Source:
    kind = _format(place.path)
    if kind is None:
        raise InvalidInput(
            f"'{place.path}' is not a table. Its extension must be that of a CSV, TSV, JSON, "
            "Parquet, Excel or SQLite file.",
            code="no_table",
        )
    options = _options(place, head) if kind == "csv" else None
    return Source(path=path, format=kind, files=[_file(place)], options=options)


def _many_files(workspace: Workspace, path: str, folder: str, pattern: str | None) -> Source:
    found = list(islice(_tables_in(workspace, folder, pattern), MAX_FILES + 1))
    if not found:
        raise NotFound(f"There is no table in '{path}'.")
    if len(found) > MAX_FILES:
        raise InvalidInput(f"'{path}' holds more than {MAX_FILES:,} tables. Name fewer.")
    formats = {source["format"] for source in found}
    if len(formats) > 1 or not formats <= {"csv", "json", "parquet"}:
        raise InvalidInput(
            f"The tables in '{path}' cannot be read as one: they are {', '.join(sorted(formats))}. "
            "Name the files.",
            code="mixed_tables",
        )
    files = [file for source in found for file in source["files"]]
    options = [source["options"] for source in found if source["options"]]
    together = _merge_options(path, options) if options else None
    return Source(path=path, format=found[0]["format"], files=files, options=together)


def _merge_options(path: str, each: list[TextOptions]) -> TextOptions:
    """Merge the options of files: some reveal more than others, but they must not conflict."""
    separators = {options["separator"] for options in each} - {""}
    encodings = {options["encoding"] for options in each}
    if len(separators) > 1 or len(encodings) > 1:
        raise InvalidInput(
            f"The files in '{path}' differ in separator or encoding. Name files that agree.",
            code="mixed_tables",
        )
    return TextOptions(
        separator="".join(separators),
        encoding="".join(encodings),
        decimal_comma=any(options["decimal_comma"] for options in each),
        day_first=any(options["day_first"] for options in each),
        is_ragged=any(options["is_ragged"] for options in each),
        missing=sorted({text for options in each for text in options["missing"]}),
    )


def _tables_in(workspace: Workspace, folder: str, pattern: str | None) -> Iterator[Source]:
    glob = Glob(f"/{pattern}") if pattern else None
    below = visible_files(workspace, folder, IgnoreRules(workspace))
    for file in islice(below, _MAX_LOOKED_AT):
        if _format(file) is None or (glob and not glob.matches(file)):
            continue
        try:
            with workspace.locate(file) as place:
                source = _one_file(file, place, _HEAD_OF_MANY)
        except CoworkError:  # gone or hidden
            continue
        yield source


def _split_pattern(path: str) -> tuple[str, str]:
    """The folder that a pattern is about, and the pattern relative to the workspace."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    first = next(place for place, part in enumerate(parts) if _GLOB.search(part))
    return "/".join(parts[:first]) or ".", "/".join(parts)


def _format(path: str) -> Format | None:
    name = path.lower().removesuffix(".gz")
    return _FORMATS.get(PurePosixPath(name).suffix)


def _file(place: PathHandle) -> File:
    with place.open():
        facts = place.stat()
    return File(path=place.path, device=facts.st_dev, inode=facts.st_ino)


def _options(place: PathHandle, limit: int) -> TextOptions:
    """How the file is written, from its head; DuckDB finds out the rest."""
    head, size = place.read(limit), place.stat().st_size
    if place.path.lower().endswith(".gz"):
        head = _gunzip(head)
        size = len(head) + 1
    facts = table_facts(place.path, head, size)
    if facts is None:
        return _UNKNOWN
    dialect = facts.dialect
    is_one_column = len(facts.columns) < 2
    return TextOptions(
        separator="" if is_one_column else dialect.separator,
        encoding=dialect.encoding,
        decimal_comma=dialect.decimal_comma and dialect.separator != ",",
        day_first=dialect.day_first,
        is_ragged=dialect.is_ragged and not is_one_column,
        missing=sorted(dialect.missing - {""}),
    )


def _gunzip(head: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(head, _HEAD)
    except zlib.error:  # reading it will report that
        return b""
