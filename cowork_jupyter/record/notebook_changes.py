"""Compares two states of a notebook cell by cell: sources as diffs, outputs summarized."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..checkpoints import CellDiff
from ..checkpoints.views import CellStatus
from ..tools.diff import Diff, diff
from ..tools.notebooks import cells_of

MAX_CELLS = 200
MAX_SOURCE = 20_000


@dataclass(frozen=True)
class _Cell:
    id: str
    index: int
    kind: str
    source: str
    outputs: str


def compare_notebooks(old: bytes, new: bytes) -> tuple[list[CellDiff], Diff] | None:
    """The changed cells, and all changes as one diff; None if one is not a notebook."""
    try:
        before, after = _cells(old), _cells(new)
    except ValueError:
        return None
    ids = [*after, *(cell_id for cell_id in before if cell_id not in after)]
    moved = _moved(list(before), list(after))
    found = [
        _compared(before.get(cell_id), after.get(cell_id), cell_id in moved) for cell_id in ids
    ]
    changed = [each for each in found if each is not None]
    whole = Diff(
        text="".join(change.text for _, change in changed),
        added=sum(change.added for _, change in changed),
        removed=sum(change.removed for _, change in changed),
    )
    return [cell for cell, _ in changed[:MAX_CELLS]], whole


def _cells(data: bytes) -> dict[str, _Cell]:
    """Keyed by id, or by place where the id is missing or taken."""
    if not data.strip():
        return {}
    found: dict[str, _Cell] = {}
    cells = cells_of(data)
    outputs = _outputs(data)
    for cell in cells:
        name = cell.id if cell.id and cell.id not in found else f"#{cell.index}"
        found[name] = _Cell(name, cell.index, cell.kind, cell.source, outputs.get(cell.index, ""))
    return found


def _outputs(data: bytes) -> dict[int, str]:
    document = json.loads(data)
    cells = document.get("cells") if isinstance(document, dict) else None
    return {
        index: _in_words(cell.get("outputs"))
        for index, cell in enumerate(cells if isinstance(cells, list) else [])
        if isinstance(cell, dict)
    }


def _in_words(outputs: Any) -> str:
    """`2 outputs (image/png, stream), 1,024 characters`; empty if there are none."""
    if not isinstance(outputs, list) or not outputs:
        return ""
    kinds = Counter(_kind_of(output) for output in outputs if isinstance(output, dict))
    size = len(json.dumps(outputs))
    plural = "" if len(outputs) == 1 else "s"
    return f"{len(outputs)} output{plural} ({', '.join(sorted(kinds))}), {size:,} characters"


def _kind_of(output: dict[str, Any]) -> str:
    data = output.get("data")
    if isinstance(data, dict) and data:
        return next((kind for kind in data if kind != "text/plain"), "text/plain")
    return str(output.get("output_type", "unknown"))


def _moved(before: list[str], after: list[str]) -> set[str]:
    """Cells whose order changed among those that both have."""
    old = [cell_id for cell_id in before if cell_id in set(after)]
    new = [cell_id for cell_id in after if cell_id in set(before)]
    return {cell_id for cell_id, other in zip(old, new, strict=True) if cell_id != other}


def _compared(
    before: _Cell | None, after: _Cell | None, moved: bool
) -> tuple[CellDiff, Diff] | None:
    there = after or before
    assert there  # the id is from one of the two
    change = diff(f"cell {there.index + 1}", _text(before), _text(after))
    old, new = before.outputs if before else "", after.outputs if after else ""
    if before and after and not change.text and old == new and not moved:
        return None
    kind: CellStatus = "added" if before is None else "removed" if after is None else "changed"
    if kind == "changed" and not change.text and old == new:
        kind = "moved"
    cell = CellDiff(
        id=there.id,
        number=there.index + 1,
        status=kind,
        cell_type=there.kind,
        diff=change.text[:MAX_SOURCE],
        outputs="" if old == new else f"{old or 'none'} → {new or 'none'}",
    )
    return cell, change


def _text(cell: _Cell | None) -> str:
    if cell is None:
        return ""
    return cell.source if cell.source.endswith("\n") or not cell.source else f"{cell.source}\n"
