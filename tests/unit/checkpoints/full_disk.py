"""A store on a disk that gets full: `python -m … SMALL WORKSPACE [pretend]`.

In a process of its own, because the disk is mounted for it alone, or else, where nobody may
mount anything, because this process pretends that the system has no room.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

from cowork_jupyter.checkpoints.objects import LARGE
from cowork_jupyter.checkpoints.store import CheckpointLimits, CheckpointStore, verify
from cowork_jupyter.checkpoints.workspace_state import Exclusions, WorkspaceState

from .test_rollback import tree

ROOM = 3 * 1024**2


def pretend(store: CheckpointStore) -> None:
    """Neither files nor the database get more than so many bytes."""
    connection = store.database._connection
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={ROOM // size}")
    left, write = ROOM, os.write

    def limited(file: int, data: Any) -> int:
        nonlocal left
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(file, data[:left])
        left -= written
        return written

    os.write = limited


def main(small: Path, root: Path, pretends: bool) -> None:
    store = CheckpointStore(small / "store", CheckpointLimits(reserve=0))
    state = WorkspaceState(store, root, Exclusions())
    (root / "first.txt").write_text("first")
    before = state.scan()
    if pretends:
        pretend(store)

    (root / "large.bin").write_bytes(os.urandom(ROOM + LARGE))
    was = tree(root)
    assert [one.path for one in state.scan().uncovered()] == ["large.bin"]
    assert list((small / "store/incoming").iterdir()) == []

    for number in range(20):
        (root / f"{number}.bin").write_bytes(os.urandom(LARGE - 1))
    try:
        state.scan()
    except (OSError, sqlite3.Error) as error:
        print(error)
    else:
        raise AssertionError("there was room for all of it")
    assert was.items() <= tree(root).items()

    for path in root.glob("*.bin"):
        path.unlink()
    assert before.changes_until(state.scan()) == []
    assert verify(store).problems == []
    state.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] == ["pretend"])
