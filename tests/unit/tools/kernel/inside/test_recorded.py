"""What a kernel records between cells while a person watches their data."""

from __future__ import annotations

import json

import IPython
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from cowork_jupyter.tools.kernel.inside import recorded
from cowork_jupyter.tools.kernel.state import RecordedCell

MAKE = "import pandas as pd\ndf = pd.DataFrame({'x': [1, 2, 3]})"


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> InteractiveShell:
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    recorded.record_cells()
    return shell


def run(shell: InteractiveShell, code: str) -> int:
    return shell.run_cell(code, store_history=True).execution_count or 0


def rows(count: int) -> tuple[int | None, int | None]:
    """Of the table before and after a cell."""
    cell = RecordedCell.of(json.loads(recorded.recorded_cell(count)))
    before, after = cell.before.tables.get("df"), cell.after.tables.get("df")
    return before.rows if before else None, after.rows if after else None


def test_each_cell_is_recorded_although_nobody_looks_in_between(shell: InteractiveShell) -> None:
    counts = [run(shell, code) for code in (MAKE, "df = df[:2]", "1 / 0", "del df")]
    assert [rows(count) for count in counts] == [(None, 3), (3, 2), (2, 2), (2, None)]
    cell = RecordedCell.of(json.loads(recorded.recorded_cell(counts[1])))
    assert (cell.source, cell.is_newest) == ("df = df[:2]", False)
    assert cell.before.history[-1:] == (MAKE,)
    assert cell.after.history[-1:] == ("df = df[:2]",)


def test_code_without_a_number_counts_as_what_was_before(shell: InteractiveShell) -> None:
    run(shell, MAKE)
    shell.run_cell("df = df[:1]", store_history=False)
    assert rows(run(shell, "df = df[:0]")) == (1, 0)


def test_a_kernel_that_nobody_asks_any_more_stops_recording(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded, "MAX_RECORDED", 3)
    counts = [run(shell, f"a = {number}") for number in range(3)]
    assert json.loads(recorded.recorded_cell(counts[0])), "asked in time"
    counts += [run(shell, f"a = {number}") for number in range(4)]
    assert json.loads(recorded.recorded_cell(counts[-1])) == {}
    assert rows(run(shell, MAKE)) == (None, 3), "it was asked again"
    assert shell.events.callbacks["post_run_cell"].count(recorded._record_cell) == 1


def test_a_table_that_cannot_be_described_shows_nothing_below_the_cell(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("changed while it was read")

    monkeypatch.setattr(recorded, "tables_in", fails)
    count = run(shell, "a = 1")
    assert capsys.readouterr() == ("", "")
    assert json.loads(recorded.recorded_cell(count)) == {}
    monkeypatch.undo()
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    assert json.loads(recorded.recorded_cell(run(shell, "df = 1"))) == {}, "nothing was before"
    assert rows(run(shell, MAKE)) == (None, 3)
