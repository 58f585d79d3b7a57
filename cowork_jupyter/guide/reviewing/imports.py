"""Imports that nothing uses."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator

from .subject import ReviewedCell, ReviewRemark, Subject, strings_in

# packages with side effects on import, such as registering accessors
_BY_BEING_IMPORTED = {
    "__future__", "antigravity", "cufflinks", "cuml", "dask_expr", "hvplot",
    "janitor", "lets_plot", "missingno", "mpl_toolkits", "pandas_bokeh", "pandas_profiling",
    "pandarallel", "pint_pandas", "readline", "rioxarray", "scienceplots",
    "sklearnex", "swifter", "this", "ydata_profiling",
}  # fmt: skip
_NOQA = re.compile(r"#\s*(?:noqa|type:|pylint:|pyflakes:)", re.IGNORECASE)
# a name in a string that may be code: annotations, queries, `eval`
_USED_IN_TEXT = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?=[.\[(]|$)")


def import_remarks(subject: Subject) -> Iterator[ReviewRemark]:
    if not subject.is_python or posixpath.basename(subject.path) == "__init__.py":
        return
    used = _used(subject)
    for cell, tree in subject.trees():
        for statement in _imports(tree):
            if _is_meant(cell, statement):
                continue
            names = [name for alias in statement.names if (name := _bound(alias)) not in used]
            unused = [name for name in names if name and not name.startswith("_")]
            if unused:
                listed = ", ".join(f"`{name}`" for name in unused)
                verb = "is" if len(unused) == 1 else "are"
                comment = f"{listed} {verb} imported and never used."
                yield ReviewRemark("minor", comment, "Remove the import.", cell, statement.lineno)


def _used(subject: Subject) -> set[str]:
    """Names in use; anything that is not Python may refer to any of its words."""
    used: set[str] = set()
    for cell in subject.code:
        used |= set(re.findall(r"\w+", cell.opaque))
    for _cell, tree in subject.trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                used.add(node.id)
        for text in strings_in(tree):
            used |= set(_USED_IN_TEXT.findall(str(text.value)))
    return used


def _imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Skips imports in `try` and `if TYPE_CHECKING`."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not isinstance(node, ast.Try | ast.If):
            waiting.extend(ast.iter_child_nodes(node))


def _is_meant(cell: ReviewedCell, node: ast.Import | ast.ImportFrom) -> bool:
    """Imported for its side effects, or marked by its author."""
    module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
    package = (module or "").partition(".")[0]
    if package in _BY_BEING_IMPORTED or "experimental" in (module or ""):
        return True
    last = node.end_lineno or node.lineno
    lines = cell.source.split("\n")[node.lineno - 1 : last]
    return any(_NOQA.search(line) for line in lines)


def _bound(alias: ast.alias) -> str:
    """Empty for `*` and explicit re-exports."""
    if alias.name == "*" or alias.asname == alias.name:
        return ""
    return alias.asname or alias.name.partition(".")[0]
