"""Where the user is reaches the model, within what the role may read, and never holds a job up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.domain.contexts import JobStatus, RequestOrigin
from cowork_jupyter.domain.errors import Unavailable
from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.policy.rules import Effect, Scope
from cowork_jupyter.tools.kernel.state import NoKernels, Variable, Variables
from cowork_jupyter.tools.notebook.state import CellState, NotebookState
from cowork_jupyter.tools.notebook.stored import NotebookFiles
from cowork_jupyter.tools.registry import tools_with_kernels
from cowork_jupyter.workspace import Workspace
from tests.scripted import ScriptedServer, call, text
from tests.scripted.server import last_words

from .conftest import Bench
from .helpers import bench_with

NOTEBOOK = "sales.ipynb"
TITLE = "Where the user is while writing this"


class OpenNotebook(NotebookFiles):
    """A notebook in somebody's browser."""

    def __init__(self) -> None:
        self.cells = [CellState("c0", "code", "df = load()", 1), CellState("c1", "code", "df.x")]
        self.active: str | None = "c1"
        self.answers = asyncio.Event()
        self.answers.set()

    async def glance(self, workspace: Workspace, path: str) -> NotebookState | None:
        await self.answers.wait()
        return NotebookState(path, tuple(self.cells), "python", True, active=self.active)

    def write(self, cell_id: str, **changes: Any) -> None:
        self.cells = [
            replace(cell, **changes) if cell.id == cell_id else cell for cell in self.cells
        ]


class OneKernel(NoKernels):
    """A kernel with some variables."""

    def __init__(self) -> None:
        self.problem: Exception | None = None
        self.answers = asyncio.Event()
        self.answers.set()

    async def variables(self, workspace: Workspace, path: str) -> Variables:
        await self.answers.wait()
        if self.problem:
            raise self.problem
        items = (Variable("df", "DataFrame", "10 × 2"), Variable("other", "int", "1"))
        return Variables(path, items, 2)


class Place:
    """A conversation of an open notebook, with a kernel."""

    def __init__(self, bench: Bench, scripted: ScriptedServer) -> None:
        self.bench = bench
        self.scripted = scripted
        self.notebook = OpenNotebook()
        self.kernel = OneKernel()
        factory = bench.service.factory
        factory.tools.registry = tools_with_kernels()
        factory.tools.gate.notebooks = self.notebook
        factory.tools.kernels = self.kernel
        (bench.workspace / NOTEBOOK).write_text(
            json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        )
        bench.context = bench.service.conversations.create(notebook=NOTEBOOK)

    async def told(self, words: str = "Go", role: AgentRole = AgentRole.PLANNER) -> str:
        """What the model reads with a message, which must come to its end."""
        self.scripted.add(text("Done."))
        assert (await self.bench.tell(words, role)).status is JobStatus.COMPLETED
        return last_words(self.scripted.requests[-1].body, "user")

    def rule(self, effect: Effect, text: str) -> None:
        self.bench.service.rules.add(effect, text, Scope.SESSION, self.bench.context.id)


@pytest_asyncio.fixture
async def place(settings: Settings, scripted: ScriptedServer) -> AsyncIterator[Place]:
    async with bench_with(settings, notebook_seconds=30.0) as bench:
        yield Place(bench, scripted)


@pytest.mark.asyncio
async def test_the_model_reads_it_with_the_request_in_every_turn(place: Place) -> None:
    place.scripted.add(call("list_directory", path="."))
    await place.told("Why is x low?", AgentRole.ACTOR)
    first, second = (one.body["messages"] for one in place.scripted.requests[-2:])
    request = first[-1]["content"]
    begin, end = (
        place.bench.service.factory.prompts.frames.of(place.bench.context.id)
        .around("\0")
        .split("\0")
    )
    note = "[Note from Cowork, not from the user]"
    assert request.startswith(f"{note} {begin}{TITLE}")
    assert request.endswith(f"{end}\n\nWhy is x low?")
    assert "Cell 1 · c1 · code" in request
    assert "    df.x" in request
    assert "    df: DataFrame · 10 × 2" in request
    assert "other" not in request
    assert second[: len(first)] == first
    assert TITLE not in second[0]["content"]


@pytest.mark.asyncio
async def test_it_is_written_down_what_was_told(place: Place) -> None:
    told = await place.told()
    (notice,) = [
        one
        for one in place.bench.events(EventType.NOTICE)
        if one.data.model_dump()["code"] == "notebook_seen"
    ]
    assert notice.data.model_dump()["text"] in told
    assert set(notice.data.model_dump()["cells"]) == {"c0", "c1"}


@pytest.mark.asyncio
async def test_the_cell_that_the_message_was_sent_from_counts_before_the_cursor(
    place: Place,
) -> None:
    place.scripted.add(text("Done."))
    context = place.bench.context.id
    sent = place.bench.service.send_message(context, "Go", origin=RequestOrigin(cell_id="c0"))
    await place.bench.service.jobs.wait(str(sent.job_id))
    told = last_words(place.scripted.requests[-1].body, "user")
    assert "c0 · code · In [1] · fingerprint" in told
    assert "the user's current cell:\n    df = load()" in told
    place.notebook.cells = place.notebook.cells[1:]
    assert "the user's current cell:\n    df.x" in await place.told()


@pytest.mark.asyncio
async def test_what_others_changed_since_is_told_and_what_the_agent_did_is_not(
    place: Place,
) -> None:
    assert "last turn" not in await place.told()
    assert "The notebook is unchanged since your last turn." in await place.told()
    place.notebook.write("c0", source="df = load(2)")
    place.notebook.write("c1", execution_count=2)
    place.notebook.cells.append(CellState("new", "markdown", "# Words"))
    told = await place.told()
    assert "someone else has edited c0; added new; run c1." in told
    place.notebook.cells = place.notebook.cells[:1]
    assert "someone else has removed c1, new." in await place.told()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "rule", ["read_notebook", "read_file(*.ipynb)", "read_notebook(sales.ipynb)"]
)
async def test_a_notebook_that_may_not_be_read_is_not_told_of(place: Place, rule: str) -> None:
    assert TITLE in await place.told()
    place.rule(Effect.DENY, rule)
    assert await place.told() == "Go"


@pytest.mark.asyncio
async def test_a_notebook_that_would_have_to_be_asked_about_is_not_told_of(place: Place) -> None:
    place.rule(Effect.ASK, "read_notebook")
    assert await place.told() == "Go"


@pytest.mark.asyncio
async def test_variables_that_may_not_be_listed_are_not_told(place: Place) -> None:
    place.rule(Effect.DENY, "list_variables")
    told = await place.told()
    assert "    df.x" in told
    assert "DataFrame" not in told
    assert "busy" not in told


@pytest.mark.asyncio
async def test_a_busy_kernel_is_said_to_be_busy(place: Place) -> None:
    place.kernel.problem = Unavailable("The kernel is busy.", code="kernel_busy")
    told = await place.told()
    assert "The kernel is busy, so its variables cannot be listed now." in told
    place.kernel.problem = Unavailable("There is none.", code="no_kernel")
    assert "kernel" not in await place.told()


@pytest.mark.asyncio
async def test_who_does_not_answer_in_time_is_done_without(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, notebook_seconds=0.05) as bench:
        place = Place(bench, scripted)
        place.kernel.answers.clear()
        told = await place.told()
        assert "    df.x" in told
        assert "The kernel is busy" in told
        place.notebook.answers.clear()
        assert await place.told() == "Go"


@pytest.mark.asyncio
async def test_nothing_that_goes_wrong_ends_the_job(place: Place) -> None:
    place.kernel.problem = RuntimeError("broken")
    assert "    df.x" in await place.told()
    place.notebook.cells = [CellState(None, "code", None)]  # type: ignore[arg-type]
    assert await place.told() == "Go"


@pytest.mark.asyncio
async def test_a_notebook_that_is_gone_or_not_there_is_not_told_of(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings) as bench:
        scripted.add(text("Done."), text("Done."))
        await bench.tell("Go")
        assert last_words(scripted.requests[-1].body, "user") == "Go"
        bench.context = bench.service.conversations.create(notebook="gone.ipynb")
        await bench.tell("Go")
        assert last_words(scripted.requests[-1].body, "user") == "Go"


@pytest.mark.asyncio
async def test_no_tokens_for_it_means_that_it_is_not_told(
    settings: Settings, scripted: ScriptedServer
) -> None:
    async with bench_with(settings, notebook_tokens=0) as bench:
        assert await Place(bench, scripted).told() == "Go"
