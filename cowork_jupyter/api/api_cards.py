"""The endpoint about cards: what a notebook keeps of a run."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic import BaseModel

from ..record.card import RunCard, run_card
from ..record.run import run_of
from .calls import Call, check_owner
from .routes import table


class CardAnswer(BaseModel):
    """A run as a notebook keeps it: to draw it again, and to read it."""

    card: dict[str, Any]
    markdown: str
    text: str


@table.route("GET", "jobs/{id}/card", answer=CardAnswer, action="read", kernel=True)
async def job_card(call: Call) -> BaseModel:
    """The card of a job as it stands now: small, without keys or paths of this machine."""
    job = call.service.job(call.path["id"])
    check_owner(call.service, call.caller, job.context_id)
    made = await asyncio.to_thread(_made, call, job.id)
    return CardAnswer(card=made.card, markdown=made.markdown, text=made.text)


def _made(call: Call, job_id: str) -> RunCard:
    service = call.service
    run = run_of(service.journal.store, job_id)
    return run_card(
        run,
        host=call.host.kind,
        model=service.connections.current().name or None,
        stale=service.plans.stale_files(run.revision) if run.revision else [],
        discretion=service.discretion(),
    )
