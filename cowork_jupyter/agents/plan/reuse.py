"""Plans saved for reuse, as workflows of the user's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...domain.errors import Conflict, Forbidden, NotFound
from ...domain.plan import Plan
from ...workflows import Draft, Template, TemplateEdit, WorkflowCatalog, edited, template_of
from .plans import Plans


@dataclass
class Reuse:
    plans: Plans
    workflows: WorkflowCatalog

    def plan_of(
        self, context_id: str, revision: int | None = None, plan_id: str | None = None
    ) -> Plan:
        plan_revision = self.plans.factory.journal.store.plan(context_id, revision, plan_id)
        if plan_revision is None:
            which = "plan yet" if revision is None else f"revision {revision} of a plan"
            raise NotFound(f"This conversation has no {which}.", code="no_plan")
        return plan_revision.plan

    def save(self, draft: Draft, plan: dict[str, Any], *, replace: bool = False) -> Template:
        """Make a template of a plan and save it. Only the user's own can be replaced."""
        template = template_of(draft, self.plans.validate(plan, exact=True))
        taken = self.workflows.current().get(template.name)
        if taken and not (replace and isinstance(taken, Template) and taken.source == "user"):
            raise Conflict(f"The workflow '{template.name}' already exists.", code="name_taken")
        self.workflows.templates.save(template, replace=replace)
        return template

    def edit(self, name: str, edit: TemplateEdit) -> Template:
        template = self.template(name)
        if template.source != "user":
            why = "It belongs to the workspace. Edit its file in .cowork/workflows."
            raise Forbidden(why, code="not_yours")
        new_template = edited(template, edit)
        self.workflows.templates.save(new_template, replace=True)
        return new_template

    def share(self, name: str, *, replace: bool = False) -> str:
        return self.workflows.templates.share(self.template(name), replace=replace)

    def delete(self, name: str) -> None:
        """Remove a template of the user's own; other workflows are not theirs to remove."""
        self.workflows.templates.delete(self.template(name))

    def template(self, name: str) -> Template:
        workflow = self.workflows.current().named(name)
        if not isinstance(workflow, Template):
            why = "It comes with Cowork or a plug-in. You can change only templates."
            raise Forbidden(why, code="not_a_template")
        return workflow
