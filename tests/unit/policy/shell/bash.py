"""The real bash, asked what it makes of a command line."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

_BASH = shutil.which("bash") or "/bin/bash"
_SHOW = """
show() { printf '%s\\0' show "$@" $'\\1' >> "$SEEN"; }
"""
# one printf, so that commands of a pipe do not write into each other's words


def accepts(text: str) -> bool:
    """Whether bash can parse it."""
    done = subprocess.run(
        [_BASH, "-n"], input=text.encode(), capture_output=True, env={"PATH": "/nowhere"}
    )
    return done.returncode == 0 and not done.stderr


def seen_by_bash(text: str) -> list[tuple[str, ...]]:
    """Runs a line and gives the arguments of every `show`, the only program there is."""
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as seen:
        subprocess.run(
            [_BASH, "-c", f"{_SHOW}{text}\nwait"],
            cwd=folder,
            env={"PATH": "/nowhere", "SEEN": seen.name, "HOME": "/home", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        said = os.fsdecode(seen.read())
    return [tuple(one.split("\0")[:-1]) for one in said.split("\1\0")[:-1]]
