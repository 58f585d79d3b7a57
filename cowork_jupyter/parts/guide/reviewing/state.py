"""State that a notebook has and does not show: stale results, missing names, another order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ....tools.notebook.dependencies import CellTimes, HiddenFindings, hidden_state, outdated_cells
from .reviewed_file import ReviewedCell, ReviewedFile, ReviewRemark

_RUN_ALL = "Restart the kernel and run all cells."
_MAKES_ANY_NAME = re.compile(
    r"^[^\S\n]*%{1,2}(?:run|pylab|store|load|rerun|recall)\b|\b(?:exec|globals|locals)\(", re.M
)


def state_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    if not reviewed.is_notebook:
        return
    stale = list(_stale(reviewed))
    about = {remark.cell.state.id for remark in stale if remark.cell}
    yield from (*stale, *_not_run(reviewed), *_hidden(reviewed, about))


def _stale(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    times = [
        CellTimes(cell.state.id, cell.source, cell.count, cell.count)
        for cell in reviewed.code_cells
    ]
    for cell, cause, name in _dependents(reviewed, times):
        yield ReviewRemark(
            "major",
            f"Its result is stale: it uses `{name}` and ran as [{cell.count}], before cell "
            f"{cause.number}, which it depends on, ran as [{cause.count}].",
            f"Run it again. {_RUN_ALL}",
            cell,
        )


def _not_run(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    """Treat unrun cells as if they ran last."""
    last = max((cell.count or 0 for cell in reviewed.code_cells), default=0)
    times = [
        CellTimes(cell.state.id, cell.source, cell.count, None if cell.count else last + 1)
        for cell in reviewed.code_cells
    ]
    said: set[int] = set()
    for cell, cause, name in _dependents(reviewed, times):
        if cause.number not in said:
            said.add(cause.number)
            comment = f"It has not run, but cell {cell.number}, which uses its `{name}`, has."
            yield ReviewRemark("major", comment, _RUN_ALL, cause)


def _dependents(
    reviewed: ReviewedFile, times: Sequence[CellTimes]
) -> Iterator[tuple[ReviewedCell, ReviewedCell, str]]:
    """Cells that ran before a cell above them on which they depend, that cell, and the name.

    Names defined only below are reported separately.
    """
    by_id = {cell.state.id: cell for cell in reviewed.code_cells}
    for found in outdated_cells(times):
        cell, cause = by_id[found.cell_id], by_id[found.changed_id]
        if cause.number < cell.number:
            yield cell, cause, found.name


def _hidden(reviewed: ReviewedFile, stale: set[str]) -> Iterator[ReviewRemark]:
    by_id = {cell.state.id: cell for cell in reviewed.cells}
    opaque = "\n".join(cell.opaque for cell in reviewed.code_cells)
    known = set(re.findall(r"\w+", opaque))
    makes_any = any(_MAKES_ANY_NAME.search(cell.source) for cell in reviewed.code_cells)
    readable = reviewed.is_python and not makes_any
    for found in hidden_state([cell.state for cell in reviewed.cells]):
        cell = by_id[found.cell_id]
        if found.kind == "out_of_order":
            if found.cell_id not in stale:
                yield ReviewRemark("minor", found.message, _RUN_ALL, cell)
        elif readable and found.name not in known:
            yield _missing(cell, found)


def _missing(cell: ReviewedCell, found: HiddenFindings) -> ReviewRemark:
    name = f"`{found.name}`"
    lines = cell.source.splitlines()
    word = re.compile(rf"\b{re.escape(found.name)}\b")
    line = next((number for number, text in enumerate(lines, 1) if word.search(text)), None)
    advice = f"Define {name} in a cell above, or remove it."
    if found.kind == "defined_later":
        comment = f"It uses {name}, which only a cell below it defines."
    elif cell.count is not None and not cell.failed:
        why = "and yet it ran: a cell that is gone, or was changed, has defined it"
        comment = f"It uses {name}, which no cell defines, {why}."
    else:
        comment = f"It uses {name}, which no cell defines, so it cannot run."
    return ReviewRemark("major", comment, advice, cell, line)
