"""A place of its own for notebooks to run in: a copy of their folder, and nothing of the user's."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
NOTEBOOKS = ROOT / "notebooks"
LIMIT = 300
"""Seconds for one cell."""
_OF_OTHERS = ("COWORK_", "OPENAI_", "JUPYTER", "JPY_")
"""Beginnings of variables that would connect a model, or belong to a server around us."""


@contextmanager
def copied() -> Iterator[Path]:
    """A folder `notebooks` like ours. What runs there leaves nothing in the checkout.

    A process that was just ended may still be writing when the folder is removed.
    """
    with tempfile.TemporaryDirectory(prefix="cowork", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "notebooks"
        shutil.copytree(NOTEBOOKS, copy, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        yield copy


def environment(folder: Path) -> dict[str, str]:
    """As a newcomer has it: no model, no settings, and our programs on the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OF_OTHERS)}
    own = {f"JUPYTER_{one}_DIR": str(folder / one.lower()) for one in ("CONFIG", "DATA", "RUNTIME")}
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    person = {"LOGNAME": "ada"}  # whom cards name as the one who asked
    return {**kept, **own, **person, "IPYTHONDIR": str(folder / "ipython"), "PATH": programs}
