"""The guide as reviewer: what it reads, in which form it answers, and what it says of itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.replies import Review
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.guide.reviewing.reviewed_file import ReviewedFile
from cowork_jupyter.guide.reviewing.reviewer import MAX_FINDINGS, review_of

from ..desk import Desk, step
from .cells import cell, file, notebook

OURS = Path(__file__).parents[4] / "notebooks"
KEY = "sk-" + "proj4Hq9ZtLw7Bx2Vc8Nm1"


def write(path: Path, *sources: str, **more: Any) -> None:
    cells = [
        {"id": f"c{at}", "cell_type": "code", "source": source, "metadata": {}, "outputs": [],
         "execution_count": at, **more}
        for at, source in enumerate(sources, 1)
    ]  # fmt: skip
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(document))


def reviewed(desk: Desk, request: Any = "Review this notebook", **more: Any) -> Review:
    return Review.model_validate_json(desk.ask(request, AgentRole.REVIEWER, **more))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_findings_come_by_severity_each_with_place_evidence_and_advice(desk: Desk) -> None:
    write(
        desk.folder / "work.ipynb",
        "import json\nimport pandas as pd",
        "df = pd.read_csv('/home/ada/sales.csv')",
        f"try:\n    key = '{KEY}'\nexcept Exception:\n    pass",
        "print(prices)",
    )
    found = reviewed(desk, notebook="work.ipynb")
    assert found.verdict == "request_changes"
    assert [one.severity for one in found.findings] == [
        *("critical", "major", "major", "minor", "minor"),
    ]
    assert [one.comment.partition(":")[0] for one in found.findings] == [
        "Cell 3 (`c3`), line 2",
        "Cell 3 (`c3`), line 3",
        "Cell 4 (`c4`), line 1",
        "Cell 1 (`c1`), line 1",
        "Cell 2 (`c2`), line 1",
    ]
    assert all(one.file == "work.ipynb" and one.suggestion for one in found.findings)
    assert KEY not in found.text
    assert "They found 1 critical, 2 major and 2 minor." in found.summary
    used = [call["tool"] for call in desk.calls]
    assert used == ["list_directory", "read_notebook"], "it reads as everybody has to"


def test_it_ends_with_what_it_cannot_judge_and_did_not_look_at(desk: Desk) -> None:
    write(desk.folder / "work.ipynb", "x = 1", "%%R\nplot(x)", "for x in:")
    said = reviewed(desk, notebook="work.ipynb").summary
    assert "have no judgement beyond them. I did not look at the code of cells 2 and 3" in said
    assert said.endswith("what the outputs show, and what the text says.")


def test_of_a_clean_notebook_it_says_so(desk: Desk) -> None:
    write(desk.folder / "work.ipynb", "x = 1", "print(x)")
    found = reviewed(desk)
    assert (found.verdict, found.findings) == ("approve", [])
    assert (
        "I checked `work.ipynb` (2 cells) by rules. None of them found anything." in found.summary
    )


@pytest.mark.parametrize("path", sorted(path.name for path in OURS.glob("*.ipynb")))
def test_our_own_notebooks_raise_no_alarm(path: str) -> None:
    assert reviewed(Desk(OURS), f"Review {path}").findings == []


def test_files_that_are_named_are_reviewed_and_no_others(desk: Desk) -> None:
    write(desk.folder / "work.ipynb", "import json")
    (desk.folder / "clean.py").write_text("import os\n\ntry:\n    f()\nexcept: pass\n")
    found = reviewed(desk, "Review clean.py, please", notebook="work.ipynb")
    assert [(one.file, one.line) for one in found.findings] == [("clean.py", 5), ("clean.py", 1)]
    both = reviewed(desk, "Check `clean.py` and work.ipynb")
    assert {one.file for one in both.findings} == {"clean.py", "work.ipynb"}
    assert "`clean.py` and `work.ipynb` (1 cell)" in both.summary


def test_the_word_review_names_no_file(desk: Desk) -> None:
    write(desk.folder / "review.ipynb", "x = 1")
    write(desk.folder / "work.ipynb", "import json")
    assert reviewed(desk, notebook="work.ipynb").findings[0].file == "work.ipynb"


def test_a_file_that_is_not_there_is_said_so(desk: Desk) -> None:
    write(desk.folder / "work.ipynb", "x = 1")
    said = json.loads(desk.ask("Review gone.py", AgentRole.REVIEWER, notebook="work.ipynb"))
    assert said["status"] == "failed"
    assert "I cannot read `gone.py`" in said["summary"]


def test_which_of_several_notebooks_is_asked(desk: Desk) -> None:
    for name in ("a", "b"):
        write(desk.folder / f"{name}.ipynb", "import json")
    assert reviewed(desk, "Review the notebook", answers=["b.ipynb"]).findings[0].file == "b.ipynb"


def test_a_long_notebook_is_read_to_its_end(desk: Desk) -> None:
    write(desk.folder / "work.ipynb", *(f"x{n} = {n}" for n in range(130)), "import json")
    found = reviewed(desk)
    assert found.findings[0].comment.startswith("Cell 131 ")
    assert [call["parameters"].get("offset") for call in desk.calls] == [None, None, 100]


def test_outputs_errors_and_languages_are_told_by_the_tool(desk: Desk) -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
    big = {"output_type": "stream", "name": "stdout", "text": "x" * 2_000_000}
    write(desk.folder / "work.ipynb", "f()", outputs=[error, big])
    comments = [one.comment for one in reviewed(desk).findings]
    assert any("It ended with an error." in one for one in comments)
    assert any("Its output takes 2.0 MB" in one for one in comments), comments
    document = json.loads((desk.folder / "work.ipynb").read_text())
    document["metadata"] = {"language_info": {"name": "R"}}
    (desk.folder / "work.ipynb").write_text(json.dumps(document))
    found = reviewed(desk)
    assert "which is not Python" in found.summary
    assert not any("no cell defines" in one.comment for one in found.findings)


def test_a_step_of_a_plan_ends_with_a_review_too(desk: Desk) -> None:
    (desk.folder / "clean.py").write_text("import os\n")
    assert reviewed(desk, step("Review clean.py")).findings[0].line == 1


@pytest.mark.parametrize("request_", ["Hello!", "What can you do?"])
def test_small_talk_stays_small_talk(desk: Desk, request_: str) -> None:
    assert not desk.ask(request_, AgentRole.REVIEWER).startswith("{")


def test_it_explains_a_notebook_and_sends_questions_about_tables_to_the_planner(
    desk: Desk,
) -> None:
    write(desk.folder / "work.ipynb", "x = 1")
    (desk.folder / "sales.csv").write_text("day,price\n2024-01-01,1\n")
    assert "`work.ipynb` has 1 cell," in desk.ask("Explain work.ipynb", AgentRole.REVIEWER)
    said = desk.ask("How many rows has sales.csv?", AgentRole.REVIEWER)
    assert "switch to Planner" in said


@pytest.mark.parametrize("request_", ["Have a look", "Is this right?", "Anything wrong here?"])
def test_people_ask_for_a_review_in_many_ways(desk: Desk, request_: str) -> None:
    write(desk.folder / "work.ipynb", "x = 1")
    assert reviewed(desk, request_, notebook="work.ipynb").verdict == "approve"


def test_only_minor_findings_are_no_reason_to_ask_for_changes() -> None:
    found = review_of([notebook("import json")])
    assert (found.verdict, [one.severity for one in found.findings]) == ("approve", ["minor"])


def test_of_very_many_findings_the_worst_are_shown() -> None:
    imports = file("\n".join(f"import module{n}" for n in range(MAX_FINDINGS + 5)))
    keys = ReviewedFile("work.ipynb", [cell(1, f"k = '{KEY}'", 1)], total=1)
    found = review_of([imports, keys])
    assert found.findings[0].severity == "critical"
    assert len(found.findings) == MAX_FINDINGS + 1
    assert found.findings[-1].comment == "And 6 more, none of them more serious."
