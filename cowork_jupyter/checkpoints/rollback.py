"""Plans and carries out rollbacks: only of our changes, only where no work of users is lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from ..domain.redaction import without_surrogates
from .entries import Change, FileEntry, merge_changes, same
from .merge import Merge, is_notebook, merge_notebook, store_notebook
from .no_follow_fs import NOT_KEPT, newest_change
from .objects import Damaged
from .store import Checkpoint
from .views import Skipped, SkippedCell
from .workspace_state import WorkspaceState

BY_USER = "you have changed it since"
IN_BETWEEN = "you changed it in the meantime"
ELSEWHERE = "another conversation has changed it since"
CUT_OFF = "its tool was interrupted, so this may be someone else's change"
NOT_OURS = "this did not change it"
NOT_EMPTY = "the folder contains other files"

MAX_PARALLEL_WRITES = 16

Scope = Literal["this", "step", "job", "card", "since"]
"""One tool; all of its plan step; all of its job; it and what came after it in the jobs of the
same card; it and all that came after it."""
PathHistory = list[tuple[Checkpoint, Change]]


@dataclass(frozen=True)
class RollbackChoice:
    """What the user chose; paths as they were shown to them."""

    paths: Collection[str] | None = None
    """Only these, and what is in these folders."""
    overwrite: Collection[str] = ()
    """Restored although somebody else changed them, too."""
    overwrite_cells: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The same for cells, by the paths of their notebooks."""

    def overwrites(self, path: str) -> bool:
        return without_surrogates(path) in self.overwrite


@dataclass
class RollbackPlan:
    changes: list[Change] = field(default_factory=list)
    """From what is there now to what was there before."""
    skipped: list[Skipped] = field(default_factory=list)
    also_later: list[str] = field(default_factory=list)
    """Paths that later steps changed too; those changes are undone as well."""
    hard_linked: list[str] = field(default_factory=list)
    """Files with other names (hard links), which keep what is there now."""
    merges: dict[str, Merge] = field(default_factory=dict)
    """Notebooks that are restored cell by cell."""

    def skip(
        self,
        path: str,
        why: str,
        *,
        can_overwrite: bool = False,
        cells: Sequence[SkippedCell] = (),
    ) -> None:
        visible_path = without_surrogates(path)
        self.skipped.append(
            Skipped(path=visible_path, why=why, can_overwrite=can_overwrite, cells=list(cells))
        )

    def adopt(self, path: str, other: RollbackPlan) -> None:
        """Do with one path what another plan says."""
        visible_path = without_surrogates(path)
        self.changes = [change for change in self.changes if change.path != path]
        self.changes += [change for change in other.changes if change.path == path]
        self.skipped = [entry for entry in self.skipped if entry.path != visible_path]
        self.skipped += [entry for entry in other.skipped if entry.path == visible_path]
        self.merges.pop(path, None)
        self.merges |= {path: other.merges[path]} if path in other.merges else {}

    def leave(self, path: str, why: str, *, can_overwrite: bool = False) -> None:
        """Skip a path that was to be changed."""
        merge = self.merges.get(path)
        self.adopt(path, RollbackPlan())
        cells = merge.conflicts if merge else ()
        self.skip(path, why, can_overwrite=can_overwrite, cells=cells)

    def change_of(self, path: str) -> Change | None:
        return next((change for change in self.changes if change.path == path), None)

    @property
    def restored(self) -> list[str]:
        return sorted(change.path for change in self.changes if change.after is not None)

    @property
    def removed(self) -> list[str]:
        return sorted(change.path for change in self.changes if change.after is None)


def select_checkpoints(
    history: list[Checkpoint],
    first: Checkpoint,
    scope: Scope,
    card_jobs: Collection[str] = (),
) -> list[Checkpoint]:
    """The checkpoints of one conversation within a scope, oldest first."""
    own = [checkpoint for checkpoint in history if checkpoint.context_id == first.context_id]
    after = [checkpoint for checkpoint in own if checkpoint.position >= first.position]
    if scope == "card":
        return [
            checkpoint
            for checkpoint in after
            if checkpoint.id == first.id or checkpoint.job_id in card_jobs
        ]
    if scope == "since" or (scope == "this" and not first.changes):
        # The mark before a job has no changes of its own: it stands for all that follows.
        return after
    if scope == "step" and first.task_id is not None:
        return [checkpoint for checkpoint in own if checkpoint.task_id == first.task_id]
    if scope in ("job", "step") and first.job_id:
        return [checkpoint for checkpoint in own if checkpoint.job_id == first.job_id]
    return [first]


def changes_of(checkpoints: Iterable[Checkpoint]) -> list[Change]:
    return merge_changes(change for checkpoint in checkpoints for change in checkpoint.changes)


def plan_rollback(
    state: WorkspaceState,
    chosen: list[Checkpoint],
    history: list[Checkpoint],
    choice: RollbackChoice | None = None,
    documents: Mapping[str, bytes | None] | None = None,
    worked_until: int = 0,
) -> RollbackPlan:
    """What rolling back the chosen checkpoints means for the workspace as it is now.

    `history` is every checkpoint of the workspace from the first chosen one on; `documents` are
    those open in a browser, each with its content if that is not saved. What changed in a tree
    after `worked_until` (in nanoseconds) was not us.
    """
    choice, documents = choice or RollbackChoice(), documents or {}
    own = {checkpoint.position for checkpoint in chosen}
    histories = _path_histories(own, history, choice.paths)
    now = state.capture(histories)
    for path, events in histories.items():
        now[path] = _tree_at(state, path, events) or now[path]
    for path, content in documents.items():
        if path in histories and content is not None:
            now[path] = state.store_content(content, now.get(path))
    plan = RollbackPlan()
    for path, events in sorted(histories.items()):
        present = now[path]
        is_tree = present is not None and present.kind == "tree" and not choice.overwrites(path)
        if is_tree and newest_change(state.root, path) > worked_until:
            plan.skip(path, BY_USER, can_overwrite=True)
        else:
            _plan_path(state, plan, events, own, present, choice, is_open=path in documents)
    _keep_full_folders(state, plan)
    changed = {without_surrogates(path) for path in histories}
    named = {*(choice.paths or ()), *choice.overwrite, *choice.overwrite_cells}
    for path in sorted(named - changed):
        if not any(other.startswith(f"{path}/") for other in changed):
            plan.skip(path, NOT_OURS)
    return plan


def _path_histories(
    own: set[int], history: list[Checkpoint], paths: Collection[str] | None
) -> dict[str, PathHistory]:
    """For each path to restore: what happened to it, from the first chosen change on."""
    histories: dict[str, PathHistory] = {}
    for checkpoint in history:
        for change in checkpoint.changes:
            is_first = checkpoint.position in own and _is_within(change.path, paths)
            if change.path in histories or is_first:
                histories.setdefault(change.path, []).append((checkpoint, change))
    return histories


def _tree_at(state: WorkspaceState, path: str, events: PathHistory) -> FileEntry | None:
    """What a tool made there, if that is still there."""
    entries = (entry for _, change in events for entry in (change.before, change.after) if entry)
    trees = (entry for entry in entries if entry.kind == "tree")
    return next((tree for tree in trees if state.is_there(path, tree)), None)


def _is_within(path: str, paths: Collection[str] | None) -> bool:
    path = without_surrogates(path)
    return paths is None or any(path == each or path.startswith(f"{each}/") for each in paths)


def _plan_path(
    state: WorkspaceState,
    plan: RollbackPlan,
    events: PathHistory,
    own: set[int],
    present: FileEntry | None,
    choice: RollbackChoice,
    *,
    is_open: bool,
) -> None:
    first, change = events[0]
    path, target = change.path, change.before
    if same(present, target):
        return
    never = _why_never(state, present, target)
    unless_chosen = _why_not_ours(events, present, target)
    later = [checkpoint for checkpoint, _ in events if checkpoint.position not in own]
    merge = None
    is_shared = bool(unless_chosen or later or is_open)
    if is_notebook(path) and unless_chosen != CUT_OFF and is_shared:
        steps = [change for checkpoint, change in events if checkpoint.position in own]
        chosen = (
            None
            if choice.overwrites(path)
            else choice.overwrite_cells.get(without_surrogates(path), ())
        )
        merge = merge_notebook(state, steps, present, chosen)
    if merge:
        if merge.conflicts:
            why = _who_changed_cells(first.context_id, later, merge.conflicts)
            plan.skip(path, why, can_overwrite=True, cells=merge.conflicts)
        if not merge.is_change:
            return
        target, plan.merges[path] = store_notebook(state, merge.document, present), merge
    elif never or (unless_chosen and not choice.overwrites(path)):
        plan.skip(path, never or unless_chosen, can_overwrite=not never)
        return
    if later and not merge:
        plan.also_later.append(path)
    plan.changes.append(Change(path, present, target))
    if _has_hard_links(state, plan.changes[-1]):
        plan.hard_linked.append(path)


def _why_never(state: WorkspaceState, present: FileEntry | None, target: FileEntry | None) -> str:
    """Why it cannot be restored, or what is there now could not be afterwards."""
    if target and target.kind == "tree" and not state.trees.has(target):
        return NOT_KEPT
    if target and target.kind == "file" and target.digest is None:
        return f"its content was not kept: {target.why_not_kept or 'unknown'}"
    if present and present.kind == "file" and present.digest is None:
        return f"its current content cannot be kept: {present.why_not_kept}"
    return ""


def _why_not_ours(events: PathHistory, present: FileEntry | None, target: FileEntry | None) -> str:
    """Why what is there now may be somebody else's work, too; empty if it is ours alone."""
    context = events[0][0].context_id
    if any(checkpoint.context_id != context for checkpoint, _ in events):
        return ELSEWHERE
    if any(change.path in checkpoint.doubted for checkpoint, change in events):
        return CUT_OFF
    ours = [target]
    for _, change in events:
        if not any(same(change.before, entry) for entry in ours):
            return IN_BETWEEN
        ours.append(change.after)
    return "" if any(same(present, entry) for entry in ours) else BY_USER


def _who_changed_cells(
    context_id: str, later: list[Checkpoint], conflicts: list[SkippedCell]
) -> str:
    elsewhere = any(checkpoint.context_id != context_id for checkpoint in later)
    who = "somebody else" if elsewhere else "a later run" if later else "you"
    cells = [
        f"cell {conflict.number}" if conflict.number else "a deleted cell" for conflict in conflicts
    ]
    return f"{who} also changed {', '.join(cells)}"


def _has_hard_links(state: WorkspaceState, change: Change) -> bool:
    """Whether a file is rewritten that other names lead to as well."""
    if not (change.before and change.after and change.before.kind == change.after.kind == "file"):
        return False
    facts = state.fs.stat(change.path)
    return facts is not None and facts.st_nlink > 1


def _keep_full_folders(state: WorkspaceState, plan: RollbackPlan) -> None:
    """Do not remove folders that hold what we did not record."""
    going = {change.path for change in plan.changes if change.after is None}
    for change in sorted(plan.changes, key=lambda change: change.depth, reverse=True):
        was_folder = change.before is not None and change.before.kind == "folder"
        if not was_folder or (change.after and change.after.kind == "folder"):
            continue
        inside = {f"{change.path}/{name}" for name in state.fs.names_in(change.path)}
        if inside - going:
            plan.skip(change.path, NOT_EMPTY)
            plan.changes.remove(change)
            going.discard(change.path)


# --- carrying it out


def carry_out(state: WorkspaceState, changes: Iterable[Change], plan: RollbackPlan) -> None:
    """Restore path by path; moves to `plan.skipped` what the system refuses."""
    failed: dict[str, str] = {}

    def attempt(change: Change) -> None:
        try:
            _restore(state, change)
        except OSError as error:
            failed[change.path] = f"the system refuses: {error.strerror or error}"
        except Damaged as error:
            failed[change.path] = str(error)

    ordered = sorted(changes, key=lambda change: change.depth)
    # Deepest first, which frees the names, also for other spellings of them.
    gone = [change for change in reversed(ordered) if change.after is None]
    folders = [change for change in ordered if change.after and change.after.kind == "folder"]
    files = [change for change in ordered if change.after and change.after.kind != "folder"]
    for change in (*gone, *folders):
        attempt(change)
    # Each file waits for the disk; together they wait once.
    with ThreadPoolExecutor(MAX_PARALLEL_WRITES) as pool:
        list(pool.map(attempt, files))
    for path, why in sorted(failed.items()):
        plan.skip(path, why)
    plan.changes = [change for change in plan.changes if change.path not in failed]
    for change in reversed(folders):
        if change.after and change.path not in failed:
            with suppress(OSError):
                state.fs.make_folder(change.path, change.after.mode)


def _restore(state: WorkspaceState, change: Change) -> None:
    fs, path, before, after = state.fs, change.path, change.before, change.after
    _check_still_there(state, change)
    if before and before.kind == "tree":
        state.trees.take(fs.root, path, before)
    elif after is None or _is_in_the_way(before, after):
        fs.remove(path)
    if after is None:
        return
    if after.kind == "folder":
        fs.make_folder(path, after.mode | 0o700)  # the final mode is set when it is filled
    elif after.kind == "tree":
        state.trees.give_back(fs.root, path, after)
    elif after.kind == "link":
        fs.link(path, after.target or "")
    else:
        assert after.digest  # the plan has no others
        fs.write(path, after.mode, state.store.objects.chunks(after.digest), after.attributes)


def _is_in_the_way(before: FileEntry | None, after: FileEntry) -> bool:
    return (
        before is not None and before.kind != after.kind and "folder" in (before.kind, after.kind)
    )


def _check_still_there(state: WorkspaceState, change: Change) -> None:
    """The user may have saved since the plan was made, a moment ago."""
    facts, before = state.fs.stat(change.path), change.before
    if before is None and facts is not None:
        raise OSError(0, "something else is there now")
    if before and before.kind == "file" and before.modified:
        size_and_time = (before.size, before.modified)
        if facts is None or (facts.st_size, facts.st_mtime_ns) != size_and_time:
            raise OSError(0, "it changed just now")
