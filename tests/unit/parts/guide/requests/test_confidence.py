"""What an outsider's requests were once answered with: something smaller than was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.guide.reading import read, sentence
from cowork_jupyter.parts.guide.tables import Table

from ..desk import Desk, known

PEOPLE = ["F,yes,none,31", "female,no,Flu,40", "M,Yes,flu,52", "male,no,none,18", "f ,no,Flu,18"]


def table(name: str, head: str, rows: list[str]) -> Table:
    return known(f"{name}.csv", "\n".join([head, *rows, ""]), lines=len(rows) + 1)


SALES = table(
    "orders",
    "order_id,customer_id,date,region,product,units,price,revenue",
    [
        f"{n},{n % 9},202{4 + n % 2}-0{n % 9 + 1}-03,{region},{'AB'[n % 2]},{n % 7},{n}.5,{n * 9}"
        for n, region in enumerate(["North", "South"] * 20)
    ],
)
PATIENTS = table("patients", "sex,smoker,diagnosis,age", PEOPLE)
GERMAN = table("umsatz", "Filiale;Umsatz", ["Ost;1.417,39", "West;12,5"])


@pytest.mark.parametrize(
    "text",
    [
        "show the row with the highest price in each region",
        "show the 3 rows with the highest revenue per product",
        "how many regions have revenue above 300",
        "how many products have revenue over 200",
        "revenue per unit",
        "average price per unit by product",
        "share of region North per product",
        "share of each product within each region",
        "share of orders over 50 revenue by region",
        "total revenue not from North by",
        "revenue excluding 2024 by region",
    ],
)
def test_what_would_be_another_question_is_not_answered(text: str) -> None:
    found = read(text, [SALES])
    assert (found.requests, found.choices) == ((), ())


def test_an_average_per_period_is_asked_about() -> None:
    for text in ("average monthly revenue", "mean revenue per day by region", "max daily revenue"):
        found = read(text, [SALES])
        assert not found.requests
        assert found.question.startswith("Of the rows of each")
    assert read("total monthly revenue", [SALES]).requests
    assert read("mean price by month", [SALES]).requests


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("how many smokers are there", 'where `smoker` is one of "yes", "Yes"'),
        ("number of patients by smoker", "number of rows by `smoker`"),
        ("patients who are not smokers", 'where `smoker` is "no"'),
        ("how many women", 'where `sex` is one of "F", "f", "female"'),
        ("mean age of male patients", 'where `sex` is one of "M", "male"'),
        ("different diagnosis", "number of rows by `diagnosis`"),
        ("how many different diagnosis", "number of different `diagnosis`"),
        ("youngest patient", "the row with the lowest `age`"),
        ("show patients", "first 10 rows"),
    ],
)
def test_people_are_found_in_every_spelling(text: str, understood: str) -> None:
    (request,) = read(text, [PATIENTS]).requests
    assert understood in sentence(request)


def test_a_comparison_in_a_year_is_of_the_groups() -> None:
    (request,) = read("compare revenue between North and South in 2025", [SALES]).requests
    assert (request.groups, request.time) == (("region",), "")
    assert 'between "North" and "South" of `region`' in sentence(request)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("rows where Umsatz > 1.000,50", "1000.50"),
        ("rows where Umsatz > 0,5", "0.5"),
        ("rows where Umsatz > 1.000", None),
        ("rows where Umsatz > 1,000.50", "1000.50"),
        ("rows where Umsatz > 2.000.000", "2000000"),
    ],
)
def test_numbers_are_written_as_in_the_file_or_asked_about(text: str, value: str | None) -> None:
    found = [each.filters[0].values[0] for each in read(text, [GERMAN]).requests]
    assert found == ([value] if value else [])


def test_offers_never_mean_the_opposite() -> None:
    for text in (
        "total revenue neither North nor A",
        "revenue without 2024 forecast by region",
        "orders that haven't come from North",
    ):
        assert read(text, [SALES]).nearest == ()


def test_a_column_of_a_named_file_is_no_dataframe_of_that_name(tmp_path: Path) -> None:
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
def test_flags_are_conditions_and_rows_without_a_group_count(
    text: str, shown: str, tmp_path: Path
) -> None:
    (tmp_path / "flights.csv").write_text(FLAGGED)
    said = Desk(tmp_path, scratch=True).ask(text, AgentRole.PLANNER)
    flat = " ".join(said.replace("\n\n", " | ").split()) + " |"
    assert shown in flat, said


def test_a_question_keeps_the_actions_beside_it() -> None:
    found = read("remove duplicate rows and fill missing units in orders.csv", [SALES])
    assert found.question == "Fill them with what?"
    assert all(sentence(each).count("remove duplicate rows") for (each,) in found.choices)
    assert not read("replace units above 3 with missing", [SALES]).is_understood


def test_what_is_drawn_against_something_goes_upwards() -> None:
    (request,) = read("plot revenue against price", [SALES]).requests
    assert request.columns == ("price", "revenue")


@pytest.mark.parametrize(
    ("text", "group", "is_least"),
    [("most common diagnosis", "diagnosis", False), ("which sex is least frequent", "sex", True)],
)
def test_the_most_common_is_counted(text: str, group: str, is_least: bool) -> None:
    (request,) = read(text, [PATIENTS]).requests
    assert (request.aggregate, request.groups, request.limit) == ("count", (group,), 1)
    assert request.ascending is is_least


EXAMS = "student,exam_date,status\nA,11/02/2024,200\nB,03/04/2024,404\nA,11/02/2024,200\n"


def test_dates_that_can_be_read_in_two_ways_are_left_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "exams.csv").write_text(EXAMS)
    desk = Desk(tmp_path, scratch=True)
    assert "11/02/2024" in desk.ask("are there duplicates in exams.csv?", AgentRole.PLANNER)
    desk.ask("remove duplicate rows from exams.csv; number of rows by month", answers=["month"])
    written = (tmp_path / "exams_clean.csv").read_text()
    assert written == "student,exam_date,status\nA,11/02/2024,200\nB,03/04/2024,404\n"
    assert "2024-11" in desk.outputs[-1], "the second of November"


def test_codes_are_not_added_up_for_a_share() -> None:
    found = read("percentage of status by student", [known("exams.csv", EXAMS)])
    assert (found.requests, found.question) == ((), "The share of what?")


def test_a_year_may_be_of_a_column_or_of_a_date() -> None:
    crops = table(
        "crops", "field,year,harvest_date,area", ["A,2021,2021-07-03,1", "B,2021,2022-01-15,2"]
    )
    filters = [each.filters[0].column for (each,) in read("total area in 2021", [crops]).choices]
    assert sorted(filters) == ["harvest_date", "year"]


def test_what_is_half_understood_is_asked_about() -> None:
    found = read("replace missing price with 0 and lower case", [SALES])
    assert not found.is_understood


def test_two_open_parts_are_one_question() -> None:
    more = table("wares", "day,units", ["2024-01-02,3", "2024-02-02,"])
    found = read("fill missing units and plot total units by month", [SALES, more])
    assert found.question == "Which table do you mean?"
    for each in found.choices:
        assert [request.verb for request in each] == ["clean", "aggregate"]
        assert each[1].table.path == each[0].output_file
