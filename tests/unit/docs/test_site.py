"""The documentation: nothing of the code is missing in it, and its pictures are of today."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from cowork_jupyter.api import api  # noqa: F401 (its endpoints register themselves)
from cowork_jupyter.api.routes import table
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.hosts.cli.app import command_line
from cowork_jupyter.hosts.config import Cowork
from cowork_jupyter.hosts.kernel.completion import COMMANDS
from cowork_jupyter.service.parts import tools_of_parts
from cowork_jupyter.tools.registry import tools_with_kernels
from docs.site import ROOT, pictures
from docs.site.reference import commands_of, generated_files

PAGES = generated_files()


def test_every_route_is_in_the_reference() -> None:
    page = PAGES["reference/http.md"]
    missing = [one for one in table.routes if f"### {one.method} {one.path}\n" not in page]
    assert missing == []


def test_every_model_that_is_linked_is_described() -> None:
    page = PAGES["reference/http.md"]
    linked = {part.split(")")[0] for part in page.split("](#")[1:]}
    assert len(linked) > 30
    assert [anchor for anchor in linked if f"{{ #{anchor} }}" not in page] == []


def test_every_magic_is_in_the_reference() -> None:
    page = PAGES["reference/magics.md"]
    assert [name for name in COMMANDS if name != "status" and f"`%cowork {name}" not in page] == []
    for option in ("%%plan [-c NAME]", "%%act [-c NAME]", "%%ask [-c NAME]", "--policy FILE"):
        assert option in page


def test_every_setting_is_in_the_reference() -> None:
    page = PAGES["reference/settings.md"]
    assert [one for one in Cowork.class_trait_names(config=True) if f"## {one}\n" not in page] == []


def test_every_role_and_tool_is_in_the_reference() -> None:
    page = PAGES["reference/roles-and-tools.md"]
    assert [role for role in AgentRole if f"| `{role}` |" not in page] == []
    assert [
        tool for tool in tools_with_kernels(tools_of_parts()) if f"### {tool}\n" not in page
    ] == []


def test_every_command_is_in_the_reference() -> None:
    page = PAGES["reference/cli.md"]
    found = dict(commands_of(command_line()))
    assert {"plan", "act", "export", "doctor"} <= set(found)
    assert [name for name in found if f"## {name}\n" not in page] == []


def test_every_picture_is_drawn_by_a_browser_test_and_shown_in_a_page() -> None:
    assert [name for name in pictures.kept() if name not in pictures.drawn_by()] == []
    text = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    assert [name for name in pictures.kept() if f"images/{name}.png" not in text] == []


def test_a_picture_that_looks_otherwise_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, drawn = tmp_path / "kept", tmp_path / "drawn"
    monkeypatch.setattr(pictures, "KEPT", kept)
    monkeypatch.setattr(pictures, "DRAWN", drawn)
    for folder in (kept, drawn):
        folder.mkdir()
        for name in ("same", "changed"):
            Image.new("RGB", (640, 400), "white").save(folder / f"{name}.png")
    Image.new("RGB", (640, 400), "white").save(kept / "not-drawn-here.png")
    assert pictures.outdated() == []
    with Image.open(drawn / "changed.png") as picture:
        picture.paste("black", (0, 0, 160, 400))
        picture.save(drawn / "changed.png")
    assert pictures.outdated() == ["changed"]
    pictures.keep("changed")
    assert pictures.outdated() == []
