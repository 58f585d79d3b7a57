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
from cowork_jupyter.domain.figures import FigureSource
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.effects.figure_index import Output, look_up, without_source
from cowork_jupyter.guide import Guide
from cowork_jupyter.llm.chunks import Conversation
from cowork_jupyter.tools.base import ToolResult

from .desk import Desk, answer, call, result, said, write_notebook

SALES = "day,region,price\n" + "".join(
    f"2024-{1 + n % 6:02d}-{1 + n % 28:02d},{'NSW'[n % 3]},{n % 7}.5\n" for n in range(60)
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "sales.csv").write_text(SALES)
    return Desk(tmp_path)


def test_a_plan_has_real_names_and_is_sound(desk: Desk) -> None:
    made = desk.plan("Profile sales.csv, then plot price over time and by region")
    steps = Plan.model_validate(made).steps
    assert "`price`" in steps[1].action
    assert "`day`" in steps[1].action
    assert steps[0].files == ["sales.csv", "profile_sales.py"], "what it will write, too"
    assert steps[1].depends_on == ["1"]
    assert {call["tool"] for call in desk.calls} == {"list_directory", "read_file"}


def test_a_line_for_each_value_is_one_chart(desk: Desk) -> None:
    said = desk.ask("plot the total price over time by region in sales.csv")
    rows = list(csv.DictReader(SALES.splitlines()))
    sums: dict[tuple[str, str], float] = {}
    for row in rows:
        key = row["day"][:7], row["region"]
        sums[key] = sums.get(key, 0) + float(row["price"])
    found = re.search(r"highest (\w), ([\d-]+): (\S+)", said)
    assert found
    assert float(found[3]) == sums[found[2], found[1]] == max(sums.values())
    assert len(list(desk.folder.glob("*.png"))) == 1


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


def test_a_step_writes_the_file_that_its_approved_plan_names(desk: Desk) -> None:
    cleaning = desk.plan("clean sales.csv")["steps"][0]
    files = [path.replace("sales_clean.csv", "./new.csv") for path in cleaning["files"]]
    status, said = desk.step(**cleaning | {"files": files})
    assert (status, "written to new.csv" in said) == ("done", True)
    assert (desk.folder / "new.csv").exists()
    assert not (desk.folder / "sales_clean.csv").exists()


def test_a_script_of_a_step_has_the_name_that_its_approved_plan_gives_it(desk: Desk) -> None:
    assert desk.step("Profile `sales.csv`", files=["sales.csv", "looks.py"])[0] == "done"
    assert [path.name for path in desk.folder.glob("*.py")] == ["looks.py"]


def test_a_join_in_a_step_writes_the_file_that_its_approved_plan_names(desk: Desk) -> None:
    (desk.folder / "towns.csv").write_text("region,town\nN,Oslo\nS,Rome\n")
    action = "Join `sales.csv` with `towns.csv` on `region`; then total price by town"
    status, said = desk.step(action, files=["sales.csv", "towns.csv", "both.csv"])
    assert (status, "both.csv" in said) == ("done", True), said
    assert (desk.folder / "both.csv").exists()
    assert not (desk.folder / "sales_towns.csv").exists()


@pytest.mark.parametrize("more", [["one.csv", "two.csv"], ["*_new.csv"], ["/tmp/new.csv"], []])
def test_a_step_that_names_no_single_file_to_write_writes_the_usual_one(
    desk: Desk, more: list[str]
) -> None:
    status, _said = desk.step("Clean `sales.csv`: keep missing values", files=["sales.csv", *more])
    assert status == "done"
    assert (desk.folder / "sales_clean.csv").exists()


def test_a_step_that_is_to_write_another_format_says_what_it_can_write(desk: Desk) -> None:
    action = "Clean `sales.csv`: keep missing values"
    status, said = desk.step(action, files=["sales.csv", "new.xlsx"])
    assert status == "failed"
    assert said.startswith("I cannot write `new.xlsx`: I only write CSV files.")


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


@pytest.mark.parametrize(
    "request_", ["profile sales.csv and clean it", "Plot the total price by region"]
)
def test_each_figure_of_a_report_is_found_in_an_output(desk: Desk, request_: str) -> None:
    said = desk.ask(request_)
    found = look_up(said, [Output(one, FigureSource()) for one in desk.outputs])
    assert found
    assert without_source(found) == []


def test_an_addition_comes_on_top_of_the_plan_there_is(desk: Desk) -> None:
    before = Plan.model_validate(desk.plan("profile sales.csv"))
    made = desk.plan("also plot price by region", plan=before)
    assert [step["action"].split()[0] for step in made["steps"]] == ["Profile", "Bar"]


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
    assert {call["tool"] for call in desk.calls} <= {"list_directory", "read_file", "query_table"}


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


def test_an_empty_file_that_the_plan_names_is_written_unasked(desk: Desk) -> None:
    cleaning = desk.plan("clean sales.csv")["steps"][0]
    (desk.folder / "sales_clean.csv").touch()
    assert desk.step(**cleaning)[0] == "done"
    assert not desk.questions
    assert (desk.folder / "sales_clean.csv").stat().st_size


@pytest.mark.parametrize(("content", "files"), [("mine", ["sales_clean.csv"]), ("", [])])
def test_a_file_with_content_or_beyond_the_plan_is_not_overwritten_unasked(
    desk: Desk, content: str, files: list[str]
) -> None:
    (desk.folder / "sales_clean.csv").write_text(content)
    action = "Clean `sales.csv`: keep missing values"
    assert desk.step(action, answers=["stop"], files=files)[0] == "failed"
    (question,) = desk.questions
    assert question["context"] == "What is in it would be lost."
    assert (desk.folder / "sales_clean.csv").read_text() == content


@pytest.mark.process
def test_code_that_wrote_a_new_file_can_be_run_again(desk: Desk) -> None:
    desk.ask("clean sales.csv")
    (code,) = desk.folder.glob("clean_*.py")
    written = (desk.folder / "sales_clean.csv").read_text()
    subprocess.run([sys.executable, code.name], cwd=desk.folder, check=True, capture_output=True)
    assert (desk.folder / "sales_clean.csv").read_text() == written


def test_what_a_step_writes_is_not_read_although_it_is_there(desk: Desk) -> None:
    (desk.folder / "sales_clean.csv").write_text(SALES)
    action = desk.plan("clean sales.csv")["steps"][0]["action"]
    assert action == "Clean `sales.csv`: keep missing values"
    desk.ask(action, answers=["overwrite"])
    assert not (desk.folder / "sales_clean_clean.csv").exists()


def test_without_scikit_learn_a_guess_by_group_is_scored_if_the_user_wants_that(
    desk: Desk,
) -> None:
    desk.packages = "pandas"
    said = desk.ask("predict price from sales.csv", answers=["without"])
    assert "scikit-learn" in desk.questions[0]["question"]
    assert "by region: mean absolute error" in said
    assert "Ridge" not in said


def test_without_matplotlib_there_are_numbers_and_no_chart(desk: Desk) -> None:
    desk.packages = "pandas"
    said = desk.ask("plot the total price by region", answers=["without"])
    assert "matplotlib" in desk.questions[0]["question"]
    assert "highest" in said
    assert "chart saved" not in said


def test_without_pandas_it_asks_once_and_says_plainly_what_it_needs(desk: Desk) -> None:
    desk.packages = ""
    ended = json.loads(desk.ask("profile sales.csv", answers=["stop"]))
    assert ended["summary"] == "I stopped because pandas is not installed."
    values = [one["value"] for one in desk.questions[0]["options"]]
    assert values == ["install", "stop"]
    assert not list(desk.folder.glob("*.py"))


class Absent:
    """Stands in the way of an import."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'")


def test_a_package_that_turns_out_broken_is_asked_about_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Absent, *sys.meta_path])
    ended = json.loads(desk.ask("profile sales.csv", answers=["stop"]))
    assert "pandas" in desk.questions[0]["question"]
    assert ended["summary"] == "I stopped because pandas is not installed."


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


def test_whole_numbers_stay_whole_beside_missing_ones(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("n,x\n1,0.5\n,1\n3,\n")
    Desk(tmp_path).ask("clean t.csv")
    cleaned = (tmp_path / "t_clean.csv").read_text().split()
    assert [row.split(",")[0] for row in cleaned] == ["n", "1", "", "3"]


def test_what_was_joined_is_used_in_the_same_run(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("town,date,paid\nRome,03/01/2025,2\nBonn,17/02/2025,4\n")
    (tmp_path / "towns.csv").write_text("town,country\nRome,it\nBonn,DE\n")
    said = Desk(tmp_path).ask("join visits with towns, then total paid by country and month")
    assert "visits_towns.csv" in said
    assert "highest DE" in said, said


def test_two_tables_are_joined_and_those_without_a_partner_counted(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text("nr,customer_id\n7,1\n8,2\n9,5\n")
    (tmp_path / "customers.csv").write_text("id,name\n1,Ann\n2,Bob\n")
    said = Desk(tmp_path).ask("join orders with customers")
    assert "2 rows with a match, 1 without" in said
    rows = list(csv.reader((tmp_path / "orders_customers.csv").read_text().splitlines()))
    assert rows == [
        ["nr", "customer_id", "id", "name"],
        ["7", "1", "1", "Ann"],
        ["8", "2", "2", "Bob"],
        ["9", "5", "", ""],
    ]


def test_cells_are_put_in_order_and_looked_at_again(tmp_path: Path) -> None:
    write_notebook(tmp_path / "nb.ipynb", "print(x)", "x = 1")
    desk = Desk(tmp_path)
    assert desk.plan("put the cells of nb.ipynb in order")["steps"][0]["files"] == ["nb.ipynb"]
    assert "now in order" in desk.ask("put the cells of nb.ipynb in order")
    cells = json.loads((tmp_path / "nb.ipynb").read_text())["cells"]
    assert [cell["id"] for cell in cells] == ["c1", "c0"]
    assert "already in order" in desk.ask("put the cells of nb.ipynb in order")


@pytest.mark.parametrize("role", [AgentRole.PLANNER, AgentRole.ACTOR])
def test_a_notebook_is_explained_by_whoever_can_read(role: AgentRole, tmp_path: Path) -> None:
    write_notebook(tmp_path / "nb.ipynb", "import json", "x = json.loads('1')")
    assert "`nb.ipynb` has 2 cells" in Desk(tmp_path).ask("Explain nb.ipynb", role)


def test_an_empty_workspace_and_a_missing_file_are_said_to_be_so(tmp_path: Path) -> None:
    assert "no table" in Desk(tmp_path).ask("profile the data")
    assert "`gone.csv`" in Desk(tmp_path).ask("profile gone.csv")


def test_a_role_that_cannot_run_code_says_so(desk: Desk) -> None:
    assert "not run code" in desk.ask("profile sales.csv", AgentRole.DESIGNER)


class Kernel:
    """A notebook whose kernel is played here; paths are seen from the notebook's folder."""

    def __init__(self, *sources: str) -> None:
        self.cells = [_cell(f"c{number}", source) for number, source in enumerate(sources)]
        self.variables = ""
        self.packages = "pandas matplotlib"
        self.outputs: list[ToolResult | CoworkError] = []
        self.calls: list[dict[str, Any]] = []
        self.inserted: frozenset[str] = frozenset()

    def ask(self, text: str, *answers: str) -> str:
        """The guide's last words."""
        waiting, messages = list(answers), [said("user", text)]
        tools = frozenset(
            [
                "list_directory",
                "read_file",
                "run_code",
                "read_notebook",
                "insert_cell",
                "edit_cell",
                "run_cell",
                "list_variables",
            ]
        )
        for turn in range(40):
            here = Conversation(
                AgentRole.ACTOR, tools, "work/nb.ipynb", None, messages, self.inserted
            )
            spoken = Guide().reply(here)
            value = json.loads(spoken) if spoken.startswith("{") else {}
            if "question" in value:
                messages.append(answer(turn, value["question"], waiting.pop(0)))
            elif "tool" in value:
                self.calls.append(value)
                came = self._called(value["tool"], value["parameters"])
                messages += [call(turn, value["tool"], value["parameters"]), result(turn, came)]
            else:
                return spoken
        raise AssertionError("the guide does not come to an end")

    def calls_to(self, tool: str) -> list[dict[str, Any]]:
        """The parameters of the calls of a tool."""
        return [one["parameters"] for one in self.calls if one["tool"] == tool]

    def _called(self, tool: str, parameters: dict[str, Any]) -> ToolResult | CoworkError:
        lines = {"first_line": 1, "last_line": 61, "total_lines": 61, "encoding": "utf-8"}
        match tool:
            case "list_directory":
                return ToolResult("", "", {"files": ["data/sales.csv", "work/nb.ipynb"]})
            case "read_file":
                return ToolResult(SALES, "", lines)
            case "run_code":
                return ToolResult(f"packages: {self.packages}", "")
            case "list_variables":
                return ToolResult(self.variables, "")
            case "read_notebook":
                return ToolResult("", "", {"cells": self.cells})
            case "insert_cell":
                number = len(self.calls_to("insert_cell"))
                return ToolResult("", "", {"cell_id": f"k{number}", "fingerprint": f"f{number}"})
            case "edit_cell":
                return ToolResult("", "", {"cell_id": parameters["cell_id"], "fingerprint": "new"})
        return self.outputs.pop(0)


def _cell(name: str, source: str) -> dict[str, Any]:
    rest = {"cell_type": "code", "execution_count": None, "failed": False}
    return {"id": name, "source": source, **rest}


SUMS = ToolResult("region\nN    110.0\nS     99.5\nName: price, dtype: float64\n[ran it]", "")
NOTHING = ToolResult("[ran cell k1 in 0.1 s] No output.", "")


def test_with_a_notebook_it_writes_short_cells_one_below_the_other() -> None:
    asked = "total price by region in data/sales.csv, as a plot"
    kernel = Kernel(f"%%act -m m\n{asked}", "earlier()", "print('mine')")
    kernel.inserted = frozenset({"c1"})
    kernel.outputs = [NOTHING, SUMS, NOTHING]
    said = kernel.ask(asked)
    assert "highest N: 110; lowest S: 99.50" in said
    reading, computing, drawing = kernel.calls_to("insert_cell")
    assert reading["source"].splitlines() == [
        "import pandas as pd",
        "",
        'sales = pd.read_csv("../data/sales.csv", parse_dates=["day"])',
    ]
    assert computing["source"].splitlines()[-1] == "by_region"
    assert "import" not in computing["source"] + drawing["source"]
    places = [one["after"] for one in (reading, computing, drawing)]
    assert places == ["c1", "k1", "k2"], "below the cell that asked, and what this job wrote there"
    assert [one["where"] for one in kernel.calls_to("run_code")] == ["scratch"], "nobody is asked"


def test_what_the_notebook_has_is_used_by_its_own_name() -> None:
    kernel = Kernel("import pandas", 'df = pandas.read_csv("../data/sales.csv")', "by_region = 1")
    kernel.variables = "pandas: module\ndf: pandas.DataFrame · 60×3\nby_region: int · 1"
    kernel.outputs = [SUMS, NOTHING]
    kernel.ask("plot total price by region in data/sales.csv")
    first, _drawn = kernel.calls_to("insert_cell")
    assert first["source"].startswith('price_by_region = df.groupby("region")["price"].sum()')


def test_a_cell_that_fails_is_mended_and_those_below_run_again() -> None:
    kernel = Kernel()
    failed = CoworkError("UnicodeDecodeError: 'utf-8' codec", code="code_failed")
    kernel.outputs = [failed, NOTHING, SUMS, NOTHING]
    kernel.ask("plot total price by region in data/sales.csv")
    (mended,) = kernel.calls_to("edit_cell")
    assert (mended["cell_id"], mended["fingerprint"]) == ("k1", "f1")
    assert 'encoding_errors="replace"' in mended["source"]
    assert [one["cell_id"] for one in kernel.calls_to("run_cell")] == ["k1", "k1", "k2", "k3"]


def test_numbers_that_turn_out_to_be_texts_are_read_again_as_numbers() -> None:
    kernel = Kernel()
    texts = ToolResult("region\nN    1.52.5\nName: price, dtype: str", "")
    kernel.outputs = [NOTHING, texts, NOTHING, NOTHING, SUMS, NOTHING]
    said = kernel.ask("plot total price by region in data/sales.csv")
    assert "highest N: 110" in said
    (mended,) = kernel.calls_to("edit_cell")
    assert 'pd.to_numeric(sales["price"], errors="coerce")' in mended["source"]


def test_without_cells_what_this_job_has_read_is_not_read_again(desk: Desk) -> None:
    read = 'import pandas as pd\n\nsales = pd.read_csv("sales.csv", parse_dates=["day"])'
    tools = frozenset({"list_directory", "read_file", "run_code", "list_variables"})
    messages = [said("user", "plot total price by region in sales.csv")]
    ran: list[str] = []
    for turn in range(12):
        so_far = [read, *ran]
        here = Conversation(AgentRole.ACTOR, tools, None, None, messages, frozenset(), so_far)
        spoken = Guide().reply(here)
        if not spoken.startswith("{"):
            break
        value = json.loads(spoken)
        tool, parameters = value["tool"], value["parameters"]
        if tool == "run_code":
            ran.append(parameters["code"])
            came: ToolResult | CoworkError = ToolResult("packages: pandas matplotlib", "")
        elif tool == "list_variables":
            came = ToolResult("pd: module\nsales: pandas.DataFrame · 60×3", "")
        else:
            came = desk.run_tool(value)
        messages += [call(turn, tool, parameters), result(turn, came)]
    assert ran[1].startswith('by_region = sales.groupby("region")')
    assert 'savefig("sales_total_price_by_region.png"' in ran[2]
    assert len(ran) == 3, "its own code does not change the names it goes on with"
