"""Runs the notebooks in a place of their own.

`python -m tests.notebooks [NAME …]` writes the outputs back, so that they are as they would be
today; `python -m tests.notebooks check [ARGS …]` has nbval run them, and tests what is saved. With
the path of a notebook or the id of a test among the ARGS, only those are run.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from .place import LIMIT, NOTEBOOKS, ROOT, copied, environment


def check(arguments: list[str]) -> int:
    """What `make test` does; gives the exit code of pytest."""
    targets = [word for word in arguments if (ROOT / word.partition("::")[0]).is_file()]
    options = [word for word in arguments if word not in targets]
    with copied() as folder:
        copies = [
            str(folder.parent / word) if word.endswith(".ipynb") else word for word in targets
        ]
        command = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "--rootdir", str(ROOT)]
        command += [
            "-p",
            "nbval.plugin",
            "--nbval-lax",
            f"--nbval-cell-timeout={LIMIT}",
            f"--timeout={2 * LIMIT}",
        ]
        command += [f"--nbval-kernel-startup-timeout={LIMIT}", *options]
        command += copies or [str(folder), "tests/notebooks"]
        env = environment(folder.parent)
        return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode


def refresh(names: list[str]) -> None:
    """Run them and keep what they show."""
    with copied() as folder:
        as_a_newcomer = environment(folder.parent)
        os.environ.clear()
        os.environ.update(as_a_newcomer)
        for path in sorted(folder.glob("*.ipynb")):
            if not names or path.stem in names:
                print(f"… {path.name}", flush=True)
                _run(path)


def _run(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        timeout=LIMIT,
        resources={"metadata": {"path": str(path.parent)}},
        coalesce_streams=True,
        record_timing=False,
    )
    client.execute()
    notebook.metadata.language_info = {"name": "python"}  # else it tells which Python we have
    nbformat.write(notebook, NOTEBOOKS / path.name)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    if sys.argv[1:2] == ["check"]:
        sys.exit(check(sys.argv[2:]))
    refresh(sys.argv[1:])
