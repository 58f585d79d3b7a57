"""Plans used again: one that was carried out, or made by hand, kept as a workflow of the user's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...domain.errors import Conflict, Forbidden, NotFound
from ...workflows import Draft, Template, WorkflowCatalog, template_of
from .plans import Plans


@dataclass
class Reuse:
    """Keeps templates, and lets go of them."""

    plans: Plans
    workflows: WorkflowCatalog

    def plan_of(self, context_id: str, revision: int | None = None) -> dict[str, Any]:
        """A plan of a conversation, the newest unless said otherwise."""
        found = self.plans.factory.journal.store.plan(context_id, revision)
        if found is None:
            which = "plan yet" if revision is None else f"revision {revision} of a plan"
            raise NotFound(f"This conversation has no {which}.", code="no_plan")
        return found.plan.model_dump(mode="json")

    def save(self, draft: Draft, plan: dict[str, Any], *, replace: bool = False) -> Template:
        """Make a template of a plan and keep it. Only the user's own can be replaced."""
        made = template_of(draft, self.plans.checked(plan))
        taken = self.workflows.current().get(made.name)
        if taken and not (replace and isinstance(taken, Template) and taken.source == "user"):
            raise Conflict(f"The workflow '{made.name}' already exists.", code="name_taken")
        self.workflows.templates.save(made, replace=replace)
        return made

    def delete(self, name: str) -> None:
        """Remove a template of the user's own; other workflows are not theirs to remove."""
        found = self.workflows.current().named(name)
        if not isinstance(found, Template):
            why = "It comes with Cowork or a plug-in. You can delete only templates."
            raise Forbidden(why, code="not_a_template")
        self.workflows.templates.delete(found)
