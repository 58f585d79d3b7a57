"""Tables in files: what they are like, and what a SELECT over them gives."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from cowork_jupyter.domain.errors import CoworkError, Forbidden, InvalidInput, NotFound
from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.parts.tables import TABLE_TOOLS
from cowork_jupyter.service import parts
from cowork_jupyter.service.parts import rule_names, shipped_tools
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.workspace import Workspace
from tests.workbook import write_workbook

from ...tools.conftest import write
from .conftest import Describe, Query

pytestmark = [pytest.mark.asyncio, pytest.mark.process]

ORDERS = (
    "id,region,amount,day\n1,North,10.5,2025-01-03\n2,South,,2025-01-01\n3,North,4,2025-01-02\n"
)


async def test_a_table_is_described_from_all_its_rows(root: Path, describe: Describe) -> None:
    write(root, {"data/orders.csv": ORDERS})
    assert (await describe("data/orders.csv")).splitlines() == [
        "data/orders.csv: 3 rows, 4 columns",
        "- id: BIGINT, about 3 different, 1 to 3",
        "- region: VARCHAR: North, South",
        "- amount: DOUBLE, 1 missing, about 2 different, 4.0 to 10.5",
        "- day: DATE, about 3 different, 2025-01-01 to 2025-01-03",
        "It begins with:",
        "id | region | amount | day",
        "1 | North | 10.5 | 2025-01-03",
        "2 | South | NULL | 2025-01-01",
        "3 | North | 4.0 | 2025-01-02",
    ]


@pytest.mark.parametrize("table", ["'data/orders.csv'", "orders", '"data/orders.csv"', "Orders"])
async def test_a_file_goes_by_its_path_and_by_its_name(
    root: Path, query: Query, table: str
) -> None:
    write(root, {"data/orders.csv": ORDERS})
    sql = f"SELECT region, count(*) AS n FROM {table} GROUP BY region ORDER BY n DESC"
    found = await query(sql, "data/orders.csv")
    assert found.splitlines() == ["region | n", "North | 2", "South | 1", "[2 rows]"]


async def test_several_files_are_joined(root: Path, query: Query) -> None:
    write(root, {"orders.csv": ORDERS, "more/regions.json": '[{"region": "North", "boss": "Ada"}]'})
    total = "SELECT boss, sum(amount) FROM a JOIN regions USING (region) GROUP BY 1"
    sql = f"WITH a AS (FROM orders) {total};"
    assert "Ada | 14.5" in await query(sql, "orders.csv", "more/regions.json")


async def test_files_of_one_name_get_two(root: Path, query: Query) -> None:
    write(root, {"a/x.csv": "n\n1\n", "b/x.csv": "n\n2\n", "2024.csv": "n\n3\n"})
    sql = "SELECT x.n, x_2.n, t_2024.n FROM x, x_2, t_2024"
    assert "1 | 2 | 3" in await query(sql, "a/x.csv", "b/x.csv", "2024.csv")


GERMAN = "Datum;Betrag;Ort\n01.05.2025;1.234,50;Köln\n13.06.2025;7,25;Ulm\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
async def test_german_files_in_every_encoding(
    root: Path, describe: Describe, query: Query, encoding: str
) -> None:
    write(root, {"umsatz.csv": GERMAN.encode(encoding)})
    said = await describe("umsatz.csv")
    assert "- Betrag: DOUBLE, about 2 different, 7.25 to 1234.5" in said
    assert "- Datum: DATE, about 2 different, 2025-05-01 to 2025-06-13" in said
    assert "- Ort: VARCHAR: Köln, Ulm" in said
    assert "cells are separated by ';'; 1.234,5 is the number 1234.5" in said
    assert (f"read as {encoding}" in said) == (not encoding.startswith("utf-8"))
    assert "1241.75" in await query("SELECT sum(Betrag) FROM umsatz", "umsatz.csv")
    write(root, {"packed.csv.gz": gzip.compress(GERMAN.encode(encoding))})
    assert "Köln" in await query("SELECT Ort FROM packed WHERE Betrag > 1000", "packed.csv.gz")


async def test_rows_that_are_too_short_or_too_long(root: Path, describe: Describe) -> None:
    write(root, {"ragged.csv": "a,b,c\n1,2,3\n4,5\n6,7,8,9\n" + "1,2,3\n" * 9})
    said = await describe("ragged.csv")
    assert said.startswith("ragged.csv: 12 rows, 4 columns")
    assert "- c: BIGINT, 1 missing" in said
    assert "different numbers of cells" in said


async def test_cells_of_several_lines(root: Path, describe: Describe) -> None:
    cell = '"two\nlines"'
    rows = f"1,{cell}\n" * 30_000
    write(root, {"a.csv": f"n,s\n{rows}", "b.csv": f"n,s\n1\n2,{cell},3\n{rows}"})
    assert "30,000 rows, 2 columns" in await describe("a.csv")
    assert "different numbers" not in await describe("a.csv")
    assert "30,002 rows, 3 columns" in await describe("b.csv")


async def test_what_only_shows_late_changes_the_type_of_a_column(
    root: Path, describe: Describe, query: Query
) -> None:
    write(root, {"late.csv": "a,b\n" + "1,2\n" * 40_000 + "x,3\n1,2,4\n"})
    said = await describe("late.csv")
    assert "late.csv: 40,002 rows" in said
    assert "- a: VARCHAR: 1, x" in said
    assert "the first rows alone were misleading" in said
    assert "\nx\n" in await query("SELECT max(a) FROM late", "late.csv")


async def test_texts_for_no_value_are_missing(root: Path, describe: Describe) -> None:
    write(root, {"a.csv": "a,b\n1,x\nNA,y\nn/a,z\nNaN,null\n"})
    assert "- a: BIGINT, 3 missing" in await describe("a.csv")


MADE: dict[str, Callable[[Path], object]] = {
    "t.tsv": lambda path: path.write_text("n\ts\n1\tx\n2\ty\n"),
    "t.csv.gz": lambda path: path.write_bytes(gzip.compress(b"n;s\n1;x\n2;y\n")),
    "t.json": lambda path: path.write_text('[{"n": 1, "s": "x"}, {"n": 2, "s": "y"}]'),
    "t.jsonl": lambda path: path.write_text('{"n": 1, "s": "x"}\n{"n": 2, "s": "y"}\n'),
    "t.parquet": lambda path: duckdb.sql(
        f"COPY (SELECT * FROM (VALUES (1, 'x'), (2, 'y')) t(n, s)) TO '{path}'"
    ),
    "t.xlsx": lambda path: write_workbook(path, {"t": [["n", "s"], [1, "x"], [2, "y"]]}),
    "t.db": lambda path: sqlite(
        path, "CREATE TABLE t (n, s); INSERT INTO t VALUES (1,'x'),(2,'y')"
    ),
}


def sqlite(path: Path, script: str) -> None:
    with sqlite3.connect(path) as database:
        database.executescript(script)
    database.close()


@pytest.mark.parametrize("name", MADE)
async def test_every_format(root: Path, describe: Describe, query: Query, name: str) -> None:
    MADE[name](root / name)
    said = await describe(name)
    assert "2 rows, 2 columns" in said
    assert "- s: VARCHAR: x, y" in said
    assert "\n2 | y\n" in await query("SELECT n::INT, s FROM t WHERE n > 1", name)


async def test_sheets_and_tables_of_a_database_have_names(
    root: Path, describe: Describe, query: Query
) -> None:
    write_workbook(
        root / "book.xlsx", {"Sales": [["n"], [1.5]], "Old Sales": [["m", "m", "m_1"], [2, 3, 4]]}
    )
    sqlite(
        root / "shop.sqlite",
        "CREATE TABLE customers (id INTEGER, name TEXT); INSERT INTO customers VALUES (1, 'Ada');"
        "CREATE TABLE notes (text)",
    )
    said = await describe("book.xlsx")
    assert said.startswith("book.xlsx (Sales): 1 row,")
    assert "[other tables in the file: Old Sales]" in said
    assert "- m_1_1: BIGINT, about 1 different, 4 to 4" in await describe(
        "book.xlsx", table="old sales"
    )
    assert "notes): 0 rows" in await describe("shop.sqlite", table="notes")
    for name in ("Old_Sales", '"Old Sales"', "'old sales'"):
        sql = f"SELECT name, n, m FROM customers, Sales, {name}"
        assert "Ada | 1.5 | 2" in await query(sql, "shop.sqlite", "book.xlsx")
    with pytest.raises(InvalidInput, match="Did you mean 'notes'"):
        await describe("shop.sqlite", table="note")


async def test_a_folder_or_a_pattern_is_one_table(root: Path, query: Query) -> None:
    write(
        root,
        {
            "in/2024/a.csv": "n,s\n1,x\n",
            "in/2025/b.csv": "n,t\n2,y\n",
            "in/2025/notes.md": "no table",
            "in/.hidden.csv": "n\n100\n",
        },
    )
    assert "\n3\n" in await query("SELECT sum(n) FROM 'in'", "in")
    assert "\n2\n" in await query("SELECT sum(n) FROM 'in/*/b*.csv'", "in/*/b*.csv")
    with pytest.raises(NotFound):
        await query("SELECT 1", "in/*.parquet")
    write(root, {"in/c.json": "[]"})
    with pytest.raises(InvalidInput, match="cannot be read as one"):
        await query("SELECT 1", "in")


# Limits


async def test_long_results_keep_their_beginning_and_end(root: Path, query: Query) -> None:
    write(root, {"a.csv": "n\n1\n"})
    found = (await query("SELECT range FROM range(5000), a", "a.csv", max_rows=5)).splitlines()
    assert found[1:6] == ["0", "1", "2", "3", "4"]
    assert found[-6:] == ["4995", "4996", "4997", "4998", "4999", "[5,000 rows]"]
    assert "rows left out" in found[6]
    endless = await query("SELECT * FROM range(1000000000000), a", "a.csv", max_rows=3)
    assert "[more than 100," in endless
    wide = await query("SELECT repeat('x', 10000) FROM range(1000), a", "a.csv", max_rows=1000)
    assert len(wide) < 310_000


async def test_time_is_limited(root: Path, query: Query) -> None:
    write(root, {"a.csv": "n\n1\n"})
    many = "range(1000000000)"
    sql = f"SELECT count(*) FROM {many} a, {many} b WHERE a.range % b.range = 7"
    with pytest.raises(CoworkError) as caught:
        await query(sql, "a.csv", timeout_seconds=1)
    assert caught.value.code == "timed_out"


async def test_memory_is_limited(root: Path, query: Query) -> None:
    write(root, {"a.csv": "n\n1\n"})
    with pytest.raises(CoworkError, match="more memory"):
        await query("SELECT list(repeat('x', 10000) || range) FROM range(1000000)", "a.csv")


# Errors


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT regoin FROM orders", "Did you mean 'region'?"),
        ("SELECT o.amont FROM orders o", "Did you mean 'amount'?"),
        ("SELECT zzz FROM orders", "There are 'id', 'region', 'amount', 'day'."),
        ("SELECT * FROM order_s", "Did you mean 'orders'?"),
        ("SELECT FROM WHERE", "syntax error"),
        ("SELECT 'x'::INT", "Could not convert"),
    ],
)
async def test_errors_are_short_and_name_what_is_near(
    root: Path, query: Query, sql: str, said: str
) -> None:
    write(root, {"orders.csv": ORDERS})
    with pytest.raises(InvalidInput) as caught:
        await query(sql, "orders.csv")
    assert said in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("a.xlsx", b"no sheet", "cannot be read as a workbook"),
        ("a.db", b"no database", "cannot be read as a SQLite database"),
        ("a.parquet", b"no parquet", "a.parquet"),
        ("a.json", b"{broken", "a.json"),
        ("a*.json", b"{broken", r"a\*.json"),
        ("a.md", b"# no table", "is not a table"),
    ],
)
async def test_a_file_that_is_not_what_it_is_called(
    root: Path, describe: Describe, path: str, content: bytes, said: str
) -> None:
    write(root, {path: content})
    with pytest.raises(InvalidInput, match=said):
        await describe(path)


async def test_a_file_that_is_not_there(root: Path, describe: Describe) -> None:
    write(root, {"orders.csv": ORDERS})
    with pytest.raises(NotFound, match=r"Did you mean 'orders\.csv'"):
        await describe("order.csv")


async def test_an_empty_file_breaks_nothing(root: Path, describe: Describe) -> None:
    write(root, {"a.csv": "", "b.json": "[]", "c.csv": "a,b\n"})
    assert "c.csv: 0 rows, 2 columns" in await describe("c.csv")
    for path in ("a.csv", "b.json"):
        try:
            assert "0 rows" in await describe(path)
        except InvalidInput as error:
            assert "\n" not in error.message  # noqa: PT017


async def test_values_of_columns_with_secret_names_are_not_shown(
    root: Path, describe: Describe
) -> None:
    write(root, {"a.csv": "user,password\nanna,hunter2\n"})
    said = await describe("a.csv")
    assert "- password: VARCHAR" in said
    assert "hunter2" not in said


# Where there is no DuckDB, or no sandbox


def _tables_offered() -> set[str]:
    return {name for name in shipped_tools() if name.endswith("_table")}


async def test_without_duckdb_there_are_no_such_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _tables_offered() == {"describe_table", "query_table"} == TABLE_TOOLS
    for role in AgentRole:
        assert {tool.name for tool in shipped_tools().permitted(role)} >= TABLE_TOOLS
    for name in TABLE_TOOLS:
        tool = shipped_tools()[name]
        assert tool.permissions == {Permission.READ_FILES}
        assert tool.idempotent
    monkeypatch.setattr(parts, "find_spec", lambda _name: None)
    assert not _tables_offered()
    assert rule_names() >= TABLE_TOOLS


@pytest.mark.parametrize("role", [AgentRole.PLANNER, AgentRole.ACTOR])
async def test_without_a_sandbox_it_is_as_with_commands(root: Path, role: AgentRole) -> None:
    write(root, {"a.csv": "n\n1\n"})
    call = shipped_tools().call(
        "describe_table", {"path": "a.csv"}, ToolContext(Workspace(root), role)
    )
    if role is AgentRole.ACTOR:
        assert "1 row, 1 column" in (await call).text
    else:
        with pytest.raises(Forbidden) as caught:
            await call
        assert caught.value.code == "sandbox_missing"
