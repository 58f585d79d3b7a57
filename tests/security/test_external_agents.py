"""Ways out of the sandbox for an agent of somebody else, which has places of its own at home.

That nothing outside changed is checked after each test, by the fixture.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from cowork_jupyter.parts.external_agents.process import AgentProcess, StderrTail, start_agent
from cowork_jupyter.parts.mcp.config import ServerEntry
from cowork_jupyter.parts.mcp.secrets import resolve
from cowork_jupyter.workspace import Workspace

from .cage import SECRET, Cage, becomes, running_with
from .conftest import SECRETS

pytestmark = pytest.mark.asyncio


async def said(cage: Cage, script: str, *state: Path, may_write: bool = True) -> str:
    """What an agent says of itself that runs this script, and ends when its input does."""
    full = f"{{ {script}\n}} >&2; echo '{{\"id\": 1}}'; cat > /dev/null"
    command = shutil.which("bash") or "/bin/sh"
    agent = resolve(ServerEntry(command=command, args=["-c", full]), os.environ, str(cage.root))
    own = frozenset(map(str, state))
    made = AgentProcess(agent, Workspace(cage.root), cage.sandbox, may_write, own)
    last_words = StderrTail()
    async with start_agent(made, last_words) as lines:
        assert await lines.receive() == {"id": 1}
        await lines.send({"id": 2})
    return last_words.text


async def test_it_changes_what_is_its_own_and_nothing_beside_it(cage: Cage) -> None:
    own = cage.home / ".agent"
    script = f"echo x > {own}/session; echo x > {cage.home}/new; echo x > {cage.outside}/new"
    await said(cage, f"{script}; echo x > made; echo x > {cage.outside}/precious", own)
    assert (own / "session").read_text() == "x\n"
    assert (cage.root / "made").exists()
    assert not (cage.home / "new").exists()


async def test_it_reads_its_own_login_and_no_other(cage: Cage) -> None:
    own = cage.home / ".codex"
    own.mkdir()
    (own / "auth.json").write_text("its own")
    others = " ".join(f"{cage.home}/{name}" for name in SECRETS)
    told = await said(cage, f"cat {own}/auth.json {others} {cage.base}/data/cowork.sqlite", own)
    assert "its own" in told
    assert SECRET not in told


async def test_secrets_and_start_up_files_inside_its_own_stay_closed(cage: Cage) -> None:
    own = cage.home / ".config"
    script = f"cat {own}/gcloud/key.json; mkdir -p {own}/autostart; echo x > {own}/autostart/a"
    told = await said(cage, f"mkdir {own}/agent; {script}", own)
    assert SECRET not in told
    assert not (own / "autostart").exists()


async def test_a_workspace_inside_its_own_stays_read_only_for_who_only_reads(cage: Cage) -> None:
    (cage.root / "a.txt").write_text("as it was")
    script = f"echo x > {cage.root}/a.txt; echo x > {cage.root}/b.txt; rm a.txt"
    await said(cage, script, cage.base / "ws", may_write=False)
    assert {path.name: path.read_text() for path in cage.root.iterdir()} == {"a.txt": "as it was"}


async def test_what_it_left_running_ends_with_it(cage: Cage) -> None:
    mark = f"{cage.base}/left-behind"
    await said(cage, f"(setsid sleep 600 {json.dumps(mark)} &) ; sh -c 'sleep 601 # {mark}' &")
    assert await becomes(lambda: not running_with(mark))
