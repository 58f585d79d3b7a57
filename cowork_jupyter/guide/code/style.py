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
    """A variable that holds an unchanged file of the workspace."""

    name: str
    dates: frozenset[str] = frozenset()  # columns already parsed as dates
    tidied: frozenset[str] = frozenset()  # columns already stripped


@dataclass(frozen=True)
class Style:
    """The environment that the generated code must fit into."""

    frames: Frames = "pandas"
    charts: Charts = "matplotlib"
    packages: frozenset[str] = frozenset({"pandas", "matplotlib", "sklearn"})  # importable
    modules: Mapping[str, str] = field(default_factory=dict)  # imported already: alias by module
    taken: frozenset[str] = frozenset()  # names in use
    loaded: Mapping[str, TableVariable] = field(default_factory=dict)  # by path in the workspace
    folder: str = "."  # working directory of the code, relative to the workspace
    saves_charts: bool = False  # write charts to files, since nobody would see them

    def path(self, path: str) -> str:
        return posixpath.relpath(path, self.folder or ".")

    @property
    def draws(self) -> bool:
        return self.charts in self.packages


@dataclass(frozen=True)
class Choices:
    """Decisions made on the way, by the user or after an error."""

    overwrite: bool = False  # allow overwriting the output, as when the cell runs again
    output: str = ""  # alternative output path
    cut_lines: bool = False  # ignore fields beyond the columns
    coerce: bool = False  # treat unparsable numbers and dates as missing
    replace_bytes: bool = False  # replace undecodable bytes
    repeated_keys: bool = False  # allow a join to match several rows per key
    keys_as_text: bool = False  # compare the keys of a join as text
