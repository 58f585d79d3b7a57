"""What the user can do with checkpoints: look at what changed, and take it back."""

from __future__ import annotations

from collections.abc import Collection

from ..domain.errors import Conflict
from ..domain.identity import new_id
from .documents import OpenDocuments
from .entries import Change, printable
from .history import Scope, between, composed, selected
from .ledger import Ledger, Origin
from .rollback import Plan, carry_out, planned
from .store import Stored, WorkspaceState
from .views import CheckpointDiff, RollbackResult, Skipped

MOST_SHOWN = 200
"""Files that one diff shows."""
KERNELS = (
    "Variables in running kernels are not restored: restart the kernel and run the notebook "
    "up to where you want to go on."
)


class Undo:
    """Diffs and rollbacks."""

    def __init__(self, ledger: Ledger, documents: OpenDocuments) -> None:
        self._ledger = ledger
        self._shelf = ledger.shelf
        self._documents = documents

    async def diff(
        self, checkpoint_id: str, scope: Scope = "this", until: str | None = None
    ) -> CheckpointDiff:
        """What a checkpoint changed, or its step, its job, or all up to another checkpoint."""
        self._ledger.journal.store.checkpoint(checkpoint_id)

        def compare(state: WorkspaceState) -> CheckpointDiff:
            changes = _changes(state, checkpoint_id, scope, until)
            shown = changes[:MOST_SHOWN]
            items = [self._ledger.compare(change, self._shelf.read) for change in shown]
            for item in items:
                item.path = printable(item.path)
            return CheckpointDiff(
                items=items,
                added=sum(item.added or 0 for item in items),
                removed=sum(item.removed or 0 for item in items),
                left_out=len(changes) - len(shown),
            )

        return await self._shelf.ask(compare)

    async def rollback(
        self,
        checkpoint_id: str,
        *,
        scope: Scope = "since",
        paths: Collection[str] | None = None,
        overwrite: Collection[str] = (),
        dry_run: bool = False,
    ) -> RollbackResult:
        """Put things back as they were before, where nothing of the user's is lost by it."""
        record = self._ledger.journal.store.checkpoint(checkpoint_id)
        self._refuse_while_busy(record.context_id)
        wanted = None if paths is None else {_plain(path) for path in paths}
        chosen = {_plain(path) for path in overwrite}
        plan = await self._planned(checkpoint_id, scope, wanted, chosen)
        if dry_run or not plan.changes:
            return _result(plan, None, dry_run)
        label = f"Rolled back: {record.data.get('label') or checkpoint_id}"
        origin = Origin(record.context_id, label=label)
        # Written down before the first file is touched, so that it can be undone even halfway.
        made = await self._ledger.store(origin, plan.changes, new_id("cp"))
        await self._carry_out(plan)
        await self._ledger.record(origin, plan.changes, checkpoint_id=made)
        return _result(plan, made, dry_run)

    def _refuse_while_busy(self, context_id: str) -> None:
        running = self._ledger.journal.store.active_job(context_id)
        if running:
            raise Conflict(
                "A job is running in this conversation; cancel it before you take things back.",
                code="job_running",
                details={"job_id": running.id},
            )

    async def _planned(
        self,
        checkpoint_id: str,
        scope: Scope,
        paths: Collection[str] | None,
        overwrite: Collection[str],
    ) -> Plan:
        chosen, history = await self._shelf.ask(
            lambda state: _selected(state, checkpoint_id, scope)
        )
        unsaved: dict[str, bytes] = {}
        for path in {change.path for one in chosen for change in one.changes}:
            content = await self._documents.read_unsaved(path)
            if content is not None:
                unsaved[path] = content
        return await self._shelf.ask(
            lambda state: planned(state, chosen, history, paths, overwrite, unsaved)
        )

    async def _carry_out(self, plan: Plan) -> None:
        """Open documents are changed where they are open, all else on the disk."""
        on_disk = [change for change in plan.changes if not await self._in_document(change)]
        await self._shelf.ask(lambda state: carry_out(state, on_disk, plan))

    async def _in_document(self, change: Change) -> bool:
        after = change.after
        if after is None or after.digest is None:
            return False
        digest = after.digest
        content = await self._shelf.ask(lambda state: state.store.objects.read(digest))
        return await self._documents.write(change.path, content)


def _plain(path: str) -> str:
    """A path as we write it, however the user does."""
    return path.removeprefix("./").rstrip("/")


def _selected(
    state: WorkspaceState, checkpoint_id: str, scope: Scope
) -> tuple[list[Stored], list[Stored]]:
    """The checkpoints to take back, and every checkpoint of the workspace since the first."""
    first = state.store.checkpoint(checkpoint_id)
    history = state.store.checkpoints(state.root)
    chosen = selected(history, first, scope)
    start = min((one.position for one in chosen), default=first.position)
    return chosen, [one for one in history if one.position >= start]


def _changes(
    state: WorkspaceState, checkpoint_id: str, scope: Scope, until: str | None
) -> list[Change]:
    first = state.store.checkpoint(checkpoint_id)
    history = state.store.checkpoints(state.root)
    if until is not None:
        return composed(between(history, first, state.store.checkpoint(until)))
    return composed(selected(history, first, scope))


def _result(plan: Plan, made: str | None, dry_run: bool) -> RollbackResult:
    notes = [KERNELS] if plan.changes else []
    if plan.also_later:
        shown = ", ".join(printable(path) for path in plan.also_later[:10])
        notes.insert(0, f"Later steps had changed these too, which goes with it: {shown}.")
    if plan.parted:
        shown = ", ".join(printable(path) for path in plan.parted[:10])
        notes.insert(0, f"These have other names (hard links), which keep what is there: {shown}.")
    return RollbackResult(
        restored=[printable(path) for path in plan.restored],
        removed=[printable(path) for path in plan.removed],
        skipped=[
            Skipped(path=printable(one.path), why=one.why, can_overwrite=one.can_overwrite)
            for one in plan.skipped
        ],
        checkpoint_id=made,
        dry_run=dry_run,
        notes=notes,
    )
