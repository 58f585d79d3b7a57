"""An agent's changes come out of a notebook, and nothing else does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.checkpoints.merge import Document, NotByCell, revert_steps
from cowork_jupyter.checkpoints.views import SkippedCell

Edit = Callable[[Document], None]


def book(*cells: str, **metadata: Any) -> Document:
    """Cells `id:text`; the text of a cell is also what it shows."""
    made = [cell(*one.split(":")) for one in cells]
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def cell(name: str, source: str, kind: str = "code") -> dict[str, Any]:
    shown = {"outputs": [{"text": source}], "execution_count": 1} if kind == "code" else {}
    return {"id": name, "cell_type": kind, "source": source, "metadata": {}, **shown}


def seen(document: Document) -> list[str]:
    return [f"{one['id']}:{one['source']}" for one in document["cells"]]


def taken(before: Document, after: Document, now: Document, *chosen: str) -> list[str]:
    return seen(revert_steps([(before, after)], now, chosen).document)


# Cell by cell


def conflicting(
    cell_id: str, number: int | None, before: str | None, now: str | None
) -> SkippedCell:
    return SkippedCell(cell_id=cell_id, number=number, before=before, now=now)


def test_what_the_agent_did_goes_back_and_what_the_user_did_stays() -> None:
    before = book("a:1", "b:2", "c:3", "d:4", "e:5")
    after = book("a:1", "b:two", "new:n", "d:4", "e:5")
    now = book("a:mine", "b:two", "new:n", "own:o", "e:5")
    merge = revert_steps([(before, after)], now)
    assert seen(merge.document) == ["a:mine", "b:2", "c:3", "own:o", "e:5"]
    assert merge.conflicts == []
    assert merge.others_stay
    assert set(merge.cells) == {("b", "2"), ("new", None), ("c", "3")}


@pytest.mark.parametrize(
    ("before", "after", "now", "conflict", "chosen"),
    [
        (["a:1"], ["a:2"], ["x:x", "a:3"], conflicting("a", 2, "1", "3"), ["x:x", "a:1"]),
        (["a:1"], ["a:1", "b:2"], ["a:1", "b:3"], conflicting("b", 2, None, "3"), ["a:1"]),
        (["a:1", "b:1"], ["a:2", "b:1"], ["b:1"], conflicting("a", None, "1", None),
         ["a:1", "b:1"]),
    ],
)  # fmt: skip
def test_a_cell_that_both_changed_stays_unless_it_is_chosen(
    before: list[str], after: list[str], now: list[str], conflict: SkippedCell, chosen: list[str]
) -> None:
    documents = book(*before), book(*after), book(*now)
    merge = revert_steps([documents[:2]], documents[2])
    assert (seen(merge.document), merge.conflicts, merge.is_change) == (now, [conflict], False)
    assert taken(*documents, conflict.cell_id) == chosen


def test_a_cell_whose_id_utf8_cannot_encode_is_chosen_by_what_was_shown() -> None:
    documents = book("\ud800:1"), book("\ud800:2"), book("\ud800:3")
    (conflict,) = revert_steps([documents[:2]], documents[2]).conflicts
    assert conflict.cell_id.encode()
    assert taken(*documents, conflict.cell_id) == ["\ud800:1"]


def test_another_type_is_another_text() -> None:
    before, after = book("a:1"), book("a:1")
    after["cells"][0]["cell_type"] = "markdown"
    assert revert_steps([(before, after)], after).document == before


def test_both_did_the_same_which_is_no_conflict() -> None:
    merge = revert_steps([(book("a:1"), book("a:2"))], book("a:1"))
    assert (merge.conflicts, merge.is_change) == ([], False)


def test_moved_cells_move_back_unless_the_user_has_moved_them_on() -> None:
    before, after = book("a:1", "b:2", "c:3", "d:4"), book("c:3", "a:1", "b:2", "d:4")
    assert taken(before, after, book("c:3", "a:mine", "own:o", "b:2", "d:4")) == [
        *("a:mine", "own:o", "b:2", "c:3", "d:4")
    ]
    elsewhere = book("a:1", "b:2", "d:4", "c:3")
    assert taken(before, after, elsewhere) == seen(elsewhere)


def test_a_cell_that_stands_where_it_stood_is_not_moved_around_the_users_own() -> None:
    before, after = book("a:1", "b:2"), book("b:2", "a:1")
    back = revert_steps([(before, after)], after).document
    now = book("a:1", "own:o", "b:2")
    assert seen(revert_steps([(before, after), (after, back)], now).document) == seen(now)


def test_a_cell_of_the_users_that_the_agent_changed_later_is_theirs_again() -> None:
    steps = [(book("a:1"), book("a:2")), (book("a:2", "u:mine"), book("a:2", "u:agents"))]
    assert seen(revert_steps(steps, steps[-1][1]).document) == ["a:1", "u:mine"]
    deleted = [steps[0], (steps[1][0], book("a:2"))]
    assert seen(revert_steps(deleted, book("a:2")).document) == ["a:1", "u:mine"]


def test_a_cell_that_the_user_changed_between_two_steps_is_in_conflict() -> None:
    steps = [(book("a:1"), book("a:2")), (book("a:mine"), book("a:3"))]
    (conflict,) = revert_steps(steps, book("a:3")).conflicts
    assert (conflict.before, conflict.now) == ("1", "3")
    theirs = (book("u:1", "a:2"), book("u:2", "a:2")), (book("u:3", "a:2"), book("a:2"))
    (conflict,) = revert_steps([steps[0], *theirs], book("a:2")).conflicts
    assert (conflict.before, conflict.now) == ("1", None), "a cell of the user's from the beginning"


def test_what_was_taken_back_before_is_the_users_alone_from_then_on() -> None:
    before, after = book("a:1", "b:1"), book("a:2", "b:2")
    steps = [(before, after), (after, before)]
    merge = revert_steps(steps, book("a:mine", "b:1"))
    assert (seen(merge.document), merge.conflicts) == (["a:mine", "b:1"], [])


def test_of_the_metadata_only_what_the_agent_changed_goes_back() -> None:
    before = book(kernelspec="python", title="mine", gone=1)
    after = book(kernelspec="python", title="agent's", extra=[1], language_info="3.12")
    now = book(kernelspec="R", title="agent's", extra=[1], language_info="3.12")
    kept = revert_steps([(before, after)], now).document["metadata"]
    assert kept == {"kernelspec": "R", "title": "mine", "gone": 1, "language_info": "3.12"}


def test_cells_that_cannot_be_told_apart_are_said_to_be() -> None:
    twins = book("a:1", "a:2")
    nameless = book("a:1")
    del nameless["cells"][0]["id"]
    for broken in (twins, nameless, {}, {"cells": 3}, {"cells": [3]}):
        with pytest.raises(NotByCell):
            revert_steps([(book("a:1"), broken)], book("a:1"))


# Whatever they do


class Editor:
    """Somebody who changes a notebook in any way there is."""

    def __init__(self, name: str, draw: st.DrawFn) -> None:
        self._name, self._draw = name, draw
        self._made = 0

    def edited(self, document: Document) -> Document:
        changed = copy.deepcopy(document)
        kinds = st.sampled_from(["insert", "delete", "move", "edit", "retype", "run", "metadata"])
        for kind in self._draw(st.lists(kinds, max_size=5)):
            self._change(changed, kind)
        return changed

    def _change(self, document: Document, kind: str) -> None:
        cells = document["cells"]
        self._made += 1
        text = f"{self._name}{self._made}"
        if kind == "metadata":
            document["metadata"][self._draw(st.sampled_from("kl"))] = text
        elif kind == "insert" or not cells:
            cells.insert(self._draw(st.integers(0, len(cells))), cell(text, text))
        else:
            index = self._draw(st.integers(0, len(cells) - 1))
            if kind in ("delete", "move"):
                one = cells.pop(index)
                if kind == "move":
                    cells.insert(self._draw(st.integers(0, len(cells))), one)
            elif kind == "edit":
                cells[index] = {**cells[index], "source": text}
            elif kind == "retype":
                cells[index] = cell(cells[index]["id"], cells[index]["source"], "markdown")
            elif "outputs" in cells[index]:
                cells[index] = {**cells[index], "outputs": [{"text": text}]}


def texts(document: Document) -> dict[str, tuple[str, str]]:
    return {one["id"]: (one["cell_type"], one["source"]) for one in document["cells"]}


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[tuple[Document, Document]], Document]:
    """Steps of an agent, with a user at work between them and after them."""
    agent, user = Editor("agent", draw), Editor("user", draw)
    document = book(*(f"c{n}:{n}" for n in range(draw(st.integers(0, 5)))), k="first")
    steps = []
    for _ in range(draw(st.integers(1, 3))):
        after = agent.edited(document)
        steps.append((document, after))
        document = user.edited(after)
    return steps, document


def without_user(steps: list[tuple[Document, Document]]) -> list[tuple[Document, Document]]:
    """The same, as far as the agent was alone."""
    found = steps[:1]
    for step in steps[1:]:
        if step[0] != found[-1][1]:
            break
        found.append(step)
    return found


@given(histories())
def test_with_nobody_else_at_work_all_is_as_it_was(
    history: tuple[list[tuple[Document, Document]], Document],
) -> None:
    steps = without_user(history[0])
    before, now = steps[0][0], steps[-1][1]
    merge = revert_steps(steps, now)
    assert list(texts(merge.document).items()) == list(texts(before).items())
    assert merge.document["metadata"] == before["metadata"]
    assert (merge.conflicts, merge.others_stay) == ([], False)


@given(histories())
def test_nothing_of_the_users_is_lost(
    history: tuple[list[tuple[Document, Document]], Document],
) -> None:
    steps, now = history
    merge = revert_steps(steps, now)
    found, present, last = texts(merge.document), texts(now), texts(steps[-1][1])
    for name, text in present.items():
        if last.get(name) != text and text not in _of_agent(steps, name):
            assert found.get(name) == text, "what the user wrote since"
    for name in last:
        if name not in present and not any(name not in texts(one[1]) for one in steps):
            assert name not in found, "what the user deleted since stays deleted"
    for one in merge.document["cells"]:
        if present.get(one["id"]) == found[one["id"]]:
            assert one in now["cells"], "what stays keeps what it shows"
    later = [*(texts(before) for before, _ in steps[1:]), present]
    deleted = {
        name for (_, after), then in zip(steps, later, strict=True) for name in texts(after)
        if name not in then
    }  # fmt: skip
    for before, _ in steps[1:]:
        mine = {name for name in texts(before) if name.startswith("user")}
        known = found.keys() | {one.cell_id for one in merge.conflicts}
        assert mine - deleted <= known, "also if the agent deleted it"
    for conflict in merge.conflicts:
        assert found.get(conflict.cell_id) == present.get(conflict.cell_id)


def _of_agent(steps: list[tuple[Document, Document]], name: str) -> list[tuple[str, str] | None]:
    """All that a cell was before or after a step."""
    return [texts(one).get(name) for step in steps for one in step]


@given(histories(), st.booleans())
def test_what_is_taken_back_and_undone_is_as_if_nothing_had_been(
    history: tuple[list[tuple[Document, Document]], Document], takes_all: bool
) -> None:
    steps, now = history
    chosen = {one.cell_id for one in revert_steps(steps, now).conflicts} if takes_all else set()
    merge = revert_steps(steps, now, chosen)
    undone = revert_steps([(now, merge.document)], merge.document)
    assert undone.document == now
    assert undone.conflicts == []


@given(histories())
def test_what_was_chosen_goes_back_and_nothing_is_left_to_decide(
    history: tuple[list[tuple[Document, Document]], Document],
) -> None:
    steps, now = history
    conflicts = revert_steps(steps, now).conflicts
    merge = revert_steps(steps, now, {one.cell_id for one in conflicts})
    assert merge.conflicts == []
    found = texts(merge.document)
    for one in conflicts:
        assert (found[one.cell_id][1] if one.cell_id in found else None) == one.before


@given(histories())
def test_a_second_time_there_is_nothing_more_to_take_back(
    history: tuple[list[tuple[Document, Document]], Document],
) -> None:
    steps, now = history
    merge = revert_steps(steps, now)
    again = revert_steps([*steps, (now, merge.document)], merge.document)
    assert texts(again.document) == texts(merge.document)
    assert {one.cell_id for one in again.conflicts} == {one.cell_id for one in merge.conflicts}
