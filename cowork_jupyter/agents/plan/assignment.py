"""What an executing agent is told about its task.

First what all steps of an execution are told alike, so that a server can cache the common prefix of
prompts of concurrent steps; then what this step builds on; the step itself comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...domain.contexts import StepStatus, Task
from ...domain.events import FileMoved
from ...domain.identity import new_id, now
from ...domain.messages import Answer
from ...domain.plan import Plan, PlanStep
from ...domain.replies import Review
from ...domain.roles import Permission
from ...domain.team import is_review, sent_back_by
from ...llm.history import fair_share
from ...llm.prompt import read_prompt
from ...llm.tokens import Count, cut_middle

BRIEFING_TOKENS = 3_000
"""Half for the user's request, half for the planner's questions with their answers."""
RESULTS_TOKENS = 3_000
_LINE_TOKENS = 8
_FAILURES_ARE_RESULTS = (
    "Failing tests are a result too: the status is done, and the summary says what failed."
)
_FIND_THE_REST = "Find the rest with recall."

FINDINGS_TOKENS = 3_000
_ADDRESS = (
    "It was done before, and a review asked for changes. Fix what it found, within what the step "
    "was approved for, and leave the rest as it is."
)
_LOOK_AGAIN = (
    "It was done before, and a review asked for changes, which have been made. Do the step "
    "again, and check that its findings are resolved."
)


@dataclass(frozen=True)
class Results:
    by_step: Mapping[str, str]
    """As far as there was room, in the plan's order."""
    complete: bool = True


def briefing_text(
    plan: Plan,
    request: str,
    answers: Iterable[Answer],
    count: Count,
    moves: Iterable[FileMoved] = (),
) -> str:
    """What the user asked for and answered, the same for all steps of an execution.

    `moves` are of files that the plan may call by their old names.
    """
    answers_text = "\n".join(f"- {answer.question} {answer.label}" for answer in answers)
    room = BRIEFING_TOKENS // 2
    lines = [
        f"The plan's goal: {plan.goal}",
        f"The user's request: {cut_middle(request, room, count, _FIND_THE_REST)}"
        if request not in ("", plan.goal)
        else "",
        f"What the user answered when it was planned:\n"
        f"{cut_middle(answers_text, room, count, _FIND_THE_REST)}"
        if answers_text
        else "",
        *(f"The user has renamed {move.old} to {move.new} since." for move in moves),
    ]
    return "\n".join(line for line in lines if line)


def results_for(
    step: PlanStep, steps: Mapping[str, PlanStep], tasks: Mapping[str, Task], count: Count
) -> Results:
    """The results that a step builds on, nearest first, until the room is used up.

    Steps that are equally near share the room; long results are cut. Only as many steps are visited
    as have room, however many the plan has.
    """
    results: dict[str, str] = {}
    room, complete = RESULTS_TOKENS, True
    level, seen = list(dict.fromkeys(step.depends_on)), set(step.depends_on)
    while level and room > _LINE_TOKENS:
        texts = {step_id: text for step_id in level if (text := tasks[step_id].result)}
        costs = [count(text) + _LINE_TOKENS for text in texts.values()]
        if sum(costs) > room:
            most = fair_share(costs, room) - _LINE_TOKENS
            cut = {
                step_id: cut_middle(text, most, count, _FIND_THE_REST)
                for step_id, text in texts.items()
            }
            texts = {step_id: text for step_id, text in cut.items() if text}
            costs = [count(text) + _LINE_TOKENS for text in texts.values()]
            complete = complete and len(texts) == len(cut)
        results |= texts
        room -= sum(costs)
        further = dict.fromkeys(above for step_id in level for above in steps[step_id].depends_on)
        level = [step_id for step_id in further if step_id not in seen]
        seen.update(level)
    in_order = sorted(results, key=lambda step_id: steps[step_id].step_number)
    return Results({step_id: results[step_id] for step_id in in_order}, complete and not level)


def assignment_text(
    briefing: str,
    step: PlanStep,
    results: Results,
    hint: str = "",
    problem: str = "",
    findings: str = "",
) -> str:
    lines = [
        briefing,
        *(f"Result of step {step_id}: {summary}" for step_id, summary in results.by_step.items()),
        "" if results.complete else f"Results of earlier steps are left out. {_FIND_THE_REST}",
        f"Your task is step {step.step_number} of an approved plan.",
        f"The step: {step.action}",
        f"Why: {step.reason}" if step.reason else "",
        f"Tools it was approved for: {', '.join(step.tools_needed)}" if step.tools_needed else "",
        f"Files it was approved for: {', '.join(step.files)}" if step.files else "",
        findings,
        f"Your last attempt does not count. {problem}" if problem else "",
        f"A hint from the user after a failed attempt: {hint}" if hint else "",
    ]
    return "\n".join(line for line in lines if line) + f"\n\n{_how_to_end(step)}"


def _how_to_end(step: PlanStep) -> str:
    """A reviewer ends with a review; for roles that only run things, a failure is a result too."""
    if is_review(step):
        return read_prompt("formats", "step_review.md")
    lines = [read_prompt("formats", "result.md")]
    runs_only = not step.runs_as.spec.commands_may_write
    if runs_only and step.runs_as.permits([Permission.EXECUTE_COMMANDS]):
        lines.append(_FAILURES_ARE_RESULTS)
    return "\n".join(lines)


def needs_another_round(step: PlanStep, task: Task, review: Review | None) -> bool:
    return review is not None and review.asks_for_changes and task.round < step.rounds


def steps_to_repeat(review: PlanStep, steps: Sequence[PlanStep]) -> list[PlanStep]:
    """The steps that run again, in order; not those that the user has skipped."""
    again = sent_back_by(review, steps)
    return [step for step in again if step.status is not StepStatus.SKIPPED]


def next_round_tasks(
    steps: Sequence[PlanStep], tasks: Mapping[str, Task], findings: str
) -> dict[str, Task]:
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
    findings = cut_middle(task.findings, FINDINGS_TOKENS, count, "Find the rest with recall.")
    return f"{_ADDRESS if may_write else _LOOK_AGAIN}\n{findings}"
