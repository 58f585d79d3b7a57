"""A Lab with real-time collaboration, for the tests in this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.scripted import ScriptedServer
from tests.ui.agent import Agent
from tests.ui.conftest import browser as browser
from tests.ui.conftest import page as page
from tests.ui.conftest import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.ui.conftest import screenshot as screenshot
from tests.ui.conftest import second as second
from tests.ui.lab import LabServer
from tests.ui.test_cells import TOOLS
from tests.ui.test_cells import name as name

from .environment import PYTHON, SETTINGS


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer(models="scripted") as server:
        yield server


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory, model: ScriptedServer) -> Iterator[LabServer]:
    environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted", **SETTINGS}
    with LabServer(tmp_path_factory.mktemp("shared"), environment, str(PYTHON)) as server:
        yield server


@pytest.fixture(scope="session")
def agent(lab: LabServer, model: ScriptedServer) -> Agent:
    made = Agent(lab, model)
    made.allow(*TOOLS, "run_cell")
    return made
