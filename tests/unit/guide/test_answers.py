"""Plain questions are answered at once, with the numbers of the table, reading only."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.effects.figures import assumptions_in
from cowork_jupyter.guide.answers import format_number
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox
from tests.workbook import write_workbook

from .desk import Desk
from .requests import workspaces

pd = pytest.importorskip("pandas")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    folder = tmp_path / "workspace"
    folder.mkdir()
    sandbox = Sandbox(Settings(folder, tmp_path / "data"))

    def context(workspace: Workspace, role: AgentRole) -> ToolContext:
        return ToolContext(workspace, role, sandbox=sandbox)

    monkeypatch.setattr("tests.unit.guide.desk.ToolContext", context)
    yield Desk(folder)
    sandbox.close()


@pytest.fixture
def sales(desk: Desk) -> list[dict[str, str]]:
    text = workspaces._sales()
    (desk.folder / "sales.csv").write_text(text)
    return list(csv.DictReader(text.splitlines()))


def ask(desk: Desk, text: str, role: AgentRole = AgentRole.PLANNER) -> str:
    said = desk.ask(text, role)
    assert not said.startswith("{"), said
    assert {call["tool"] for call in desk.calls} <= {"list_directory", "read_file", "query_table"}
    return said


@pytest.mark.process
def test_an_answer_says_what_was_understood_and_then_the_true_numbers(
    desk: Desk, sales: list[dict[str, str]]
) -> None:
    said = ask(desk, "what is the average revenue by region?")
    assert said.startswith("**Mean of `revenue` by `region` in `sales.csv`**\n")
    frame = pd.DataFrame(sales)
    means = frame.revenue.astype(float).groupby(frame.region.str.strip().str.lower()).mean()
    for region, mean in means.items():
        assert f"| {region} | {mean:,.2f} |" in said
    assert said.count("\n|") == 2 + len(means), "north, North and a padded north are one"
    assert "written in several ways" in said


@pytest.mark.process
def test_the_best_of_each_group_are_those_of_that_group(
    desk: Desk, sales: list[dict[str, str]]
) -> None:
    said = ask(desk, "which 2 products sell best in each region?")
    frame = pd.DataFrame(sales).astype({"units": int})
    regions = frame.region.str.strip().str.lower()
    best = frame.groupby([regions, "product"]).units.sum().groupby(level=0, group_keys=False)
    for (region, product), units in best.nlargest(2).items():
        assert f"| {region} | {product} | {units:,} |" in said
    assert said.count("\n|") == 2 + 2 * regions.nunique()


@pytest.mark.process
def test_one_number_is_one_number(desk: Desk, sales: list[dict[str, str]]) -> None:
    assert f"\n\n{len(sales)}\n" in ask(desk, "how many rows are there?")
    total = sum(int(row["units"]) for row in sales if row["date"].startswith("2024-03"))
    assert f"\n\n{total:,}\n" in ask(desk, "how many units did we sell in march?")
    assert "\n\n3\n" in ask(desk, "how many customers are there?")


@pytest.mark.process
@pytest.mark.parametrize("role", [AgentRole.PLANNER, AgentRole.ACTOR])
def test_what_else_could_be_meant_is_said(
    desk: Desk, sales: list[dict[str, str]], role: AgentRole
) -> None:
    said = ask(desk, "what is the revenue by region?", role)
    assert said.startswith("**Sum of `revenue` by `region`")
    (assumed, _) = assumptions_in(said)
    assert assumed.alternatives == ["mean of `revenue` by `region` in `sales.csv`"]
    news = f"Wrong assumption: {assumed.text}\nInstead: {assumed.alternatives[0]}"
    assert ask(desk, news, role).startswith("**Mean of `revenue` by `region`")
    assert sales


@pytest.mark.process
def test_why_names_both_sides_and_what_changed_most(
    desk: Desk, sales: list[dict[str, str]]
) -> None:
    said = ask(desk, "why is march low?")
    frame = pd.DataFrame(sales)
    frame["revenue"] = frame.revenue.astype(float)
    frame["month"] = frame.date.str[:7]
    february, march = (frame[frame.month == f"2024-{n}"].revenue.sum() for n in ("02", "03"))
    sides = [format_number(round(one, 2)) for one in (february, march, march - february)]
    assert " | ".join(sides) in said
    parts = frame.assign(region=frame.region.str.strip().str.lower())
    changes = {
        f"{name}: {value}": abs(
            rows[rows.month == "2024-03"].revenue.sum()
            - rows[rows.month == "2024-02"].revenue.sum()
        )
        for name in ("region", "product", "customer")
        for value, rows in parts.groupby(name)
    }
    assert f"| {max(changes, key=lambda one: changes[one])} |" in said


@pytest.mark.process
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which columns does sales.csv have?", "| revenue | numbers |"),
        ("which product sells best?", ", top 1**"),
        ("are there missing values?", "No row fits."),
        ("are there duplicates?", "\n\n0\n"),
        ("is there a correlation between price and units?", "| correlation | rows |"),
        ("any outliers in units?", "| column | outliers |"),
        ("how are prices distributed?", "| median |"),
        ("what share of revenue comes from the west?", " % |"),
        ("what is the chair rate by customer?", "| Acme | chair | 25 % |"),
        ("what is the date range?", "2024-06-28"),
        ("how many sales were there between 2024-02 and 2024-03?", "\n\n40\n"),
        ("how many rows have a price over 50 without the south?", "Number of rows"),
    ],
)
@pytest.mark.usefixtures("sales")
def test_every_kind_of_question_is_answered(desk: Desk, question: str, expected: str) -> None:
    assert expected in ask(desk, question)


@pytest.mark.process
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many students passed?", "\n\n33\n"),
        ("what is the average score of those who failed?", "`passed` is no**\n\n46.40\n"),
        ("which students have no score?", "| S9 | B | – | False |"),
        ("what is the pass rate?", "| yes | 66 % |"),
        ("which day was the hottest?", "| 2024-06-30 | 25 |"),
        ("how many sales were there in summer?", "\n\n30\n"),
        ("who was hired most recently?", "| P27 | 2023-05-28"),
        ("how many days without rain are there in Kiel?", "\n\n10\n"),
        ("is it rainier in Kiel or Bonn?", "sum of \\`rain_mm\\` | 30 | 30 |"),
    ],
)
def test_questions_of_newcomers_are_answered(desk: Desk, question: str, expected: str) -> None:
    (desk.folder / "exam results.csv").write_text(workspaces._exams())
    (desk.folder / "weather.csv").write_text(workspaces.JUNE)
    (desk.folder / "sales.csv").write_text(workspaces._year_of_sales())
    (desk.folder / "employees.csv").write_text(workspaces._staff())
    assert expected in ask(desk, question)
    assert desk.questions == []


@pytest.mark.process
def test_yes_and_no_are_read_as_the_file_writes_them_however_long_it_is(desk: Desk) -> None:
    (desk.folder / "orders.csv").write_text("item,Paid,sum\n" + "a,Yes,1\nb,No,2\nc,Yes,3\n" * 200)
    said = ask(desk, "how many orders were not paid?")
    assert said.startswith("**Number of rows in `orders.csv` where `Paid` is No**\n\n200\n")
    assert "| Yes | 800 |" in ask(desk, "what is the total sum by paid?")


@pytest.mark.slow
@pytest.mark.process
def test_tables_of_every_format_are_read(desk: Desk) -> None:
    rows = workspaces._employees()
    frame = pd.DataFrame(rows)
    write_workbook(
        desk.folder / "a.xlsx", {"people": [list(rows[0]), *[list(row.values()) for row in rows]]}
    )
    frame.to_parquet(desk.folder / "b.parquet")
    (desk.folder / "c.json").write_text(json.dumps(rows))
    frame.to_csv(desk.folder / "d.csv", index=False, sep=";", decimal=",")
    for name in ("a.xlsx", "b.parquet", "c.json", "d.csv"):
        said = ask(desk, f"what is the average salary by gender in {name}?")
        assert f"| male | {frame[frame.gender == 'male'].salary.mean():,.0f} |" in said
        said = ask(desk, f"how many people started since 2018 in {name}?")
        assert f"\n\n{(frame.start_date >= '2018').sum()}\n" in said


@pytest.mark.process
def test_odd_names_and_values_neither_break_a_query_nor_the_table(desk: Desk) -> None:
    (desk.folder / "o'dd; x.csv").write_text(
        'group,"it\'s ""a"" | b"\n"x\'; DROP",1\n"y|<b>",2\n"x\'; DROP",4\n'
    )
    said = ask(desk, 'what is the sum of `it\'s "a" | b` by group?')
    assert "| x'; DROP | 5 |" in said
    assert "| y\\|&lt;b> | 2 |" in said


def test_without_a_way_to_compute_a_question_becomes_a_plan(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text(workspaces._sales())
    made = Desk(tmp_path).plan("what is the average revenue by region?")
    assert made["steps"][0]["action"] == "Mean of `revenue` by `region` in `sales.csv`"


def test_a_question_that_wants_a_chart_becomes_a_plan(
    desk: Desk, sales: list[dict[str, str]]
) -> None:
    made = desk.plan("can you plot revenue by region?")
    assert made["steps"][0]["action"].startswith("Bar chart of the sum of `revenue`")
    assert sales
