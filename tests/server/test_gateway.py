"""Kernels of a real gateway as the user's own: another Jupyter server, in a process of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.gateway.managers import GatewayKernelManager
from tornado import websocket

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.hosts.server import gateway_channels
from cowork_jupyter.hosts.server.kernel_connection import KernelConnection
from tests.scripted import ScriptedServer, call, text

from .api import Api
from .live import TOKEN, LiveServer, live_server
from .notebook_kernel import NOTEBOOK, PATIENCE, Place, write_notebook
from .notebook_kernel import a_patient_look as a_patient_look

SLEEP = "import time\nprint('in it', flush=True)\ntime.sleep(1000)"


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("gateway")) as server:
        yield server


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], gateway: LiveServer) -> dict[str, Any]:
    """Our server, started with the gateway's address."""
    GatewayClient.clear_instance()  # that of an earlier test's server
    client = {"url": gateway.url, "auth_token": TOKEN, "request_timeout": PATIENCE}
    return {**jp_server_config, "GatewayClient": client}


class GatewayPlace(Place):
    """A notebook whose kernel runs at the gateway."""

    def __init__(self, app: Any, root: Path, gateway: LiveServer) -> None:
        super().__init__(app, root)
        self._gateway = gateway

    async def end(self) -> None:
        await self.kernels.close()
        await self.app.kernel_manager.shutdown_all(now=True)

    async def ask_gateway(self, method: str, what: str = "") -> Any:
        """What somebody else does with the kernel, or hears of it."""
        address = f"{self._gateway.url}api/kernels/{self.kernel_id}{what}?token={TOKEN}"
        async with httpx.AsyncClient(timeout=PATIENCE) as client:
            answer = await client.request(method, address)
        return answer.json() if answer.content else None

    async def until_connected(self, times: int) -> None:
        async with asyncio.timeout(PATIENCE):
            while (await self.ask_gateway("GET"))["connections"] != times:
                await asyncio.sleep(0.05)


@pytest.fixture
def place(
    jp_serverapp: Any, jp_root_dir: Path, jp_asyncio_loop: Any, gateway: LiveServer
) -> Iterator[GatewayPlace]:
    write_notebook(jp_root_dir / NOTEBOOK)
    made = GatewayPlace(jp_serverapp, jp_root_dir, gateway)
    jp_asyncio_loop.run_until_complete(made.start())
    assert isinstance(made.manager, GatewayKernelManager)
    yield made
    jp_asyncio_loop.run_until_complete(made.end())
    GatewayClient.clear_instance()


@pytest.mark.usefixtures("a_patient_look")
async def test_code_cells_and_variables(place: GatewayPlace) -> None:
    ran = await place.run("import os\ntable = [1, 2]\nprint('hello', flush=True)\nos.getppid()")
    assert ran.failure is None
    printed, pid = ran.outputs
    assert printed["text"] == "hello\n"
    assert "".join(place.shown).startswith("hello\n")
    assert pid["data"]["text/plain"] == str(place._gateway.process_id), "it runs there"
    failure = (await place.run("x = 1\n1 / 0")).failure
    assert failure is not None
    assert (failure.name, failure.line) == ("ZeroDivisionError", 2)
    cell = await place.run_cell("c1", "a = 41\na + 1")
    assert cell.outputs[-1]["data"]["text/plain"] == "42"
    found = await place.kernels.variables(place.workspace, NOTEBOOK)
    assert {"table", "a"} <= {one.name for one in found.items}
    one = await place.kernels.inspect(place.workspace, NOTEBOOK, "table")
    assert one.type == "list"
    assert await place.kernels.python(place.workspace, NOTEBOOK) is None, (
        "it is not on this machine"
    )
    await place.until_connected(0)


@pytest.mark.slow
@pytest.mark.usefixtures("a_patient_look")
async def test_variables_are_seen_beside_a_cell_that_runs(place: GatewayPlace) -> None:
    running = asyncio.create_task(place.run(f"here = 1\n{SLEEP}"))
    await place.until_shown("in it")
    found = await place.kernels.variables(place.workspace, NOTEBOOK)
    assert "here" in {one.name for one in found.items}
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


@pytest.mark.slow
async def test_cancelling_interrupts_the_code_and_the_kernel_is_free_again(
    place: GatewayPlace,
) -> None:
    running = asyncio.create_task(place.run(SLEEP))
    await place.until_shown("in it")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await place.value("1 + 1") == "2"
    await place.until_connected(0)


async def died(place: GatewayPlace, running: asyncio.Task[Any]) -> None:
    with pytest.raises(CoworkError) as raised:
        await running
    assert raised.value.code == "kernel_died"


@pytest.mark.slow
async def test_the_death_of_the_kernel_is_told(place: GatewayPlace) -> None:
    code = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    await died(place, asyncio.create_task(place.run(code)))


@pytest.mark.slow
@pytest.mark.parametrize(("method", "what"), [("POST", "/restart"), ("DELETE", "")])
@pytest.mark.slow
async def test_a_kernel_that_somebody_restarts_or_ends_at_the_gateway_has_died(
    place: GatewayPlace, method: str, what: str
) -> None:
    # Jupyter interrupts first what runs there, and what ends by that has not seen its kernel die.
    deaf = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    running = asyncio.create_task(place.run(f"{deaf}{SLEEP}"))
    await place.until_shown("in it")
    await place.ask_gateway(method, what)
    await died(place, running)


@pytest.mark.slow
async def test_a_connection_that_is_lost_is_said(
    place: GatewayPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[websocket.WebSocketClientConnection] = []
    connect = websocket.websocket_connect

    async def connected(*given: Any, **more: Any) -> websocket.WebSocketClientConnection:
        made.append(await connect(*given, **more))
        return made[-1]

    monkeypatch.setattr(gateway_channels, "websocket_connect", connected)
    running = asyncio.create_task(place.run(SLEEP))
    await place.until_shown("in it")
    made[-1].close()
    with pytest.raises(CoworkError) as raised:
        await running
    assert raised.value.code == "unavailable"
    assert "connection was closed" in raised.value.message
    await place.ask_gateway("POST", "/interrupt")


@pytest.mark.slow
async def test_whoever_is_cancelled_while_connecting_leaves_no_connection(
    place: GatewayPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, go_on = websocket.websocket_connect, asyncio.Event()
    made: list[websocket.WebSocketClientConnection] = []

    async def slowly(*given: Any, **more: Any) -> websocket.WebSocketClientConnection:
        made.append(await connect(*given, **more))
        await go_on.wait()
        return made[-1]

    monkeypatch.setattr(gateway_channels, "websocket_connect", slowly)

    async def open_line() -> None:
        async with KernelConnection.open(place.manager):
            raise AssertionError("nobody gets here")

    opening = asyncio.create_task(open_line())
    await place.until_connected(1)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    go_on.set()
    await place.until_connected(0)
    assert made


@pytest.mark.slow
async def test_a_gateway_that_refuses_is_said(
    place: GatewayPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place.manager, "kernel_id", "no-such-kernel")
    with pytest.raises(CoworkError, match="gateway that runs this kernel does not answer"):
        async with KernelConnection.open(place.manager):
            raise AssertionError("nobody gets here")
    monkeypatch.undo()


@pytest.mark.usefixtures("connected")
async def test_an_agent_runs_a_cell_there_once_the_user_has_allowed_it(
    place: GatewayPlace, api: Api, scripted: ScriptedServer
) -> None:
    context = await api.new_context(notebook=NOTEBOOK, role="actor")
    scripted.add(call("run_cell", cell_id="c0"), text("Done."))
    sent = await api.post(f"context/{context}/messages", {"content": "Run."}, status=202)
    request = await api.first_request(context)
    await api.post(f"permissions/{request['id']}", {"decision": "allow", "scope": "once"})
    assert (await api.ended(sent["job_id"]))["status"] == "completed"
    assert await place.value("a") == "1"
