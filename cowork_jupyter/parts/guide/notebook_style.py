"""What new cells must fit in with: imports, names that are used, and tables that are loaded."""

from __future__ import annotations

import ast
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .code.cells import Style, TableVariable
from .notebook import GuideCell, syntax_tree

_PASSING = {"ax", "fig"}  # throwaway names; the user's only if another cell needs them
_IMPORT = re.compile(r"^import (pandas|polars)(?: as (\w+))?", re.MULTILINE)
_READERS = ("read_csv", "read_excel", "read_json", "read_parquet", "read_table")
# options that still read the whole file
_WHOLE = frozenset({
    "date_format", "dayfirst", "decimal", "delimiter", "dtype", "encoding", "encoding_errors",
    "header", "lines", "low_memory", "na_values", "names", "parse_dates", "sep", "skiprows",
    "thousands",
})  # fmt: skip
_WRITTEN = re.compile(r'^(\w+)\.convert_dtypes\(\)\.to_csv\(\s*"([^"]+)"', re.MULTILINE)
_IN_PLACE = re.compile(r"\b(\w+)\.\w+\((?:[^()]|\([^()]*\))*\binplace=True")


def style_of(cells: Sequence[GuideCell], variables: Mapping[str, str], style: Style) -> Style:
    """A style with the names of these cells and variables."""
    pandas = _imports(cells).get("pandas", "pd")
    is_loaded = variables.get(pandas) == "module"
    # What a cell would import is not taken.
    taken = {name for cell in cells for name in cell.gives if name != pandas} | set(variables)
    passing = _PASSING - {name for cell in cells for name in cell.needs}
    return replace(
        style,
        pandas=pandas if is_loaded else "",
        used_names=frozenset(taken - passing - ({pandas} if is_loaded else set())),
        loaded_tables=loaded_tables(cells, variables, style.folder),
    )


def works_with_polars(cells: Sequence[GuideCell]) -> bool:
    imports, source = _imports(cells), "\n".join(cell.source for cell in cells)
    uses = Counter(re.findall(r"\b(\w+)\.", source))
    return uses[imports.get("polars", "")] > uses[imports.get("pandas", "")]


def _imports(cells: Sequence[GuideCell]) -> dict[str, str]:
    code = (cell.source for cell in cells if cell.kind == "code")
    found = (match for source in code for match in _IMPORT.findall(source))
    return {module: name or module for module, name in found}


def loaded_tables(
    cells: Sequence[GuideCell], variables: Mapping[str, str], folder: str
) -> dict[str, TableVariable]:
    """Variables that still hold the whole of a file, by its path in the workspace."""
    assigned: Counter[str] = Counter()
    found: dict[str, TableVariable] = {}
    for cell in cells:
        tree = syntax_tree(cell.source) if cell.kind == "code" else None
        if tree is None:
            continue
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        changed = [name.id for name in names if isinstance(name.ctx, ast.Store)]
        changed += _IN_PLACE.findall(cell.source)
        assigned.update(changed)
        found = {path: held for path, held in found.items() if held.name not in changed}
        held_files = [(path, held) for path, held in _read_tables(tree) if assigned[held.name] == 1]
        held_files += [(path, TableVariable(name)) for name, path in _WRITTEN.findall(cell.source)]
        for path, held in held_files:
            found[posixpath.normpath(posixpath.join(folder, path))] = held
    kinds = {name: kind for name, kind in variables.items() if "polars" not in kind}
    return {
        path: held for path, held in found.items() if kinds.get(held.name, "").endswith("DataFrame")
    }


def _read_tables(tree: ast.Module) -> Iterator[tuple[str, TableVariable]]:
    """Variables with whole files as they were read."""
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(
                    func=ast.Attribute(attr=reader), args=[ast.Constant(value=str(path))]
                ) as call,
            ) if reader in _READERS:
                options = {option.arg: option.value for option in call.keywords}
                if options.keys() <= _WHOLE:
                    yield path, TableVariable(name, _texts_in(options.get("parse_dates")))


def _texts_in(node: ast.expr | None) -> frozenset[str]:
    items = node.elts if isinstance(node, ast.List) else []
    return frozenset(str(item.value) for item in items if isinstance(item, ast.Constant))
