"""A client on the protocol's TypeScript SDK, of another implementation than our own SDK's."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.scripted import ScriptedServer, stall, text

from .editor import AGENT, agent_environment


def test_it_walks_a_session_through_its_life(
    model: ScriptedServer, home: Path, folder: Path
) -> None:
    model.add(text("Hello."), stall("Let me see"))
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("client.mjs")), str(folder), *AGENT],
        env=agent_environment(home, model.base_url),
        capture_output=True,
        check=False,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout)
    assert told["hello"]["agentCapabilities"]["sessionCapabilities"].keys() == {
        *("list", "resume", "close", "delete")
    }
    roles = [one["currentValue"] for one in told["chosen"]["configOptions"] if one["id"] == "role"]
    assert roles == ["planner"]
    assert told["turn"]["stopReason"] == "end_turn"
    assert told["cancelled"]["stopReason"] == "cancelled"
    (listed,) = told["listed"]["sessions"]
    assert (listed["sessionId"], listed["title"]) == (told["sessionId"], "Hello?")
    assert told["resumed"]["modes"]["currentModeId"] == "planner"
    assert told["left"]["sessions"] == []
    said = [one for one in told["updates"] if one["sessionUpdate"] == "agent_message_chunk"]
    assert all(one["messageId"] for one in said)
