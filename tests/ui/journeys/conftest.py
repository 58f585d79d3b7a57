"""One Lab for all stories, with a model that goes by each story's words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scripted import ScriptedServer

from ..lab import LabServer
from .script import Script


@pytest.fixture(scope="session")
def model() -> Iterator[tuple[Script, ScriptedServer]]:
    script = Script()
    with ScriptedServer(script) as server:
        yield script, server


@pytest.fixture
def script(model: tuple[Script, ScriptedServer]) -> Script:
    """What the model answers in this story."""
    model[0].begin()
    return model[0]


@pytest.fixture(scope="session")
def desk_lab(
    tmp_path_factory: pytest.TempPathFactory, model: tuple[Script, ScriptedServer]
) -> Iterator[LabServer]:
    """The Lab that stories share, each with notebooks of its own."""
    environment = {"COWORK_BASE_URL": model[1].base_url, "COWORK_MODEL": "scripted"}
    with LabServer(tmp_path_factory.mktemp("journeys"), environment) as lab:
        yield lab
