"""Values of a program: expressions in which each name is replaced by what it was bound to.

Also the conditions of filters, as far as they compare columns with constants.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

NO_CONSTANT = object()
_MAX_DEPTH = 4
_MAX_ITEMS = 10_000


@dataclass(eq=False)
class Value:
    op: str
    """`constant`, `global`, `path` (of a module), `call`, `method`, `attribute`, `index`, `item`,
    `set` (a container with another content), `compare`, `operator`, `list`, `dict`, `loop`, …
    """
    name: str = ""
    base: Value | None = None
    args: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    constant: object = NO_CONSTANT
    line: int | None = None
    """None for what ran earlier than the code in question."""
    loops: tuple[Value, ...] = ()
    """Enclosing loops, the outermost first."""

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def text(self) -> str | None:
        return self.constant if isinstance(self.constant, str) else None

    @property
    def known(self) -> bool:
        return self.constant is not NO_CONSTANT

    def keyword(self, name: str, place: int | None = None) -> Value | None:
        if name in self.keywords:
            return self.keywords[name]
        return self.args[place] if place is not None and place < len(self.args) else None

    def is_true(self, name: str) -> bool:
        given = self.keywords.get(name)
        return given is not None and given.constant is True

    def parts(self) -> Iterator[Value]:
        if self.base is not None:
            yield self.base
        yield from self.args
        yield from self.keywords.values()

    def ancestry(self) -> Iterator[Value]:
        """Itself, and everything it is made of."""
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            value = waiting.pop()
            if id(value) not in seen:
                seen.add(id(value))
                yield value
                waiting.extend(value.parts())

    def is_made_of(self, part: Value) -> bool:
        return any(ancestor is part for ancestor in self.ancestry())

    def chain(self) -> Iterator[Value]:
        """Itself, its receiver, the receiver of that, and so on."""
        value: Value | None = self
        while value is not None:
            yield value
            value = value.base


def texts_of(value: Value | None) -> list[str] | None:
    """A string or a list of strings as a list; None if it is something else."""
    if value is None:
        return None
    if value.text is not None:
        return [value.text]
    if value.op == "list":
        found = [arg.text for arg in value.args]
        return [text for text in found if text is not None] if None not in found else None
    return None


def constant_of(value: Value | None, depth: int = 0) -> object:
    """The constant it is, lists and dictionaries of constants included; else NO_CONSTANT."""
    if value is None or depth > _MAX_DEPTH:
        return NO_CONSTANT
    if value.op == "list":
        found = [constant_of(arg, depth + 1) for arg in value.args]
        return NO_CONSTANT if NO_CONSTANT in found else found
    if value.op == "dict":
        keys, held = (
            [constant_of(pair.args[side], depth + 1) for pair in value.args] for side in (0, 1)
        )
        if NO_CONSTANT in held or not all(isinstance(key, str | int | float) for key in keys):
            return NO_CONSTANT
        return dict(zip(keys, held, strict=True))
    if value.op == "call" and value.short in ("Timestamp", "to_datetime", "Path") and value.args:
        return constant_of(value.args[0])
    if value.op == "operator" and value.name == "Mult" and len(value.args) == 2:
        items, times = (constant_of(arg, depth + 1) for arg in value.args)
        if isinstance(items, list) and isinstance(times, int) and len(items) * times <= _MAX_ITEMS:
            return items * times
    if value.op == "operator" and value.name == "USub" and value.args:
        number = value.args[0].constant
        return -number if isinstance(number, int | float) else NO_CONSTANT
    return value.constant


Condition = list[JsonValue]

OF_TABLES = {
    "T", "at", "columns", "dt", "dtype", "dtypes", "iat", "iloc", "index", "loc", "name", "ndim",
    "plot", "shape", "size", "str", "values", "cat", "hist", "empty", "axes", "schema", "height",
    "width", "list", "struct",
}  # fmt: skip
"""Attributes of tables that are not columns."""
_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_METHODS = {"gt": ">", "ge": ">=", "lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_ABSENT = {"isna", "isnull", "is_null"}
_PRESENT = {"notna", "notnull", "is_not_null"}
_TEXTS = {"contains": "__contains__", "startswith": "startswith", "endswith": "endswith"}
_MAX_CONDITION_DEPTH = 10
_REGEX = re.compile(r"[.^$*+?{}\[\]\\|()]")


def column_of(value: Value | None) -> tuple[Value | None, str] | None:
    """Table and column name; the table is None for an expression of polars."""
    if value is None:
        return None
    if value.op == "call" and value.name in ("polars.col", "polars.functions.col"):
        text = value.args[0].text if len(value.args) == 1 else None
        return (None, text) if text else None
    if value.op == "index" and value.base is not None:
        text = value.args[0].text
        if text is not None and value.base.op != "dict":
            return value.base, text
        key = value.args[0]
        if value.base.op == "attribute" and value.base.name == "loc" and key.op == "list":
            whole = len(key.args) == 2 and key.args[0].op == "slice"
            if whole and key.args[1].text and value.base.base is not None:
                return value.base.base, key.args[1].text
    if value.op == "attribute" and value.base is not None and value.name not in OF_TABLES:
        return None if value.base.op == "path" else (value.base, value.name)
    return None


def table_column(value: Value | None) -> tuple[Value, str] | None:
    """Like `column_of`, but None where the table is unknown."""
    table, name = column_of(value) or (None, "")
    return (table, name) if table is not None else None


def same_rows(first: Value | None, second: Value | None) -> bool:
    """Whether both have the same rows, whatever happened to other columns."""
    return first is None or second is None or _unchanged(first) is _unchanged(second)


def _unchanged(value: Value) -> Value:
    while value.op == "set" and value.base is not None:
        base = value.base
        value = base.base if base.op == "attribute" and base.base is not None else base
    return value


def condition_of(mask: Value, table: Value, depth: int = 0) -> Condition | None:
    """None if the mask is not a comparison of columns with constants."""
    if depth > _MAX_CONDITION_DEPTH:
        return None
    if mask.op == "constant" and mask.text is not None:
        return query_condition(mask.text)
    if mask.op == "operator" and mask.name in ("BitAnd", "And", "BitOr", "Or"):
        parts = [condition_of(arg, table, depth + 1) for arg in mask.args]
        return _join("and" if mask.name.endswith("And") else "or", parts)
    if mask.op == "operator" and mask.name in ("Invert", "Not"):
        inner = condition_of(mask.args[0], table, depth + 1)
        return None if inner is None else ["not", inner]
    if mask.op == "compare" and len(mask.args) == 2:
        left_side, right_side = mask.args
        return _compared(left_side, mask.name, right_side, table) or _compared(
            right_side, _FLIPPED.get(mask.name, ""), left_side, table
        )
    return _asked(mask, table) if mask.op == "method" else None


def _column(value: Value | None, table: Value) -> str | None:
    """Its name; empty for the only column of a series."""
    if value is table:
        return ""
    found = column_of(value)
    return found[1] if found is not None and same_rows(found[0], table) else None


def _compared(left_side: Value, name: str, right_side: Value, table: Value) -> Condition | None:
    column, constant = _column(left_side, table), constant_of(right_side)
    if column is None or name not in _FLIPPED:
        return None
    if right_side.op in ("attribute", "path") and right_side.short in ("nan", "NaN", "NaT", "NA"):
        constant = None
    if constant is None or isinstance(constant, str | int | float | bool):
        return ["compare", column, name, constant]
    return None


def _asked(mask: Value, table: Value) -> Condition | None:
    owner = mask.base
    if owner is not None and owner.op == "attribute" and owner.name == "str":
        column, text = _column(owner.base, table), constant_of(mask.keyword("pat", 0))
        simple = isinstance(text, str) and not _REGEX.search(text) and len(mask.keywords) == 0
        if column is None or mask.name not in _TEXTS or not simple:
            return None
        return ["text", column, _TEXTS[mask.name], text]  # type: ignore[list-item]
    column = _column(owner, table)
    if column is None:
        return None
    if mask.name in _ABSENT:
        return ["missing", column]
    if mask.name in _PRESENT:
        return ["not", ["missing", column]]
    if mask.name in ("isin", "is_in"):
        values = constant_of(mask.keyword("values", 0))
        if isinstance(values, list) and all(isinstance(v, str | int | float) for v in values):
            return ["in", column, values]
    if mask.name in ("between", "is_between") and len(mask.args) == 2 and not mask.keywords:
        low, high = (constant_of(arg) for arg in mask.args)
        if isinstance(low, str | int | float) and isinstance(high, str | int | float):
            return ["and", ["compare", column, ">=", low], ["compare", column, "<=", high]]
    if mask.name in _METHODS and mask.args:
        return _compared(owner or mask, _METHODS[mask.name], mask.args[0], table)
    return None


def query_condition(text: str) -> Condition | None:
    """The condition of `query`, whose names are columns."""
    try:
        return _from_syntax(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        return None


def _from_syntax(node: ast.expr) -> Condition | None:
    if isinstance(node, ast.BoolOp):
        joined = "and" if isinstance(node.op, ast.And) else "or"
        return _join(joined, [_from_syntax(value) for value in node.values])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        joined = "and" if isinstance(node.op, ast.BitAnd) else "or"
        return _join(joined, [_from_syntax(node.left), _from_syntax(node.right)])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        inner = _from_syntax(node.operand)
        return None if inner is None else ["not", inner]
    if not isinstance(node, ast.Compare):
        return None
    names = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
    ends = [node.left, *node.comparators]
    parts: list[Condition] = []
    for left_side, kind, right_side in zip(ends, node.ops, ends[1:], strict=False):
        name = names.get(type(kind), "")
        if isinstance(right_side, ast.Name) and not isinstance(left_side, ast.Name):
            left_side, right_side, name = right_side, left_side, _FLIPPED.get(name, "")
        constant = _literal(right_side)
        if not isinstance(left_side, ast.Name) or constant is NO_CONSTANT:
            return None
        if isinstance(kind, ast.In) and isinstance(constant, list):
            parts.append(["in", left_side.id, constant])
        elif name and isinstance(constant, str | int | float):
            parts.append(["compare", left_side.id, name, constant])
        else:
            return None
    return parts[0] if len(parts) == 1 else ["and", *parts]


def _join(joined: str, parts: list[Condition | None]) -> Condition | None:
    known = [part for part in parts if part is not None]
    return [joined, *known] if len(known) == len(parts) else None


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return NO_CONSTANT


def columns_named(value: Value | None) -> list[str] | None:
    """The columns that an argument names: strings, or `pl.col`s."""
    found = texts_of(value)
    if found is not None or value is None:
        return found
    single = column_of(value)
    return [single[1]] if single is not None and single[0] is None else None


def own_expression(value: Value) -> Iterator[Value]:
    """The parts of an expression up to the tables in it, whose own history does not count."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        current_value = waiting.pop()
        if id(current_value) in seen:
            continue
        seen.add(id(current_value))
        yield current_value
        found = column_of(current_value)
        if found is not None:
            if found[0] is not None and found[0].op == "method":  # a grouping, say
                waiting.append(found[0])
        elif current_value.op not in ("set", "item", "loop"):
            waiting.extend(current_value.parts())
