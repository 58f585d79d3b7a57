"""What unit tests share: an environment without the developer's own settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.scripted.fixtures import scripted as scripted

# The same examples everywhere, so that a run that passes here passes elsewhere too.
settings.load_profile("ci")


@pytest.fixture(autouse=True)
def clean_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No model from the developer's shell, no files in the developer's home."""
    for name in list(os.environ):
        if name.startswith(("COWORK_", "OPENAI_")):
            monkeypatch.delenv(name)
    home: Path = tmp_path_factory.mktemp("home")
    for what in ("CONFIG", "DATA", "RUNTIME"):
        monkeypatch.setenv(f"JUPYTER_{what}_DIR", str(home / what.lower()))
    monkeypatch.setenv("IPYTHONDIR", str(home / "ipython"))
