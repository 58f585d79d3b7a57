"""Whether a notebook still runs from top to bottom, and what its kernel hides."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from ..tools.kernel.state import Code, Kernels, Ran
from ..tools.notebook.hidden import hidden_state
from ..tools.notebook.state import CellState, Notebooks
from ..workspace import Workspace


class HiddenState(BaseModel):
    """Something that cannot be seen by reading the notebook."""

    kind: Literal["out_of_order", "defined_later", "undefined"]
    cell_id: str
    name: str
    message: str


class FailedCell(BaseModel):
    """The cell at which a notebook that ran anew came to an end."""

    cell_id: str
    line: int | None
    error: str


class Reproduction(BaseModel):
    """What came of running a notebook in a new kernel."""

    notebook: str
    runs: bool
    """Whether every cell ran."""
    cells: int
    """Code cells that it has."""
    ran: int
    """Those that ran without an error."""
    failed: FailedCell | None
    hidden: list[HiddenState]
    seconds: float


async def reproduce(
    workspace: Workspace, path: str, notebooks: Notebooks, kernels: Kernels
) -> Reproduction:
    """Run all of a notebook in a kernel of its own. Nothing is written into the notebook, but
    its code does what it does, also to files.
    """
    state = await notebooks.read(workspace, path)
    cells = [one for one in state.cells if one.cell_type == "code" and one.source.strip()]
    ran = await kernels.run_anew(workspace, path, [Code(one.source) for one in cells])
    failed = _failed(cells, ran)
    return Reproduction(
        notebook=state.path,
        runs=failed is None and len(ran) == len(cells),
        cells=len(cells),
        ran=sum(one.failure is None for one in ran),
        failed=failed,
        hidden=[
            HiddenState(kind=one.kind, cell_id=one.cell_id, name=one.name, message=one.message)
            for one in hidden_state(state.cells)
        ],
        seconds=round(sum(one.seconds for one in ran), 3),
    )


def _failed(cells: list[CellState], ran: list[Ran]) -> FailedCell | None:
    failure = ran[-1].failure if ran else None
    if failure is None:
        return None
    said = f"{failure.name}: {failure.message}"[:2000]
    return FailedCell(cell_id=cells[len(ran) - 1].id, line=failure.line, error=said)
