"""What a step is told: the same for all steps first, then what it builds on."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from cowork_jupyter.agents.plan.assignment import (
    BRIEFING_TOKENS,
    RESULTS_TOKENS,
    briefing_text,
    results_for,
)
from cowork_jupyter.domain.contexts import JobStatus, Task
from cowork_jupyter.domain.messages import Answer
from cowork_jupyter.domain.plan import Plan, PlanStep
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.llm.tokens import estimate_tokens
from tests.scripted import Scripted, ScriptedServer, plan, text

from .conftest import Bench

CHAIN = {str(n): [str(n - 1)] if n else [] for n in range(1_000)}


def steps_of(graph: dict[str, list[str]]) -> dict[str, PlanStep]:
    raw = [{"id": one, "action": f"do {one}", "depends_on": of} for one, of in graph.items()]
    return {one.id: one for one in Plan.model_validate({"goal": "g", "steps": raw}).steps}


def tasks_of(steps: dict[str, PlanStep], **results: str) -> dict[str, Task]:
    return {
        one: Task(job_id="j", context_id="c", step_id=one, result=results.get(one, f"found {one}"))
        for one in steps
    }


def test_results_of_all_that_a_step_depends_on_come_in_the_plans_order() -> None:
    steps = steps_of({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": [], "f": ["d"]})
    found = results_for(steps["f"], steps, tasks_of(steps), estimate_tokens)
    assert found.by_step == {one: f"found {one}" for one in "abcd"}
    assert found.complete


def test_the_nearest_results_have_the_room_first_and_too_long_ones_are_cut() -> None:
    steps = steps_of({"a": [], "b": ["a"], "c": ["b"]})
    tasks = tasks_of(steps, a="few words " * 5_000, b="many words " * 5_000)
    found = results_for(steps["c"], steps, tasks, estimate_tokens)
    assert "Find the rest with recall." in found.by_step["b"]
    assert sum(map(estimate_tokens, found.by_step.values())) <= RESULTS_TOKENS
    assert len(found.by_step["a"]) < 1_000 < len(found.by_step["b"])


def test_equally_near_results_share_the_room() -> None:
    steps = steps_of({"a": [], "b": [], "c": ["a", "b"]})
    tasks = tasks_of(steps, a="many words " * 5_000)
    found = results_for(steps["c"], steps, tasks, estimate_tokens)
    assert found.by_step["b"] == "found b"
    assert len(found.by_step["a"]) > 1_000


def test_a_long_chain_costs_each_step_only_what_has_room() -> None:
    steps = steps_of(CHAIN)
    tasks, counted = tasks_of(steps), 0

    def count(words: str) -> int:
        nonlocal counted
        counted += 1
        return estimate_tokens(words)

    found = results_for(steps["999"], steps, tasks, count)
    assert list(found.by_step)[-1] == "998"
    assert not found.complete
    assert counted < 4 * RESULTS_TOKENS / 8


def test_a_step_is_told_once_what_the_user_asked_for_however_long() -> None:
    made = Plan.model_validate({"goal": "g", "steps": [{"action": "x"}]})
    answer = Answer(question_id="q", question="Which year?", value="23", label="2023")
    told = briefing_text(made, "Report on sales.", [answer], estimate_tokens)
    assert "The user's request: Report on sales." in told
    assert "- Which year? 2023" in told
    assert briefing_text(made, "g", [], estimate_tokens) == "The plan's goal: g"
    long = briefing_text(made, "many words " * 5_000, [answer] * 5_000, estimate_tokens)
    assert estimate_tokens(long) < BRIEFING_TOKENS + 50


def prompts(requests: list[Any]) -> list[str]:
    return ["\n".join(str(one["content"]) for one in each.body["messages"]) for each in requests]


@pytest.mark.asyncio
async def test_steps_side_by_side_share_all_but_what_is_their_own(bench: Bench) -> None:
    made = plan(
        "Clean the sales",
        {"id": "a", "action": "read", "depends_on": []},
        {"id": "b", "action": "left", "depends_on": ["a"]},
        {"id": "c", "action": "right", "depends_on": ["a"]},
        {"id": "d", "action": "join", "depends_on": ["b", "c"]},
    )
    options = [{"label": "Last year", "value": "2023"}, {"label": "All", "value": "all"}]
    asked = text(json.dumps({"type": "question", "question": "Which year?", "options": options}))
    planning = iter([asked, made])

    def answer(body: dict[str, Any]) -> Scripted:
        said = "\n".join(str(one["content"]) for one in body["messages"])
        if "PLANNER role" in said:
            return next(planning)
        return text("Found 214 duplicates." if "The step: read" in said else "Done.")

    with ScriptedServer(answer) as model:
        bench.connect(model.base_url)
        job_id = bench.start("Please clean up my sales.", AgentRole.PLANNER)
        await bench.answer("2023")
        await bench.service.jobs.wait(job_id)
        planned = len(model.requests)
        job = await bench.service.execute_plan(bench.context.id, 1)
        assert (await bench.service.jobs.wait(job.id)).status is JobStatus.COMPLETED
        first, *side_by_side, last = prompts(model.requests[planned:])
    left, right = side_by_side
    if "The step: left" in right:
        left, right = right, left
    ours = left.index("Your task is step")
    assert left[:ours] == right[:ours]
    for needed in (
        "The user's request: Please clean up my sales.",
        "- Which year? Last year",
        "Result of step a: Found 214 duplicates.",
    ):
        assert needed in left[:ours]
    assert "Result of step a: Found 214 duplicates." in last
    assert "Result of step b: Done." in last
    assert '"status":' not in first[: first.index("Your task is step")]
    # The other may have ended before this one began.
    assert re.search("Status of the plan: completed: a(, c)?; running: b", left.splitlines()[-1])
    assert "Status of the plan: completed: a, b, c; running: d." in last
