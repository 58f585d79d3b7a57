"""Measures expectations in the kernel or in files, and checks them."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import operator
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from pydantic import JsonValue

from ..domain.errors import CoworkError, NotFound
from ..domain.expectations import (
    FILE,
    Expectation,
    Measured,
    is_about_files,
    partner,
    tables_of,
    unchecked,
)
from ..domain.roles import AgentRole
from ..tools.base import Clearance, ToolContext
from ..tools.kernel.state import Kernels
from ..tools.table_facts import MISSING, table_facts
from ..tools.tables.confined.order import TableReply
from ..tools.tables.tools import select
from ..workspace import Workspace
from ..workspace.sandbox.sandbox import Sandbox
from .checking import CheckedExpectation, check

_COMPARED = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "U",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
)
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_NEEDS_DUCKDB = "it needs DuckDB: pip install cowork-jupyter[data]"
_MAX_TEXT = 64 * 1024 * 1024
_HEAD = 64 * 1024
_SIMPLE = {"rows", "columns", "unique", "no_missing", "sum", "range"}


async def measure_file(expectation: Expectation, context: ToolContext) -> Measured:
    try:
        if find_spec("duckdb"):
            return await _FileQuery(expectation, context).measure()
        return await asyncio.to_thread(_measure_text, expectation, context)
    except NotFound as error:
        if error.code != NotFound.code:
            return unchecked(error.message)
        return Measured(problem="no_table", why=expectation.of)
    except CoworkError as error:
        return unchecked(error.message)


@dataclass(frozen=True)
class _FileQuery:
    expectation: Expectation
    context: ToolContext

    async def measure(self) -> Measured:
        expectation = self.expectation
        names = (await self._select("*", "LIMIT 0"))["columns"]
        if expectation.check == "columns":
            return Measured(value=[*names])
        if expectation.column and expectation.column not in names:
            return Measured(problem="no_column", why=expectation.column)
        if expectation.check in ("sum", "range", "type"):
            kind = await self._single(f"typeof(any_value({self._column}))")
            if expectation.check == "type":
                return Measured(value=kind)
            if self._is_about_numbers and not str(kind).startswith(_NUMBERS):
                return Measured(problem="wrong_type", why=str(kind).lower())
        rows = int(await self._single("count(*)") or 0)
        if expectation.check == "rows":
            return Measured(value=rows, rows=rows)
        if expectation.check == "sum":
            return Measured(value=_number(await self._single(f"sum({self._column})")))
        wrong = int(await self._single(self._wrong(names)) or 0)
        if expectation.check != "range":
            return Measured(wrong=wrong, rows=rows)
        ends = [await self._single(f"{end}({self._column})") for end in ("min", "max")]
        low, high = map(_number, ends) if self._is_about_numbers and all(ends) else ends
        return Measured(wrong=wrong, rows=rows, low=low, high=high)

    @property
    def _is_about_numbers(self) -> bool:
        value = self.expectation.value
        value = value[0] if isinstance(value, list) else value
        return self.expectation.check == "sum" or isinstance(value, (int, float))

    @property
    def _column(self) -> str:
        return _quoted(self.expectation.column or "")

    def _wrong(self, names: list[str]) -> str:
        """An aggregate that counts the rows that violate the expectation."""
        expectation, column = self.expectation, self._column
        match expectation.check:
            case "unique" if expectation.column:
                return f"count(*) - count(DISTINCT {column}) - least(1, count(*) - count({column}))"
            case "unique":
                whole = ", ".join(map(_quoted, names))
                return f"count(*) - count(DISTINCT ({whole}))"
            case "no_missing":
                some = [column] if expectation.column else map(_quoted, names)
                return _counted(" OR ".join(f"{name} IS NULL" for name in some))
            case "values":
                values = expectation.value if isinstance(expectation.value, list) else []
                within = "NOT IN" if expectation.op == "=" else "IN"
                return _counted(f"{column} {within} ({', '.join(map(_literal, values))})")
            case "matched":
                table, other = partner(expectation)
                key = _quoted(other)
                known = f"SELECT {key} FROM {_file(table)} WHERE {key} IS NOT NULL"  # noqa: S608
                return _counted(f"{column} IS NULL OR {column} NOT IN ({known})")
        if isinstance(expectation.value, list):
            low, high = map(_literal, expectation.value)
            return _counted(f"NOT ({column} >= {low} AND {column} <= {high})")
        return _counted(f"NOT ({column} {_COMPARED[expectation.op]} {_literal(expectation.value)})")

    async def _single(self, aggregate: str) -> str | None:
        return (await self._select(f"CAST({aggregate} AS VARCHAR)"))["head"][0][0]

    async def _select(self, what: str, behind: str = "") -> TableReply:
        expectation = self.expectation
        paths = [expectation.of]
        if expectation.check == "matched":
            paths.append(partner(expectation)[0])
        sql = f"SELECT {what} FROM {_file(expectation.of)} {behind}"  # noqa: S608 (all of it is quoted)
        return await select([path.removeprefix(FILE) for path in paths], sql, self.context)


def _file(of: str) -> str:
    return _literal(of.removeprefix(FILE))


def _counted(condition: str) -> str:
    return f"count(*) FILTER (WHERE {condition})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: JsonValue) -> str:
    if isinstance(value, (bool, int, float)):
        return str(value)
    text = value if isinstance(value, str) else json.dumps(value)
    return "'" + text.replace("'", "''") + "'"


def _number(text: str | None) -> int | float:
    text = text or "0"
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _measure_text(expectation: Expectation, context: ToolContext) -> Measured:
    path = expectation.of.removeprefix(FILE)
    with context.workspace.locate(path) as place:
        if place.stat().st_size > _MAX_TEXT or expectation.check not in _SIMPLE:
            return unchecked(_NEEDS_DUCKDB)
        data = place.read()
    facts = table_facts(path, data[:_HEAD], len(data))
    if facts is None or facts.dialect.decimal_comma:
        return unchecked(_NEEDS_DUCKDB)
    text = data.decode(facts.dialect.encoding or "utf-8-sig", "replace")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=facts.dialect.separator or ",")
    names = next(rows, [])
    if expectation.check == "columns":
        return Measured(value=[*names])
    if expectation.column and expectation.column not in names:
        return Measured(problem="no_column", why=expectation.column)
    return _measure_rows(expectation, names, [row for row in rows if row])


def _measure_rows(expectation: Expectation, names: list[str], rows: list[list[str]]) -> Measured:
    count = len(rows)
    if expectation.check == "rows":
        return Measured(value=count, rows=count)
    place = names.index(expectation.column) if expectation.column else None
    keys = [tuple(row) if place is None else ("".join(row[place : place + 1]),) for row in rows]
    if expectation.check == "unique":
        return Measured(wrong=count - len(set(keys)), rows=count)
    if expectation.check == "no_missing":
        wrong = sum(any(map(_is_missing, key)) for key in keys)
        return Measured(wrong=wrong, rows=count)
    try:
        numbers = [_number(key[0].strip()) for key in keys if not _is_missing(key[0])]
    except ValueError:
        return Measured(problem="wrong_type", why="text")
    if expectation.check == "sum":
        return Measured(value=sum(numbers), rows=count)
    value, op = expectation.value, expectation.op
    low, high = value if isinstance(value, list) else (value, value)
    if not isinstance(low, (int, float)) or not isinstance(high, (int, float)) or op == "!=":
        return unchecked(_NEEDS_DUCKDB)
    compare = _COMPARISONS.get(op)
    wrong = sum(
        not (compare(number, low) if compare else low <= number <= high) for number in numbers
    )
    ends = min(numbers, default=None), max(numbers, default=None)
    return Measured(wrong=wrong, rows=count, low=ends[0], high=ends[1])


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING


@dataclass(frozen=True)
class ExpectationChecks:
    kernels: Kernels
    workspace: Workspace
    sandbox: Sandbox | None = None

    async def check(
        self,
        notebook: str | None,
        expectations: Sequence[Expectation],
        must_exist: Collection[str] = (),
    ) -> list[CheckedExpectation]:
        """Check each in order. The tables of those in `must_exist` (ids) have to exist by now."""
        variables = [expectation for expectation in expectations if not is_about_files(expectation)]
        return await self.check_measured(
            expectations, await self._measure(notebook, variables), must_exist
        )

    async def check_measured(
        self,
        expectations: Sequence[Expectation],
        measured: Sequence[Measured],
        must_exist: Collection[str] = (),
    ) -> list[CheckedExpectation]:
        """Like `check`, where the kernel has already measured its variables, in order."""
        kernel_facts = iter(measured)
        facts = [
            await self._measure_file(expectation)
            if is_about_files(expectation)
            else next(kernel_facts, unchecked("not all cells ran"))
            for expectation in expectations
        ]
        return [
            check(expectation, known, must_exist=expectation.id in must_exist)
            for expectation, known in zip(expectations, facts, strict=True)
        ]

    async def _measure(
        self, notebook: str | None, expectations: Sequence[Expectation]
    ) -> list[Measured]:
        path = notebook or self.kernels.home
        if not expectations:
            return []
        try:
            if not path:
                return [unchecked("there is no kernel")] * len(expectations)
            return await self.kernels.measure(self.workspace, path, expectations)
        except CoworkError as error:
            why = "no kernel is running" if error.code == "no_kernel" else error.message
            return [unchecked(why.rstrip("."))] * len(expectations)

    async def _measure_file(self, expectation: Expectation) -> Measured:
        if not all(table.startswith(FILE) for table in tables_of(expectation)):
            return unchecked("a file can only be matched in another file")
        # Nobody decides about this look, so it has the least rights, and sees no secrets.
        guarded = Clearance().guard(self.workspace)
        context = ToolContext(guarded, AgentRole.PLANNER, sandbox=self.sandbox)
        return await measure_file(expectation, context)
