"""Plain questions are answered at once, with the numbers of the table, reading only."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.guide.texts import format_number

from .desk import Desk
from .requests.workspaces import SALES_CSV

pd = pytest.importorskip("pandas")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, scratch=True)


@pytest.fixture
def sales(desk: Desk) -> list[dict[str, str]]:
    desk.having({"sales.csv": SALES_CSV})
    return list(csv.DictReader(SALES_CSV.splitlines()))


def ask(desk: Desk, text: str, role: AgentRole = AgentRole.PLANNER) -> str:
    said = desk.ask(text, role)
    assert not said.startswith("{"), said
    assert {call["tool"] for call in desk.calls} <= {"list_directory", "read_file", "run_code"}
    return said


def test_answer_states_the_request_and_correct_numbers(
    desk: Desk, sales: list[dict[str, str]]
) -> None:
    said = ask(desk, "what is the average revenue by region?")
    assert said.startswith("**Mean of `revenue` by `region` in `sales.csv`**\n")
    frame = pd.DataFrame(sales)
    means = frame.revenue.astype(float).groupby(frame.region.str.strip().str.title()).mean()
    for region, mean in means.items():
        assert f"| {region} | {mean:,.2f} |" in said
    assert said.count("\n|") == 2 + len(means), "north, North and a padded north are one"
    assert "differ only in case or spaces" in said


def test_why_compares_periods_and_largest_changes(desk: Desk, sales: list[dict[str, str]]) -> None:
    said = ask(desk, "why is revenue low in march?")
    frame = pd.DataFrame(sales).astype({"revenue": float})
    frame = frame.assign(month=frame.date.str[:7], region=frame.region.str.strip().str.title())
    months = frame.groupby("month").revenue.sum()
    assert f"| 2024-02 | {format_number(round(months['2024-02'], 2))} |" in said
    assert f"| 2024-03 | {format_number(round(months['2024-03'], 2))} |" in said
    change = months["2024-03"] - months["2024-02"]
    assert f"| change | {format_number(round(change, 2))} |" in said
    sums = frame.groupby(["region", "month"]).revenue.sum().unstack()
    changes = sums["2024-03"] - sums["2024-02"]
    most = changes.abs().idxmax()
    first = said.split("| region |")[1].splitlines()[2]
    assert first.startswith(f"| {most} |")
    assert first.endswith(f"| {format_number(round(changes[most], 2))} |")
    assert "| product |" in said


SOLD = [row["units"] for row in csv.DictReader(SALES_CSV.splitlines()) if "-03-" in row["date"]]
IN_MARCH = sum(map(int, SOLD))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which columns does sales.csv have?", "| revenue | numbers |"),
        ("which product has the highest revenue?", ", top 1**"),
        ("top 2 products by units in each region?", "| region | product | units |"),
        ("are there missing values?", "No row fits."),
        ("what is the share of revenue by region?", " % |"),
        ("are there duplicates?", "\n\n0\n"),
        ("how many rows are there?", "\n\n120\n"),
        ("how many units did we sell in march?", f"\n\n{IN_MARCH}\n"),
        ("how many customers are there?", "\n\n3\n"),
        ("is there a correlation between price and units?", "Relation between `price` and `units`"),
        ("any outliers in units?", "No row fits."),
        ("how many sales were there between 2024-02 and 2024-03?", "\n\n40\n"),
    ],
)
@pytest.mark.usefixtures("sales")
def test_every_kind_of_question_is_answered(desk: Desk, question: str, expected: str) -> None:
    assert expected in ask(desk, question)


def test_yes_and_no_keep_the_spelling_of_long_files(desk: Desk) -> None:
    desk.having({"orders.csv": "item,Paid,sum\n" + "a,Yes,1\nb,No,2\nc,Yes,3\n" * 200})
    said = ask(desk, "how many orders were not paid?")
    assert said.startswith('**Number of rows in `orders.csv` where `Paid` is "No"**\n\n200\n')
    assert "| Yes | 800 |" in ask(desk, "what is the total sum by paid?")


def test_unreadable_values_are_left_out_and_named(desk: Desk) -> None:
    frame = pd.DataFrame(
        {"name": list("abc"), "started": ["2017-03-01", "2018-03-01", "2019-01-09"]}
    )
    frame.to_parquet(desk.folder / "t.parquet")
    said = ask(desk, "how many rows have started since 2018 in t.parquet?")
    assert "\n\n2\n" in said
    assert "are left out" in said


def test_numeric_groups_are_not_percentages(desk: Desk) -> None:
    hours = "".join(
        f"2024-01-0{n} {hour}:30\n" for n, hour in enumerate(("09", "09", "17", "09"), 1)
    )
    desk.having({"t.csv": f"day\n{hours}"})
    assert "| 9 | 75 % |" in ask(desk, "what is the share of rows by hour?")


def test_odd_names_and_values_are_escaped(desk: Desk) -> None:
    text = 'group,"it\'s ""a"" | b"\n"x\'; DROP",1\n"y|<b>",2\n"x\'; DROP",4\n'
    desk.having({"o'dd; x.csv": text})
    said = ask(desk, 'what is the sum of `it\'s "a" | b` by group?')
    assert "| x'; DROP | 5 |" in said
    assert "| y\\|&lt;b> | 2 |" in said


def test_charts_and_missing_sandbox_become_a_plan(tmp_path: Path) -> None:
    for scratch, question, action in (
        (False, "what is the average revenue by region?", "Mean of `revenue` by `region`"),
        (True, "can you plot revenue by region?", "Bar chart of the sum of `revenue`"),
    ):
        made = Desk(tmp_path, scratch=scratch).having({"sales.csv": SALES_CSV}).plan(question)
        assert made["steps"][0]["action"].startswith(action)
