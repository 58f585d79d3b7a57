"""The cells of a request, in the style of their notebook: imports, names, results."""

from __future__ import annotations

import builtins
import keyword
import posixpath
import re
from collections.abc import Iterable, Mapping
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
    used_names: frozenset[str] = frozenset()  # names in use
    loaded_tables: Mapping[str, TableVariable] = field(
        default_factory=dict
    )  # by path in the workspace
    folder: str = "."  # working directory of the code, relative to the workspace
    saves_charts: bool = False  # write charts to files, since nobody would see them

    def path(self, path: str) -> str:
        return posixpath.relpath(path, self.folder or ".")

    @property
    def can_draw(self) -> bool:
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


ResultKind = Literal["none", "value", "series", "frame", "chart"]
LINE_LENGTH = 88
_MAX_NAME = 30
_RESERVED = frozenset(dir(builtins)) | set(keyword.kwlist) | {"In", "Out", "display"}
USUAL_NAMES = {
    "pandas": "pd", "polars": "pl", "seaborn": "sns", "plotly.express": "px",
    "matplotlib.pyplot": "plt",
}  # fmt: skip


@dataclass(frozen=True)
class CodeCell:
    body: str
    result: str = ""  # the last expression, which displays the result
    kind: ResultKind = "none"
    imports: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # variables that it defines
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
        self._modules: dict[str, str] = dict(style.modules)
        self._imports: list[str] = []
        self._names: list[str] = []
        self._used: set[str] = set()

    def module(self, module: str) -> str:
        """Return the alias of a module, adding the import if needed."""
        if module not in self._modules:
            usual = USUAL_NAMES[module]
            alias = usual if usual not in self.style.used_names else module.split(".")[0]
            self._modules[module] = alias
            self._imports.append(f"import {module}" + (f" as {alias}" if alias != module else ""))
        return self._modules[module]

    def import_from(self, module: str, *names: str) -> None:
        line = f"from {module} import {', '.join(names)}"
        if not self._imports or line not in self._imports:
            self._imports.append(line)

    def name(self, *wanted: str) -> str:
        """Return the first free name of `wanted`, else a numbered one."""
        usable = [name if name.isidentifier() else identifier(name) for name in wanted]
        numbered = (f"{usable[0]}_{number}" for number in range(2, 1000))
        for candidate in (*usable, *numbered):
            if (
                candidate not in self.style.used_names
                and candidate not in self._used
                and candidate not in _RESERVED
            ):
                self._used.add(candidate)
                self._names.append(candidate)
                return candidate
        raise AssertionError("a thousand names are taken")

    def add(
        self, *lines: str, result: str = "", kind: ResultKind = "none", saved: str = ""
    ) -> None:
        body = "\n".join(line for line in lines if line)
        # In the order that import sorters put them: `import` before `from`.
        imports = tuple(sorted(self._imports, key=lambda line: (line.startswith("from"), line)))
        self.cells.append(CodeCell(body, result, kind, imports, tuple(self._names), saved))
        self._imports, self._names = [], []


def identifier(text: str) -> str:
    plain = re.sub(r"\W+", "_", text.lower()).strip("_")[:_MAX_NAME].strip("_")
    if not plain.isidentifier():
        plain = f"table_{plain}".strip("_")
    return plain if plain.isidentifier() and not keyword.iskeyword(plain) else "table"


def literal(value: object) -> str:
    """A Python literal, in double quotes where possible."""
    if isinstance(value, str):
        plain = value.isprintable() and '"' not in value and "\\" not in value
        return f'"{value}"' if plain else repr(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, Mapping):
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
