"""The guide at work, with the real tools."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import StepStatus
from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.guide import Guide
from cowork_jupyter.guide.cells import WRITTEN_BY
from cowork_jupyter.llm.chunks import Conversation
from cowork_jupyter.tools.base import ToolResult

from .desk import Desk, answer, call, result, said

SALES = "day,region,price\n" + "".join(
    f"2024-{1 + n % 6:02d}-{1 + n % 28:02d},{'NSW'[n % 3]},{n % 10}.5\n" for n in range(60)
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "sales.csv").write_text(SALES)
    return Desk(tmp_path)


def notebook(path: Path, *sources: str) -> None:
    cells = [
        {"id": f"c{n}", "cell_type": "code", "source": source, "metadata": {}, "outputs": []}
        for n, source in enumerate(sources)
    ]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(document))


def test_a_plan_has_real_names_and_is_sound(desk: Desk) -> None:
    made = desk.plan("Profile sales.csv, then plot price over time and by region")
    steps = Plan.model_validate(made).steps
    assert "`price`" in steps[1].action
    assert "`day`" in steps[1].action
    assert steps[0].files == ["sales.csv", "guide_profile_sales.py"], "what it will write, too"
    assert steps[1].depends_on == ["1"]
    assert {call["tool"] for call in desk.calls} == {"list_directory", "read_file"}


@pytest.mark.parametrize("packages", ["", "pandas"])
def test_a_line_for_each_value_adds_up(desk: Desk, packages: str) -> None:
    desk.packages = packages
    more = SALES + "2024-02-03,N,70\n2024-02-03,S,20\n"
    (desk.folder / "sales.csv").write_text(more)
    said = desk.ask("plot the total price over time by region in sales.csv")
    rows = list(csv.DictReader(more.splitlines()))
    totals = {
        region: sum(float(row["price"]) for row in rows if row["region"] == region)
        for region in "NSW"
    }
    top, low = max(totals, key=lambda r: totals[r]), min(totals, key=lambda r: totals[r])
    assert f"highest region {top}: {totals[top]:,.6g}; lowest {low}: {totals[low]:,.6g}" in said
    assert "6 months from 2024-01 to 2024-06, 3 lines" in said


def test_each_step_of_a_plan_can_be_carried_out(desk: Desk) -> None:
    made = desk.plan("analyse sales.csv, clean it, and plot the distribution of price")
    for step in made["steps"]:
        status, said = desk.step(**step, goal=made["goal"])
        assert status == "done"
        assert "Done" in said


def test_a_step_is_about_its_own_table_and_not_about_one_of_the_same_name(tmp_path: Path) -> None:
    for folder, rows in (("mine", "x,y\n1,2\n"), ("other", "x,y\n3,4\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "sales.csv").write_text(rows)
    desk = Desk(tmp_path)
    plan = desk.plan("Clean sales.csv", notebook="mine/work.ipynb")
    assert [step["files"][1] for step in plan["steps"]] == ["mine/sales.csv"]
    desk.step(**plan["steps"][0])
    assert (tmp_path / "mine" / "sales_clean.csv").exists()
    assert not (tmp_path / "other" / "sales_clean.csv").exists()


def test_a_name_may_have_spaces_in_it(tmp_path: Path) -> None:
    (tmp_path / "my table.csv").write_text("x,y\n1,2\n")
    desk = Desk(tmp_path)
    action = desk.plan("Clean my table.csv")["steps"][0]["action"]
    assert "written to my table_clean.csv" in desk.ask(action)


def test_numbers_in_the_report_are_those_of_the_table(desk: Desk) -> None:
    rows = list(csv.DictReader(SALES.splitlines()))
    sums: dict[str, float] = {}
    for row in rows:
        sums[row["region"]] = sums.get(row["region"], 0) + float(row["price"])
    said = desk.ask("Plot the total price by region")
    top = max(sums, key=lambda name: sums[name])
    found = re.search(r"highest (\w): ([\d.,]+); lowest", said)
    assert found
    assert (found[1], float(found[2].replace(",", ""))) == (top, sums[top])


def test_everything_in_a_report_was_printed_by_the_code(desk: Desk) -> None:
    said = desk.ask("profile sales.csv and clean it")
    printed = "".join(desk.outputs)
    claims = re.findall(r"^- (.*)$", said, re.MULTILINE)
    assert claims
    assert all(f"→ {claim}" in printed for claim in claims)


def test_an_addition_comes_on_top_of_the_plan_there_is(desk: Desk) -> None:
    before = Plan.model_validate(desk.plan("profile sales.csv"))
    made = desk.plan("also plot price by region", plan=before)
    assert [step["action"].split()[0] for step in made["steps"]] == ["Profile", "Plot"]


def test_after_a_failure_only_what_is_not_done_is_planned_anew(desk: Desk) -> None:
    before = Plan.model_validate(desk.plan("profile sales.csv, clean it and plot price by region"))
    before.steps[0].status = StepStatus.COMPLETED
    before.steps[1].status = StepStatus.FAILED
    made = json.loads(
        desk.ask(
            said("user", "qwrt", MessageType.TASK_ASSIGNMENT, replan=True),
            AgentRole.PLANNER,
            plan=before,
        )
    )
    assert made["goal"] == before.goal
    assert [step["action"] for step in made["steps"]] == [one.action for one in before.steps[1:]]


def test_what_it_cannot_do_it_says_with_what_it_can(desk: Desk) -> None:
    for role in AgentRole:
        said = desk.ask("write a poem about the sea", role)
        assert "You need an Address, a Model, and a Key" in said
        assert "no language model" in said or "without a language model" in said
    assert desk.calls == []


def test_a_step_it_cannot_do_fails(desk: Desk) -> None:
    status, said = desk.step("Call the bank")
    assert status == "failed"
    assert "I do not know how to do that step" in said


def test_a_step_about_a_table_that_is_not_there_failed(desk: Desk) -> None:
    status, said = desk.step("Profile `no.csv`")
    assert status == "failed"
    assert said.startswith("I cannot read `no.csv`: There is no 'no.csv'")
    assert "retryable" not in said


def test_of_several_tables_it_asks_which(desk: Desk) -> None:
    (desk.folder / "other.csv").write_text("a,b\n1,2\n")
    said = desk.ask("make a profile", answers=["other.csv"])
    assert [one["value"] for one in desk.questions[0]["options"]] == ["other.csv", "sales.csv"]
    assert "`other.csv`" in said


def test_a_file_that_is_there_is_not_overwritten_unasked(desk: Desk) -> None:
    (desk.folder / "sales_clean.csv").write_text("mine")
    said = desk.ask("clean sales.csv", answers=["other"])
    assert "already exists" in desk.questions[0]["question"]
    assert (desk.folder / "sales_clean.csv").read_text() == "mine"
    assert "written to sales_clean_2.csv" in said
    assert (desk.folder / "sales_clean_2.csv").exists()


def test_code_that_wrote_a_new_file_can_be_run_again(desk: Desk) -> None:
    desk.ask("clean sales.csv")
    (code,) = desk.folder.glob("guide_clean_*.py")
    written = (desk.folder / "sales_clean.csv").read_text()
    subprocess.run([sys.executable, code.name], cwd=desk.folder, check=True, capture_output=True)
    assert (desk.folder / "sales_clean.csv").read_text() == written


def test_what_a_step_writes_is_not_read_although_it_is_there(desk: Desk) -> None:
    (desk.folder / "sales_clean.csv").write_text(SALES)
    action = desk.plan("clean sales.csv")["steps"][0]["action"]
    assert "`sales_clean.csv`" in action
    desk.ask(action, answers=["overwrite"])
    assert not (desk.folder / "sales_clean_clean.csv").exists()


def test_a_missing_package_is_a_question_and_without_it_no_model_is_claimed(desk: Desk) -> None:
    said = desk.ask("predict price from sales.csv", answers=["without"])
    assert "numpy" in desk.questions[0]["question"]
    assert "no model was fitted" in said


class Absent:
    """Stands in the way of an import."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'")


def test_a_package_that_turns_out_broken_is_done_without(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Absent, *sys.meta_path])
    desk.packages = "pandas"  # it says so, but it cannot be imported
    said = desk.ask("profile sales.csv", answers=["without"])
    assert "pandas" in desk.questions[0]["question"]
    assert "60 rows, 3 columns" in said


def test_the_user_may_stop_instead(desk: Desk) -> None:
    ended = json.loads(desk.ask("predict price from sales.csv", answers=["stop"]))
    assert (ended["type"], ended["status"]) == ("result", "failed")
    assert ended["summary"] == "I stopped because numpy is not installed."


@pytest.mark.parametrize("role", [AgentRole.PLANNER, AgentRole.ACTOR])
def test_what_no_rule_fits_is_a_failure_not_an_answer(desk: Desk, role: AgentRole) -> None:
    ended = json.loads(desk.ask("write me a poem", role))
    assert (ended["type"], ended["status"]) == ("result", "failed")
    assert "I do not know how to do that" in ended["summary"]


def test_planning_to_clean_asks_about_missing_values_unless_told(desk: Desk) -> None:
    made = desk.plan("clean sales.csv: missing values and types", answers=["fill"])
    assert "fill in missing values" in made["steps"][0]["action"]
    desk.questions.clear()
    desk.plan("clean sales.csv and drop missing values")
    assert desk.questions == []


def test_missing_values_are_filled_and_dropped(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n,c\n1,x\n,x\n3,\n5,y\n")
    desk = Desk(tmp_path)
    assert "4 rows, 2 columns written" in desk.ask("clean t.csv and fill missing values")
    assert (tmp_path / "t_clean.csv").read_text().split() == ["n,c", "1,x", "3,x", "3,x", "5,y"]
    (tmp_path / "t_clean.csv").unlink()
    assert "2 rows, 2 columns written" in desk.ask("clean t.csv and drop missing values")


@pytest.mark.parametrize("packages", ["", "pandas"])
def test_whole_numbers_stay_whole_beside_missing_ones(tmp_path: Path, packages: str) -> None:
    (tmp_path / "t.csv").write_text("n,x\n1,0.5\n,1\n3,\n")
    desk = Desk(tmp_path, packages)
    assert "2 missing values: kept" in desk.ask("clean t.csv")
    cleaned = (tmp_path / "t_clean.csv").read_text().split()
    assert [row.split(",")[0] for row in cleaned] == ["n", "1", "", "3"]


def test_two_tables_are_joined_and_those_without_a_partner_counted(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("nr,customer_id\n7,1\n8,2\n9,5\n")
    (tmp_path / "customers.csv").write_text("id,name\n1,Ann\n2,Bob\n")
    said = Desk(tmp_path).ask("join orders with customers")
    assert "3 rows joined with 2 rows, 1 without a match" in said
    rows = list(csv.reader((tmp_path / "orders_customers.csv").read_text().splitlines()))
    assert rows == [
        ["nr", "customer_id", "id", "name"],
        ["7", "1", "1", "Ann"],
        ["8", "2", "2", "Bob"],
        ["9", "5", "", ""],
    ]


def test_cells_are_put_in_order_and_looked_at_again(tmp_path: Path) -> None:
    notebook(tmp_path / "nb.ipynb", "print(x)", "x = 1")
    desk = Desk(tmp_path)
    assert desk.plan("put the cells of nb.ipynb in order")["steps"][0]["files"] == ["nb.ipynb"]
    assert "now in order" in desk.ask("put the cells of nb.ipynb in order")
    cells = json.loads((tmp_path / "nb.ipynb").read_text())["cells"]
    assert [cell["id"] for cell in cells] == ["c1", "c0"]
    assert "already in order" in desk.ask("put the cells of nb.ipynb in order")


@pytest.mark.parametrize("role", [AgentRole.PLANNER, AgentRole.ACTOR])
def test_a_notebook_is_explained_by_whoever_can_read(role: AgentRole, tmp_path: Path) -> None:
    notebook(tmp_path / "nb.ipynb", "import json", "x = json.loads('1')")
    assert "`nb.ipynb` has 2 cells" in Desk(tmp_path).ask("Explain nb.ipynb", role)


def test_an_empty_workspace_and_a_missing_file_are_said_to_be_so(tmp_path: Path) -> None:
    assert "no table" in Desk(tmp_path).ask("profile the data")
    assert "`gone.csv`" in Desk(tmp_path).ask("profile gone.csv")


def test_a_role_that_cannot_run_code_says_so(desk: Desk) -> None:
    assert "not run code" in desk.ask("profile sales.csv", AgentRole.DESIGNER)


def test_with_a_notebook_it_writes_a_cell_runs_it_and_mends_it() -> None:
    """The kernel's side is played here; paths are seen from the notebook's folder."""

    def cell(name: str, source: str) -> dict[str, Any]:
        rest = {"cell_type": "code", "execution_count": None, "failed": False}
        return {"id": name, "source": source, **rest}

    def written(mark: str) -> ToolResult:
        return ToolResult("qwrt", "", {"cell_id": "k1", "fingerprint": mark})

    cells = [
        cell("c0", "%%act -m m\nprofile\ndata/sales.csv"),
        cell("c1", f"# {WRITTEN_BY}\nearlier()"),
        cell("c2", "print('mine')"),
    ]
    lines = {"first_line": 1, "last_line": 61, "total_lines": 61, "encoding": "utf-8"}
    results: dict[str, list[ToolResult | CoworkError]] = {
        "list_directory": [ToolResult("", "", {"files": ["data/sales.csv", "work/nb.ipynb"]})],
        "read_file": [ToolResult(SALES, "", lines)],
        "run_code": [ToolResult("packages: pandas", "")],
        "read_notebook": [ToolResult("", "", {"cells": cells})],
        "insert_cell": [written("f1")],
        "run_cell": [
            CoworkError("ModuleNotFoundError: No module named 'pandas'", code="code_failed"),
            ToolResult("→ 60 rows, 3 columns, 0 duplicate rows", ""),
        ],
        "edit_cell": [written("f2")],
    }
    messages, made = [said("user", "profile data/sales.csv")], []
    for turn in range(20):
        here = Conversation(AgentRole.ACTOR, frozenset(results), "work/nb.ipynb", None, messages)
        spoken = Guide().reply(here)
        if not spoken.startswith("{"):
            break
        value = json.loads(spoken)
        if "question" in value:
            messages.append(answer(turn, value["question"], "without"))
            continue
        made.append(value)
        came = results[value["tool"]].pop(0)
        messages += [call(turn, value["tool"], value["parameters"]), result(turn, came)]
    assert "60 rows, 3 columns" in spoken
    inserted = next(one for one in made if one["tool"] == "insert_cell")["parameters"]
    assert inserted["path"] == "work/nb.ipynb"
    assert inserted["after"] == "c1", "below the cell that asked, and what was written there before"
    assert "pd.read_csv('../data/sales.csv'" in inserted["source"]
    mended = next(one for one in made if one["tool"] == "edit_cell")["parameters"]
    assert "pandas" not in mended["source"]
    assert (mended["cell_id"], mended["fingerprint"]) == ("k1", "f1")
