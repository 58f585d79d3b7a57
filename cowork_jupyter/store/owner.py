"""Who runs a job: a mark that the operating system takes away when the process ends.

Each open store holds a lock on a small file of its own, and its jobs carry the file's
name. A job whose lock can be taken has lost its process, however that ended: unlike a
process id, this cannot be reused and is also right across containers, reboots and
hosts that share a home folder.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class Owner:
    """The mark of this process beside one database."""

    def __init__(self, database: Path) -> None:
        self._folder = database.with_name(f"{database.name}-owners")
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self.name = f"{os.getpid()}-{secrets.token_hex(8)}"
        path = self._folder / self.name
        self._file: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        _try_lock(self._file)

    def is_alive(self, name: str | None) -> bool:
        """Whether the process that made this mark still holds it."""
        if not name:
            return False
        try:
            file = os.open(self._folder / name, os.O_RDWR)
        except OSError:
            return False
        try:
            return not _try_lock(file)
        finally:
            os.close(file)

    def sweep(self) -> None:
        """Remove the marks of processes that are gone (new ones may not be locked yet)."""
        for path in self._folder.iterdir():
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > 60 and not self.is_alive(path.name):
                    path.unlink()

    def close(self) -> None:
        """Give up the mark. Jobs that still carry it count as left behind."""
        if self._file is None:
            return
        (self._folder / self.name).unlink(missing_ok=True)
        os.close(self._file)
        self._file = None


def _try_lock(file: int) -> bool:
    """Take the lock if nobody has it. It goes when the file is closed, so at the latest with us."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A filesystem without locks: nobody can be seen alive there, and a job that
        # looks alive for ever would block its conversation for ever.
        return sys.platform != "win32"
    return True
