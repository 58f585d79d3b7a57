"""Where the user is, and what cells draw, from a real kernel and an open tab to the model."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.registry import default_tools
from cowork_jupyter.workspace import Workspace
from tests.scripted import ScriptedServer, call, text
from tests.scripted.server import last_words

from .api import Api
from .browser import FakeTab
from .notebook_kernel import NOTEBOOK, PATIENCE, Place, until, write_notebook
from .notebook_kernel import a_patient_look as a_patient_look
from .notebook_kernel import place as place

PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 320, 200) + bytes(40)
).decode()
DRAW = (
    "import base64\nfrom IPython.display import Image, display\n"
    f"display(Image(base64.b64decode({PNG!r})))"
)


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any]) -> dict[str, Any]:
    """A machine that has other things to do may take its time."""
    return {**jp_server_config, "Cowork": {"notebook_seconds": float(PATIENCE), "images": "yes"}}


@pytest.fixture
def tab(jp_ws_fetch: Any, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[FakeTab]:
    socket = jp_asyncio_loop.run_until_complete(jp_ws_fetch("cowork", "ws"))

    async def connect() -> FakeTab:
        return FakeTab(socket)

    made = jp_asyncio_loop.run_until_complete(connect())
    yield made
    jp_asyncio_loop.run_until_complete(made.close())


@pytest.fixture
def extension(jp_serverapp: Any) -> Any:
    return next(iter(jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]))


def saved(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


async def opened(extension: Any, document: dict[str, Any], tab: FakeTab, active: str) -> None:
    """The notebook in the tab, with the user in this cell, as the server knows it."""
    tab.active[NOTEBOOK] = active
    await tab.open(NOTEBOOK, document)
    await until(lambda: any(NOTEBOOK in one.documents for one in extension.tabs._tabs))


async def told(api: Api, scripted: ScriptedServer, context: str, **more: Any) -> str:
    """What the model reads with a message."""
    scripted.add(text("Done."))
    body = {"content": "What is a?", **more}
    sent = await api.post(f"context/{context}/messages", body, status=202)
    assert (await api.ended(sent["job_id"]))["status"] == "completed"
    return last_words(scripted.requests[-1].body, "user")


@pytest.mark.usefixtures("connected", "a_patient_look")
async def test_the_model_knows_the_users_cell_and_its_variables(
    place: Place, extension: Any, tab: FakeTab, api: Api, scripted: ScriptedServer
) -> None:
    await place.run("a = [1, 2]\nfar_away = 1\napi_key = 'abc'")
    await opened(extension, saved(place.workspace.root / NOTEBOOK), tab, "c1")
    context = await api.new_context(notebook=NOTEBOOK, role="planner")
    said = await told(api, scripted, context)
    assert f"Notebook {NOTEBOOK}: 3 cells, python, open in the browser." in said
    assert "Cell 1 · c1 · code" in said.partition("the user's current cell:")[0].rpartition("\n")[2]
    assert "    print('from a cell')\n    a + 1" in said
    assert "    a: list · length 2" in said
    assert "far_away" not in said
    tab.documents[NOTEBOOK]["cells"][0]["source"] = "a = api_key"
    said = await told(api, scripted, context, cell_id="c0")
    assert "Since your last turn, someone else has edited c0." in said
    assert "the user's current cell:\n    a = api_key" in said
    assert "    api_key: str · [hidden]" in said
    assert "abc" not in said


@pytest.mark.usefixtures("connected")
@pytest.mark.slow
async def test_a_figure_that_code_draws_is_stored_and_shown_to_the_model(
    place: Place, api: Api, scripted: ScriptedServer
) -> None:
    context = await api.new_context(notebook=NOTEBOOK, role="actor")
    scripted.add(call("run_code", code=DRAW), text("A chart."))
    sent = await api.post(f"context/{context}/messages", {"content": "Draw."}, status=202)
    request = await api.first_request(context)
    await api.post(f"permissions/{request['id']}", {"decision": "allow", "scope": "once"})
    await api.ended(sent["job_id"])
    messages = (await api.get(f"context/{context}/messages"))["items"]
    (result,) = [one for one in messages if one["message_type"] == "tool_result"]
    assert "[image/png, 320×200, " in result["content"][0]["text"]
    picture = {"type": "image", "media_type": "image/png", "width": 320, "height": 200}
    assert result["content"][1] == {**picture, "data": PNG}
    shown = scripted.requests[-1].body["messages"][-1]["content"][-1]
    assert shown["image_url"]["url"] == f"data:image/png;base64,{PNG}"


async def test_the_pictures_of_a_cell_come_from_the_tab_or_from_the_file(
    extension: Any, jp_root_dir: Path, tab: FakeTab
) -> None:
    path = jp_root_dir / NOTEBOOK
    write_notebook(path)
    document = saved(path)
    output = {"output_type": "display_data", "metadata": {}, "data": {"image/png": PNG}}
    document["cells"][0]["outputs"] = [output]
    path.write_text(json.dumps(document))
    notebooks = extension.service.factory.tools.gate.notebooks
    context = ToolContext(Workspace(jp_root_dir), AgentRole.PLANNER, notebooks=notebooks)
    raw = {"path": NOTEBOOK, "cell_id": "c0"}
    closed = await default_tools().call("read_notebook", raw, context)
    assert [one.data for one in closed.images] == [PNG]
    document["cells"][0]["outputs"] = [output, output]
    await opened(extension, document, tab, "c0")
    open_ = await default_tools().call("read_notebook", raw, context)
    assert [one.data for one in open_.images] == [PNG, PNG]
    assert "outputs" in [one["op"] for one in tab.asked]
