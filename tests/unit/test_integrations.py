"""What agents of others are given is made from our own tools, and is noticed when it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.parts.skills.skill_files import parse_skill
from cowork_jupyter.service.parts import tools_of_parts
from cowork_jupyter.tools.registry import tools_with_kernels
from tests.integrations import PLUGIN, SKILL, generated, main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert main("", tmp_path) is None
    return tmp_path


def test_what_was_made_is_in_order(folder: Path) -> None:
    assert main("check", folder) is None


@pytest.mark.parametrize("name", generated())
def test_a_changed_or_missing_file_is_noticed_and_mended(folder: Path, name: str) -> None:
    for spoil in (lambda: (folder / name).write_text("x"), (folder / name).unlink):
        spoil()
        assert "make fmt" in str(main("check", folder))
        main("", folder)
        assert main("check", folder) is None


def test_a_file_of_a_tool_that_is_gone_is_noticed_and_removed(folder: Path) -> None:
    (folder / PLUGIN / "skills" / "old.md").write_text("x")
    assert "make fmt" in str(main("check", folder))
    main("", folder)
    assert not (folder / PLUGIN / "skills" / "old.md").exists()


def test_the_skill_can_be_read_and_knows_every_tool() -> None:
    text = generated()[f"{PLUGIN}/skills/{SKILL}/SKILL.md"]
    skill = parse_skill(text.encode(), SKILL)
    assert [
        name for name in tools_with_kernels(tools_of_parts()) if f"- `{name}(" not in skill.body
    ] == []
    assert "- `list_variables(path)`" in skill.body
