"""Calls that are sent out: what travels, and what is done when a worker is lost."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from cowork_jupyter.domain.errors import Interrupted, Unavailable
from cowork_jupyter.domain.events import Notice
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.parts.dask.cluster import Attempt, WorkerLost
from cowork_jupyter.parts.dask.dask import MAX_ATTEMPTS, DaskPool
from cowork_jupyter.tools.base import ToolContext, ToolResult
from cowork_jupyter.tools.kernel.scratch_kernel import ScratchKernels
from cowork_jupyter.tools.registry import ToolRegistry, tools_without_kernels
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox

pytestmark = pytest.mark.asyncio

WORKER = "tcp://worker"


class DyingCluster:
    """Loses its first workers, before or after they have begun."""

    def __init__(self, deaths: int, *, begun: bool = True) -> None:
        self.deaths = deaths
        self.begun = begun
        self.attempts: list[Attempt] = []

    async def is_shared(self) -> bool:
        return True

    async def run(self, attempt: Attempt) -> ToolResult:
        self.attempts.append(attempt)
        dies = len(self.attempts) <= self.deaths
        attempt.worker = WORKER if self.begun or not dies else None
        if dies:
            raise WorkerLost
        return ToolResult("text", "summary", {"paths": ["a.py"]})


class Notices:
    """A log that only collects."""

    task_id = "task"

    def __init__(self) -> None:
        self.codes: list[str] = []

    def event(self, data: Notice) -> None:
        self.codes.append(data.code)


class Sent:
    """The tools of a task, sent out to such a cluster."""

    def __init__(self, settings: Settings, cluster: DyingCluster) -> None:
        self.pool = DaskPool(settings)
        self.pool._cluster = cluster  # type: ignore[assignment]
        self.log = Notices()
        tools = tools_without_kernels(confined=True)
        self.tools: ToolRegistry = self.pool.tools(tools, self.log)  # type: ignore[arg-type]
        self.context = ToolContext(Workspace(settings.workspace), AgentRole.ACTOR)

    async def read(self) -> ToolResult:
        return await self.tools.call("read_file", {"path": "a.py"}, self.context)

    async def execute(self) -> ToolResult:
        return await self.tools.call("execute_command", {"command": "make"}, self.context)


async def test_a_result_says_where_it_comes_from(settings: Settings) -> None:
    result = await Sent(settings, DyingCluster(0)).read()
    assert (result.text, result.data["worker"]) == ("text", WORKER)


async def test_a_harmless_call_is_run_again_as_a_new_attempt_and_that_is_said(
    settings: Settings,
) -> None:
    cluster = DyingCluster(1)
    sent = Sent(settings, cluster)
    assert (await sent.read()).text == "text"
    first, second = (attempt.order for attempt in cluster.attempts)
    assert first.attempt != second.attempt
    assert first.parameters == second.parameters
    assert sent.log.codes == ["worker_lost"]


async def test_a_call_that_kills_every_worker_is_given_up(settings: Settings) -> None:
    cluster = DyingCluster(100)
    with pytest.raises(Unavailable):
        await Sent(settings, cluster).read()
    assert len(cluster.attempts) == MAX_ATTEMPTS


async def test_a_call_that_may_have_changed_something_is_not_run_again(settings: Settings) -> None:
    cluster = DyingCluster(1)
    with pytest.raises(Interrupted):
        await Sent(settings, cluster).execute()
    assert len(cluster.attempts) == 1


async def test_what_had_not_begun_can_be_run_again_whatever_it_is(settings: Settings) -> None:
    cluster = DyingCluster(1, begun=False)
    assert (await Sent(settings, cluster).execute()).text == "text"
    assert len(cluster.attempts) == 2


async def test_the_models_key_does_not_travel(settings: Settings) -> None:
    cluster = DyingCluster(0)
    await Sent(replace(settings, api_key="sk-secret"), cluster).execute()
    (attempt,) = cluster.attempts
    assert b"sk-secret" not in pickle.dumps(attempt.order)


async def test_scratch_stays_with_its_worker_and_what_is_lost_with_it_is_said(
    settings: Settings,
) -> None:
    cluster = ClaimingCluster()
    sent = Sent(settings, cluster)
    context = replace(sent.context, scratch=ScratchKernels(Sandbox(settings)).of("c"))
    code = {"code": "1", "where": "scratch"}
    for _ in range(2):
        assert (await sent.tools.call("run_code", code, context)).text == "text"
    assert [attempt.only_at for attempt in cluster.attempts] == [None, WORKER]
    assert {attempt.order.task for attempt in cluster.attempts} == {"task"}
    cluster.deaths = 3
    with pytest.raises(Unavailable) as raised:
        await sent.tools.call("run_code", code, context)
    assert raised.value.code == "scratch_lost", "nothing was changed, so nobody need be asked"
    await sent.tools.call("run_code", code, context)
    assert cluster.attempts[-1].only_at is None
    await sent.pool.end_task("task")
    assert set(cluster.told) == {WORKER}


class ClaimingCluster(DyingCluster):
    """Its worker claims what it runs."""

    def __init__(self) -> None:
        super().__init__(0)
        self.told: list[str] = []

    async def run(self, attempt: Attempt) -> ToolResult:
        attempt.claim(WORKER)
        return await super().run(attempt)

    async def tell(self, worker: str, *_: object) -> None:
        self.told.append(worker)
