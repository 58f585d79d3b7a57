"""The questions of `make eval`: enough of them, and each knows its own answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.parts.skills.skills import Skills
from measure.eval.asking import Attempt, code_in, run_script
from measure.eval.questions import QUESTIONS, UNKNOWN, Question
from measure.eval.tables import make_tables, write_tables
from measure.eval.task import Task
from measure.eval.tasks import TASKS, write_notebook
from tests.quick import each

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
    "skill-joins-newest": "import pandas as pd\n"
    "found = pd.read_csv('discounts.csv').sort_values('valid_from')\n"
    "found = found.drop_duplicates('customer_id', keep='last').drop(columns='valid_from')\n"
    "orders = pd.read_csv('orders.csv').merge(found, how='left', validate='many_to_one')\n"
    "orders.to_csv('discounted.csv', index=False)",
    "skill-joins-unknown": "import pandas as pd\n"
    "orders, known = pd.read_csv('orders.csv'), pd.read_csv('customers.csv')\n"
    "orders[~orders.customer_id.isin(known.customer_id)].to_csv('unknown.csv', index=False)",
    "skill-time-series-gaps": "import pandas as pd\n"
    "t = pd.read_csv('readings.csv', parse_dates=['time']).set_index('time')['temperature']\n"
    "days = t.resample('D').agg(['mean', 'count'])\n"
    "days['missing'] = 24 - days.pop('count')\n"
    "days.rename_axis('day').to_csv('daily.csv')",
    "skill-time-series-weeks": "import pandas as pd\n"
    "sales = pd.read_csv('sales.csv', parse_dates=['date'])\n"
    "weeks = sales.date - pd.to_timedelta(sales.date.dt.dayofweek, 'D')\n"
    "units = sales.groupby(weeks)['units'].sum().asfreq('7D', fill_value=0)\n"
    "units.rename_axis('week').to_csv('weekly.csv')",
    "skill-model-evaluation-folds": "import pandas as pd\n"
    "from sklearn.dummy import DummyRegressor\n"
    "from sklearn.linear_model import LinearRegression\n"
    "from sklearn.model_selection import cross_val_score\n"
    "houses = pd.read_csv('houses.csv')\n"
    "x, y = houses[['area', 'rooms', 'age']], houses['price']\n"
    "def score(model):\n"
    "    return -cross_val_score(model, x, y, cv=5, scoring='neg_mean_absolute_error')\n"
    "dummy = DummyRegressor(strategy='median')\n"
    "got = {'mae': score(LinearRegression()), 'baseline': score(dummy)}\n"
    "pd.DataFrame(got, index=pd.Index(range(1, 6), name='fold')).to_csv('scores.csv')",
    "skill-data-cleaning-weights": "import pandas as pd\n"
    "table = pd.read_csv('patients.csv')\n"
    "table['weight'] = table['weight'].where(table['weight'].between(30, 250))\n"
    "table.to_csv('patients_clean.csv', index=False)",
    "skill-data-cleaning-members": "import pandas as pd\n"
    "table = pd.read_csv('members.csv', dtype=str, keep_default_na=False)\n"
    "table['city'] = table['city'].str.strip().str.capitalize().replace('-', '')\n"
    "table['fee'] = pd.to_numeric(table['fee'].str.replace(',', '.'), errors='coerce')\n"
    "table.drop_duplicates('id', keep='last').to_csv('members_clean.csv', index=False)",
    "skill-plotting-bars": "import matplotlib; matplotlib.use('Agg')\n"
    "import pandas as pd, matplotlib.pyplot as plt\n"
    "totals = pd.read_csv('sales.csv').groupby('region')['units'].sum().sort_values()\n"
    "fig, ax = plt.subplots()\n"
    "ax.barh(totals.index, totals); ax.set(title='North leads', xlabel='units sold')\n"
    "fig.savefig('units.png')",
    "skill-notebook-tidy-up-heading": "import nbformat as n\n"
    "v = n.v4; code = v.new_code_cell\n"
    "cells = [v.new_markdown_cell('# Units'), code('import pandas as pd'),"
    " code('sales = pd.read_csv(\"sales.csv\")'),"
    ' code(\'totals = sales.groupby("region")["units"].sum()\')]\n'
    "n.write(v.new_notebook(cells=cells), 'totals.ipynb')",
    "skill-notebook-tidy-up-order": "import nbformat as n\n"
    "v = n.v4; code = v.new_code_cell\n"
    "cells = [v.new_markdown_cell('# Units'),"
    " code('import pandas as pd\\nfrom pathlib import Path'),"
    " code('sales = pd.read_csv(\"sales.csv\")'),"
    ' code(\'by_region = sales.groupby("region")["units"].sum()\'),'
    " code('by_region.to_csv(Path(\"by_region.csv\"))')]\n"
    "n.write(v.new_notebook(cells=cells), 'tidy.ipynb')",
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
@pytest.mark.parametrize("task", each(4, TASKS), ids=lambda task: task.id)
def test_a_task_counts_once_it_is_done(task: Task, tmp_path: Path) -> None:
    write_tables(TABLES, tmp_path)
    write_notebook(tmp_path)
    assert not task.is_right("Done.", TABLES, tmp_path)
    attempt = Attempt()
    run_script(DONE[task.id], tmp_path, attempt, task.probe)
    assert attempt.strikes == []
    assert task.is_right("", TABLES, tmp_path)


def test_every_skill_that_ships_has_a_task() -> None:
    for skill in Skills().listing().items:
        assert [task for task in TASKS if task.id.startswith(f"skill-{skill.name}-")]


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
