"""Notebooks: what a request wants of one, what its cells do, what new cells have to fit."""

from __future__ import annotations

import ast
import builtins
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ...domain.plurals import count_of
from ...domain.user_code import parse_code
from ...tools.notebook.names import CellNames, names_in
from .code.cells import Style, TableVariable
from .file_names import unquoted

NotebookIntent = Literal["order", "explain"]

_MAX_LENGTH = 2_000
_PATH = re.compile(r"[\w./\\-]{1,200}\.\w{1,8}\b")
_ORDER = re.compile(
    r"\b(?:order|sort|arrange|rearrange|reorder|tidy|ordne|sortiere)\b.*"
    r"\b(?:cells?|notebook|zellen)\b"
    r"|\b(?:cells?|zellen)\b.*\bin (?:the right |die richtige )?(?:order|reihenfolge)\b"
)
_EXPLAIN = re.compile(
    r"\b(?:explain|describe|summari[sz]e|understand|what does|what is in|erkl\w+|beschreib\w*)\b"
)


def notebook_intent(text: str) -> NotebookIntent | None:
    short = text[:_MAX_LENGTH]
    words = _PATH.sub(" ", unquoted(short)).lower()
    about_notebook = ".ipynb" in short or re.search(r"\bnotebook\b", words) is not None
    if _ORDER.search(words):
        return "order"
    return "explain" if about_notebook and _EXPLAIN.search(words) else None


_PACKAGE = re.compile(r"^(?:import|from(?= [\w.]+ import\b)) (\w+)", re.MULTILINE)
_FILE = re.compile(
    r"\b(?:(?P<reads>(?:read|scan)_\w+|open)|(?:to|write|sink)_\w+|ExcelWriter)"
    r"\(\s*(?P<quote>['\"])(?P<path>[^'\"]+)(?P=quote)"
)
_BUILT_IN = frozenset(dir(builtins)) | {"display", "get_ipython", "_", "__", "In", "Out"}


@dataclass
class GuideCell:
    """A cell with the names that it defines and uses; none if it is not plain Python."""

    id: str
    kind: str
    source: str
    failed: bool = False
    gives: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()
    only_imports: bool = False


def cells_in(facts: Mapping[str, Any]) -> list[GuideCell]:
    return [
        code_cell(fact["source"], fact["id"], failed=fact["failed"])
        if fact["cell_type"] == "code"
        else GuideCell(fact["id"], fact["cell_type"], fact["source"])
        for fact in facts["cells"]
    ]


def code_cell(source: str, cell_id: str = "", *, failed: bool = False) -> GuideCell:
    names, tree = names_in(source) or CellNames(), parse_code(source)
    imports = [isinstance(each, ast.Import | ast.ImportFrom) for each in tree.body] if tree else []
    needs = names.used.union(*names.in_functions.values()) - _BUILT_IN
    gives = names.made - {"_"}  # as which magics count
    return GuideCell(cell_id, "code", source, failed, gives, needs, bool(imports) and all(imports))


def order_cells(cells: Sequence[GuideCell]) -> list[GuideCell]:
    """Sort cells topologically; imports first, texts stay above their code."""
    blocks = _blocks(cells)
    waiting = {at: _before(at, blocks) for at in range(len(blocks))}
    result: list[GuideCell] = []
    while waiting:
        ready = [at for at, needs in waiting.items() if not any(need in waiting for need in needs)]
        # In a circle nobody is ready: the first of those that wait goes as it is.
        at = min(ready or waiting, key=lambda at: (not blocks[at][-1].only_imports, at))
        del waiting[at]
        result += blocks[at]
    return result


def _blocks(cells: Sequence[GuideCell]) -> list[list[GuideCell]]:
    """Each code cell with the texts above it."""
    blocks: list[list[GuideCell]] = []
    texts: list[GuideCell] = []
    for cell in cells:
        texts.append(cell)
        if cell.kind == "code":
            blocks.append(texts)
            texts = []
    return [*blocks, texts] if texts else blocks


def _before(at: int, blocks: Sequence[Sequence[GuideCell]]) -> set[int]:
    """The blocks that define what this one uses: those above it, else the first one."""
    mine, needs = blocks[at][-1], set[int]()
    for name in mine.needs:
        givers = [other for other, block in enumerate(blocks) if name in block[-1].gives]
        above = [other for other in givers if other < at]
        needs.update(above if above or name in mine.gives else givers[:1])
    return needs


def moves(cells: Sequence[GuideCell]) -> list[tuple[str, str | None]]:
    """Moves (cell, behind which one) that produce the order."""
    wanted, now = [cell.id for cell in order_cells(cells)], [cell.id for cell in cells]
    steps: list[tuple[str, str | None]] = []
    for at, cell_id in enumerate(wanted):
        if now[at] != cell_id:
            now.remove(cell_id)
            now.insert(at, cell_id)
            steps.append((cell_id, now[at - 1] if at else None))
    return steps


def files_in_code(sources: Sequence[str], folder: str) -> tuple[list[str], frozenset[str]]:
    """Files that code reads, and others that it writes itself, by their paths in the workspace."""
    read: dict[str, None] = {}
    written: set[str] = set()
    for found in _FILE.finditer("\n".join(sources)):
        path = posixpath.normpath(posixpath.join(folder, found["path"]))
        if not found["reads"]:
            written.add(path)
        elif path not in written:
            read[path] = None
    return list(read), frozenset(written - read.keys())


def explain_cells(path: str, cells: Sequence[GuideCell]) -> str:
    """Only what is sure; what is missing or stale, a review tells."""
    if not cells:
        return f"`{path}` has no cells yet, so there is nothing to explain."
    code = [cell.source for cell in cells if cell.kind == "code"]
    texts = "\n".join(cell.source for cell in cells if cell.kind == "markdown")
    facts = {
        "Headings": re.findall(r"^#+ (.+)$", texts, re.MULTILINE),
        "Packages": sorted(_PACKAGE.findall("\n".join(code))),
        "Files it reads": files_in_code(code, posixpath.dirname(path))[0],
        "Cells that ended with an error": [f"`{cell.id}`" for cell in cells if cell.failed],
    }
    lines = [f"`{path}` has {count_of(len(cells), 'cell')}, {len(code)} of them code."]
    lines += [
        f"- {what}: {', '.join(dict.fromkeys(found))}" for what, found in facts.items() if found
    ]
    if moves(cells):
        lines.append(
            "- Some cells use names defined further down. Ask me to put the cells in order."
        )
    return "\n".join(lines)


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
        tree = parse_code(cell.source) if cell.kind == "code" else None
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
