"""The code that the guide writes."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from cowork_jupyter.guide.cells import Choices, Means, code_for
from cowork_jupyter.guide.jobs import GuideJob
from cowork_jupyter.guide.tables import Table, table_of

from .desk import Desk

SALES = table_of("sales.csv", "day,region,price\n2024-01-01,N,1.5\n2024-02-01,S,2\n")
OTHER = table_of("more.csv", "region,name\nN,North\n")
assert SALES
assert OTHER
JOBS = [
    GuideJob("profile", SALES),
    GuideJob("clean", SALES),
    GuideJob("time", SALES, ("day", "price")),
    GuideJob("time", SALES, ("day", "price"), "sum", split="region"),
    GuideJob("category", SALES, ("region", "price")),
    GuideJob("distribution", SALES, ("price",)),
    GuideJob("join", SALES, ("region", "region"), other=OTHER),
    GuideJob("model", SALES, ("price",)),
]
PATHS = {path: path for path in ("sales.csv", "more.csv", "sales_clean.csv", "sales_more.csv")}
PACKAGES = ["", "pandas", "pandas matplotlib", "numpy", "numpy sklearn"]


@pytest.mark.parametrize("packages", PACKAGES)
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.kind)
def test_a_cell_takes_no_names_of_the_users(job: GuideJob, packages: str) -> None:
    means = Means(frozenset(packages.split()), in_notebook=True, in_kernel=True)
    tree = ast.parse(code_for(job, means, Choices(), PATHS))
    function, run = tree.body
    assert isinstance(function, ast.FunctionDef)
    assert function.name == f"guide_{job.kind}_sales"
    assert ast.unparse(run) == f"{function.name}()"


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.kind)
def test_what_is_there_is_used_and_nothing_else(job: GuideJob) -> None:
    bare = code_for(job, Means(frozenset(), in_notebook=False), Choices(), PATHS)
    assert "import pandas" not in bare
    assert "import matplotlib" not in bare
    full = Means(frozenset({"pandas", "matplotlib", "sklearn"}), in_notebook=False)
    rich = code_for(job, full, Choices(), PATHS)
    assert ("import pandas" in rich) == (job.kind != "model")
    without = code_for(job, full, Choices(without=frozenset({"pandas"})), PATHS)
    assert "import pandas" not in without


def test_random_bytes_are_read_or_refused_but_never_break_anything(tmp_path: Path) -> None:
    chance = random.Random(5)
    signs = [*"ab1,;\t|\"'\n\r #.:-", "é", "\u2028", "2024-01-01", "NA", "`", "\\", "{x}"]
    for number in range(60):
        text = "".join(chance.choice(signs) for _ in range(chance.randrange(300)))
        (tmp_path / "t.csv").write_bytes(
            text.encode("cp1252" if number % 3 else "utf-8", "replace")
        )
        for request in ("profile t.csv", "plot t.csv"):
            said = Desk(tmp_path).ask(request)
            assert "Error" not in said or "nothing to plot" in said, (text, said)
        for made in (*tmp_path.glob("guide_*.py"), *tmp_path.glob("*.svg")):
            made.unlink()


def test_an_odd_table_still_gives_code_that_can_be_read() -> None:
    odd: Table | None = table_of("it's\nimport os\n.csv", "'); import os #,b\n1,2\n")
    assert odd
    job = GuideJob("profile", odd)
    for packages in PACKAGES:
        means = Means(frozenset(packages.split()), in_notebook=True, in_kernel=True)
        tree = ast.parse(code_for(job, means, Choices(), {odd.path: odd.path}))
        imported = {n.names[0].name for n in ast.walk(tree) if isinstance(n, ast.Import)}
        assert "os" not in imported
