"""What taking changes back means: only ours, only where nothing of the user's would be lost."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..domain.redaction import without_surrogates
from .entries import Change, FileEntry, Uncovered, depth, same
from .merge import CellConflict, Merge, is_notebook, kept_notebook, merged_notebook
from .store import Stored, WorkspaceState
from .unfinished import merged

BY_USER = "you have changed it since"
IN_BETWEEN = "you changed it in the meantime"
ELSEWHERE = "another conversation has changed it since"
CUT_OFF = "its tool was interrupted, so this may be someone else's change"
NOT_OURS = "this did not change it"
NOT_EMPTY = "the folder contains other files"


@dataclass(frozen=True, slots=True)
class SkippedPath(Uncovered):
    """A path that a rollback leaves as it is."""

    can_overwrite: bool = False
    """Whether it goes back all the same if the user says so; what is there is kept then, too."""
    cells: tuple[CellConflict, ...] = ()
    """Of a notebook the rest of which goes back: only these stay."""


@dataclass
class RollbackPlan:
    """What a rollback would do."""

    changes: list[Change] = field(default_factory=list)
    """From what is there now to what was there before."""
    skipped: list[SkippedPath] = field(default_factory=list)
    also_later: list[str] = field(default_factory=list)
    """Paths that later steps changed too, which goes with it."""
    parted: list[str] = field(default_factory=list)
    """Files with other names (hard links), which keep what is there now."""
    merges: dict[str, Merge] = field(default_factory=dict)
    """Notebooks that go back by their cells."""

    def skip(
        self,
        path: str,
        why: str,
        *,
        can_overwrite: bool = False,
        cells: tuple[CellConflict, ...] = (),
    ) -> None:
        """Leave a path as it is, or some cells of it."""
        self.skipped.append(SkippedPath(path, why, can_overwrite, cells))

    def adopt(self, path: str, anew: RollbackPlan) -> None:
        """Do with one path what another plan says."""
        self.changes = [change for change in self.changes if change.path != path]
        self.changes += [change for change in anew.changes if change.path == path]
        self.skipped = [entry for entry in self.skipped if entry.path != path]
        self.skipped += [entry for entry in anew.skipped if entry.path == path]
        self.merges.pop(path, None)
        self.merges |= {path: anew.merges[path]} if path in anew.merges else {}

    def change_of(self, path: str) -> Change | None:
        """What happens to a path; None if it stays as it is."""
        return next((change for change in self.changes if change.path == path), None)

    @property
    def restored(self) -> list[str]:
        """What is brought back."""
        return sorted(change.path for change in self.changes if change.after is not None)

    @property
    def removed(self) -> list[str]:
        """What is taken away."""
        return sorted(change.path for change in self.changes if change.after is None)


@dataclass(frozen=True)
class RollbackChoice:
    """What the user says about a rollback; paths as they were shown to them."""

    paths: Collection[str] | None = None
    """Only these, and what is in these folders."""
    overwrite: Collection[str] = ()
    """What goes back although somebody else changed it, too."""
    overwrite_cells: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The same for cells, by the paths of their notebooks."""


def planned(
    state: WorkspaceState,
    chosen: list[Stored],
    history: list[Stored],
    wanted: RollbackChoice | None = None,
    documents: Mapping[str, bytes | None] | None = None,
) -> RollbackPlan:
    """What taking back the chosen checkpoints means for the workspace as it is now.

    `history` is every checkpoint of the workspace from the first chosen one on; `documents`
    those open in a browser, each with what it holds if that is not saved.
    """
    wanted, documents = wanted or RollbackChoice(), documents or {}
    stories = _stories(chosen, history, wanted.paths)
    now = state.capture(stories)
    for path, content in documents.items():
        if path in stories and content is not None:
            now[path] = state.keep(content, now.get(path))
    plan = RollbackPlan()
    own = {checkpoint.position for checkpoint in chosen}
    for path, story in sorted(stories.items()):
        target, present = story[0][1].before, now[path]
        if same(present, target):
            continue
        never = _not_kept(target) or _lost_for_good(present)
        unless_chosen = _somebody_elses(story, present, target)
        later = [checkpoint for checkpoint, _ in story if checkpoint.position not in own]
        merge = None
        is_shared = bool(unless_chosen or later or path in documents)
        if is_notebook(path) and unless_chosen != CUT_OFF and is_shared:
            steps = [change for checkpoint, change in story if checkpoint.position in own]
            merge = _by_cell(state, steps, present, wanted)
        if merge:
            if merge.conflicts:
                why = _also_changed(story[0][0].context_id, later, merge.conflicts)
                plan.skip(path, why, can_overwrite=True, cells=merge.conflicts)
            if not merge.is_change:
                continue
            target, plan.merges[path] = kept_notebook(state, merge.document, present), merge
        elif never or (unless_chosen and without_surrogates(path) not in wanted.overwrite):
            plan.skip(path, never or unless_chosen, can_overwrite=not never)
            continue
        if later and not merge:
            plan.also_later.append(path)
        plan.changes.append(Change(path, present, target))
        if _has_other_names(state, plan.changes[-1]):
            plan.parted.append(path)
    _leave_full_folders(state, plan)
    known = {without_surrogates(path) for path in stories}
    named = {*(wanted.paths or ()), *wanted.overwrite, *wanted.overwrite_cells}
    for path in sorted(named - known):
        if not any(other.startswith(f"{path}/") for other in known):
            plan.skip(path, NOT_OURS)
    return plan


def _stories(
    chosen: list[Stored], history: list[Stored], paths: Collection[str] | None
) -> dict[str, list[tuple[Stored, Change]]]:
    """For each path to take back: what happened to it, from the first chosen change on."""
    own = {checkpoint.position for checkpoint in chosen}
    found: dict[str, list[tuple[Stored, Change]]] = {}
    for checkpoint in history:
        for change in checkpoint.changes:
            if change.path in found or (checkpoint.position in own and _wanted(change.path, paths)):
                found.setdefault(change.path, []).append((checkpoint, change))
    return found


def _wanted(path: str, paths: Collection[str] | None) -> bool:
    """Whether a path, or a folder that it is in, was asked for, as it was shown to the user."""
    path = without_surrogates(path)
    return paths is None or any(
        path == chosen_path or path.startswith(f"{chosen_path}/") for chosen_path in paths
    )


def _somebody_elses(
    story: list[tuple[Stored, Change]], present: FileEntry | None, target: FileEntry | None
) -> str:
    """Why what is there now may not be ours alone to take back; empty if it is."""
    context = story[0][0].context_id
    if any(checkpoint.context_id != context for checkpoint, _ in story):
        return ELSEWHERE
    if any(change.path in checkpoint.doubted for checkpoint, change in story):
        return CUT_OFF
    ours = [target]
    for _, change in story:
        if not any(same(change.before, entry) for entry in ours):
            return IN_BETWEEN
        ours.append(change.after)
    return "" if any(same(present, entry) for entry in ours) else BY_USER


def _by_cell(
    state: WorkspaceState, steps: list[Change], present: FileEntry | None, wanted: RollbackChoice
) -> Merge | None:
    """A notebook without these changes; None if that cannot be told by cell."""
    path = without_surrogates(steps[0].path)
    merge = merged_notebook(state, steps, present, wanted.overwrite_cells.get(path, ()))
    if merge and path in wanted.overwrite:
        merge = merged_notebook(
            state, steps, present, {conflict.cell_id for conflict in merge.conflicts}
        )
    return merge


def _also_changed(context_id: str, later: list[Stored], conflicts: tuple[CellConflict, ...]) -> str:
    """Why some cells stay as they are."""
    elsewhere = any(checkpoint.context_id != context_id for checkpoint in later)
    who = "somebody else" if elsewhere else "a later run" if later else "you"
    cells = [
        f"cell {conflict.number}" if conflict.number else "a deleted cell" for conflict in conflicts
    ]
    return f"{who} also changed {', '.join(cells)}"


def _not_kept(target: FileEntry | None) -> str:
    """Why what was there before cannot be brought back; empty if it can."""
    if target and target.kind == "file" and target.digest is None:
        return f"its content was not kept: {target.why_not_kept or 'unknown'}"
    return ""


def _lost_for_good(present: FileEntry | None) -> str:
    """Why what is there now could not be brought back again; empty if it could."""
    if present and present.kind == "file" and present.digest is None:
        return f"its current content cannot be kept: {present.why_not_kept}"
    return ""


def _has_other_names(state: WorkspaceState, change: Change) -> bool:
    """Whether a file is written anew that other names (hard links) lead to as well."""
    if not (change.before and change.after and change.before.kind == change.after.kind == "file"):
        return False
    facts = state.fs.stat(change.path)
    return facts is not None and facts.st_nlink > 1


def _leave_full_folders(state: WorkspaceState, plan: RollbackPlan) -> None:
    """Folders that hold what we did not record stay."""
    going = {change.path for change in plan.changes if change.after is None}
    for change in sorted(plan.changes, key=depth, reverse=True):
        if not _loses_folder(change):
            continue
        inside = {f"{change.path}/{name}" for name in state.fs.names_in(change.path)}
        if inside - going:
            plan.skip(change.path, NOT_EMPTY)
            plan.changes.remove(change)
            going.discard(change.path)


def _loses_folder(change: Change) -> bool:
    was_folder = change.before is not None and change.before.kind == "folder"
    return was_folder and (change.after is None or change.after.kind != "folder")


Scope = Literal["this", "step", "job", "card", "since"]
"""One tool; all of its plan step; all of its job; it and what came after it in the jobs of the
same card; it and all that came after it."""


def selected(
    history: list[Stored], first: Stored, scope: Scope, card: Collection[str] = ()
) -> list[Stored]:
    """The checkpoints of one conversation that a word stands for, oldest first.

    `card` are the jobs on the card that shows the first one's.
    """
    own = [checkpoint for checkpoint in history if checkpoint.context_id == first.context_id]
    if scope == "card":
        after = [checkpoint for checkpoint in own if checkpoint.position >= first.position]
        return [
            checkpoint
            for checkpoint in after
            if checkpoint.id == first.id or checkpoint.job_id in card
        ]
    if scope == "since" or (scope == "this" and not first.changes):
        # What was noted before a job has no changes of its own: it stands for all that follows.
        return [checkpoint for checkpoint in own if checkpoint.position >= first.position]
    if scope == "job" or (scope == "step" and first.task_id is None):
        return (
            [checkpoint for checkpoint in own if checkpoint.job_id == first.job_id]
            if first.job_id
            else [first]
        )
    if scope == "step":
        return [checkpoint for checkpoint in own if checkpoint.task_id == first.task_id]
    return [first]


def between(history: list[Stored], checkpoint: Stored, other: Stored) -> list[Stored]:
    """The checkpoints after the older of the two, up to and with the newer."""
    low, high = sorted((checkpoint.position, other.position))
    return [each for each in history if low < each.position <= high]


def composed(checkpoints: Iterable[Stored]) -> list[Change]:
    """All changes as one: what was there at first, what is there in the end."""
    return merged(change for checkpoint in checkpoints for change in checkpoint.changes)
