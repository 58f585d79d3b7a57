"""The endpoints about workflows: what users can pick, picking it, and saving plans to be picked."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from ..domain.errors import InvalidInput
from ..domain.health import Problem
from ..domain.plan import Plan
from ..domain.roles import AgentRole
from ..workflows import Category, Draft, Template, Workflow
from . import models
from .calls import Call, check_owner
from .routes import table


class NewParameter(models.RequestBody):
    """A part of the plan that varies each time it is used."""

    name: models.Name
    value: models.Name | None = None
    """What stands in the plan now; left out if the plan holds `{name}` already."""
    title: models.Name = ""
    description: models.Name = ""
    type: Literal["text", "path", "notebook"] | None = None
    default: models.Name | None = None


class NewWorkflow(models.RequestBody):
    """`POST workflows`: a plan of a conversation, or one made by hand."""

    name: models.Name
    title: models.Name = ""
    description: models.Name = ""
    parameters: Annotated[list[NewParameter], Field(max_length=30)] = []
    context_id: models.Name | None = None
    revision: models.Seq | None = None
    plan: dict[str, Any] | None = None
    replace: bool = False


class TemplateView(BaseModel):
    """Where a template comes from, and its plan with `{names}` of parameters."""

    source: Literal["user", "workspace"]
    plan: Plan

    @classmethod
    def of(cls, template: Template) -> TemplateView:
        """The view of one template."""
        return cls(source=template.source, plan=template.plan)


class WorkflowView(BaseModel):
    """One workflow, with the JSON schema of its form."""

    name: str
    title: str
    description: str
    category: str
    role: AgentRole
    parameters: dict[str, Any]
    template: TemplateView | None
    """Set if it is a plan that was saved."""

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
            template=TemplateView.of(workflow) if isinstance(workflow, Template) else None,
        )


class WorkflowList(BaseModel):
    """All workflows, and what is wrong with plug-ins that were skipped."""

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
        names = [
            WorkflowName(name=workflow.name, title=workflow.title)
            for workflow in category.workflows
        ]
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
    """All workflows."""
    workflows = call.service.workflows.current()
    views = [WorkflowView.of(workflow) for workflow in workflows.values()]
    return WorkflowList(items=views, problems=workflows.problems)


@table.route("POST", "workflows", body=NewWorkflow, answer=WorkflowView, status=201, action="write")
async def save_workflow(call: Call) -> BaseModel:
    """Save a plan as a workflow of the user's own, with parameters for what varies."""
    body: NewWorkflow = call.body
    saved = call.service.reuse.save(
        Draft.model_validate(body.model_dump(include=set(Draft.model_fields))),
        _plan_of(call, body),
        replace=body.replace,
    )
    return WorkflowView.of(saved)


def _plan_of(call: Call, body: NewWorkflow) -> dict[str, Any]:
    if (body.plan is None) == (body.context_id is None):
        raise InvalidInput("Pass either a context_id or a plan.", code="invalid_template")
    if body.plan is None:
        assert body.context_id is not None
        call.service.conversations.get(body.context_id)
        return call.service.reuse.plan_of(body.context_id, body.revision)
    if body.revision is not None:
        raise InvalidInput("revision: needs a context_id.", code="invalid_template")
    return body.plan


@table.route("DELETE", "workflows/{name}", answer=None, status=204, action="write")
async def delete_workflow(call: Call) -> None:
    """Delete one of the user's own templates."""
    call.service.reuse.delete(call.path["name"])


@table.route("GET", "workflows/categories", answer=CategoryList, action="read", kernel=True)
async def list_categories(call: Call) -> BaseModel:
    """All workflows, grouped for menus."""
    groups = call.service.workflows.current().categories()
    return CategoryList(items=[CategoryView.of(group) for group in groups])


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
    """Run a workflow, in a new conversation unless you name one."""
    body: models.WorkflowRun = call.body
    if body.context_id is not None:
        check_owner(call.service, call.caller, body.context_id)
    message = call.service.run_workflow(
        call.path["name"],
        body.parameters,
        body.context_id,
        owner=call.caller.name,
        by=call.caller.initiator,
    )
    assert message.job_id
    return WorkflowAccepted(
        message_id=message.id, job_id=message.job_id, context_id=message.context_id
    )
