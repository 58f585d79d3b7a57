"""What the user can do with checkpoints: look at what changed, and take it back."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from ..domain.contexts import Job
from ..domain.errors import Conflict, NotFound
from ..domain.identity import new_id
from ..domain.message_data import TextData
from ..domain.messages import Message, TextPart
from ..domain.operations import RolledBack
from ..domain.redaction import without_surrogates
from ..store import CheckpointRecord
from ..store.errors import explain_errors
from .documents import DocumentChanged, OpenDocuments
from .entries import Change, FileEntry
from .merge import CellConflict
from .restore import carry_out
from .rollback import (
    RollbackChoice,
    RollbackPlan,
    Scope,
    SkippedPath,
    between,
    composed,
    planned,
    selected,
)
from .store import Stored, WorkspaceState
from .views import CheckpointDiff, RollbackResult, Skipped, SkippedCell
from .writer import CheckpointJournal, CheckpointWriter, Origin

MAX_SHOWN = 200
"""Files that one diff shows."""
ATTEMPTS = 5
"""How often a document is planned anew that changes while it is to go back."""
BUSY = "its tab shows something else now; save or reload it, then roll back again"
OPEN_ELSEWHERE = "another program has it open; close it there first"
KERNELS = (
    "Variables in running kernels are not restored: restart the kernel and run the notebook "
    "up to the point you want."
)
PlanAnew = Callable[[str], Awaitable[None]]


@dataclass(frozen=True)
class _Order:
    """What is to be taken back."""

    chosen: list[Stored]
    history: list[Stored]
    """Every checkpoint of the workspace since the first chosen one."""
    wanted: RollbackChoice


class Undo:
    """Diffs and rollbacks."""

    def __init__(self, writer: CheckpointWriter, documents: OpenDocuments) -> None:
        self._writer = writer
        self._lazy_store = writer.lazy_store
        self._documents = documents

    async def diff(
        self, checkpoint_id: str, scope: Scope = "this", until: str | None = None
    ) -> CheckpointDiff:
        """What a checkpoint changed, or its step, its job, or all up to another checkpoint."""
        card = self._card(self._writer.journal.store.checkpoint(checkpoint_id))

        def compare(state: WorkspaceState) -> CheckpointDiff:
            changes = _changes(state, checkpoint_id, scope, until, card)
            first_changes = changes[:MAX_SHOWN]
            items = [
                self._writer.compare(change, self._lazy_store.read) for change in first_changes
            ]
            for item in items:
                item.path = without_surrogates(item.path)
            return CheckpointDiff(
                items=items,
                added=sum(item.added or 0 for item in items),
                removed=sum(item.removed or 0 for item in items),
                left_out=len(changes) - len(first_changes),
            )

        return await self._lazy_store.ask(compare)

    def _card(self, record: CheckpointRecord) -> frozenset[str]:
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
        """Put things back as they were before, where nothing of the user's is lost by it.

        `preview` is what a dry run has answered: if something else would happen by now,
        nothing does, and the refusal has the new preview.
        """
        began = time.monotonic()
        record = self._writer.journal.store.checkpoint(checkpoint_id)
        self._refuse_while_busy(record.context_id)
        wanted = RollbackChoice(
            None if paths is None else {_plain(path) for path in paths},
            {_plain(path) for path in overwrite},
            {_plain(path): cells for path, cells in (overwrite_cells or {}).items()},
        )
        card = self._card(record)
        selection = await self._lazy_store.ask(
            lambda state: _selected(state, checkpoint_id, scope, card)
        )
        order = _Order(*selection, wanted)
        plan = await self._planned(order)
        _check_preview(plan, preview)
        if dry_run or not plan.changes:
            return _result(plan, None, dry_run)
        label = f"Rolled back: {record.data.get('label') or checkpoint_id}"
        earlier = tuple(record.data.get("reverts", ()))
        jobs = earlier or _taken_back(order, plan)
        is_undo = bool(earlier) and not record.data.get("is_undo")
        origin = Origin(record.context_id, label=label, reverts=jobs, is_undo=is_undo)
        # Written down before the first file is touched, so that it can be undone even halfway.
        with explain_errors(self._lazy_store.folder):
            made = await self._writer.store(origin, plan.changes, new_id("cp"))

        async def plan_anew(path: str) -> None:
            only = replace(order.wanted, paths={without_surrogates(path)})
            plan.adopt(path, await self._planned(replace(order, wanted=only)))
            await self._writer.store(origin, plan.changes, made)

        paths_now = [change.path for change in plan.changes]
        done = {path for path in paths_now if await self._in_document(path, plan, plan_anew)}
        on_disk = [change for change in plan.changes if change.path not in done]
        await self._lazy_store.ask(lambda state: carry_out(state, on_disk, plan))
        await self._writer.record(origin, plan.changes, checkpoint_id=made)
        result = _result(plan, made, dry_run)
        numbers = (len(result.restored), len(result.removed), len(result.skipped))
        spent = time.monotonic() - began
        self._writer.observe(RolledBack(made, checkpoint_id, *numbers, spent))
        note_on_cards(self._writer.journal, jobs, result, is_undo=is_undo)
        return result

    def _refuse_while_busy(self, context_id: str) -> None:
        running = self._writer.journal.store.active_job(context_id)
        if running:
            raise Conflict(
                "A job is running in this conversation. Cancel it before you roll back.",
                code="job_running",
                details={"job_id": running.id},
            )

    async def _planned(self, order: _Order) -> RollbackPlan:
        documents: dict[str, bytes | None] = {}
        for path in {change.path for checkpoint in order.chosen for change in checkpoint.changes}:
            if self._documents.is_open(path):
                documents[path] = await self._documents.read_unsaved(path)
        plan = await self._lazy_store.ask(
            lambda state: planned(state, order.chosen, order.history, order.wanted, documents)
        )
        await self._leave_open(plan, order.wanted.overwrite)
        return plan

    async def _leave_open(self, plan: RollbackPlan, overwrite: Collection[str]) -> None:
        """What another program has open is written only if the user says so."""
        for change in list(plan.changes):
            chosen = without_surrogates(change.path) in overwrite
            if not chosen and await self._documents.is_open_elsewhere(change.path):
                cells = next(
                    (entry.cells for entry in plan.skipped if entry.path == change.path), ()
                )
                skipped = SkippedPath(change.path, OPEN_ELSEWHERE, can_overwrite=True, cells=cells)
                plan.adopt(change.path, RollbackPlan(skipped=[skipped]))

    async def _in_document(self, path: str, plan: RollbackPlan, plan_anew: PlanAnew) -> bool:
        """Change a document where it is open; False if it is not.

        Typing may come in between: then it is told anew what goes back, and nothing is lost.
        """
        for _ in range(ATTEMPTS):
            change = plan.change_of(path)
            if change is None:
                return True
            try:
                return await self._written(change)
            except DocumentChanged:
                await plan_anew(path)
        plan.adopt(path, RollbackPlan(skipped=[SkippedPath(path, BUSY)]))
        return True

    async def _written(self, change: Change) -> bool:
        content = await self._content(change.after)
        if content is None:
            return False
        return await self._documents.write(change.path, await self._content(change.before), content)

    async def _content(self, entry: FileEntry | None) -> bytes | None:
        if entry is None or entry.digest is None:
            return None
        digest = entry.digest
        return await self._lazy_store.ask(lambda state: state.store.objects.read(digest))


def _plain(path: str) -> str:
    """A path as we write it, however the user does."""
    return path.removeprefix("./").rstrip("/")


def _selected(
    state: WorkspaceState, checkpoint_id: str, scope: Scope, card: Collection[str]
) -> tuple[list[Stored], list[Stored]]:
    """The checkpoints to take back, and every checkpoint of the workspace since the first."""
    first = state.store.checkpoint(checkpoint_id)
    history = state.store.checkpoints(state.root)
    chosen = selected(history, first, scope, card)
    start = min((checkpoint.position for checkpoint in chosen), default=first.position)
    return chosen, [checkpoint for checkpoint in history if checkpoint.position >= start]


def _changes(
    state: WorkspaceState,
    checkpoint_id: str,
    scope: Scope,
    until: str | None,
    card: Collection[str],
) -> list[Change]:
    first = state.store.checkpoint(checkpoint_id)
    history = state.store.checkpoints(state.root)
    if until is not None:
        return composed(between(history, first, state.store.checkpoint(until)))
    return composed(selected(history, first, scope, card))


def _taken_back(order: _Order, plan: RollbackPlan) -> tuple[str, ...]:
    """The jobs whose changes go: of the chosen checkpoints, and later ones of the same files."""
    changed, later = {change.path for change in plan.changes}, set(plan.also_later)
    chosen = {checkpoint.id for checkpoint in order.chosen}
    concerned = (
        checkpoint.job_id
        for checkpoint in order.history
        if any(
            each.path in (changed if checkpoint.id in chosen else later)
            for each in checkpoint.changes
        )
    )
    return tuple(dict.fromkeys(job_id for job_id in concerned if job_id))


def _check_preview(plan: RollbackPlan, preview: str | None) -> None:
    if preview is None or preview == _preview(plan):
        return
    anew = _result(plan, None, dry_run=True)
    raise Conflict(
        "Something has changed since the preview. Nothing was rolled back: check the new "
        "preview, then roll back.",
        code="preview_changed",
        details={"preview": anew.model_dump(mode="json")},
    )


def _preview(plan: RollbackPlan) -> str:
    """What a plan does, told apart from what it leaves alone: running or editing other cells of
    a notebook makes no difference.
    """
    effects = [
        (
            change.path,
            plan.merges[change.path].cells if change.path in plan.merges else _kind(change.after),
        )
        for change in plan.changes
    ]
    skipped = [
        (entry.path, entry.why, [asdict(cell) for cell in entry.cells]) for entry in plan.skipped
    ]
    return hashlib.sha256(json.dumps([effects, skipped]).encode()).hexdigest()


def _kind(entry: FileEntry | None) -> list[str]:
    return [] if entry is None else [entry.kind, entry.target or "", (entry.digest or b"").hex()]


def _skipped_cell(cell: CellConflict) -> SkippedCell:
    return SkippedCell(
        cell_id=without_surrogates(cell.cell_id),
        number=cell.number,
        before=None if cell.before is None else without_surrogates(cell.before),
        now=None if cell.now is None else without_surrogates(cell.now),
    )


def _result(plan: RollbackPlan, made: str | None, dry_run: bool) -> RollbackResult:
    notes = [KERNELS] if plan.changes else []
    if plan.also_later:
        paths = ", ".join(without_surrogates(path) for path in plan.also_later[:10])
        notes.insert(
            0, f"Later steps had changed these too; those changes are undone as well: {paths}."
        )
    if plan.parted:
        paths = ", ".join(without_surrogates(path) for path in plan.parted[:10])
        notes.insert(
            0, f"These have other names (hard links), which keep the current content: {paths}."
        )
    by_cell = [path for path, merge in sorted(plan.merges.items()) if merge.others_stay]
    if by_cell:
        paths = ", ".join(without_surrogates(path) for path in by_cell[:10])
        notes.insert(0, f"Cells that only you changed stay as they are: {paths}.")
    return RollbackResult(
        restored=[without_surrogates(path) for path in plan.restored],
        removed=[without_surrogates(path) for path in plan.removed],
        skipped=[
            Skipped(
                path=without_surrogates(entry.path),
                why=entry.why,
                can_overwrite=entry.can_overwrite,
                cells=[_skipped_cell(cell) for cell in entry.cells],
            )
            for entry in plan.skipped
        ],
        checkpoint_id=made,
        dry_run=dry_run,
        notes=notes,
        preview=_preview(plan),
    )


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
    skipped = [entry.path for entry in result.skipped]
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
