"""A review that asks for changes sends the work back: the same steps again, as new tasks.

The steps stay as approved, with their tools and files; only the findings are added to what they are
told. The approved plan says how often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...domain.contexts import StepStatus, Task
from ...domain.identity import new_id, now
from ...domain.plan import PlanStep
from ...domain.replies import Review
from ...domain.roles import Permission
from ...domain.team import sent_back_by
from ...llm.tokens import Count, cut_middle

FINDINGS_TOKENS = 3_000
_ADDRESS = (
    "It was done before, and a review asks for changes. Address what it found, within what the "
    "step was approved for, and leave the rest as it is."
)
_LOOK_AGAIN = (
    "It was done before, and a review asked for changes, which were made since. Do the step again, "
    "and see whether what the review found is settled."
)


def is_due(step: PlanStep, task: Task, review: Review | None) -> bool:
    """Whether a review sends the work back once more."""
    return review is not None and review.asks_for_changes and task.round < step.rounds


def sent_back(review: PlanStep, steps: Sequence[PlanStep]) -> list[PlanStep]:
    """The steps that run again, in order; not those that the user has skipped."""
    again = sent_back_by(review, steps)
    return [step for step in again if step.status is not StepStatus.SKIPPED]


def tasks_again(
    steps: Sequence[PlanStep], tasks: Mapping[str, Task], findings: str
) -> dict[str, Task]:
    """A new task for each of these steps, one round later."""
    return {
        step.id: tasks[step.id].model_copy(
            update={
                "id": new_id("task"),
                "status": StepStatus.PENDING,
                "result": None,
                "error": None,
                "created_at": now(),
                "completed_at": None,
                "round": tasks[step.id].round + 1,
                "findings": findings,
            }
        )
        for step in steps
    }


def findings_text(step: PlanStep, task: Task, count: Count) -> str:
    """What the agent of a step that was sent back is told; empty in the first round."""
    if not task.findings:
        return ""
    may_write = step.runs_as.permits([Permission.WRITE_FILES])
    found = cut_middle(task.findings, FINDINGS_TOKENS, count, "Find the rest with recall.")
    return f"{_ADDRESS if may_write else _LOOK_AGAIN}\n{found}"
