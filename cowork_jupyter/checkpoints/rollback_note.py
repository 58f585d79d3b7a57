"""What a rollback says in the runs whose work it took back: for their cards and their agents."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from ..domain.contexts import Job
from ..domain.errors import NotFound
from ..domain.message_data import TextData
from ..domain.messages import Message, TextPart
from .views import RollbackResult
from .writer import CheckpointJournal

MAX_NAMED = 10


def note_on_cards(
    journal: CheckpointJournal, job_ids: Iterable[str], result: RollbackResult, *, is_undo: bool
) -> None:
    """Store it once for each card, as a message of its newest job that is concerned."""
    jobs, text = _newest_by_card(journal, job_ids), _text(result, is_undo)
    with journal.transaction() as tx:
        for job in jobs:
            note = Message(
                context_id=job.context_id,
                job_id=job.id,
                role="system",
                agent_role=job.role,
                content=[TextPart(text=text)],
                data=TextData(rollback=result.checkpoint_id),
            )
            tx.append_message(note)


def _newest_by_card(journal: CheckpointJournal, job_ids: Iterable[str]) -> Iterable[Job]:
    jobs: dict[str, Job] = {}
    for job_id in job_ids:
        with suppress(NotFound):  # its conversation may be deleted
            job = journal.store.job(job_id)
            jobs[job.card_id] = job
    return jobs.values()


def _text(result: RollbackResult, is_undo: bool) -> str:
    skipped = [one.path for one in result.skipped]
    parts = [
        "The rollback is undone." if is_undo else "Rolled back.",
        _listed("Brought back", result.restored),
        _listed("Removed", result.removed),
        _listed("Left as they are", skipped),
    ]
    return " ".join(part for part in parts if part)


def _listed(what: str, paths: list[str]) -> str:
    more = len(paths) - MAX_NAMED
    named = ", ".join(paths[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{what}: {named}." if paths else ""
