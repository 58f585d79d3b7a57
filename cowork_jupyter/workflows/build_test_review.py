"""*Build, test, review*: a change that counts as done once it was tested and reviewed."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ..domain.plan import MAX_ROUNDS, Plan
from ..domain.roles import AgentRole
from .fields import FilePath, Line
from .workflow import Parameters, Workflow


class BuildTestReview(Parameters):
    """What to change, where, and how to see that it works."""

    task: Line = Field(title="What to build", description="The change you want.", min_length=1)
    files: list[FilePath] = Field(
        [],
        title="Files",
        description="What may be changed. Leave empty if you do not know yet.",
        max_length=50,
    )
    test: Line = Field("", title="How to test", description="A command, or what to try.")


def _plan(given: BuildTestReview) -> dict[str, Any]:
    """Who does what, in which order."""
    test = given.test or "Run the tests that there are, and try the change itself"
    build = {
        "id": "build",
        "action": given.task,
        "reason": "This is the change.",
        "tools_needed": ["write", "create", "execute"],
        "files": given.files,
        "role": AgentRole.ACTOR,
    }
    check = {
        "id": "test",
        "action": test,
        "reason": "What was not tried is not done.",
        "tools_needed": ["execute"],
        "depends_on": ["build"],
        "role": AgentRole.TESTER,
    }
    review = {
        "id": "review",
        "action": "Review the change, and what the tests say of it",
        "reason": "Somebody else sees what its author does not.",
        "files": given.files,
        "depends_on": ["test"],
        "role": AgentRole.REVIEWER,
        "rounds": MAX_ROUNDS,
    }
    plan = Plan.model_validate({"goal": given.task, "steps": [build, check, review]})
    return plan.model_dump(mode="json")


build_test_review = Workflow(
    name="build_test_review",
    title="Build, test, review",
    description="A change that is tested and reviewed before it counts as done.",
    category="code",
    # It only proposes: approving the plan gives each step the rights of its role.
    role=AgentRole.PLANNER,
    parameters=BuildTestReview,
    make_plan=_plan,
    request="""
    Deliver a plan in which the actor makes a change, the tester tries it, and the reviewer judges
    it.
    The change: {task}
    It may touch: {files}
    It is tested by: {test}

    A good change does what was asked and no more, and the tests say so.
    """,
)
