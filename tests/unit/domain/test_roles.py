"""The table of roles in the contract, word by word."""

from __future__ import annotations

import pickle

import pytest

from cowork_jupyter.domain.roles import DEFAULT_ROLE, AgentRole, Permission

READ = {Permission.READ_FILES}


@pytest.mark.parametrize(
    ("role", "permissions"),
    [
        (AgentRole.PLANNER, READ),
        (AgentRole.ACTOR, set(Permission)),
        (AgentRole.COMMANDER, READ),
        (AgentRole.DESIGNER, READ | {Permission.CREATE_FILES}),
        (AgentRole.REVIEWER, READ),
        (AgentRole.TESTER, READ | {Permission.EXECUTE_COMMANDS}),
    ],
)
def test_a_role_holds_just_the_permissions_of_the_contract(
    role: AgentRole, permissions: set[Permission]
) -> None:
    assert role.spec.permissions == permissions


def test_only_the_commander_delegates_and_never_to_itself() -> None:
    delegating = {role for role in AgentRole for other in AgentRole if role.may_delegate_to(other)}
    assert delegating == {AgentRole.COMMANDER}
    assert not AgentRole.COMMANDER.may_delegate_to(AgentRole.COMMANDER)


def test_commands_of_the_tester_may_not_write() -> None:
    may_write = {role for role in AgentRole if role.spec.commands_may_write}
    assert may_write == {AgentRole.ACTOR}


def test_a_role_is_its_name_everywhere_it_is_stored_or_sent() -> None:
    assert AgentRole("planner") is AgentRole.PLANNER
    assert AgentRole.PLANNER.value == "planner"
    assert f"{AgentRole.PLANNER}" == "planner"
    assert pickle.loads(pickle.dumps(AgentRole.TESTER)) is AgentRole.TESTER


def test_the_looks_tell_the_roles_apart() -> None:
    looks = {(role.spec.icon, role.spec.colour) for role in AgentRole}
    assert len(looks) == len(AgentRole)
    assert (AgentRole.PLANNER.spec.colour, AgentRole.PLANNER.spec.icon) == ("blue", "search")
    assert (AgentRole.ACTOR.spec.colour, AgentRole.ACTOR.spec.icon) == ("green", "bolt")


def test_what_has_no_role_is_an_actor() -> None:
    assert DEFAULT_ROLE is AgentRole.ACTOR
