"""What the guide looks at, asks and says before anything is done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.guide.interpretation import remembered_answer, remembered_gaps
from cowork_jupyter.guide.script import GuideRun, Script
from cowork_jupyter.llm.chunks import Conversation
from tests.unit.guide.desk import Desk, write_notebook
from tests.unit.guide.requests import workspaces

MEMORY = """## Cleaning
- `a.csv`: `x` turned into numbers, rows with missing values dropped, duplicates dropped
- `b.csv`: empty rows dropped, missing values filled with the median
- `c.csv`: empty rows dropped, duplicates dropped
- `d.csv`: duplicates dropped

## Answers
- For “profile the orders”: `shop/orders.csv`
- For “predict it: which town”: `town`
- For “both”: `shop/orders.csv`; `old/orders.csv`
"""


def script(memory: str = MEMORY) -> Script:
    return Script(GuideRun(""), Conversation(AgentRole.PLANNER, memory=memory))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("profile the orders", "shop/orders.csv"),
        ("Profile orders, please", "shop/orders.csv"),
        ("mean price by month of the customers", None),
        ("both", None),
        ("", None),
    ],
)
def test_what_was_answered_to_about_the_same_is_the_answer(text: str, answer: str | None) -> None:
    offered = ["shop/orders.csv", "old/orders.csv"]
    assert remembered_answer(script(), text, offered) == answer
    assert remembered_answer(script(""), text, offered) is None
    assert remembered_answer(script(), text, ["new.csv"]) is None


def test_columns_are_remembered_too() -> None:
    assert remembered_answer(script(), "predict which town", ["age", "town"]) == "town"


@pytest.mark.parametrize(
    ("path", "gaps"),
    [("a.csv", "drop"), ("b.csv", "fill"), ("c.csv", "keep"), ("d.csv", None), ("e.csv", None)],
)
def test_gaps_are_treated_as_they_were(path: str, gaps: str | None) -> None:
    assert remembered_gaps(script(), path) == gaps


def test_what_is_not_written_as_an_answer_is_none() -> None:
    odd = "- For “town”: `a`\n## Answers\nFor “town” `a`\n## Files\n- For “town”: `a`"
    assert remembered_answer(script(odd), "town", ["a"]) is None


SALES = (
    "date,region,units,price\n"
    + "2023-12-31,west,3,1.5\n" * 300
    + "2024-03-05,north ,7,2.5\n2024-03-06,North,8,2.5\n"
)
PEOPLE = "name,age,town\n" + "".join(f"P{n},{20 + n},{('Oslo', 'Rome')[n % 2]}\n" for n in range(9))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sales.csv").write_text(SALES)
    (tmp_path / "people.csv").write_text(PEOPLE)
    return Desk(tmp_path)


def actions(made: dict[str, Any]) -> list[str]:
    return [step["action"] for step in made["steps"]]


def test_the_only_table_with_the_columns_named_is_taken_unasked(desk: Desk) -> None:
    assert actions(desk.plan("mean age by town")) == ["Mean of `age` by `town` in `people.csv`"]
    assert desk.questions == []


def test_of_tables_that_fit_alike_it_asks_which_and_does_all_that_was_wanted(desk: Desk) -> None:
    made = desk.plan("profile it and clean it", answers=["people.csv"])
    (question,) = desk.questions
    assert question["question"] == "Which table do you mean?"
    assert [one["label"] for one in question["options"]] == [
        "profile `people.csv`",
        "profile `data/sales.csv`",
    ]
    assert actions(made) == ["Profile `people.csv`", "Clean `people.csv`: keep missing values"]


def test_of_tables_that_fit_alike_the_one_that_the_notebook_reads_is_meant(desk: Desk) -> None:
    (desk.folder / "same.csv").write_text(PEOPLE)
    write_notebook(desk.folder / "nb.ipynb", "df = pd.read_csv('same.csv')", "# people.csv")
    made = desk.plan("plot age by town", notebook="nb.ipynb")
    assert actions(made)[0].endswith("in `same.csv`")
    assert "You mean `same.csv`, which the notebook reads." in made["assumptions"]
    assert not desk.questions


def test_of_tables_that_fit_alike_the_one_beside_the_notebook_is_meant(desk: Desk) -> None:
    made = desk.plan("profile it", notebook="data/work.ipynb")
    assert actions(made) == ["Profile `data/sales.csv`"]
    assert desk.questions == []


def test_values_and_dates_far_below_in_a_file_are_found(desk: Desk) -> None:
    made = desk.plan("total units in the north in march")
    assert actions(made) == [
        "Sum of `units` in `data/sales.csv` where `date` is in 2024-03 and `region` is one of "
        "north, North"
    ]
    (note,) = made["assumptions"]
    assert "`region` are written in several ways" in note


def test_a_word_that_is_not_known_is_asked_about_and_the_rest_is_kept(desk: Desk) -> None:
    chosen = "mean of `price` by `region` in `data/sales.csv`"
    made = desk.plan("profile sales.csv, then mean of profit by region", answers=[chosen])
    (question,) = desk.questions
    assert "“profit”" in question["context"]
    assert chosen in [one["value"] for one in question["options"]]
    assert actions(made) == ["Profile `data/sales.csv`", chosen.capitalize()]


def test_who_wants_none_of_them_gets_nothing(desk: Desk) -> None:
    ended = json.loads(desk.ask("mean of profit by region", AgentRole.PLANNER, ["neither"]))
    assert (ended["type"], ended["status"]) == ("result", "failed")
    assert "profit" in ended["summary"]


def test_a_guess_is_an_assumption_that_the_user_can_correct(desk: Desk) -> None:
    before = Plan.model_validate(desk.plan("profile sales.csv and plot units by region"))
    (assumed,) = [one for one in before.assumptions if one.text.startswith("You mean")]
    assert "the sum of `units` by `region`" in assumed.text
    instead = "bar chart of the mean of `units` by `region` in `data/sales.csv`"
    assert instead in assumed.alternatives
    news = f"Wrong assumption: {assumed.text}\nInstead: {instead}"
    after = actions(desk.plan(news, plan=before))
    assert after == ["Profile `data/sales.csv`", f"B{instead[1:]}"]


def test_each_assumption_offers_what_else_its_own_step_may_mean(desk: Desk) -> None:
    made = Plan.model_validate(
        desk.plan("top 2 regions by units in sales.csv, then plot units by region")
    )
    ranked, drawn = (one for one in made.assumptions if one.text.startswith("You mean"))
    assert all(option.endswith(", top 2") for option in ranked.alternatives)
    assert all(option.startswith("bar chart") for option in drawn.alternatives)
    assert ranked.alternatives
    assert drawn.alternatives


def test_what_comes_after_cleaning_works_on_what_was_cleaned(desk: Desk) -> None:
    made = desk.plan("clean people.csv, then plot age by town")
    assert "in `people_clean.csv`" in actions(made)[1]
    (desk.folder / "people_clean.csv").write_text(PEOPLE)
    assert "in `people.csv`" in actions(desk.plan("clean people.csv, then plot age by town"))[1]


def test_what_comes_after_a_join_works_on_what_was_joined(desk: Desk) -> None:
    (desk.folder / "visits.csv").write_text(
        "visit,town,date,paid\n1,Rome,03/01/2025,2.5\n2,Bonn,17/02/2025,4\n"
    )
    (desk.folder / "towns.csv").write_text(
        "town,country,date\nRome,IT,1/1/2000\nBonn,de,1/1/2000\n"
    )
    text = "join visits.csv with towns.csv and plot the money paid per month and country"
    charted = "Line chart of the sum of `paid` by month of `date` and `country` in "
    join = "Join `visits.csv` with `towns.csv` on `town`"
    made = desk.plan(text)
    assert actions(made) == [join, f"{charted}`visits_towns.csv`"]
    assert "visits_towns.csv" in made["steps"][1]["files"]
    both = actions(desk.plan(f"clean towns.csv, {text}"))
    assert both[1:] == [join.replace("towns", "towns_clean"), f"{charted}`visits_towns_clean.csv`"]
    (desk.folder / "visits_towns_clean.csv").write_text("old,file\n1,2\n")
    assert actions(desk.plan(f"clean towns.csv, {text}")) == both
    assert "profile `towns.csv`" in actions(desk.plan(f"{text}, then profile towns.csv"))[2].lower()


def test_what_comes_after_a_join_into_a_file_that_exists_works_on_the_first(desk: Desk) -> None:
    (desk.folder / "visits.csv").write_text("town,paid\nRome,2.5\nBonn,4\n")
    (desk.folder / "towns.csv").write_text("town,country\nRome,IT\nBonn,DE\n")
    (desk.folder / "visits_towns.csv").write_text("old,file\n1,2\n")
    made = desk.plan("join visits.csv with towns.csv and plot paid by town")
    assert actions(made)[1].endswith("by `town` in `visits.csv`")


@pytest.mark.parametrize("name", ["report.xlsx", "t.parquet", "recs.json"])
def test_a_named_file_that_cannot_be_read_is_said_so_and_not_replaced(
    name: str, desk: Desk
) -> None:
    (desk.folder / name).write_bytes(b"\x00\x01 not a table")
    ended = json.loads(desk.ask(f"mean age by town in {name}", AgentRole.PLANNER))
    assert ended["status"] == "failed"
    assert ended["summary"].startswith(f"I cannot read `{name}`: ")


@pytest.mark.parametrize(
    "text", [json.dumps(workspaces._orders()), json.dumps({"rows": workspaces._orders()})]
)
def test_json_is_read_without_any_package(text: str, desk: Desk) -> None:
    (desk.folder / "orders.json").write_text(text)
    lines = "\n".join(json.dumps(row) for row in workspaces._orders())
    (desk.folder / "log.jsonl").write_text(lines)
    for name in ("orders.json", "log.jsonl"):
        made = desk.plan(f"total amount by channel in {name}")
        assert actions(made) == [f"Sum of `total_amount` by `channel` in `{name}`"]


def test_a_chart_of_a_long_file_has_periods_for_all_of_its_dates(desk: Desk) -> None:
    days = "".join(f"2024-06-{1 + at % 28:02d},{at}\n" for at in range(400))
    (desk.folder / "visits.csv").write_text("day,visits\n" + days)
    (action,) = actions(desk.plan("plot visits over time"))
    assert action == "Line chart of the sum of `visits` by day of `day` in `visits.csv`"


@pytest.mark.parametrize("text", ["rename units to pieces", "email this to bob"])
def test_what_it_cannot_do_is_said_with_what_it_can(text: str, desk: Desk) -> None:
    ended = json.loads(desk.ask(text, AgentRole.PLANNER))
    assert ended["status"] == "failed"
    assert ended["summary"].startswith(f"I cannot do this: “{text}”.")
    assert "draw charts" in ended["summary"]
    assert desk.questions == []


def test_a_word_that_is_left_out_is_an_assumption(desk: Desk) -> None:
    made = desk.plan("weekend units by region")
    assert actions(made) == ["Sum of `units` by `region` in `data/sales.csv`"]
    assert "I did not take into account: “weekend”." in made["assumptions"]


def test_a_greeting_and_a_call_for_help_are_answered_with_examples_that_work(desk: Desk) -> None:
    for role in (AgentRole.PLANNER, AgentRole.ACTOR):
        for text in ("hello", "Hi there!", "what can you do?", "help"):
            said = desk.ask(text, role)
            assert "- “" in said
            for line in said.splitlines():
                if line.startswith("- “"):
                    wanted = line.removeprefix("- “").removesuffix("”")
                    desk.ask(wanted, AgentRole.PLANNER)
    assert desk.questions == []
    assert desk.ask("thanks!").startswith("You are welcome.")


def test_german_is_answered_in_german(desk: Desk) -> None:
    assert "Versuche zum Beispiel:" in desk.ask("Hallo, was kannst du?", AgentRole.PLANNER)
    assert desk.ask("vielen Dank").startswith("Gern geschehen.")
    desk.ask(
        "Mittelwert von Gewinn nach region",
        AgentRole.PLANNER,
        ["mean of `units` by `region` in `data/sales.csv`"],
    )
    assert "Ich kenne keine Spalte" in desk.questions[-1]["context"]


def test_small_talk_with_a_wish_in_it_is_a_wish(desk: Desk) -> None:
    assert actions(desk.plan("hello, please plot age by town, thanks"))[0].startswith("Bar chart")


def test_of_a_long_text_the_first_paragraph_is_the_request(desk: Desk) -> None:
    text = (
        "Profile the dataset people.csv, so that whoever uses it knows what is in it.\n"
        "It will be used for: a report\n\nReport:\n1. Rows and columns.\n2. What is suspicious: "
        "duplicates, missing values.\n"
    )
    made = desk.plan(text)
    assert actions(made) == ["Profile `people.csv`"]
    assert "I read only the first paragraph of the request." in made["assumptions"]


def test_what_was_answered_is_part_of_the_goal_and_not_asked_again(desk: Desk) -> None:
    before = Plan.model_validate(desk.plan("Clean people.csv: missing values", answers=["drop"]))
    assert before.goal == "Clean people.csv: missing values (drop rows with missing values)"
    made = desk.plan("Also plot age by town", plan=before)
    assert actions(made)[0] == "Clean `people.csv`: drop rows with missing values"
    assert len(actions(made)) == 2
    assert len(desk.questions) == 1
