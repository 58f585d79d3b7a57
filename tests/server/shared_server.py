"""One real Jupyter server for all tests of a module: `from .shared_server import …` its fixtures.

Each test finds it as if nobody had been there before.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.scripted import ScriptedServer
from tests.unit.hosts.kernel.kernels import SECONDS

from .live import TOKEN, LiveServer, live_server

CLIENT = httpx.Client(headers={"Authorization": f"token {TOKEN}"}, timeout=SECONDS)
"""To make one takes longer than most answers do."""


def get(server: LiveServer, address: str) -> Any:
    return CLIENT.get(f"{server.api}{address}").json()


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, model: ScriptedServer) -> Iterator[LiveServer]:
    environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
    with live_server(tmp_path_factory.mktemp("shared"), environment=environment) as running:
        yield running


@pytest.fixture
def server(shared: LiveServer, model: ScriptedServer) -> Iterator[LiveServer]:
    model.forget()
    (shared.root / "sub").mkdir()
    yield shared
    for session in CLIENT.get(f"{shared.url}api/sessions").json():
        _delete(f"{shared.url}api/sessions/{session['id']}")
    for kind in ("context", "rules"):
        for item in get(shared, kind)["items"]:
            _delete(f"{shared.api}{kind}/{item['id']}")
    for folder in (shared.root, shared.folder / "ipython"):
        _empty(folder)


@pytest.fixture
def scripted(server: LiveServer, model: ScriptedServer) -> ScriptedServer:
    """The model that the server talks to."""
    assert server
    return model


def _delete(address: str) -> None:
    answer = CLIENT.delete(address)
    assert answer.status_code == 204, answer.text


def _empty(folder: Path) -> None:
    """It stays itself: the server works in it."""
    for path in folder.glob("*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
