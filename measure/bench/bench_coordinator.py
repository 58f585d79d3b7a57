"""How close plans come to their critical path, and what the coordinator itself costs."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cowork_jupyter.agents.agent import AgentFactory
from cowork_jupyter.agents.run.outcome import Outcome
from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.llm.client import Model
from cowork_jupyter.service.service import CoworkService
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.store import PlanRevision
from tests.scripted import ScriptedServer, text

from .rows import Row

Graph = dict[str, list[str]]
INDEPENDENT: Graph = {str(number): [] for number in range(8)}
CHAIN: Graph = {str(number): [str(number - 1)] if number else [] for number in range(8)}
DIAMOND: Graph = {"a": [], **{side: ["a"] for side in "bcd"}, "e": ["b", "c", "d"]}


def measure() -> Iterator[Row]:
    with ScriptedServer(lambda _: text("Done.", first_delay=1.0)) as model:
        asyncio.run(_run_plan(model.base_url, {"warm": []}))
        independent = asyncio.run(_run_plan(model.base_url, INDEPENDENT, parallel=8))
        chain = asyncio.run(_run_plan(model.base_url, CHAIN))
        diamond = asyncio.run(_run_plan(model.base_url, DIAMOND))
    yield Row("8 independent steps, model takes 1 s", independent, "s", 1.3)
    yield Row("chain of 8 steps, model takes 1 s", chain, "s", 8.5)
    yield Row("diamond against its critical path of 3 s", diamond / 3.0, "×", 1.05)
    whole = asyncio.run(_cost_per_task(1000)) * 1000
    note = f"{whole:.2f} ms with four stored transactions, messages and events for each task"
    yield Row("scheduling a 1,000-step plan", _decisions(1000) * 1000, "ms/task", 1.0, note)
    with ScriptedServer(lambda _: text("Done.")) as model:
        finished, seconds = asyncio.run(_many_jobs(model.base_url, 50))
    yield Row("50 jobs of 5 steps at once, completed", finished, "", 50, f"{seconds:.1f} s", True)


def _service(folder: str, base_url: str) -> CoworkService:
    here = Path(folder)
    return build_service(
        Settings(workspace=here, data_dir=here / "data", base_url=base_url, model="scripted")
    )


def _plan(service: CoworkService, graph: Graph) -> str:
    """A new context with this plan at revision 1."""
    context = service.conversations.create()
    steps = [{"id": one, "action": one, "depends_on": needed} for one, needed in graph.items()]
    plan = Plan.model_validate({"goal": "g", "steps": steps})
    with service.journal.transaction() as tx:
        tx.save_plan(PlanRevision(context_id=context.id, revision=1, plan=plan))
    return context.id


async def _run_plan(base_url: str, graph: Graph, parallel: int = 4) -> float:
    with tempfile.TemporaryDirectory() as folder:
        service = _service(folder, base_url)
        model = Model(base_url=base_url, model=service.settings.model)
        await model._connected()  # the client's import is not the plan's
        service.factory.llm.model = model
        context_id = _plan(service, graph)
        began = time.perf_counter()
        job = await service.execute_plan(context_id, 1, parallel)
        await service.jobs.wait(job.id)
        seconds = time.perf_counter() - began
        await service.close()
        return seconds


def _graph(steps: int) -> Graph:
    return {str(one): [str(one - 7)] if one >= 7 else [] for one in range(steps)}


def _decisions(steps: int) -> float:
    """Seconds for each task to find out what can run next."""
    named = [{"id": one, "action": one, "depends_on": of} for one, of in _graph(steps).items()]
    plan = Plan.model_validate({"goal": "g", "steps": named})
    began = time.perf_counter()
    schedule, running = plan.schedule(), deque[str]()
    while True:
        running.extend(schedule.get_ready())
        if not running:
            return (time.perf_counter() - began) / steps
        schedule.done(running.popleft())


async def _cost_per_task(steps: int) -> float:
    """Seconds for each task when agents need no time at all."""

    async def instant(*_args: Any, **_kwargs: Any) -> Outcome:
        return Outcome(text="Done.")

    graph = _graph(steps)
    original = AgentFactory.run
    with tempfile.TemporaryDirectory() as folder:
        service = _service(folder, "http://127.0.0.1:9/v1")
        context_id = _plan(service, graph)
        AgentFactory.run = instant  # type: ignore[method-assign]
        try:
            began = time.perf_counter()
            job = await service.execute_plan(context_id, 1)
            await service.jobs.wait(job.id)
            return (time.perf_counter() - began) / steps
        finally:
            AgentFactory.run = original  # type: ignore[method-assign]
            await service.close()


async def _many_jobs(base_url: str, count: int) -> tuple[int, float]:
    graph: Graph = {"a": [], "b": ["a"], "c": ["a"], "d": [], "e": ["b", "c", "d"]}
    with tempfile.TemporaryDirectory() as folder:
        service = _service(folder, base_url)
        contexts = [_plan(service, graph) for _ in range(count)]
        began = time.perf_counter()
        jobs = [await service.execute_plan(one, 1) for one in contexts]
        ended = await asyncio.gather(*(service.jobs.wait(job.id) for job in jobs))
        seconds = time.perf_counter() - began
        await service.close()
    return sum(job.status is JobStatus.COMPLETED for job in ended), seconds
