"""The endpoints about workflows: what users can pick, and picking it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from ..domain.health import Problem
from ..domain.roles import AgentRole
from ..workflows import Category, Workflow
from . import models
from .calls import Call
from .routes import table


class WorkflowView(BaseModel):
    """One workflow, with the JSON schema of its form."""

    name: str
    title: str
    description: str
    category: str
    role: AgentRole
    parameters: dict[str, Any]

    @classmethod
    def of(cls, workflow: Workflow) -> WorkflowView:
        """The view of one workflow."""
        return cls(
            name=workflow.name,
            title=workflow.title,
            description=workflow.description,
            category=workflow.category,
            role=workflow.role,
            parameters=workflow.schema,
        )


class WorkflowList(BaseModel):
    """All workflows, and what is wrong with plug-ins that were left out."""

    items: list[WorkflowView]
    next: None = None
    problems: list[Problem]


class WorkflowName(BaseModel):
    """A workflow as a menu shows it."""

    name: str
    title: str


class CategoryView(BaseModel):
    """A group of a menu."""

    name: str
    label: str
    workflows: list[WorkflowName]

    @classmethod
    def of(cls, category: Category) -> CategoryView:
        """The view of one category."""
        names = [WorkflowName(name=one.name, title=one.title) for one in category.workflows]
        return cls(name=category.name, label=category.label, workflows=names)


class CategoryList(BaseModel):
    """All groups, in the order in which they are shown."""

    items: list[CategoryView]
    next: None = None


class WorkflowAccepted(models.Accepted):
    """The request is stored and a job works on it, in this conversation."""

    context_id: str


@table.route("GET", "workflows", answer=WorkflowList, action="read", kernel=True)
async def list_workflows(call: Call) -> BaseModel:
    """The actions that users can pick."""
    workflows = call.service.workflows
    views = [WorkflowView.of(one) for one in workflows.values()]
    return WorkflowList(items=views, problems=workflows.problems)


@table.route("GET", "workflows/categories", answer=CategoryList, action="read", kernel=True)
async def list_categories(call: Call) -> BaseModel:
    """The same in groups, for menus."""
    groups = call.service.workflows.categories()
    return CategoryList(items=[CategoryView.of(one) for one in groups])


@table.route(
    "POST",
    "workflows/{name}/run",
    body=models.WorkflowRun,
    answer=WorkflowAccepted,
    status=202,
    action="execute",
    kernel=True,
)
async def run_workflow(call: Call) -> BaseModel:
    """Let the agent do it, in a new conversation unless one is given."""
    message = call.service.run_workflow(
        call.path["name"], call.body.parameters, call.body.context_id
    )
    assert message.job_id
    return WorkflowAccepted(
        message_id=message.id, job_id=message.job_id, context_id=message.context_id
    )
