"""One hub with two users for all tests in this folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.scripted import ScriptedServer

from .environment import FOLDER
from .hub import ADMINISTRATORS, Hub, User, administrators_settings, running_hub

PRICES = {"scripted": {"input": 100, "output": 1000}}
ADMINISTRATOR: dict[str, Any] = {
    "permissions": {"deny": ["delete_file"], "ask": ["create_file"]},
    "models": ["scripted", "gpt-5*"],
    "prices": PRICES,
}
NOT_ROOT = """
# Whoever runs these tests owns this environment. Elsewhere that is an administrator.
from cowork_jupyter.policy import administrator
administrator.is_beyond_user = lambda path: True
"""


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer(models="scripted other") as server:
        yield server


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    administrators_settings(**ADMINISTRATOR)
    shim = FOLDER / "etc" / "jupyter" / "jupyter_server_config.py"
    shim.write_text(NOT_ROOT if os.geteuid() else "")
    with running_hub(tmp_path_factory.mktemp("hub")) as running:
        yield running
    shim.unlink()
    ADMINISTRATORS.unlink()


@pytest.fixture(autouse=True)
def administrator(hub: Hub) -> None:
    """Each test begins with the same settings."""
    administrators_settings(**ADMINISTRATOR)


def connected(hub: Hub, model: ScriptedServer, name: str) -> User:
    """A user who has connected the model with a key of their own."""
    user = hub.user(name)
    connection = {"base_url": model.base_url, "model": "scripted", "api_key": key_of(name)}
    user.call("PUT", "models/connection", connection)
    return user


def key_of(name: str) -> str:
    return f"sk-the-very-own-key-of-{name}"


@pytest.fixture
def alice(hub: Hub, model: ScriptedServer) -> User:
    return connected(hub, model, "alice")


@pytest.fixture
def bob(hub: Hub, model: ScriptedServer) -> User:
    return connected(hub, model, "bob")
