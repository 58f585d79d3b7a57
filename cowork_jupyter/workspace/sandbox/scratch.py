"""Temporary folders for commands, removed with the sandbox.

A killed process cannot clean up. So each folder is locked while its process lives, and creating a
new one removes those that nobody holds any more.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ..no_follow import OPEN_FOLDER

if sys.platform != "win32":
    import fcntl

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a private folder is made in it
_PREFIX = "cowork-scratch-"
_NEW = 60.0
"""Seconds in which a folder may not be locked yet."""


class Scratch:
    """One private folder for a service.

    Not /tmp itself: whoever can write to other programs' sockets and files there can make those
    programs do things.
    """

    def __init__(self) -> None:
        self._base = _made_in(Path(os.path.realpath(tempfile.gettempdir())))
        self.work = self._folder("work")
        """Temporary files of commands that may write; they share it."""
        self.tests = self._folder("tests")
        """Holds a folder for each read-only command."""
        self.empty = self._folder("empty")
        self.nothing = self._base / "nothing"
        """An empty folder and an empty file, mounted over hidden ones."""
        self.nothing.touch(mode=0o444)
        self.git_settings = self._base / "gitconfig"
        """The user's, without credentials: the home is hidden."""
        self.git_settings.touch(mode=0o644)
        self._git_settings_of: tuple[int, ...] = ()
        memory = _SHARED_MEMORY if os.access(_SHARED_MEMORY, os.W_OK) else self._base
        self.memory = _made_in(memory)
        held = {folder: _lock(folder) for folder in (self._base, self.memory)}
        self.close = weakref.finalize(self, _let_go, held, os.getpid())
        places = {self._base.parent, self.memory.parent} - {self._base}
        threading.Thread(target=sweep, args=(places,), name="cowork-sweep", daemon=True).start()

    def for_one_command(self) -> Path:
        folder = self.tests / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        return folder

    def refresh_git_settings(self) -> None:
        home = os.path.expanduser("~")  # noqa: PTH111
        if (mark := git_settings_mark(home)) != self._git_settings_of:
            self.git_settings.write_text(git_settings(home))  # in place: rules are for this inode
            self._git_settings_of = mark

    def _folder(self, name: str) -> Path:
        folder = self._base / name
        folder.mkdir(mode=0o700)
        return folder


def scratch_environment(folder: str, *, may_write: bool) -> dict[str, str]:
    """Point caches and temporary files away from the home and the workspace."""
    common = {
        "TMPDIR": folder,
        "JUPYTER_RUNTIME_DIR": f"{folder}/jupyter",
        "IPYTHONDIR": f"{folder}/ipython",
    }
    if may_write:
        # Else each run of Python would leave compiled files, which are set aside.
        return common | {"PYTHONPYCACHEPREFIX": f"{folder}/pycache"}
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


def sweep(places: set[Path], new: float = _NEW) -> None:
    for place in places:
        with suppress(OSError):
            for folder in place.glob(f"{_PREFIX}*"):
                with suppress(OSError):
                    _remove_if_left_behind(folder, new)


def _remove_if_left_behind(folder: Path, new: float) -> None:
    lock = os.open(folder, OPEN_FOLDER)
    try:
        facts = os.fstat(lock)
        if facts.st_uid == os.getuid() and time.time() - facts.st_ctime > new:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises if somebody holds it
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(lock)


def _made_in(place: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))


def _lock(folder: Path) -> int:
    lock = os.open(folder, OPEN_FOLDER)
    with suppress(OSError):  # no locks on this file system: then nobody else can lock it either
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return lock


def _let_go(held: dict[Path, int], made_by: int) -> None:
    if os.getpid() != made_by:
        return  # in a forked child; the folders are its parent's
    for folder, lock in held.items():
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


# --- git's settings of the user

_HARMLESS_SECTIONS = frozenset(
    (
        *("advice", "apply", "branch", "color", "column", "commit", "core", "diff", "fetch"),
        *("filter", "format", "gc", "grep", "help", "i18n", "index", "init", "log", "merge"),
        *("notes", "pull", "push", "rebase", "rerere", "safe", "status", "tag", "user"),
    )
)
_SECRETIVE = ("sign", "gpg", "token", "pass", "secret", "key", "auth", "cred", "header")


def git_settings_mark(home: str) -> tuple[int, ...]:
    """Changes when the user's settings do."""
    mark = list[int]()
    for path in _git_settings_files(home):
        with contextlib.suppress(OSError):
            facts = os.stat(path)  # noqa: PTH116
            mark += [facts.st_ino, facts.st_size, facts.st_mtime_ns]
    return tuple(mark)


def git_settings(home: str) -> str:
    """The user's settings for git without credentials, and without what names other programs."""
    return "".join(map(_without_credentials, _git_settings_files(home)))


def _git_settings_files(home: str) -> Iterator[str]:
    paths = (f"{home}/.config/git/config", f"{home}/.gitconfig")
    return filter(os.path.isfile, paths)


def _without_credentials(path: str) -> str:
    command = ["git", "config", "--file", path, "--no-includes", "--null", "--list"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True, timeout=10)  # noqa: S603
    except (OSError, subprocess.SubprocessError):  # no git, or nothing that it could read
        return ""
    lines = []
    for entry in listed.stdout.decode(errors="replace").split("\0"):
        name, is_set, value = entry.partition("\n")
        section, _, rest = name.partition(".")
        subsection, _, key = rest.rpartition(".")
        if section not in _HARMLESS_SECTIONS or any(word in name.lower() for word in _SECRETIVE):
            continue
        if "://" in value or ("@" in value and name != "user.email"):
            continue
        header = f"{section} {_quoted(subsection)}" if subsection else section
        lines.append(f"[{header}]\n\t{key}{f' = {_quoted(value)}' if is_set else ''}\n")
    return "".join(lines)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
