"""Who may call: users everything, kernels little, strangers nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tornado import web

from cowork_jupyter.api import api as endpoints
from cowork_jupyter.api.routes import table
from cowork_jupyter.hosts.kernel.link import ServerGone
from cowork_jupyter.hosts.kernel.server_link import ServerLink
from cowork_jupyter.hosts.server.handler import KERNEL_TOKEN_HEADER, NotLoggedIn
from cowork_jupyter.hosts.server.kernel_tokens import TOKEN_VARIABLE, URL_VARIABLE

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")

assert endpoints  # importing it fills the table

AsKernel = Callable[[], Awaitable[Api]]


class FakeKernels(dict[str, dict[str, str]]):
    """A kernel manager that remembers what environment its kernels got."""

    async def start_kernel(self, *, env: dict[str, str] | None = None) -> str:
        kernel_id = f"kernel-{len(self)}"
        self[kernel_id] = env or {}
        return kernel_id


@pytest.fixture
def kernels(jp_serverapp: Any) -> FakeKernels:
    """Kernels that get their tokens from the extension under test."""
    extension = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"].copy().pop()
    fake = FakeKernels()
    extension.kernel_tokens._kernel_manager = fake
    extension.kernel_tokens.wrap_kernel_start()
    return fake


@pytest.fixture
def as_kernel(jp_serverapp: Any, http_server_client: Any, kernels: FakeKernels) -> AsKernel:
    """Starts a kernel, and gives the API as it sees it."""

    async def start() -> Api:
        environment = kernels[await kernels.start_kernel()]
        assert environment[URL_VARIABLE].endswith(jp_serverapp.base_url)
        headers = {KERNEL_TOKEN_HEADER: environment[TOKEN_VARIABLE]}
        return Api(http_server_client, jp_serverapp.base_url, headers)

    return start


async def test_a_kernel_may_make_and_read_contexts_and_talk(as_kernel: AsKernel) -> None:
    kernel = await as_kernel()
    context = await kernel.new_context()
    assert (await kernel.get(f"context/{context}"))["id"] == context
    accepted = await kernel.post(f"context/{context}/messages", {"content": "x"}, status=202)
    await kernel.post(f"jobs/{accepted['job_id']}/cancel")


def test_answers_permissions_and_rules_are_not_for_kernels() -> None:
    for_kernels = {(route.method, route.path) for route in table.routes if route.kernel}
    assert ("POST", "questions/{id}/answer") not in for_kernels
    assert ("POST", "permissions/{id}") not in for_kernels
    assert ("POST", "permissions") not in for_kernels
    assert ("POST", "rules") not in for_kernels
    assert ("DELETE", "rules/{id}") not in for_kernels
    assert ("POST", "trust") not in for_kernels
    assert ("DELETE", "context/{id}") not in for_kernels
    assert ("POST", "context/{id}/expectations") not in for_kernels
    assert ("DELETE", "context/{id}/expectations/{expectation_id}") not in for_kernels


async def test_a_kernel_keeps_and_changes_no_workflow_and_no_plan_by_itself(
    api: Api, as_kernel: AsKernel
) -> None:
    step = {"action": "Look"}
    by_hand = {"name": "look", "plan": {"goal": "Look", "steps": [step]}}
    await api.post("workflows", by_hand, status=201)
    kernel = await as_kernel()
    context = await kernel.new_context()
    await api.call("PUT", f"context/{context}/plan", {"plan": by_hand["plan"], "revision": 0})
    saves = {"name": "other", "context_id": context, "cell_id": "c1"}
    refused: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "workflows", {**by_hand, "name": "other"}),
        ("POST", "workflows", saves),
        ("PUT", "workflows/look", {"title": "Mine", "cell_id": "c1"}),
        ("POST", "workflows/look/share", {"cell_id": "c1"}),
        ("DELETE", "workflows/look?cell_id=c1", {}),
        ("POST", f"context/{context}/plan/restore", {"revision": 1, "cell_id": "c1"}),
    ]
    for method, address, body in refused:
        await kernel.refused(method, address, body, status=403, code="needs_person")
    assert (await kernel.get("workflows/look/file"))["title"] == "Look"
    assert (await api.get(f"context/{context}/plan"))["revision"] == 1
    assert [one["title"] for one in (await api.get("workflows"))["items"] if one["template"]] == [
        "Look"
    ]


async def test_code_in_a_kernel_cannot_change_the_base_prompt(as_kernel: AsKernel) -> None:
    kernel = await as_kernel()
    assert [one["id"] for one in (await kernel.get("v1/system-prompts"))["items"]] == ["default"]
    address = f"context/{await kernel.new_context(notebook='a.ipynb')}/system-prompt"
    for body in ({"system_prompt_id": "default"}, {"system_prompt_id": "default", "cell_id": "c1"}):
        await kernel.refused("POST", address, body, status=403, code="needs_person")


async def test_a_kernel_runs_no_workflow_in_another_users_context(
    api: Api, as_kernel: AsKernel, jp_serverapp: Any
) -> None:
    extension = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"].copy().pop()
    accepted = await api.post("workflows/review_changes/run", status=202)
    await api.post(f"jobs/{accepted['job_id']}/cancel")
    assert extension.service.conversations.owner(accepted["context_id"])
    kernel = await as_kernel()
    body = {"context_id": accepted["context_id"]}
    await kernel.refused("POST", "workflows/review_changes/run", body, status=404)


async def test_the_token_is_gone_with_the_kernel(as_kernel: AsKernel, kernels: FakeKernels) -> None:
    kernel = await as_kernel()
    await kernel.get("health")
    kernels.clear()
    await kernel.refused("GET", "health", status=403, code="unauthenticated")


async def test_a_kernel_without_a_token_says_to_restart_it_whatever_words_the_server_has(
    as_kernel: AsKernel,
    kernels: FakeKernels,
    http_server_port: tuple[Any, int],
    jp_base_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def reworded(error: NotLoggedIn) -> None:
        web.HTTPError.__init__(error, 403, "Qwrt zxcv.")

    monkeypatch.setattr(NotLoggedIn, "__init__", reworded)
    await as_kernel()
    token = kernels.popitem()[1][TOKEN_VARIABLE]
    link = ServerLink(f"http://127.0.0.1:{http_server_port[1]}{jp_base_url}", token)
    with pytest.raises(ServerGone, match="Restart the kernel"):
        await asyncio.to_thread(link.request, "GET", "health")


async def test_each_kernel_gets_a_token_of_its_own(
    as_kernel: AsKernel, kernels: FakeKernels
) -> None:
    await as_kernel()
    await as_kernel()
    assert len({environment[TOKEN_VARIABLE] for environment in kernels.values()}) == 2


class TestWithAnAuthorizer:
    @pytest.fixture
    def jp_server_config(self, jp_http_port: int) -> dict[str, Any]:
        from jupyter_server.auth import Authorizer

        class ReadersOnly(Authorizer):
            def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
                return resource != "cowork" or action == "read"

        return {
            "ServerApp": {
                "port": jp_http_port,
                "jpserver_extensions": {"cowork_jupyter": True},
                "authorizer_class": ReadersOnly,
            }
        }

    async def test_jupyters_authorizer_is_asked_for_each_action(self, api: Api) -> None:
        await api.get("health")
        await api.refused("POST", "context", {}, status=403)
        await api.refused("POST", "context/x/messages", {"content": "x"}, status=403)
