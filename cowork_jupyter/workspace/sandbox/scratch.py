"""Folders for what commands need and nobody keeps: gone when the sandbox is."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import weakref
from pathlib import Path

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a private folder is made in it


class Scratch:
    """One private folder for a service.

    Not /tmp itself: other programs' sockets and files are there, and whoever can write them can
    make those programs do things.
    """

    def __init__(self) -> None:
        self._base = Path(os.path.realpath(tempfile.mkdtemp(prefix="cowork-")))
        self.work = self._folder("work")
        """Temporary files of commands that may write; one finds what another has left."""
        self.tests = self._folder("tests")
        """Holds a folder for each command that may not."""
        self.empty = self._folder("empty")
        self.nothing = self._base / "nothing"
        """An empty folder and an empty file, to be seen where the real ones must not be."""
        self.nothing.touch(mode=0o444)
        memory = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else self._base
        self.memory = Path(tempfile.mkdtemp(prefix="cowork-", dir=memory))
        self.close = weakref.finalize(self, _remove, self._base, self.memory)

    def for_one_command(self) -> Path:
        """A new folder for a command that may write nowhere else."""
        folder = self.tests / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder

    def _folder(self, name: str) -> Path:
        folder = self._base / name
        folder.mkdir(mode=0o700)
        return folder


def environment(folder: str, *, may_write: bool) -> dict[str, str]:
    """Tells programs where to put what they would otherwise put into the home or the workspace."""
    common = {
        "TMPDIR": folder,
        "JUPYTER_RUNTIME_DIR": f"{folder}/jupyter",
        "IPYTHONDIR": f"{folder}/ipython",
    }
    if may_write:
        return common
    return common | {
        "COWORK_SCRATCH": folder,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_ADDOPTS": f"-o cache_dir={folder}/pytest",
        "MYPY_CACHE_DIR": f"{folder}/mypy",
        "RUFF_CACHE_DIR": f"{folder}/ruff",
        "COVERAGE_FILE": f"{folder}/coverage",
        "HYPOTHESIS_STORAGE_DIRECTORY": f"{folder}/hypothesis",
        "MPLCONFIGDIR": f"{folder}/matplotlib",
        "NUMBA_CACHE_DIR": f"{folder}/numba",
    }


def _remove(*folders: Path) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
