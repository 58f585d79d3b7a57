"""Tables in the hands of agents: a plan that rests on facts, and calls that name several files."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.policy.rules import Effect, Scope
from tests.scripted import ScriptedServer, call, plan, text
from tests.scripted.server import last_words
from tests.workbook import write_workbook

from ...agents.conftest import Bench
from ...agents.helpers import bench_with

pytestmark = [pytest.mark.asyncio, pytest.mark.process]


@pytest_asyncio.fixture
async def with_sales(settings: Settings) -> AsyncIterator[Bench]:
    (settings.workspace / "sales.csv").write_text("region,units\nNorth,3\nSouth,5\n")
    async with bench_with(settings) as bench:
        yield bench


async def test_a_planner_looks_at_a_table_before_it_plans(
    with_sales: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(
        call("describe_table", path="sales.csv"),
        call("query_table", paths=["sales.csv"], sql="SELECT sum(units) AS total FROM sales"),
        plan("Add up the units", "Add them up"),
    )
    job = await with_sales.tell("Plan a report on the units", AgentRole.PLANNER)
    assert job.status is JobStatus.COMPLETED
    described, queried = with_sales.messages(MessageType.TOOL_RESULT)
    assert "- units: BIGINT, about 2 different, 3 to 5" in described.text
    assert "total\n8\n" in queried.text
    assert "total\n8\n" in last_words(scripted.requests[-1].body, "user")
    assert [one["facts"]["paths"] for one in with_sales.results()] == [["sales.csv"]] * 2


async def test_a_table_that_was_renamed_is_named_anew(
    with_sales: Bench, scripted: ScriptedServer
) -> None:
    (with_sales.workspace / "new.csv").write_text("n\n1\n")
    (with_sales.workspace / "sales.csv").rename(with_sales.workspace / "umsatz.csv")
    concerned = with_sales.context.model_copy(update={"notebook": "sales.csv"})
    with_sales.service.journal.store.save_context(concerned)
    await with_sales.service.move_file("sales.csv", "umsatz.csv")
    paths = ["new.csv", "sales.csv"]
    scripted.add(call("query_table", paths=paths, sql="SELECT 1"), text("Done."))
    await with_sales.tell("Add up the units", AgentRole.PLANNER)
    (result,) = with_sales.results()
    assert result["error"]["code"] == "renamed"
    assert "'umsatz.csv'" in result["error"]["message"]


async def test_what_hides_in_a_name_can_be_spelled_out_in_each_path(
    with_sales: Bench, scripted: ScriptedServer
) -> None:
    (with_sales.workspace / "odd\u202e.csv").write_text("n\n1\n")
    paths = ["sales.csv", "odd⟨U+202E⟩.csv"]
    scripted.add(call("query_table", paths=paths, sql="SELECT sum(units) FROM sales"), text("Ok."))
    await with_sales.tell("Add up the units", AgentRole.PLANNER)
    (result,) = with_sales.results()
    assert result["ok"], result
    assert result["facts"]["paths"] == ["sales.csv", "odd\u202e.csv"]
    odd = ["odd⟨U+202E⟩.csv", {"no": "path"}]
    scripted.add(call("query_table", paths=odd, sql="SELECT 1"), text("Ok."))
    assert (await with_sales.tell("Again", AgentRole.PLANNER)).status is JobStatus.COMPLETED
    assert with_sales.results()[-1]["error"]["code"] == "bad_parameters"


@pytest.mark.parametrize("role", [AgentRole.ACTOR, AgentRole.PLANNER])
async def test_facts_of_other_files_than_text_come_with_the_question(
    with_sales: Bench, scripted: ScriptedServer, role: AgentRole
) -> None:
    write_workbook(
        with_sales.workspace / "stock.xlsx", {"Stock": [["item", "n"], ["a", 1.0], ["b", 2.0]]}
    )
    (with_sales.workspace / "options.json").write_text('{"colour": "red"}')
    scripted.add(text("Done."))
    await with_sales.tell("Sum n of stock.xlsx, with options.json and none.xlsx", role)
    said = last_words(scripted.requests[-1].body, "user")
    assert "stock.xlsx (Stock): 2 rows, 2 columns" in said
    assert "- n: " in said
    assert "Read it with pd.read_excel('stock.xlsx'" in said
    assert "colour" not in said, "some JSON is no table"


async def test_facts_of_a_file_that_may_not_be_read_are_not_told(
    with_sales: Bench, scripted: ScriptedServer
) -> None:
    write_workbook(with_sales.workspace / "stock.xlsx", {"Stock": [["item"], ["a"], ["b"]]})
    rules = with_sales.service.rules
    rules.add(Effect.DENY, "describe_table(stock.xlsx)", Scope.SESSION, with_sales.context.id)
    scripted.add(text("Done."))
    await with_sales.tell("How many items has stock.xlsx?")
    assert "item" not in last_words(scripted.requests[-1].body, "user").replace("items", "")
