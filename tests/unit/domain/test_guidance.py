"""What guided a run, in one line."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.guidance import Guidance, guidance_line

TOP = Guidance(kind="instructions", name="AGENTS.md", source="workspace")
NEAR = Guidance(kind="instructions", name="data/AGENTS.md", source="workspace")
OWN = Guidance(kind="instructions", name="~/.jupyter/cowork/AGENTS.md", source="user")
MEMORY = Guidance(kind="memory", name=".cowork/memory.md", source="workspace")
JOINS = Guidance(kind="skill", name="joins", source="package")
REPORT = Guidance(kind="template", name="monthly-report", source="user")


@pytest.mark.parametrize(
    ("used", "line"),
    [
        ([], ""),
        ([TOP, NEAR], "Guided by AGENTS.md, data/AGENTS.md"),
        ([OWN, TOP], "Guided by your own AGENTS.md, AGENTS.md"),
        ([JOINS, MEMORY], "Guided by what is known about this workspace · skill joins"),
        ([REPORT], "Follows your template monthly-report"),
        (
            [TOP, JOINS, REPORT],
            "Guided by AGENTS.md · skill joins · follows your template monthly-report",
        ),
    ],
)
def test_all_kinds_in_one_line(used: list[Guidance], line: str) -> None:
    assert guidance_line(used) == line


def test_names_are_written_as_the_place_wants_them() -> None:
    assert guidance_line([TOP, REPORT], repr) == (
        "Guided by 'AGENTS.md' · follows your template 'monthly-report'"
    )
