"""The guide at work, with the real tools."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import StepStatus
from cowork_jupyter.domain.errors import CoworkError, NotFound
from cowork_jupyter.domain.figures import FigureSource
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.effects.figure_index import Output, look_up, without_source
from cowork_jupyter.parts.guide.runner import CELL_TOOLS
from cowork_jupyter.tools.base import ToolResult

from .desk import Desk, said, write_notebook

SALES = "day,region,price\n" + "".join(
    f"2024-{1 + n % 6:02d}-{1 + n % 28:02d},{'NSW'[n % 3]},{n % 7}.5\n" for n in range(60)
)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path).having({"sales.csv": SALES})


def test_plan_uses_real_names(desk: Desk) -> None:
    made = desk.plan("Profile sales.csv, then plot price over time")
    profile, plot = Plan.model_validate(made).steps
    assert "`price`" in plot.action
    assert "`day`" in plot.action
    assert profile.files == ["sales.csv", "profile_sales.py"], "what it will write, too"
    assert plot.depends_on == ["1"]
    assert {call["tool"] for call in desk.calls} == {"list_directory", "read_file"}


def test_odd_tables_are_risks_of_the_plan(tmp_path: Path) -> None:
    desk = Desk(tmp_path).having({"t.csv": "1,2.5,x\n2,3.5,y\n3,4.5,x,more\n"})
    header, fields = desk.plan("Profile t.csv")["risks"]
    assert "no header" in header
    assert "more fields than columns" in fields


def test_each_step_of_a_plan_can_be_carried_out(desk: Desk) -> None:
    text = "profile sales.csv, remove duplicate rows, and plot total price over time by region"
    made = desk.plan(text)
    for step in made["steps"]:
        status, said = desk.step(**step, goal=made["goal"])
        assert (status, "Done" in said) == ("done", True)
    assert len(list(desk.folder.glob("*.png"))) == 1, "a line for each region"


def test_step_uses_its_own_table(tmp_path: Path) -> None:
    files = {"mine/sales.csv": "x,y\n1,2\n", "other/sales.csv": "x,y\n3,4\n"}
    desk = Desk(tmp_path).having(files)
    plan = desk.plan("Remove duplicates in sales.csv", notebook="mine/work.ipynb")
    assert [step["files"][1] for step in plan["steps"]] == ["mine/sales.csv"]
    desk.step(**plan["steps"][0])
    assert (tmp_path / "mine" / "sales_clean.csv").exists()
    assert not (tmp_path / "other" / "sales_clean.csv").exists()


CLEAN = "Clean `sales.csv`: remove duplicate rows"
JOIN = "Join `sales.csv` with `towns.csv` on `region`; then total price by town"


@pytest.mark.parametrize(
    ("action", "files", "suffix", "written"),
    [
        (CLEAN, ["clean.py", "./new.csv"], "csv", "new.csv"),
        ("Profile `sales.csv`", ["looks.py"], "py", "looks.py"),
        (JOIN, ["towns.csv", "both.csv"], "csv", "both.csv"),
        # not a single file to write
        (CLEAN, [], "csv", "sales_clean.csv"),
        (CLEAN, ["one.csv", "two.csv"], "csv", "sales_clean.csv"),
        (CLEAN, ["*_new.csv"], "csv", "sales_clean.csv"),
        (CLEAN, ["/tmp/new.csv"], "csv", "sales_clean.csv"),
    ],
)
def test_step_writes_the_file_of_its_plan(
    desk: Desk, action: str, files: list[str], suffix: str, written: str
) -> None:
    desk.having({"towns.csv": "region,town\nN,Oslo\nS,Rome\n"})
    status, said = desk.step(action, files=["sales.csv", *files])
    assert status == "done", said
    there = {path.name for path in desk.folder.glob(f"*.{suffix}")}
    assert there - {"sales.csv", "towns.csv"} == {written}


def test_each_figure_of_a_report_is_found_in_an_output(desk: Desk) -> None:
    for text in (
        "profile sales.csv and remove duplicates",
        "Plot total price by region in sales.csv",
    ):
        said = desk.ask(text)
        found = look_up(said, [Output(one, FigureSource()) for one in desk.outputs])
        assert found
        assert without_source(found) == []


def test_answers_survive_additions_to_the_plan(desk: Desk) -> None:
    chosen = "clean `sales.csv`: fill missing `price` with the median value"
    before = Plan.model_validate(desk.plan("fill missing price in sales.csv", answers=[chosen]))
    assert before.goal == chosen
    made = desk.plan("also plot the total price by region", plan=before)
    assert [step["action"].split()[0] for step in made["steps"]] == ["Clean", "Bar"]
    assert {step["reason"].split()[1] for step in made["steps"]} == {"writes", "only"}


def test_replanning_skips_finished_steps(desk: Desk) -> None:
    text = "profile sales.csv, remove duplicates and plot total price by region"
    before = Plan.model_validate(desk.plan(text))
    before.steps[0].status = StepStatus.COMPLETED
    before.steps[1].status = StepStatus.FAILED
    again = said("user", "qwrt", MessageType.TASK_ASSIGNMENT, replan=True)
    made = json.loads(desk.ask(again, AgentRole.PLANNER, plan=before))
    assert made["goal"] == before.goal
    assert [step["action"] for step in made["steps"]] == [one.action for one in before.steps[1:]]


def test_impossible_requests_are_refused_with_abilities(desk: Desk) -> None:
    for role in AgentRole:
        said = desk.ask("write a poem about the sea", role)
        named = "I cannot use “poem”, “sea”, so I did nothing."
        assert said.startswith(named) == (role is not AgentRole.REVIEWER)
        assert "connect a language model" in said
    assert {call["tool"] for call in desk.calls} <= {"list_directory", "read_file"}
    assert "I did nothing" in desk.ask("forecast price", AgentRole.PLANNER, ["none"])
    asked = desk.questions[-1]
    assert (asked["unused"], asked["default"]) == (["forecast"], "none")


@pytest.mark.parametrize(
    ("action", "files", "why"),
    [
        ("Call the bank", [], "I cannot use “Call”, “bank”, so I did nothing."),
        ("Profile `no.csv`", [], "I cannot read `no.csv`: There is no 'no.csv'"),
        (CLEAN, ["sales.csv", "new.xlsx"], "I cannot write `new.xlsx`: I only write CSV files."),
    ],
)
def test_a_step_it_cannot_do_fails(desk: Desk, action: str, files: list[str], why: str) -> None:
    status, said = desk.step(action, files=files)
    assert (status, said[: len(why)]) == ("failed", why)
    assert "retryable" not in said


def test_several_tables_ask_which(desk: Desk) -> None:
    said = desk.having({"other.csv": "a,b\n1,2\n"}).ask("make a profile", answers=["other.csv"])
    labels = [one["label"] for one in desk.questions[0]["options"]]
    assert labels[0].startswith("`other.csv` · 1 row · a, b")
    assert (labels[-1], desk.questions[0]["default"]) == ("None of these", "none")
    assert "`other.csv`" in said


def test_existing_files_are_not_overwritten_unasked(desk: Desk) -> None:
    desk.having({"sales_clean.csv": "mine"})
    said = desk.ask("remove duplicates in sales.csv", answers=["other"])
    assert "already exists" in desk.questions[0]["question"]
    assert (desk.folder / "sales_clean.csv").read_text() == "mine"
    assert "written to sales_clean_2.csv" in said


@pytest.mark.parametrize(
    ("content", "files", "asks"),
    [("", ["sales_clean.csv"], False), ("mine", ["sales_clean.csv"], True), ("", [], True)],
)
def test_only_planned_empty_files_are_overwritten(
    desk: Desk, content: str, files: list[str], asks: bool
) -> None:
    desk.having({"sales_clean.csv": content})
    assert desk.step(CLEAN, answers=["stop"], files=files)[0] == ("failed" if asks else "done")
    assert len(desk.questions) == asks
    assert ((desk.folder / "sales_clean.csv").read_text() == content) == asks


@pytest.mark.process
def test_written_script_can_be_rerun(desk: Desk) -> None:
    desk.ask("remove duplicates in sales.csv")
    (code,) = desk.folder.glob("clean_*.py")
    written = (desk.folder / "sales_clean.csv").read_text()
    subprocess.run([sys.executable, code.name], cwd=desk.folder, check=True, capture_output=True)
    assert (desk.folder / "sales_clean.csv").read_text() == written


@pytest.mark.parametrize(
    ("packages", "answer_", "expected"),
    [
        ("pandas", "without", "highest"),
        ("pandas", "stop", "I stopped because matplotlib is not installed."),
        ("", "stop", "I stopped because pandas is not installed."),
    ],
)
def test_missing_packages_are_asked_for(
    desk: Desk, packages: str, answer_: str, expected: str
) -> None:
    desk.packages = packages
    said = desk.ask("plot the total price by region", answers=[answer_])
    assert expected in said
    assert "chart saved" not in said
    assert len(list(desk.folder.glob("*.py"))) == (answer_ == "without")


def test_charts_never_overwrite_files(desk: Desk) -> None:
    (desk.folder / "sales_histogram_price.png").write_text("mine")
    for _each in range(2):
        desk.ask("histogram of price in sales.csv")
    desk.ask("box plot of price in sales.csv")
    assert (desk.folder / "sales_histogram_price.png").read_text() == "mine"
    assert {path.name for path in desk.folder.glob("*.png")} == {
        "sales_histogram_price.png",
        "sales_histogram_price_2.png",
        "sales_histogram_price_3.png",
        "sales_box_price.png",
    }


def test_a_chart_that_cannot_be_drawn_is_refused(desk: Desk) -> None:
    said = desk.ask("pie chart of total price by month and region in sales.csv")
    assert "I cannot draw this" in said
    assert not list(desk.folder.glob("*.p*"))


@pytest.mark.parametrize("has_old_file", [False, True])
def test_joined_file_is_used_in_the_same_run(tmp_path: Path, has_old_file: bool) -> None:
    desk = Desk(tmp_path).having(
        {
            "visits.csv": "town,date,paid\nRome,03/01/2025,2\nBonn,17/02/2025,4\n",
            "towns.csv": "town,country\nRome,it\nBonn,DE\n",
        }
    )
    if has_old_file:
        desk.having({"visits_towns.csv": "town,date,paid,country\nRome,2025-01-03,9,it\n"})
    text = "join visits with towns on town, then total paid by country"
    said = desk.ask(text, answers=["other"])
    assert ("visits_towns_2.csv" in said) == has_old_file
    assert "highest DE" in said, said


def test_join_that_repeats_rows_asks(tmp_path: Path) -> None:
    orders, customers = "nr,customer_id\n7,1\n8,2\n9,5\n", "id,name\n1,Ann\n2,Bob\n2,Eve\n"
    desk = Desk(tmp_path).having({"orders.csv": orders, "customers.csv": customers})
    text = "join orders with customers on customer_id = "
    assert "I stopped: " in desk.ask(f"{text}id", answers=["stop"])
    assert "more than once in customers.csv" in desk.questions[0]["question"]
    assert "are of different types" in desk.ask(f"{text}name")
    assert not (tmp_path / "orders_customers.csv").exists()
    said = desk.ask(f"{text}id", answers=["go on"])
    assert "rows before: 3, rows after: 4, without a match: 1" in said
    assert (tmp_path / "orders_customers.csv").exists()


def test_cells_are_reordered_and_checked(tmp_path: Path) -> None:
    write_notebook(tmp_path / "nb.ipynb", "print(x)", "x = 1")
    desk, text = Desk(tmp_path), "put the cells of nb.ipynb in order"
    assert desk.plan(text)["steps"][0]["files"] == ["nb.ipynb"]
    assert "now in order" in desk.ask(text)
    cells = json.loads((tmp_path / "nb.ipynb").read_text())["cells"]
    assert [cell["id"] for cell in cells] == ["c2", "c1"]
    assert "already in order" in desk.ask(text)


@pytest.mark.parametrize(
    ("request_", "role", "words"),
    [
        ("Explain nb.ipynb", AgentRole.PLANNER, "`nb.ipynb` has 2 cells"),
        ("profile the data", AgentRole.ACTOR, "no table"),
        ("profile gone.csv", AgentRole.ACTOR, "`gone.csv`"),
        ("profile mine/t.csv", AgentRole.DESIGNER, "not run code"),
    ],
)
def test_missing_tables_and_rights_are_named(
    request_: str, role: AgentRole, words: str, tmp_path: Path
) -> None:
    write_notebook(tmp_path / "nb.ipynb", "import json", "x = json.loads('1')")
    desk = Desk(tmp_path).having({"mine/t.csv": "a,b\n1,2\n"} if "mine" in request_ else {})
    assert words in desk.ask(request_, role)


LOOKING = ("list_directory", "read_file", "list_variables")


class Kernel(Desk):
    """A notebook whose kernel is played here; paths are seen from the notebook's folder."""

    def __init__(self, *sources: str) -> None:
        super().__init__(Path(), "pandas matplotlib")
        self.tools = frozenset([*LOOKING, *CELL_TOOLS, "read_notebook"])
        rest = {"cell_type": "code", "execution_count": None, "failed": False}
        self.cells = [{"id": f"c{n}", "source": each, **rest} for n, each in enumerate(sources)]
        self.variables = ""
        self.played: list[ToolResult | CoworkError] = []
        """What the cells will show."""

    def calls_to(self, tool: str) -> list[dict[str, Any]]:
        """The parameters of the calls of a tool."""
        return [one["parameters"] for one in self.calls if one["tool"] == tool]

    def run_tool(
        self, call: dict[str, Any], role: AgentRole = AgentRole.ACTOR
    ) -> ToolResult | CoworkError:
        self.calls.append(call)
        lines = {"first_line": 1, "last_line": 61, "total_lines": 61, "encoding": "utf-8"}
        number = len(self.calls_to("insert_cell"))
        match call["tool"]:
            case "list_directory":
                return ToolResult("", "", {"files": ["data/sales.csv", "work/nb.ipynb"]})
            case "read_file":
                return ToolResult(SALES, "", lines)
            case "run_code":
                self.code_run.append(call["parameters"]["code"])
                return ToolResult(f"packages: {self.packages}", "")
            case "list_variables":
                return ToolResult(self.variables, "")
            case "read_notebook":
                return ToolResult("", "", {"cells": self.cells})
            case "insert_cell":
                return ToolResult("", "", {"cell_id": f"k{number}", "fingerprint": f"f{number}"})
            case "get_file_info":
                return NotFound("There is none.")
            case "edit_cell":
                facts = {"cell_id": call["parameters"]["cell_id"], "fingerprint": "new"}
                return ToolResult("", "", facts)
        return self.played.pop(0)


SUMS = ToolResult(
    "region\nN    110.0\nS     99.5\nName: price, dtype: float64\n"
    "[ran cell k2 in 0.1 s]\n[data] by_region: new, 2 rows\n[warning, line 1] Sums of 3 rows.",
    "",
)
NOTHING = ToolResult("[ran cell k1 in 0.1 s] No output.", "")
UNREADABLE = CoworkError("UnicodeDecodeError: 'utf-8' codec", code="code_failed")
OF_TEXT = ToolResult("region\nN    1.52.5\nName: price, dtype: str", "")
NOTEBOOK, PLOT = "work/nb.ipynb", "plot total price by region in data/sales.csv"


def test_notebook_gets_short_cells_in_order() -> None:
    asked = "total price by region in data/sales.csv, as a plot"
    kernel = Kernel(f"%%act -m m\n{asked}", "earlier()", "print('mine')")
    kernel.inserted = frozenset({"c1"})
    kernel.played = [NOTHING, SUMS, NOTHING]
    assert "highest N: 110; lowest S: 99.50" in kernel.ask(asked, notebook=NOTEBOOK)
    reading, computing, drawing = kernel.calls_to("insert_cell")
    assert 'sales = pd.read_csv("../data/sales.csv", ' in reading["source"]
    assert computing["source"].splitlines()[-1] == "by_region"
    assert "import" not in computing["source"] + drawing["source"]
    places = [one["after"] for one in (reading, computing, drawing)]
    assert places == ["c1", "k1", "k2"], "below the cell that asked, and what this job wrote there"
    assert [one["where"] for one in kernel.calls_to("run_code")] == ["scratch"], "nobody is asked"


@pytest.mark.parametrize(
    ("outputs", "mending"),
    [
        ([UNREADABLE], 'encoding_errors="replace"'),
        ([NOTHING, OF_TEXT, NOTHING], 'pd.to_numeric(sales["price"], errors="coerce")'),
    ],
)
def test_decided_fix_edits_the_cell_and_reruns_below(
    outputs: list[ToolResult | CoworkError], mending: str
) -> None:
    kernel = Kernel()
    kernel.played = [*outputs, NOTHING, SUMS, NOTHING]
    assert "highest N: 110" in kernel.ask(PLOT, answers=["go on"], notebook=NOTEBOOK)
    (mended,) = kernel.calls_to("edit_cell")
    assert (mended["cell_id"], mended["fingerprint"]) == ("k1", "f1")
    assert mending in mended["source"]
    ran = [call["cell_id"] for call in kernel.calls_to("run_cell")]
    assert ran[len(outputs) :] == ["k1", "k2", "k3"]


def test_kernel_without_cells_reuses_tables() -> None:
    kernel = Kernel()
    kernel.tools = frozenset([*LOOKING, "run_code"])
    kernel.code_run = [
        'import pandas as pd\n\nsales = pd.read_csv("data/sales.csv", parse_dates=["day"])'
    ]
    kernel.variables = "pd: module\nsales: pandas.DataFrame · 60×3"
    kernel.ask(PLOT)
    _before, _packages, computing, drawing = kernel.code_run
    assert computing.startswith('by_region = sales.groupby("region")')
    assert 'sales_total_price_by_region.png"' in drawing


def test_a_step_whose_script_was_approved_runs_as_one_where_a_kernel_is_free(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path).having({"sales.csv": "a,b\n1,2\n1,2\n"})
    (step,) = desk.plan("clean sales.csv: remove duplicate rows")["steps"]
    later = Desk(tmp_path, frames={})
    assert later.step(**step)[0] == "done"
    assert {one["tool"] for one in later.calls} >= set(step["tools_needed"])
    assert (tmp_path / "sales_clean.csv").read_text() == "a,b\n1,2\n"
