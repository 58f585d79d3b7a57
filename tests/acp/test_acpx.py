"""acpx, a headless client from npm that knows nothing of us."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, call, text

from .editor import AGENT, agent_environment
from .published import Conversation

ACPX = Path(__file__).parent / "node_modules/acpx/dist/cli.js"


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedServer]:
    """A server with two models."""
    with ScriptedServer(models="scripted other") as server:
        yield server


def acpx(home: Path, model: ScriptedServer, folder: Path, *words: str) -> Any:
    """What it prints, line by line."""
    done = subprocess.run(
        [
            *("node", str(ACPX), "--agent", shlex.join(AGENT), "--cwd", str(folder)),
            *("--approve-all", "--format", "json", "--timeout", "120", *words),
        ],
        env=agent_environment(home, model.base_url),
        capture_output=True,
        check=False,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_acpx_chooses_the_model_and_lists_the_session(
    model: ScriptedServer, home: Path, folder: Path
) -> None:
    model.add(text("Hello."))
    acpx(home, model, folder, "--model", "other", "exec", "Hello?")
    assert model.requests[-1].body["model"] == "other"
    (listed,) = acpx(home, model, folder, "sessions")
    assert listed["source"] == "agent"
    assert [(one["title"], one["cwd"]) for one in listed["sessions"]] == [("Hello?", str(folder))]


def test_acpx_drives_the_agent_and_every_frame_keeps_to_the_schema(
    model: ScriptedServer, home: Path, folder: Path
) -> None:
    model.add(
        call("read_file", path="a.py"),
        call("create_file", path="b.py", content="b = 1\n"),
        text("All done."),
    )
    conversation = Conversation()
    for frame in acpx(home, model, folder, "exec", "Make b.py."):
        asks = frame.get("method") in ("session/update", "session/request_permission")
        by_agent = asks if "method" in frame else "outcome" not in frame.get("result", {})
        conversation.add("agent" if by_agent else "client", frame)
    conversation.check()
    (session,) = {
        frame["result"]["sessionId"]
        for _, frame in conversation.frames
        if "sessionId" in frame.get("result", {})
    }
    told = conversation.updates(session)
    said = [one["content"]["text"] for one in told if one["sessionUpdate"] == "agent_message_chunk"]
    assert "".join(said).endswith("All done.")
    assert (folder / "b.py").read_text() == "b = 1\n"
