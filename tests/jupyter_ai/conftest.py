"""A Lab with jupyter-ai beside us, for the tests in this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.collaboration.conftest import agent as agent
from tests.collaboration.conftest import model as model
from tests.collaboration.environment import SETTINGS
from tests.scripted import ScriptedServer
from tests.ui.conftest import browser as browser
from tests.ui.conftest import page as page
from tests.ui.conftest import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.ui.conftest import screenshot as screenshot
from tests.ui.lab import LabServer
from tests.ui.test_cells import name as name

from .environment import FOLDERS


@pytest.fixture(scope="session", params=list(FOLDERS))
def lab(
    tmp_path_factory: pytest.TempPathFactory, model: ScriptedServer, request: pytest.FixtureRequest
) -> Iterator[LabServer]:
    environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted", **SETTINGS}
    python = FOLDERS[request.param] / "bin" / "python"
    with LabServer(tmp_path_factory.mktemp("beside"), environment, str(python)) as server:
        yield server
