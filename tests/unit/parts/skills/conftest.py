"""Skills on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from ...agents.conftest import bench as bench
from ...agents.conftest import settings as settings


def write_skill(
    folder: Path, name: str, description: str = "", body: str = "Do it.", extra: str = ""
) -> Path:
    """A skill in a folder of skills; gives its own folder."""
    own = folder / name
    own.mkdir(parents=True, exist_ok=True)
    about = f"name: {name}\ndescription: {description or f'How to {name}.'}\n{extra}"
    (own / "SKILL.md").write_text(f"---\n{about}---\n{body}\n")
    return own


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "workspace"
    made.mkdir()
    return made


@pytest.fixture
def user(tmp_path: Path) -> Path:
    made = tmp_path / "user"
    made.mkdir()
    return made
