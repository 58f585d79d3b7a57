"""A Jupyter server with the extension, in this process (pytest-jupyter)."""

from __future__ import annotations

import os
from typing import Any

import pytest

pytest_plugins = ["pytest_jupyter.jupyter_server"]


@pytest.fixture(autouse=True)
def no_model_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("COWORK_", "OPENAI_")):
            monkeypatch.delenv(name)


@pytest.fixture
def jp_server_config(jp_http_port: int) -> dict[str, Any]:
    return {
        "ServerApp": {
            "port": jp_http_port,
            "jpserver_extensions": {"cowork_jupyter": True},
        }
    }
