"""What a model reads of a cell: what matters, in a frame, within its tokens."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.domain.suggestions import CellError, NearbyCell, SuggestionRequest
from cowork_jupyter.llm.frames import Frame
from cowork_jupyter.llm.tokens import estimate_tokens
from cowork_jupyter.parts.suggestions.cell_context import CellContext, related_cells
from cowork_jupyter.parts.suggestions.prompts import Prompter, failure_text
from cowork_jupyter.tools.kernel.state import Variable

TRACEBACK = """\
---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
File ~/.venv/lib/python3.11/site-packages/pandas/core/indexes/base.py:3805, in Index.get_loc
   3804 try:
-> 3805     return self._engine.get_loc(casted_key)

Cell In[4], line 2
      1 secret = "in a private cell"
----> 2 sales["region"]

File ~/.venv/lib/python3.11/site-packages/pandas/core/frame.py:4102, in DataFrame.__getitem__
   4101     return self._getitem_multilevel(key)
-> 4102 indexer = self.columns.get_loc(key)

KeyError: 'region'"""

CELLS = (
    NearbyCell(id="a", source="import pandas as pd"),
    NearbyCell(id="b", source="sales = pd.read_csv('s.csv')"),
    NearbyCell(id="c", source="weather = 1"),
    NearbyCell(id="d", source="# words", cell_type="markdown"),
    NearbyCell(id="e", source="other = 2"),
    NearbyCell(id="f", source="sales['region']"),
)


def test_only_the_users_frames_are_told() -> None:
    told = failure_text(CellError(name="KeyError", value="'region'", traceback=TRACEBACK))
    assert "site-packages" not in told
    assert "[1 frame of libraries]" in told
    assert '----> 2 sales["region"]' in told
    assert told.endswith("KeyError: 'region'")


def test_lines_of_private_cells_are_left_out() -> None:
    error = CellError(name="KeyError", value="'region'", traceback=TRACEBACK)
    assert "private cell" not in failure_text(error, ['secret = "in a private cell"\nx = 1'])


def test_cells_that_make_the_names_come_before_neighbours() -> None:
    found = [cell.id for cell in related_cells("f", CELLS, "sales['region']")]
    assert found == ["b", "e", "d"]


def prompt(budget: int = 1_000, **request: object) -> str:
    table = Variable("sales", "DataFrame", "9 rows", ("columns:", "  'Region'  str  nulls 0",
                     "first rows:", "  'secret value'"))  # fmt: skip
    around = CellContext(CELLS, (table,))
    given = {"kind": "fix", "cell_id": "f", "source": "sales['region']", **request}
    asked = SuggestionRequest.model_validate(given)
    messages = Prompter(Frame("42"), estimate_tokens, budget).messages(asked, around, ["x = 1"])
    return "\n".join(one["content"] for one in messages)


def test_columns_are_told_and_values_are_not() -> None:
    said = prompt()
    assert "Region (str)" in said
    assert "secret value" not in said
    assert "Tried already" in said
    assert "sales = pd.read_csv('s.csv')" in said


def test_it_is_held_to_its_tokens() -> None:
    assert "read_csv" not in prompt(budget=0)


def test_a_selection_is_told_by_its_lines() -> None:
    said = prompt(kind="change", source="a = 1\nb = 2\nc = 3", selection=(6, 17))
    assert "selected lines 2 to 3" in said


def test_a_cell_that_cannot_be_read_whole_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Split it"):
        prompt(source="x = 1\n" * 10_000)
