"""A second process that looks at a part of a large workspace.

Looking at many files is one short system call after the other, and Python makes only one
at a time. So half of a large workspace is looked at by a process of its own while the scan
looks at the other half. It says only which folders are exactly as they were; whatever goes
wrong with it, the scan looks for itself. It lives from the first large scan on, and ends
when its input does, so at the latest with us.
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
ITS_SHARE = 0.45


class Looker:
    """The second process. Asked one question at a time."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: frozenset[str] = frozenset()
        self._same: frozenset[str] = frozenset()
        self._thread: threading.Thread | None = None

    def ask(self, folders: list[Known]) -> None:
        """Let it look at these folders, while others look elsewhere."""
        self.finish()
        self._asked, self._same = frozenset(path for path, *_ in folders), frozenset()
        self._thread = threading.Thread(target=self._exchange, args=(folders,), daemon=True)
        self._thread.start()

    def found_same(self, path: str) -> bool:
        """Whether the folder is as it was; waits for the answer if it was asked about."""
        if path not in self._asked:
            return False
        self._wait()
        return path in self._same

    def finish(self) -> None:
        """Wait for the answer, and forget it."""
        self._wait()
        self._asked = self._same = frozenset()

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

    def _exchange(self, folders: list[Known]) -> None:
        try:
            process = self._running()
            assert process.stdin
            assert process.stdout
            process.stdin.write(marshal.dumps(folders))
            process.stdin.flush()
            self._same = frozenset(marshal.load(process.stdout))  # noqa: S302 (our own)
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
