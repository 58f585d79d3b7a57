"""Diffs and rollbacks, as users ask for them."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from ..domain.contexts import Job
from ..domain.errors import Conflict, NotFound
from ..domain.messages import Message, TextData, TextPart
from ..domain.operations import RolledBack
from ..domain.redaction import without_surrogates
from ..store import CheckpointRecord
from ..store.database import explain_errors
from .entries import FileEntry
from .rollback import (
    RollbackChoice,
    RollbackPlan,
    Scope,
    carry_out,
    changes_of,
    plan_rollback,
    select_checkpoints,
)
from .store import Checkpoint
from .views import CheckpointDiff, DocumentChanged, FileDiff, RollbackResult
from .workspace_state import WorkspaceState
from .writer import CheckpointJournal, CheckpointWriter

MAX_SHOWN = 200
"""Files that one diff shows."""
MAX_NAMED = 10
"""Files that a sentence names."""
MAX_ATTEMPTS = 5
"""To roll back a document that changes meanwhile."""
BUSY = "its tab shows something else now; save or reload it, then roll back again"
OPEN_ELSEWHERE = "another program has it open; close it there first"
KERNELS = (
    "Variables in running kernels are not restored: restart the kernel and run the notebook "
    "up to the point you want."
)


@dataclass
class _Rollback:
    """A rollback that is being carried out."""

    chosen: list[Checkpoint]
    history: list[Checkpoint]
    """Every checkpoint of the workspace since the first chosen one."""
    choice: RollbackChoice
    plan: RollbackPlan

    def reverted_jobs(self) -> tuple[str, ...]:
        """Those of the chosen checkpoints, and of later ones of the same files."""
        changed = {change.path for change in self.plan.changes}
        later = set(self.plan.also_later)
        chosen = {checkpoint.id for checkpoint in self.chosen}
        jobs = (
            checkpoint.job_id
            for checkpoint in self.history
            if any(
                change.path in (changed if checkpoint.id in chosen else later)
                for change in checkpoint.changes
            )
        )
        return tuple(dict.fromkeys(job_id for job_id in jobs if job_id))


class Undo:
    def __init__(self, writer: CheckpointWriter) -> None:
        self._writer = writer
        self._lazy_store = writer.lazy_store
        self._documents = writer.documents

    async def diff(
        self, checkpoint_id: str, scope: Scope = "this", until: str | None = None
    ) -> CheckpointDiff:
        """What the checkpoints of a scope changed, or all up to another checkpoint."""
        record = self._writer.journal.store.checkpoint(checkpoint_id)
        chosen, _ = await self._select(record, scope, until)
        changes = changes_of(chosen)

        def compare(_: WorkspaceState) -> list[FileDiff]:
            read = self._lazy_store.read
            return [self._writer.compare(change, read) for change in changes[:MAX_SHOWN]]

        items = await self._lazy_store.run(compare)
        for item in items:
            item.path = without_surrogates(item.path)
        return CheckpointDiff(
            items=items,
            added=sum(item.added or 0 for item in items),
            removed=sum(item.removed or 0 for item in items),
            left_out=len(changes) - len(items),
        )

    async def _select(
        self, record: CheckpointRecord, scope: Scope, until: str | None = None
    ) -> tuple[list[Checkpoint], list[Checkpoint]]:
        """The checkpoints of a scope, or up to another one, and all since the first of them."""
        card_jobs = self._card_jobs(record)

        def select(state: WorkspaceState) -> tuple[list[Checkpoint], list[Checkpoint]]:
            first = state.store.checkpoint(record.id)
            history = state.store.checkpoints(state.root)
            if until is None:
                chosen = select_checkpoints(history, first, scope, card_jobs)
            else:
                low, high = sorted((first.position, state.store.checkpoint(until).position))
                chosen = [each for each in history if low < each.position <= high]
            start = min((checkpoint.position for checkpoint in chosen), default=first.position)
            return chosen, [checkpoint for checkpoint in history if checkpoint.position >= start]

        return await self._lazy_store.run(select)

    def _card_jobs(self, record: CheckpointRecord) -> frozenset[str]:
        """The jobs on the card that shows the checkpoint's job."""
        store = self._writer.journal.store
        if record.job_id is None:
            return frozenset()
        return frozenset(job.id for job in store.card_jobs(store.job(record.job_id).card_id))

    async def rollback(
        self,
        checkpoint_id: str,
        *,
        scope: Scope = "since",
        paths: Collection[str] | None = None,
        overwrite: Collection[str] = (),
        overwrite_cells: Mapping[str, Collection[str]] | None = None,
        preview: str | None = None,
        dry_run: bool = False,
    ) -> RollbackResult:
        """Restore what was there before, where no work of the user is lost by it.

        `preview` is from the result of a dry run: if something else would happen by now, nothing
        does, and the `Conflict` has the new preview.
        """
        began = time.monotonic()
        record = self._writer.journal.store.checkpoint(checkpoint_id)
        self._refuse_while_busy(record.context_id)
        choice = RollbackChoice(
            None if paths is None else {_plain(path) for path in paths},
            {_plain(path) for path in overwrite},
            {_plain(path): cells for path, cells in (overwrite_cells or {}).items()},
        )
        chosen, history = await self._select(record, scope)
        plan = await self._plan(chosen, history, choice)
        rollback = _Rollback(chosen, history, choice, plan)
        if preview not in (None, _preview(plan)):
            raise Conflict(
                "Something has changed since the preview. Nothing was rolled back: check the new "
                "preview, then roll back.",
                code="preview_changed",
                details={"preview": _result(plan, None, dry_run=True).model_dump(mode="json")},
            )
        if dry_run or not plan.changes:
            return _result(plan, None, dry_run)
        earlier = tuple(record.data.get("reverts", ()))
        made = Checkpoint(
            record.context_id,
            changes=plan.changes,
            label=f"Rolled back: {record.data.get('label') or checkpoint_id}",
            reverts=earlier or rollback.reverted_jobs(),
            is_undo=bool(earlier) and not record.data.get("is_undo"),
        )
        # Written before the first file is touched, so that it can be undone even halfway.
        with explain_errors(self._lazy_store.folder):
            await self._writer.store(made)
        paths_now = [change.path for change in plan.changes]
        done = {path for path in paths_now if await self._in_document(path, rollback, made)}
        on_disk = [change for change in plan.changes if change.path not in done]
        await self._lazy_store.run(lambda state: carry_out(state, on_disk, plan))
        await self._writer.record(replace(made, changes=plan.changes))
        result = _result(plan, made.id, dry_run)
        numbers = (len(result.restored), len(result.removed), len(result.skipped))
        spent = time.monotonic() - began
        self._writer.observe(RolledBack(made.id, checkpoint_id, *numbers, spent))
        _note_on_cards(self._writer.journal, made, result)
        return result

    def _refuse_while_busy(self, context_id: str) -> None:
        running = self._writer.journal.store.active_job(context_id)
        if running:
            raise Conflict(
                "A job is running in this conversation. Cancel it before you roll back.",
                code="job_running",
                details={"job_id": running.id},
            )

    async def _plan(
        self,
        chosen: list[Checkpoint],
        history: list[Checkpoint],
        choice: RollbackChoice,
    ) -> RollbackPlan:
        worked_until = self._worked_until({checkpoint.context_id for checkpoint in chosen})
        documents: dict[str, bytes | None] = {}
        for path in {change.path for checkpoint in chosen for change in checkpoint.changes}:
            if self._documents.is_open(path):
                documents[path] = await self._documents.read_unsaved(path)
        plan = await self._lazy_store.run(
            lambda state: plan_rollback(state, chosen, history, choice, documents, worked_until)
        )
        # What another program has open is written only if the user says so.
        for change in list(plan.changes):
            if not choice.overwrites(change.path) and await self._documents.is_open_elsewhere(
                change.path
            ):
                plan.leave(change.path, OPEN_ELSEWHERE, can_overwrite=True)
        return plan

    def _worked_until(self, context_ids: set[str]) -> int:
        """When the last job of these conversations ended, in nanoseconds."""
        jobs = (job for each in context_ids for job in self._writer.journal.store.jobs(each))
        ends = [datetime.fromisoformat(job.completed_at) for job in jobs if job.completed_at]
        return int(max(ends).timestamp() * 1e9) if ends else 0

    async def _in_document(self, path: str, rollback: _Rollback, made: Checkpoint) -> bool:
        """Change a document where it is open; False if it is not.

        If the user types meanwhile, the path is planned again, so that nothing is lost.
        """
        plan = rollback.plan
        for _ in range(MAX_ATTEMPTS):
            change = plan.change_of(path)
            if change is None:
                return True
            try:
                content = await self._content(change.after)
                if content is None:
                    return False
                present = await self._content(change.before)
                return await self._documents.write(path, present, content)
            except DocumentChanged:
                only = replace(rollback.choice, paths={without_surrogates(path)})
                plan.adopt(path, await self._plan(rollback.chosen, rollback.history, only))
                await self._writer.store(replace(made, changes=plan.changes))
        plan.leave(path, BUSY)
        return True

    async def _content(self, entry: FileEntry | None) -> bytes | None:
        if entry is None or entry.digest is None:
            return None
        digest = entry.digest
        return await self._lazy_store.run(lambda state: state.store.objects.read(digest))


def _plain(path: str) -> str:
    return path.removeprefix("./").rstrip("/")


def _preview(plan: RollbackPlan) -> str:
    """A hash of what a plan does. Running or editing cells that it leaves alone does not change
    it.
    """
    effects: list[tuple[str, object]] = []
    for change in plan.changes:
        if merge := plan.merges.get(change.path):
            effects.append((change.path, merge.cells))
        elif after := change.after:
            digest = (after.digest or b"").hex()
            effects.append((change.path, [after.kind, after.target or "", digest]))
        else:
            effects.append((change.path, []))
    skipped = [
        (entry.path, entry.why, [cell.model_dump() for cell in entry.cells])
        for entry in plan.skipped
    ]
    return hashlib.sha256(json.dumps([effects, skipped]).encode()).hexdigest()


def _result(plan: RollbackPlan, made: str | None, dry_run: bool) -> RollbackResult:
    merged = [path for path, merge in sorted(plan.merges.items()) if merge.others_stay]
    notes = [
        _sentence("Cells that only you changed stay as they are", merged),
        _sentence(
            "These have other names (hard links), which keep the current content", plan.hard_linked
        ),
        _sentence(
            "Later steps had changed these too; those changes are undone as well", plan.also_later
        ),
        KERNELS if plan.changes else "",
    ]
    restored = without_surrogates(plan.restored)
    return RollbackResult(
        restored=restored,
        removed=without_surrogates(plan.removed),
        skipped=[entry for entry in plan.skipped if entry.path not in restored],
        partly=[entry for entry in plan.skipped if entry.path in restored],
        checkpoint_id=made,
        dry_run=dry_run,
        notes=[note for note in notes if note],
        preview=_preview(plan),
    )


def _sentence(text: str, paths: list[str], *, count_more: bool = False) -> str:
    """Empty without paths."""
    if not paths:
        return ""
    more = len(paths) - MAX_NAMED
    named = ", ".join(without_surrogates(path) for path in paths[:MAX_NAMED])
    return f"{text}: {named}{f' and {more} more' if count_more and more > 0 else ''}."


def _note_on_cards(journal: CheckpointJournal, made: Checkpoint, result: RollbackResult) -> None:
    """Add a message to each card, in its newest job that was reverted."""
    stayed = [entry.words for entry in (*result.skipped, *result.partly)]
    parts = [
        "The rollback is undone." if made.is_undo else "Rolled back.",
        _sentence("Restored", result.restored, count_more=True),
        _sentence("Removed", result.removed, count_more=True),
        _sentence("Stayed as it is", stayed, count_more=True),
    ]
    text = " ".join(part for part in parts if part)
    jobs: dict[str, Job] = {}
    for job_id in made.reverts:
        with suppress(NotFound):  # its conversation may be deleted
            job = journal.store.job(job_id)
            jobs[job.card_id] = job
    with journal.transaction() as tx:
        for job in jobs.values():
            note = Message(
                context_id=job.context_id,
                job_id=job.id,
                role="system",
                agent_role=job.role,
                content=[TextPart(text=text)],
                data=TextData(rollback=result.checkpoint_id),
            )
            tx.append_message(note)
