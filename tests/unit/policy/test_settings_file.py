"""Settings files: policies, and what an administrator settles."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.errors import Forbidden, InvalidInput
from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.policy import settings_file as module
from cowork_jupyter.policy.calls import decompose
from cowork_jupyter.policy.decision import DecisionContext, decide_call
from cowork_jupyter.policy.paths import AnchorDirs
from cowork_jupyter.policy.rulebook import RuleBook
from cowork_jupyter.policy.rules import WRITABLE_SCOPES, Effect, Scope
from cowork_jupyter.policy.settings_file import Administrator, is_beyond_user, read_policy
from cowork_jupyter.policy.trust import Trust
from cowork_jupyter.service.parts import rule_names

RULES = {"permissions": {"allow": ["create_file"], "deny": ["execute_command"]}}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.json", '{"permissions": {"allow": ["create_file"], "deny": ["execute_command"]}}'),
        ("p.toml", '[permissions]\nallow = ["create_file"]\ndeny = ["execute_command"]\n'),
    ],
)
def test_it_is_json_or_toml(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_policy(str(tmp_path / name)) == RULES


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"permissions": []}', '{"allow": []}'])
def test_what_is_no_policy_is_said_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "p.json"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=r"policy file .*p\.json") as problem:
        read_policy(str(file))
    assert "\n" not in str(problem.value)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file"):
        read_policy(str(tmp_path / "none.json"))


USER, SOMEBODY = 4242, 4343


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests: what they write here is the administrator's."""
    monkeypatch.setattr(module, "is_beyond_user", lambda path: True)


def settled(folder: Path, name: str = "settings.json", **content: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("euid", "writable", "counts"),
    [(USER, (), True), (USER, ("file",), False), (USER, ("folder",), False), (0, ("file",), True)],
)
def test_a_file_counts_if_the_user_could_not_have_written_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    euid: int,
    writable: tuple[str, ...],
    counts: bool,
) -> None:
    path = settled(tmp_path)
    places = {"file": path, "folder": tmp_path.parent}
    monkeypatch.setattr(os, "geteuid", lambda: euid)
    monkeypatch.setattr(os, "access", lambda place, _: place in [places[one] for one in writable])
    monkeypatch.setattr(module, "_administrators", lambda: (path.stat().st_uid,))
    assert is_beyond_user(path) is counts


def test_a_file_of_somebody_else_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = settled(tmp_path, models=["only"])
    monkeypatch.setattr(module, "_administrators", lambda: (SOMEBODY,))
    administrator = Administrator([path])
    assert administrator.allows("any")
    assert [one.code for one in administrator.problems()] == ["administrator_settings_ignored"]


@pytest.mark.usefixtures("counts")
def test_strictest_administrator_file_counts_at_once(tmp_path: Path) -> None:
    one = settled(tmp_path, "1.json", models=["gpt-5*", "qwen"], limits={"tokens_per_day": 10})
    two = settled(
        tmp_path, "2.json", models=["gpt-*"], limits={"tokens_per_day": 20, "money_per_day": 1}
    )
    administrator = Administrator([one, two, tmp_path / "none.json"])
    assert (administrator.limits.tokens_per_day, administrator.limits.money_per_day) == (10, 1)
    settled(tmp_path, "2.json", models=["gpt-*"], limits={"tokens_per_day": 5})
    assert administrator.limits.tokens_per_day == 5
    assert [administrator.allows(one) for one in ("gpt-5-mini", "gpt-4", "qwen", "")] == [
        *(True, False, False),
        True,
    ]
    with pytest.raises(Forbidden, match=r"administrator does not allow the model 'qwen'.*gpt-5\*"):
        administrator.check_model("qwen")
    two.unlink()
    assert administrator.allows("qwen")


@pytest.mark.usefixtures("counts")
def test_money_limit_needs_an_administrators_price(tmp_path: Path) -> None:
    prices = {"priced": {"input": 1, "output": 2}}
    path = settled(tmp_path, prices=prices, limits={"money_per_day": 3})
    administrator = Administrator([path])
    assert administrator.prices["priced"].output == 2
    assert administrator.allows("priced")
    with pytest.raises(Forbidden, match="no price for the model 'free'"):
        administrator.check_model("free")


@pytest.mark.usefixtures("counts")
@pytest.mark.parametrize("text", ["{", '{"limits": {"tokens": 1}}', '{"models": "all"}'])
def test_broken_administrator_file_blocks_models(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    administrator = Administrator([path])
    book = book_of(tmp_path, administrator)
    assert [(one.effect, one.text, one.scope) for one in book.all()] == [
        (Effect.ASK, "*", Scope.ADMIN)
    ]
    with pytest.raises(Forbidden, match="no model is asked"):
        administrator.check_model("any")


def book_of(folder: Path, administrator: Administrator) -> RuleBook:
    trust = Trust(folder / "trust.json", folder)
    return RuleBook(folder, folder / "own.json", trust, rule_names, administrator)


@pytest.mark.usefixtures("counts")
def test_no_rule_of_the_users_lifts_one_of_the_administrators(tmp_path: Path) -> None:
    path = settled(tmp_path, permissions={"deny": ["delete_file"], "ask": ["update_file"]})
    book = book_of(tmp_path, Administrator([path]))
    for scope in WRITABLE_SCOPES:
        book.add(Effect.ALLOW, "*", scope)
        book.add(Effect.ALLOW, "update_file(/a.txt)", scope)
        book.add(Effect.ALLOW, "delete_file", scope)
    for effect in Effect:
        with pytest.raises(Forbidden):
            book.add(effect, "read_file", Scope.ADMIN)
    for rule in book.all():
        if rule.scope is Scope.ADMIN:
            with pytest.raises(Forbidden):
                book.remove(rule.id)
    anchors = AnchorDirs.of(tmp_path)
    around = DecisionContext(anchors, book.for_job(None), confined=True)
    for tool, effect in (("delete_file", Effect.DENY), ("update_file", Effect.ASK)):
        given = {"path": "a.txt"}
        call = decompose(tool, frozenset({Permission.WRITE_FILES}), given, anchors)
        judgement = decide_call(AgentRole.ACTOR, call, around)
        assert judgement.effect is effect
        assert "(admin)" in judgement.because[0]
        assert judgement.narrowest_rules(anchors) == []  # "always" would change nothing


@pytest.mark.usefixtures("counts")
@pytest.mark.parametrize("denied", ["network(example.org)", "network"])
def test_administrators_host_denial_covers_unknown_hosts(tmp_path: Path, denied: str) -> None:
    path = settled(tmp_path, permissions={"deny": [denied]})
    book = book_of(tmp_path, Administrator([path]))
    book.add(Effect.ALLOW, "network", Scope.GLOBAL)
    anchors = AnchorDirs.of(tmp_path)
    given = {"command": "python fetch.py", "needs_network": True}
    call = decompose("execute_command", frozenset({Permission.EXECUTE_COMMANDS}), given, anchors)
    around = DecisionContext(anchors, book.for_job(None), confined=True)
    assert decide_call(AgentRole.ACTOR, call, around).effect is Effect.DENY
