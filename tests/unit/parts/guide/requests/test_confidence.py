"""What an outsider's requests were once answered with: something smaller than was asked.

More of them are in `confidence.txt`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.guide.reading import read, sentence

from ..desk import Desk
from .workspaces import PURCHASES, table


def test_offers_never_mean_the_opposite() -> None:
    for text in (
        "total revenue neither North nor A",
        "revenue without 2024 forecast by region",
        "orders that haven't come from North",
    ):
        assert read(text, [PURCHASES]).nearest == ()


def test_column_wins_over_dataframe_of_the_same_name(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    (tmp_path / "trips.csv").write_text("town,rides\nOslo,3\nRome,5\n")
    desk = Desk(tmp_path, scratch=True, frames={"rides": pandas.DataFrame({"town": ["Oslo"]})})
    made = desk.plan("total `rides` by `town` in `trips.csv`")
    assert made["steps"][0]["action"] == "Sum of `rides` by `town` in `trips.csv`"


FLAGGED = "flight_no,cancelled,late,delay,cause\n" + "".join(
    f"{n},{n % 3 == 0},{int(n % 2 == 0)},{n},{'fog' if n % 4 else ''}\n" for n in range(12)
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("how many flights were cancelled?", "| 4 |"),
        ("how many flights are not cancelled?", "| 8 |"),
        ("average delay for late flights?", "where `late` is 1** | 5 |"),
        ("show the cancelled flights?", "| 9 | True |"),
        ("share of flights by cause?", "| fog | 75 % |"),
        ("number of flights by cause?", "| – | 3 |"),
    ],
)
def test_boolean_columns_filter_and_missing_groups_count(
    text: str, shown: str, tmp_path: Path
) -> None:
    (tmp_path / "flights.csv").write_text(FLAGGED)
    said = Desk(tmp_path, scratch=True).ask(text, AgentRole.PLANNER)
    flat = " ".join(said.replace("\n\n", " | ").split()) + " |"
    assert shown in flat, said


def test_question_keeps_other_cleaning_actions() -> None:
    found = read("remove duplicate rows and fill missing units in orders.csv", [PURCHASES])
    assert found.question == "Fill them with what?"
    assert all(sentence(each).count("remove duplicate rows") for (each,) in found.choices)


def test_ambiguous_dates_are_left_unchanged(tmp_path: Path) -> None:
    exams = "student,exam_date,status\nA,11/02/2024,200\nB,03/04/2024,404\nA,11/02/2024,200\n"
    desk = Desk(tmp_path, scratch=True).having({"exams.csv": exams})
    assert "11/02/2024" in desk.ask("are there duplicates in exams.csv?", AgentRole.PLANNER)
    desk.ask("remove duplicate rows from exams.csv; number of rows by month", answers=["month"])
    written = (tmp_path / "exams_clean.csv").read_text()
    assert written == "student,exam_date,status\nA,11/02/2024,200\nB,03/04/2024,404\n"
    assert "2024-11" in desk.outputs[-1], "the second of November"


def test_two_ambiguous_parts_are_one_question() -> None:
    more = table("wares", "day,units", ["2024-01-02,3", "2024-02-02,"])
    found = read("fill missing units and plot total units by month", [PURCHASES, more])
    assert found.question == "Which table do you mean?"
    for each in found.choices:
        assert [request.verb for request in each] == ["clean", "aggregate"]
        assert each[1].table.path == each[0].output_file
