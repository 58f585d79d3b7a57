"""A planned rollback, carried out on the disk."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from .entries import Change, depth
from .objects import Damaged
from .rollback import RollbackPlan
from .store import WorkspaceState

AT_ONCE = 16
"""Files that are written side by side."""


def carry_out(state: WorkspaceState, changes: Iterable[Change], plan: RollbackPlan) -> None:
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
                state.fs.make_folder(change.path, change.after.mode)


def _in_order(changes: list[Change]) -> tuple[list[Change], list[Change], list[Change]]:
    """What goes, deepest first, so that names are free (also for other spellings of them);
    then folders from the top; then what is in them.
    """
    gone = [change for change in changes if change.after is None]
    folders = [change for change in changes if change.after and change.after.kind == "folder"]
    rest = [change for change in changes if change.after and change.after.kind != "folder"]
    return sorted(gone, key=depth, reverse=True), sorted(folders, key=depth), rest


def _do(state: WorkspaceState, change: Change) -> None:
    fs, after = state.fs, change.after
    _check_still_there(state, change)
    if after is None:
        fs.remove(change.path)
        return
    if _changes_kind(change):
        fs.remove(change.path)
    if after.kind == "folder":
        fs.make_folder(change.path, after.mode | 0o700)
    elif after.kind == "link":
        fs.link(change.path, after.target or "")
    else:
        assert after.digest  # the plan has no others
        content = state.store.objects.chunks(after.digest)
        fs.write(change.path, after.mode, content, after.attributes)


def _check_still_there(state: WorkspaceState, change: Change) -> None:
    """The user may have saved since we looked, a moment ago."""
    facts, before = state.fs.stat(change.path), change.before
    if before is None and facts is not None:
        raise OSError(0, "something else is there now")
    if before and before.kind == "file" and before.modified:
        known = (before.size, before.modified)
        if facts is None or (facts.st_size, facts.st_mtime_ns) != known:
            raise OSError(0, "it changed just now")


def _changes_kind(change: Change) -> bool:
    """Whether a folder and something else change places."""
    if change.before is None or change.after is None or change.before.kind == change.after.kind:
        return False
    return "folder" in (change.before.kind, change.after.kind)


def _said(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"the system refuses: {error.strerror or error}"
    return str(error)
