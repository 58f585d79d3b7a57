"""Taking changes back: only ours, only where nothing of the user's would be lost."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from .entries import Change, Entry, Uncovered, printable, same
from .notebooks import is_notebook, taken_back
from .objects import Damaged
from .store import Stored, WorkspaceState

BY_USER = "you changed it after that"
IN_BETWEEN = "you changed it in between"
ELSEWHERE = "another conversation changed it after that"
CUT_OFF = "its tool was cut off, so this may be somebody else's change"
AT_ONCE = 16
"""Files that are written side by side."""
NOT_OURS = "this did not change it"
NOT_EMPTY = "the folder holds files that are not from this"


@dataclass(frozen=True, slots=True)
class Left(Uncovered):
    """A path that a rollback leaves as it is."""

    can_overwrite: bool = False
    """Whether it goes back all the same if the user says so; what is there is kept then, too."""


@dataclass
class Plan:
    """What a rollback would do."""

    changes: list[Change] = field(default_factory=list)
    """From what is there now to what was there before."""
    skipped: list[Left] = field(default_factory=list)
    also_later: list[str] = field(default_factory=list)
    """Paths that later steps changed too, which goes with it."""
    parted: list[str] = field(default_factory=list)
    """Files with other names (hard links), which keep what is there now."""

    def skip(self, path: str, why: str, *, can_overwrite: bool = False) -> None:
        """Leave a path as it is."""
        self.skipped.append(Left(path, why, can_overwrite))

    @property
    def restored(self) -> list[str]:
        """What is brought back."""
        return sorted(one.path for one in self.changes if one.after is not None)

    @property
    def removed(self) -> list[str]:
        """What is taken away."""
        return sorted(one.path for one in self.changes if one.after is None)


def planned(
    state: WorkspaceState,
    chosen: list[Stored],
    history: list[Stored],
    paths: Collection[str] | None = None,
    overwrite: Collection[str] = (),
    unsaved: Mapping[str, bytes] | None = None,
) -> Plan:
    """What taking back the chosen checkpoints means for the workspace as it is now.

    `history` is every checkpoint of the workspace from the first chosen one on; `unsaved`
    what documents open in a browser hold.
    """
    stories = _stories(chosen, history, paths)
    now = state.capture(stories)
    for path, content in (unsaved or {}).items():
        if path in stories:
            now[path] = state.keep(content, now.get(path))
    plan = Plan()
    own = {one.position for one in chosen}
    for path, story in sorted(stories.items()):
        target, present = story[0][1].before, now[path]
        if same(present, target):
            continue
        never = _not_kept(target) or _lost_for_good(present)
        unless_chosen = _somebody_elses(story, present, target)
        if unless_chosen in (BY_USER, IN_BETWEEN) and is_notebook(path):
            merged = taken_back(state, [change for _, change in story], present)
            if merged and same(present, merged):
                continue
            target, unless_chosen = (merged, "") if merged else (target, unless_chosen)
        if never or (unless_chosen and printable(path) not in overwrite):
            plan.skip(path, never or unless_chosen, can_overwrite=not never)
            continue
        if any(one.position not in own for one, _ in story):
            plan.also_later.append(path)
        plan.changes.append(Change(path, present, target))
        if _has_other_names(state, plan.changes[-1]):
            plan.parted.append(path)
    _leave_full_folders(state, plan)
    shown = {printable(path) for path in stories}
    for path in sorted({*(paths or ()), *overwrite} - shown):
        if not any(one.startswith(f"{path}/") for one in shown):
            plan.skip(path, NOT_OURS)
    return plan


def _stories(
    chosen: list[Stored], history: list[Stored], paths: Collection[str] | None
) -> dict[str, list[tuple[Stored, Change]]]:
    """For each path to take back: what happened to it, from the first chosen change on."""
    own = {one.position for one in chosen}
    found: dict[str, list[tuple[Stored, Change]]] = {}
    for checkpoint in history:
        for change in checkpoint.changes:
            if change.path in found or (checkpoint.position in own and _wanted(change.path, paths)):
                found.setdefault(change.path, []).append((checkpoint, change))
    return found


def _wanted(path: str, paths: Collection[str] | None) -> bool:
    """Whether a path, or a folder that it is in, was asked for, as it was shown to the user."""
    path = printable(path)
    return paths is None or any(path == one or path.startswith(f"{one}/") for one in paths)


def _somebody_elses(
    story: list[tuple[Stored, Change]], present: Entry | None, target: Entry | None
) -> str:
    """Why what is there now may not be ours alone to take back; empty if it is."""
    context = story[0][0].context_id
    if any(one.context_id != context for one, _ in story):
        return ELSEWHERE
    if any(change.path in one.doubted for one, change in story):
        return CUT_OFF
    ours = [target]
    for _, change in story:
        if not any(same(change.before, one) for one in ours):
            return IN_BETWEEN
        ours.append(change.after)
    return "" if any(same(present, one) for one in ours) else BY_USER


def _not_kept(target: Entry | None) -> str:
    """Why what was there before cannot be brought back; empty if it can."""
    if target and target.kind == "file" and target.digest is None:
        return f"its content was not kept: {target.why_not_kept or 'unknown'}"
    return ""


def _lost_for_good(present: Entry | None) -> str:
    """Why what is there now could not be brought back again; empty if it could."""
    if present and present.kind == "file" and present.digest is None:
        return f"what is there now cannot be kept: {present.why_not_kept}"
    return ""


def _has_other_names(state: WorkspaceState, change: Change) -> bool:
    """Whether a file is written anew that other names (hard links) lead to as well."""
    if not (change.before and change.after and change.before.kind == change.after.kind == "file"):
        return False
    facts = state.ground.stat(change.path)
    return facts is not None and facts.st_nlink > 1


def _leave_full_folders(state: WorkspaceState, plan: Plan) -> None:
    """Folders that hold what we did not record stay."""
    going = {one.path for one in plan.changes if one.after is None}
    for change in sorted(plan.changes, key=_depth, reverse=True):
        if not _loses_folder(change):
            continue
        inside = {f"{change.path}/{name}" for name in state.ground.names_in(change.path)}
        if inside - going:
            plan.skip(change.path, NOT_EMPTY)
            plan.changes.remove(change)
            going.discard(change.path)


def _loses_folder(change: Change) -> bool:
    was_folder = change.before is not None and change.before.kind == "folder"
    return was_folder and (change.after is None or change.after.kind != "folder")


def carry_out(state: WorkspaceState, changes: Iterable[Change], plan: Plan) -> None:
    """Do it, path by path; what the system refuses is skipped and said. `plan` is kept true."""
    failed: dict[str, str] = {}

    def attempt(change: Change) -> None:
        try:
            _do(state, change)
        except (OSError, Damaged) as error:
            failed[change.path] = _said(error)

    gone, folders, rest = _in_order(list(changes))
    for change in (*gone, *folders):
        attempt(change)
    # Each file waits for the disk; together they wait once.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(attempt, rest))
    for path, why in sorted(failed.items()):
        plan.skip(path, why)
    plan.changes = [change for change in plan.changes if change.path not in failed]
    for change in reversed(folders):
        if change.after and change.path not in failed:
            with contextlib.suppress(OSError):
                state.ground.make_folder(change.path, change.after.mode)


def _in_order(changes: list[Change]) -> tuple[list[Change], list[Change], list[Change]]:
    """What goes, deepest first, so that names are free (also for other spellings of them);
    then folders from the top; then what is in them.
    """
    gone = [one for one in changes if one.after is None]
    folders = [one for one in changes if one.after and one.after.kind == "folder"]
    rest = [one for one in changes if one.after and one.after.kind != "folder"]
    return sorted(gone, key=_depth, reverse=True), sorted(folders, key=_depth), rest


def _do(state: WorkspaceState, change: Change) -> None:
    ground, after = state.ground, change.after
    _check_still_there(state, change)
    if after is None:
        ground.remove(change.path)
        return
    if _changes_kind(change):
        ground.remove(change.path)
    if after.kind == "folder":
        ground.make_folder(change.path, after.mode | 0o700)
    elif after.kind == "link":
        ground.link(change.path, after.target or "")
    else:
        assert after.digest  # the plan has no others
        content = state.store.objects.chunks(after.digest)
        ground.write(change.path, after.mode, content, after.attributes)


def _check_still_there(state: WorkspaceState, change: Change) -> None:
    """The user may have saved since we looked, a moment ago."""
    facts, before = state.ground.stat(change.path), change.before
    if before is None and facts is not None:
        raise OSError(0, "something else is there just now")
    if before and before.kind == "file" and before.modified:
        known = (before.size, before.modified)
        if facts is None or (facts.st_size, facts.st_mtime_ns) != known:
            raise OSError(0, "it changed just now")


def _changes_kind(change: Change) -> bool:
    """Whether a folder and something else change places."""
    if change.before is None or change.after is None or change.before.kind == change.after.kind:
        return False
    return "folder" in (change.before.kind, change.after.kind)


def _depth(change: Change) -> tuple[int, str]:
    return change.path.count("/"), change.path


def _said(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"the system refuses: {error.strerror or error}"
    return str(error)
