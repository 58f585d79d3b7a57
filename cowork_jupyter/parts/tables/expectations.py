"""Measures in files what plans expect of them."""

from __future__ import annotations

import json
from dataclasses import dataclass

from pydantic import JsonValue

from ...domain.expectations import FILE, Expectation, Measured, partner
from ...effects.evaluation import number_of
from ...tools.base import ToolContext
from .confined.order import TableReply
from .tools import select

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


async def measure_file(expectation: Expectation, context: ToolContext) -> Measured:
    return await _FileQuery(expectation, context).measure()


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
            return Measured(value=number_of(await self._single(f"sum({self._column})")))
        wrong = int(await self._single(self._wrong(names)) or 0)
        if expectation.check != "range":
            return Measured(wrong=wrong, rows=rows)
        ends = [await self._single(f"{end}({self._column})") for end in ("min", "max")]
        low, high = map(number_of, ends) if self._is_about_numbers and all(ends) else ends
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
