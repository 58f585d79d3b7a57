"""What the guide makes of a conversation."""

from __future__ import annotations

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.plan import Plan, PlanStep
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.guide.script import CallResult, GuideRun, call_key, read_run
from cowork_jupyter.llm.chunks import Conversation
from cowork_jupyter.tools.base import ToolResult

from .desk import answer, call, result, said, step

PLAN = Plan(goal="Plot it", steps=[PlanStep(id="1", step_number=1, action="Look")])


def read(*messages: object, plan: Plan | None = None) -> GuideRun:
    return read_run(Conversation(AgentRole.ACTOR, plan=plan, messages=messages))  # type: ignore[arg-type]


def test_a_request_is_what_the_user_said_last() -> None:
    run = read(
        said("user", "Plot sales.csv"),
        said("system", "The role is now Actor.", MessageType.ROLE_CHANGE),
        said("user", " Profile sales.csv "),
        said("system", "Where the user is: Your task is step 1 of an approved plan."),
        plan=PLAN,
    )
    assert (run.request, run.is_step, run.goal) == ("Profile sales.csv", False, "Plot it")


def test_to_plan_anew_is_to_ask_for_the_goal_once_more() -> None:
    run = read(said("user", "Qwrt", replan=True), plan=PLAN)
    assert (run.request, run.replans, run.goal) == ("Plot it", False, "Plot it")


def test_a_step_is_what_its_assignment_says_in_its_fields() -> None:
    run = read(said("user", "Execute the plan."), step("Plot x", goal="See it all"), plan=PLAN)
    assert (run.request, run.is_step, run.goal) == ("Plot x", True, "See it all")


def test_results_belong_to_calls_by_their_ids_and_answers_to_questions() -> None:
    gone = CoworkError("Qwrt.", code="not_found", details={"path": "b"})
    run = read(
        said("user", "Look"),
        call(1, "read_file", {"path": "a"}),
        call(2, "read_file", {"path": "b"}),
        result(2, gone),
        result(1, ToolResult("one", "", {"total_lines": 1})),
        answer(1, "Which?", "this"),
        said("user", "FAILED: Answer to “Which?”: that", MessageType.ROLE_CHANGE),
    )
    assert run.calls == {
        call_key("read_file", {"path": "a"}): [CallResult(True, "one", {"total_lines": 1})],
        call_key("read_file", {"path": "b"}): [
            CallResult(False, "Qwrt.", {"path": "b"}, "not_found")
        ],
    }
    assert run.answers == {"Which?": "this"}


def test_what_came_before_the_request_is_another_matter() -> None:
    run = read(
        said("user", "Look"),
        call(1, "read_file", {"path": "a"}),
        result(1, CoworkError("It was cancelled.", code="cancelled")),
        said("user", "Sing"),
    )
    assert (run.request, run.calls) == ("Sing", {})
