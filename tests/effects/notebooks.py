"""How notebooks are written here: cells of source, `# %%` between them."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Notebook:
    name: str
    cells: tuple[str, ...]
    defect: str = ""
    """The code of the warning that it deserves; empty if it is right."""


@dataclass(frozen=True)
class Pair:
    """Work with one defect, and the same work done right."""

    name: str
    defect: str
    setup: str
    wrong: str
    right: str

    def notebooks(self) -> tuple[Notebook, Notebook]:
        first = cells_of(self.setup)
        wrong = Notebook(self.name, (*first, *cells_of(self.wrong)), self.defect)
        return wrong, Notebook(f"{self.name}, right", (*first, *cells_of(self.right)))


def cells_of(text: str) -> tuple[str, ...]:
    cells = textwrap.dedent(text).split("# %%\n")
    return tuple(cell.strip("\n") for cell in cells if cell.strip())
