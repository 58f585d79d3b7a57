"""Skills over HTTP: which there are, switching them, calling them with a slash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.hosts.server.extension import CoworkExtension
from tests.scripted import ScriptedServer, call, text
from tests.unit.parts.skills.conftest import write_skill

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")

OURS = ["data-cleaning", "joins", "model-evaluation", "notebook-tidy-up", "plotting", "time-series"]


@pytest.fixture
def workspace(jp_serverapp: Any) -> Path:
    (found,) = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]
    assert isinstance(found, CoworkExtension)
    return found.service.settings.workspace


async def prompt(api: Api) -> str:
    return str((await api.get("v1/system-prompts/actor/enhanced"))["prompt"])


async def sent(api: Api, context: str, words: str) -> dict[str, Any]:
    accepted = await api.post(f"context/{context}/messages", {"content": words}, status=202)
    await api.ended(accepted["job_id"])
    card: dict[str, Any] = await api.get(f"jobs/{accepted['job_id']}/card", whole="true")
    return card


async def test_the_skills_are_listed(api: Api) -> None:
    answer = await api.get("skills")
    assert (answer["next"], answer["problems"]) == (None, [])
    assert [one["name"] for one in answer["items"]] == OURS
    joins = answer["items"][1]
    assert joins.pop("files") == ["reference.md"]
    assert joins["path"].endswith("skills/shipped/joins")
    assert {key: joins[key] for key in joins if key not in ("path", "description")} == {
        "name": "joins",
        "source": "package",
        "trusted": True,
        "enabled": True,
        "allowed_tools": [],
        "compatibility": "",
        "license": "BSD-3-Clause",
        "last_used": None,
    }


async def test_a_skill_is_switched_off_and_on(api: Api) -> None:
    assert "- joins:" in await prompt(api)
    answer = await api.post("skills/joins", {"enabled": False})
    assert [one["name"] for one in answer["items"] if not one["enabled"]] == ["joins"]
    assert "- joins:" not in await prompt(api)
    assert (await api.get("skills"))["items"] == answer["items"]
    await api.post("skills/joins", {"enabled": True})
    assert "- joins:" in await prompt(api)


async def test_what_cannot_be_switched(api: Api) -> None:
    await api.refused("POST", "skills/nonsense", {"enabled": False}, status=404, code="no_skill")
    await api.refused("POST", "skills/joins", {}, status=422)
    await api.refused("POST", "skills/joins", {"enabled": True, "trusted": True}, status=422)


async def test_a_workspaces_skill_waits_for_trust(api: Api, workspace: Path) -> None:
    made = write_skill(
        workspace / ".claude" / "skills", "team", "Our way.", extra="allowed-tools: Bash(*)\n"
    )
    (made / "run.sh").write_text("echo 1\n")
    team = (await api.get("skills"))["items"][0]
    assert (team["name"], team["trusted"], team["path"]) == ("team", False, ".claude/skills/team")
    assert (team["allowed_tools"], team["files"]) == (["Bash(*)"], ["run.sh"])
    assert "Our way." not in await prompt(api)
    offered = await api.get("trust")
    (item,) = [one for one in offered["items"] if one["kind"] == "skill"]
    assert "allowed-tools: Bash(*)" in item["detail"]
    assert "run.sh (7 bytes, sha256 " in item["detail"]
    await api.post("trust", {"fingerprint": offered["fingerprint"], "trusted": True})
    assert "- team: Our way." in await prompt(api)
    check = {"role": "actor", "tool": "execute_command", "parameters": {"command": "bash run.sh"}}
    assert (await api.post("rules/check", check))["decision"] == "ask"
    (made / "run.sh").write_text("echo 2\n")
    assert "Our way." not in await prompt(api)


async def test_what_is_wrong_with_one_is_said(api: Api, workspace: Path) -> None:
    (workspace / ".agents" / "skills" / "bad").mkdir(parents=True)
    (workspace / ".agents" / "skills" / "bad" / "SKILL.md").write_text("x")
    (problem,) = (await api.get("skills"))["problems"]
    assert problem["code"] == "skill_skipped"


async def test_one_that_was_opened_says_when(api: Api, scripted: ScriptedServer) -> None:
    context = (await api.post("context", {}, status=201))["id"]
    scripted.add(call("read_skill", name="plotting"), text("Done."))
    card = await sent(api, context, "Draw it.")
    assert [one["name"] for one in card["state"]["guidance"]] == ["plotting"]
    used = {one["name"]: one["last_used"] for one in (await api.get("skills"))["items"]}
    assert used.pop("plotting").startswith("20")
    assert set(used.values()) == {None}


async def test_a_skill_is_called_with_a_slash(api: Api, scripted: ScriptedServer) -> None:
    context = (await api.post("context", {}, status=201))["id"]
    offered = await api.get(f"context/{context}/mentions", q="/joi")
    assert [(one["text"], one["kind"]) for one in offered["items"]] == [("/joins", "skill")]
    scripted.add(text("Done."))
    card = await sent(api, context, "/joins Add the cities.")
    assert [one["name"] for one in card["state"]["guidance"]] == ["joins"]
    last = scripted.requests[-1].body["messages"][-1]["content"]
    assert "The user asked for the skill 'joins'. Follow it:" in last
    assert last.endswith("Add the cities.")
    (said,) = [
        one
        for one in (await api.get(f"context/{context}/messages"))["items"]
        if one["role"] == "user"
    ]
    assert (said["content"][0]["text"], said["data"]["skill"]) == ("Add the cities.", "joins")
    await api.post("skills/joins", {"enabled": False})
    await api.refused(
        "POST",
        f"context/{context}/messages",
        {"content": "/joins Add more."},
        status=422,
        code="unknown_command",
    )
