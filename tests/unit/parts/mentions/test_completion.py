"""What is offered behind `@`, best first, without making anybody wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.mentions import completion
from cowork_jupyter.parts.mentions.completion import MAX_OFFERS, Gap, find_gap, parse_address, rank
from cowork_jupyter.parts.mentions.targets import CompletionItem, CompletionItems
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.tools.kernel.state import Variables
from cowork_jupyter.workspace import Workspace

from ....scripted import ScriptedServer
from ...agents.helpers import bench_with
from .test_lookup import NOTEBOOK, Desk, OneKernel


def test_what_begins_with_it_comes_first_then_parts_then_all_else() -> None:
    texts = ["@sales.region", "@overregion", "@region", "@data/regions.csv", "@other"]
    found = rank("@REG", [CompletionItem(text=one, kind="file") for one in texts])
    assert [one.text for one in found] == [
        "@region",
        "@sales.region",
        "@data/regions.csv",
        "@overregion",
    ]


def test_no_more_than_can_be_looked_at_and_some_of_each_kind() -> None:
    many = [CompletionItem(text=f"@a{number}", kind="variable") for number in range(50)]
    files = [CompletionItem(text=f"@f{number}", kind="file") for number in range(50)]
    assert len(rank("@a", many)) == MAX_OFFERS
    assert {one.kind for one in rank("@", [*many, *files])} == {"variable", "file"}


@pytest_asyncio.fixture
async def desk(settings: Settings, scripted: ScriptedServer) -> AsyncIterator[Desk]:
    async with bench_with(settings) as bench:
        yield Desk(bench, scripted)


async def offered(desk: Desk, typed: str, **more: bool) -> CompletionItems:
    service = desk.bench.service
    log = RunLog(service.journal, desk.bench.context.id, "", AgentRole.PLANNER)
    scope = service.factory.mention_scope(log, NOTEBOOK)
    return await service.of(completion.Completion).offers(scope, typed, **more)


async def texts(desk: Desk, typed: str, **more: bool) -> list[str]:
    """All that is offered, once everything was looked up."""
    while (found := await offered(desk, typed, **more)).more:
        pass
    return [one.text for one in found.items]


@pytest.mark.asyncio
async def test_variables_columns_cells_and_files(desk: Desk) -> None:
    assert await texts(desk, "@sa") == [
        "@sales",
        "@sales.region",
        '@sales."unit price"',
        "@sales.ipynb",
    ]
    assert await texts(desk, "@unit") == ['@sales."unit price"']
    assert await texts(desk, "@cell:") == ["@cell:1", "@cell:2", "@cell:3"]
    assert await texts(desk, "@out") == ["@output", "@output:2", "@output:3"]
    assert await texts(desk, "@err") == ["@error"]
    assert "@cache" not in await texts(desk, "@c")
    assert await texts(desk, "@.e") == []


@pytest.mark.asyncio
async def test_the_kernel_is_not_asked_where_it_knows_itself(desk: Desk) -> None:
    assert await texts(desk, "@sa", variables=False) == ["@sales.ipynb"]


@pytest.mark.asyncio
async def test_nothing_is_offered_that_the_role_may_not_read(desk: Desk) -> None:
    desk.bench.service.rules.add(Effect.DENY, "read_notebook", Scope.SESSION, desk.bench.context.id)
    desk.bench.service.rules.add(
        Effect.DENY, "inspect_variable", Scope.SESSION, desk.bench.context.id
    )
    assert await texts(desk, "@cell:") == []
    assert await texts(desk, "@sales.") == ["@sales.ipynb"]


class SlowKernel(OneKernel):
    """One that answers when it is let."""

    def __init__(self) -> None:
        self.free = asyncio.Event()

    async def variables(self, workspace: Workspace, path: str) -> Variables:
        await self.free.wait()
        return await super().variables(workspace, path)


@pytest.mark.asyncio
async def test_a_slow_kernel_holds_nothing_up_and_is_not_asked_twice(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(completion, "MAX_WAIT_SECONDS", 0.02)
    slow = SlowKernel()
    desk.bench.service.factory.tools.kernels = slow
    start = time.monotonic()
    found = await offered(desk, "@ra")
    assert time.monotonic() - start < 1.0
    assert found.more
    assert found.items == []
    slow.free.set()
    assert await texts(desk, "@ra") == ["@rate"]


BOOKS = "lib://{shelf}/{title}.txt"


@pytest.mark.parametrize(
    ("template", "written", "gap"),
    [
        (BOOKS, "", Gap("lib://")),
        (BOOKS, "lib:", Gap("lib://")),
        (BOOKS, "lib://", Gap("lib://", "shelf", "", "/")),
        (BOOKS, "lib://po", Gap("lib://", "shelf", "po", "/")),
        (
            BOOKS,
            "lib://poems/O",
            Gap("lib://poems/", "title", "O", ".txt", (("shelf", "poems"),), True),
        ),
        (BOOKS, "web://", None),
        ("lib://{+path}", "lib://a/b", Gap("lib://", "path", "a/b", "", (), True)),
        ("lib://all{?query}", "lib://all", None),
        ("lib://fixed", "lib://", None),
    ],
)
def test_a_gap(template: str, written: str, gap: Gap | None) -> None:
    assert find_gap(template, written) == gap


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("@", ""),
        ("@li", ""),
        ("@lib:a b", "a b"),
        ('@"lib:a', "a"),
        ("@web:a", None),
        ("@df", None),
    ],
)
def test_an_address_at_a_server(typed: str, address: str | None) -> None:
    assert parse_address(typed, "lib") == address
