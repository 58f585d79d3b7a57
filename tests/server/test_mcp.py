"""MCP servers over HTTP: seen, added, stopped and read by the user, with nothing secret in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.conftest import odd

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")


async def servers(api: Api) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in (await api.get("mcp/servers"))["items"]}


async def test_a_server_is_added_started_seen_and_removed(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ODD_KEY", "not-for-the-panel")
    assert await servers(api) == {}
    config = odd(env={"A": "${ODD_KEY}", "B": "typed-secret"}, headers={"X": "y"})
    new = {"name": "odd", "config": config}
    added = await api.post("mcp/servers", new, status=201)
    assert (added["state"], added["source"], added["kind"]) == ("idle", "user", "stdio")
    assert added["config"]["env"] == {"A": "${ODD_KEY}", "B": "•••"}

    ready = await api.post("mcp/servers/odd/restart")
    assert ready["state"] == "ready"
    tools = {one["name"]: one for one in ready["tools"]}
    assert tools["look"]["hints"] == {"read-only": True, "destructive": False}
    assert tools["look"]["permissions"] == ["execute_commands"]
    assert tools["echo"]["tool"] == "mcp__odd__echo"
    assert tools["echo"]["pinned"] == "new"
    roles = {one["name"]: one["tools"] for one in (await api.get("roles"))["items"]}
    assert "mcp__odd__echo" in roles["actor"]
    assert "mcp__odd__echo" not in roles["planner"]
    asked = {"role": "actor", "tool": "mcp__odd__echo", "parameters": {"text": "x"}}
    assert (await api.post("rules/check", asked))["decision"] == "ask"

    off = await api.call("PUT", "mcp/servers/odd", {"enabled": False})
    assert (off["state"], off["enabled"]) == ("unused", False)
    assert (await api.call("PUT", "mcp/servers/odd", {"enabled": True}))["state"] == "idle"
    assert "secret" not in json.dumps(await servers(api))
    await api.delete("mcp/servers/odd")
    assert await servers(api) == {}


async def test_what_makes_no_sense_is_refused_with_the_reason(api: Api) -> None:
    new = {"name": "x", "config": {"command": "a", "url": "http://b"}}
    error = await api.refused("POST", "mcp/servers", new, status=422, code="invalid_server")
    assert error["message"] == "'x': it needs either a 'command' to start or a 'url' to call."
    broken = {"name": "gone", "config": {"command": "no-such-program"}}
    await api.post("mcp/servers", broken, status=201)
    error = await api.refused("POST", "mcp/servers/gone/restart", status=503, code="mcp_server")
    assert "the program 'no-such-program' is not installed" in error["message"]
    assert (await servers(api))["gone"]["state"] == "failed"
    for method, address in (
        ("DELETE", "mcp/servers/other"),
        ("POST", "mcp/servers/other/restart"),
        ("GET", "mcp/servers/other/resources"),
        ("GET", "mcp/servers/other/prompts"),
    ):
        await api.refused(method, address, status=404)


async def test_a_server_of_the_folder_does_nothing_before_it_is_trusted(
    api: Api, jp_root_dir: Path
) -> None:
    shipped = jp_root_dir / ".cowork" / "settings.json"
    shipped.parent.mkdir()
    shipped.write_text(json.dumps({"mcpServers": {"theirs": odd()}}))
    told = (await servers(api))["theirs"]
    assert (told["state"], told["source"]) == ("unused", "workspace")
    assert told["why"] == "it came with this folder and is not trusted"
    await api.refused("POST", "mcp/servers/theirs/restart", status=404)
    seen = await api.get("trust")
    await api.post("trust", {"fingerprint": seen["fingerprint"], "trusted": True})
    assert (await api.post("mcp/servers/theirs/restart"))["state"] == "ready"
    await api.refused("DELETE", "mcp/servers/theirs", status=409, code="not_yours")
    off = await api.call("PUT", "mcp/servers/theirs", {"enabled": False})
    assert off["state"] == "unused"
    assert json.loads(shipped.read_text()) == {"mcpServers": {"theirs": odd()}}, "left as it was"
