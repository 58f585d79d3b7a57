"""What messages point at and call, over HTTP."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import http_server
from tests.scripted import ScriptedServer, stall, text

from .api import PATIENCE, Api
from .test_callers import AsKernel
from .test_callers import as_kernel as as_kernel
from .test_callers import kernels as kernels

pytestmark = pytest.mark.usefixtures("connected")

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5Erk"
    "Jggg=="
)


def picture(data: bytes = PNG, media_type: str = "image/png") -> dict[str, str]:
    return {"media_type": media_type, "data": base64.b64encode(data).decode()}


async def offered(api: Api, address: str, q: str, **more: str) -> list[dict[str, Any]]:
    """What is offered, once it was found."""
    async with asyncio.timeout(PATIENCE):
        while True:
            answer = await api.get(address, q=q, **more)
            items: list[dict[str, Any]] = answer["items"]
            if not answer["more"]:
                return items


@pytest.fixture
def files(jp_root_dir: Path) -> Path:
    (jp_root_dir / "data").mkdir()
    (jp_root_dir / "data" / "regions.csv").write_text("region,units\nNorth,3\n")
    (jp_root_dir / "regions of sale.txt").write_text("North\n")
    (jp_root_dir / "northern region.md").write_text("# North\n")
    return jp_root_dir


@pytest.mark.usefixtures("files")
async def test_files_are_offered_with_the_best_first(api: Api) -> None:
    context = await api.new_context()
    found = await offered(api, f"context/{context}/mentions", "@reg")
    assert [one["text"] for one in found] == [
        '@"regions of sale.txt"',
        "@data/regions.csv",
        '@"northern region.md"',
    ]
    assert {one["kind"] for one in found} == {"file"}
    assert [one["text"] for one in await offered(api, "mentions", '@"regions o')] == [
        '@"regions of sale.txt"'
    ]
    [folder, file] = await offered(api, "mentions", "@data/")
    assert (folder["text"], folder["kind"]) == ("@data/", "folder")
    assert file["text"] == "@data/regions.csv"


async def test_roles_and_workflows_are_offered(api: Api) -> None:
    context = await api.new_context()
    address = f"context/{context}/mentions"
    assert [one["text"] for one in await offered(api, address, "/reviewe")] == ["/reviewer"]
    assert "/write_tests" in [one["text"] for one in await offered(api, address, "/tests")]
    assert (await api.get(address, q="plain"))["items"] == []
    await api.refused("GET", f"{address}?role=nobody&q=@a", status=422)
    await api.refused("GET", "context/nowhere/mentions?q=@a", status=404)


@pytest.mark.usefixtures("files")
async def test_a_draft_is_told_what_it_points_at(api: Api, scripted: ScriptedServer) -> None:
    context = await api.new_context()
    draft = {"content": "Compare @data/regions.csv with @data/region.csv, ann@example.org"}
    for address in (f"context/{context}/mentions", "mentions"):
        found = (await api.post(address, draft))["items"]
        assert [one["text"] for one in found] == ["@data/regions.csv", "@data/region.csv"]
        assert found[0]["kind"] == "file"
        assert found[0]["title"] == "1 row"
        assert found[0]["tokens"] > 5
        assert "Did you mean" in found[1]["problem"]
    assert scripted.requests == []


async def test_a_command_is_run_in_its_role(api: Api, scripted: ScriptedServer) -> None:
    scripted.add(text("All well."))
    context = await api.new_context()
    messages = f"context/{context}/messages"
    sent = await api.post(messages, {"content": "/reviewer Look"}, status=202)
    job = await api.ended(sent["job_id"])
    assert (job["role"], job["request"]) == ("reviewer", "Look")
    [said, *_] = (await api.get(messages))["items"]
    assert said["content"] == [{"type": "text", "text": "Look"}]


async def test_a_command_starts_a_workflow(api: Api, scripted: ScriptedServer) -> None:
    scripted.add(text("Done."))
    context = await api.new_context()
    body = {"content": "/write_tests module=sales.py"}
    sent = await api.post(f"context/{context}/messages", body, status=202)
    job = await api.ended(sent["job_id"])
    assert job["kind"] == "workflow"
    assert '"sales.py"' in job["request"]


async def test_code_cannot_give_the_agent_more_rights_with_a_command(
    api: Api, as_kernel: AsKernel, scripted: ScriptedServer
) -> None:
    kernel = await as_kernel()
    context = await kernel.new_context(role="planner")
    messages = f"context/{context}/messages"
    body = {"content": "/actor Delete it"}
    await kernel.refused("POST", messages, body, status=403, code="needs_person")
    assert scripted.requests == []
    scripted.add(text("Done."))
    sent = await api.post(messages, body, status=202)
    assert (await api.ended(sent["job_id"]))["role"] == "actor"


@pytest.mark.process
@pytest.mark.slow
async def test_an_mcp_server_has_resources_to_point_at_and_prompts_to_send(
    api: Api, scripted: ScriptedServer
) -> None:
    with http_server("http") as (address, _):
        await api.post(
            "mcp/servers", {"name": "sky", "config": {"type": "http", "url": address}}, status=201
        )
        await api.post("mcp/servers/sky/restart")
        context = await api.new_context(role="actor")
        offers = f"context/{context}/mentions"
        assert [one["text"] for one in await offered(api, offers, "@sky")] == [
            "@sky:weather://today"
        ]
        assert [one["text"] for one in await offered(api, offers, "/sky")] == ["/sky:report"]
        draft = {"content": "How is @sky:weather://today?"}
        [mention] = (await api.post(offers, draft))["items"]
        assert (mention["kind"], mention["problem"]) == ("resource", "")
        [mention] = (await api.post(offers, {**draft, "role": "planner"}))["items"]
        assert mention["problem"] == "Planner may not use the MCP server 'sky'."
        scripted.add(text("Sunny."))
        messages = f"context/{context}/messages"
        error = await api.refused(
            "POST", messages, {"content": "/sky:report"}, status=422, code="bad_parameters"
        )
        assert error["message"].endswith('needs city. Write it as: /sky:report city="…"')
        sent = await api.post(messages, {"content": "/sky:report Aachen"}, status=202)
        head = "[The prompt report of the MCP server sky:]\n\n"
        request = (await api.ended(sent["job_id"]))["request"]
        assert request == f"{head}Write about the weather in Aachen."


async def test_an_unknown_command_is_not_sent(api: Api, scripted: ScriptedServer) -> None:
    context = await api.new_context()
    body = {"content": "/reviewr Look"}
    error = await api.refused(
        "POST", f"context/{context}/messages", body, status=422, code="unknown_command"
    )
    assert "/reviewer" in error["message"]
    assert scripted.requests == []


async def test_a_command_does_not_wait_for_a_turn(api: Api, scripted: ScriptedServer) -> None:
    scripted.add(stall(after=0))
    context = await api.new_context()
    sent = await api.post(f"context/{context}/messages", {"content": "Count"}, status=202)
    body = {"content": "/reviewer Look"}
    await api.refused("POST", f"context/{context}/queue", body, status=409, code="command_queued")
    await api.post(f"jobs/{sent['job_id']}/cancel")


async def test_pictures_are_stored_and_named_to_a_model_that_does_not_see(
    api: Api, scripted: ScriptedServer
) -> None:
    scripted.add(text("I cannot see it."))
    context = await api.new_context()
    assert (await api.get("health"))["model"]["sees"] is False
    body = {"content": "What is this?", "pictures": [picture()]}
    sent = await api.post(f"context/{context}/messages", body, status=202)
    await api.ended(sent["job_id"])
    [said, *_] = (await api.get(f"context/{context}/messages"))["items"]
    assert said["content"][1] == {"type": "image", **picture(), "width": 1, "height": 1}
    asked = json.dumps(scripted.requests[-1].body, ensure_ascii=False)
    assert "[image 1×1 PNG, not shown to this model]" in asked
    assert picture()["data"] not in asked


async def test_what_is_no_picture_is_refused(api: Api, scripted: ScriptedServer) -> None:
    for pictures in [
        [picture(b"no picture at all")],
        [picture(PNG, "image/jpeg")],
        [picture(PNG, "image/svg+xml")],
        [{"media_type": "image/png", "data": "!!!"}],
        [picture()] * 5,
        [picture(PNG + b"\0" * 5_000_001)],
    ]:
        context = await api.new_context()
        body = {"content": "What is this?", "pictures": pictures}
        await api.refused("POST", f"context/{context}/messages", body, status=422)
        assert scripted.requests == []
