"""Notes of a workspace, and the line that says what guided a run."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.guidance import (
    Guidance,
    MemoryNote,
    guidance_line,
    lines_in,
    notes_in,
    remove_note,
    with_notes,
)

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


SALES = MemoryNote(section="Files", about="`sales.csv`", says="columns `date`, `units`")
JOIN = MemoryNote(section="Joins", about="`sales.csv` + `stores.csv`", says="join on `store`")
TODAY, LATER = "2026-11-16", "2026-12-01"


def test_first_notes_make_a_file_with_headings() -> None:
    made = with_notes("", [JOIN, SALES], TODAY)
    assert made.startswith("# What Cowork remembers of this workspace\n\nLearned from runs")
    assert made.endswith(
        "\n\n## Files\n\n- `sales.csv`: columns `date`, `units` (2026-11-16)\n"
        "\n## Joins\n\n- `sales.csv` + `stores.csv`: join on `store` (2026-11-16)\n"
    )


def test_what_is_known_already_changes_nothing() -> None:
    made = with_notes("", [JOIN, SALES], TODAY)
    assert with_notes(made, [SALES, JOIN], LATER) == made


def test_news_about_the_same_take_the_place_of_the_old() -> None:
    made = with_notes("", [SALES, JOIN], TODAY)
    news = SALES.model_copy(update={"says": "columns `date`, `units`, `price`"})
    changed = with_notes(made, [news], LATER)
    assert "- `sales.csv`: columns `date`, `units`, `price` (2026-12-01)\n" in changed
    assert "(2026-11-16)\n\n## Joins" not in changed
    assert "join on `store` (2026-11-16)" in changed


def test_what_people_wrote_into_it_stays() -> None:
    own = (
        "# My notes\n\nAsk Ada about prices.\n\n## Files\n\n- the big one is gone\n\n## Odd\n\nx\n"
    )
    made = with_notes(own, [SALES, JOIN], TODAY)
    assert "Ask Ada about prices." in made
    assert "- the big one is gone\n- `sales.csv`: columns" in made
    assert made.index("## Odd") < made.index("## Joins")


def test_notes_with_colons_are_read_back() -> None:
    odd = MemoryNote(section="Answers", about="For “sum: by month”", says="`a: b.csv`")
    made = with_notes("", [SALES, odd], TODAY)
    assert notes_in(made) == [SALES, odd]
    assert notes_in("no notes\n- here: either") == []


def test_forgetting_removes_notes_and_keeps_headings() -> None:
    made = with_notes("", [SALES, JOIN], TODAY)
    left = remove_note(made, "STORES.csv")
    assert notes_in(left) == [SALES]
    assert "## Joins" in left
    assert remove_note(made, "nothing of it") == made


def test_lines_are_told_with_the_heading_above_them() -> None:
    assert lines_in("top\n# A\n\n- one\n## B\n- two") == [
        ("", "top"),
        ("A", "- one"),
        ("B", "- two"),
    ]
