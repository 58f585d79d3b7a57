"""Entries of servers, as people have them in their settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.errors import Conflict, InvalidInput, NotFound
from cowork_jupyter.domain.roles import Permission
from cowork_jupyter.parts.mcp.config import ConfiguredServers, read_server
from cowork_jupyter.policy.rulebook import settings_offers
from cowork_jupyter.policy.trust import Trust

RUNS = frozenset({Permission.EXECUTE_COMMANDS})


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ({"command": "npx", "args": ["-y", "x"]}, "stdio"),
        ({"type": "stdio", "command": "x", "env": {"DEBUG": True, "PORT": 3}}, "stdio"),
        ({"url": "https://x/mcp"}, "http"),
        ({"url": "https://x/sse"}, "sse"),
        ({"type": "http", "url": "https://x/sse"}, "http"),
        ({"type": "streamable-http", "url": "https://x"}, "http"),
        ({"type": "streamableHttp", "url": "https://x"}, "http"),
        ({"transport": "sse", "url": "https://x"}, "sse"),
        ({"url": "${BASE}/mcp", "autoApprove": ["*"], "alwaysAllow": ["x"]}, "http"),
    ],
)
def test_the_forms_that_there_are(raw: dict[str, Any], kind: str) -> None:
    config = read_server("x", raw, "user")
    assert config.kind == kind
    assert config.permissions_for("anything") == RUNS


@pytest.mark.parametrize(
    ("name", "raw", "why"),
    [
        ("x", "npx", "it is not an object"),
        ("x", {}, "either a 'command' to start or a 'url'"),
        ("x", {"command": "a", "url": "http://b"}, "either a 'command' to start or a 'url'"),
        ("x", {"type": "ws", "url": "http://b"}, "there is no type 'ws'"),
        ("x", {"type": "sse", "command": "a"}, "does not match the rest"),
        ("x", {"url": "file:///etc/passwd"}, "must start with http"),
        ("x", {"command": "a", "args": "b"}, "args: "),
        ("x", {"command": "a", "timeout": -1}, "timeout: "),
        ("x", {"command": "a", "permissions": []}, "permissions: "),
        ("x", {"command": "a", "permissions": ["everything"]}, r"permissions\[0\]: "),
        ("", {"command": "a"}, "a name must have 1 to 60 visible characters"),
        ("a\u202eb", {"command": "a"}, "a name must have 1 to 60 visible characters"),
        ("x" * 61, {"command": "a"}, "a name must have 1 to 60 visible characters"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(name: str, raw: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_server(name, raw, "user")


def test_the_user_assigns_less_by_server_and_by_tool() -> None:
    raw = {
        "command": "a",
        "permissions": ["read_files"],
        "tools": {"write": {"permissions": ["write_files"]}, "off": {"disabled": True}},
    }
    mine, theirs = read_server("x", raw, "user"), read_server("x", raw, "workspace")
    assert mine.permissions_for("read") == {Permission.READ_FILES}
    assert mine.permissions_for("write") == {Permission.WRITE_FILES}
    assert mine.leaves_out("off")
    assert theirs.permissions_for("read") == theirs.permissions_for("write") == RUNS
    assert not theirs.leaves_out("off")


def test_a_folder_cannot_let_its_server_use_the_model() -> None:
    raw = {"command": "a", "sampling": True}
    assert read_server("x", raw, "user").entry.sampling
    assert not read_server("x", raw, "workspace").entry.sampling


@pytest.mark.parametrize(
    ("name", "slug"),
    [("git", "git"), ("My Server", "My_Server"), ("a__b", "a_b"), ("ä", "x"), ("a.b-c", "a_b-c")],
)
def test_a_name_in_tools_comes_apart_in_one_way_only(name: str, slug: str) -> None:
    assert read_server(name, {"command": "a"}, "user").slug == slug


def test_another_program_or_source_is_another_server_and_another_secret_is_not() -> None:
    first = read_server("x", {"command": "a", "env": {"K": "1"}}, "user")
    assert first.identity == read_server("x", {"command": "a", "env": {"K": "2"}}, "user").identity
    others = [
        read_server("x", {"command": "b", "env": {"K": "1"}}, "user"),
        read_server("x", {"command": "a", "env": {"K": "1"}, "args": ["-v"]}, "user"),
        read_server("x", {"command": "a", "env": {"K": "1", "L": "1"}}, "user"),
        read_server("x", {"command": "a", "env": {"K": "1"}}, "workspace"),
        read_server("y", {"command": "a", "env": {"K": "1"}}, "user"),
    ]
    assert first.identity not in {one.identity for one in others}


A, B = {"command": "a"}, {"command": "b"}


class Place:
    def __init__(self, folder: Path) -> None:
        self.user, self.shipped = folder / "user.json", folder / "w" / ".cowork" / "settings.json"
        self.shipped.parent.mkdir(parents=True)
        self.trust = Trust(folder / "trust.json", folder / "w")
        self.trust.add_finder(lambda: settings_offers(folder / "w"))
        self.servers = ConfiguredServers(folder / "w", self.user, self.trust)

    def write(self, file: Path, **content: Any) -> None:
        file.write_text(json.dumps(content))

    def used(self) -> list[tuple[str, str]]:
        return [(one.name, one.source) for one in self.servers.all() if one.in_use]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_users_come_first_and_a_folders_count_once_trusted(place: Place) -> None:
    place.write(place.user, mcpServers={"mine": A})
    place.write(place.shipped, mcpServers={"theirs": B, "mine": B})
    assert place.used() == [("mine", "user")]
    place.trust.accept(place.trust.fingerprint())
    assert place.used() == [("mine", "user"), ("theirs", "workspace")]
    shadowed = place.servers.all()[-1]
    assert shadowed.why_not == "'mine' (user) takes precedence"
    place.write(place.shipped, mcpServers={"theirs": {"command": "worse"}})
    assert place.used() == [("mine", "user")], "what was changed is not what was trusted"


def test_the_same_object_until_something_changes(place: Place) -> None:
    place.write(place.user, mcpServers={"mine": A})
    assert place.servers.all() is place.servers.all()


def test_one_that_cannot_be_read_hides_no_other(place: Place) -> None:
    place.write(place.user, mcpServers={"bad": 3, "good": A, "a b": A, "a_b": B})
    assert place.used() == [("good", "user"), ("a b", "user")]
    why = {one.name: one.why_not for one in place.servers.all()}
    assert why["bad"] == "it is not an object"
    assert why["a_b"] == "'a b' (user) takes precedence", "their tools would have the same names"
    place.write(place.user, mcpServers=[1])
    assert place.servers.all() == ()


def test_servers_are_added_and_removed_beside_all_else(place: Place) -> None:
    place.write(place.user, permissions={"deny": ["x"]}, mine=1)
    place.servers.add("new", {**A, "env": {"K": "${V}"}})
    assert place.used() == [("new", "user")]
    assert json.loads(place.user.read_text())["permissions"] == {"deny": ["x"]}
    with pytest.raises(Conflict, match="same names as those of 'new'"):
        place.servers.add("new_", A)
    with pytest.raises(InvalidInput, match="'url'"):
        place.servers.add("other", {})
    place.servers.remove("new")
    assert json.loads(place.user.read_text()) == {"permissions": {"deny": ["x"]}, "mine": 1}
    with pytest.raises(NotFound):
        place.servers.remove("new")


def test_one_of_a_folder_is_disabled_without_touching_the_folder(place: Place) -> None:
    place.write(place.shipped, mcpServers={"theirs": B})
    before = place.shipped.read_text()
    place.trust.accept(place.trust.fingerprint())
    place.servers.enable("theirs", False)
    assert place.used() == []
    place.servers.enable("theirs", True)
    assert place.used() == [("theirs", "workspace")]
    with pytest.raises(Conflict, match="came with the workspace"):
        place.servers.remove("theirs")
    assert place.shipped.read_text() == before


def test_ones_own_is_disabled_where_it_stands(place: Place) -> None:
    place.write(place.user, mcpServers={"mine": {**A, "enabled": False}})
    assert place.used() == []
    place.servers.enable("mine", True)
    assert place.used() == [("mine", "user")]
