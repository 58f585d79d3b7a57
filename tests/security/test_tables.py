"""SQL of a burglar: what it reaches beside the tables of its call, on the disk and on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.domain.roles import AgentRole
from tests.scripted import call, calls

from .cage import SECRET
from .house import House, code
from .test_network import Listener
from .test_network import outside as outside

pytestmark = pytest.mark.asyncio

STATEMENTS = [
    "COPY (SELECT 1) TO '{mark}.csv'",
    "COPY t TO '/tmp/{mark}.csv'",
    "COPY t FROM 'private/x.txt'",
    "EXPORT DATABASE '{mark}'",
    "ATTACH '{mark}.db'",
    "ATTACH 'private/x.txt' AS x (TYPE sqlite)",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{root}/a.py'",
    "SET enable_external_access = true",
    "SET GLOBAL allowed_directories = ['/']",
    "RESET lock_configuration",
    "PRAGMA enable_profiling = 'json'",
    "CREATE TABLE x AS SELECT 1",
    "DROP VIEW t",
    "CREATE SECRET s (TYPE http, BEARER_TOKEN 'x')",
    "SELECT 1; COPY (SELECT 1) TO '{mark}.csv'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{mark}.csv'",
    "PREPARE x AS COPY (SELECT 1) TO '{mark}.csv'",
    "CALL pragma_version()",
    "",
]
SELECTS = [
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('{root}/.env')",
    "SELECT * FROM read_text('.env')",
    "SELECT * FROM read_blob('deploy.pem')",
    "SELECT * FROM read_text('t.csv/../.env')",
    "SELECT * FROM read_text('./.env')",
    "SELECT * FROM read_text(['t.csv', '.env'])",
    "SELECT * FROM read_text('{home}/.ssh/id_rsa')",
    "SELECT * FROM read_csv('private/x.txt')",
    "SELECT * FROM 'private/x.txt'",
    "SELECT * FROM read_csv('link.csv')",
    "SELECT * FROM read_json('/proc/self/environ')",
    "SELECT * FROM read_text('/proc/self/cmdline')",
    "SELECT * FROM glob('/**')",
    "SELECT * FROM glob('*')",
    "SELECT * FROM glob('{root}/.*')",
    "SELECT * FROM sniff_csv('private/x.txt')",
    "SELECT * FROM parquet_metadata('private/x.txt')",
    "SELECT getenv('HOME')",
    "SELECT * FROM query('COPY (SELECT 1) TO ''{mark}.csv''')",
    "SELECT * FROM query_table('.env')",
    "SELECT * FROM 'http://127.0.0.1:{port}/x.csv'",
    "SELECT * FROM read_csv('https://127.0.0.1:{port}/x.csv')",
    "SELECT * FROM read_parquet('s3://127.0.0.1:{port}/x.parquet')",
    "SELECT * FROM sqlite_scan('private/x.txt', 'x')",
    "SELECT * FROM postgres_scan('host=127.0.0.1 port={port}', 'a', 'b')",
]


@pytest.fixture(autouse=True)
def table(house: House) -> None:
    (house.root / "t.csv").write_text("n,s\n1,x\n2,y\n")
    (house.root / "link.csv").symlink_to(house.root / ".env")
    (house.root / "out.csv").symlink_to(house.home / ".ssh" / "id_rsa")
    house.look()


async def query(
    house: House, sql: str, *paths: str, role: AgentRole = AgentRole.PLANNER
) -> dict[str, Any]:
    return await house.attempt("query_table", role, sql=sql, paths=list(paths or ["t.csv"]))


async def test_sql_reads_nothing_but_its_tables_and_writes_nothing(
    house: House, outside: Listener
) -> None:
    house.allow_everything()
    assert (await query(house, "SELECT sum(n) FROM t"))["ok"]
    place = {"mark": house.mark, "root": house.root, "home": house.home}
    asked = [sql.format(**place, port=outside.server_port) for sql in (*STATEMENTS, *SELECTS)]
    for some in (asked[start : start + 4] for start in range(0, len(asked), 4)):
        tried = [("query_table", {"sql": sql, "paths": ["t.csv"]}) for sql in some]
        await house.tell(calls(*tried), role=AgentRole.PLANNER)
        refused = {code(one) for one in house.results()[-len(some) :]}
        assert refused <= {"bad_query", "bad_parameters"}, some
    assert not outside.was_reached()
    assert SECRET not in house.sent_to_model()
    assert "private words" not in house.sent_to_model()
    assert "root:" not in house.sent_to_model()
    house.check()


async def test_a_setting_that_was_locked_stays(house: House) -> None:
    for name, value in (
        ("enable_external_access", "false"),
        ("lock_configuration", "true"),
        ("autoload_known_extensions", "false"),
        ("allow_community_extensions", "false"),
    ):
        await query(house, f"SELECT value AS is FROM duckdb_settings() WHERE name = '{name}'")
        assert (
            f"is\n{value}\n" in house.service.journal.store.messages(house.context).items[-2].text
        )


# Every path is decided about as if it were read


@pytest.mark.parametrize("paths", [["private/x.csv"], ["t.csv", "private/x.csv"]])
async def test_a_rule_about_reading_counts_for_each_path(house: House, paths: list[str]) -> None:
    (house.root / "private" / "x.csv").write_text(f"a\n{SECRET}\n")
    house.look()
    house.rule("allow", "query_table")
    house.rule("deny", "read_file(private/)")
    assert code(await query(house, "SELECT 1", *paths)) == "denied"
    found = await house.attempt("describe_table", AgentRole.PLANNER, path="private/x.csv")
    assert code(found) == "denied"
    assert house.user.asked == []
    for place in (".", "*/*.csv"):
        await query(house, f"SELECT * FROM '{place}'", place)
    assert SECRET not in house.sent_to_model()


async def test_a_rule_about_the_tool_itself_counts(house: House) -> None:
    house.rule("deny", "query_table(t.csv)")
    assert code(await query(house, "SELECT 1")) == "denied"
    house.rule("ask", "describe_table(t.csv)")
    found = await house.attempt("describe_table", AgentRole.ACTOR, path="t.csv")
    assert code(found) == "denied_by_user"


@pytest.mark.parametrize("path", [".env", "link.csv", "out.csv", "/etc/passwd", "../outside/x.csv"])
async def test_a_secret_or_a_file_elsewhere_asks_even_beside_a_harmless_one(
    house: House, path: str
) -> None:
    house.rule("allow", "*")
    assert code(await query(house, "SELECT * FROM t", "t.csv", path)) == "denied_by_user"
    (asked,) = house.user.asked
    assert path.removeprefix("../") in asked.resource
    assert "t.csv" in asked.shown.text
    assert path.removeprefix("../") in asked.shown.text
    house.says_yes()
    assert not (await query(house, "SELECT * FROM t", "t.csv", path))["ok"]


async def test_a_file_that_is_swapped_for_a_link_is_not_read(house: House) -> None:
    """Between the decision and the call: the user's yes was about another file."""
    house.asks_for_real()
    house.rule("ask", "query_table(t.csv)")
    job = house.begin(
        call("query_table", sql="SELECT * FROM t", paths=["t.csv"]), role=AgentRole.PLANNER
    )
    request = await house.pending()
    (house.root / "t.csv").unlink()
    (house.root / "t.csv").symlink_to(".env")
    house.look()
    house.decide(request.id, "allow")
    again = await house.pending(besides=request.id)
    house.decide(again.id, "deny")
    await house.ended(job)
    assert SECRET not in house.sent_to_model()


@pytest.mark.parametrize(
    "name", ["o'brien.csv", 'say "x".csv', "a;b--.csv", "[t]*.csv", "t?.csv", "ü \\ %.csv"]
)
async def test_names_that_look_like_sql_or_patterns(house: House, name: str) -> None:
    (house.root / name).write_text("n\n7\n")
    (house.root / "tt.csv").write_text("n\n100\n")
    house.look()
    for tool, given in (
        ("describe_table", {"path": name}),
        (
            "query_table",
            {"paths": [name], "sql": 'SELECT * FROM "' + name.replace('"', '""') + '"'},
        ),
    ):
        found = await house.attempt(tool, AgentRole.PLANNER, **given)
        assert found["ok"], found
    assert "100" not in house.service.journal.store.messages(house.context).items[-2].text


async def test_keys_of_the_server_are_not_in_the_process(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    await query(house, "SELECT * FROM read_text('/proc/self/environ')")
    await query(house, "SELECT * FROM duckdb_settings()")
    assert SECRET not in house.sent_to_model()
