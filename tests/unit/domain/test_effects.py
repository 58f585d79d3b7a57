from __future__ import annotations

import pytest

from cowork_jupyter.domain.effects import CellChange, CellText


def text(source: str | None) -> CellText | None:
    return None if source is None else CellText(cell_type="code", source=source)


def change(before: str | None, after: str | None, **more: object) -> CellChange:
    fields = {"notebook": "n.ipynb", "cell_id": "c0", "context_id": "ctx", **more}
    return CellChange.model_validate({**fields, "before": text(before), "after": text(after)})


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("a", "b"), ("b", "c"), ("a", "c")),
        ((None, "b"), ("b", "c"), (None, "c")),
        (("a", "b"), ("b", None), ("a", None)),
    ],
)
def test_edits_of_one_cell_are_one_change(
    first: tuple[str, str], second: tuple[str, str], expected: tuple[str, str]
) -> None:
    old = change(*first)
    (whole,) = old.followed_by(change(*second, job_id="later"))
    assert (whole.before, whole.after) == (text(expected[0]), text(expected[1]))
    assert (whole.id, whole.job_id, whole.decision) == (old.id, "later", None)


@pytest.mark.parametrize("there", ["a", None])
def test_what_is_put_back_leaves_nothing_to_decide(there: str | None) -> None:
    (settled,) = change(there, "b").followed_by(change("b", there))
    assert settled.decision == "revert"


def test_revert_keeps_the_users_own_edit() -> None:
    old = change("a", "b")
    settled, new = old.followed_by(change("b and mine", "c"))
    assert (settled.id, settled.decision) == (old.id, "accept")
    assert (new.before, new.decision) == (text("b and mine"), None)


def test_what_the_user_has_taken_back_was_reverted() -> None:
    settled, new = change("a", "b").followed_by(change("a", "c"))
    assert (settled.decision, new.before) == ("revert", text("a"))


def test_a_moved_cell_remembers_where_it_first_stood() -> None:
    moved = change("a", "a", moved=True, above="first")
    assert not moved.is_nothing
    (again,) = moved.followed_by(change("a", "a", moved=True, above="second"))
    assert (again.moved, again.above) == (True, "first")
    (gone,) = again.followed_by(change("a", None, above="third"))
    assert (gone.after, gone.above) == (None, "first")
