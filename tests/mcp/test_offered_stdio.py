"""`jupyter cowork mcp`, the real process: rules decide where nobody can be asked."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.hosts.cli.command import INTERRUPTED
from cowork_jupyter.service.wiring import build_service

from .conftest import PATIENCE
from .offered import command, over_stdio, said
from .test_offered_http import CHANGE, HELLO

pytestmark = pytest.mark.asyncio


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's folders, with a workspace among them."""
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "a.txt").write_text("one\n")
    return tmp_path


async def test_it_reads_and_does_not_write(home: Path) -> None:
    async with over_stdio(home) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "read_file" in names
        assert not names & {"update_file", "execute_command"}
        assert "one" in said(await client.call_tool("read_file", {"path": "a.txt"}))
        refused = await client.call_tool("update_file", CHANGE)
        code = {"code": "open('a.txt', 'w').write('two')"}
        in_scratch = await client.call_tool("run_code", code)
        elsewhere = await client.call_tool("run_code", {**code, "where": "notebook"})
    assert refused.is_error
    assert elsewhere.is_error
    assert "read-only in scratch" in said(in_scratch)
    assert (home / "workspace" / "a.txt").read_text() == "one\n"


async def test_a_policy_decides_and_the_rest_is_denied(home: Path) -> None:
    policy = home / "policy.json"
    policy.write_text(json.dumps({"permissions": {"allow": ["update_file(a.txt)"]}}))
    (home / "workspace" / "b.txt").write_text("one\n")
    async with over_stdio(home, "--role", "actor", "--policy", str(policy)) as client:
        assert not (await client.call_tool("update_file", CHANGE)).is_error
        denied = await client.call_tool("update_file", {**CHANGE, "path": "b.txt"})
    assert denied.is_error
    assert "Nobody can be asked" in said(denied)
    assert (home / "workspace" / "a.txt").read_text() == "two\n"
    assert (home / "workspace" / "b.txt").read_text() == "one\n"

    # It is all on record, and can be taken back from elsewhere.
    settings = Settings(workspace=home / "workspace", data_dir=home / "DATA" / "cowork")
    service = build_service(settings)
    try:
        (context,) = service.conversations.page().items
        assert context.title == "MCP: visitor"
        (kept,) = [
            one for one in await service.checkpoints.listing(context.id) if one.data.get("tool")
        ]
        assert (await service.checkpoints.undo.rollback(kept.id)).restored == ["a.txt"]
    finally:
        await service.close()
    assert (home / "workspace" / "a.txt").read_text() == "one\n"


async def test_it_ends_when_it_is_told_although_its_stream_is_open(home: Path) -> None:
    given = command(home)
    process = await asyncio.create_subprocess_exec(
        given.command,
        *given.args,
        cwd=given.cwd,
        env=given.env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    try:
        async with asyncio.timeout(PATIENCE):
            process.stdin.write(json.dumps(HELLO).encode() + b"\n")
            answer = json.loads(await process.stdout.readline())
            assert answer["result"]["serverInfo"]["name"] == "cowork-jupyter"
            process.terminate()
            assert await process.wait() == INTERRUPTED
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
