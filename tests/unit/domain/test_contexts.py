"""Contexts, jobs and their statuses."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.contexts import Context, JobStatus, StepStatus, Usage
from cowork_jupyter.domain.roles import AgentRole, Permission


@pytest.mark.parametrize("stored", [{}, {"role": None}, {"role": ""}])
def test_a_context_from_before_roles_is_an_actor(stored: dict[str, None]) -> None:
    assert Context.model_validate(stored).role is AgentRole.ACTOR


def test_unknown_role_keeps_its_name_and_only_reads() -> None:
    role = Context.model_validate({"role": "wizard"}).role
    assert (role.value, role.is_known) == ("wizard", False)
    assert role.spec.permissions == {Permission.READ_FILES}
    assert not role.spec.commands_may_write
    assert not role.spec.delegates_to
    assert "Unknown" in role.spec.description


def test_what_can_be_no_roles_name_is_a_planner() -> None:
    assert Context.model_validate({"role": "../actor"}).role is AgentRole.PLANNER


def test_a_context_answers_with_the_fields_of_the_contract() -> None:
    assert set(Context().model_dump()) == {
        *("id", "title", "notebook", "role", "model", "system_prompt_id"),
        *("created_at", "updated_at"),
    }


def test_statuses_are_those_of_the_contract() -> None:
    steps = "pending running waiting completed failed skipped cancelled interrupted"
    jobs = "running waiting completed failed cancelled interrupted"
    assert [str(status) for status in StepStatus] == steps.split()
    assert [str(status) for status in JobStatus] == jobs.split()


def test_a_job_is_over_unless_it_runs_or_waits() -> None:
    assert {status for status in JobStatus if not status.is_final} == {
        JobStatus.RUNNING,
        JobStatus.WAITING,
    }


def test_usage_adds_up() -> None:
    one = Usage(prompt_tokens=3, completion_tokens=2, total_tokens=5)
    assert (one + one).total_tokens == 10
    turn = Usage(turns=1, seconds=0.1, cost=0.1, currency="EUR", limits={"max_job_tokens": 5})
    both = turn + Usage(turns=2, seconds=0.2, cost=0.2, estimated=True)
    assert (both.turns, both.seconds, both.cost, both.estimated) == (3, 0.3, 0.3, True)
    assert (both.currency, both.limits) == ("EUR", {"max_job_tokens": 5})


def test_unknown_cost_is_not_zero() -> None:
    assert (Usage() + Usage()).cost is None
    assert (Usage(cost=0.5) + Usage()).cost == 0.5
    assert (Usage() + Usage(cost=0.5)).cost == 0.5
