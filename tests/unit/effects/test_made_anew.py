"""What a cell defines anew is not compared with what the last run of the notebook left."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.effects import TableState
from cowork_jupyter.effects.finding import effects_of, made_anew, watched_run
from cowork_jupyter.tools.kernel.state import KernelTables

NEW = "df: new, 9 rows, 1 column"
CHANGED = "df: 4 → 9 rows (+5)"


def seen(rows: int) -> KernelTables:
    return KernelTables({"df": TableState(rows=rows, columns=1)}, {"df": str(rows)})


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("df = pd.read_csv('a.csv')", NEW),
        ("%%time\nraw = 1\ndf = pd.read_csv('a.csv')\ndf = df[df.x > 1]", NEW),
        ("with open('a') as file:\n    df = pd.read_csv(file)", NEW),
        ("df = pd.concat([df, more])", CHANGED),
        ("df['x'] = 1", CHANGED),
        ("def all():\n    return df\ndf = all()", CHANGED),
        ("%fill df", CHANGED),
    ],
)
def test_what_code_defines_before_it_uses_it_is_new(code: str, line: str) -> None:
    (effect,) = effects_of(made_anew(watched_run(code, seen(4), seen(9))))
    assert effect.line == line


def test_what_a_cell_leaves_as_it_was_is_not_new() -> None:
    assert effects_of(made_anew(watched_run("if late:\n    df = load()", seen(4), seen(4)))) == []
