"""The address for agents of others: Jupyter decides who comes in, as for every other route."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cowork_jupyter.hosts.server.handler import KERNEL_TOKEN_HEADER
from cowork_jupyter.hosts.server.kernel_tokens import TOKEN_VARIABLE
from tests.unit.domain.test_health import hide_package

from .api import Api
from .test_callers import FakeKernels
from .test_passthrough import as_visitor

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "visitor", "version": "1"},
    },
}


async def test_kernels_are_refused(jp_serverapp: Any, http_server_client: Any) -> None:
    (extension,) = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]
    kernels = extension.kernel_tokens._kernel_manager = FakeKernels()
    extension.kernel_tokens.wrap_kernel_start()
    token = kernels[await kernels.start_kernel()][TOKEN_VARIABLE]
    assert extension.kernel_tokens.kernel_of(token)
    for headers in ({KERNEL_TOKEN_HEADER: token}, {"Authorization": f"Bearer {token}"}):
        kernel = Api(http_server_client, jp_serverapp.base_url, headers)
        await kernel.refused("POST", "mcp", HELLO, status=403)


async def test_without_the_package_it_says_which_is_needed(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_package(monkeypatch)
    error = await api.refused("POST", "mcp", HELLO, status=503, code="no_mcp")
    assert "pip install 'cowork-jupyter[mcp]'" in error["message"]


async def test_a_body_that_is_nested_too_deeply_is_refused(api: Api) -> None:
    api._headers |= {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
    }
    deep = b'{"params": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    answer = await api.fetch("POST", "mcp", deep)
    assert answer.code == 400, answer.body


async def test_a_browser_needs_the_xsrf_token(jp_serverapp: Any, http_server_client: Any) -> None:
    visitor, xsrf = await as_visitor(http_server_client, jp_serverapp)
    await visitor.refused("POST", "mcp", HELLO, status=403)
    answer = await http_server_client.fetch(
        f"{jp_serverapp.base_url}cowork/mcp",
        method="POST",
        headers={**visitor._headers, "X-XSRFToken": xsrf, "Content-Type": "application/json"},
        body=json.dumps(HELLO),
        raise_error=False,
    )
    # It comes as far as the protocol, which misses a header of its own.
    assert answer.code == 406
    assert "must accept" in json.loads(answer.body)["error"]["message"]


class TestWithAnAuthorizer:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        from jupyter_server.auth import Authorizer

        class ReadersOnly(Authorizer):
            def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
                return resource == "cowork" and action == "read"

        jp_server_config["ServerApp"]["authorizer_class"] = ReadersOnly
        return jp_server_config

    async def test_using_tools_is_executing(self, api: Api) -> None:
        await api.refused("POST", "mcp", HELLO, status=403)
