"""How a notebook is written, which new cells follow: its libraries, its names, its tables."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Frames = Literal["pandas", "polars"]
Charts = Literal["matplotlib", "seaborn", "plotly"]


@dataclass(frozen=True)
class TableVariable:
    """A variable that holds a file of the workspace as it was read."""

    name: str
    dates: frozenset[str] = frozenset()
    """Columns that are dates by now and no longer texts."""
    tidied: frozenset[str] = frozenset()
    """Columns whose values a cell has stripped of spaces already."""


@dataclass(frozen=True)
class Style:
    """What is there already, where the code will run."""

    frames: Frames = "pandas"
    charts: Charts = "matplotlib"
    packages: frozenset[str] = frozenset({"pandas", "matplotlib", "sklearn"})
    """What can be imported."""
    modules: Mapping[str, str] = field(default_factory=dict)
    """What is imported already, by the name that code knows it by."""
    taken: frozenset[str] = frozenset()
    """Names that are the user's."""
    loaded: Mapping[str, TableVariable] = field(default_factory=dict)
    """By the path of the file in the workspace."""
    folder: str = "."
    """The folder that code runs in, seen from the workspace."""
    saves_charts: bool = False
    """Whether a chart goes into a file, as nobody would see it otherwise."""

    def path(self, path: str) -> str:
        """How code reaches a file of the workspace."""
        return posixpath.relpath(path, self.folder or ".")

    @property
    def draws(self) -> bool:
        """Whether there is a library for charts."""
        return self.charts in self.packages


@dataclass(frozen=True)
class Choices:
    """What was decided along the way, by the user or after an error."""

    overwrite: bool = False
    """Whether the file that is written may be there, as it is when the code is run again."""
    output: str = ""
    """Another name for the file that is written."""
    cut_lines: bool = False
    """Whether fields beyond the columns are ignored."""
    coerce: bool = False
    """Whether values that are no numbers or dates count as missing."""
    replace_bytes: bool = False
    """Whether bytes that do not fit the encoding are replaced."""
    repeated_keys: bool = False
    """Whether a join may find several rows for a key."""
    keys_as_text: bool = False
    """Whether a join compares its keys as texts."""
