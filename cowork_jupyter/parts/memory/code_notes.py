"""Notes from code that ran: which files it joined on which keys, how it parsed dates and numbers,
and how it cleaned a table. Read from the code's structure; constants that are data stay out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...domain.guidance import GAPS_DROPPED, GAPS_FILLED, GAPS_KEPT, MemoryNote
from ..warnings.program import DataFlow, read
from ..warnings.values import Value, constant_of, texts_of
from .wording import NamedFiles, Wording

_READS = re.compile(r"(?:pandas|polars)\.(?:read|scan)_\w+")
_WRITES = re.compile(r"(?:to|write)_(?:csv|parquet|excel|json|feather)")
_KEEP_THE_TABLE = {
    *("copy", "clone", "dropna", "drop_nulls", "drop_duplicates", "unique", "fillna", "fill_null"),
    *("convert_dtypes", "astype", "cast", "rename", "drop", "reset_index", "replace", "assign"),
    *("with_columns", "sort_values", "sort", "query", "filter"),
}
_FILLS = {"median": "the median", "mean": "the mean", "mode": "the most frequent value"}
_OPTIONS = ("sep", "delimiter", "separator", "decimal", "thousands", "encoding", "dayfirst")
_FORMAT = re.compile(r"[%\w .,:/\-]{2,40}")
_OPTION = re.compile(r"[\w\-;,.|\t ]{1,20}")


@dataclass(frozen=True)
class CodeReading:
    flow: DataFlow
    files: NamedFiles
    wording: Wording

    @classmethod
    def of(cls, pieces: Sequence[str], files: NamedFiles, wording: Wording) -> CodeReading:
        return cls(read("pass", pieces) or DataFlow(), files, wording)

    def notes(self) -> Iterator[MemoryNote]:
        yield from self._joins()
        yield from self._formats()
        yield from self._cleaning()

    def tables(self) -> dict[str, str | None]:
        found: dict[str, str | None] = {}
        for call in self.flow.calls:
            if path := self._read_by(call):
                found.setdefault(path, None)
            if path := self._written_by(call):
                found[path] = self._source(call) or found.get(path)
        return found

    def _read_by(self, value: Value) -> str | None:
        if value.op != "call" or not _READS.fullmatch(value.name):
            return None
        return self._path(value.keyword("filepath_or_buffer", 0) or value.keyword("source"))

    def _written_by(self, value: Value) -> str | None:
        if value.op != "method" or not _WRITES.fullmatch(value.name):
            return None
        return self._path(value.keyword("path_or_buf", 0) or value.keyword("path"))

    def _path(self, given: Value | None) -> str | None:
        path = constant_of(given)
        return self.files.table(path) if isinstance(path, str) else None

    def _source(self, value: Value | None) -> str | None:
        """The file that a table came from, whatever was done to it since."""
        known = (self._read_by(link) for link in (value.chain() if value else ()))
        return next((path for path in known if path), None)

    def _joins(self) -> Iterator[MemoryNote]:
        for call in self.flow.calls:
            left_side, right_side = _sides(call)
            left_source, right_source = self._source(left_side), self._source(right_side)
            keys = _keys(call)
            if not left_source or not right_source or left_source == right_source or not keys:
                continue
            if not all(self.wording.is_name(name) for pair in keys for name in pair):
                continue
            said = " and ".join(_pair(self.wording, *pair) for pair in keys)
            about = f"{self.wording.path(left_source)} + {self.wording.path(right_source)}"
            yield MemoryNote(section="Joins", about=about, says=f"join on {said}")

    def _formats(self) -> Iterator[MemoryNote]:
        for call in self.flow.calls:
            if path := self._read_by(call):
                if options := ", ".join(_reading_options(call)):
                    yield self._note("Formats", path, f"read with {options}")
                yield from self._date_columns(path, call)
        for column, value in self._stored():
            path = self._source(value.base)
            form = _date_form(_call_in(value.args[1], "to_datetime"))
            if path and form:
                yield self._format(path, column, form)

    def _date_columns(self, path: str, call: Value) -> Iterator[MemoryNote]:
        forms = constant_of(call.keyword("date_format"))
        for column in texts_of(call.keyword("parse_dates")) or []:
            form = forms.get(column) if isinstance(forms, dict) else forms
            if isinstance(form, str) and _FORMAT.fullmatch(form) and self.wording.is_name(column):
                yield self._format(path, column, f"`{form}`")

    def _format(self, path: str, column: str, form: str) -> MemoryNote:
        about = f"{self.wording.path(path)}, dates of {self.wording.columns([column])}"
        return MemoryNote(section="Formats", about=about, says=form)

    def _stored(self) -> Iterator[tuple[str, Value]]:
        for store in self.flow.stores:
            column = store.args[0].text
            if column is not None and self.wording.is_name(column):
                yield column, store

    def _cleaning(self) -> Iterator[MemoryNote]:
        ends = [*self.flow.final.values()]
        ends += [call.base for call in self.flow.calls if self._written_by(call) and call.base]
        said: dict[str, list[str]] = {}
        for end in ends:
            path, steps = self._source(end), [*self._cleaned(end)]
            if path and len(steps) > len(said.get(path, [])):
                said[path] = steps
        for path, steps in said.items():
            yield self._note("Cleaning", path, ", ".join(dict.fromkeys(steps)))

    def _cleaned(self, end: Value) -> list[str]:
        """Steps applied to the table as a whole, in order; empty if it became another table."""
        steps: list[str] = []
        for value in end.chain():
            if self._read_by(value):
                return steps[::-1]
            if value.op == "set":
                steps += self._of_column(value)
            elif value.op == "method" and value.name in _KEEP_THE_TABLE:
                steps += self._of_table(value)
            else:
                return []
        return []

    def _of_table(self, call: Value) -> list[str]:
        named = texts_of(call.keyword("subset", 0))
        columns = self.wording.columns(named or [])
        match call.name:
            case "dropna" | "drop_nulls":
                if call.keyword("axis") is not None:
                    return []
                how = call.keyword("how")
                if how is not None and how.text == "all":
                    return [GAPS_KEPT]
                return [f"rows without {columns} dropped" if named else GAPS_DROPPED]
            case "drop_duplicates" | "unique":
                return [f"duplicates by {columns} dropped" if named else "duplicates dropped"]
            case "fillna" | "fill_null":
                return [f"{GAPS_FILLED}{_filled_with(call)}"]
        return []

    def _of_column(self, store: Value) -> list[str]:
        names = [text for text in texts_of(store.args[0]) or [] if self.wording.is_name(text)]
        if not names:
            return []
        columns, value = self.wording.columns(names), store.args[1]
        said = []
        if _call_in(value, "to_numeric"):
            said.append(f"{columns} turned into numbers")
        if _call_in(value, "strip") or _call_in(value, "strip_chars"):
            said.append(f"spaces around {columns} removed")
        if fill := _call_in(value, "fillna") or _call_in(value, "fill_null"):
            said.append(f"missing {columns} filled{_filled_with(fill)}")
        return said

    def _note(self, section: str, path: str, says: str) -> MemoryNote:
        about = self.wording.path(path)
        return MemoryNote.model_validate({"section": section, "about": about, "says": says})


def _sides(call: Value) -> tuple[Value | None, Value | None]:
    if call.op == "call" and call.name == "pandas.merge":
        return call.keyword("left", 0), call.keyword("right", 1)
    if call.op == "method" and call.name in ("merge", "join"):
        return call.base, call.keyword("right", 0) or call.keyword("other", 0)
    return None, None


def _keys(call: Value) -> list[tuple[str, str]]:
    both = texts_of(call.keyword("on"))
    left_keys, right_keys = (texts_of(call.keyword(name)) for name in ("left_on", "right_on"))
    left_keys, right_keys = both or left_keys, both or right_keys
    if not left_keys or not right_keys or len(left_keys) != len(right_keys):
        return []
    return list(zip(left_keys, right_keys, strict=True))


def _pair(wording: Wording, left_key: str, right_key: str) -> str:
    left_name, right_name = wording.columns([left_key]), wording.columns([right_key])
    return left_name if left_key == right_key else f"{left_name} = {right_name}"


def _reading_options(call: Value) -> Iterator[str]:
    for name in _OPTIONS:
        given = constant_of(call.keyword(name))
        if given is True or (isinstance(given, str) and _OPTION.fullmatch(given)):
            yield f"`{name}={given!r}`"


def _date_form(call: Value | None) -> str:
    if call is None:
        return ""
    form = constant_of(call.keyword("format", 1 if call.op == "method" else None))
    if isinstance(form, str) and _FORMAT.fullmatch(form):
        return f"`{form}`"
    return "day first" if call.is_true("dayfirst") else ""


def _call_in(value: Value, name: str) -> Value | None:
    """The call of that name that a value was made with; also one that was passed to `apply`."""
    for ancestor in value.ancestry():
        if ancestor.op in ("call", "method", "path") and ancestor.short == name:
            return ancestor
        if ancestor.op == "set":  # what was stored before is another value's
            return None
    return None


def _filled_with(call: Value) -> str:
    """The fill method, unless it is a value of the data."""
    given = [link for each in (*call.args, *call.keywords.values()) for link in each.chain()]
    for ancestor in call.ancestry():
        is_fill = ancestor.op == "method" and ancestor.name in _FILLS
        if is_fill and ancestor is not call and ancestor in given:
            return f" with {_FILLS[ancestor.name]}"
    return ""
