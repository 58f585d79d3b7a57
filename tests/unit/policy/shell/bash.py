"""The real bash, asked what it makes of a command line."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_BASH = shutil.which("bash") or "/bin/bash"
_SHOW = """
show() { printf '%s\\0' show "$@" $'\\1' >> "$SEEN/$BASHPID"; }
"""
# A file for each process: bash writes at every line break, and in a pipe several run at once.


def accepts(text: str) -> bool:
    """Whether bash can parse it."""
    done = subprocess.run(
        [_BASH, "-n"], input=text.encode(), capture_output=True, env={"PATH": "/nowhere"}
    )
    return done.returncode == 0 and not done.stderr


def seen_by_bash(text: str) -> list[tuple[str, ...]]:
    """Runs a line and gives the arguments of every `show`, the only program there is.

    In no particular order.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as seen:
        subprocess.run(
            [_BASH, "-c", f"{_SHOW}{text}\nwait"],
            cwd=folder,
            env={"PATH": "/nowhere", "SEEN": seen, "HOME": "/home", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        said = "".join(os.fsdecode(one.read_bytes()) for one in Path(seen).iterdir())
    return [tuple(one.split("\0")[:-1]) for one in said.split("\1\0")[:-1]]
