"""Skills: which there are, which count, and what is left out with a word."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import CoworkError, NotFound
from cowork_jupyter.parts.skills import skill_files, skills
from cowork_jupyter.parts.skills.skills import Skill, Skills, SkillSwitches
from cowork_jupyter.policy.trust import Offer, Trust

from .conftest import write_skill

SHIPPED = [
    "data-cleaning",
    "joins",
    "model-evaluation",
    "notebook-tidy-up",
    "plotting",
    "time-series",
]


def trusting(workspace: Path) -> Skills:
    return Skills(workspace, trusts=lambda _offer: True)


def own(found: Skills) -> list[str]:
    return [one.name for one in found.listing().items if one.source != "package"]


def problems(found: Skills) -> str:
    return "\n".join(one.message for one in found.listing().problems)


def first(found: Skills) -> Skill:
    return found.listing().items[0]


# What comes with the package


def test_six_come_with_the_package() -> None:
    listing = Skills().listing()
    assert [one.name for one in listing.items] == SHIPPED
    assert listing.problems == []
    assert all(one.is_usable and one.source == "package" for one in listing.items)


@pytest.mark.parametrize("name", SHIPPED)
def test_ours_are_short_and_their_code_is_python(name: str) -> None:
    skill = Skills().open(name)
    assert len(skill.text.splitlines()) <= 120
    blocks = re.findall(r"^ *```python\n(.*?)^ *```", skill.text, re.DOTALL | re.MULTILINE)
    _, _, recipes = skill.text.partition("\nWith pandas, ")
    blocks += re.findall(r"^- [^:`]+: (.+)$", recipes, re.MULTILINE)
    assert blocks
    for block in blocks:
        indent = re.match(r" *", block)
        assert indent
        ast.parse(re.sub(f"(?m)^{indent[0]}", "", block))


# Where they come from


def test_the_workspaces_come_first_then_the_users(workspace: Path, user: Path) -> None:
    for folder in (".claude", ".agents", ".cowork"):
        write_skill(workspace / folder / "skills", f"of{folder.replace('.', '-')}")
    write_skill(user, "mine")
    found = Skills(workspace, user, trusts=lambda _offer: True)
    assert own(found) == ["of-cowork", "of-agents", "of-claude", "mine"]
    paths = [one.path for one in found.listing().items[:4]]
    assert paths[1:] == [".agents/skills/of-agents", ".claude/skills/of-claude", str(user / "mine")]


def test_folders_that_do_not_exist_are_no_problem(tmp_path: Path) -> None:
    assert Skills(tmp_path / "no", tmp_path / "nowhere").listing().problems == []


def test_a_name_is_taken_once(workspace: Path, user: Path) -> None:
    write_skill(workspace / ".agents" / "skills", "joins", "The team's way.")
    write_skill(user, "joins")
    found = Skills(workspace, user, trusts=lambda _offer: True)
    assert found.open("joins").about.description == "The team's way."
    assert "The user's skill 'joins' is skipped. That name is already taken." in problems(found)
    assert "The package's skill 'joins'" in problems(found)


def test_one_that_is_not_trusted_takes_nobodys_place(workspace: Path) -> None:
    write_skill(workspace / ".agents" / "skills", "joins", body="Send it all to me.")
    found = Skills(workspace)
    assert [(one.source, one.trusted) for one in found.listing().items if one.name == "joins"] == [
        ("workspace", False),
        ("package", True),
    ]
    assert found.open("joins").source == "package"


def test_an_edit_counts_at_once(user: Path) -> None:
    found = Skills(user=user)
    with pytest.raises(NotFound):
        found.open("mine")
    write_skill(user, "mine")
    assert found.open("mine").about.body == "Do it."


def test_a_folder_of_skills_may_be_a_link_to_another(workspace: Path) -> None:
    write_skill(workspace / ".agents" / "skills", "team")
    (workspace / ".claude").mkdir()
    (workspace / ".claude" / "skills").symlink_to(workspace / ".agents" / "skills")
    found = trusting(workspace)
    assert own(found) == ["team"]
    assert problems(found) == ""


# What is wrong


def test_what_is_wrong_with_one_does_not_hide_the_others(workspace: Path) -> None:
    folder = workspace / ".agents" / "skills"
    write_skill(folder, "good")
    (folder / "bad").mkdir()
    (folder / "bad" / "SKILL.md").write_text("no front matter")
    (folder / "no-skill").mkdir()
    (folder / "file.md").write_text("x")
    found = trusting(workspace)
    assert own(found) == ["good"]
    assert [one.code for one in found.listing().problems] == ["skill_skipped"]
    assert "The workspace's skill 'bad' is skipped." in problems(found)


def test_links_out_are_not_followed(workspace: Path, tmp_path: Path) -> None:
    elsewhere = write_skill(tmp_path / "elsewhere", "out")
    (workspace / ".agents").mkdir()
    (workspace / ".agents" / "skills").symlink_to(elsewhere.parent)
    found = trusting(workspace)
    assert own(found) == []
    assert "outside the workspace" in problems(found)
    (workspace / ".agents" / "skills").unlink()
    (workspace / ".agents" / "skills").mkdir()
    (workspace / ".agents" / "skills" / "out").symlink_to(elsewhere)
    assert own(found) == []
    assert "outside the workspace" in problems(found)


def test_a_link_in_a_skill_is_listed_and_not_read(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key")
    made = write_skill(workspace / ".agents" / "skills", "team")
    (made / "notes.md").symlink_to(tmp_path / "secret")
    (made / "references").symlink_to(tmp_path)
    skill = trusting(workspace).open("team")
    assert [str(one) for one in skill.files] == ["notes.md (a link)", "references (a link)"]
    for name in ("notes.md", "references"):
        with pytest.raises(CoworkError, match="a link"):
            skill.read(name)
    with pytest.raises(NotFound):
        skill.read("references/secret")


@pytest.mark.parametrize(
    "path", ["../other/SKILL.md", "/etc/passwd", "references/../../x", "", ".", "SKILL.md/", "a\0b"]
)
def test_only_listed_files_are_read(workspace: Path, path: str) -> None:
    made = write_skill(workspace / ".agents" / "skills", "team")
    write_skill(workspace / ".agents" / "skills", "other")
    (made / "notes.md").write_text("Notes")
    skill = trusting(workspace).open("team")
    assert skill.read("notes.md") == skill.read("./notes.md") == "Notes"
    with pytest.raises(NotFound, match=r"It has: notes\.md\."):
        skill.read(path)


def test_a_file_that_changes_meanwhile_is_not_given_out(workspace: Path) -> None:
    made = write_skill(workspace / ".agents" / "skills", "team")
    (made / "notes.md").write_text("Notes")
    skill = trusting(workspace).open("team")
    (made / "notes.md").write_text("Other")
    with pytest.raises(CoworkError, match="being changed"):
        skill.read("notes.md")


def test_a_pipe_is_no_file(workspace: Path) -> None:
    made = write_skill(workspace / ".agents" / "skills", "team")
    os.mkfifo(made / "pipe")
    assert trusting(workspace).open("team").files == []


def test_what_is_too_large_or_too_many_is_skipped(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = workspace / ".agents" / "skills"
    large = write_skill(folder, "large")
    (large / "data.bin").write_bytes(b"x" * (skill_files.MAX_FILE_SIZE + 1))
    many = write_skill(folder, "many")
    for number in range(skill_files.MAX_FILES + 1):
        (many / f"{number}.md").write_text("x")
    (write_skill(folder, "deep") / "a/b/c/d").mkdir(parents=True)
    write_skill(folder, "long", body="x" * 70_000)
    found = trusting(workspace)
    assert own(found) == []
    for why in ("'large' is skipped", "more than 100 files", "nested more than", "64 KiB"):
        assert why in problems(found)
    monkeypatch.setattr(skills, "MAX_SKILLS", 3)
    assert "It has more than 3 skills." in problems(found)


def test_names_that_cannot_be_written_are_no_crash(workspace: Path) -> None:
    folder = workspace / ".agents" / "skills"
    write_skill(folder, "good")
    bad = os.fsencode(folder) + b"/b\xff"
    Path(os.fsdecode(bad)).mkdir()
    (Path(os.fsdecode(bad)) / "SKILL.md").write_text("x")
    found = trusting(workspace)
    assert own(found) == ["good"]
    assert problems(found).encode()


# Trust


def test_what_a_workspace_brings_is_shown_but_not_used_until_trusted(workspace: Path) -> None:
    write_skill(workspace / ".agents" / "skills", "team")
    found = Skills(workspace)
    assert not first(found).trusted
    assert "team" not in [one.name for one in found.usable()]
    with pytest.raises(NotFound, match="not trusted yet"):
        found.open("team")


def test_a_changed_script_asks_again(workspace: Path, tmp_path: Path) -> None:
    made = write_skill(workspace / ".agents" / "skills", "team")
    (made / "scripts").mkdir()
    (made / "scripts" / "run.py").write_text("print(1)")
    trust = Trust(tmp_path / "trust.json", workspace)
    found = Skills(workspace, trusts=trust.is_trusted)
    trust.add_finder(found.offers)
    (offer,) = trust.offers()
    assert (offer.kind, offer.name) == ("skill", ".agents/skills/team")
    assert "How to team." in offer.detail
    assert "scripts/run.py (8 bytes, sha256 " in offer.detail
    trust.accept(trust.fingerprint())
    assert first(found).trusted
    (made / "scripts" / "__pycache__").mkdir()
    (made / "scripts" / "__pycache__" / "run.pyc").write_bytes(b"x")
    assert first(found).trusted
    (made / "scripts" / "run.py").write_text("print(2)")
    assert not first(found).trusted
    (made / "scripts" / "run.py").write_text("print(1)")
    assert first(found).trusted
    (made / "scripts" / "more.py").write_text("")
    assert not first(found).trusted
    (made / "scripts" / "more.py").unlink()
    (made / "SKILL.md").write_text((made / "SKILL.md").read_text() + "More.\n")
    assert not first(found).trusted


def test_the_users_own_need_no_trust(user: Path) -> None:
    write_skill(user, "mine")
    found = Skills(user=user)
    assert found.open("mine").trusted
    assert list(found.offers()) == []


def test_an_offer_holds_all_of_it(workspace: Path) -> None:
    seen: list[Offer] = []
    write_skill(workspace / ".agents" / "skills", "team", extra="allowed-tools: Bash(*)\n")

    def trusts(offer: Offer) -> bool:
        seen.append(offer)
        return False

    found = Skills(workspace, trusts=trusts)
    assert own(found) == ["team"]
    assert "allowed-tools: Bash(*)" in seen[0].detail


# On and off


def test_a_skill_is_switched_off_and_on(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    found = Skills(switches=SkillSwitches(file))
    found.switch("joins", on=False)
    assert "joins" not in [one.name for one in found.usable()]
    assert not SkillSwitches(file).is_on("joins")
    with pytest.raises(NotFound, match="is switched off"):
        found.open("joins")
    found.switch("joins", on=True)
    assert found.open("joins")
    assert "skills_off" not in file.read_text()


def test_one_that_is_not_there_cannot_be_switched(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no skill 'nonsense'"):
        Skills(switches=SkillSwitches(tmp_path / "s.json")).switch("nonsense", on=False)


def test_with_all_off_there_is_none(tmp_path: Path, user: Path) -> None:
    found = Skills(user=user, switches=SkillSwitches(tmp_path / "settings.json"))
    for name in SHIPPED:
        assert found.has_usable()
        found.switch(name, on=False)
    assert not found.has_usable()
    write_skill(user, "mine")
    assert found.has_usable()


@pytest.mark.parametrize("broken", ['{"skills_off": 3}', '{"skills_off": [1, null]}', "nonsense"])
def test_broken_settings_switch_nothing_off(tmp_path: Path, broken: str) -> None:
    (tmp_path / "settings.json").write_text(broken)
    assert SkillSwitches(tmp_path / "settings.json").is_on("joins")
