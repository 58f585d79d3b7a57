"""What a visitor reads: short, and its lists and links are true."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from docs.site import ROOT

DECISIONS = ROOT / "docs" / "decisions"
TOPS = (ROOT, ROOT / "cowork_jupyter")
BUILT = {"cowork_jupyter/static"}
PAPERS = [
    *ROOT.glob("*.md"),
    *(ROOT / name for name in ("integrations/README.md", "docs/decisions/README.md")),
]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    return text.split(f"\n## {title}\n")[1].split("\n## ")[0].strip()


@pytest.mark.parametrize(("name", "most"), [("README.md", 700), ("ARCHITECTURE.md", 1500)])
def test_page_is_short(name: str, most: int) -> None:
    assert len(read(name).split()) <= most


def test_each_version_in_the_changelog_is_short() -> None:
    _, *versions = re.split(r"^## ", read("CHANGELOG.md"), flags=re.MULTILINE)
    assert [text.split()[0] for text in versions if text.count("\n") > 60] == []


@pytest.mark.parametrize("title", ["Add a tool", "Add a card section"])
def test_recipe_is_short(title: str) -> None:
    assert section(read("CONTRIBUTING.md"), title).count("\n") < 30


def test_every_run_time_dependency_has_its_reason() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    extras = project["optional-dependencies"].values()
    needed = [*project["dependencies"], *(one for extra in extras for one in extra)]
    names = {re.split(r"[\[<>=]", one)[0] for one in needed} - {project["name"]}
    reasons = section(read("ARCHITECTURE.md"), "Run-time dependencies")
    assert len(names) > 15
    assert [name for name in sorted(names) if not re.search(rf"`{name}[`\[]", reasons)] == []


def test_every_decision_is_numbered_and_listed() -> None:
    records = sorted(DECISIONS.glob("0*.md"))
    assert [path.name[:4] for path in records] == [f"{n:04}" for n in range(1, len(records) + 1)]
    listed = re.findall(r"^- \[\d+\]\((.+)\) (.+)$", read("docs/decisions/README.md"), re.MULTILINE)
    titles = [(path.name, path.read_text("utf-8").partition("\n")[0][7:]) for path in records]
    assert sorted(listed) == titles


def test_every_decision_has_its_three_parts() -> None:
    expected = ["Context", "Decision", "Consequence"]
    for path in DECISIONS.glob("0*.md"):
        found = re.findall(r"^\*\*(\w+)\.\*\* \w?", path.read_text("utf-8"), re.MULTILINE)
        assert found == expected, path.name


@pytest.mark.parametrize("path", PAPERS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize(
    "path",
    [
        ROOT / "ARCHITECTURE.md",
        ROOT / "docs/reference/folders.md",
        *sorted(DECISIONS.glob("0*.md")),
    ],
    ids=lambda path: path.stem,
)
def test_files_and_folders_that_are_named_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    files = re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|tsx?|json|md))`", text)
    folders = re.findall(r"`((?:cowork_jupyter|js|tests|docs)/[\w/.-]+)`", text)
    places = {*files, *folders} - BUILT
    assert [one for one in sorted(places) if not any((top / one).exists() for top in TOPS)] == []
