"""State that a notebook has and does not show: stale results, missing names, another order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...tools.notebook.dependencies import CellTimes, HiddenFindings, hidden_state, outdated_cells
from ...tools.notebook.names import names_in
from .reviewed_file import ReviewedCell, ReviewedFile, ReviewRemark

_RUN_ALL = "Restart the kernel and run all cells."
_MAKES_ANY_NAME = re.compile(r"^[^\S\n]*%{1,2}(?:run|pylab|store|load|macro|rerun|recall)\b", re.M)
_WRITES_NAMES = re.compile(r"\b(?:exec|globals|locals)\(")


def state_remarks(reviewed: ReviewedFile) -> Iterator[ReviewRemark]:
    if not reviewed.is_notebook:
        return
    stale = list(_stale(reviewed))
    yield from stale
    yield from _not_run(reviewed)
    about = {remark.cell.state.id for remark in stale if remark.cell}
    yield from _hidden(reviewed, about)


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
    writes = any(_WRITES_NAMES.search(cell.source) for cell in reviewed.code_cells)
    any_name = writes or bool(_MAKES_ANY_NAME.search(opaque))
    readable = reviewed.is_python and not any_name
    for found in hidden_state([cell.state for cell in reviewed.cells]):
        cell = by_id[found.cell_id]
        if found.kind == "out_of_order":
            if found.cell_id not in stale:
                yield ReviewRemark("minor", found.message, _RUN_ALL, cell)
        elif readable and found.name not in known:
            yield _missing(reviewed, cell, found)


def _missing(reviewed: ReviewedFile, cell: ReviewedCell, found: HiddenFindings) -> ReviewRemark:
    name = f"`{found.name}`"
    line = _line_of(cell, found.name)
    if found.kind == "defined_later":
        below = next(
            reviewed_cell.number for reviewed_cell in reviewed.code_cells
            if reviewed_cell.number > cell.number and found.name in _made(reviewed_cell)
        )  # fmt: skip
        comment = f"It uses {name}, which only cell {below} below it defines."
        advice = f"Move the definition of {name} above it."
        return ReviewRemark("major", comment, advice, cell, line)
    ran = cell.count is not None and not cell.failed
    why = (
        "and yet it ran: a cell that is gone, or was changed, has defined it"
        if ran
        else "so it cannot run"
    )
    advice = f"Define {name} in a cell above, or remove it."
    comment = f"It uses {name}, which no cell defines, {why}."
    return ReviewRemark("major", comment, advice, cell, line)


def _made(cell: ReviewedCell) -> frozenset[str]:
    names = names_in(cell.source)
    return names.made if names else frozenset()


def _line_of(cell: ReviewedCell, name: str) -> int | None:
    word = re.compile(rf"\b{re.escape(name)}\b")
    lines = enumerate(cell.source.splitlines(), 1)
    return next((number for number, line in lines if word.search(line)), None)
