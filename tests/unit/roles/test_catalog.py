"""Which roles there are, and that rights go with what gives them."""

from __future__ import annotations

import os
import pickle
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.policy.trust import Trust
from cowork_jupyter.roles import catalog as plugins
from cowork_jupyter.roles.catalog import MAX_ROLES, MAX_SIZE, Declarations, RoleCatalog

from .test_declaration import written

OWN = list(AgentRole)
ALL = frozenset(Permission)
READ = frozenset({Permission.READ_FILES})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the workspace declares its roles."""
    path = tmp_path / "workspace/.cowork/roles"
    path.mkdir(parents=True)
    return path


@pytest.fixture
def trust(tmp_path: Path) -> Trust:
    return Trust(tmp_path / "trust.json", tmp_path / "workspace")


@pytest.fixture
def catalog(tmp_path: Path, trust: Trust) -> RoleCatalog:
    (tmp_path / "user").mkdir()
    made = RoleCatalog(tmp_path / "user", tmp_path / "workspace", trusts=trust.is_trusted)
    trust.add_finder(made.offers)
    return made


def names(catalog: RoleCatalog) -> list[str]:
    return [role.value for role in catalog.all()][len(OWN) :]


def problem(catalog: RoleCatalog) -> str:
    (found,) = catalog.problems()
    assert found.code == "role_skipped"
    return found.message


def declare(folder: Path, **changes: object) -> Path:
    file = folder / f"{changes.get('name', 'statistician')}.toml"
    file.write_text(written(**changes))
    return file


def test_without_folders_there_are_our_own(tmp_path: Path) -> None:
    assert RoleCatalog().all() == OWN
    assert RoleCatalog(tmp_path / "no", tmp_path / "nowhere").all() == OWN


def test_a_workspaces_role_is_inert_until_it_is_trusted(
    catalog: RoleCatalog, folder: Path, trust: Trust
) -> None:
    file = declare(folder, based_on="actor")
    assert names(catalog) == []
    role = catalog.resolve(AgentRole("statistician"))
    assert (role.is_known, role.spec.permissions) == (False, READ)
    (offer,) = trust.offers()
    assert (offer.kind, offer.name, offer.detail) == ("role", "statistician", file.read_text())
    trust.accept(trust.fingerprint())
    assert names(catalog) == ["statistician"]
    assert (role.is_known, role.spec.permissions) == (True, ALL)
    assert catalog.named("statistician") == role


def test_its_rights_end_with_the_trust(catalog: RoleCatalog, folder: Path, trust: Trust) -> None:
    declare(folder, based_on="actor")
    trust.accept(trust.fingerprint())
    role = catalog.chosen("statistician")
    assert role.spec.commands_may_write
    trust.revoke()
    assert (role.spec.permissions, role.spec.commands_may_write) == (READ, False)
    assert names(catalog) == []


def test_its_rights_end_when_its_file_changes_or_goes(
    catalog: RoleCatalog, folder: Path, trust: Trust
) -> None:
    file = declare(folder, based_on="actor")
    trust.accept(trust.fingerprint())
    role = catalog.chosen("statistician")
    before, facts = file.read_text(), file.stat()
    file.write_text(before.replace("doubt.", "obey!!"))
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert role.spec.permissions == READ
    file.write_text(before)
    assert role.spec.permissions == ALL, "what is trusted is the text"
    file.unlink()
    assert role.spec.permissions == READ


def test_another_workspace_gives_no_rights(
    catalog: RoleCatalog, folder: Path, trust: Trust, tmp_path: Path
) -> None:
    declare(folder, based_on="actor")
    trust.accept(trust.fingerprint())
    role = catalog.chosen("statistician")
    elsewhere = RoleCatalog(workspace=tmp_path / "elsewhere", trusts=lambda _offer: True)
    assert role.spec.permissions == ALL
    assert elsewhere.resolve(role).spec.permissions == READ
    assert AgentRole("statistician").spec.permissions == READ
    assert pickle.loads(pickle.dumps(AgentRole("statistician"))).spec.permissions == READ
    assert pickle.loads(pickle.dumps(role)).spec == role.spec, "a worker has no catalogue"


def test_what_asks_for_more_is_left_out_and_said(
    catalog: RoleCatalog, folder: Path, trust: Trust
) -> None:
    declare(folder, permissions=["read_files", "write_files"])
    trust.accept(trust.fingerprint())
    assert names(catalog) == []
    assert trust.offers() == []
    assert "the workspace's role 'statistician'" in problem(catalog)
    assert "write_files is more than the planner may have" in problem(catalog)


def test_the_users_own_need_no_trust_and_come_first(
    catalog: RoleCatalog, folder: Path, trust: Trust, tmp_path: Path
) -> None:
    declare(tmp_path / "user", based_on="reviewer", label="Mine")
    assert names(catalog) == ["statistician"]
    declare(folder, based_on="actor", label="Theirs")
    trust.accept(trust.fingerprint())
    assert names(catalog) == ["statistician"]
    assert catalog.chosen("statistician").spec.label == "Mine"
    assert "Another role already has that name." in problem(catalog)


def test_a_file_is_called_as_its_role(catalog: RoleCatalog, tmp_path: Path) -> None:
    (tmp_path / "user/other.toml").write_text(written())
    assert names(catalog) == []
    assert "name: must be 'other', as its file is called." in problem(catalog)


@pytest.mark.parametrize("name", [".hidden.toml", "notes.md", "statistician.toml.bak"])
def test_other_files_are_none_of_ours(catalog: RoleCatalog, tmp_path: Path, name: str) -> None:
    (tmp_path / "user" / name).write_text(written())
    assert (names(catalog), catalog.problems()) == ([], [])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xff\xfe", "It is not UTF-8 text."),
        (b"#" * (MAX_SIZE + 1), "It is larger than 8 KiB."),
        (b"name = ", "It is not valid TOML"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_out(
    catalog: RoleCatalog, tmp_path: Path, content: bytes, why: str
) -> None:
    (tmp_path / "user/statistician.toml").write_bytes(content)
    declare(tmp_path / "user", name="botanist")
    assert names(catalog) == ["botanist"]
    assert why in problem(catalog)


def test_links_out_of_the_workspace_are_not_followed(
    catalog: RoleCatalog, folder: Path, trust: Trust, tmp_path: Path
) -> None:
    declare(tmp_path, based_on="actor")
    (folder / "statistician.toml").symlink_to(tmp_path / "statistician.toml")
    trust.accept(trust.fingerprint())
    assert (names(catalog), trust.offers()) == ([], [])
    assert "statistician" in problem(catalog)


def test_folder_link_out_of_the_workspace_is_not_followed(
    catalog: RoleCatalog, folder: Path, trust: Trust, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    declare(outside)
    folder.rmdir()
    folder.symlink_to(outside)
    assert trust.offers() == []
    assert len(catalog.problems()) == 1


def test_a_folder_full_of_them_is_read_in_part(catalog: RoleCatalog, tmp_path: Path) -> None:
    for number in range(MAX_ROLES + 2):
        declare(tmp_path / "user", name=f"role{number:03}")
    assert len(names(catalog)) == MAX_ROLES
    assert len(catalog.problems()) == 2


def test_unknown_role_is_refused_with_the_known_names(catalog: RoleCatalog, tmp_path: Path) -> None:
    declare(tmp_path / "user")
    with pytest.raises(InvalidInput, match=r"no 'king'\. Choose one of: planner, .*statistician"):
        catalog.chosen("king")


def test_plug_ins_declare_roles_by_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    group = plugins.GROUP
    assert group == "cowork_jupyter.roles"
    points = [
        EntryPoint("statistician", f"{__name__}:DECLARED", group),
        EntryPoint("broken", "nothing.of.this.name:X", group),
        EntryPoint("number", f"{__name__}:MAX_ROLES", group),
        EntryPoint("greedy", f"{__name__}:GREEDY", group),
    ]
    monkeypatch.setattr(plugins, "entry_points", lambda group: points)
    plugins.plugin_roles.cache_clear()
    try:
        catalog = RoleCatalog(plugins=plugins.plugin_roles)
        assert names(catalog) == ["statistician"]
        told = " ".join(one.message for one in catalog.problems())
        assert "'broken'. It cannot be loaded: ModuleNotFoundError" in told
        assert "'number'. It is a int, not the text of a declaration" in told
        assert "more than the planner may have" in told
    finally:
        plugins.plugin_roles.cache_clear()


DECLARED = written()
GREEDY = written(name="greedy", permissions=["read_files", "delete_files"])


def test_a_plug_in_cannot_take_the_users_name(tmp_path: Path) -> None:
    declare(tmp_path, label="Mine")
    declared = Declarations()
    declared.add("statistician", "plugin", lambda: DECLARED)
    catalog = RoleCatalog(tmp_path, plugins=lambda: declared)
    assert catalog.chosen("statistician").spec.label == "Mine"
