"""Runs pytest as a user without any rights: `python -m tests.security.as_nobody ARGUMENTS`.

For root only. What it needs may be in folders that are closed to others, such as root's home, so
it gets mounts of its own in which the way to them is open.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from pathlib import Path

NOBODY = 65534
_NEW_MOUNTS, _BIND, _PRIVATE = 0x20000, 0x1000 | 0x4000, 0x40000 | 0x4000
PROJECT = Path(__file__).parents[2]


def mount(source: str, target: Path, kind: str, flags: int, options: str = "") -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    names = (text.encode() for text in (source, str(target), kind))
    if libc.mount(*names, ctypes.c_ulong(flags), options.encode()):
        raise OSError(ctypes.get_errno(), f"mount {source} at {target}")


def closed_folder(path: Path) -> Path | None:
    """The outermost folder on the way that others may not enter."""
    return next((each for each in reversed(path.parents) if not each.stat().st_mode & 1), None)


def open_the_way(paths: list[Path]) -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), "unshare")
    mount("none", Path("/"), "", _PRIVATE)
    closed = {path: folder for path in paths if (folder := closed_folder(path))}
    held = {path: os.open(path, os.O_PATH) for path in closed}
    for folder in set(closed.values()):
        mount("tmpfs", folder, "tmpfs", 0, "mode=755")
    for path, descriptor in held.items():
        path.mkdir(parents=True, exist_ok=True)
        mount(f"/proc/self/fd/{descriptor}", path, "", _BIND)


def main(arguments: list[str]) -> int:
    open_the_way([Path(path).resolve() for path in {sys.prefix, sys.base_prefix, str(PROJECT)}])
    home = Path(tempfile.mkdtemp(prefix="cowork-nobody-"))
    os.chown(home, NOBODY, NOBODY)
    try:
        child = os.fork()
        if child == 0:
            _become_nobody_and_test(home, arguments)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _become_nobody_and_test(home: Path, arguments: list[str]) -> None:
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    assert not os.access("/etc/shadow", os.R_OK)
    os.environ |= {"HOME": str(home), "TMPDIR": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    os.environ["PATH"] = f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"
    os.environ.pop("XDG_RUNTIME_DIR", None)
    os.chdir(PROJECT)
    given = ["-q", "-p", "no:cacheprovider", f"--basetemp={home}/tests", *arguments]
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *given])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
