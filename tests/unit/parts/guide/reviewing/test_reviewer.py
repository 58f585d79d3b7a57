"""The guide as reviewer: what it reads, in which form it answers, and what it says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.replies import Review
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.guide.review import MAX_FINDINGS, ReviewedFile, review_of

from ..desk import Desk, step, write_notebook
from .test_rules import KEY, cell, file, notebook

OURS = Path(__file__).parents[5] / "notebooks"
HERE = "path = '/home/ada/sales.csv'"
ERROR = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}


def reviewed(desk: Desk, request: Any = "Review this notebook", **more: Any) -> Review:
    return Review.model_validate_json(desk.ask(request, AgentRole.REVIEWER, **more))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_findings_are_sorted_by_severity_with_place_and_advice(desk: Desk) -> None:
    write_notebook(
        desk.folder / "work.ipynb",
        "import json\nroot = '/home/ada'",
        "print(open('C:/data/sales.csv'))",
        f"try:\n    key = '{KEY}'\nexcept Exception:\n    pass",
        "print(prices)",
    )
    found = reviewed(desk, notebook="work.ipynb")
    assert found.verdict == "request_changes"
    assert [f"{one.severity}: {one.comment.partition(':')[0]}" for one in found.findings] == [
        "critical: Cell 3 (`c3`), line 2",
        "major: Cell 3 (`c3`), line 3",
        "major: Cell 4 (`c4`), line 1",
        "minor: Cell 1 (`c1`), line 2",
        "minor: Cell 2 (`c2`), line 1",
    ]
    assert all(one.file == "work.ipynb" and one.suggestion for one in found.findings)
    assert KEY not in found.text
    assert "They found 1 critical, 2 major and 2 minor." in found.summary
    used = [call["tool"] for call in desk.calls]
    assert used == ["list_directory", "read_notebook"], "it reads as everybody has to"


@pytest.mark.parametrize(
    ("cells", "more", "said"),
    [
        (["x = 1", "%%R\nplot(x)", "for x in:"], {}, "I did not look at the code of cells 3 and 4"),
        (["x = 1", "print(x)"], {}, "`work.ipynb` (3 cells) by rules. None of them found anything"),
        (["x <- y"], {"language": "R"}, "which is not Python"),
        (["f()"], {"outputs": [ERROR]}, "They found 2 major."),
    ],
)
def test_summary_names_findings_and_what_was_not_read(
    cells: list[str], more: dict[str, Any], said: str, desk: Desk
) -> None:
    write_notebook(desk.folder / "work.ipynb", "def f(): ...", *cells, **more)
    summary = reviewed(desk).summary
    assert said in summary
    assert summary.endswith("what the outputs show, and what the text says.")


@pytest.mark.parametrize("path", sorted(path.name for path in OURS.glob("*.ipynb")))
def test_our_notebooks_have_no_findings(path: str) -> None:
    assert reviewed(Desk(OURS), f"Review {path}").findings == []


@pytest.mark.parametrize(
    ("request_", "more", "files"),
    [
        ("Review clean.py, please", {"notebook": "work.ipynb"}, {"clean.py"}),
        ("Check `clean.py` and work.ipynb", {}, {"clean.py", "work.ipynb"}),
        ("Review", {"notebook": "work.ipynb"}, {"work.ipynb"}),  # it names no file
        ("Have a look", {"notebook": "work.ipynb"}, {"work.ipynb"}),
        ("Review the notebook", {"answers": ["review.ipynb"]}, {"review.ipynb"}),
        (step("Review clean.py"), {}, {"clean.py"}),
    ],
)
def test_only_the_named_files_are_reviewed(
    request_: Any, more: dict[str, Any], files: set[str], desk: Desk
) -> None:
    write_notebook(desk.folder / "work.ipynb", HERE)
    write_notebook(desk.folder / "review.ipynb", HERE)
    (desk.folder / "clean.py").write_text(HERE)
    assert {one.file for one in reviewed(desk, request_, **more).findings} == files


def test_other_requests_are_answered_without_a_review(desk: Desk) -> None:
    write_notebook(desk.folder / "work.ipynb", "x = 1")
    desk.having({"sales.csv": "day,price\n2024-01-01,1\n"})
    for text, said in (
        ("Review gone.py", "I cannot read `gone.py`"),
        ("Hello!", "I am the built-in guide"),
        ("Explain work.ipynb", "`work.ipynb` has 1 cell,"),
        ("How many rows has sales.csv?", "I am the built-in guide"),
    ):
        answer = desk.ask(text, AgentRole.REVIEWER, notebook="work.ipynb")
        assert said in answer
        assert '"findings"' not in answer


def test_a_long_notebook_is_read_to_its_end(desk: Desk) -> None:
    write_notebook(desk.folder / "work.ipynb", *(f"x{n} = {n}" for n in range(130)), HERE)
    found = reviewed(desk)
    assert found.findings[0].comment.startswith("Cell 131 ")
    assert [call["parameters"].get("offset") for call in desk.calls] == [None, None, 100]


def test_worst_findings_are_kept_and_minor_ones_approve() -> None:
    assert review_of([notebook(HERE)]).verdict == "approve"
    paths = file("\n".join(HERE for _ in range(MAX_FINDINGS + 5)))
    keys = ReviewedFile("work.ipynb", [cell(1, f"k = '{KEY}'", 1)], total=1)
    found = review_of([paths, keys])
    assert (found.verdict, found.findings[0].severity) == ("request_changes", "critical")
    assert len(found.findings) == MAX_FINDINGS + 1
    assert found.findings[-1].comment == "And 6 more, none of them more serious."
