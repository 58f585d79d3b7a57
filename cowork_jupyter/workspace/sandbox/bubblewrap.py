"""The same confinement with `bwrap`, for kernels without Landlock."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .namespaces import Bind

_SETTINGS_OF_THE_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/bus", "/proc/fs", "/proc/irq")
"""Root could change them in its own /proc."""


def bubblewrap_program() -> str | None:
    """Path of `bwrap`, if it is installed and works on this machine."""
    program = shutil.which("bwrap")
    return program if program and _works(program) else None


def is_set_user_id(program: str) -> bool:
    """Whether it is installed to run as root, as some systems require."""
    return bool(Path(program).stat().st_mode & stat.S_ISUID)


@cache
def _works(program: str) -> bool:
    trial = [program, "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    done = subprocess.run(trial, capture_output=True, check=False)  # noqa: S603 - ours
    return done.returncode == 0


def bwrap_command(
    program: str,
    arguments: Sequence[str],
    *,
    binds: Sequence[Bind],
    empty: Sequence[str],
    folder: str,
    network: bool,
) -> list[str]:
    options = [program, "--die-with-parent", "--unshare-all", "--cap-drop", "ALL"]
    options += ["--share-net"] if network else []
    options += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in filter(os.path.exists, _SETTINGS_OF_THE_KERNEL):
        options += ["--ro-bind", path, path]
    for path in filter(os.path.isdir, empty):
        options += ["--tmpfs", path]
    for bind in binds:
        if not bind.optional or os.path.lexists(bind.target):
            options += ["--bind" if bind.writable else "--ro-bind", bind.source, bind.target]
    return [*options, "--chdir", folder, "--", *arguments]
