"""What the user is asked about a step, and what they can choose."""

from __future__ import annotations

from ...domain.plan import PlanStep
from ...domain.replies import Option, Question
from .step_check import StepEnd

RETRY, HINT, SKIP, REPLAN, STOP = "retry", "hint", "skip", "replan", "stop"
ACCEPT = "accept"
"""What was done of a step is good enough."""
UPDATE = "update"
"""The same, and what is pinned is from now on as it is now."""

_OPTIONS = [
    Option(label="Try again", value=RETRY),
    Option(label="Try again with a hint", value=HINT, description="Say what to do differently."),
    Option(label="Skip this step", value=SKIP, description="The other steps continue without it."),
    Option(label="Re-plan from here", value=REPLAN, description="Finished steps stay."),
    Option(label="Stop", value=STOP),
]
_ACCEPT = Option(label="Accept the step as it is", value=ACCEPT, description="It counts as done.")

_UPDATE = Option(
    label="Accept and update expectations",
    value=UPDATE,
    description="It counts as done, and the new numbers are pinned.",
)

ABOUT_HINT = Question(question="What should I do differently?", allow_custom=True)


def about_failure(step: PlanStep, end: StepEnd) -> Question:
    """A step has failed, was done in part only, or says it is done and is not."""
    failed = end.result.status == "failed"
    own = {expectation.id for expectation in step.expects}
    can_update = any(result.updated and result.expectation.id not in own for result in end.broken)
    how = "failed" if failed else "was done only in part"
    if end.shortfalls:
        how = f"says it is done, but it {end.shortfalls[0].what}"
    return Question(
        question=f"Step {step.step_number} {how}: {step.action}. What now?",
        context=end.text,
        severity="major",
        options=[
            *([] if failed else [_ACCEPT]),
            *([_UPDATE] if can_update else []),
            *_OPTIONS,
        ],
        default=RETRY,
    )


def about_half_done(step: PlanStep, tool: str) -> Question:
    """A crash has cut off a step while it was changing something."""
    return Question(
        question=f"Step {step.step_number} was interrupted in the middle of {tool}. "
        "Run the step again?",
        context="It may be partly done. Check before you decide.",
        severity="major",
        options=[option for option in _OPTIONS if option.value in (RETRY, SKIP, STOP)],
        default=STOP,
    )
