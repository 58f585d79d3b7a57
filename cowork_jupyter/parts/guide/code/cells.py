"""The cells of a request, in the style of their notebook: imports, names, results."""

from __future__ import annotations

import builtins
import keyword
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Literal


@dataclass(frozen=True)
class TableVariable:
    """A variable that holds an unchanged file of the workspace, or a table of the user's."""

    name: str
    dates: frozenset[str] = frozenset()  # columns already parsed as dates


@dataclass(frozen=True)
class Style:
    """The environment that the generated code must fit into."""

    packages: frozenset[str] = frozenset({"pandas", "matplotlib", "sklearn"})  # importable
    pandas: str = ""  # the name that it has been imported as
    used_names: frozenset[str] = frozenset()  # names in use
    # by path in the workspace
    loaded_tables: Mapping[str, TableVariable] = field(default_factory=dict)
    folder: str = "."  # working directory of the code, relative to the workspace
    saves_charts: bool = False  # write charts to files, since nobody would see them

    def path(self, path: str) -> str:
        return posixpath.relpath(path, self.folder or ".")


@dataclass(frozen=True)
class Choices:
    """What the user decided on the way."""

    output: str = ""  # another file to write
    chart: str = ""  # the file that a chart goes into, where no notebook would show it
    coerce: bool = False  # treat unparsable numbers and dates as missing
    replace_bytes: bool = False  # replace undecodable bytes
    repeated_keys: bool = False  # allow a join to match several rows per key


ResultKind = Literal["none", "value", "frame", "chart"]
LINE_LENGTH = 88
_MAX_NAME = 30
_RESERVED = (
    frozenset(dir(builtins)) | set(keyword.kwlist) | {"In", "Out", "display", "pandas", "pd"}
)


@dataclass(frozen=True)
class CodeCell:
    body: str
    result: str = ""  # the last expression, which displays the result
    kind: ResultKind = "none"
    imports: tuple[str, ...] = ()
    saved: str = ""  # file that the chart is written to

    @property
    def source(self) -> str:
        code = "\n".join(part for part in (self.body, self.result) if part)
        return "\n\n".join(part for part in ("\n".join(self.imports), code) if part)


class CellBuilder:
    def __init__(self, style: Style, choices: Choices) -> None:
        self.style = style
        self.choices = choices
        self.cells: list[CodeCell] = []
        self.tables: dict[str, TableVariable] = dict(style.loaded_tables)
        self._pandas = style.pandas
        self._imports: list[str] = []
        self._taken = style.used_names | _RESERVED

    @property
    def pandas(self) -> str:
        """Its name, after it is imported if need be."""
        if not self._pandas:
            self._pandas = "pandas" if "pd" in self.style.used_names else "pd"
            self._imports.append("import pandas" + " as pd" * (self._pandas == "pd"))
        return self._pandas

    def import_from(self, module: str, *names: str) -> None:
        self._imports.append(f"from {module} import {', '.join(names)}")

    def name(self, *wanted: str) -> str:
        """Return the first free name of `wanted`, else a numbered one."""
        usable = list(map(_identifier, wanted))
        numbered = (f"{usable[0]}_{number}" for number in count(2))
        free = next(name for name in chain(usable, numbered) if name not in self._taken)
        self._taken |= {free}
        return free

    def add(
        self, *lines: str, result: str = "", kind: ResultKind | None = None, saved: str = ""
    ) -> None:
        # In the order that import sorters put them: `import` before `from`.
        imports = tuple(sorted(self._imports, key=lambda line: (line.startswith("from"), line)))
        kind = kind or ("value" if result else "none")
        self.cells.append(CodeCell("\n".join(lines), result, kind, imports, saved))
        self._imports = []


def _identifier(text: str) -> str:
    """A plain name; a text that is one already stays as it is."""
    if text.isidentifier():
        return text
    plain = re.sub(r"\W+", "_", text.lower()).strip("_")[:_MAX_NAME].strip("_")
    names = (plain, f"table_{plain}".strip("_"), "table")
    return next(name for name in names if name.isidentifier())


def literal(value: object) -> str:
    """A Python literal, in double quotes where possible."""
    if isinstance(value, str):
        plain = value.isprintable() and '"' not in value and "\\" not in value
        return f'"{value}"' if plain else repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{literal(k)}: {literal(v)}' for k, v in value.items())}}}"
    return repr(value)


def call(begin: str, arguments: Iterable[str], end: str = ")") -> str:
    """Break the call over several lines if it is too long."""
    inside = [argument for argument in arguments if argument]
    line = f"{begin}{', '.join(inside)}{end}"
    if len(line) <= LINE_LENGTH:
        return line
    middle = f"    {', '.join(inside)}"
    if len(middle) <= LINE_LENGTH:
        return f"{begin}\n{middle}\n{end}"
    return "\n".join([begin, *(f"    {inner_line}," for inner_line in inside), end])


def mapping(begin: str, entries: dict[str, str], end: str) -> str:
    """A call with a dictionary of labels and code."""
    inside = [f"{literal(label)}: {code}" for label, code in entries.items()]
    return call(f"{begin}({{", inside, f"}}{end})")
