"""What is found out when a notebook is run anew in a second kernel."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from .expectations import BrokenExpectation


class HiddenState(BaseModel):
    """State that you cannot see by reading the notebook."""

    kind: Literal["out_of_order", "defined_later", "undefined"]
    cell_id: str
    cell: int
    """Its place in the notebook, from 1."""
    name: str
    message: str


class FailedCell(BaseModel):
    """The cell at which a check of the notebook failed."""

    cell_id: str
    cell: int
    line: int | None
    error: str


class Reproduction(BaseModel):
    """A notebook that runs in a new kernel, and what comes of it.

    What matters most stands first: a saved card has room for some of it only.
    """

    runs: bool | None = None
    """Whether every cell ran, once that is known."""
    failed: FailedCell | None = None
    broken: list[BrokenExpectation] = []
    """What is pinned in the notebook and was not so after the last cell."""
    expectations: int = 0
    """How many were checked then."""
    cells: int
    """Code cells that are run."""
    hidden: list[HiddenState] = []
    ran: int = 0
    """Those that ran without an error so far."""
    seconds: float = 0.0
    notebook: str
    left_out: int = 0
    """Cells that ask the agent, which are not run again."""
    context_id: str
    job_id: str | None
    """The job that runs it, and says how that stands."""
