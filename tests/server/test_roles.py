"""Roles that a workspace declares: over HTTP, and what becomes of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, call, text

from .api import Api

pytestmark = pytest.mark.usefixtures("connected")

STATISTICIAN = """
name = "statistician"
label = "Statistician"
description = "Tests hypotheses."
icon = "chart"
colour = "brown"
based_on = "designer"
permissions = ["read_files", "create_files"]
prompt = "You doubt every number."
"""


@pytest.fixture
def declared(jp_root_dir: Path) -> Path:
    file = jp_root_dir / ".cowork/roles/statistician.toml"
    file.parent.mkdir(parents=True)
    file.write_text(STATISTICIAN)
    return file


def rewrite(declared: Path, old: str, new: str) -> None:
    declared.write_text(STATISTICIAN.replace(old, new))


async def names(api: Api) -> list[str]:
    return [role["name"] for role in (await api.get("roles"))["items"]]


async def trust(api: Api, *, trusted: bool = True) -> None:
    shown = await api.get("trust")
    await api.post("trust", {"fingerprint": shown["fingerprint"], "trusted": trusted})


async def test_it_is_there_once_it_is_trusted_and_gone_when_not(api: Api, declared: Path) -> None:
    assert "statistician" not in await names(api)
    await api.refused("POST", "context", {"role": "statistician"}, status=422)
    (offer,) = (await api.get("trust"))["items"]
    assert (offer["kind"], offer["detail"]) == ("role", STATISTICIAN)
    await trust(api)
    shown = (await api.get("roles"))["items"][-1]
    assert (shown["name"], shown["label"]) == ("statistician", "Statistician")
    assert (shown["icon"], shown["colour"]) == ("chart", "brown")
    assert shown["permissions"] == ["read_files", "create_files"]
    assert "create_file" in shown["tools"]
    assert "update_file" not in shown["tools"]
    context = await api.new_context(role="statistician")
    assert (await api.get(f"context/{context}"))["role"] == "statistician"
    offered = (await api.get(f"context/{context}/mentions", q="/stat"))["items"]
    assert [one["text"] for one in offered] == ["/statistician"]
    prompt = (await api.get("v1/system-prompts/statistician/enhanced"))["prompt"]
    assert "You are operating in STATISTICIAN role. You doubt every number." in prompt
    await trust(api, trusted=False)
    assert "statistician" not in await names(api)
    change = {"role": "statistician"}
    error = await api.refused(
        "POST", f"context/{context}/role", change, status=422, code="unknown_role"
    )
    assert "there is no 'statistician'. Choose one of: planner," in error["message"]
    assert (await api.get(f"context/{context}"))["role"] == "statistician"
    await api.refused("GET", "v1/system-prompts/statistician/enhanced", status=404)


async def said(api: Api, context: str, **fields: Any) -> list[str | None]:
    """How the calls of one message ended."""
    body = {"content": "Go", **fields}
    sent = await api.post(f"context/{context}/messages", body, status=202)
    assert (await api.ended(sent["job_id"]))["status"] == "completed"
    messages = (await api.get(f"context/{context}/messages"))["items"]
    results = [
        one["data"]
        for one in messages
        if one["job_id"] == sent["job_id"] and one["message_type"] == "tool_result"
    ]
    return [one["error"] and one["error"]["code"] for one in results]


async def test_a_message_in_that_role_is_held_to_its_permissions(
    api: Api, scripted: ScriptedServer, declared: Path, jp_root_dir: Path
) -> None:
    (jp_root_dir / "a.txt").write_text("mine\n")
    await trust(api)
    for tool in ("create_file", "update_file", "execute_command"):
        await api.post("rules", {"effect": "allow", "rule": tool, "scope": "session"}, status=201)
    scripted.add(
        call("create_file", path="new.txt", content="new"),
        call("update_file", path="a.txt", content="theirs"),
        call("execute_command", command="touch b.txt"),
        text("Done."),
    )
    context = await api.new_context()
    ended = await said(api, context, role="statistician")
    assert ended == [None, "not_permitted", "not_permitted"]
    assert (jp_root_dir / "new.txt").read_text() == "new"
    assert (jp_root_dir / "a.txt").read_text() == "mine\n"
    assert not (jp_root_dir / "b.txt").exists()
    assert "You doubt every number." in str(scripted.requests[0].body)

    scripted.add(call("create_file", path="second.txt", content="new"), text("Done."))
    assert await said(api, context, content="/statistician again") == [None]


async def test_without_trust_a_stored_role_reads_and_says_so(
    api: Api, scripted: ScriptedServer, declared: Path, jp_root_dir: Path
) -> None:
    await trust(api)
    await api.post(
        "rules", {"effect": "allow", "rule": "create_file", "scope": "session"}, status=201
    )
    context = await api.new_context(role="statistician")
    rewrite(declared, "doubt", "believe")
    scripted.add(call("create_file", path="new.txt", content="new"), text("I may not."))
    assert await said(api, context) == ["not_permitted"]
    assert not (jp_root_dir / "new.txt").exists()
    assert "believe every number" not in str(scripted.requests[0].body)
    events = (await api.get(f"context/{context}/events", after=0))["events"]
    notices = [one["data"] for one in events if one["type"] == "notice"]
    assert "role_unknown" in [one.get("code") for one in notices]


async def test_a_card_says_how_its_role_looks(
    api: Api, scripted: ScriptedServer, declared: Path
) -> None:
    await trust(api)
    scripted.add(text("p = 0.04"))
    context = await api.new_context(role="statistician")
    body = {"content": "Is it?"}
    sent = await api.post(f"context/{context}/messages", body, status=202)
    await api.ended(sent["job_id"])
    answer = await api.get(f"jobs/{sent['job_id']}/card")
    (look,) = answer["card"]["roles"]
    assert (look["name"], look["icon"], look["colour"]) == ("statistician", "chart", "brown")
    assert answer["markdown"].startswith("**Statistician** · Is it?")


async def test_what_is_wrong_with_a_declaration_is_said(api: Api, declared: Path) -> None:
    rewrite(declared, '"create_files"', '"delete_files"')
    await trust(api)
    assert "statistician" not in await names(api)
    told = [one["message"] for one in (await api.get("health"))["problems"]]
    assert any("delete_files is more than the designer may have" in one for one in told)
