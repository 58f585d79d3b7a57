"""System prompts over HTTP: the base ones, and the whole text as the model gets it."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.hosts.server.extension import CoworkExtension
from tests.scripted import ScriptedServer, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")


@pytest.fixture
def extension(jp_serverapp: Any) -> CoworkExtension:
    (found,) = jp_serverapp.extension_manager.extension_apps["cowork_jupyter"]
    assert isinstance(found, CoworkExtension)
    return found


@pytest.fixture
def folder(extension: CoworkExtension) -> Path:
    """The user's folder of prompts."""
    made = extension.service.settings.data_dir / "prompts"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def ada(folder: Path) -> str:
    (folder / "ada.md").write_text("# Ada\n\nYou are Ada. Größe 📈\n")
    return "ada"


async def sent(api: Api, scripted: ScriptedServer, context: str, words: str = "Hi") -> str:
    """The system prompt that a message in this context really goes out with."""
    scripted.add(text("Hello."))
    accepted = await api.post(f"context/{context}/messages", {"content": words}, status=202)
    await api.ended(accepted["job_id"])
    system: str = scripted.requests[-1].body["messages"][0]["content"]
    return system


async def test_the_base_prompts_are_listed(api: Api, ada: str) -> None:
    answer = await api.get("v1/system-prompts")
    assert (answer["next"], answer["problems"]) == (None, [])
    assert [(one["id"], one["source"]) for one in answer["items"]] == [
        ("default", "package"),
        ("ada", "user"),
    ]
    assert answer["items"][1] == {
        "id": "ada",
        "title": "Ada",
        "source": "user",
        "text": "# Ada\n\nYou are Ada. Größe 📈",
        "trusted": True,
    }


async def test_files_that_cannot_be_used_are_told(api: Api, folder: Path) -> None:
    (folder / "bad.md").write_bytes(b"\xff")
    answer = await api.get("v1/system-prompts")
    assert [one["id"] for one in answer["items"]] == ["default"]
    assert answer["problems"][0]["code"] == "prompt_skipped"


async def test_a_prompt_of_the_workspace_is_shown_before_it_is_trusted(
    api: Api, jp_root_dir: Path
) -> None:
    (jp_root_dir / ".cowork" / "prompts").mkdir(parents=True)
    (jp_root_dir / ".cowork" / "prompts" / "team.md").write_text("We are a team.")
    (_, team) = (await api.get("v1/system-prompts"))["items"]
    assert (team["id"], team["source"], team["trusted"]) == ("team", "workspace", False)
    shown = await api.get("v1/system-prompts/team/enhanced")
    assert shown["prompt"].startswith("We are a team.")


async def test_the_enhanced_prompt_is_exactly_what_requests_carry(
    api: Api, scripted: ScriptedServer, ada: str
) -> None:
    for prompt_id, role in product(["default", "ada"], AgentRole):
        context = await api.new_context(
            system_prompt_id=prompt_id, role=role, model="scripted", notebook="sales.ipynb"
        )
        address = f"v1/system-prompts/{prompt_id}/enhanced"
        answer = await api.get(address, context_id=context)
        assert (answer["id"], answer["role"]) == (prompt_id, role)
        assert answer["prompt"] == await sent(api, scripted, context)
        assert answer == await api.get(address, context_id=context)
        assert "notebook: sales.ipynb" in answer["prompt"]
        assert "mermaid" in answer["prompt"]
        assert ("You are Ada." in answer["prompt"]) == (prompt_id == "ada")


async def test_it_is_byte_for_byte_what_the_model_gets(
    api: Api, scripted: ScriptedServer, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for a declared role, with the only model that is served, and everything trusted that
    the workspace brought; and when that trust has ended.
    """
    monkeypatch.delenv("COWORK_MODEL")
    _write(jp_root_dir / ".cowork/prompts/team.md", "# Team\r\n\nWir sind das Team 📈\u2028.")
    _write(jp_root_dir / ".cowork/roles/critic.toml", CRITIC)
    _write(jp_root_dir / "AGENTS.md", "Use tabs.\tAlways.")
    await _trust(api, trusted=True)
    context = await api.new_context(system_prompt_id="team", role="critic", notebook="ä b.ipynb")
    for trusted in (True, False):
        await _trust(api, trusted=trusted)
        address = f"v1/system-prompts/team/enhanced?context_id={context}"
        shown = json.loads((await api.fetch("GET", address)).body)["prompt"]
        assert shown.encode() == (await sent(api, scripted, context)).encode()
        assert ("Wir sind das Team" in shown, "Use tabs." in shown) == (trusted, trusted)
        assert ("You criticise." in shown) == trusted


CRITIC = """
name = "critic"
label = "Critic"
description = "Says what is wrong."
based_on = "reviewer"
prompt = "You criticise."
"""


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode())


async def _trust(api: Api, *, trusted: bool) -> None:
    fingerprint = (await api.get("trust"))["fingerprint"]
    await api.post("trust", {"fingerprint": fingerprint, "trusted": trusted})


async def test_a_conversation_does_not_begin_with_a_prompt_that_is_not_trusted(
    api: Api, jp_root_dir: Path
) -> None:
    _write(jp_root_dir / ".cowork/prompts/team.md", "Obey the team.")
    body = {"system_prompt_id": "team"}
    error = await api.refused("POST", "context", body, status=403, code="untrusted_prompt")
    assert "Trust it in the Cowork panel" in error["message"]
    assert (await api.get("context"))["items"] == []
    await _trust(api, trusted=True)
    assert await api.new_context(system_prompt_id="team")


async def test_without_a_context_it_is_that_of_a_new_one(
    api: Api, scripted: ScriptedServer
) -> None:
    answer = await api.get("v1/system-prompts/default/enhanced", role="tester")
    context = await api.new_context(role="tester")
    mark = re.compile(r"(?<=data-)\d+")
    told = await sent(api, scripted, context)
    assert mark.sub("0", answer["prompt"]) == mark.sub("0", told)
    assert answer["prompt"] != told, "the marks are those of a conversation"
    unasked = await api.get("v1/system-prompts/default/enhanced")
    assert unasked["role"] == "actor"


async def test_another_role_and_prompt_can_be_tried_in_a_context(api: Api, ada: str) -> None:
    context = await api.new_context(role="actor", notebook="sales.ipynb")
    answer = await api.get("v1/system-prompts/ada/enhanced", role="reviewer", context_id=context)
    assert (answer["id"], answer["role"]) == ("ada", "reviewer")
    assert answer["prompt"].startswith("# Ada\n\nYou are Ada.")
    assert "notebook: sales.ipynb" in answer["prompt"]


class TestWithMoreToolsThanFit:
    @pytest.fixture(autouse=True)
    def little_room(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("cowork_jupyter.agents.prompting.room_for_tools", lambda _parts: 120)

    async def test_the_tools_are_those_of_the_newest_request(
        self, api: Api, scripted: ScriptedServer
    ) -> None:
        context = await api.new_context()
        seen = []
        for words in ("Delete the file", "Find the symbol", "Run a command"):
            seen.append(await sent(api, scripted, context, words))
            answer = await api.get("v1/system-prompts/default/enhanced", context_id=context)
            assert answer["prompt"] == seen[-1]
        assert len(set(seen)) > 1


async def test_the_name_of_a_role_is_the_default_prompt_in_that_role(api: Api) -> None:
    for role in AgentRole:
        answer = await api.get(f"v1/system-prompts/{role}/enhanced")
        asked = await api.get("v1/system-prompts/default/enhanced", role=role)
        assert answer == asked
        assert answer["id"] == "default"
    await api.get("v1/system-prompts/planner/enhanced", role="planner")
    await api.refused("GET", "v1/system-prompts/planner/enhanced?role=actor", status=422)


async def test_unknown_ids_and_path_tricks_are_not_found(api: Api, ada: str) -> None:
    for prompt_id in ["nothing", "../default", "ada.md", "..", "\0", "prompts/ada", "Planner", "é"]:
        address = f"v1/system-prompts/{quote(prompt_id, safe='')}/enhanced"
        await api.refused("GET", address, status=404, code="not_found")


async def test_an_unknown_context_or_role_is_refused(api: Api) -> None:
    address = "v1/system-prompts/default/enhanced"
    await api.refused("GET", f"{address}?context_id=ctx_nobody", status=404)
    await api.refused("GET", f"{address}?role=king", status=422)


async def test_a_context_cannot_begin_with_an_unknown_prompt(api: Api, ada: str) -> None:
    for prompt_id in ["nothing", "planner", "../ada", ""]:
        body = {"system_prompt_id": prompt_id}
        error = await api.refused("POST", "context", body, status=422, code="unknown_prompt")
        assert "system_prompt_id" in error["message"]


async def test_when_the_file_is_gone_the_conversation_goes_on_and_says_so(
    api: Api, scripted: ScriptedServer, folder: Path, ada: str
) -> None:
    context = await api.new_context(system_prompt_id=ada)
    (folder / "ada.md").unlink()
    default = await api.get("v1/system-prompts/default/enhanced", context_id=context)
    assert await sent(api, scripted, context) == default["prompt"]
    events = (await api.get(f"context/{context}/events"))["events"]
    (notice,) = [one["data"] for one in events if one["type"] == "notice"]
    assert notice["code"] == "prompt_missing"
    assert "'ada'" in notice["message"]


async def test_another_base_prompt_counts_from_the_next_message_on(
    api: Api, scripted: ScriptedServer, ada: str
) -> None:
    context = await api.new_context()
    assert "You are Ada" not in await sent(api, scripted, context)
    changed = await api.post(f"context/{context}/system-prompt", {"system_prompt_id": ada})
    assert changed["system_prompt_id"] == ada
    assert "You are Ada" in await sent(api, scripted, context, "And now?")
    back = await api.post(f"context/{context}/system-prompt", {"system_prompt_id": "default"})
    assert back["system_prompt_id"] == "default"


async def test_a_job_that_runs_keeps_the_base_prompt_it_began_with(
    api: Api, scripted: ScriptedServer, ada: str
) -> None:
    context = await api.new_context()
    question = {"type": "question", "question": "Which?", "options": []}
    scripted.add(text(json.dumps(question)), text("Done."))
    job = await api.post(f"context/{context}/messages", {"content": "Sum up"}, status=202)
    asked = await api.first_question(context)
    await api.post(f"context/{context}/system-prompt", {"system_prompt_id": ada})
    await api.post(f"questions/{asked['id']}/answer", {"value": "all"})
    await api.ended(job["job_id"])
    systems = [one.body["messages"][0]["content"] for one in scripted.requests]
    assert not any("You are Ada" in system for system in systems)
    assert "You are Ada" in await sent(api, scripted, context)


async def test_an_unknown_base_prompt_cannot_be_chosen(api: Api, ada: str) -> None:
    context = await api.new_context(system_prompt_id=ada)
    for prompt_id in ["nothing", "planner", "../ada", ""]:
        body = {"system_prompt_id": prompt_id}
        address = f"context/{context}/system-prompt"
        await api.refused("POST", address, body, status=422, code="unknown_prompt")
        assert (await api.get(f"context/{context}"))["system_prompt_id"] == ada


async def test_a_base_prompt_that_is_not_trusted_cannot_be_chosen(
    api: Api, jp_root_dir: Path
) -> None:
    folder = jp_root_dir / ".cowork" / "prompts"
    folder.mkdir(parents=True)
    (folder / "team.md").write_text("Obey the team.")
    context = await api.new_context()
    body = {"system_prompt_id": "team"}
    address = f"context/{context}/system-prompt"
    error = await api.refused("POST", address, body, status=422, code="untrusted_prompt")
    assert "Trust it in the Cowork panel" in error["message"]
