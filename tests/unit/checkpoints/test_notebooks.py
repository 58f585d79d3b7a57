"""Notebooks go back by the text of their cells, and keep what stays shown and what is not ours."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cowork_jupyter.checkpoints.rollback import BY_USER

from .conftest import Site, why
from .test_merge import conflicting

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


def sources_in(site: Site) -> list[str]:
    return [one["source"] for one in cells_in(site)]


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


def test_a_cell_that_both_changed_stays_and_is_named(site: Site) -> None:
    site.write("n.ipynb", notebook(ASK))
    agent_inserts(site, "one", ASK, cell("a", "1"))
    site.write("n.ipynb", notebook(ASK, cell("a", "1 + 1")))
    plan = site.roll_back("one")
    assert why(plan.skipped) == {"n.ipynb": "you also changed cell 2"}
    assert plan.skipped[0].cells == [conflicting("a", 2, None, "1 + 1")]
    assert plan.skipped[0].can_overwrite
    assert cells_in(site)[1]["source"] == "1 + 1"


def test_the_rest_of_the_notebook_goes_back_and_the_users_own_cells_stay(site: Site) -> None:
    site.write("n.ipynb", notebook(cell("c1", "1"), cell("c2", "2"), cell("c3", "3")))
    new = cell("new", "new")
    agent_inserts(site, "one", cell("c1", "1"), cell("c2", "two"), new, cell("c3", "three"))
    mine = (cell("c1", "mine"), cell("c2", "two"), new, cell("c3", "three\nmine"))
    site.write("n.ipynb", notebook(*mine))
    plan = site.roll_back("one")
    assert (plan.restored, [one.cells for one in plan.skipped]) == (
        ["n.ipynb"],
        [[conflicting("c3", 4, "3", "three\nmine")]],
    )
    assert sources_in(site) == ["mine", "2", "three\nmine"]


@pytest.mark.parametrize(
    "choice",
    [
        {"overwrite_cells": {"n.ipynb": ["a"]}},
        {"overwrite": ["n.ipynb"]},
        {"overwrite": ["n.ipynb"], "overwrite_cells": {"n.ipynb": ["a"]}},
    ],
)
def test_a_cell_that_both_changed_goes_back_if_it_is_chosen(
    site: Site, choice: dict[str, Any]
) -> None:
    site.write("n.ipynb", notebook(ASK, cell("a", "0"), MINE))
    agent_inserts(site, "one", ASK, cell("a", "1"), MINE)
    site.write("n.ipynb", notebook(ASK, cell("a", "1 + 1"), cell("mine", "x = 2")))
    plan = site.roll_back("one", **choice)
    assert (plan.restored, plan.skipped) == (["n.ipynb"], [])
    assert sources_in(site) == ["%%act", "0", "x = 2"], "a cell of the user's alone is not chosen"


def test_what_the_user_wrote_in_between_stays_too(site: Site) -> None:
    site.write("n.ipynb", notebook(ASK))
    agent_inserts(site, "one", ASK, cell("a", "1"))
    site.write("n.ipynb", notebook(ASK, cell("a", "1"), MINE))
    agent_inserts(site, "two", ASK, cell("a", "1"), MINE, cell("b", "2"))
    assert site.roll_back("one", "two").skipped == []
    assert cells_in(site) == [ASK, MINE]


def test_cells_of_a_later_run_stay(site: Site) -> None:
    site.write("n.ipynb", notebook(ASK))
    agent_inserts(site, "one", ASK, cell("a", "1"))
    agent_inserts(site, "two", ASK, cell("a", "1"), cell("b", "2"))
    plan = site.roll_back("one")
    assert (plan.restored, plan.skipped, plan.also_later) == (["n.ipynb"], [], [])
    assert sources_in(site) == ["%%act", "2"]


def test_a_cell_that_a_later_run_changed_stays_and_is_named(site: Site) -> None:
    site.write("n.ipynb", notebook(ASK))
    agent_inserts(site, "one", ASK, cell("a", "1"))
    agent_inserts(site, "two", ASK, cell("a", "1 + 1"))
    assert why(site.roll_back("one").skipped) == {"n.ipynb": "a later run also changed cell 2"}
    assert sources_in(site) == ["%%act", "1 + 1"]


def test_cells_of_another_conversation_stay_as_the_users_do(site: Site) -> None:
    site.write("n.ipynb", notebook(ASK, MINE))
    agent_inserts(site, "one", cell("ask", "%%plan"), MINE)
    with site.named("other", ["n.ipynb"], context="another"):
        site.write("n.ipynb", notebook(cell("ask", "%%plan"), cell("mine", "theirs")))
    plan = site.roll_back("one")
    assert (plan.skipped, plan.also_later) == ([], [])
    assert sources_in(site) == ["%%act", "theirs"]


def test_an_open_notebook_keeps_what_cells_show_whose_text_stays(site: Site) -> None:
    site.write("n.ipynb", notebook(ASK, MINE))
    shown = cell("ask", "%%act", "the card", 1)
    agent_inserts(site, "one", shown, cell("mine", "x = 2"))
    plan = site.plan("one", documents={"n.ipynb": None})
    (change,) = plan.changes
    assert change.after
    assert json.loads(site.content(change.after.digest))["cells"] == [shown, MINE]
    site.roll_back("one")
    assert cells_in(site) == [ASK, MINE], "a closed one is as it was, to the byte"


def test_cells_without_ids_go_back_all_together_or_not_at_all(site: Site) -> None:
    def old(*sources: str) -> str:
        cells = [{**cell("x", source)} for source in sources]
        for one in cells:
            del one["id"]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})

    site.write("n.ipynb", old("1", "2"))
    with site.named("one", ["n.ipynb"]):
        site.write("n.ipynb", old("1", "two"))
    site.write("n.ipynb", old("mine", "two"))
    (skipped,) = site.roll_back("one").skipped
    assert (skipped.why, skipped.can_overwrite, skipped.cells) == (BY_USER, True, [])
    site.roll_back("one", overwrite=["n.ipynb"])
    assert sources_in(site) == ["1", "2"]


def test_what_is_no_notebook_goes_back_as_any_file(site: Site) -> None:
    site.write("n.ipynb", "{}")
    agent_inserts(site, "one", ASK)
    site.write("n.ipynb", "[1, 2")
    assert why(site.roll_back("one").skipped) == {"n.ipynb": BY_USER}
