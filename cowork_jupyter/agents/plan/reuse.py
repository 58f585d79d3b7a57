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
        found = self.plans.factory.journal.store.plan(context_id, revision, plan_id)
        if found is None:
            which = "plan yet" if revision is None else f"revision {revision} of a plan"
            raise NotFound(f"This conversation has no {which}.", code="no_plan")
        return found.plan

    def save(self, draft: Draft, plan: dict[str, Any], *, replace: bool = False) -> Template:
        """Make a template of a plan and save it. Only the user's own can be replaced."""
        made = template_of(draft, self.plans.validate(plan, exact=True))
        taken = self.workflows.current().get(made.name)
        if taken and not (replace and isinstance(taken, Template) and taken.source == "user"):
            raise Conflict(f"The workflow '{made.name}' already exists.", code="name_taken")
        self.workflows.templates.save(made, replace=replace)
        return made

    def edit(self, name: str, edit: TemplateEdit) -> Template:
        found = self.template(name)
        if found.source != "user":
            why = "It belongs to the workspace. Edit its file in .cowork/workflows."
            raise Forbidden(why, code="not_yours")
        made = edited(found, edit)
        self.workflows.templates.save(made, replace=True)
        return made

    def share(self, name: str, *, replace: bool = False) -> str:
        return self.workflows.templates.share(self.template(name), replace=replace)

    def delete(self, name: str) -> None:
        """Remove a template of the user's own; other workflows are not theirs to remove."""
        self.workflows.templates.delete(self.template(name))

    def template(self, name: str) -> Template:
        found = self.workflows.current().named(name)
        if not isinstance(found, Template):
            why = "It comes with Cowork or a plug-in. You can change only templates."
            raise Forbidden(why, code="not_a_template")
        return found
