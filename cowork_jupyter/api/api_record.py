"""Endpoints for the record of a conversation: cards, audit and export."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from pydantic import BaseModel

from ..domain.effects import DataEffect
from ..domain.events import HistorySummary, PermissionRequested, QuestionAsked
from ..domain.guidance import Guidance
from ..domain.messages import Message
from ..domain.roles import AgentRole
from ..record import Audit, ExportFormat
from ..record.card import RunCard, run_card
from ..record.card_model import CardJob, CardTask, RunCardData, UserDecision
from ..record.run import RecordedRun, decisions, read_run
from ..store import Store
from .api_notebooks import ReproductionAnswer, reproduction_answer
from .api_plans import PlanAnswer, plan_answer
from .calls import Call, own_job
from .models import Name, RequestBody
from .routes import Download, table

MAX_LEFT_OUT = 500
"""If more messages than this are left out of the card, they are fetched on demand."""


class CardQuery(RequestBody):
    """`GET jobs/{id}/card`."""

    whole: bool = False
    """Include everything that a page needs to draw the card live, in one request."""
    notebook: Name | None = None
    """The path of the notebook that shows it."""


class SummaryView(BaseModel):
    """What the model reads instead of messages that no longer fit."""

    id: str
    job_id: str | None
    task_id: str | None
    at: str
    message: str
    text: str


class CardState(BaseModel):
    """The current state of everything that a run's card shows, in full."""

    seq: int
    """All events up to this one are included."""
    role: AgentRole
    """Who gets the conversation's next message, whoever worked on the card."""
    busy: str | None
    """The job that runs in the conversation, of this card or of another."""
    messages: list[Message] | None
    """All messages on the card; null if there are too many."""
    jobs: list[CardJob]
    tasks: list[CardTask]
    plan: PlanAnswer | None
    """The plan that the card shows."""
    copied_from: str | None = None
    """The notebook that the run belongs to, if the page shows a copy of it."""
    checkpoints: int
    """How many checkpoints with files the card's jobs have made."""
    decisions: list[UserDecision]
    """What the user allowed or denied on the card, oldest first."""
    effects: list[DataEffect] = []
    """What its code did to data, oldest first."""
    guidance: list[Guidance] = []
    """The instructions, skills and the like that its agents were given."""
    summaries: list[SummaryView]
    """Oldest first."""
    questions: list[QuestionAsked] | None = None
    """Open questions of the conversation; null for a kernel, which may not answer them."""
    permissions: list[PermissionRequested] | None = None
    """Likewise."""
    reproduction: ReproductionAnswer | None = None
    """Likewise."""
    audit: Audit | None = None
    """Plan versus actual, once the plan was executed."""


class CardAnswer(BaseModel):
    """A run as a notebook stores it: to draw it again, and to read it."""

    card: RunCardData
    markdown: str
    text: str
    state: CardState | None = None


@table.get("jobs/{id}/card", CardAnswer, query=CardQuery, kernel=True)
async def job_card(call: Call) -> BaseModel:
    """The current card of a job: small, without keys or paths of this machine."""
    job = own_job(call)
    store = call.service.journal.store
    # Read the position first, so that whatever is stored meanwhile is delivered again.
    seq = store.last_seq(job.context_id)
    run = await asyncio.to_thread(read_run, store, job.id, call.service.role_catalog.resolve)
    rendered = await asyncio.to_thread(_run_card, call, run)
    answer = CardAnswer(card=rendered.card, markdown=rendered.markdown, text=rendered.text)
    if call.query.whole:
        left_out = rendered.card.snapshot.left_out
        answer.state = await asyncio.to_thread(_card_state, call, run, seq, left_out)
        home, here = run.context.notebook, call.query.notebook
        if home and here and call.host.is_elsewhere(home, here):
            answer.state.copied_from = home
        if run.executions and run.current_job.status.is_final:
            answer.state.audit = await call.service.audit(job.context_id, job.id)
    return answer


def _run_card(call: Call, run: RecordedRun) -> RunCard:
    service = call.service
    return run_card(
        run,
        host=call.host.kind,
        model=service.connections.current().name or None,
        stale=service.plans.stale_files(run.revision) if run.revision else [],
        redactor=service.redactor(),
    )


def _summaries(store: Store, context_id: str, jobs: list[str]) -> Iterator[SummaryView]:
    for event in store.notices(context_id, "history_summary"):
        if isinstance(event.data, HistorySummary) and event.job_id in jobs:
            yield SummaryView(
                id=f"notice-{event.seq}",
                job_id=event.job_id,
                task_id=event.task_id,
                at=event.created_at,
                message=event.data.message,
                text=event.data.text,
            )


def _card_state(call: Call, run: RecordedRun, seq: int, left_out: int) -> CardState:
    service, context_id = call.service, run.context.id
    store, ids = service.journal.store, [job.id for job in run.jobs]
    active = store.active_job(context_id)
    state = CardState(
        seq=seq,
        role=run.context.role,
        busy=active.id if active else None,
        messages=store.job_messages(*ids) if left_out <= MAX_LEFT_OUT else None,
        jobs=[CardJob.from_model(job) for job in run.jobs],
        tasks=[CardTask.from_model(task) for task in run.tasks],
        plan=plan_answer(call, run.revision) if run.revision else None,
        checkpoints=sum(
            checkpoint.job_id in ids and bool(checkpoint.data.get("files"))
            for checkpoint in store.checkpoints(context_id)
        ),
        decisions=decisions(run),
        effects=run.effects,
        guidance=run.guidance,
        summaries=[*_summaries(store, context_id, ids)],
    )
    if call.caller.kernel_id is None:
        running = service.reproductions.state(context_id)
        state.reproduction = reproduction_answer(call, context_id, running)
        state.questions = [
            request.as_question() for request in service.requests.pending(context_id, "question")
        ]
        state.permissions = [
            request.as_permission()
            for request in service.requests.pending(context_id, "permission")
        ]
    return state


class ExportQuery(RequestBody):
    """`GET context/{id}/export`."""

    format: ExportFormat = ExportFormat.JSONL


class AuditQuery(RequestBody):
    """`GET context/{id}/audit`: of the plan that was executed last, or by that job."""

    job_id: Name | None = None


@table.get("context/{id}/audit", Audit, query=AuditQuery, kernel=True)
async def audit(call: Call) -> BaseModel:
    """Each step's planned tools, files, order and time, compared with the actual ones."""
    return await call.service.audit(call.path["id"], call.query.job_id)


@table.get(
    "context/{id}/export",
    None,
    query=ExportQuery,
    kernel=True,
    downloads=tuple(export_format.content_type for export_format in ExportFormat),
)
async def export(call: Call) -> Download:
    """The full record of a conversation, as a file."""
    exported = await call.service.export(call.path["id"], call.query.format)
    return Download(exported.content_type, exported.file_name, exported.body)
