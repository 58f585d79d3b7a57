"""The scripted model as a fixture: `pytest_plugins = ["tests.scripted.fixtures"]`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .server import ScriptedServer


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    """A running scripted model with an empty script; fill it with `scripted.add(…)`."""
    with ScriptedServer() as server:
        yield server
