"""What unit tests share: an environment without the developer's own settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from cowork_jupyter.llm import reachable
from tests.scripted.fixtures import scripted as scripted

# The same examples everywhere, so that a run that passes here passes elsewhere too.
settings.load_profile("ci")

PATIENCE = 60.0
"""Seconds after which a model's server is not there."""


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


@pytest.fixture(autouse=True)
def a_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model's server is a thread of this very process, and may need more than three seconds
    before it says which models it has.
    """
    open_url = reachable.open_url
    monkeypatch.setattr(reachable, "open_url", lambda request, _: open_url(request, PATIENCE))
