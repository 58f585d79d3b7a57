"""Plans on their way to the user: improved and explained before they see them, never later."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.domain.events import EventType
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.workflows import Draft, Varying
from tests.scripted import ScriptedServer, plan, text

from .conftest import Bench
from .helpers import ended

pytestmark = pytest.mark.asyncio

NOTE = "Steps that do not depend on others come first; the order is now: 1, 3, 2."
STEPS: list[dict[str, Any]] = [
    {"id": "a", "action": "one", "depends_on": []},
    {"id": "b", "action": "two", "depends_on": ["a"]},
    {"id": "c", "action": "three", "depends_on": []},
]


def order(bench: Bench) -> str:
    revision = bench.service.plans.find(bench.context.id)
    assert revision
    return "".join(step.id for step in revision.plan.steps)


async def test_a_planners_plan_comes_in_a_better_order(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(plan("g", *STEPS))
    await bench.tell("plan it", AgentRole.PLANNER)
    assert order(bench) == "acb"
    (message,) = bench.messages(MessageType.PLAN)
    assert [step["id"] for step in message.data.model_dump()["steps"]] == ["a", "c", "b"]


async def test_a_step_is_not_done_because_the_model_says_so(
    bench: Bench, scripted: ScriptedServer
) -> None:
    claimed = {"id": "a", "action": "one", "status": "completed"}
    scripted.add(plan("g", claimed, {"id": "b", "action": "two", "status": "running"}))
    await bench.tell("plan it", AgentRole.PLANNER)
    revision = bench.service.plans.find(bench.context.id)
    assert revision
    assert [step.status for step in revision.plan.steps] == ["pending", "pending"]


async def test_what_was_changed_is_said_with_the_plan(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(plan("g", *STEPS))
    await bench.tell("plan it", AgentRole.PLANNER)
    (message,) = bench.messages(MessageType.PLAN)
    assert message.data.model_dump()["order_notes"] == [NOTE]
    notices = [one.data.model_dump() for one in bench.events(EventType.NOTICE)]
    assert notices == [{"code": "plan_order", "message": NOTE, "revision": 1}]
    (shown,) = bench.events(EventType.PLAN_UPDATE)
    assert "order_notes" not in shown.data.model_dump()


async def test_the_same_look_is_planned_once(bench: Bench, scripted: ScriptedServer) -> None:
    look = {"action": "Read it", "tools_needed": ["read_file"], "files": ["a.py"]}
    steps = [
        {"id": "x", **look, "depends_on": []},
        {"id": "y", **look, "depends_on": []},
        {"id": "z", "action": "Write", "files": ["b.py"], "depends_on": ["y"]},
    ]
    scripted.add(plan("g", *steps))
    await bench.tell("plan it", AgentRole.PLANNER)
    assert order(bench) == "xz"


async def test_a_plan_in_order_is_shown_as_it_was_made(
    bench: Bench, scripted: ScriptedServer
) -> None:
    scripted.add(plan("g", "one", "two", "three"))
    await bench.tell("plan it", AgentRole.PLANNER)
    assert order(bench) == "123"
    assert bench.events(EventType.NOTICE) == []
    assert "order_notes" not in bench.messages(MessageType.PLAN)[0].data.model_dump()


async def test_an_order_that_the_user_made_is_kept(bench: Bench, scripted: ScriptedServer) -> None:
    scripted.add(plan("g", *STEPS))
    await bench.tell("plan it", AgentRole.PLANNER)
    bench.service.plans.edit(bench.context.id, {"goal": "g", "steps": STEPS}, 1)
    assert order(bench) == "abc"
    scripted.add(*(text("Done.") for _ in STEPS))
    job = await bench.service.execute_plan(bench.context.id, 2, max_parallel=1)
    await ended(bench, job.id)
    assert order(bench) == "abc"
    assert len(bench.events(EventType.NOTICE)) == 1


# Templates in the planner's prompt


def save_template(bench: Bench) -> None:
    steps = [{"action": "Read sales.csv"}, {"action": "Drop duplicates"}]
    draft = Draft(
        name="clean_sales",
        description="Clean a month of sales.",
        parameters=[Varying(name="path", value="sales.csv")],
    )
    bench.service.reuse.save(draft, {"goal": "Clean sales.csv", "steps": steps})


def prompt(bench: Bench, role: AgentRole, request: str) -> str:
    return bench.service.factory.prompt(role, bench.context, request)


async def test_a_planner_is_shown_the_templates_that_fit(
    bench: Bench, scripted: ScriptedServer
) -> None:
    save_template(bench)
    scripted.add(text("Well."))
    await bench.tell("Clean the sales of May", AgentRole.PLANNER)
    system = scripted.requests[0].body["messages"][0]["content"]
    section = system.partition("# Templates\n")[2].partition("\n\n")[0]
    assert "your plan may follow it" in section
    assert section.endswith(
        "- clean_sales(path): Clean a month of sales.\n  1. Read {path}\n  2. Drop duplicates"
    )


async def test_with_none_that_fits_nothing_is_added(bench: Bench) -> None:
    before = prompt(bench, AgentRole.PLANNER, "Deploy the website")
    save_template(bench)
    assert prompt(bench, AgentRole.PLANNER, "Deploy the website") == before


async def test_who_makes_no_plans_is_shown_none(bench: Bench) -> None:
    save_template(bench)
    assert "clean_sales" in prompt(bench, AgentRole.PLANNER, "Clean the sales of May")
    assert "clean_sales" not in prompt(bench, AgentRole.ACTOR, "Clean the sales of May")


async def test_templates_take_no_room_from_the_tools(bench: Bench) -> None:
    request = "Clean the sales of May"
    before = prompt(bench, AgentRole.PLANNER, request)
    save_template(bench)
    after = prompt(bench, AgentRole.PLANNER, request)
    assert after.partition("# Templates")[0] == before.partition("\n# Skills")[0] + "\n"


async def followed_in(bench: Bench, scripted: ScriptedServer, *actions: str) -> list[str]:
    """The templates that a plan of these steps is said to follow."""
    save_template(bench)
    scripted.add(plan("Clean may.csv", *({"action": action} for action in actions)))
    await bench.tell("Clean the sales of May", AgentRole.PLANNER)
    used = bench.service.journal.store.guidance_used(bench.context.id)
    assert {one.kind for one in used} <= {"template"}
    return [one.name for one in used]


async def test_a_plan_that_keeps_the_steps_of_a_template_says_so(
    bench: Bench, scripted: ScriptedServer
) -> None:
    steps = ("Look at may.csv", "Drop the duplicates", "Write clean.csv")
    assert await followed_in(bench, scripted, *steps) == ["clean_sales"]


async def test_a_plan_of_its_own_follows_none(bench: Bench, scripted: ScriptedServer) -> None:
    steps = ("Look at may.csv", "Plot the monthly totals")
    assert await followed_in(bench, scripted, *steps) == []
