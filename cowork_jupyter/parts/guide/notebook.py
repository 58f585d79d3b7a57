"""Notebooks: what a request wants of one, what its cells do, and the order they need."""

from __future__ import annotations

import ast
import builtins
import posixpath
import re
import symtable
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ...domain.plurals import count_of
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
_MAGIC = re.compile(r"\s*[%!?]")


@dataclass
class GuideCell:
    """A cell with the names that it defines and uses; none if it is not plain Python."""

    id: str
    kind: str
    source: str
    failed: bool = False
    gives: set[str] = field(default_factory=set)
    needs: set[str] = field(default_factory=set)
    only_imports: bool = False


def cells_in(facts: Mapping[str, Any]) -> list[GuideCell]:
    return [
        code_cell(fact["source"], fact["id"], failed=fact["failed"])
        if fact["cell_type"] == "code"
        else GuideCell(fact["id"], fact["cell_type"], fact["source"])
        for fact in facts["cells"]
    ]


def code_cell(source: str, cell_id: str = "", *, failed: bool = False) -> GuideCell:
    cell, tree = GuideCell(cell_id, "code", source, failed), syntax_tree(source)
    try:
        table = symtable.symtable(ast.unparse(tree) if tree else "", "cell", "exec")
    except (SyntaxError, RecursionError):
        return cell
    symbols = table.get_symbols()
    cell.gives = {name.get_name() for name in symbols if name.is_assigned() or name.is_imported()}
    cell.needs = _used(table) - _BUILT_IN
    statements = tree.body if tree else []
    cell.only_imports = bool(statements) and all(
        isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in statements
    )
    return cell


def _used(table: symtable.SymbolTable) -> set[str]:
    """Names of the notebook that it refers to; parameters and the like are its own."""
    is_whole = table.get_type() == "module"
    names = [name for name in table.get_symbols() if is_whole or name.is_global()]
    used = {name.get_name() for name in names if name.is_referenced()}
    return used.union(*map(_used, table.get_children()))


def syntax_tree(source: str) -> ast.Module | None:
    """Without lines that are magics; None if it does not parse or a magic makes it opaque."""
    if source.lstrip().startswith("%%"):
        return None
    lines = ["" if _MAGIC.match(line) else line for line in source.splitlines()]
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None


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
