"""Which tables a request may be about, how they are read, and how often."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.parts.guide import agent
from cowork_jupyter.parts.guide.heads import complete_values
from cowork_jupyter.parts.guide.script import Script
from cowork_jupyter.parts.guide.sources import Candidate, candidates, described
from cowork_jupyter.parts.guide.tables import Table
from tests.workbook import write_workbook

from .desk import Desk, write_notebook

pd = pytest.importorskip("pandas")
NOTEBOOK = "work/analysis.ipynb"
ORDERS = "order_id,customer_id,date,total\n" + "".join(
    f"{n},{n % 3},2024-{n % 12 + 1:02d}-01,{n * 1.5}\n" for n in range(40)
)


Look = Callable[..., list[Candidate]]


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> Look:
    """What the planner of a desk finds when asked, instead of a plan."""
    found: list[Candidate] = []

    def plan(script: Script) -> str:
        found[:] = candidates(script, script.run.request)
        return "found"

    def look(desk: Desk, text: str = "sum of total", **more: Any) -> list[Candidate]:
        assert desk.ask(text, AgentRole.PLANNER, **more) == "found"
        return found

    monkeypatch.setattr(agent, "plan", plan)
    return look


def names(found: Sequence[Candidate]) -> list[str]:
    return [f"{each.origin}: {each.table.path}" for each in found]


def desk_with(folder: Path, *paths: str, frames: dict[str, Any] | None = None) -> Desk:
    return Desk(folder, scratch=True, frames=frames).having(dict.fromkeys(paths, ORDERS))


def test_candidates_are_kernel_then_notebook_then_folder(tmp_path: Path, look: Look) -> None:
    files = ("a.csv", "work/z.csv", "data/old.csv", "data/x/deep.csv", "data/used.csv")
    frames = {"totals": pd.DataFrame({"town": ["Rome", "Oslo"], "n": [1, 2]})}
    desk = desk_with(tmp_path, *files, frames=frames)
    write_notebook(tmp_path / NOTEBOOK, 'sums = pd.read_csv("../data/used.csv").sum()')
    nearest = ["work/z.csv", "a.csv", "data/old.csv", "data/x/deep.csv"]
    assert names(look(desk, notebook=NOTEBOOK)) == [
        "kernel: totals", "notebook: data/used.csv", *(f"folder: {path}" for path in nearest)
    ]  # fmt: skip


def test_dataframe_columns_keep_their_types(tmp_path: Path, look: Look) -> None:
    frame = pd.DataFrame(
        {
            "zip": ["01234", "99999", "01234"],
            "digits": ["1", "2", "2"],
            "day": pd.to_datetime(["2024-01-31", "2024-03-01", None]),
            "n": [1.5, 2.5, None],
            "paid": [True, False, True],
            "none": [None, None, None],
        }
    )
    (table,) = [each.table for each in look(desk_with(tmp_path, frames={"bills": frame}))]
    assert (table.is_variable, table.rows) == (True, 3)
    kinds = [column.kind for column in table.columns]
    assert kinds == ["text", "text", "date", "number", "text", "empty"]
    code, _digits, day, _n, paid, _none = table.columns
    assert (code.values, code.is_unique) == (("01234", "99999"), False)
    assert (day.first, day.last) == ("2024-01-31", "2024-03-01")
    assert set(paid.values) == {"True", "False"}


def test_uncopyable_dataframes_are_skipped(tmp_path: Path, look: Look) -> None:
    odd = pd.DataFrame([[1, 2]], columns=["a", "a"])
    frames = {"odd": odd, "good": pd.DataFrame({"a": [[1], [2]]}), "broken": None}
    assert names(look(desk_with(tmp_path, frames=frames))) == ["kernel: good"]


def test_file_and_its_dataframe_are_one_candidate(tmp_path: Path, look: Look) -> None:
    frames = {"orders": pd.DataFrame({"order_id": [1]})}
    desk = desk_with(tmp_path, "work/orders.csv", "work/a.csv", frames=frames)
    write_notebook(tmp_path / NOTEBOOK, "import pandas as pd", 'orders = pd.read_csv("orders.csv")')
    found = look(desk, notebook=NOTEBOOK)
    assert names(found) == ["kernel: work/orders.csv", "folder: work/a.csv"]
    found = look(desk, "sum of total in `orders`", notebook=NOTEBOOK)
    assert names(found) == ["named: work/orders.csv"]


def test_written_files_are_candidates_only_if_named(tmp_path: Path, look: Look) -> None:
    desk = desk_with(
        tmp_path, *["a.csv", "both.csv", "notes.txt", "out/sums.csv", "b.csv", "c.csv"]
    )
    write_notebook(
        tmp_path / "n.ipynb",
        'import pandas as pd\nboth = pd.read_csv("both.csv")',
        'both.groupby("x").sum().to_csv("out/sums.csv")\nboth.write_csv("b.csv")',
        'both.to_csv("c.csv")\nagain = pd.read_csv("b.csv")\nboth.to_csv("both.csv")',
    )
    assert names(look(desk, notebook="n.ipynb")) == ["notebook: both.csv", "folder: a.csv"]
    for path in ("c.csv", "notes.txt"):
        found = look(desk, f"sum of total in {path}", notebook="n.ipynb")
        assert names(found) == [f"named: {path}"]


def test_only_named_tables_are_read(tmp_path: Path, look: Look) -> None:
    frames = {"rates": pd.DataFrame({"a": [1]}), "more": pd.DataFrame({"b": [1]})}
    desk = desk_with(tmp_path, "orders.csv", "customers.csv", "other.csv", frames=frames)
    found = look(desk, "join Orders.CSV with customers.csv")
    assert names(found) == ["named: orders.csv", "named: customers.csv"]
    read = [one["parameters"]["path"] for one in desk.calls if one["tool"] == "read_file"]
    assert read == ["orders.csv", "customers.csv"]
    found = look(desk, "join `rates` with other.csv")
    assert names(found) == ["named: rates", "named: other.csv"]


def test_a_candidate_is_described_by_its_rows_and_columns(tmp_path: Path, look: Look) -> None:
    text = "id,name,date,total\n" + "1,2,2024-01-01,3\n" * 1212
    (one,) = look(Desk(tmp_path).having({"orders.csv": text}))
    assert described(one) == "`orders.csv` · 1,212 rows · id, name, date, …"


def test_wide_sheets_show_fewer_rows(tmp_path: Path, look: Look) -> None:
    frame = pd.DataFrame({f"column {n}": ["some text"] * 150 for n in range(60)})
    frame.to_parquet(tmp_path / "wide.parquet")
    (table,) = [each.table for each in look(desk_with(tmp_path))]
    assert (len(table.names), table.rows, table.is_whole) == (60, None, False)


def test_heads_are_cached_until_a_file_changes(tmp_path: Path, look: Look) -> None:
    desk = desk_with(tmp_path, *(f"t{n:02d}.csv" for n in range(40)))
    assert len(look(desk)) == 16
    assert desk.turns == 2, "all heads are one reply"
    look(desk, "mean of total")
    assert desk.turns == 3, "only the folder is listed"
    found = look(desk.having({"t03.csv": ORDERS.replace("total", "price")}), "mean of total")
    assert desk.calls[-1]["parameters"]["path"] == "t03.csv"
    assert found[3].table.names[-1] == "price"
    assert desk.turns == 5


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "parquet", "jsonl", "json"])
def test_values_are_completed_from_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    head = ["town", "day", "paid", "n"]
    rows: list[list[str | float]] = [["Rome", "2024-01-01", "true", 1]] * 300
    rows += [["Oslo", "2025-06-30", "false", 2], ["oslo ", "2024-02-01", "true", 3]]
    frame, path = pd.DataFrame(rows, columns=head), tmp_path / f"t.{suffix}"
    if suffix == "csv":
        frame.to_csv(path, index=False)
    elif suffix == "xlsx":
        write_workbook(path, {"t": [[*head], *rows]})
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=suffix == "jsonl")
    tables: list[Table] = []

    def plan(script: Script) -> str:
        tables[:] = [complete_values(script, candidates(script, "")[0].table)]
        return "found"

    monkeypatch.setattr(agent, "plan", plan)
    desk = Desk(tmp_path, scratch=True)
    desk.ask("x", AgentRole.PLANNER)
    town, day, paid, number = tables[0].columns
    assert set(town.untidy) == {"Oslo", "oslo"}
    assert (set(town.values), town.is_unique) == ({"Rome", "Oslo", "oslo"}, False)
    assert (day.kind, day.first, day.last) == ("date", "2024-01-01", "2025-06-30")
    assert (number.kind, "true" in paid.values) == ("number", True)
    turns = desk.turns
    desk.ask("y", AgentRole.PLANNER)
    assert desk.turns == turns + 1


def test_bare_clean_offers_actions(tmp_path: Path) -> None:
    text = "town,n\n" + "Rome,1\n" * 300 + "oslo,2\nOslo ,\n"
    desk = Desk(tmp_path, scratch=True).having({"t.csv": text})
    (step,) = desk.plan("clean t.csv", ["unify"])["steps"]
    assert [each["label"] for each in desk.questions[0]["options"]] == [
        "All of this", "Remove duplicate rows", "Remove empty rows and columns",
        "Trim spaces in `town`", "Unify the spelling of `town`", "Nothing",
    ]  # fmt: skip
    assert ("unify" in step["action"], "duplicate" in step["action"]) == (True, False)
    (step,) = desk.plan("clean t.csv", ["all"])["steps"]
    assert ("unify" in step["action"], "duplicate" in step["action"]) == (True, True)
    assert "Nothing was cleaned." in desk.ask("clean t.csv", AgentRole.PLANNER, ["none"])


def test_doubtful_join_key_is_asked(tmp_path: Path) -> None:
    files = {
        "orders.csv": "order_id,town_id,n\n1,2,3\n2,2,4\n3,3,4\n",
        "bills.csv": "order_id,town_id,m\n7,2,3\n8,3,4\n9,4,4\n",
        "visits.csv": "town_id,day\n2,5\n2,6\n3,7\n",
        "other.csv": "k,l\nx,2\ny,3\n",
    }
    desk = Desk(tmp_path, scratch=True).having(files)
    (step,) = desk.plan("join orders with bills", ["town_id = town_id"])["steps"]
    assert "on `town_id`" in step["action"]
    (step,) = desk.plan("join orders with visits", ["town_id = town_id"])["steps"]
    assert "keeping every match" in step["action"]
    (order, town, _none), (several, _none) = (
        [each["label"] for each in asked["options"]] for asked in desk.questions
    )
    assert order.startswith("`order_id`: 0% of 3 rows")
    assert town == "`town_id`: 100% of 3 rows find a match, none more than one"
    assert "but some several: 5 rows" in several
    for other, said in (("bills", "Nothing was joined"), ("other", "no column in common")):
        assert said in desk.ask(f"join orders with {other}", AgentRole.PLANNER, ["none"])
    bare = Desk(tmp_path)
    bare.plan("join orders with bills", ["order_id = order_id"])
    assert bare.questions[0]["options"][0]["label"] == "`order_id`"


def test_a_title_above_a_sheet_is_no_header(tmp_path: Path) -> None:
    rows: list[list[str | float]] = [["Kundenliste 2024"], [], ["Kunde", "Ort", "Umsatz"]]
    rows += [["Maier", "Köln", 10], ["Oz", "Bonn", 20], ["Lind", "Köln", 30]]
    write_workbook(tmp_path / "kunden.xlsx", {"Kunden": rows})
    text = "how many kunden by ort in kunden.xlsx?"
    said = desk_with(tmp_path).ask(text, AgentRole.PLANNER)
    assert said.partition("| --- ")[2].count("\n|") == 2
    assert "| Köln | 2 |" in said
