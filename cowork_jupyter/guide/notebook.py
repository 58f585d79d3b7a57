"""Notebooks: what a request wants of one, what its cells do, and the order they need."""

from __future__ import annotations

import ast
import builtins
import heapq
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..domain.plurals import count_of
from .file_names import unquoted

NotebookIntent = Literal["order", "explain"]

_MAX_LENGTH = 2_000
_PATH = re.compile(r"[\w./\\-]{1,200}\.\w{1,8}\b")
_ORDER = re.compile(
    r"\b(?:order|sort|arrange|rearrange|reorder|tidy|ordne|sortiere)\b.*"
    r"\b(?:cells?|notebook|zellen)\b"
)
_CELLS = re.compile(
    r"\b(?:cells?|zellen)\b.*\bin (?:the right |die richtige )?(?:order|reihenfolge)\b"
)
_EXPLAIN = re.compile(
    r"\b(?:explain|describe|summari[sz]e|understand|what does|what is in|erkl\w+|beschreib\w*)\b"
)


def notebook_intent(text: str) -> NotebookIntent | None:
    short = text[:_MAX_LENGTH]
    words = _PATH.sub(" ", unquoted(short)).lower()
    about_notebook = ".ipynb" in short or re.search(r"\bnotebook\b", words) is not None
    if _ORDER.search(words) or _CELLS.search(words):
        return "order"
    return "explain" if about_notebook and _EXPLAIN.search(words) else None


_READS = re.compile(r"\bread_\w+\(\s*['\"]([^'\"]+)|\bopen\(\s*['\"]([^'\"]+)")
_DRAWS = re.compile(r"\.(?:plot|hist|scatter|bar|show|imshow|boxplot)\(")
_BUILT_IN = frozenset(dir(builtins)) | {"display", "get_ipython", "_", "__", "In", "Out"}
_MAGIC = re.compile(r"\s*[%!?]")
_FROM_MAGIC = re.compile(r"^(\s*[\w, ]+=\s*)[%!].*$")


@dataclass
class GuideCell:
    """A cell with the names that it defines and needs."""

    id: str
    kind: str
    source: str
    failed: bool = False
    count: int | None = None
    gives: set[str] = field(default_factory=set)
    needs: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    functions: list[str] = field(default_factory=list)
    only_imports: bool = False


def cells_in(facts: Mapping[str, Any]) -> list[GuideCell]:
    cells = []
    for fact in facts["cells"]:
        cell = GuideCell(
            fact["id"], fact["cell_type"], fact["source"], fact["failed"], fact["execution_count"]
        )
        if cell.kind == "code":
            _analyse(cell)
        cells.append(cell)
    return cells


def syntax_tree(source: str) -> ast.Module | None:
    """Ignores magics; None if it does not parse."""
    try:
        return ast.parse("\n".join(map(_as_python, _lines(source))))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _analyse(cell: GuideCell) -> None:
    tree = syntax_tree(cell.source)
    if tree is None:
        return
    for statement in tree.body:
        for name in _loads(statement):
            if name not in cell.gives:
                cell.needs.add(name)
        cell.gives |= _stores(statement)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            cell.functions.append(statement.name)
        if isinstance(statement, ast.Import):
            cell.imports |= {alias.name.partition(".")[0] for alias in statement.names}
        if isinstance(statement, ast.ImportFrom) and statement.module:
            cell.imports.add(statement.module.partition(".")[0])
    cell.needs -= _BUILT_IN
    cell.only_imports = bool(tree.body) and all(
        isinstance(statement, (ast.Import, ast.ImportFrom)) for statement in tree.body
    )


def _lines(source: str) -> list[str]:
    """A cell magic makes the whole cell opaque."""
    return [] if source.lstrip().startswith("%%") else source.splitlines()


def _as_python(line: str) -> str:
    """`names = %who_ls` still assigns `names`."""
    return "" if _MAGIC.match(line) else _FROM_MAGIC.sub(r"\1None", line)


def _stores(statement: ast.stmt) -> set[str]:
    """Names that a statement defines for later ones."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    names: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
    return names


def _loads(statement: ast.stmt) -> set[str]:
    inside = {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
    if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)):
        inside |= _stores(statement)
    for node in ast.walk(statement):
        if isinstance(node, ast.comprehension):
            inside |= {child.id for child in ast.walk(node.target) if isinstance(child, ast.Name)}
    loads = {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        loads.add(statement.target.id)
    return loads - inside


def order_cells(cells: Sequence[GuideCell]) -> list[GuideCell]:
    """Sort cells topologically; imports first, texts stay above their code."""
    blocks = _blocks(cells)
    needed = [_before(at, blocks) for at in range(len(blocks))]
    first = [(not block[-1].only_imports, at) for at, block in enumerate(blocks)]
    waiting = {at: set(needs) for at, needs in enumerate(needed)}
    ready = [first[at] for at, needs in waiting.items() if not needs]
    heapq.heapify(ready)
    result: list[int] = []
    while waiting:
        # In a circle nobody is ready: the first of those left goes as it is.
        at = heapq.heappop(ready)[1] if ready else min(waiting)
        if at not in waiting:
            continue
        del waiting[at]
        result.append(at)
        for other, needs in waiting.items():
            if at in needs:
                needs.discard(at)
                if not needs:
                    heapq.heappush(ready, first[other])
    return [cell for at in result for cell in blocks[at]]


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
    """The blocks that define what this one needs and nobody above it defines."""
    mine = blocks[at][-1]
    needs: set[int] = set()
    for name in mine.needs:
        givers = [other for other, block in enumerate(blocks) if name in block[-1].gives]
        above = [other for other in givers if other < at]
        if above:
            needs.update(above)
        elif givers and givers[0] != at:
            needs.add(givers[0])
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


def explain_cells(path: str, cells: Sequence[GuideCell]) -> str:
    code = [cell for cell in cells if cell.kind == "code"]
    if not cells:
        return f"`{path}` has no cells yet, so there is nothing to explain."
    lines = [f"`{path}` has {count_of(len(cells), 'cell')}, {len(code)} of them code."]
    texts = "\n".join(cell.source for cell in cells if cell.kind == "markdown")
    headings = re.findall(r"^#+ (.+)$", texts, re.MULTILINE)
    facts = {
        "Headings": headings,
        "Packages": sorted(set().union(*(cell.imports for cell in code))) if code else [],
        "Files it reads": [a or b for cell in code for a, b in _READS.findall(cell.source)],
        "Functions and classes": [name for cell in code for name in cell.functions],
        "Cells that draw": [f"`{cell.id}`" for cell in code if _DRAWS.search(cell.source)],
        "Cells that ended with an error": [f"`{cell.id}`" for cell in code if cell.failed],
        "Names that no cell defines": sorted(_unknown(code)),
    }
    lines += [
        f"- {what}: {', '.join(dict.fromkeys(found))}" for what, found in facts.items() if found
    ]
    lines += [f"- Cell by cell: {_walk(code)}"] if code else []
    counts = [cell.count for cell in code if cell.count is not None]
    if counts != sorted(counts):
        lines.append("- The cells were last run in a different order from the one they are in.")
    if moves(cells):
        lines.append(
            "- Some cells use names defined further down. Ask me to put the cells in order."
        )
    return "\n".join(lines)


def _unknown(code: Sequence[GuideCell]) -> set[str]:
    made = set().union(*(cell.gives for cell in code)) if code else set()
    return {name for cell in code for name in cell.needs - made}


def _walk(code: Sequence[GuideCell]) -> str:
    actions = []
    for cell in code[:12]:
        made = ", ".join(f"`{name}`" for name in sorted(cell.gives - cell.imports)[:4])
        first = next((line.strip() for line in cell.source.splitlines() if line.strip()), "")
        actions.append(f"defines {made}" if made else f"runs `{first[:60].replace('`', '')}`")
    return "; ".join(actions) + ("; …" if len(code) > 12 else "")
