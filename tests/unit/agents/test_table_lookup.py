"""The tables of a request go to the model with it: as data, and only what the role may read."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.agents.run import table_lookup
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.errors import NotFound
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.tools.kernel.state import Variable, Variables
from cowork_jupyter.tools.registry import tools_with_kernels
from cowork_jupyter.tools.table_facts import table_facts
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.no_follow import ListedEntry, PathHandle
from tests.scripted import ScriptedServer, call, text
from tests.scripted.server import last_words

from .conftest import Bench
from .helpers import PATIENCE, bench_with
from .test_code_replies import BLOCK, Kernel

pytestmark = pytest.mark.asyncio
NAMED = "Tables that the request names"
MEANT = "Tables that the request seems to be about"
UNNAMED = "Tables in the workspace"


@pytest_asyncio.fixture
async def with_sales(settings: Settings) -> AsyncIterator[Bench]:
    (settings.workspace / "sales.csv").write_text("region,units\nNorth,3\nSouth,5\n")
    async with bench_with(settings) as bench:
        yield bench


async def told(
    bench: Bench, scripted: ScriptedServer, words: str, role: AgentRole = AgentRole.ACTOR
) -> str:
    """What the model reads with a message."""
    scripted.add(text("Done."))
    assert (await bench.tell(words, role)).status is JobStatus.COMPLETED
    return last_words(scripted.requests[-1].body, "user")


@pytest.mark.parametrize("role", [AgentRole.ACTOR, AgentRole.PLANNER, AgentRole.REVIEWER])
async def test_a_table_that_is_named_comes_with_the_question(
    with_sales: Bench, scripted: ScriptedServer, role: AgentRole
) -> None:
    said = await told(with_sales, scripted, "What is the mean of units in sales.csv?", role)
    frame = with_sales.service.factory.prompts.frames.of(with_sales.context.id)
    begin, end = frame.around("\0").split("\0")
    note = said.partition(begin)[2].partition(end)[0]
    assert note.startswith(NAMED)
    assert "sales.csv: 2 rows" in note
    assert "- units: whole numbers, 3 to 5" in note


async def test_it_stays_with_the_question_in_later_turns(
    with_sales: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(call("list_directory", path="."))
    await told(with_sales, scripted, "How many rows has sales.csv?")
    first, second = (one.body["messages"] for one in scripted.requests[-2:])
    assert NAMED in first[-1]["content"]
    assert second[: len(first)] == first


async def test_a_request_that_names_no_table_gets_a_short_list(
    with_sales: Bench, scripted: ScriptedServer
) -> None:
    said = await told(with_sales, scripted, "Where did we sell most?")
    assert UNNAMED in said
    assert "sales.csv: 2 rows, columns region, units" in said
    assert "- units" not in said
    for number in range(10):
        (with_sales.workspace / f"t{number}.csv").write_text("a\n1\n")
    assert UNNAMED not in await told(with_sales, scripted, "And most of all?")


@pytest.mark.parametrize("words", ["Where were most units sold?", "And by Regions?"])
async def test_a_request_that_names_a_column_gets_the_tables_that_have_it(
    with_sales: Bench, scripted: ScriptedServer, words: str
) -> None:
    (with_sales.workspace / "staff.csv").write_text("name,start_date\nAda,2020-01-01\n")
    said = await told(with_sales, scripted, words)
    assert MEANT in said
    assert "- units: whole numbers, 3 to 5" in said
    assert "staff.csv" not in said
    assert "- start_date" in await told(with_sales, scripted, "What is the first start date?")


async def test_tables_in_folders_beside_the_notebook_are_found_by_their_name(
    bench: Bench, scripted: ScriptedServer
) -> None:
    (bench.workspace / "data").mkdir()
    (bench.workspace / "data" / "visits.csv").write_text("id,channel\n1,web\n2,shop\n")
    (bench.workspace / ".cache").mkdir()
    (bench.workspace / ".cache" / "hidden.csv").write_text("id,channel\n1,web\n2,shop\n")
    said = await told(bench, scripted, "How long was the first visit?")
    assert MEANT in said
    assert "data/visits.csv: 2 rows. Read it with pd.read_csv('data/visits.csv')" in said
    assert "hidden" not in said
    for number in range(10):
        (bench.workspace / "data" / f"t{number}.csv").write_text("a\n1\n")
    assert "data/" not in await told(bench, scripted, "And the second visit?")


async def test_a_folder_that_cannot_be_listed_costs_only_what_is_in_it(
    with_sales: Bench, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    (with_sales.workspace / "locked").mkdir()
    entries = PathHandle.entries

    def refuse(place: PathHandle) -> list[ListedEntry]:
        if place.path == "locked":
            raise NotFound("It has just gone.", code="not_found")
        return entries(place)

    monkeypatch.setattr(PathHandle, "entries", refuse)
    assert MEANT in await told(with_sales, scripted, "Where were most units sold?")


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        ("How many visits per channel?", ["visits.csv"]),
        ("Mean minutes by channel", ["visits.csv"]),
        ("How many visits per country?", ["visits.csv", "customers.csv"]),
        ("The name of each customer, with the number of visits", ["visits.csv", "customers.csv"]),
        ("Which name is the longest?", ["customers.csv"]),
    ],
)
async def test_of_tables_alike_only_as_many_as_are_needed_are_described(
    bench: Bench, scripted: ScriptedServer, words: str, paths: list[str]
) -> None:
    visits, customers = "id,customer,channel,minutes", "name,country"
    for path, names in {
        "visits.csv": visits,
        "customers.csv": customers,
        "visits_customers.csv": f"{visits},{customers}",
    }.items():
        values = ",".join("x" * len(names.split(",")))
        (bench.workspace / path).write_text(f"{names}\n{values}\n{values}\n")
    said = await told(bench, scripted, words)
    assert re.findall(r"^(\S+): 2 rows", said, re.MULTILINE) == paths


@pytest.mark.parametrize("name", ["sales.csv", "./sales.csv", "work/sales.csv", "units"])
async def test_code_reads_a_table_from_the_folder_of_its_notebook(
    bench: Bench, scripted: ScriptedServer, name: str
) -> None:
    (bench.workspace / "work").mkdir()
    (bench.workspace / "work" / "sales.csv").write_text("region,units\nNorth,3\nSouth,5\n")
    bench.context = bench.service.conversations.create(notebook="work/a.ipynb")
    said = await told(bench, scripted, f"What is the mean of {name}?")
    assert "work/sales.csv: 2 rows. Read it with pd.read_csv('sales.csv')" in said


async def test_code_reads_a_table_outside_of_the_folder_of_its_notebook(
    with_sales: Bench, scripted: ScriptedServer
) -> None:
    (with_sales.workspace / "work").mkdir()
    with_sales.context = with_sales.service.conversations.create(notebook="work/a.ipynb")
    for name in ("sales.csv", "../sales.csv"):
        said = await told(with_sales, scripted, f"What is in {name}?")
        assert "sales.csv: 2 rows. Read it with pd.read_csv('../sales.csv')" in said


@pytest.mark.parametrize("rule", ["read_file(sales.csv)", "read_file"])
@pytest.mark.parametrize("effect", [Effect.DENY, Effect.ASK])
@pytest.mark.parametrize("words", ["What is in sales.csv?", "Where were most units sold?"])
async def test_nothing_is_told_that_the_role_could_not_read_unasked(
    with_sales: Bench, scripted: ScriptedServer, rule: str, effect: Effect, words: str
) -> None:
    with_sales.service.rules.add(effect, rule, Scope.SESSION, with_sales.context.id)
    assert "region" not in await told(with_sales, scripted, words)


@pytest.mark.parametrize("path", ["../secret.csv", "gone.csv", "folder.csv", "/etc/a.csv"])
async def test_what_is_no_table_in_the_workspace_tells_nothing(
    with_sales: Bench, scripted: ScriptedServer, path: str
) -> None:
    (with_sales.workspace.parent / "secret.csv").write_text("hidden,word\n1,2\n")
    (with_sales.workspace / "folder.csv").mkdir()
    said = await told(with_sales, scripted, f"Read {path}.")
    assert NAMED not in said
    assert "hidden" not in said


async def test_a_busy_kernel_costs_a_moment_and_not_the_facts_of_files(
    with_sales: Bench, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: Any) -> list[str]:
        await asyncio.Event().wait()
        return []

    monkeypatch.setattr(table_lookup, "_variables", never)
    monkeypatch.setattr(table_lookup, "KERNEL_SECONDS", 0.01)
    assert NAMED in await told(with_sales, scripted, "What is in sales.csv?")


async def test_a_slow_disk_costs_a_moment_and_the_facts(
    with_sales: Bench, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def slow(*values: Any) -> Any:
        assert over.wait(PATIENCE)
        return table_facts(*values)

    monkeypatch.setattr(table_lookup, "table_facts", slow)
    monkeypatch.setattr(table_lookup, "SECONDS", 0.01)
    try:
        assert NAMED not in await told(with_sales, scripted, "What is in sales.csv?")
    finally:
        over.set()


class KernelWithTable(Kernel):
    async def variables(self, workspace: Workspace, path: str) -> Variables:
        return Variables(path, (Variable("df", "DataFrame"), Variable("n", "int")), 2)

    async def inspect(self, workspace: Workspace, path: str, name: str) -> Variable:
        return Variable(name, "DataFrame", "10 rows × 2 columns", ("columns:", "  'units'  int64"))


async def test_a_table_in_the_kernel_is_told_if_the_request_names_it(
    bench: Bench, scripted: ScriptedServer
) -> None:
    bench.service.factory.tools.registry = tools_with_kernels()
    bench.service.factory.tools.kernels = KernelWithTable()
    said = await told(bench, scripted, "What is the mean of units in df?")
    assert "df in the kernel: DataFrame, 10 rows × 2 columns\ncolumns:\n  'units'  int64" in said
    assert "in the kernel" not in await told(bench, scripted, "What is n?")


async def test_where_code_is_asked_for_an_answer_is_computed(
    settings: Settings, scripted: ScriptedServer
) -> None:
    (settings.workspace / "sales.csv").write_text("region,units\nNorth,3\nSouth,5\n")
    async with bench_with(settings, tool_protocol="code") as bench:
        bench.service.factory.tools.registry = tools_with_kernels()
        bench.service.factory.tools.kernels = kernel = Kernel()
        scripted.add(text("It is 4."), text(BLOCK), text("It is 42."))
        await bench.tell("What is the sum of units in sales.csv?")
        assert kernel.ran == ["print(6 * 7)"]
        sent = [one.body["messages"][-1]["content"] for one in scripted.requests]
        assert "was not computed" in sent[1]
        assert "If this is right, reply with the answer" in sent[2]
        assert len(bench.messages(MessageType.TOOL_CALL)) == 1
        assert bench.messages()[-1].text == "It is 42."
        scripted.add(text("It cannot tell."), text("It cannot tell."))
        await bench.tell("And which colour has sales.csv?")
        assert len(scripted.requests) == 5, "an answer is asked for once more, not for ever"
        scripted.add(text("Hello!"))
        await bench.tell("Good morning.")
        assert len(scripted.requests) == 6, "there is nothing to compute"


@pytest.mark.parametrize("pasted", ["Ab3" * 200_000, "./" * 200_000, "a.csv" * 100_000])
async def test_a_pasted_word_of_any_length_holds_nobody_up(
    with_sales: Bench, scripted: ScriptedServer, pasted: str
) -> None:
    """A pattern that tries each of its letters as the first one would take hours."""
    assert NAMED in await told(with_sales, scripted, f"How many rows has sales.csv? {pasted}")
