"""A second process that looks at a part of a large workspace.

Looking at many files is one short system call after the other, and Python makes only one
at a time. So a process of its own looks at a large workspace from the end, while the scan
looks at it from the beginning, and they meet where they meet. It says only which folders
are exactly as they were; what it has not said in time, for whatever reason, the scan finds
out for itself. It lives from the first large scan on, and ends when its input does, so at
the latest with us.
"""

from __future__ import annotations

import contextlib
import marshal
import subprocess
import sys
import threading

from . import look
from .look import Known

WORTHWHILE = 20_000
"""Files from which on a second process pays."""
ITS_SHARE = 0.5
"""How much of the workspace it is given at most."""


class Looker:
    """The second process. Asked one question at a time."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None
        self._same: set[str] = set()
        self._thread: threading.Thread | None = None

    def ask(self, folders: list[Known]) -> None:
        """Let it look at these folders, in this order, while others look elsewhere."""
        self._wait()
        self._same = set()
        work = threading.Thread(target=self._exchange, args=(folders, self._same), daemon=True)
        self._thread = work
        work.start()

    def found_same(self, path: str) -> bool:
        """Whether it has found by now that the folder is as it was. Nobody waits for it."""
        return path in self._same

    def forget(self) -> None:
        """The scan is over; what is found from now on is not news any more."""
        self._same = set()

    def close(self) -> None:
        """End the process."""
        self._wait()
        if self._process:
            self._process.communicate()
            self._process = None

    def _wait(self) -> None:
        if self._thread:
            self._thread.join()
            self._thread = None

    def _exchange(self, folders: list[Known], same: set[str]) -> None:
        try:
            process = self._running()
            assert process.stdin
            assert process.stdout
            process.stdin.write(marshal.dumps(folders))
            process.stdin.flush()
            while (found := marshal.load(process.stdout)) is not None:  # noqa: S302 (our own)
                same.update(found)
        except (OSError, ValueError, EOFError, TypeError):
            self._give_up()  # then the scan does it all

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 (ourselves)
                [sys.executable, "-I", "-S", look.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._root,
            )
        return self._process

    def _give_up(self) -> None:
        if self._process:
            self._process.kill()
            with contextlib.suppress(OSError):  # what it was to be told does not matter any more
                self._process.communicate()
            self._process = None
