"""What there is to tell of a run, before anybody draws it."""

from __future__ import annotations

from cowork_jupyter.domain.contexts import Task
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.record.account import call_title, plan_account


def test_a_call_is_named_by_its_main_parameter() -> None:
    assert call_title("grep", {"glob": "*.py", "pattern": "a\nb"}) == "grep a b"
    assert call_title("list_variables", {}) == "list_variables"


def test_an_error_is_told_only_of_a_failed_step() -> None:
    steps = [{"id": name, "action": name, "status": name} for name in ("failed", "completed")]
    plan = Plan.model_validate({"goal": "Go", "steps": steps})
    tasks = [
        Task(job_id="j", context_id="c", step_id=step.id, error="No rows.") for step in plan.steps
    ]
    told = plan_account(plan, tasks).steps
    assert [(step.mark, step.error) for step in told] == [("✗", "No rows."), ("✓", "")]


def test_assumptions_carry_the_verdict_of_the_user() -> None:
    stated = [
        {"text": "In euros"},
        {"text": "Paid", "status": "corrected", "correction": "Ordered"},
        {"text": "2025", "status": "confirmed"},
    ]
    plan = Plan.model_validate({"goal": "Go", "steps": [{"action": "a"}], "assumptions": stated})
    assert plan_account(plan).notes == {"Assumes": "In euros; Paid (Ordered); 2025 (confirmed)"}
