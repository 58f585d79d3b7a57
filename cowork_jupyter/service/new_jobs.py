"""Creates jobs: within the limits, with a model to ask, on the card they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypedDict

from ..agents.jobs import Jobs, Work
from ..agents.run.usage import DayAccount
from ..domain.contexts import Context, Job, JobKind, RequestOrigin
from ..domain.errors import InvalidInput, Unavailable
from ..domain.messages import ImagePart, Message, TextData, TextPart
from ..domain.roles import AgentRole
from ..llm.model_probe import HOW_TO_CONNECT, ModelProbe
from ..store.journal import Journal
from .connections import Connections, CurrentModel
from .conversations import Conversations


class JobTerms(TypedDict, total=False):
    policy: Mapping[str, Any] | None
    model: str | None
    """With which the conversation continues."""
    origin: RequestOrigin


@dataclass(frozen=True, kw_only=True)
class NewJobs:
    journal: Journal
    conversations: Conversations
    jobs: Jobs
    connections: Connections
    model: CurrentModel
    probe: ModelProbe
    day: DayAccount

    def create(
        self, context: Context, kind: JobKind, role: AgentRole, request: str, origin: RequestOrigin
    ) -> Job:
        """Make a job. On another job's card it continues with what that card is about."""
        self.check_limits(context)
        card = self.card(context, origin.card_id) if origin.card_id else None
        return Job(
            context_id=context.id,
            kind=kind,
            role=role,
            request=request,
            plan_id=card.plan_id if card else None,
            plan_revision=card.plan_revision if card else None,
            notebook=context.notebook,
            cell_id=origin.cell_id,
            by=origin.by,
            card_id=card.id if card else "",
        )

    def check_limits(self, context: Context) -> None:
        """Raise Forbidden for what the administrator does not allow."""
        if self.model.traits.spends_tokens:
            model = context.model or self.connections.current().model
            self.connections.administrator.check_model(model)
            self.day.check()

    def card(self, context: Context, job_id: str) -> Job:
        """The job whose card it is, given any job on that card."""
        card = self.journal.store.card(context.id, job_id)
        if card is None:
            raise InvalidInput("card_id: this conversation has no such job.", code="unknown_card")
        return card

    def start(
        self,
        context: Context,
        job: Job,
        work: Work,
        facts: Mapping[str, bool | str] = MappingProxyType({}),
        pictures: Sequence[ImagePart] = (),
        *,
        sets_role: bool = False,
    ) -> Message:
        fields = {"cell_id": job.cell_id, **facts}
        message = Message(
            context_id=context.id,
            role="user",
            agent_role=job.role,
            content=[TextPart(text=job.request), *pictures],
            data=TextData.model_validate({name: fact for name, fact in fields.items() if fact}),
        )
        self.jobs.start(job, message, work, sets_role=sets_role)
        if not context.title:
            self.conversations.name_after(context.id, job.request)
        return message.model_copy(update={"job_id": job.id})

    def context(self, context_id: str, model: str | None) -> Context:
        """The conversation, switched to another model if one was chosen and nothing runs."""
        context = self.conversations.get(context_id)
        if not model or model == context.model or self.journal.store.active_job(context.id):
            return context
        return self.conversations.change(context_id, model=model)

    async def with_model(self, context: Context) -> Context:
        """The context with a model to ask: its own, the connected, or the only one served."""
        connection = self.connections.current()
        if not connection.serves(context.model or ""):
            raise Unavailable(
                f"This conversation needs the model '{context.model}'. {HOW_TO_CONNECT}",
                code="no_model",
            )
        if context.model or connection.model:
            return context
        state = await self.probe.state()
        if not state.name:
            raise Unavailable(state.why_not or "No model is connected.", code="no_model")
        return context.model_copy(update={"model": state.name})
