"""Where nothing confines commands, as on macOS: each asks, and no answer outlives its call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from cowork_jupyter.agents.ask.pending_requests import AttendedRequests
from cowork_jupyter.agents.ask.user import Ruling
from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.policy.decision import UNCONFINED
from tests.scripted import call, text

from .house import House, code

pytestmark = pytest.mark.asyncio

LS = call("execute_command", command="ls")
ONLY_ONCE = ["once"]


@pytest_asyncio.fixture
async def bare(house: House) -> AsyncIterator[House]:
    """The house on a machine without a sandbox, with rules that allow everything."""
    await house.service.close()
    house.settings = replace(house.settings, sandbox="none")
    house.start()
    house.allow_everything()
    house.rule("allow", "execute_command(=ls)")
    yield house


async def test_rules_that_allow_everything_allow_no_command(bare: House) -> None:
    assert code(await bare.run("ls")) == "denied_by_user"
    (asked,) = bare.user.asked
    assert (asked.scopes, asked.why) == (ONLY_ONCE, [UNCONFINED])


async def test_an_approved_plan_allows_no_command(bare: House) -> None:
    step = {"tools_needed": ["execute_command", "execute_commands"]}
    await bare.execute(step, replies=[LS, text("Done.")])
    assert [asked.scopes for asked in bare.user.asked] == [ONLY_ONCE]


async def test_a_yes_is_for_one_call_and_cannot_be_made_to_last(bare: House) -> None:
    bare.asks_for_real()
    for _ in range(2):
        job_id = bare.begin(LS)
        request = await bare.pending()
        for scope in ("session", "workspace", "global"):
            lasting = Ruling.model_validate({"decision": "allow", "scope": scope})
            with pytest.raises(InvalidInput, match="only accepts once"):
                bare.service.requests.resolve_all([request.id], lasting)
        bare.decide(request.id, "allow")
        await bare.ended(job_id)
        assert bare.results()[-1]["ok"]


async def test_a_rule_that_denies_still_denies(bare: House) -> None:
    bare.rule("deny", "execute_command(ls)")
    assert code(await bare.run("ls")) == "denied"
    assert bare.user.asked == []


@pytest.mark.parametrize(
    ("rule", "runs"),
    [("execute_command(=ls)", True), ("execute_command(ls)", False), ("*", False)],
)
async def test_headless_only_a_policy_that_names_the_command_lets_it_run(
    bare: House, rule: str, runs: bool
) -> None:
    await bare.service.close()
    bare.start(interactive=False)
    bare.script.append(LS)
    policy: dict[str, Any] = {"permissions": {"allow": [rule]}}
    sent = bare.service.send_message(bare.context, "Go on.", policy=policy)
    assert sent.job_id
    await bare.ended(sent.job_id)
    result = bare.results()[-1]
    assert result["ok"] is runs
    if not runs:
        assert code(result) == "denied_headless"
        said = result["error"]["message"]
        assert UNCONFINED in said
        assert "a policy file that allows execute_command(=ls)" in said


async def test_a_policy_stands_in_for_somebody_who_is_away(bare: House) -> None:
    gate = bare.service.factory.tools.gate
    gate.approver = AttendedRequests(bare.service.requests, lambda: False)
    bare.script.append(LS)
    policy: dict[str, Any] = {"permissions": {"allow": ["execute_command(=ls)"]}}
    sent = bare.service.send_message(bare.context, "Go on.", policy=policy)
    await bare.ended(str(sent.job_id))
    assert bare.results()[-1]["ok"], "the kernel of a host that has shown no card yet"


async def test_a_policy_does_not_stand_in_for_somebody_who_is_there(bare: House) -> None:
    bare.script.append(LS)
    policy: dict[str, Any] = {"permissions": {"allow": ["execute_command(=ls)"]}}
    sent = bare.service.send_message(bare.context, "Go on.", policy=policy)
    assert sent.job_id
    await bare.ended(sent.job_id)
    assert [asked.scopes for asked in bare.user.asked] == [ONLY_ONCE]
