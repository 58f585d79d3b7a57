"""What is reviewed, and what is remarked about it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ....domain.replies import Finding
from ....domain.user_code import as_python, is_request, parse_code
from ....tools.notebook.state import CellState

Severity = Literal["critical", "major", "minor"]
SEVERITIES: tuple[Severity, ...] = ("critical", "major", "minor")
RAISES = "raises-exception"  # tag of cells that are expected to fail
_MAGIC_LINE = re.compile(r"^[^\S\n]*(?:[\w., ]{1,200}=\s*)?[%!].*$", re.MULTILINE)


@dataclass(frozen=True)
class ReviewedCell:
    number: int  # from 1; 0 for a file
    state: CellState
    failed: bool = False

    @property
    def source(self) -> str:
        return self.state.source

    @property
    def is_code(self) -> bool:
        """Cells that are requests to an agent are not code."""
        is_code = self.state.cell_type == "code" and bool(self.source.strip())
        return is_code and not is_request(self.source)

    @property
    def count(self) -> int | None:
        return self.state.execution_count

    @cached_property
    def python(self) -> str | None:
        return as_python(self.source)

    @cached_property
    def tree(self) -> ast.Module | None:
        return parse_code(self.source)

    @cached_property
    def opaque(self) -> str:
        """Text that is not Python and may use or define any name."""
        if self.tree is None:
            return self.source
        return "\n".join(_MAGIC_LINE.findall(self.source))


@dataclass(frozen=True)
class ReviewedFile:
    path: str
    cells: Sequence[ReviewedCell]
    language: str = "python"
    total: int = 0  # cells or lines in the file; more than were read if it is long

    @property
    def is_notebook(self) -> bool:
        return any(cell.number for cell in self.cells) or self.path.lower().endswith(".ipynb")

    @cached_property
    def code_cells(self) -> list[ReviewedCell]:
        return [cell for cell in self.cells if cell.is_code]

    @property
    def is_python(self) -> bool:
        return self.language in ("", "python", "ipython", "python3")

    def trees(self) -> Iterator[tuple[ReviewedCell, ast.Module]]:
        for cell in self.code_cells:
            if cell.tree is not None:
                yield cell, cell.tree


@dataclass(frozen=True)
class ReviewRemark:
    severity: Severity
    comment: str  # the evidence
    advice: str
    cell: ReviewedCell | None = None
    line: int | None = None

    def finding(self, path: str) -> Finding:
        in_cell = self.cell is not None and self.cell.number > 0
        place = ""
        if self.cell and in_cell:
            at = f", line {self.line}" if self.line else ""
            place = f"Cell {self.cell.number} (`{self.cell.state.id}`){at}: "
        return Finding(
            file=path,
            line=None if in_cell else self.line,
            severity=self.severity,
            comment=f"{place}{self.comment}",
            suggestion=self.advice,
        )

    @property
    def order(self) -> tuple[int, int, int]:
        number = self.cell.number if self.cell else 0
        return SEVERITIES.index(self.severity), number, self.line or 0


ReviewRule = Callable[[ReviewedFile], Iterator[ReviewRemark]]
