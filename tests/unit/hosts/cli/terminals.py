"""The command line as people and programs start it: processes, with a terminal or without."""

from __future__ import annotations

import codecs
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import pytest

from cowork_jupyter.hosts.cli.app import CoworkApp

PROGRAM = str(Path(sys.executable).with_name("jupyter-cowork"))
PATIENCE = 120.0


def run(*arguments: str, folder: Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    """Without a terminal, to its end."""
    return subprocess.run(
        [PROGRAM, *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
        input=text or "",
    )


def run_here(*arguments: str) -> int:
    """In this process, which is quicker; gives the exit code."""
    with pytest.raises(SystemExit) as leaving:
        CoworkApp.launch_instance(list(arguments))
    CoworkApp.clear_instance()
    return int(leaving.value.code or 0)


class Terminal:
    """A program at a terminal, and the person who sits there."""

    def __init__(self, *arguments: str, folder: Path, typed_before: str = "") -> None:
        self._ours, theirs = pty.openpty()
        self.seen = ""
        self._read_up_to = 0
        # Incremental, because a character's bytes may come in two pieces.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        if typed_before:
            self.type(typed_before)
        environment = {**os.environ, "TERM": "xterm", "NO_COLOR": ""}
        self._program = subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=folder,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._program.poll() is None:
            self._program.kill()
        self._program.wait()
        os.close(self._ours)

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._ours, f"{line}\n".encode())

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._program.send_signal(signal.SIGINT)

    def wait_for(self, text: str) -> None:
        """Until this is on the screen, after what was waited for before."""
        end = time.monotonic() + PATIENCE
        while text not in self.seen[self._read_up_to :]:
            assert time.monotonic() < end, f"'{text}' never came: {self.seen}"
            assert self._read(), f"it ended without '{text}': {self.seen}"
        self._read_up_to = self.seen.index(text, self._read_up_to) + len(text)

    def exit_code(self) -> int:
        """How it ended, once it has."""
        while self._read():
            pass
        return self._program.wait(PATIENCE)

    def _read(self) -> bool:
        """Look at what is new; False when nothing more will come."""
        has_ended = self._program.poll() is not None  # before the look: its last words count too
        ready, _, _ = select.select([self._ours], [], [], 1.0)
        if not ready:
            return not has_ended
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # Linux says so when the other end is closed
            return False
        self.seen += self._decoder.decode(data)
        return bool(data)
