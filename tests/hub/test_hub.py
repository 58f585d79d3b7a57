"""JupyterHub: what is each user's own, and what only an administrator decides."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

from tests.scripted import ScriptedServer, call, text
from tests.scripted.replies import Scripted
from tests.unit.hosts.cli.terminals import PROGRAM

from .conftest import ADMINISTRATOR, key_of
from .hub import Hub, User, administrators_settings, wait_until

SPENT = {"prompt_tokens": 600, "completion_tokens": 400, "total_tokens": 1000}
COST = (600 * 100 + 400 * 1000) / 1_000_000


def answer(words: str = "Done.") -> Scripted:
    return text(words, usage=SPENT)


def test_keys_and_rules_are_each_users_own(alice: User, bob: User, model: ScriptedServer) -> None:
    for user in (alice, bob):
        model.add(answer())
        job = user.ended(user.say(user.new_context(), "Hello"))
        assert job["status"] == "completed", job
        assert model.requests[-1].headers["authorization"] == f"Bearer {key_of(user.name)}"
    rule = {"effect": "deny", "rule": "read_file(secret.txt)", "scope": "global"}
    alice.call("POST", "rules", rule, 201)
    assert "read_file(secret.txt)" in [one["rule"] for one in rules(alice)]
    assert "read_file(secret.txt)" not in [one["rule"] for one in rules(bob)]
    answered = bob.client.get(str(alice.client.base_url) + "rules")
    assert answered.status_code == 403


def rules(user: User) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = user.call("GET", "rules")["items"]
    return found


def test_what_the_administrator_denies_no_user_can_lift(alice: User) -> None:
    theirs = [one for one in rules(alice) if one["scope"] == "admin"]
    assert {(one["effect"], one["rule"]) for one in theirs} == {
        ("deny", "delete_file"),
        ("ask", "create_file"),
    }
    for one in theirs:
        refused = alice.refused("DELETE", f"rules/{one['id']}")
        assert refused["code"] == "administrators_rule"
    new = {"effect": "allow", "rule": "delete_file", "scope": "admin"}
    assert alice.refused("POST", "rules", new)["code"] == "administrators_rule"
    for scope in ("session", "workspace", "global"):
        for rule in ("delete_file", "create_file", "*"):
            mine = {"effect": "allow", "rule": rule, "scope": scope}
            alice.call("POST", "rules", mine, 201)
    for tool, decision in (("delete_file", "deny"), ("create_file", "ask")):
        parameters = {"path": "a.txt", **({"content": ""} if tool == "create_file" else {})}
        asked = {"role": "actor", "tool": tool, "parameters": parameters}
        decided = alice.call("POST", "rules/check", asked)
        assert decided["decision"] == decision
        assert "(admin)" in decided["because"][0]


def test_only_models_that_are_allowed_can_be_used(alice: User, model: ScriptedServer) -> None:
    other = {"base_url": model.base_url, "model": "other", "api_key": "x"}
    refused = alice.refused("PUT", "models/connection", other)
    assert refused["message"] == (
        "Your administrator does not allow the model 'other'. Allowed are: scripted, gpt-5*."
    )
    assert [one["name"] for one in alice.call("GET", "models")["items"]] == ["scripted"]
    message = {"content": "Hello", "model": "other"}
    context = alice.new_context()
    assert alice.refused("POST", f"context/{context}/messages", message)["code"] == (
        "model_not_allowed"
    )
    past_us = {"model": "other", "messages": []}
    assert alice.client.post("v1/chat/completions", json=past_us).status_code == 403


def test_a_day_has_an_end_that_deleting_and_restarting_do_not_move(
    hub: Hub, alice: User, bob: User, model: ScriptedServer
) -> None:
    administrators_settings(**ADMINISTRATOR, limits={"tokens_per_day": 1000, "money_per_day": 90})
    model.add(answer())
    context = alice.new_context()
    job = alice.ended(alice.say(context, "Hello"))
    assert job["usage"]["cost"] == COST  # by the administrator's prices
    hello = {"content": "Hello"}
    refused = alice.refused("POST", f"context/{context}/messages", hello)
    assert refused["code"] == "day_limit"
    assert "Your administrator's limit of 1,000 tokens per day is reached" in refused["message"]
    assert refused["details"]["resets_at"].endswith("T00:00:00+00:00")
    alice.call("DELETE", f"context/{context}", status=204)
    hub.stop("alice")
    hub.start("alice")
    again = alice.new_context()
    connection = {"base_url": model.base_url, "model": "scripted", "api_key": key_of("alice")}
    alice.call("PUT", "models/connection", connection)
    assert alice.refused("POST", f"context/{again}/messages", hello)["code"] == "day_limit"
    model.add(answer())
    assert bob.ended(bob.say(bob.new_context(), "Hello"))["status"] == "completed"
    administrators_settings(**ADMINISTRATOR, limits={"tokens_per_day": 1_000_000})
    model.add(answer())
    assert alice.ended(alice.say(again, "Hello"))["status"] == "completed"


def test_an_audit_tells_what_was_done_and_no_word_of_it(bob: User, model: ScriptedServer) -> None:
    planted = "xylophone"
    (bob.home / "notes.txt").write_text(f"{planted} in a file\n")
    write = call("create_file", path=f"{planted}.txt", content=planted)
    model.add(call("read_file", path="notes.txt"), write, answer(f"The {planted} is there."))
    context = bob.new_context()
    job_id = bob.say(context, f"Read about the {planted}")
    request = wait_until(
        lambda: bob.call("GET", f"context/{context}/permissions")["items"], "nobody is asked"
    )[0]
    bob.call("POST", f"permissions/{request['id']}", {"decision": "allow"})
    assert bob.ended(job_id)["status"] == "completed"
    told = audit(bob, "--user", "bob", "--since", "2020-01-01")
    assert planted not in told
    assert planted not in audit(bob, json=False)
    job = next(one for one in map(json.loads, told.splitlines()) if one["id"] == job_id)
    assert [(one["tool"], one["verdict"]) for one in job["tools"]] == [
        ("read_file", "allowed"),
        ("create_file", "approved"),
    ]
    (approval,) = job["approvals"]
    assert (approval["id"], approval["status"], approval["by"]) == (request["id"], "allowed", "bob")
    assert job["checkpoints"]
    assert job["total_tokens"] > 0
    assert job["cost"] > 0
    assert audit(bob, "--until", "2020-01-01") == ""
    assert audit(bob, "--user", "alice") == ""


def audit(user: User, *options: str, json: bool = True) -> str:
    done = subprocess.run(
        [PROGRAM, "audit", *options, *(["--json"] if json else [])],
        env={"PATH": os.environ["PATH"], "HOME": str(user.home)},
        cwd=user.home,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_who_culls_idle_servers_leaves_one_whose_agent_works(
    hub: Hub, alice: User, bob: User, model: ScriptedServer
) -> None:
    model.add(text("One. Two. Three.", stall_after=2))
    context = alice.new_context()
    job_id = alice.say(context, "Think for long")
    bob.call("GET", "health")  # the last that happens: without her job, alice would go first
    with hub.culler(seconds=30):
        wait_until(lambda: not hub.has_server("bob"), "nobody culls")
        assert hub.is_running("alice")
    assert alice.call("GET", f"jobs/{job_id}")["status"] == "running"

    hub.stop("alice")
    hub.start("alice")
    job = alice.call("GET", f"jobs/{job_id}")
    assert job["status"] == "interrupted"
    assert job["error"] == "Cowork stopped before the job ended. You can resume it."
    card = alice.call("GET", f"jobs/{job_id}/card")
    assert job["error"] in json.dumps(card)
    model.add(answer())
    alice.call("POST", f"jobs/{job_id}/resume", {}, 202)
    assert alice.ended(job_id)["status"] == "completed"
