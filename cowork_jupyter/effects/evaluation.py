"""Measures expectations in the kernel or in files, and checks them."""

from __future__ import annotations

import asyncio
import csv
import io
import operator
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass

from ..domain.errors import CoworkError, NotFound
from ..domain.expectations import (
    FILE,
    Expectation,
    Measured,
    is_about_files,
    tables_of,
    unchecked,
)
from ..domain.roles import AgentRole
from ..tools.base import CallAuthorization, ToolContext
from ..tools.kernel.state import Kernels
from ..tools.table_facts import MISSING, table_facts
from ..workspace import Workspace
from ..workspace.sandbox.sandbox import Sandbox
from .checking import CheckedExpectation, check

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


MeasureFile = Callable[[Expectation, ToolContext], Awaitable[Measured]]


async def measure_text_file(expectation: Expectation, context: ToolContext) -> Measured:
    """Simple things of a CSV file that is not too large."""
    return await asyncio.to_thread(_measure_text, expectation, context)


def number_of(text: str | None) -> int | float:
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
        numbers = [number_of(key[0].strip()) for key in keys if not _is_missing(key[0])]
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
    measure_file: MeasureFile = measure_text_file

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
        guarded = CallAuthorization().guard(self.workspace)
        context = ToolContext(guarded, AgentRole.PLANNER, sandbox=self.sandbox)
        try:
            return await self.measure_file(expectation, context)
        except NotFound as error:
            if error.code != NotFound.code:
                return unchecked(error.message)
            return Measured(problem="no_table", why=expectation.of)
        except CoworkError as error:
            return unchecked(error.message)
