"""Memory proposals of runs that the user has not decided about: shown as a diff, then kept."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from ...agents.log import RunLog
from ...domain.contexts import Job
from ...domain.errors import NotFound
from ...domain.guidance import MemoryDecision, with_notes
from ...domain.roles import AgentRole
from ...domain.settings import Settings
from ...service.service import CoworkService
from ...store.journal import Journal
from ...tools.diff import diff
from ...workspace import Workspace
from .memory import MEMORY_FILE, MemoryText, WorkspaceMemory
from .notes import evidence_of, is_kept, may_teach, notes_of
from .wording import NamedFiles

MAX_LISTED = 5
"""Proposals that are listed; older ones are as good as forgotten."""


class MemoryProposal(BaseModel):
    """What a run would add to the memory."""

    job_id: str
    context_id: str
    request: str
    text: str
    diff: str
    fingerprint: str
    """Of the file that the diff is made from."""


def offer(settings: Settings, journal: Journal, job: Job) -> None:
    """Propose later what a run that has ended may teach."""
    if settings.memory != "off" and may_teach(job):
        with journal.transaction() as tx:
            tx.save_memory_offer(job, _id_of(settings.workspace), "offered")


def _id_of(workspace: Path) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()[:32]


def proposals(service: CoworkService) -> MemoryProposals:
    def hides(path: str) -> bool:
        tools = service.factory.tools
        log = RunLog(service.journal, "", "", AgentRole.PLANNER)
        return tools.unasked_workspace(log, "read_file", path=path) is None

    return MemoryProposals(
        journal=service.journal,
        memory=service.guidance.of(WorkspaceMemory),
        hides=hides,
        mask=lambda text: service.redactor().clean(text),
    )


@dataclass(frozen=True)
class MemoryProposals:
    journal: Journal
    memory: WorkspaceMemory
    hides: Callable[[str], bool]
    mask: Callable[[str], str]

    @cached_property
    def _workspace(self) -> str:
        return _id_of(self.memory.root)

    def waiting(self) -> list[MemoryProposal]:
        store = self.journal.store
        found = (self.of(job_id) for job_id in store.jobs_to_learn_from(self._workspace))
        made = [proposal for proposal in found if proposal]
        return made[:MAX_LISTED]

    def of(self, job_id: str) -> MemoryProposal | None:
        """What a run adds to the current memory; None if nothing, or if it was not kept."""
        store = self.journal.store
        job = store.job(job_id)
        if not self.memory.is_on or not self._is_ours(job) or not is_kept(store, job):
            return None
        known = self.memory.read()
        evidence = evidence_of(store, job)
        files = NamedFiles(Workspace(self.memory.root), self.hides)
        day = datetime.now(UTC).date().isoformat()
        notes = notes_of(evidence, files, self.mask)
        text = with_notes(known.text, notes, day) if notes else known.text
        change = diff(MEMORY_FILE, known.text, text.strip() if known.text else text)
        if not change.added:
            return None
        return MemoryProposal(
            job_id=job.id,
            context_id=job.context_id,
            request=evidence.request,
            text=text,
            diff=change.text,
            fingerprint=known.fingerprint,
        )

    def keep(self, job_id: str, fingerprint: str, text: str | None = None) -> MemoryText:
        """Write the proposal as shown, or as the user has edited it."""
        self.memory.refuse_unless(fingerprint)
        if text is None:
            self.memory.refuse_unless_trusted(self.memory.read())
        proposal = self.of(job_id)
        if proposal is None:
            raise NotFound("There is nothing new to remember from this run.", code="no_proposal")
        written = self.memory.write(proposal.text if text is None else text, fingerprint)
        self._decide(self.journal.store.job(job_id), "kept")
        return written

    def drop(self, job_id: str) -> None:
        job = self.journal.store.job(job_id)
        if self._is_ours(job):
            self._decide(job, "dropped")

    def _is_ours(self, job: Job) -> bool:
        """Whether it ran in this folder: one store serves several."""
        return self.journal.store.memory_offer_workspace(job.id) == self._workspace

    def _decide(self, job: Job, status: Literal["kept", "dropped"]) -> None:
        with self.journal.transaction() as tx:
            tx.save_memory_offer(job, self._workspace, status)
            tx.append_event(job.context_id, MemoryDecision(status=status), job.id)
