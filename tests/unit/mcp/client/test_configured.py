"""Which servers there are, and whose word counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.errors import Conflict, InvalidInput, NotFound
from cowork_jupyter.mcp.client.configured import ConfiguredServers
from cowork_jupyter.policy.rulebook import settings_offers
from cowork_jupyter.policy.trust import Trust

A, B = {"command": "a"}, {"command": "b"}


class Place:
    def __init__(self, folder: Path) -> None:
        self.user, self.shipped = folder / "user.json", folder / "w" / ".cowork" / "settings.json"
        self.shipped.parent.mkdir(parents=True)
        self.trust = Trust(folder / "trust.json", folder / "w")
        self.trust.look_at(lambda: settings_offers(folder / "w"))
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
