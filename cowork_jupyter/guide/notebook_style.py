"""How the user writes: the libraries, names and tables of their notebook and kernel."""

from __future__ import annotations

import ast
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from .code.cells import USUAL_NAMES, Charts, Frames, Style, TableVariable
from .notebook import GuideCell, syntax_tree

_CHARTS: dict[str, Charts] = {"plotly.express": "plotly", "seaborn": "seaborn"}
_PASSING = {"ax", "fig"}  # throwaway names; the user's only if another cell needs them
_READERS = ("read_csv", "read_excel", "read_json", "read_ndjson", "read_parquet", "read_table")
# options that still read the whole file
_WHOLE = frozenset({
    "date_format", "dayfirst", "decimal", "decimal_comma", "delimiter", "dtype", "encoding",
    "encoding_errors", "engine", "has_header", "header", "infer_schema_length", "lines",
    "low_memory", "na_values", "names", "new_columns", "null_values", "on_bad_lines",
    "parse_dates", "schema_overrides", "sep", "separator", "skip_rows", "skiprows", "thousands",
    "truncate_ragged_lines", "try_parse_dates",
})  # fmt: skip
_DATES = re.compile(r"""^(\w+)\[(["'])(.+?)\2\] = \w+\.to_datetime\(""", re.MULTILINE)
_TIDIED = re.compile(r"""^(\w+)\[(["'])(.+?)\2\] = \1\[\2\3\2\]\.str\.strip\(\)""", re.MULTILINE)


def style_of(
    cells: Sequence[GuideCell],
    variables: Mapping[str, str],
    packages: frozenset[str],
    folder: str,
    *,
    saves_charts: bool = False,
) -> Style:
    code = [cell for cell in cells if cell.kind == "code"]
    trees = [tree for cell in code if (tree := syntax_tree(cell.source))]
    imported = {module: name for tree in trees for module, name in _imports(tree)}
    usual = {module: name for module, name in USUAL_NAMES.items() if name in variables}
    known = (usual | imported).items()
    modules = {module: name for module, name in known if variables.get(name) == "module"}
    made = {name for cell in code for name in cell.gives} | set(variables)
    needed = {name for cell in code for name in cell.needs}
    passing = _PASSING - needed
    source = "\n".join(cell.source for cell in code)
    frames = _frames(imported, source, packages)
    return Style(
        frames=frames,
        charts=_charts(imported, source, packages),
        packages=packages,
        modules=modules,
        used_names=frozenset(made - set(imported.values()) - set(modules.values()) - passing),
        loaded_tables=_loaded(trees, source, frames, variables, folder),
        folder=folder,
        saves_charts=saves_charts,
    )


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from ((alias.name, alias.asname or alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = ((alias.name, alias.asname or alias.name) for alias in node.names)
            yield from ((f"{node.module}.{name}", used) for name, used in names)


def _uses(name: str | None, source: str) -> int:
    return len(re.findall(rf"\b{re.escape(name)}\.", source)) if name else 0


def _frames(imported: Mapping[str, str], source: str, packages: frozenset[str]) -> Frames:
    polars = _uses(imported.get("polars"), source)
    more = polars > _uses(imported.get("pandas"), source)
    bare = "polars" in packages and "pandas" not in packages
    return "polars" if more or bare else "pandas"


def _charts(imported: Mapping[str, str], source: str, packages: frozenset[str]) -> Charts:
    """The most used library; plot methods of tables count as matplotlib."""
    uses = Counter(
        {
            chart: _uses(imported.get(module), source)
            for module, chart in _CHARTS.items()
            if chart in packages
        }
    )
    if not uses:
        return "matplotlib"
    chart, count = uses.most_common(1)[0]
    own = _uses(imported.get("matplotlib.pyplot"), source) if chart == "plotly" else 0
    return chart if count > own else "matplotlib"


def _loaded(
    trees: Sequence[ast.Module],
    source: str,
    frames: Frames,
    variables: Mapping[str, str],
    folder: str,
) -> dict[str, TableVariable]:
    """Variables that still hold what was read from or written to a file."""
    tidied = {(name, column) for name, _quote, column in _TIDIED.findall(source)}
    dates = {(name, column) for name, _quote, column in _DATES.findall(source)}
    assigned: Counter[str] = Counter()
    found: dict[str, tuple[str, frozenset[str]]] = {}
    for tree in trees:
        assigned.update(stored := _stored(tree))
        found = {path: held for path, held in found.items() if held[0] not in stored}
        for name, path, call in _readings(tree):
            if assigned[name] == 1:
                found[path] = name, _parsed_dates(call)
        found |= {path: (name, frozenset()) for name, path in _writings(tree)}
    tables = {}
    for path, (name, parsed) in found.items():
        kind = variables.get(name, "")
        if "DataFrame" not in kind or ("polars" in kind) != (frames == "polars"):
            continue
        tables[posixpath.normpath(posixpath.join(folder, path))] = TableVariable(
            name,
            parsed | {column for owner, column in dates if owner == name},
            frozenset(column for owner, column in tidied if owner == name),
        )
    return tables


def _stored(tree: ast.Module) -> list[str]:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return [node.id for node in nodes if isinstance(node.ctx, ast.Store)]


def _writings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        match node:
            case ast.Expr(
                ast.Call(
                    func=ast.Attribute(value=table, attr="to_csv" | "write_csv"),
                    args=[ast.Constant(value=str(path))],
                )
            ):
                if isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute):
                    table = table.func.value if table.func.attr == "convert_dtypes" else table
                if isinstance(table, ast.Name):
                    yield table.id, path


def _readings(tree: ast.Module) -> Iterator[tuple[str, str, ast.Call]]:
    """Assignments of a whole file: name, path, and the reading call."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                call = _innermost(value)
                match call:
                    case ast.Call(
                        func=ast.Attribute(attr=reader), args=[ast.Constant(value=str(path))]
                    ) if reader in _READERS and all(
                        _keeps_all(keyword) for keyword in call.keywords
                    ):
                        yield name, path, call


def _innermost(value: ast.expr) -> ast.expr:
    """The call below `.with_columns(…)`, which keeps all rows."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr != "with_columns":
            break
        value = value.func.value
    return value


def _keeps_all(option: ast.keyword) -> bool:
    if option.arg == "index_col":
        return isinstance(option.value, ast.Constant) and option.value.value is False
    return option.arg in _WHOLE


def _parsed_dates(call: ast.Call) -> frozenset[str]:
    for option in call.keywords:
        if option.arg == "parse_dates" and isinstance(option.value, ast.List):
            values = [item.value for item in option.value.elts if isinstance(item, ast.Constant)]
            return frozenset(str(value) for value in values)
    return frozenset()
