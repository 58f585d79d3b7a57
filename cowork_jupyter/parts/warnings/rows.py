"""Where the rows of a value can be looked at: a name in the kernel, and steps from there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue

from .program import DataFlow
from .values import Value, columns_named, condition_of, constant_of, texts_of

Step = tuple[str, JsonValue]
_AS_THEY_ARE = {
    "copy", "sort_values", "sort_index", "sort", "infer_objects", "convert_dtypes", "reset_index",
    "clone", "to_frame", "to_numpy", "collect", "lazy",
}  # fmt: skip
_EMPTY: list[JsonValue] = []


@dataclass(frozen=True)
class Rows:
    table: str
    after: bool
    """Whether they are those that the code leaves, not those that it found."""
    lasting: bool = False
    """Whether they are the same before and after."""
    steps: tuple[Step, ...] = ()
    whole: bool = True
    """Whether no column has other values than in the kernel."""

    @property
    def text(self) -> str:
        """As our code in the kernel parses it."""
        return json.dumps({"table": self.table, "steps": self.steps})

    def then(self, step: str, argument: object) -> Rows:
        return replace(self, steps=(*self.steps, (step, argument)))  # type: ignore[arg-type]

    def without(self, columns: list[str]) -> Rows:
        """The same rows, without columns whose values differ from the kernel's."""
        return replace(self.then("drop", columns), whole=False)


def at_one_time(*all_rows: Rows | None) -> list[Rows] | None:
    """The same rows, all to be looked at before the code or all after it; None if impossible."""
    known = [rows for rows in all_rows if rows is not None]
    if len(known) < len(all_rows):
        return None
    if any(rows.after for rows in known):
        if not all(rows.after or rows.lasting for rows in known):
            return None
        return [replace(rows, after=True) for rows in known]
    return known


class Locator:
    def __init__(self, program: DataFlow) -> None:
        self._names: dict[int, Rows] = {}
        for name, value in program.final.items():
            lasting = value is program.initial.get(name) or value.op == "global"
            self._names[id(value)] = Rows(name, not lasting, lasting)
        for name, value in program.initial.items():
            self._names.setdefault(id(value), Rows(name, after=False))
        for value in program.final.values():
            self._add_earlier(value)

    def _add_earlier(self, value: Value) -> None:
        """A table before columns were put into it: the others are still there."""
        rows = self._names[id(value)]
        while value.op == "set" and value.name == "" and value.base is not None:
            column = value.args[0].text
            if column is None:
                return
            value, rows = value.base, rows.without([column])
            self._names.setdefault(id(value), rows)

    def name(self, value: Value) -> str | None:
        """The variable that holds it, before the code or after it."""
        found = self._names.get(id(value))
        return found.table if found and not found.steps else None

    def rows(self, value: Value | None, depth: int = 0) -> Rows | None:
        """None if it is unknown where its rows are."""
        if value is None or depth > 20:
            return None
        found = self._names.get(id(value))
        if found is not None:
            return found
        base = self.rows(_owner(value), depth + 1)
        return None if base is None else _step(value, base)


def _owner(value: Value) -> Value | None:
    if value.op in ("set", "index") and value.base is not None and value.base.op == "attribute":
        if value.base.name in ("loc", "iloc", "at", "iat"):
            return value.base.base
        return value.base
    return value.base if value.op in ("method", "set", "index", "attribute") else None


def _step(value: Value, base: Rows) -> Rows | None:
    if value.op == "index":
        return _indexed(value, base)
    if value.op == "set":
        column = value.args[0].text
        if column is None and value.name == "loc" and value.args[0].op == "list":
            named = texts_of(value.args[0].args[-1])
            return base.without(named) if named else None
        return base.without([column]) if column is not None and value.name != "list" else None
    if value.op == "attribute":
        if value.name in ("values", "T"):
            return base if value.name == "values" else None
        return base.then("select", [value.name])
    return _called(value, base)


def _indexed(value: Value, base: Rows) -> Rows | None:
    key, owner = value.args[0], value.base
    assert owner is not None
    if owner.op == "attribute" and owner.name in ("loc", "iloc"):
        rows, columns = (key.args[0], key.args[1]) if _is_pair(key) else (key, None)
        by_place = owner.name == "iloc"
        if rows.op == "slice":
            chosen = _sliced(rows, base) if by_place else base if _is_open(rows) else None
        else:
            chosen = None if by_place else _where(rows, owner.base, base)
        if chosen is None or columns is None:
            return chosen
        if columns.op == "slice" and _is_open(columns):
            return chosen
        named = texts_of(columns)
        return chosen.then("select", named) if named and not by_place else None
    named = texts_of(key)
    if named is not None:
        return base.then("select", named)
    if key.op == "slice":
        return _sliced(key, base)
    return _where(key, owner, base)


def _is_pair(key: Value) -> bool:
    return key.op == "list" and len(key.args) == 2 and key.args[0].text is None


def _is_open(part: Value) -> bool:
    return all(arg.constant is None for arg in part.args)


def _sliced(part: Value, base: Rows) -> Rows | None:
    ends = [constant_of(arg) for arg in part.args]
    if all(end is None or isinstance(end, int) for end in ends):
        return base.then("some", ends)
    return None


def _where(mask: Value, table: Value | None, base: Rows) -> Rows | None:
    asked = None if table is None else condition_of(mask, table)
    return None if asked is None else base.then("where", asked)


def _called(value: Value, base: Rows) -> Rows | None:
    name, table = value.name, value.base
    assert table is not None
    if name in _AS_THEY_ARE:
        return base
    if name == "set_index":
        keys = texts_of(value.keyword("keys", 0))
        return base.then("set_index", keys[0]) if keys and len(keys) == 1 else None
    if name in ("head", "tail", "limit"):
        count = constant_of(value.keyword("n", 0)) if value.args or value.keywords else 5
        if not isinstance(count, int):
            return None
        return base.then("some", [-count, None] if name == "tail" else [0, count])
    if name in ("query", "filter", "where") and (value.args or value.keywords):
        return _where(value.args[0], table, base) if len(value.args) == 1 else None
    if name in ("dropna", "drop_nulls", "drop_duplicates", "unique"):
        return _dropped(value, base)
    if name == "rename":
        names = constant_of(value.keyword("columns", 0))
        return base.then("rename", names) if isinstance(names, Mapping) else None
    if name == "drop":
        columns = texts_of(value.keyword("columns"))
        axis = constant_of(value.keyword("axis"))
        if columns is None and (axis in (1, "columns") or (value.args and not value.keywords)):
            columns = texts_of(value.args[0]) if value.args else None
        return base.then("drop", columns) if columns is not None else None
    if name == "pop":
        return base.then("drop", texts_of(value.args[0]) or [])
    if name == "select":
        named = [columns_named(arg) for arg in value.args]
        plain_names = [plain_name for names in named for plain_name in names or []]
        return base.then("select", plain_names) if None not in named and named else None
    return _recomputed(value, base)


def _recomputed(value: Value, base: Rows) -> Rows | None:
    """Methods that keep the rows, and give some columns other values."""
    if value.name == "assign":
        return base.without(list(value.keywords))
    if value.name == "with_columns":
        made = [*value.keywords]
        for arg in value.args:
            aliases = [part.args[0].text for part in arg.chain() if part.name == "alias"]
            column = next((part.args[0].text for part in arg.chain() if part.op == "call"), None)
            made.append((aliases or [column])[0] or "")
        return base.without([name or "" for name in made]) if all(made) else None
    if value.name in ("fillna", "fill_null", "astype", "replace"):
        given = constant_of(value.args[0]) if value.args else None
        return base.without(list(given)) if isinstance(given, Mapping) else None
    return None


def _dropped(value: Value, base: Rows) -> Rows | None:
    axis = constant_of(value.keyword("axis"))
    if axis in (1, "columns") or "how" in value.keywords or "thresh" in value.keywords:
        return None
    subset = value.keyword("subset", 0)
    columns = columns_named(subset)
    if subset is not None and columns is None and subset.constant is not None:
        return None
    if columns is None and not base.whole:
        return None  # other columns than those there decide
    step = "dropna" if value.name in ("dropna", "drop_nulls") else "unique"
    return base.then(step, columns or _EMPTY)
