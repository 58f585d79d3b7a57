"""Endpoints for workflows: list, run, save, edit, share, delete."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from ..domain.cell_commands import ManageWorkflow, SaveWorkflow, StartWorkflow
from ..domain.contexts import Initiator
from ..domain.errors import InvalidInput
from ..domain.health import Problem
from ..domain.plan import Plan
from ..domain.roles import AgentRole
from ..workflows import (
    Category,
    Draft,
    OfferedParameter,
    Template,
    TemplateEdit,
    TemplateParameter,
    Workflow,
    offered_parameters,
    written,
)
from . import models
from .api_messages import refuse_raise
from .api_plans import PlanQuery
from .calls import Call, NeedsPerson, check_owner, initiator_of, refuse_unless_person
from .routes import Download, table

JSON = "application/json"


class NewParameter(models.RequestBody):
    """A part of the plan that varies each time it is used."""

    name: models.Name
    value: models.Name | None = None
    """Its current value in the plan; left out if the plan contains `{name}` already."""
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
    plan_id: models.Name | None = None
    """By default the conversation's current plan."""
    revision: models.Seq | None = None
    plan: dict[str, Any] | None = None
    replace: bool = False
    cell_id: models.Name | None = None
    """The notebook cell that it is sent from."""


class EditedParameter(NewParameter):
    """A parameter as it should be from now on. The plan contains it by name."""

    value: None = None
    example: models.Name | None = None


class WorkflowEdit(models.RequestBody):
    """`PUT workflows/{name}`: fields that are left out stay as they are."""

    title: models.Name | None = None
    description: models.Name | None = None
    parameters: Annotated[list[EditedParameter], Field(max_length=30)] | None = None
    """All that still vary; missing ones are fixed at their default or first value."""
    cell_id: models.Name | None = None


class WorkflowShare(models.RequestBody):
    """`POST workflows/{name}/share`."""

    replace: bool = False
    cell_id: models.Name | None = None


class WorkflowShared(BaseModel):
    """The path of the shared copy."""

    path: str


class WorkflowRun(models.RequestBody):
    """`POST workflows/{name}/run`."""

    parameters: dict[str, Any] = {}
    context_id: models.Name | None = None
    cell_id: models.Name | None = None
    """The notebook cell that it is sent from."""


class WorkflowDeletion(models.RequestBody):
    """`DELETE workflows/{name}`."""

    cell_id: models.Name | None = None


class OfferedParameters(models.Items[OfferedParameter]):
    """Values in a plan that could be parameters."""


class TemplateView(BaseModel):
    """The origin of a template, and its plan with `{names}` of parameters."""

    source: Literal["user", "workspace"]
    parameters: list[TemplateParameter]
    plan: Plan

    @classmethod
    def of(cls, template: Template) -> TemplateView:
        return cls(source=template.source, parameters=template.saved.parameters, plan=template.plan)


class WorkflowView(BaseModel):
    """A workflow, with the JSON schema of its form."""

    name: str
    title: str
    description: str
    category: str
    role: AgentRole
    parameters: dict[str, Any]
    template: TemplateView | None
    """Set if it is a saved plan."""

    @classmethod
    def of(cls, workflow: Workflow) -> WorkflowView:
        return cls(
            name=workflow.name,
            title=workflow.title,
            description=workflow.description,
            category=workflow.category,
            role=workflow.role,
            parameters=workflow.schema,
            template=TemplateView.of(workflow) if isinstance(workflow, Template) else None,
        )


class WorkflowList(models.Items[WorkflowView]):
    """All workflows, and what is wrong with plug-ins that were skipped."""

    problems: list[Problem]


class WorkflowName(BaseModel):
    """A workflow as a menu shows it."""

    name: str
    title: str


class CategoryView(BaseModel):
    """A group in a menu."""

    name: str
    label: str
    workflows: list[WorkflowName]

    @classmethod
    def of(cls, category: Category) -> CategoryView:
        names = [
            WorkflowName(name=workflow.name, title=workflow.title)
            for workflow in category.workflows
        ]
        return cls(name=category.name, label=category.label, workflows=names)


class CategoryList(models.Items[CategoryView]):
    """All groups, in display order."""


class WorkflowAccepted(models.Accepted):
    """The request is stored and a job works on it, in this conversation."""

    context_id: str


@table.get("workflows", WorkflowList, kernel=True)
async def list_workflows(call: Call) -> BaseModel:
    """All workflows."""
    workflows = call.service.workflows.current()
    views = [WorkflowView.of(workflow) for workflow in workflows.values()]
    return WorkflowList(items=views, problems=workflows.problems)


@table.post("workflows", WorkflowView, body=NewWorkflow, status=201, action="write", kernel=True)
async def save_workflow(call: Call) -> BaseModel:
    """Save a plan as a workflow of the user's own, with parameters for what varies.

    A kernel's call counts if a person has just run `%cowork save`.
    """
    body: NewWorkflow = call.body
    await _refuse_code(call, body)
    saved = call.service.reuse.save(
        Draft.model_validate(body.model_dump(include=set(Draft.model_fields))),
        _plan_of(call, body),
        replace=body.replace,
    )
    return WorkflowView.of(saved)


async def _refuse_code(call: Call, body: NewWorkflow) -> None:
    if call.caller.kernel_id is None:
        return
    if body.context_id is None:
        raise NeedsPerson
    check_owner(call.service, call.caller, body.context_id)
    by = await initiator_of(call, lambda name: SaveWorkflow(name, body.name), body.context_id)
    if by != "person":
        raise NeedsPerson


def _plan_of(call: Call, body: NewWorkflow) -> dict[str, Any]:
    if (body.plan is None) == (body.context_id is None):
        raise InvalidInput("Pass either a context_id or a plan.", code="invalid_template")
    if body.plan is None:
        assert body.context_id is not None
        call.service.conversations.get(body.context_id)
        plan = call.service.reuse.plan_of(body.context_id, body.revision, body.plan_id)
        return plan.model_dump(mode="json")
    for name in ("revision", "plan_id"):
        if getattr(body, name) is not None:
            raise InvalidInput(f"{name}: needs a context_id.", code="invalid_template")
    return body.plan


@table.get("context/{id}/plan/parameters", OfferedParameters, query=PlanQuery, kernel=True)
async def list_offered_parameters(call: Call) -> BaseModel:
    """Values in a plan that could be parameters of a workflow, most variable first."""
    query = call.query
    plan = call.service.reuse.plan_of(call.path["id"], query.revision, query.plan_id)
    return OfferedParameters(items=offered_parameters(plan))


@table.put("workflows/{name}", WorkflowView, body=WorkflowEdit, kernel=True)
async def edit_workflow(call: Call) -> BaseModel:
    """Edit one of the user's own templates: title, description, parameters."""
    body: WorkflowEdit = call.body
    await _require_person(call, "edit", body.cell_id)
    fields = body.model_dump(exclude={"cell_id"}, exclude_none=True)
    return WorkflowView.of(call.service.reuse.edit(call.path["name"], TemplateEdit.read(fields)))


@table.post(
    "workflows/{name}/share", WorkflowShared, body=WorkflowShare, action="write", kernel=True
)
async def share_workflow(call: Call) -> BaseModel:
    """Copy a template into the workspace's `.cowork/workflows`, where others can trust it."""
    body: WorkflowShare = call.body
    await _require_person(call, "share", body.cell_id)
    return WorkflowShared(path=call.service.reuse.share(call.path["name"], replace=body.replace))


@table.get("workflows/{name}/file", None, kernel=True, downloads=(JSON,))
async def get_workflow_file(call: Call) -> Download:
    """A template as a file, to be put into the `.cowork/workflows` of another workspace."""
    template = call.service.reuse.template(call.path["name"])
    return Download(JSON, f"{template.name}.json", written(template))


@table.delete("workflows/{name}", query=WorkflowDeletion, kernel=True)
async def delete_workflow(call: Call) -> None:
    """Delete one of the user's own templates."""
    await _require_person(call, "delete", call.query.cell_id if call.query else None)
    call.service.reuse.delete(call.path["name"])


async def _require_person(call: Call, verb: str, cell_id: str | None) -> None:
    """A kernel's call counts if a person has just run `%cowork workflows VERB NAME`."""
    await refuse_unless_person(call, cell_id, ManageWorkflow(verb, call.path["name"]))


@table.get("workflows/categories", CategoryList, kernel=True)
async def list_categories(call: Call) -> BaseModel:
    """All workflows, grouped for menus."""
    groups = call.service.workflows.current().categories()
    return CategoryList(items=[CategoryView.of(group) for group in groups])


@table.post(
    "workflows/{name}/run",
    WorkflowAccepted,
    body=WorkflowRun,
    status=202,
    action="execute",
    kernel=True,
)
async def run_workflow(call: Call) -> BaseModel:
    """Run a workflow, in a new conversation unless you name one."""
    body: WorkflowRun = call.body
    by = await _check_run(call, body.context_id) if body.context_id else call.caller.initiator
    message = call.service.run_workflow(
        call.path["name"],
        body.parameters,
        body.context_id,
        owner=call.caller.name,
        by=by,
    )
    assert message.job_id
    return WorkflowAccepted(
        message_id=message.id, job_id=message.job_id, context_id=message.context_id
    )


async def _check_run(call: Call, context_id: str) -> Initiator:
    """Who runs it. Raises Forbidden for code whose workflow has more rights than the role."""
    check_owner(call.service, call.caller, context_id)
    name = call.path["name"]
    workflow = call.service.workflows.current().named(name)
    # A cell that names no conversation runs it in the one called like the workflow.
    by = await initiator_of(
        call,
        lambda where: StartWorkflow(where if where != workflow.title else None, name),
        context_id,
    )
    await refuse_raise(call, context_id, workflow.role, by)
    return by
