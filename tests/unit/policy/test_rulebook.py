"""Where rules are kept, and which of them count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import Conflict, InvalidInput, NotFound
from cowork_jupyter.policy.rulebook import RuleBook, settings_offers
from cowork_jupyter.policy.rules import WRITABLE_SCOPES, Effect, Scope
from cowork_jupyter.policy.trust import Trust
from cowork_jupyter.service.parts import rule_names

ALLOW, ASK, DENY = Effect.ALLOW, Effect.ASK, Effect.DENY


class House:
    """A workspace, a user's configuration and the book of rules over both."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.shipped = self.workspace / ".cowork" / "settings.json"
        self.own = folder / "config" / "settings.json"
        self.data = folder / "data"
        self.open()

    def open(self) -> RuleBook:
        """As another start of the program would."""
        self.trust = Trust(self.data / "trust.json", self.workspace)
        self.trust.add_finder(lambda: settings_offers(self.workspace))
        self.book = RuleBook(self.workspace, self.own, self.trust, rule_names)
        return self.book

    def ship(self, **permissions: list[str]) -> None:
        """Let the folder bring rules along."""
        self.shipped.parent.mkdir(exist_ok=True)
        self.shipped.write_text(json.dumps({"permissions": permissions, "mcpServers": {"x": {}}}))

    def counting(self) -> list[str]:
        return [f"{one.effect} {one.text}" for one in self.book.for_job(None) if one.active]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.mark.parametrize("scope", WRITABLE_SCOPES)
def test_a_rule_can_be_added_found_and_taken_back(house: House, scope: Scope) -> None:
    rule = house.book.add(DENY, "read_file(x)", scope)
    assert [one.id for one in house.book.all()] == [rule.id]
    house.book.remove(rule.id)
    assert house.book.all() == []
    with pytest.raises(NotFound):
        house.book.remove(rule.id)


def test_session_rules_end_with_the_program(house: House) -> None:
    house.book.add(ALLOW, "update_file(a)", Scope.SESSION)
    house.book.add(ALLOW, "update_file(b)", Scope.WORKSPACE)
    house.book.add(DENY, "update_file(c)", Scope.GLOBAL)
    house.open()
    assert house.counting() == ["allow update_file(b)", "deny update_file(c)"]


def test_a_session_rule_of_one_conversation_is_not_for_others(house: House) -> None:
    house.book.add(ALLOW, "update_file(a)", Scope.SESSION, "ctx_1")
    assert house.book.for_job("ctx_1")
    assert not house.book.for_job("ctx_2")


def test_a_policy_counts_for_its_job_only(house: House) -> None:
    rules = house.book.read_policy({"permissions": {"allow": ["update_file"]}})
    house.book.set_policy("job_1", rules)
    assert house.book.for_job("c", "job_1")
    assert not house.book.for_job("c", "job_2")


@pytest.mark.parametrize(
    "policy", [{"permissions": []}, {"permissions": {"maybe": []}}, {"permissions": {"allow": [1]}}]
)
def test_a_policy_that_makes_no_sense_is_refused(house: House, policy: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        house.book.read_policy(policy)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("excute_command", "There is no tool 'excute_command'. Did you mean 'execute_command'?"),
        ("excute_command(git push)", "Did you mean 'execute_command'?"),
        ("Read_File", "Did you mean 'read_file'?"),
        ("edit_sell*", "Did you mean 'edit_cell'?"),
        ("Bash(ls)", "There is no tool 'Bash'. Choose one of: create_file, "),
    ],
)
def test_rule_for_unknown_tool_suggests_a_name(house: House, text: str, advice: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        house.book.add(DENY, text, Scope.GLOBAL)
    assert refused.value.code == "unknown_tool"
    assert advice in refused.value.message
    with pytest.raises(InvalidInput, match="The policy is not valid: There is no tool"):
        house.book.read_policy({"permissions": {"deny": [text]}})
    assert house.book.all() == []


@pytest.mark.parametrize(
    "pattern", ["https://pypi.org", "pypi.org:443", "pypi.org/simple", "*pypi.org", "", "a b", "="]
)
def test_a_rule_about_the_network_names_a_host(house: House, pattern: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        house.book.add(ALLOW, f"network({pattern})", Scope.GLOBAL)
    assert "a host such as example.org, *.example.org or 127.0.0.1" in refused.value.message
    with pytest.raises(InvalidInput, match=r"Did you mean 'network'\?"):
        house.book.add(ALLOW, "netwrok(pypi.org)", Scope.GLOBAL)


@pytest.mark.parametrize(
    "text", ["*", "*_file", "run_cell", "delegate", "network(pypi.org)", "mcp__*", "mcp__new__tool"]
)
def test_whatever_a_tool_may_be_called_can_have_a_rule(house: House, text: str) -> None:
    house.book.add(DENY, text, Scope.GLOBAL)
    assert house.book.problems() == []


def test_a_stored_rule_about_no_tool_is_told_and_stays(house: House) -> None:
    house.ship(deny=["excute_command(rm)"])
    (rule,) = house.book.all()
    assert house.book.problem_of(rule) == (
        "There is no tool 'excute_command'. Did you mean 'execute_command'?"
    )
    (problem,) = house.book.problems()
    assert problem.code == "rule_unknown_tool"
    assert "'excute_command(rm)' (workspace) does nothing" in problem.message


def test_workspace_allow_rules_need_trust(house: House) -> None:
    house.ship(allow=["execute_command"], deny=["read_file(x)"], ask=["grep"])
    assert house.counting() == ["ask grep", "deny read_file(x)"]
    house.trust.accept(house.trust.fingerprint())
    assert house.counting() == ["allow execute_command", "ask grep", "deny read_file(x)"]
    house.ship(allow=["execute_command", "delete_file"])
    assert house.counting() == ["allow execute_command"], "what was added is not trusted"


def test_the_servers_that_a_folder_names_are_shown_whole(house: House) -> None:
    house.ship()
    (offer,) = house.trust.offers()
    assert (offer.kind, offer.name, offer.detail) == ("mcp_server", "x", "{}")
    assert not house.trust.is_trusted(offer)


def test_trust_is_taken_back(house: House) -> None:
    house.ship(allow=["execute_command"])
    house.trust.accept(house.trust.fingerprint())
    house.trust.revoke()
    assert house.counting() == []


def test_trust_is_given_to_what_was_shown_and_nothing_else(house: House) -> None:
    house.ship(allow=["read_file"])
    seen = house.trust.fingerprint()
    house.ship(allow=["execute_command"])
    with pytest.raises(Conflict):
        house.trust.accept(seen)
    assert house.counting() == []


def test_a_copy_of_the_folder_elsewhere_is_not_trusted(house: House, tmp_path: Path) -> None:
    house.ship(allow=["execute_command"])
    house.trust.accept(house.trust.fingerprint())
    other = Trust(house.data / "trust.json", tmp_path / "elsewhere")
    assert other.taken() == frozenset()


def test_the_users_own_rule_for_the_workspace_counts_at_once(house: House) -> None:
    house.ship(allow=["execute_command"])
    house.book.add(ALLOW, "update_file(/a)", Scope.WORKSPACE)
    assert house.counting() == ["allow update_file(/a)"]
    assert json.loads(house.shipped.read_text())["mcpServers"] == {"x": {}}, "the rest stays"


@pytest.mark.parametrize("content", ["{", "[]", '{"permissions": 1}', "\xff"])
def test_broken_settings_are_reported_and_everything_asks(house: House, content: str) -> None:
    house.own.parent.mkdir()
    house.own.write_text(content, "latin-1")
    assert house.counting() == ["ask *"]
    (problem,) = house.book.problems()
    assert problem.code == "settings_broken"
    with pytest.raises(Conflict):
        house.book.add(ALLOW, "read_file", Scope.GLOBAL)
    assert house.own.read_text("latin-1") == content, "nothing of the user's is lost"


def test_a_rule_that_cannot_be_read_is_reported(house: House) -> None:
    house.ship(allow=["update_file(!x)"])
    (problem,) = house.book.problems()
    assert "update_file" in problem.message
    assert [one.counts_as for one in house.book.for_job(None)] == [DENY]
    with pytest.raises(InvalidInput):
        house.book.add(ALLOW, "update_file(!x)", Scope.SESSION)


def test_a_change_of_the_file_counts_at_once(house: House) -> None:
    house.own.parent.mkdir()
    house.own.write_text('{"permissions": {"deny": ["grep"]}}')
    assert house.counting() == ["deny grep"]
    house.own.write_text('{"permissions": {"deny": ["grep", "read_file"]}}')
    assert house.counting() == ["deny grep", "deny read_file"]
    house.own.unlink()
    assert house.counting() == []


def test_no_rule_is_written_through_a_symlink(house: House, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (house.workspace / ".cowork").symlink_to(outside)
    with pytest.raises(Conflict):
        house.book.add(ALLOW, "read_file", Scope.WORKSPACE)
    assert list(outside.iterdir()) == []
