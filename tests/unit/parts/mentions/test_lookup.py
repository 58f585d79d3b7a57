"""What a message points at goes to the model with it: as data, within the role's rights."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.agents.run.steering import queue_message
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.effects import FieldState, TableState
from cowork_jupyter.domain.errors import Unavailable
from cowork_jupyter.domain.messages import Mention, TextData
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.mentions import lookup
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.tools.kernel.state import (
    KernelQuery,
    KernelTables,
    NoKernels,
    Variable,
    Variables,
)
from cowork_jupyter.tools.registry import tools_with_kernels
from cowork_jupyter.workspace import Workspace
from tests.scripted import ScriptedServer, call, text

from ...agents.conftest import Bench
from ...agents.helpers import bench_with, ended

pytestmark = pytest.mark.asyncio

NOTEBOOK = "sales.ipynb"
PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5Erk"
    "Jggg=="
)
HEAD = "What the message points at with @"


class OneKernel(NoKernels):
    """A kernel with a table, a value, and a decorator."""

    busy = False

    async def variables(self, workspace: Workspace, path: str) -> Variables:
        if self.busy:
            raise Unavailable("The kernel is busy.", code="kernel_busy")
        items = (
            Variable("cache", "function"),
            Variable("rate", "float", "0.19"),
            Variable("sales", "DataFrame", "6 rows × 2 columns, 1 KB"),
        )
        return Variables(path, items, 3)

    async def inspect(self, workspace: Workspace, path: str, name: str) -> Variable:
        return Variable(name, "DataFrame", "6 rows × 2 columns", ("first rows:", "  North | 3"))

    async def tables(
        self, workspace: Workspace, path: str, queries: Sequence[KernelQuery], seconds: float
    ) -> KernelTables:
        fields = [
            FieldState(name="region", type="object", distinct=2, values=["North", "South"]),
            FieldState(name="unit price", type="float64", missing=1, low=1.5, high=9.0),
        ]
        state = TableState(rows=6, columns=2, kind="pandas.DataFrame", fields=fields)
        return KernelTables({"sales": state})


def _notebook() -> dict[str, Any]:
    def code(cell_id: str, source: str, count: int, outputs: list[dict[str, Any]]) -> object:
        return {
            "id": cell_id,
            "cell_type": "code",
            "metadata": {},
            "source": source,
            "execution_count": count,
            "outputs": outputs,
        }

    failure = {
        "output_type": "error",
        "ename": "KeyError",
        "evalue": "'Region'",
        "traceback": ["Traceback", "KeyError: 'Region'"],
    }
    figure = {"output_type": "display_data", "metadata": {}, "data": {"image/png": PICTURE}}
    return {
        "cells": [
            {"id": "intro", "cell_type": "markdown", "metadata": {}, "source": "# Sales"},
            code("chart", "sales.plot()", 2, [figure]),
            code("broken", 'sales["Region"]', 1, [failure]),
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


class Desk:
    """A conversation of a notebook with a kernel, in a folder with files."""

    def __init__(self, bench: Bench, scripted: ScriptedServer) -> None:
        self.bench, self.scripted, self.kernel = bench, scripted, OneKernel()
        factory = bench.service.factory
        factory.tools.registry = tools_with_kernels()
        factory.tools.kernels = self.kernel
        folder = bench.workspace
        (folder / NOTEBOOK).write_text(json.dumps(_notebook()))
        (folder / "data").mkdir()
        (folder / "data" / "stock.csv").write_text("item,left\nowl,3\nhawk,5\n")
        (folder / "data" / "two words.txt").write_text("spoken softly\n")
        (folder / ".env").write_text("PASSWORD=hush-hush\n")
        bench.context = bench.service.conversations.create(notebook=NOTEBOOK)

    async def note_for(self, words: str, role: AgentRole = AgentRole.ACTOR) -> str:
        """What the model reads about what a message points at; empty if it reads nothing."""
        self.scripted.add(text("Done."))
        job = await self.bench.tell(words, role)
        assert job.status is JobStatus.COMPLETED, job.error
        return self.newest_note()

    def newest_note(self) -> str:
        frame = self.bench.service.factory.prompts.frames.of(self.bench.context.id)
        begin, end = frame.around("\0").split("\0")
        sent = self.wire()
        return sent.rpartition(f"{begin}{HEAD}")[2].partition(end)[0] if HEAD in sent else ""

    def wire(self) -> str:
        """The words of the newest request."""
        messages = self.scripted.requests[-1].body["messages"]
        contents = (one["content"] for one in messages)
        return "\n".join(
            one if isinstance(one, str) else "\n".join(part.get("text", "") for part in one)
            for one in contents
        )

    def recorded(self) -> list[Mention]:
        """What is stored with the newest message of the user."""
        said = [one for one in self.bench.messages() if one.role == "user"]
        assert isinstance(said[-1].data, TextData)
        return said[-1].data.mentions


@pytest_asyncio.fixture
async def desk(settings: Settings, scripted: ScriptedServer) -> AsyncIterator[Desk]:
    async with bench_with(settings) as bench:
        yield Desk(bench, scripted)


@pytest.mark.parametrize(
    ("mention", "kind", "title", "given"),
    [
        ("@sales", "variable", "DataFrame · 6 × 2", "North | 3"),
        ("@sales.region", "column", "object · 2 values", "values North, South"),
        ('@sales."unit price"', "column", "float64", "1 missing; 1.5 to 9.0"),
        ("@cell:1", "cell", "# Sales", "# Sales"),
        ("@cell:chart", "cell", "sales.plot()", "sales.plot()"),
        ("@error", "error", "KeyError · cell 3", "KeyError: 'Region'"),
        ("@output", "output", "cell 2", "image/png"),
        ("@output:3", "output", "cell 3", "KeyError: 'Region'"),
        ("@data/stock.csv", "file", "2 rows", "- left: whole numbers, 3 to 5"),
        ('@"data/two words.txt"', "file", "14 bytes", "spoken softly"),
        ("@data/", "folder", "2 entries", "two words.txt"),
        ("@data", "folder", "2 entries", "stock.csv"),
    ],
)
async def test_what_is_pointed_at_goes_along_and_is_recorded(
    desk: Desk, mention: str, kind: str, title: str, given: str
) -> None:
    note = await desk.note_for(f"What about {mention}, please?")
    assert f"{mention} ({title}):" in note
    assert given in note
    [recorded] = desk.recorded()
    assert (recorded.text, recorded.kind, recorded.title) == (mention, kind, title)
    assert recorded.tokens > 0
    assert not recorded.problem


async def test_it_stays_with_the_message_in_later_turns(desk: Desk) -> None:
    desk.scripted.add(call("list_directory", path="data"))
    await desk.note_for("What about @sales?")
    first, second = (one.body["messages"] for one in desk.scripted.requests[-2:])
    assert HEAD in first[-1]["content"]
    assert second[: len(first)] == first


@pytest.mark.parametrize(
    "words",
    ["Ask ann@example.org", "Use @property and @cache", "@nobody said so", "@org/package", "@9"],
)
async def test_words_that_stand_for_nothing_stay_plain(desk: Desk, words: str) -> None:
    assert await desk.note_for(words) == ""
    assert desk.recorded() == []


@pytest.mark.parametrize(
    ("mention", "problem"),
    [
        ("@cell:9", "no cell 9"),
        ("@data/stok.csv", "Did you mean data/stock.csv?"),
        ('@"nowhere.txt"', "There is no 'nowhere.txt'"),
        ('@sales."nothing"', "sales has no column 'nothing'"),
        ('@sale."region"', "Did you mean sales?"),
    ],
)
async def test_what_is_not_there_is_said(desk: Desk, mention: str, problem: str) -> None:
    assert f"{mention}: not included." in await desk.note_for(f"Look at {mention} now")
    assert problem in desk.recorded()[0].problem


@pytest.mark.parametrize("effect", [Effect.DENY, Effect.ASK])
@pytest.mark.parametrize(
    ("rule", "mention", "content"),
    [
        ("read_file(data/stock.csv)", "@data/stock.csv", "hawk"),
        ("read_file", "@data/stock.csv", "hawk"),
        ("list_directory", "@data/", "two words"),
        ("inspect_variable", "@sales", "North | 3"),
        ("read_notebook", "@error", "Traceback"),
    ],
)
async def test_what_the_role_cannot_read_unasked_never_leaves(
    desk: Desk, effect: Effect, rule: str, mention: str, content: str
) -> None:
    desk.bench.service.rules.add(effect, rule, Scope.SESSION, desk.bench.context.id)
    await desk.note_for(f"What about {mention} then")
    assert content not in json.dumps(desk.scripted.requests[-1].body)
    [recorded] = desk.recorded()
    assert recorded.problem
    assert recorded.tokens == 0


async def test_a_secret_file_and_one_outside_never_leave(desk: Desk) -> None:
    (desk.bench.workspace.parent / "outside.txt").write_text("far-away\n")
    (desk.bench.workspace / "link.txt").symlink_to(desk.bench.workspace / ".env")
    await desk.note_for("Read @.env and @../outside.txt and @link.txt")
    sent = json.dumps(desk.scripted.requests[-1].body)
    assert "hush-hush" not in sent
    assert "far-away" not in sent
    recorded = desk.recorded()
    assert [one.text for one in recorded] == ["@.env", "@../outside.txt", "@link.txt"]
    assert all(one.problem for one in recorded)


async def test_one_mention_and_all_of_them_stay_within_their_room(desk: Desk) -> None:
    long = "\n".join(f"line {number}" for number in range(5_000))
    names = [f"long{number}.txt" for number in range(6)]
    for name in names:
        (desk.bench.workspace / name).write_text(long)
    note = await desk.note_for(" ".join(f"@{name}" for name in names))
    recorded = desk.recorded()
    assert [one.text for one in recorded] == [f"@{name}" for name in names]
    assert all(one.tokens <= lookup.MAX_MENTION_TOKENS + 10 for one in recorded)
    assert sum(one.tokens for one in recorded) <= lookup.MAX_MESSAGE_TOKENS + 60
    assert "[only the beginning]" in note
    assert recorded[-1].problem


async def test_a_figure_is_shown_to_models_that_see(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, images="yes") as bench:
        desk = Desk(bench, scripted)
        await desk.note_for("What does @output show?")
        parts = [
            part
            for one in scripted.requests[-1].body["messages"]
            if isinstance(one["content"], list)
            for part in one["content"]
        ]
    assert [part["image_url"]["url"] for part in parts if part["type"] == "image_url"] == [
        f"data:image/png;base64,{PICTURE}"
    ]


async def test_others_read_that_there_is_a_figure(desk: Desk) -> None:
    await desk.note_for("What does @output show?")
    assert "[image 1×1 PNG, not shown to this model]" in desk.wire()
    assert PICTURE not in json.dumps(desk.scripted.requests[-1].body)


async def test_a_busy_kernel_costs_its_variables_and_nothing_else(desk: Desk) -> None:
    desk.kernel.busy = True
    await desk.note_for("Compare @sales with @data/stock.csv")
    assert [one.text for one in desk.recorded()] == ["@data/stock.csv"]


async def test_what_is_said_meanwhile_points_at_things_too(desk: Desk) -> None:
    service = desk.bench.service
    desk.scripted.add(call("list_directory", path="data"), text("Done."))
    job_id = desk.bench.start("Look around")
    queue_message(service.journal, desk.bench.context.id, "And @data/stock.csv")
    await ended(desk.bench, job_id)
    assert "- left: whole numbers" in desk.newest_note()
    assert [one.text for one in desk.recorded()] == ["@data/stock.csv"]


@pytest.mark.process
async def test_the_guide_reads_mentions_as_names(settings: Settings) -> None:
    async with bench_with(settings, base_url="", model="") as bench:
        bench.service.factory.llm.model = bench.service.current_model
        (bench.workspace / "birds.csv").write_text("bird,seen\nowl,3\nhawk,5\n")
        (bench.workspace / "stock.csv").write_text("item,left\nnut,1\nnail,2\n")
        await bench.tell("What is the mean of seen in @birds.csv?", AgentRole.PLANNER)
        answered = bench.messages()[-1].text
    assert "`birds.csv`" in answered
    assert "4" in answered
    assert "stock.csv" not in answered
