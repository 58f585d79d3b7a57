"""The questions of `make eval`: enough of them, and each knows its own answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.eval.asking import Attempt, code_in, run_script
from tests.eval.questions import QUESTIONS, UNKNOWN, Question
from tests.eval.tables import make_tables, write_tables
from tests.eval.tasks import TASKS, Task, write_notebook

TABLES = make_tables()
HERE = Path()

_ADD = "import nbformat as n; b = n.read('question.ipynb', 4); b.cells.append(n.v4.new_{}); "
_SAVE = "n.write(b, 'question.ipynb')"
DONE = {
    "write-unique": "import pandas as pd\n"
    "pd.read_csv('students.csv').drop_duplicates().to_csv('students_clean.csv', index=False)",
    "write-monthly": "import pandas as pd\n"
    "sales = pd.read_csv('sales.csv', parse_dates=['date'])\n"
    "months = sales.groupby(sales['date'].dt.month)['units'].sum()\n"
    "months.rename_axis('month').to_csv('monthly.csv')",
    "write-features": "import pandas as pd\n"
    "table = pd.read_csv('houses.csv').eval('price_per_area = price / area')\n"
    "table.to_csv('houses_features.csv', index=False)",
    "write-filled": "import pandas as pd\n"
    "table = pd.read_csv('sales.csv')\n"
    "table['revenue'] = table['revenue'].fillna(table['units'] * table['price'])\n"
    "table.to_csv('sales_filled.csv', index=False)",
    "write-plain": "import pandas as pd\n"
    "table = pd.read_csv('bestellungen.csv', sep=';', decimal=',', parse_dates=['Datum'], "
    "dayfirst=True)\n"
    "table.to_csv('orders_plain.csv', index=False)",
    "write-joined": "import pandas as pd\n"
    "orders = pd.read_csv('orders.csv')\n"
    "orders.merge(pd.read_csv('customers.csv')).to_csv('joined.csv', index=False)",
    "keep-table": "import pandas as pd\nsales = pd.read_csv('sales.csv', parse_dates=['date'])",
    "keep-totals": "import pandas as pd\n"
    "totals = pd.read_csv('sales.csv').groupby('region')['units'].sum()",
    "add-code-cell": _ADD.format("code_cell('pd.read_csv(\"sales.csv\")')") + _SAVE,
    "add-text-cell": _ADD.format("markdown_cell('# Results')") + _SAVE,
}
"""Code that does each task."""


def test_there_are_enough_of_them_in_both_halves() -> None:
    assert len({one.id for one in QUESTIONS}) == len(QUESTIONS) >= 60
    assert len([one for one in QUESTIONS if one.half == "tune"]) == pytest.approx(
        len(QUESTIONS) / 2, abs=3
    )


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.id)
def test_the_right_answer_counts_in_its_form_only(question: Question) -> None:
    truth = question.truth(TABLES)
    value = truth if isinstance(truth, str) else f"{truth:.{question.decimals or 0}f}"
    assert question.is_right(f"So it is @{question.name}[{value}].", TABLES, HERE)
    assert question.is_right(f"@{question.name}[0] no: @{question.name}[ {value} ]", TABLES, HERE)
    assert not question.is_right(f"It is {value}.", TABLES, HERE)
    other = "another" if isinstance(truth, str) else f"{truth + 5:.2f}"
    assert not question.is_right(f"@{question.name}[{other}]", TABLES, HERE)
    assert (value == UNKNOWN) == question.id.startswith("no-")


@pytest.mark.process
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_task_counts_once_it_is_done(task: Task, tmp_path: Path) -> None:
    write_tables(TABLES, tmp_path)
    write_notebook(tmp_path)
    assert not task.is_right("Done.", TABLES, tmp_path)
    attempt = Attempt()
    run_script(DONE[task.id], tmp_path, attempt, task.probe)
    assert attempt.strikes == []
    assert task.is_right("", TABLES, tmp_path)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ("Let me see:\n```python\nprint(1)\n```\nThat is it.", "print(1)\n"),
        ("```\nprint(2)", "print(2)"),
        ("It is 3.", None),
    ],
)
def test_code_is_the_first_fenced_block(reply: str, code: str | None) -> None:
    assert code_in(reply) == code
