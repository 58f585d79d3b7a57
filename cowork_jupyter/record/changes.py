"""Describes changes of files: as text, cell by cell, or in a few facts; and of plans."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from ..checkpoints import CellDiff, Change, FileDiff, FileEntry, Side
from ..checkpoints.views import CellStatus, DiffKind, Read
from ..domain.errors import CoworkError
from ..domain.expectations import FILE
from ..domain.plan import Plan, PlanStep, describe_change
from ..domain.plurals import count_of
from ..effects.checking import expectation_text
from ..effects.files import parquet_shape
from ..tools.diff import Diff, diff
from ..tools.documents import cells_of, is_notebook
from ..tools.text_files import HEAD, decode, is_binary, size_text

_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_MAX_COLUMNS = 200


def is_table(path: str) -> bool:
    return path.lower().endswith((*_SEPARATORS, ".parquet"))


def table_facts(path: str, content: bytes) -> tuple[list[str] | None, int | None]:
    """Column names and number of rows; None where unknown."""
    if path.lower().endswith(".parquet"):
        try:
            rows, names = parquet_shape(io.BytesIO(content), len(content))
        except (ValueError, EOFError):  # not a Parquet file; the rest can still be shown
            return None, None
        return names[:_MAX_COLUMNS], rows
    separator = _SEPARATORS[path.lower()[-4:]]
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig", "replace")), delimiter=separator)
    try:
        columns = next(lines, None)
        rows = sum(1 for line in lines if line)
    except csv.Error:  # a field beyond all measure
        return None, None
    return (columns[:_MAX_COLUMNS], rows) if columns is not None else (None, None)


MAX_TEXT_SIZE = 1024 * 1024
MAX_TABLE_SIZE = 32 * 1024 * 1024
MAX_DIFF = 100_000


def compare(change: Change, read: Read) -> FileDiff:
    before, after = _side(change.path, change.before, read), _side(change.path, change.after, read)
    kinds = {entry.kind for entry in (change.before, change.after) if entry}
    # Files are binary until their content has been examined.
    kind: DiffKind = "binary" if "file" in kinds else "link" if "link" in kinds else "folder"
    result = FileDiff(path=change.path, status=change.kind, kind=kind, before=before, after=after)
    if result.kind == "binary":
        _compare_contents(change, read, result)
    if result.diff is None:
        result.why = " → ".join(_describe(side) for side in (before, after) if side)
    return result


def _describe(side: Side) -> str:
    """For what cannot be shown as text: `2.1 MB, sha256 0f3a…, 0644`."""
    if side.target is not None:
        return f"a link to {side.target}"
    if side.sha256 is None:
        return f"not kept ({side.not_kept})" if side.not_kept else f"a folder, {side.mode}"
    columns = count_of(len(side.columns or []), "column")
    table = f", {count_of(side.rows, 'row')} of {columns}" if side.rows else ""
    return f"{size_text(side.size)}{table}, sha256 {side.sha256[:12]}…, {side.mode}"


def _side(path: str, entry: FileEntry | None, read: Read) -> Side | None:
    if entry is None:
        return None
    side = Side(
        size=entry.size,
        sha256=entry.digest.hex() if entry.digest else None,
        mode=f"{entry.mode:04o}",
        target=entry.target,
        not_kept=entry.why_not_kept,
    )
    if entry.digest and is_table(path):
        content = read(entry.digest, MAX_TABLE_SIZE)
        if content is not None:
            side.columns, side.rows = table_facts(path, content)
    return side


def _compare_contents(change: Change, read: Read, result: FileDiff) -> None:
    old, new = _content(change.before, read), _content(change.after, read)
    if old is None or new is None or is_binary(old[:HEAD]) or is_binary(new[:HEAD]):
        return
    if is_notebook(change.path):
        cells = compare_notebooks(old, new)
        if cells is not None:
            result.kind = "notebook"
            result.cells, whole = cells
            _put(result, whole)
            return
    try:
        texts = decode(old)[0], decode(new)[0]
    except CoworkError:  # it says that it is text, but it is not
        return
    result.kind = "table" if is_table(change.path) else "text"
    before, after = (text.replace("\r\n", "\n") for text in texts)
    _put(result, diff(change.path, before, after))


def _content(entry: FileEntry | None, read: Read) -> bytes | None:
    """Empty if there is no file, None if it cannot be read."""
    if entry is None or entry.kind != "file":
        return b""
    return read(entry.digest, MAX_TEXT_SIZE) if entry.digest else None


def _put(result: FileDiff, whole: Diff) -> None:
    result.added, result.removed = whole.added, whole.removed
    result.diff, result.cut = whole.text[:MAX_DIFF], len(whole.text) > MAX_DIFF


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
    cells = (_compare(before.get(key), after.get(key), key in moved) for key in ids)
    changed = [each for each in cells if each is not None]
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
    by_name: dict[str, _Cell] = {}
    cells, outputs = cells_of(data), _outputs(data)
    for cell in cells:
        name = cell.id if cell.id and cell.id not in by_name else f"#{cell.index}"
        by_name[name] = _Cell(name, cell.index, cell.kind, cell.source, outputs.get(cell.index, ""))
    return by_name


def _outputs(data: bytes) -> dict[int, str]:
    document = json.loads(data)
    cells = document.get("cells") if isinstance(document, dict) else None
    return {
        index: _summarize(cell.get("outputs"))
        for index, cell in enumerate(cells if isinstance(cells, list) else [])
        if isinstance(cell, dict)
    }


def _summarize(outputs: Any) -> str:
    """`2 outputs (image/png, stream), 1,024 characters`; empty if there are none."""
    if not isinstance(outputs, list) or not outputs:
        return ""
    kinds = Counter(_kind_of(output) for output in outputs if isinstance(output, dict))
    size = len(json.dumps(outputs))
    count = count_of(len(outputs), "output")
    return f"{count} ({', '.join(sorted(kinds))}), {size:,} characters"


def _kind_of(output: dict[str, Any]) -> str:
    data = output.get("data")
    if isinstance(data, dict) and data:
        return next((kind for kind in data if kind != "text/plain"), "text/plain")
    return str(output.get("output_type", "unknown"))


def _moved(before: list[str], after: list[str]) -> set[str]:
    old = [cell_id for cell_id in before if cell_id in set(after)]
    new = [cell_id for cell_id in after if cell_id in set(before)]
    return {cell_id for cell_id, other in zip(old, new, strict=True) if cell_id != other}


def _compare(
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


StepChange = Literal["added", "removed", "changed", "moved"]


class FieldChange(BaseModel):
    """One field that differs, in words."""

    field: str
    before: str
    after: str


class StepComparison(BaseModel):
    """One step that differs."""

    id: str
    number: int
    """Its number in the later plan; of a removed step, in the earlier one."""
    change: StepChange
    action: str
    fields: list[FieldChange] = []
    """What differs; empty for a step that was added or removed."""


class PlanComparison(BaseModel):
    """How a plan differs from another."""

    summary: str
    fields: list[FieldChange]
    steps: list[StepComparison]


def compare_plans(before: Plan, after: Plan) -> PlanComparison:
    """The progress of steps is not a difference."""
    fields, steps = list(_diff(_of_plan(before), _of_plan(after))), list(_steps(before, after))
    summary = describe_change(before, after) if fields or steps else "no difference"
    return PlanComparison(summary=summary, fields=fields, steps=steps)


def _steps(before: Plan, after: Plan) -> Iterator[StepComparison]:
    old = {step.id: step for step in before.steps}
    new = {step.id: step for step in after.steps}
    orders = [key for key in old if key in new], [key for key in new if key in old]
    moved = {key for key, other in zip(*orders, strict=True) if key != other}
    for step in after.steps:
        earlier = old.get(step.id)
        if earlier is None:
            yield _compared(step, "added")
        elif fields := list(_diff(_of_step(before, earlier), _of_step(after, step))):
            yield _compared(step, "changed", fields)
        elif step.id in moved:
            yield _compared(step, "moved")
    yield from (_compared(step, "removed") for step in before.steps if step.id not in new)


def _compared(
    step: PlanStep, change: StepChange, fields: list[FieldChange] | None = None
) -> StepComparison:
    return StepComparison(
        id=step.id, number=step.step_number, change=change, action=step.action, fields=fields or []
    )


def _diff(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[FieldChange]:
    for field, text in after.items():
        if before[field] != text:
            yield FieldChange(field=field, before=before[field], after=text)


def _of_plan(plan: Plan) -> dict[str, str]:
    return {
        "goal": plan.goal,
        "risks": " · ".join(plan.risks),
        "needs": " · ".join(plan.prerequisites),
        "assumptions": " · ".join(assumption.text for assumption in plan.assumptions),
        "estimated time": plan.estimated_total_time,
    }


def _of_step(plan: Plan, step: PlanStep) -> dict[str, str]:
    """Keyed by display names. People know the dependencies by step number, not by id."""
    earlier = [str(plan.step(step_id).step_number) for step_id in step.depends_on]
    expected = [f"{each.of.removeprefix(FILE)}: {expectation_text(each)}" for each in step.expects]
    return {
        "action": step.action,
        "reason": step.reason,
        "role": str(step.role or ""),
        "agent": step.agent,
        "rounds of review": str(step.rounds or ""),
        "tools": ", ".join(step.tools_needed),
        "files": ", ".join(step.files),
        "after step": ", ".join(earlier),
        "estimated time": step.estimated_time,
        "expects": " · ".join(expected),
    }
