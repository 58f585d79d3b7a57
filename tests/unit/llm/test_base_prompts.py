"""Base prompts: which there are, which count, and what is left out with a word."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.llm.base_prompts import MAX_SIZE, BasePrompts, role_named
from cowork_jupyter.llm.prompt import read_prompt


@pytest.fixture
def user(tmp_path: Path) -> Path:
    folder = tmp_path / "user"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "workspace" / ".cowork" / "prompts").mkdir(parents=True)
    (tmp_path / "workspace" / ".cowork" / "prompts" / "team.md").write_text("We are a team.")
    return tmp_path / "workspace"


def ids(prompts: BasePrompts) -> list[str]:
    return [one.id for one in prompts.listing().items]


def problem(prompts: BasePrompts) -> str:
    (found,) = prompts.listing().problems
    assert found.code == "prompt_skipped"
    return found.message


def test_there_is_always_the_default_one() -> None:
    (one,) = BasePrompts().listing().items
    assert (one.id, one.source, one.title) == ("default", "package", "Default")
    assert one.text == read_prompt("base", "default.md")
    assert BasePrompts().find("default") == one


def test_folders_that_do_not_exist_are_no_problem(tmp_path: Path) -> None:
    prompts = BasePrompts(tmp_path / "no", tmp_path / "nowhere", trusts=lambda _offer: True)
    assert ids(prompts) == ["default"]
    assert prompts.listing().problems == []


def test_the_users_own_are_listed_by_name(user: Path) -> None:
    (user / "terse.md").write_text("Be terse.\n")
    (user / "ada-love_lace.md").write_text("\ufeff# Ada, the first\n\nYou are Ada.")
    (user / "notes.txt").write_text("not a prompt")
    (user / ".hidden.md").write_text("not a prompt")
    prompts = BasePrompts(user)
    assert ids(prompts) == ["default", "ada-love_lace", "terse"]
    ada, terse = prompts.listing().items[1:]
    assert (ada.title, ada.source, ada.text[:5]) == ("Ada, the first", "user", "# Ada")
    assert (terse.title, terse.text) == ("Terse", "Be terse.")


def test_an_edit_counts_at_once(user: Path) -> None:
    prompts = BasePrompts(user)
    assert prompts.find("terse") is None
    (user / "terse.md").write_text("Be terse.")
    found = prompts.find("terse")
    assert found
    assert found.text == "Be terse."


def test_what_a_workspace_brings_is_shown_but_not_used_until_trusted(workspace: Path) -> None:
    prompts = BasePrompts(workspace=workspace)
    found = prompts.find("team")
    assert found
    assert not found.trusted
    assert prompts.usable("team") is None
    assert [(one.name, one.detail) for one in prompts.offers()] == [("team", "We are a team.")]
    assert BasePrompts(workspace=workspace, trusts=lambda _offer: True).usable("team")


def test_a_trusted_workspace_gives_its_own(user: Path, workspace: Path) -> None:
    prompts = BasePrompts(user, workspace, trusts=lambda _offer: True)
    found = prompts.find("team")
    assert found
    assert (found.source, found.text) == ("workspace", "We are a team.")


def test_a_workspace_cannot_replace_a_prompt_of_the_user(user: Path, workspace: Path) -> None:
    (user / "team.md").write_text("Mine.")
    prompts = BasePrompts(user, workspace, trusts=lambda _offer: True)
    assert [one.text for one in prompts.listing().items if one.id == "team"] == ["Mine."]
    assert "workspace's prompt 'team.md' is skipped. That name" in problem(prompts)


def test_nothing_replaces_the_default_one(user: Path) -> None:
    (user / "default.md").write_text("Mine.")
    assert ids(BasePrompts(user)) == ["default"]
    assert "That name is already taken" in problem(BasePrompts(user))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"x" * (MAX_SIZE + 1), "larger than 64 KiB"),
        (b"caf\xe9", "not UTF-8"),
        (b" \n", "is empty"),
    ],
)
def test_a_file_that_cannot_be_used_is_reported(user: Path, data: bytes, complaint: str) -> None:
    (user / "bad.md").write_bytes(data)
    (user / "good.md").write_text("Good.")
    assert ids(BasePrompts(user)) == ["default", "good"]
    assert "'bad.md'" in problem(BasePrompts(user))
    assert complaint in problem(BasePrompts(user))


def test_the_largest_file_that_fits_is_taken(user: Path) -> None:
    (user / "long.md").write_bytes(b"x" * MAX_SIZE)
    assert ids(BasePrompts(user)) == ["default", "long"]


@pytest.mark.parametrize("name", [b"a b.md", b"caf\xe9.md", b"a\n.md", b"-a.md"])
def test_a_name_that_fits_no_address_is_reported(user: Path, name: bytes) -> None:
    (user / os.fsdecode(name)).write_text("Hi.")
    prompts = BasePrompts(user)
    assert ids(prompts) == ["default"]
    assert "Its name may contain only" in problem(prompts).encode().decode()


def test_the_name_of_a_role_is_not_free(user: Path) -> None:
    (user / "planner.md").write_text("Hi.")
    assert "name of a role" in problem(BasePrompts(user))
    assert role_named("planner") is AgentRole.PLANNER
    assert role_named("default") is None


def test_what_is_no_file_is_not_waited_for(user: Path) -> None:
    os.mkfifo(user / "pipe.md")
    (user / "folder.md").mkdir()
    assert ids(BasePrompts(user)) == ["default"]
    assert len(BasePrompts(user).listing().problems) == 2


def test_a_link_does_not_lead_out_of_the_workspace(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (workspace / ".cowork" / "prompts" / "leak.md").symlink_to(tmp_path / "secret.md")
    prompts = BasePrompts(workspace=workspace, trusts=lambda _offer: True)
    assert ids(prompts) == ["default", "team"]
    assert "'leak.md' is skipped" in problem(prompts)


def test_a_folder_that_is_none_is_reported(tmp_path: Path) -> None:
    (tmp_path / "prompts").write_text("not a folder")
    assert "The user's folder of prompts is skipped" in problem(BasePrompts(tmp_path / "prompts"))


@pytest.mark.parametrize("prompt_id", ["../terse", "terse.md", "./terse", "", "\0", "\ud800"])
def test_ids_are_looked_up_not_joined_to_paths(user: Path, prompt_id: str) -> None:
    (user / "terse.md").write_text("Be terse.")
    assert BasePrompts(user).find(prompt_id) is None
