"""Conversations: created, named, read, switched to another role, and deleted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from ..agents.jobs import Jobs
from ..agents.run.steering import clear_queue
from ..domain.contexts import Context, FoundContext, Initiator
from ..domain.errors import Conflict, Forbidden, InvalidInput
from ..domain.messages import Message, MessageType, TextPart
from ..domain.roles import DEFAULT_ROLE, AgentRole
from ..llm.base_prompts import DEFAULT_PROMPT, BasePrompt, BasePrompts
from ..store import ContextFilter, Page
from ..store.journal import Journal
from ..tools.kernel.scratch_kernel import ScratchKernels
from .retention import DeletedConversations

MAX_TITLE = 80


@dataclass(frozen=True)
class Conversations:
    journal: Journal
    jobs: Jobs
    prompts: BasePrompts
    deleted: DeletedConversations
    workspace: Path
    scratch: ScratchKernels | None = None

    def create(
        self,
        *,
        notebook: str | None = None,
        title: str = "",
        role: AgentRole = DEFAULT_ROLE,
        model: str | None = None,
        system_prompt_id: str = DEFAULT_PROMPT,
        owner: str = "",
        kernel_id: str | None = None,
    ) -> Context:
        if not self._base_prompt(system_prompt_id).trusted:
            raise Forbidden(_untrusted(system_prompt_id), code="untrusted_prompt")
        context = Context(
            notebook=notebook,
            title=title,
            role=role,
            model=model,
            system_prompt_id=system_prompt_id,
        )
        with self.journal.transaction() as tx:
            tx.save_context(context)
            tx.set_workspace(context.id, str(self.workspace.resolve()))
            if owner or kernel_id:
                tx.set_owner(context.id, owner, kernel_id)
        return context

    def get(self, context_id: str) -> Context:
        return self.journal.store.context(context_id)

    def owner(self, context_id: str) -> str:
        return self.journal.store.owner(context_id)

    def made_by_kernel(self, context_id: str) -> str | None:
        """The kernel whose code made it."""
        return self.journal.store.made_by_kernel(context_id)

    def workspace_of(self, context_id: str) -> str:
        return self.journal.store.workspace(context_id)

    def page(
        self, after: int | None = None, limit: int = 100, **which: Unpack[ContextFilter]
    ) -> Page[FoundContext]:
        """Newest first; with an owner, only theirs and those without one."""
        return self.journal.store.contexts(after, limit, **which)

    def messages(self, context_id: str, after: int = 0, limit: int = 200) -> Page[Message]:
        self.get(context_id)
        return self.journal.store.messages(context_id, after, limit)

    def change(self, context_id: str, **change: str | bool) -> Context:
        """Update fields such as title or pin; what runs goes on as it began."""
        changed = self.get(context_id).model_copy(update=change)
        return self.journal.store.save_context(changed)

    def choose_prompt(self, context_id: str, prompt_id: str) -> Context:
        if not self._base_prompt(prompt_id).trusted:
            raise InvalidInput(_untrusted(prompt_id), code="untrusted_prompt")
        return self.change(context_id, system_prompt_id=prompt_id)

    def _base_prompt(self, prompt_id: str) -> BasePrompt:
        prompt = self.prompts.find(prompt_id)
        if prompt is None:
            raise InvalidInput(
                f"system_prompt_id: there is no base prompt '{prompt_id}'.",
                code="unknown_prompt",
            )
        return prompt

    def name_after(self, context_id: str, request: str) -> None:
        self.change(context_id, title=_title(request))

    def names(self, context: Context) -> list[str | None]:
        """What cells of its notebook call it: its title, or None if nobody has given it one."""
        first = self.journal.store.goal(context.id)
        is_named = context.title and (first is None or context.title != _title(first.text))
        return [context.title] if is_named else [context.title, None]

    async def delete(self, context_id: str) -> None:
        """Delete it, for good in some minutes; what runs in it is stopped first."""
        with self.journal.transaction() as tx:
            clear_queue(tx, context_id)  # else it would begin another job
        running = self.journal.store.active_job(context_id)
        if running:
            await self.jobs.cancel(running.id)
        if self.scratch:
            await self.scratch.end(context_id)
        self.deleted.add(context_id)

    async def switch_role(
        self,
        context_id: str,
        role: AgentRole,
        *,
        confirm: bool = False,
        by: Initiator = "person",
    ) -> Context:
        """Continue in another role, from the next message on. Raises Conflict while a job runs,
        unless confirmed.
        """
        running = self.journal.store.active_job(context_id)
        if running and not confirm:
            raise Conflict(
                "A job is running, and switching the role would stop it. Confirm to switch anyway.",
                code="confirmation_required",
                details={"job_id": running.id},
            )
        if running:
            await self.jobs.cancel(running.id)
        return self.record_role(context_id, role, by)

    def record_role(self, context_id: str, role: AgentRole, by: Initiator) -> Context:
        """Like `switch_role`, for callers that have stopped what ran, or let it run."""
        text = f"The role is now {role.spec.label}."
        if by != "person":
            text += " A cell switched it."
        with self.journal.transaction() as tx:
            data = tx.set_role(context_id, role, None if by == "person" else by)
            tx.append_message(
                Message(
                    context_id=context_id,
                    role="system",
                    agent_role=role,
                    message_type=MessageType.ROLE_CHANGE,
                    content=[TextPart(text=text)],
                    data=data,
                )
            )
        return self.get(context_id)


def _untrusted(prompt_id: str) -> str:
    return (
        f"system_prompt_id: '{prompt_id}' came with the workspace and is not trusted yet. "
        "Trust it in the Cowork panel, under This workspace."
    )


def _title(text: str) -> str:
    return text.strip().partition("\n")[0][:MAX_TITLE]
