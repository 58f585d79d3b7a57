"""A second process that looks at a part of a large workspace.

Looking at many files is one short system call after the other, and Python makes only one
at a time. So a process of its own looks at a large workspace from the end, while the scan
looks at it from the beginning, and they meet where they meet. It says only which folders
are exactly as they were; what it has not said in time, for whatever reason, the scan finds
out for itself. It lives from the first large scan on, remembers what it was told, and ends
when its input does, so at the latest with us.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

from . import look
from .snapshot import Folder

WORTHWHILE = 20_000
"""Files from which on a second process pays."""
ITS_SHARE = 0.5
"""How much of the workspace it is given at most."""
HEARD_AT_ONCE = 64 * 1024


class Looker:
    """The second process. Asked one question at a time, by one thread at a time."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._process: subprocess.Popen[bytes] | None = None
        self._sent_folders: dict[str, Folder] = {}
        """What the process remembers."""
        self._asking: threading.Thread | None = None
        self._unanswered: Iterator[str] = iter(())
        self._remaining_answers = 0
        self._same: set[str] = set()

    def ask(self, folders: dict[str, Folder]) -> None:
        """Let it look at these folders, in this order, while others look elsewhere."""
        self._hear_all()
        self._unanswered, self._remaining_answers, self._same = iter(folders), len(folders), set()
        self._asking = threading.Thread(target=self._tell, args=(folders,), daemon=True)
        self._asking.start()

    def found_same(self, path: str) -> bool:
        """Whether it has found by now that the folder is as it was. Nobody waits for it."""
        if path not in self._same:
            self._hear()
        return path in self._same

    def forget(self) -> None:
        """The scan is over; what is found from now on is not news any more."""
        self._same = set()

    def close(self) -> None:
        self._hear_all()
        self._end()

    def _tell(self, folders: dict[str, Folder]) -> None:
        """Only what is new: the names of many files take long to hand over."""
        try:
            process = self._running()
            news: dict[str, look.Known] = {
                path: (folder.own or (), folder.names, folder.mark)
                for path, folder in folders.items()
                if self._sent_folders.get(path) is not folder
            }
            self._sent_folders = folders
            assert process.stdin
            process.stdin.write(marshal.dumps((list(folders), news)))
            process.stdin.flush()
        except (OSError, ValueError):  # then the scan does it all
            if self._process:
                self._process.kill()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            process = subprocess.Popen(  # noqa: S603 (ourselves)
                [sys.executable, "-I", "-S", look.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self._root,
            )
            assert process.stdout
            os.set_blocking(process.stdout.fileno(), False)
            self._process, self._sent_folders = process, {}
        return self._process

    def _hear(self) -> None:
        """Take in what it has said by now: one word for each folder, in the order asked."""
        if self._process is None or not self._remaining_answers:
            return
        assert self._process.stdout
        try:
            said = os.read(self._process.stdout.fileno(), HEARD_AT_ONCE)
        except BlockingIOError:
            return
        self._remaining_answers = (
            self._remaining_answers - len(said) if said else 0
        )  # nothing: it has ended
        for word, path in zip(said, self._unanswered, strict=False):
            if word == look.SAME:
                self._same.add(path)

    def _hear_all(self) -> None:
        """Wait until nothing is left to be said about the last question."""
        if self._asking:
            self._asking.join()
            self._asking = None
        if self._process is None:
            return
        assert self._process.stdout
        os.set_blocking(self._process.stdout.fileno(), True)
        while self._remaining_answers > 0:
            self._hear()
        os.set_blocking(self._process.stdout.fileno(), False)
        if self._process.poll() is not None:
            self._end()

    def _end(self) -> None:
        if self._process:
            with contextlib.suppress(OSError):  # what it was to be told does not matter any more
                self._process.communicate()
            self._process = None
