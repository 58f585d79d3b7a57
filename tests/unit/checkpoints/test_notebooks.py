"""Notebooks go back by the text of their cells, and keep what stays shown."""

from __future__ import annotations

import json
from typing import Any

from cowork_jupyter.checkpoints.rollback import BY_USER, IN_BETWEEN

from .conftest import Site, why

Cell = dict[str, Any]


def cell(name: str, source: str, output: str = "", count: int | None = None) -> Cell:
    outputs = [{"output_type": "stream", "name": "stdout", "text": output}] if output else []
    return {
        "id": name,
        "cell_type": "code",
        "source": source,
        "metadata": {},
        "execution_count": count,
        "outputs": outputs,
    }


def notebook(*cells: Cell) -> str:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def cells_in(site: Site) -> list[Cell]:
    found: list[Cell] = json.loads((site.root / "n.ipynb").read_text())["cells"]
    return found


ASK, MINE = cell("ask", "%%act"), cell("mine", "x = 1")


def agent_inserts(site: Site, name: str, *cells: Cell) -> None:
    with site.named(name, ["n.ipynb"]):
        site.write("n.ipynb", notebook(*cells))


def test_running_cells_is_no_change_of_somebody_elses(site: Site) -> None:
    site.write("n.ipynb", notebook(ASK, MINE))
    agent_inserts(site, "one", ASK, cell("a", "1"), MINE)
    ran = [cell("ask", "%%act", "the card", 3), cell("a", "1", "1\n", 4)]
    site.write("n.ipynb", notebook(*ran, MINE))
    agent_inserts(site, "two", *ran, cell("b", "2"), MINE)
    site.write("n.ipynb", notebook(*ran, cell("b", "2", "2\n", 5), cell("mine", "x = 1", "", 6)))
    plan = site.roll_back("one", "two")
    assert (plan.restored, plan.skipped) == (["n.ipynb"], [])
    assert cells_in(site) == [ran[0], cell("mine", "x = 1", "", 6)], "what stays keeps its outputs"


def test_a_cell_that_was_edited_gets_its_text_and_what_it_showed_then(site: Site) -> None:
    old = cell("mine", "x = 1", "old\n", 1)
    site.write("n.ipynb", notebook(ASK, old))
    agent_inserts(site, "one", ASK, cell("mine", "x = 2", "old\n", 1))
    site.write("n.ipynb", notebook(ASK, cell("mine", "x = 2", "new\n", 2)))
    site.roll_back("one")
    assert cells_in(site) == [ASK, old]


def test_text_that_the_user_wrote_since_is_still_theirs(site: Site) -> None:
    site.write("n.ipynb", notebook(ASK))
    agent_inserts(site, "one", ASK, cell("a", "1"))
    site.write("n.ipynb", notebook(ASK, cell("a", "1 + 1")))
    plan = site.roll_back("one")
    assert why(plan.skipped) == {"n.ipynb": BY_USER}
    assert cells_in(site)[1]["source"] == "1 + 1"


def test_text_that_the_user_wrote_in_between_is_theirs_too(site: Site) -> None:
    site.write("n.ipynb", notebook(ASK))
    agent_inserts(site, "one", ASK, cell("a", "1"))
    site.write("n.ipynb", notebook(ASK, cell("a", "1"), MINE))
    agent_inserts(site, "two", ASK, cell("a", "1"), MINE, cell("b", "2"))
    assert why(site.roll_back("one", "two").skipped) == {"n.ipynb": IN_BETWEEN}


def test_what_is_no_notebook_goes_back_as_any_file(site: Site) -> None:
    site.write("n.ipynb", "{}")
    agent_inserts(site, "one", ASK)
    site.write("n.ipynb", "[1, 2")
    assert why(site.roll_back("one").skipped) == {"n.ipynb": BY_USER}
