"""Roles that a folder brings along: what they claim, and what they keep when trust ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.roles.catalog import RoleCatalog
from tests.scripted import call, text

from .house import House, code

pytestmark = pytest.mark.asyncio

CREATE: dict[str, Any] = {"path": "loot.txt", "content": "x"}


def ship(house: House, name: str = "butler", *, trusted: bool = True, **claims: str) -> Path:
    """Let the workspace declare a role."""
    fields = {"label": '"Butler"', "description": '"Serves."', "prompt": '"Serve."'} | claims
    path = house.root / f".cowork/roles/{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f'name = "{name}"', *(f"{key} = {value}" for key, value in fields.items())]
    path.write_text("\n".join(lines))
    house.look()
    house.allow_everything()
    house.says_yes()
    if trusted:
        house.service.trust.accept(house.service.trust.fingerprint())
    return path


def role(house: House, name: str = "butler") -> AgentRole:
    return house.service.role_catalog.resolve(AgentRole(name))


@pytest.mark.parametrize(
    "claims",
    [
        {"based_on": '"planner"', "permissions": '["read_files", "create_files"]'},
        {"based_on": '"reviewer"', "permissions": '["create_files"]'},
        {"based_on": '"tester"', "commands_may_write": "true"},
        {"based_on": '"planner"', "delegates_to": '["actor"]'},
        {"based_on": '"butler"', "permissions": '["read_files", "create_files"]'},
        {"permissions": '["read_files", "create_files"]'},
    ],
)
async def test_a_declaration_that_claims_more(house: House, claims: dict[str, Any]) -> None:
    ship(house, **claims)
    assert house.service.role_catalog.named("butler") is None
    assert house.service.role_catalog.problems()
    result = await house.attempt("create_file", role(house), **CREATE)
    assert code(result) == "not_permitted"
    await house.run("touch loot.txt", role(house))


async def test_a_declaration_in_the_name_of_ours(house: House) -> None:
    ship(house, "planner", based_on='"actor"')
    result = await house.attempt("create_file", AgentRole.PLANNER, **CREATE)
    assert code(result) == "not_permitted"


async def test_a_declaration_that_nobody_trusts(house: House) -> None:
    ship(house, based_on='"actor"', trusted=False)
    assert code(await house.attempt("create_file", role(house), **CREATE)) == "not_permitted"


async def test_commands_of_a_role_that_may_not_write(house: House) -> None:
    ship(house, based_on='"actor"', permissions='["read_files", "execute_commands"]')
    for command in ("echo x > precious.txt", "touch loot.txt", "rm -rf private"):
        await house.run(command, role(house))


async def test_trust_that_ends_while_the_role_works(house: House) -> None:
    ship(house, based_on='"actor"')
    house.asks_for_real()
    house.rule("ask", "create_file")
    job = house.begin(call("create_file", **CREATE), text("Done."), role=role(house))
    request = await house.pending()
    house.service.trust.revoke()
    house.decide(request.id, "allow")
    await house.ended(job)
    assert code(house.results()[-1]) in ("denied", "not_permitted")


async def test_a_role_that_another_workspace_trusts(house: House) -> None:
    path = ship(house, based_on='"actor"', trusted=False)
    other = RoleCatalog(workspace=house.root, trusts=lambda _offer: True)
    assert path.exists()
    result = await house.attempt("create_file", other.chosen("butler"), **CREATE)
    assert code(result) == "not_permitted"
