"""The workflows that come with Cowork."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.llm.tokens import estimate_tokens
from cowork_jupyter.workflows import Workflow
from cowork_jupyter.workflows.shipped import SHIPPED

EXAMPLES: dict[str, tuple[AgentRole, dict[str, Any]]] = {
    "explain_notebook": (AgentRole.PLANNER, {"notebook": "sales.ipynb", "reader": "a student"}),
    "clean_notebook": (AgentRole.PLANNER, {"notebook": "sales.ipynb"}),
    "profile_dataset": (AgentRole.TESTER, {"path": "data/sales.csv", "purpose": "a forecast"}),
    "write_tests": (AgentRole.PLANNER, {"module": "src/sales.py", "focus": "rounding"}),
    "review_changes": (AgentRole.REVIEWER, {"paths": ["a.py", "b.py"], "purpose": "be faster"}),
    "build_test_review": (AgentRole.PLANNER, {"task": "Round up", "files": ["a.py"]}),
    "set_up_project": (AgentRole.PLANNER, {"goal": "Forecast sales", "folder": "forecast"}),
}

each = pytest.mark.parametrize("workflow", SHIPPED, ids=lambda one: one.name)


def rendered(workflow: Workflow, **raw: Any) -> str:
    return workflow.render(workflow.validated(raw))


def test_there_are_those_that_were_promised() -> None:
    assert [one.name for one in SHIPPED] == list(EXAMPLES)


@each
def test_the_role_is_the_one_chosen_for_it(workflow: Workflow) -> None:
    assert workflow.role is EXAMPLES[workflow.name][0]


@each
def test_none_can_change_the_workspace_by_itself(workflow: Workflow) -> None:
    changing = {Permission.WRITE_FILES, Permission.CREATE_FILES, Permission.DELETE_FILES}
    assert not workflow.role.spec.permissions & changing
    assert not workflow.role.spec.commands_may_write


@each
def test_the_request_is_complete_and_short(workflow: Workflow) -> None:
    request = rendered(workflow, **EXAMPLES[workflow.name][1])
    assert "{" not in request
    assert request == request.strip()
    assert "  \n" not in request
    assert estimate_tokens(request) < 350
    assert all(len(line) <= 130 for line in request.splitlines())


@each
def test_the_request_says_what_a_good_result_is(workflow: Workflow) -> None:
    request = rendered(workflow, **EXAMPLES[workflow.name][1])
    assert "good" in request or "Deliver a plan" in request
    assert ("Deliver a plan" in request) == (
        workflow.role is AgentRole.PLANNER and workflow.name != "explain_notebook"
    )


@each
def test_every_field_of_the_form_has_a_title(workflow: Workflow) -> None:
    for field in workflow.parameters.model_fields.values():
        assert field.title


def test_a_review_needs_no_files_to_be_named() -> None:
    review = next(one for one in SHIPPED if one.name == "review_changes")
    request = rendered(review)
    assert request.startswith("Review what changed.\n\nIf no files are named here")


def test_the_values_are_in_the_request() -> None:
    project = next(one for one in SHIPPED if one.name == "set_up_project")
    request = rendered(project, goal="Forecast sales")
    assert 'Its goal: "Forecast sales"' in request
    assert 'in the folder "."' in request
    assert 'Its kind: "analysis"' in request
