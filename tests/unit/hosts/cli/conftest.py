"""A model for commands that run in processes of their own."""

from __future__ import annotations

import pytest

from tests.scripted import ScriptedServer


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch, scripted: ScriptedServer) -> ScriptedServer:
    """A model to talk to."""
    monkeypatch.setenv("COWORK_BASE_URL", scripted.base_url)
    monkeypatch.setenv("COWORK_MODEL", "scripted")
    return scripted
