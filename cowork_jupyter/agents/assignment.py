"""What an executing agent is told about its task."""

from __future__ import annotations

from collections.abc import Mapping

from ..domain.plan import Plan, PlanStep
from ..llm.prompt import read_prompt


def assignment_text(plan: Plan, step: PlanStep, results: Mapping[str, str], hint: str = "") -> str:
    """The step in full, the plan's goal, the results it builds on, and how to end."""
    lines = [
        f"Your task is step {step.step_number} of an approved plan.",
        f"The plan's goal: {plan.goal}",
        f"The step: {step.action}",
        f"Why: {step.reason}" if step.reason else "",
        f"Tools it was approved for: {', '.join(step.tools_needed)}" if step.tools_needed else "",
        f"Files it was approved for: {', '.join(step.files)}" if step.files else "",
        *(f"Result of step {one}: {summary}" for one, summary in results.items()),
        f"A hint from the user after a failed attempt: {hint}" if hint else "",
    ]
    return "\n".join(line for line in lines if line) + f"\n\n{read_prompt('formats', 'result.md')}"
