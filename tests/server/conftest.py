"""A Jupyter server with the extension, in this process (pytest-jupyter)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from jupyter_client.connect import LocalPortCache
from tornado.httpclient import HTTPRequest

from cowork_jupyter.llm import model_probe
from tests import quick
from tests.quick import empty_records as empty_records
from tests.quick import ready_tables as ready_tables
from tests.scripted import ScriptedServer
from tests.scripted.fixtures import scripted as scripted

from .api import PATIENCE, Api
from .live import held_port

pytest_plugins = ["pytest_jupyter.jupyter_server"]


def pytest_configure(config: pytest.Config) -> None:
    quick.configure(config)
    quick.keep_files_in_memory()


@pytest.fixture(autouse=True)
def no_model_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("COWORK_", "OPENAI_")):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def a_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first request imports the whole service, which may take a while. So may a model's
    server, which is a thread of this very process, before it says which models it has.
    """
    for name in ("connect_timeout", "request_timeout"):
        monkeypatch.setitem(HTTPRequest._DEFAULTS, name, PATIENCE)
    open_url = model_probe.open_url
    monkeypatch.setattr(model_probe, "open_url", lambda request, _: open_url(request, PATIENCE))


@pytest.fixture(autouse=True)
def ports_for_kernels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Jupyter looks for free ports and lets go of them again. Until its kernel is there, a server
    of another test could be given one of them, and the kernel would end before it began.
    """
    with ExitStack() as held:
        monkeypatch.setattr(
            *(LocalPortCache, "find_available_port"), lambda *_: held.enter_context(held_port())
        )
        yield


@pytest.fixture
def jp_server_config(jp_http_port: int) -> dict[str, Any]:
    return {
        "ServerApp": {
            "port": jp_http_port,
            "jpserver_extensions": {"cowork_jupyter": True},
        }
    }


@pytest.fixture
def connected(
    no_model_from_outside: None, monkeypatch: pytest.MonkeyPatch, scripted: ScriptedServer
) -> None:
    """A model for the server to talk to."""
    monkeypatch.setenv("COWORK_BASE_URL", scripted.base_url)
    monkeypatch.setenv("COWORK_MODEL", "scripted")


@pytest.fixture
def api(jp_serverapp: Any, http_server_client: Any, jp_auth_header: dict[str, str]) -> Api:
    return Api(http_server_client, jp_serverapp.base_url, jp_auth_header)
